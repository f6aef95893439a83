//! Conversations: words while a run listens and while it is busy, cancelled turns,
//! questions, leaving and coming back.

use std::{
    path::PathBuf,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use pointsman_kernel::{
    body::Body,
    chart::Disposition,
    governor::{Level, Permissions},
    id::EffectId,
    turn::TurnErrorKind,
};
use pointsman_runtime::{
    driver::RunStatus,
    engine::EngineConfig,
    local_executor::LocalExecutor,
    model::{self, Spec},
    observe::{CallProgress, LiveNotice, Notice, Observer},
    session::{
        ApprovalDecision, ConversationHandle, Persistence, Receipt, RunSummary, Session,
        StartOptions, Unattended,
    },
    store::{RunId, SqliteStore},
    timeline::TimelineKind,
    tool,
};
use serde_json::json;

use crate::store::TempFolder;

/// How long something may take that should come at once.
const SOON: Duration = Duration::from_mins(2);

struct Room {
    folder: TempFolder,
    session: Session,
}

impl Room {
    fn new(name: &str, script: &str) -> Self {
        let folder = TempFolder::new(&format!("converse-{name}"));
        std::fs::create_dir_all(folder.0.join("work")).expect("the folder is created");
        std::fs::write(folder.0.join("script.toml"), script).expect("the file is written");
        let session =
            Session::open(pointsman_agents::all(), &folder.journal(), &folder.0.join("cache"));
        let session = session.unwrap_or_else(|error| panic!("it opens: {error}"));
        Self { folder, session }
    }

    fn executor(&self) -> LocalExecutor {
        let tools = tool::ToolSettings::over(self.work(), self.folder.0.join("index.db"));
        let script = format!("script:{}", self.folder.0.join("script.toml").display());
        let spec: Spec = script.parse().expect("the text names a model");
        let settings = EngineConfig::new(model::ModelSettings::new(spec), tools);
        self.session.executor(settings).unwrap_or_else(|error| panic!("a host: {error}"))
    }

    fn work(&self) -> PathBuf {
        self.folder.0.join("work")
    }

    fn start() -> StartOptions {
        let source = pointsman_agents::chat::CHART;
        let program = crate::program(source);
        StartOptions {
            program,
            source: source.into(),
            config: json!({}).into(),
            words: Vec::new(),
            goal: "talk".into(),
            permissions: Permissions { otherwise: Level::Ask, rules: Vec::new(), attended: true },
            seed: Some(7),
        }
    }

    fn begin(&self) -> (ConversationHandle, Heard) {
        let (observer, heard) = Heard::new();
        let begun = self.session.converse(&self.executor(), Self::start(), vec![observer]);
        (begun.unwrap_or_else(|error| panic!("it begins: {error}")), heard)
    }

    fn resume_conversation(&self, id: &RunId) -> (ConversationHandle, Heard) {
        let (observer, heard) = Heard::new();
        let joined = self.session.resume_conversation(&self.executor(), id, vec![observer]);
        (joined.unwrap_or_else(|error| panic!("it goes on: {error}")), heard)
    }
}

/// The notices, in order.
struct Heard(mpsc::Receiver<Notice>);

impl Heard {
    fn new() -> (Arc<dyn Observer>, Self) {
        let (sender, receiver) = mpsc::channel();
        let sender = std::sync::Mutex::new(sender);
        let observer = move |_: &RunId, notice: &Notice| {
            drop(
                sender
                    .lock()
                    .expect("no thread panicked while it held the lock")
                    .send(notice.clone()),
            );
        };
        (Arc::new(observer), Self(receiver))
    }

    /// Waits for a notice and returns the result of a function on it.
    fn until<T>(&self, wanted: impl Fn(&Notice) -> Option<T>) -> T {
        loop {
            let notice = self.0.recv_timeout(SOON).expect("it comes soon");
            if let Some(found) = wanted(&notice) {
                return found;
            }
        }
    }

    /// Waits until the run listens, and returns how its turn failed, if it did.
    fn listens(&self) -> Option<TurnErrorKind> {
        self.until(|notice| match notice {
            Notice::Live(LiveNotice::Listens) => Some(None),
            Notice::Item(item) => match &item.kind {
                TimelineKind::Listens { error } => Some(error.as_ref().map(|error| error.kind)),
                _ => None,
            },
            Notice::Live(_) => None,
        })
    }

    /// Waits for the whole of what a model wrote or a tool gave.
    fn answer(&self) -> String {
        self.until(|notice| Some(notice.kind()?.output()?.to_owned()))
    }
}

fn is_start(notice: &Notice) -> Option<()> {
    matches!(notice.kind(), Some(TimelineKind::Started { .. })).then_some(())
}

fn asked(notice: &Notice) -> Option<EffectId> {
    match notice {
        Notice::Live(LiveNotice::Ask(question)) => Some(question.effect),
        _ => None,
    }
}

fn discarded(notice: &Notice) -> Option<EffectId> {
    match notice {
        Notice::Live(LiveNotice::Discard(effect)) => Some(*effect),
        _ => None,
    }
}

fn ended(conversation: ConversationHandle) -> RunSummary {
    conversation.wait().unwrap_or_else(|error| panic!("it ends: {error}"))
}

#[test]
fn words_are_answered_in_turn_and_closing_ends_it() {
    let room = Room::new("talk", "[[turn]]\ntext = 'one'\n[[turn]]\ntext = 'two'\n");
    let (talk, heard) = room.begin();
    assert_eq!(heard.listens(), None);
    let commands = talk.commands();
    commands.say("first");
    commands.say("second");
    commands.close();
    assert_eq!(heard.answer(), "one");
    assert_eq!(heard.answer(), "two");
    let outcome = ended(talk);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(outcome.state.as_ref(), "shutting_down");
}

#[test]
fn a_word_to_a_busy_run_waits_and_outlives_the_process() {
    // The first turn may have begun to ask before it is stopped, or not.
    let script = "[[turn]]\nwhen = 'first'\ntext = 'slow'\ndelay_ms = 600000\n\
                  [[turn]]\nwhen = 'second'\ntext = 'two'\n\
                  [[turn]]\nwhen = 'third'\ntext = 'three'\n";
    let room = Room::new("busy", script);
    let (talk, heard) = room.begin();
    let (run, commands) = (talk.run().clone(), talk.commands());
    heard.listens();
    commands.say("first");
    heard.until(is_start);
    commands.say("second");
    commands.leave();
    // A message during detaching is kept too, unless the run has ended by then.
    let mut third = commands.say("third");
    let outcome = ended(talk);
    if became(&mut third) == Persistence::Lost {
        room.session.say(&run, "third").expect("the message is sent");
    }
    assert_eq!(outcome.status, RunStatus::Moving, "it was let go of in the middle");
    assert_eq!(
        room.session
            .block_on(room.session.store().messages(&run))
            .expect("the store is readable")
            .len(),
        2
    );

    // A resuming process cancels the first turn, and the run receives the second message.
    let (talk, heard) = room.resume_conversation(&run);
    let commands = talk.commands();
    heard.until(is_start);
    commands.cancel_turn();
    assert_eq!(heard.listens(), Some(TurnErrorKind::Cancelled));
    assert_eq!(heard.listens(), None, "the second turn went well");
    assert_eq!(heard.listens(), None, "and so did the third");
    commands.close();
    assert_eq!(ended(talk).status, RunStatus::Ended(Disposition::Succeeded));
}

#[test]
fn stored_message_is_on_disk_and_a_late_one_is_lost() {
    let room = Room::new("kept", "[[turn]]\ntext = 'slow'\ndelay_ms = 600000\n");
    let (talk, heard) = room.begin();
    let (run, commands) = (talk.run().clone(), talk.commands());
    heard.listens();
    commands.say("first");
    heard.until(is_start);
    let mut receipt = commands.say("second");
    assert_eq!(became(&mut receipt), Persistence::Stored);
    assert_eq!(room.session.unheard(&run).expect("they can be read"), ["second"]);
    commands.leave();
    ended(talk);
    assert_eq!(became(&mut commands.say("third")), Persistence::Lost);
    assert_eq!(receipt.persistence(), Persistence::Stored, "it stays so");
}

/// Waits until it is known what became of a word.
fn became(receipt: &mut Receipt) -> Persistence {
    let since = Instant::now();
    while receipt.persistence() == Persistence::Pending {
        assert!(since.elapsed() < SOON, "it is not told");
        std::thread::sleep(Duration::from_millis(5));
    }
    receipt.persistence()
}

#[test]
fn run_that_asks_is_detached_without_an_approver() {
    let script = "[[turn]]\ntext = 'writes'\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'a.txt', content = 'x' }\n[[turn]]\ntext = 'done'\n";
    let room = Room::new("unattended", script);
    let (talk, _heard) = room.begin();
    let (run, commands) = (talk.run().clone(), talk.commands());
    commands.unattended();
    commands.say("write it");
    assert_eq!(ended(talk).status, RunStatus::Asking);
    // It asked before; a process that resumes without an approver need not wait for it.
    let (talk, _heard) = room.resume_conversation(&run);
    talk.commands().unattended();
    assert_eq!(ended(talk).status, RunStatus::Asking);
    // With a person present it waits; and it reports when the question is closed.
    let (talk, heard) = room.resume_conversation(&run);
    let commands = talk.commands();
    let question = room.session.recall(&run, None).expect("the run is recalled").loaded.questions();
    let effect = question.first().expect("it asks").effect;
    let (granted, reason) = (false, "no".to_owned());
    commands.decide(effect, ApprovalDecision { granted, reason, remember: None });
    heard.until(|notice| (discarded(notice)? == effect).then_some(()));
    commands.leave();
    ended(talk);
}

#[test]
fn a_question_is_answered_by_who_talks() {
    let script = "[[turn]]\ntext = 'writes'\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'a.txt', content = 'x' }\n[[turn]]\ntext = 'done'\n\
                  [[turn]]\ntext = 'writes'\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'b.txt', content = 'x' }\n[[turn]]\ntext = 'well'\n";
    let room = Room::new("asks", script);
    let (talk, heard) = room.begin();
    let commands = talk.commands();
    heard.listens();
    for (granted, file) in [(true, "a.txt"), (false, "b.txt")] {
        commands.say("write it");
        let effect = heard.until(asked);
        let reason = "because".to_owned();
        commands.decide(effect, ApprovalDecision { granted, reason, remember: None });
        assert_eq!(heard.listens(), None);
        assert_eq!(room.work().join(file).exists(), granted);
    }
    // Dropping everything detaches; the run is unchanged.
    drop(commands);
    assert_eq!(ended(talk).status, RunStatus::Waiting);
}

/// A run that was killed right after its first entry must still know what it is for.
#[test]
fn first_messages_are_stored_with_the_first_entry() {
    let room = Room::new("told", "[[turn]]\ntext = 'well'\n");
    let (sender, waiting) = mpsc::channel();
    let (journal, sender) = (room.folder.journal(), std::sync::Mutex::new(sender));
    let observer = move |run: &RunId, notice: &Notice| {
        if let Notice::Live(LiveNotice::Persisted { seq, .. }) = notice
            && seq.0 == 1
        {
            let store = SqliteStore::open(&journal).expect("the journal opens");
            let messages = store.reader().messages(run).expect("the messages are readable").len();
            let sender = sender.lock().expect("no thread panicked while it held the lock");
            sender.send(messages).expect("somebody waits for it");
        }
    };
    let start =
        StartOptions { words: vec![Body::canonical(&json!({ "text": "hello" }))], ..Room::start() };
    let outcome =
        room.session.run(&room.executor(), start, vec![Arc::new(observer)], &mut Unattended);
    let outcome = outcome.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    // The message, and the end of the input.
    assert_eq!(waiting.recv_timeout(SOON), Ok(2));
}

#[test]
fn progress_is_reported_every_ten_calls() {
    use std::fmt::Write as _;
    let mut script = String::from("[[turn]]\ntext = 'writes'\n");
    for n in 0..10 {
        let call = "[[turn.calls]]\ntool = 'write'\n";
        writeln!(script, "{call}arguments = {{ path = 'f{n}.txt', content = '{n}' }}")
            .expect("there is room");
    }
    script.push_str("[[turn]]\ntext = 'done'\n");
    let room = Room::new("progress", &script);
    let start = StartOptions {
        words: vec![Body::canonical(&json!({ "text": "write them" }))],
        permissions: Permissions::allow_all(),
        ..Room::start()
    };
    let (observer, heard) = Heard::new();
    let ran = room.session.run(&room.executor(), start, vec![observer], &mut Unattended);
    ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    let told = heard.until(|notice| match notice {
        Notice::Live(LiveNotice::Progressed(progress)) => Some(progress.clone()),
        _ => None,
    });
    let all =
        CallProgress { calls: 10, files_modified: 10, recent_successes: 10, recent_failures: 0 };
    assert_eq!(told, all);
}

#[test]
fn text_of_an_attempt_that_failed_is_taken_back() {
    let script = "[[turn]]\ntext = 'half of it'\n\
                  fault = { class = 'unavailable', repeatable = true }\n\
                  [[turn]]\ntext = 'the whole'\n";
    let room = Room::new("unsaid", script);
    let (talk, heard) = room.begin();
    let commands = talk.commands();
    commands.say("tell me");
    let half = heard.until(|notice| match notice {
        Notice::Live(LiveNotice::Delta { effect, .. }) => Some(*effect),
        _ => None,
    });
    let unsaid = heard.until(discarded);
    assert_eq!(unsaid, half);
    let attempt = heard.until(|notice| match notice.kind()? {
        TimelineKind::Retrying { attempt, .. } => Some(*attempt),
        _ => None,
    });
    assert_eq!((attempt, heard.answer()), (2, "the whole".to_owned()));
    commands.close();
    assert_eq!(ended(talk).status, RunStatus::Ended(Disposition::Succeeded));
}

#[test]
fn joining_shows_what_a_run_waits_for() {
    let script = "[[turn]]\nwhen = 'write it'\ntext = 'writes'\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'a.txt', content = 'x' }\n[[turn]]\ntext = 'done'\n";
    let room = Room::new("joined", script);
    let (talk, heard) = room.begin();
    let (run, commands) = (talk.run().clone(), talk.commands());
    heard.listens();
    commands.leave();
    ended(talk);

    let (talk, heard) = room.resume_conversation(&run);
    assert_eq!(heard.listens(), None, "it waits for a word");
    talk.commands().say("write it");
    let effect = heard.until(asked);
    talk.commands().leave();
    ended(talk);

    let (talk, heard) = room.resume_conversation(&run);
    assert_eq!(heard.until(asked), effect, "it waits for an answer");
    let reason = "because".to_owned();
    talk.commands().decide(effect, ApprovalDecision { granted: true, reason, remember: None });
    assert_eq!(heard.listens(), None);
    talk.commands().leave();
    ended(talk);
    let again = heard.0.try_iter().filter(|it| asked(it).is_some() || it.listens());
    assert_eq!(again.count(), 0, "each is told once");
}

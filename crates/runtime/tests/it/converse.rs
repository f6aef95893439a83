//! Conversations: words while a run listens and while it is busy, cancelled turns,
//! questions, leaving and coming back.

use std::{
    path::PathBuf,
    sync::{Arc, mpsc},
    time::Duration,
};

use pointsman_kernel::{
    chart::{Disposition, verify},
    governor::{Level, Permissions},
    turn::TurnErrorKind,
};
use pointsman_runtime::{
    driver::Standing,
    host::{self, Host},
    model::{self, Spec},
    observe::{Notice, Observer},
    session::{Conversation, Decision, Outcome, Session, Start},
    store::RunId,
    tool,
};
use serde_json::json;

use crate::store::Folder;

/// How long something may take that should come at once.
const SOON: Duration = Duration::from_secs(20);

struct Room {
    folder: Folder,
    session: Session,
}

impl Room {
    fn new(name: &str, script: &str) -> Self {
        let folder = Folder::new(name);
        std::fs::create_dir_all(folder.0.join("work")).expect("it can be made");
        std::fs::write(folder.0.join("script.toml"), script).expect("it can be written");
        let session = Session::open(&folder.journal(), &folder.0.join("cache"));
        let session = session.unwrap_or_else(|error| panic!("it opens: {error}"));
        Self { folder, session }
    }

    fn host(&self) -> Host {
        let tools = tool::Settings::over(self.work(), self.folder.0.join("index.db"));
        let script = format!("script:{}", self.folder.0.join("script.toml").display());
        let spec: Spec = script.parse().expect("a model");
        let settings = host::Settings {
            model: model::Settings::new(spec),
            tools,
            mcp: None,
            watch: None,
            hooks: host::Hooks::default(),
            instructions: host::Instructions::default(),
        };
        self.session.host(settings).unwrap_or_else(|error| panic!("a host: {error}"))
    }

    fn work(&self) -> PathBuf {
        self.folder.0.join("work")
    }

    fn begin(&self) -> (Conversation, Heard) {
        let source = pointsman_agents::chat::CHART;
        let chart = verify(source, &pointsman_agents::registry()).expect("it verifies");
        let start = Start {
            chart,
            source: source.into(),
            config: json!({}),
            words: Vec::new(),
            goal: "talk".into(),
            permissions: Permissions { otherwise: Level::Ask, rules: Vec::new(), attended: true },
            seed: Some(7),
        };
        let (observer, heard) = Heard::new();
        let begun = self.session.converse(&self.host(), start, vec![observer]);
        (begun.unwrap_or_else(|error| panic!("it begins: {error}")), heard)
    }

    fn rejoin(&self, id: &RunId) -> (Conversation, Heard) {
        let (observer, heard) = Heard::new();
        let joined = self.session.rejoin(&self.host(), id, vec![observer]);
        (joined.unwrap_or_else(|error| panic!("it goes on: {error}")), heard)
    }
}

/// What was told, in order.
struct Heard(mpsc::Receiver<Notice>);

impl Heard {
    fn new() -> (Arc<dyn Observer>, Self) {
        let (sender, receiver) = mpsc::channel();
        let sender = std::sync::Mutex::new(sender);
        let observer = move |_: &RunId, notice: &Notice| {
            drop(sender.lock().expect("nobody panics").send(notice.clone()));
        };
        (Arc::new(observer), Self(receiver))
    }

    /// Waits for a notice and returns what is made of it.
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
            Notice::Listens { error } => Some(error.as_ref().map(|error| error.kind)),
            _ => None,
        })
    }

    /// Waits for the whole of what a model wrote or a tool gave.
    fn answer(&self) -> String {
        self.until(|notice| match notice {
            Notice::Answered { output: Some(output), .. } => Some(output.to_string()),
            _ => None,
        })
    }
}

fn ended(conversation: Conversation) -> Outcome {
    conversation.wait().unwrap_or_else(|error| panic!("it ends: {error}"))
}

#[test]
fn words_are_answered_in_turn_and_closing_ends_it() {
    let room = Room::new("talk", "[[turn]]\ntext = 'one'\n[[turn]]\ntext = 'two'\n");
    let (talk, heard) = room.begin();
    assert_eq!(heard.listens(), None);
    let speaker = talk.speaker();
    speaker.say("first");
    speaker.say("second");
    speaker.close();
    assert_eq!(heard.answer(), "one");
    assert_eq!(heard.answer(), "two");
    let outcome = ended(talk);
    assert_eq!(outcome.standing, Standing::Ended(Disposition::Succeeded));
    assert_eq!(outcome.state.as_ref(), "shutting_down");
}

#[test]
fn a_word_to_a_busy_run_waits_and_outlives_the_process() {
    let script = "[[turn]]\ntext = 'slow'\ndelay_ms = 600000\n[[turn]]\ntext = 'two'\n";
    let room = Room::new("busy", script);
    let (talk, heard) = room.begin();
    let (run, speaker) = (talk.run().clone(), talk.speaker());
    heard.listens();
    speaker.say("first");
    heard.until(|notice| matches!(notice, Notice::Attempted { .. }).then_some(()));
    speaker.say("second");
    speaker.leave();
    let outcome = ended(talk);
    assert_eq!(outcome.standing, Standing::Moving, "it was let go of in the middle");
    assert_eq!(room.session.store().letters(&run).expect("they can be read").len(), 1);

    // Whoever comes back stops the first turn, and the second word is heard.
    let (talk, heard) = room.rejoin(&run);
    let speaker = talk.speaker();
    heard.until(|notice| matches!(notice, Notice::Attempted { .. }).then_some(()));
    speaker.cancel_turn();
    assert_eq!(heard.listens(), Some(TurnErrorKind::Cancelled));
    assert_eq!(heard.listens(), None, "the second turn went well");
    speaker.close();
    assert_eq!(ended(talk).standing, Standing::Ended(Disposition::Succeeded));
}

#[test]
fn a_question_is_answered_by_who_talks() {
    let script = "[[turn]]\ntext = 'writes'\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'a.txt', content = 'x' }\n[[turn]]\ntext = 'done'\n\
                  [[turn]]\ntext = 'writes'\n[[turn.calls]]\ntool = 'write'\n\
                  arguments = { path = 'b.txt', content = 'x' }\n[[turn]]\ntext = 'well'\n";
    let room = Room::new("asks", script);
    let (talk, heard) = room.begin();
    let speaker = talk.speaker();
    heard.listens();
    for (granted, file) in [(true, "a.txt"), (false, "b.txt")] {
        speaker.say("write it");
        let effect = heard.until(|notice| match notice {
            Notice::Asked(question) => Some(question.effect),
            _ => None,
        });
        let reason = "because".to_owned();
        speaker.decide(effect, Decision { granted, reason, remember: None });
        assert_eq!(heard.listens(), None);
        assert_eq!(room.work().join(file).exists(), granted);
    }
    // Whoever drops everything has left; the run is as it was.
    drop(speaker);
    assert_eq!(ended(talk).standing, Standing::Waiting);
}

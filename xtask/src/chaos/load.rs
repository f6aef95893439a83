//! The load of a storm: runs of shipped agents, each submitted by two processes under one name, and
//! people who talk to a run as soon as it listens and answer its questions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use pointsman_kernel::{body::Body, event::Event, id::EffectId, journal::body};
use pointsman_runtime::{
    control::RunControl,
    session::ApprovalDecision,
    store::{Filter, Page, QueueStatus, RunRow, Store},
};
use serde_json::{Value, json};

use crate::{place, program::Home};

/// Between two looks at what the runs do, and before a request is repeated.
const PAUSE: Duration = Duration::from_millis(50);
/// Keys that the runs take turns by.
const KEYS: usize = 10;
/// The tool that a run calls once, and that must not be repeated unasked.
pub(super) const UNREPEATABLE: &str = "shell";
/// The states in which the agents listen.
const LISTENING: [&str; 2] = ["waiting_for_user_input", "idle"];

const PERMISSIONS: &str = "\
[permissions]
otherwise = \"deny\"
rules = [{ allow = \"shell\" }, { allow = \"context.fts_search\" }]
";
const QUESTION: &str = "Who sets the points, and what holds them?";
/// A person's word that the model answers with a command.
const DO_IT: &str = "Do it";
/// Every other answer. A research agent reads it as its decision, all others say it.
const ANSWER: &str = r#"{"action": "finish", "final": "A lever in the signal box (points.md:3)."}"#;

/// Writes down who may do what, what the model says, what is to be read, and which runs are wanted.
pub(super) fn prepare(home: &Home, runs: usize, rounds: usize) -> Result<()> {
    home.configure(PERMISSIONS)?;
    let workspace = home.file("workspace");
    fs::create_dir_all(&workspace)?;
    for document in fs::read_dir(place::script("kill/docs")).context("finding documents")? {
        let document = document?;
        fs::copy(document.path(), workspace.join(document.file_name()))?;
    }
    let call = json!({ "tool": UNREPEATABLE, "arguments": { "command": "echo done >> done.log" } });
    let does = format!("{}\n", json!({ "when": DO_IT, "calls": [call] }));
    let says = format!("{}\n", json!({ "text": ANSWER }));
    let turns = does.repeat(4 * runs) + &says.repeat(2 * runs * (rounds + 6));
    fs::write(home.file("script.jsonl"), turns).context("writing the script")?;
    let model = format!("script:{}", home.file("script.jsonl").display());
    let request = |number: usize| {
        let mut request = json!({ "agent": "chat", "model": model, "dir": workspace });
        request["key"] = format!("key{}", number % KEYS).into();
        request["request"] = format!("order {number}").into();
        match number % 5 {
            3 => request["agent"] = "code".into(),
            4 => (request["agent"], request["goal"]) = ("research".into(), QUESTION.into()),
            _ => {}
        }
        format!("{request}\n")
    };
    let requests: String = (0..runs).map(request).collect();
    fs::write(home.file("requests.jsonl"), requests).context("writing the requests")
}

/// Submits all runs, until every one is taken. A request that fails is repeated.
pub(super) async fn submit(home: Arc<Home>, url: String, redis: String) -> Result<()> {
    let command = || {
        let to = ["submit", "--store", &url, "--redis", &redis, "--file", "requests.jsonl"];
        let mut command = home.command(to);
        command.stdin(Stdio::null());
        command
    };
    loop {
        let mut submits: Command = command();
        let said = tokio::task::spawn_blocking(move || submits.output()).await?;
        if said.context("starting the program")?.status.success() {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The people of a storm.
pub(super) struct People {
    store: Arc<dyn Store>,
    control: RunControl,
    rounds: usize,
    /// For each run the entry that was answered, and how often it was spoken to.
    spoken: BTreeMap<String, (u64, usize)>,
    /// The questions that were answered, and whose answers were taken: a run, and the effect.
    answered: BTreeSet<(String, EffectId)>,
    counts: Arc<Counts>,
}

/// What people have seen.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Runs that have ended.
    pub(super) ended: AtomicUsize,
    /// Calls that people were asked about, because they may have been made already.
    pub(super) asked: AtomicUsize,
    /// Questions that a waiting run still asked after it was sent an answer.
    pub(super) repeated: AtomicUsize,
}

impl People {
    pub(super) fn new(store: Arc<dyn Store>, rounds: usize, counts: Arc<Counts>) -> Self {
        let control = RunControl::new(Arc::new(pointsman_agents::all()), Arc::clone(&store));
        Self { store, control, rounds, spoken: BTreeMap::new(), answered: BTreeSet::new(), counts }
    }

    /// Talks to every run: a word whenever it listens, then the end of the input.
    pub(super) async fn talk(mut self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            let page = Page::first(usize::MAX);
            let Ok(listed) = self.store.list(&Filter::default(), &page).await else { continue };
            let ended = listed.runs.iter().filter(|row| row.ended.is_some()).count();
            self.counts.ended.store(ended, Relaxed);
            for row in listed.runs.iter().filter(|row| row.ended.is_none()) {
                let (at, words) = self.spoken.get(row.id.as_str()).copied().unwrap_or_default();
                if row.seq.0 > at
                    && let Some(words) = self.answer(row, words).await
                {
                    self.spoken.insert(row.id.as_str().into(), (row.seq.0, words));
                }
            }
        }
    }

    /// Says what a run waits for, and returns how many words it has had; nothing if that must be
    /// tried again.
    async fn answer(&mut self, row: &RunRow, words: usize) -> Option<usize> {
        let listens = LISTENING.contains(&&*row.state);
        let status = row.queue.as_ref().and_then(|place| place.status);
        if !listens && status != Some(QueueStatus::Waiting) {
            return None;
        }
        if listens {
            // A word whose answer was lost is there or not: it is not said twice.
            if !self.store.messages(&row.id).await.ok()?.is_empty() {
                return Some(words);
            }
            // A coder that says the same again and again is stuck.
            let rounds = if &*row.agent == "code" { 1 } else { self.rounds };
            let said = match words {
                0 => said(0, &json!({ "text": DO_IT })),
                _ if words < rounds => said(0, &json!({ "text": "And then?" })),
                _ => said(1, &json!({})),
            };
            self.store.send(&row.id, &said?).await.ok()?;
            return Some(words + 1);
        }
        // A word that came too early may wait beside the question. A person who still sees a
        // question answers it again, so that the storm shows all that is wrong.
        let yes = ApprovalDecision { granted: true, reason: String::new(), remember: None };
        for question in self.control.questions(&row.id).await.ok()? {
            let asked = (row.id.as_str().into(), question.effect);
            let is_new = !self.answered.contains(&asked);
            let count = if is_new { &self.counts.asked } else { &self.counts.repeated };
            count.fetch_add(1, Relaxed);
            self.control.decide(&row.id, &question, &yes).await.ok()?;
            self.answered.insert(asked);
        }
        None
    }
}

/// Returns an event from outside as a message holds it.
fn said(event: u16, value: &Value) -> Option<String> {
    let event: Event<Body> = Event::Given { event, body: body(value).ok()? };
    serde_json::to_string(&event).ok()
}

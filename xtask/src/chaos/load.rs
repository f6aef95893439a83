//! The load of a storm: runs of shipped agents, each submitted by two processes under one name, and
//! people who talk to a run as soon as it listens and answer its questions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
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
use tokio::time::{MissedTickBehavior, interval};

use super::fleet::CLOCK;
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

/// Writes down who may do what, what the model says, what is to be read, and which runs are wanted: in
/// parts that are submitted one after the other.
pub(super) fn prepare(home: &Home, runs: usize, rounds: usize, parts: usize) -> Result<()> {
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
    for part in 0..parts {
        let requests = (part * runs / parts)..((part + 1) * runs / parts);
        let requests: String = requests.map(request).collect();
        fs::write(home.file(&part_name(part)), requests).context("writing the requests")?;
    }
    Ok(())
}

fn part_name(part: usize) -> String {
    format!("requests-{part}.jsonl")
}

/// One who submits all runs.
pub(super) struct Submitter {
    pub(super) home: Arc<Home>,
    pub(super) url: String,
    pub(super) redis: String,
    /// How far its clock is ahead, in seconds.
    pub(super) ahead: i64,
    /// The parts of all requests, and the time from one to the next.
    pub(super) parts: usize,
    pub(super) every: Duration,
    /// The list of the ids that were printed.
    pub(super) submitted: PathBuf,
}

impl Submitter {
    /// Submits all runs, until every one is taken. A part that fails is repeated.
    pub(super) async fn submit(self) -> Result<()> {
        let mut due = interval(self.every.max(PAUSE));
        // Two that submit the same do so at the same time, even after one was delayed.
        due.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for part in 0..self.parts {
            due.tick().await;
            while !self.submit_part(part).await? {
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    /// Returns whether a part was taken.
    async fn submit_part(&self, part: usize) -> Result<bool> {
        let to = ["submit", "--store", &self.url, "--redis", &self.redis, "--file"];
        let mut command = self.home.command(to);
        command.arg(part_name(part)).env(CLOCK, self.ahead.to_string()).stdin(Stdio::null());
        let said = tokio::task::spawn_blocking(move || command.output()).await?;
        let said = said.context("starting the program")?;
        // What was printed before it failed was taken.
        let list = OpenOptions::new().append(true).open(&self.submitted);
        list.and_then(|mut list| list.write_all(&said.stdout)).context("noting what was taken")?;
        Ok(said.status.success())
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
    /// Entries of all runs.
    pub(super) entries: AtomicU64,
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
            self.counts.entries.store(listed.runs.iter().map(|row| row.seq.0).sum(), Relaxed);
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

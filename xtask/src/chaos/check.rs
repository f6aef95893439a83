//! What must hold after a storm, read from the tables and from the list of effects.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result};
use serde::Deserialize;
use tokio_postgres::Client;

use super::{LEASE, POLL, load::UNREPEATABLE};

/// How much later than a takeover an effect may have been noted: the server notes a claim before it
/// commits, and a worker an effect after it has looked at its lease.
const SLACK_MS: u64 = 500;
/// How much longer than its lease and a look at the queue a takeover may take on a busy machine.
const TAKEOVER_SLACK_MS: u64 = 30_000;

/// A rule that is broken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Violation {
    SecondWriter,
    Gap,
    NoEntry,
    SilentRepeat,
    PastLease,
    NotEnded,
    LostWake,
    SecondRun,
    SlowTakeover,
    Unasked,
    LostAnswer,
    Unheard,
}

impl Violation {
    /// Returns the rule.
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::SecondWriter => "one writer per epoch",
            Self::Gap => "no gap in a journal",
            Self::NoEntry => "every acknowledged entry is there",
            Self::SilentRepeat => "no effect is repeated unless its permit says so",
            Self::PastLease => "no permit past a lease",
            Self::NotEnded => "every run ends",
            Self::LostWake => "no wake-up is lost",
            Self::SecondRun => "one run for each request",
            Self::SlowTakeover => "takeover within a lease and a look at the queue",
            Self::Unasked => "a person is asked before an unrepeatable call is made again",
            Self::LostAnswer => "an answered question is not asked again",
            Self::Unheard => "every change is announced",
        }
    }
}

/// An effect that a worker has started.
#[derive(Clone, Debug, Deserialize)]
struct Effect {
    /// The worker's process id.
    worker: u32,
    run: String,
    seq: i64,
    index: u16,
    epoch: i64,
    again: bool,
    /// A tool's name, or `model`.
    task: String,
    at: u64,
}

/// A run's row.
struct Row {
    seq: i64,
    state: String,
    ended: Option<String>,
    status: String,
    /// Messages that wait for it.
    messages: i64,
}

impl Row {
    fn words(&self, run: &str) -> String {
        format!("run {run} is {} in {} at entry {}", self.status, self.state, self.seq)
    }
}

/// What a storm has left behind.
pub(super) struct History {
    runs: BTreeMap<String, Row>,
    /// Epochs of entries, by run and number.
    entries: BTreeMap<(String, i64), i64>,
    /// Times of claims, by run and epoch.
    claims: BTreeMap<(String, i64), u64>,
    stale: Vec<String>,
    effects: Vec<Effect>,
    /// The last entry of each run that a watcher has heard of.
    seen: BTreeMap<String, i64>,
    /// The server's time when the boot clock said 0.
    boot: u64,
    pub(super) wanted: usize,
    pub(super) kills: usize,
    pub(super) strokes: usize,
    pub(super) suspensions: Vec<u32>,
    /// Calls that people were asked about.
    pub(super) asked: usize,
    /// Answers that people had to repeat.
    pub(super) repeated: usize,
}

/// The lists that processes of a storm write.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub(super) effects: &'a Path,
    pub(super) seen: &'a Path,
}

impl History {
    /// Reads it as of one moment. Effects are read before entries: each has its entry by then.
    pub(super) async fn read(client: &Client, lists: Lists<'_>, boot: u64) -> Result<Self> {
        let text = fs::read_to_string(lists.effects).context("reading the list of effects")?;
        let effects = text.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        let effects = effects.context("reading the list of effects")?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        client.batch_execute(begin).await.context("reading the tables")?;
        let rows = "SELECT id, seq, state, ended, status,
            (SELECT count(*) FROM pointsman.message m WHERE m.run = r.id) FROM pointsman.run r";
        let mut runs = BTreeMap::new();
        for row in client.query(rows, &[]).await.context("reading the runs")? {
            let (seq, state, ended) = (row.get(1), row.get(2), row.get(3));
            let (status, messages) = (row.get(4), row.get(5));
            runs.insert(row.get(0), Row { seq, state, ended, status, messages });
        }
        let mut entries = BTreeMap::new();
        for row in client.query("SELECT run, seq, epoch FROM pointsman.entry", &[]).await? {
            entries.insert((row.get(0), row.get(1)), row.get(2));
        }
        let mut claims = BTreeMap::new();
        for row in client.query("SELECT run, epoch, at_ms FROM noted_claim", &[]).await? {
            let at = u64::try_from(row.get::<_, i64>(2)).unwrap_or_default();
            claims.insert((row.get(0), row.get(1)), at);
        }
        let stale =
            "SELECT format('entry %s of run %s has epoch %s instead of %s', seq, run, epoch,
            current) FROM noted_stale";
        let stale = client.query(stale, &[]).await?.iter().map(|row| row.get(0)).collect();
        client.batch_execute("COMMIT").await.context("reading the tables")?;
        let mut seen = BTreeMap::new();
        for line in fs::read_to_string(lists.seen).context("reading the list of changes")?.lines() {
            let Some((run, seq)) = line.split_once(' ') else { continue };
            let last = seen.entry(run.to_owned()).or_insert(0);
            *last = seq.parse().map_or(*last, |seq: i64| seq.max(*last));
        }
        Ok(Self {
            runs,
            entries,
            claims,
            stale,
            effects,
            seen,
            boot,
            wanted: 0,
            kills: 0,
            strokes: 0,
            suspensions: Vec::new(),
            asked: 0,
            repeated: 0,
        })
    }

    /// Returns what happened, in a line.
    pub(super) fn summary(&self) -> String {
        let again = self.effects.iter().filter(|effect| effect.again).count();
        let ended = self.runs.values().filter(|row| row.ended.is_some()).count();
        format!(
            "{ended} of {} runs ended, {} entries, {} effects ({again} again), {} takeovers, {} \
             strokes ({} kills, {} suspensions), {} calls asked about ({} \
             answered again), slowest takeover {} ms",
            self.wanted,
            self.entries.len(),
            self.effects.len(),
            self.takeovers().count(),
            self.strokes,
            self.kills,
            self.suspensions.len(),
            self.asked,
            self.repeated,
            self.takeovers().max().unwrap_or_default(),
        )
    }

    /// Returns how long after the last sign of life of its owner each run was taken over: a run with
    /// an effect in progress was neither released nor parked.
    fn takeovers(&self) -> impl Iterator<Item = u64> {
        let taken = self.effects.iter().filter(|effect| effect.again);
        taken.filter_map(|effect| {
            let claimed = self.claims.get(&(effect.run.clone(), effect.epoch))?;
            let same = |it: &&Effect| {
                (&it.run, it.seq, it.index) == (&effect.run, effect.seq, effect.index)
                    && it.epoch < effect.epoch
            };
            let last = self.effects.iter().filter(same).map(|it| it.at).max()?;
            Some(claimed.saturating_sub(last.saturating_add(self.boot)))
        })
    }
}

/// A broken rule, and the place.
pub(super) type Finding = (Violation, String);

/// Returns every rule that is broken and must hold at any time.
pub(super) fn violations_so_far(history: &History) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(history.stale.iter().map(|what| (Violation::SecondWriter, what.clone())));
    journals(history, &mut found);
    effects(history, &mut found);
    for (run, row) in &history.runs {
        if row.status == "waiting" && row.messages > 0 {
            found.push((Violation::LostWake, format!("{}, with a message", row.words(run))));
        }
    }
    found
}

/// Returns every rule that is broken once all is over.
pub(super) fn violations(history: &History) -> Vec<Finding> {
    let mut found = violations_so_far(history);
    runs(history, &mut found);
    if history.repeated > 0 {
        let what = format!("{} questions were still open after an answer", history.repeated);
        found.push((Violation::LostAnswer, what));
    }
    takeovers(history, &mut found);
    found
}

/// Numbers without a gap, and epochs that never fall.
fn journals(history: &History, found: &mut Vec<Finding>) {
    for (run, row) in &history.runs {
        let mut last = 0;
        for seq in 1..=row.seq {
            match history.entries.get(&(run.clone(), seq)) {
                None => found.push((Violation::Gap, format!("run {run} has no entry {seq}"))),
                Some(epoch) if *epoch < last => {
                    let what = format!("entry {seq} of run {run} has epoch {epoch} after {last}");
                    found.push((Violation::SecondWriter, what));
                }
                Some(epoch) => last = *epoch,
            }
        }
    }
}

/// Each effect has its entry, is started once unless its permit says otherwise, and under a lease.
fn effects(history: &History, found: &mut Vec<Finding>) {
    let mut first = BTreeSet::new();
    for effect in &history.effects {
        let Effect { worker, run, seq, index, epoch, again, task, at } = effect;
        let name = format!("{task}, effect {index} of entry {seq} of run {run}, by {worker}");
        match history.entries.get(&(run.clone(), *seq)) {
            None => found.push((Violation::NoEntry, format!("{name}: no entry"))),
            Some(written) if !again && written != epoch => {
                let what = format!("{name}: its entry has epoch {written} instead of {epoch}");
                found.push((Violation::NoEntry, what));
            }
            Some(_) => {}
        }
        if !again && !first.insert((run, seq, index)) {
            found.push((Violation::SilentRepeat, name.clone()));
        }
        if *again && task == UNREPEATABLE {
            found.push((Violation::Unasked, name.clone()));
        }
        let at = at.saturating_add(history.boot);
        let next = history.claims.range((run.clone(), epoch + 1)..=(run.clone(), i64::MAX)).next();
        let Some((_, taken)) = next else { continue };
        // A worker that is suspended between its look at the lease and the effect cannot know.
        let suspended = history.suspensions.contains(worker);
        if at > taken.saturating_add(SLACK_MS) && !suspended {
            let what = format!("{name}: started {} ms after a takeover", at - taken);
            found.push((Violation::PastLease, what));
        }
    }
}

/// Runs of a lost worker are soon claimed by another.
fn takeovers(history: &History, found: &mut Vec<Finding>) {
    let limit = (LEASE + POLL).as_millis();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(TAKEOVER_SLACK_MS);
    if let Some(slow) = history.takeovers().find(|took| *took > limit) {
        found.push((Violation::SlowTakeover, format!("{slow} ms")));
    }
}

/// Each request has one run, which has ended, and a watcher knows of its end.
fn runs(history: &History, found: &mut Vec<Finding>) {
    if history.runs.len() != history.wanted {
        let what = format!("{} runs for {} requests", history.runs.len(), history.wanted);
        found.push((Violation::SecondRun, what));
    }
    for (run, row) in &history.runs {
        if row.ended.as_deref() != Some("succeeded") {
            found.push((Violation::NotEnded, row.words(run)));
        }
        let seen = history.seen.get(run).copied().unwrap_or_default();
        if seen < row.seq {
            let what = format!("entry {} of run {run}: only {seen} was announced", row.seq);
            found.push((Violation::Unheard, what));
        }
    }
}

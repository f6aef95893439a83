//! What a storm has left behind: tables, and the lists that its processes have written.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::Client;

use super::pulse::lost_ms;
use crate::place::Scratch;

/// The lists that processes of a storm write, a line at a time.
#[derive(Clone, Debug)]
pub(super) struct Lists {
    /// Effects that workers have started.
    pub(super) effects: PathBuf,
    /// Entries that the watcher has heard of.
    pub(super) seen: PathBuf,
    /// The ids that `submit` has printed.
    pub(super) submitted: PathBuf,
    /// What workers have printed about runs that they no longer drive.
    pub(super) reported: PathBuf,
}

impl Lists {
    /// Makes empty lists.
    pub(super) fn make(scratch: &Scratch) -> Result<Self> {
        let make = |name| {
            let list = scratch.file(name);
            fs::write(&list, "").context("making a list")?;
            anyhow::Ok(list)
        };
        Ok(Self {
            effects: make("effects")?,
            seen: make("seen")?,
            submitted: make("submitted")?,
            reported: make("reported")?,
        })
    }
}

/// Reads the whole lines of a list: the last one may be half written.
fn lines(list: &Path) -> Result<String> {
    let mut text = fs::read_to_string(list).context("reading a list")?;
    text.truncate(text.rfind('\n').unwrap_or_default());
    Ok(text)
}

/// An effect that a worker has started.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Effect {
    /// The worker's process id.
    pub(super) worker: u32,
    pub(super) run: String,
    pub(super) seq: i64,
    pub(super) index: u16,
    pub(super) epoch: i64,
    pub(super) again: bool,
    /// A tool's name, or `model`.
    pub(super) task: String,
    /// When its worker checked the lease for it, and when it was started, by the boot clock.
    pub(super) issued: u64,
    pub(super) at: u64,
}

/// A worker that was suspended, and when by the boot clock: from just before it stood still, to just
/// after it was told to continue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspension {
    pub(super) worker: u32,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// A run's row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) seq: i64,
    pub(super) state: String,
    pub(super) ended: Option<String>,
    pub(super) status: String,
    /// Messages that wait for it.
    pub(super) messages: i64,
}

impl Row {
    pub(super) fn words(&self, run: &str) -> String {
        format!("run {run} is {} in {} at entry {}", self.status, self.state, self.seq)
    }
}

/// A run that was taken over from a worker that was killed or suspended.
#[derive(Clone, Debug)]
pub(super) struct Takeover {
    pub(super) run: String,
    /// How long after its worker's end another claimed it, in milliseconds.
    pub(super) took: u64,
    /// What the pulse lost meanwhile.
    pub(super) lost: u64,
}

/// What a storm has left behind.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) runs: BTreeMap<String, Row>,
    /// Epochs of entries, by run and number.
    pub(super) entries: BTreeMap<(String, i64), i64>,
    /// Entries that answer an effect: the run, the effect, and the entry's number.
    pub(super) answers: Vec<(String, String, i64)>,
    /// Times of claims, by run and epoch.
    pub(super) claims: BTreeMap<(String, i64), u64>,
    pub(super) stale: Vec<String>,
    pub(super) effects: Vec<Effect>,
    /// The last entry of each run that a watcher has heard of.
    pub(super) seen: BTreeMap<String, i64>,
    /// The runs whose ids were printed to a submitter.
    pub(super) submitted: BTreeSet<String>,
    /// The runs whose ends a worker has reported.
    pub(super) reported: BTreeSet<String>,
    /// The server's time when the boot clock said 0.
    pub(super) boot: u64,
    pub(super) wanted: usize,
    pub(super) strokes: usize,
    pub(super) kills: usize,
    /// Workers that ended in order when they were asked to, and those that did not.
    pub(super) drains: usize,
    pub(super) undrained: usize,
    pub(super) suspensions: Vec<Suspension>,
    /// The workers that were killed or suspended, and when by the boot clock.
    pub(super) losses: Vec<(u32, u64)>,
    /// The beats of the pulse.
    pub(super) beats: Vec<u64>,
    /// Calls that people were asked about.
    pub(super) asked: usize,
    /// Answers that people had to repeat.
    pub(super) repeated: usize,
    /// Whether a standby still waits to be promoted.
    pub(super) unpromoted: bool,
}

impl History {
    /// Reads it as of one moment. Lists are read before tables: what they say is there by then.
    pub(super) async fn read(client: &Client, lists: &Lists, boot: u64) -> Result<Self> {
        let mut history = Self { boot, ..Self::default() };
        history.read_lists(lists)?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        client.batch_execute(begin).await.context("reading the tables")?;
        history.read_tables(client).await.context("reading the tables")?;
        client.batch_execute("COMMIT").await.context("reading the tables")?;
        Ok(history)
    }

    fn read_lists(&mut self, lists: &Lists) -> Result<()> {
        let effects = lines(&lists.effects)?;
        let effects = effects.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        self.effects = effects.context("reading the list of effects")?;
        for line in lines(&lists.seen)?.lines() {
            let Some((run, seq)) = line.split_once(' ') else { continue };
            let last = self.seen.entry(run.to_owned()).or_insert(0);
            *last = seq.parse().map_or(*last, |seq: i64| seq.max(*last));
        }
        self.submitted = lines(&lists.submitted)?.lines().map(str::to_owned).collect();
        for line in lines(&lists.reported)?.lines() {
            let report: Value = serde_json::from_str(line).context("reading a worker's report")?;
            if let (Some(run), Some(_)) = (report["run"].as_str(), report.get("disposition")) {
                self.reported.insert(run.to_owned());
            }
        }
        Ok(())
    }

    async fn read_tables(&mut self, client: &Client) -> Result<()> {
        let rows = "SELECT id, seq, state, ended, status,
            (SELECT count(*) FROM pointsman.message m WHERE m.run = r.id) FROM pointsman.run r";
        for row in client.query(rows, &[]).await? {
            let (seq, state, ended) = (row.get(1), row.get(2), row.get(3));
            let (status, messages) = (row.get(4), row.get(5));
            self.runs.insert(row.get(0), Row { seq, state, ended, status, messages });
        }
        let entries = "SELECT run, seq, epoch, line::json -> 'event' -> 'answered' ->> 'effect'
            FROM pointsman.entry ORDER BY run, seq";
        for row in client.query(entries, &[]).await? {
            let (run, seq): (String, i64) = (row.get(0), row.get(1));
            if let Some(effect) = row.get(3) {
                self.answers.push((run.clone(), effect, seq));
            }
            self.entries.insert((run, seq), row.get(2));
        }
        for row in client.query("SELECT run, epoch, at_ms FROM noted_claim", &[]).await? {
            let at = u64::try_from(row.get::<_, i64>(2)).unwrap_or_default();
            self.claims.insert((row.get(0), row.get(1)), at);
        }
        let stale =
            "SELECT format('entry %s of run %s has epoch %s instead of %s', seq, run, epoch,
            current) FROM noted_stale";
        self.stale = client.query(stale, &[]).await?.iter().map(|row| row.get(0)).collect();
        Ok(())
    }

    /// Returns how many entries and runs someone was told of.
    pub(super) fn acknowledged(&self) -> (i64, usize) {
        (self.seen.values().sum(), self.submitted.len())
    }

    /// Returns what happened, in a line.
    pub(super) fn summary(&self) -> String {
        let again = self.effects.iter().filter(|effect| effect.again).count();
        let ended = self.runs.values().filter(|row| row.ended.is_some()).count();
        let takeovers = self.takeovers();
        let slowest = takeovers.iter().max_by_key(|it| it.took.saturating_sub(it.lost));
        let (took, lost) = slowest.map_or((0, 0), |it| (it.took, it.lost));
        let (seen, submitted) = self.acknowledged();
        format!(
            "{ended} of {} runs ended, {} entries ({seen} announced), {submitted} ids printed, {} \
             effects ({again} again), {} strokes ({} kills, {} suspensions, {} drains), {} calls \
             asked about ({} answered again), {} takeovers, the slowest after {took} ms of which \
             the pulse lost {lost}",
            self.wanted,
            self.entries.len(),
            self.effects.len(),
            self.strokes,
            self.kills,
            self.suspensions.len(),
            self.drains,
            self.asked,
            self.repeated,
            takeovers.len(),
        )
    }

    /// Returns whether a worker could not see the time pass: it was suspended, or has only just continued.
    pub(super) fn stood_still(&self, worker: u32, at: u64, margin: u64) -> bool {
        let suspended = |it: &Suspension| {
            it.worker == worker && (it.from..=it.to.saturating_add(margin)).contains(&at)
        };
        self.suspensions.iter().any(suspended)
    }

    /// Returns what a storm must have had and this one had not: without it, it shows nothing.
    pub(super) fn lacks(&self) -> Vec<&'static str> {
        let had = [
            ("no worker was killed", self.kills),
            ("no worker was suspended", self.suspensions.len()),
            ("no worker was drained", self.drains),
            ("no run was taken over", self.takeovers().len()),
            ("no person was asked about a call", self.asked),
            ("no effect was started", self.effects.len()),
        ];
        had.into_iter().filter(|(_, count)| *count == 0).map(|(what, _)| what).collect()
    }

    /// Returns how long after its worker was killed or suspended each run was taken over: a run with
    /// an effect in progress was neither released nor parked.
    pub(super) fn takeovers(&self) -> Vec<Takeover> {
        let taken = self.effects.iter().filter(|effect| effect.again);
        let takeover = |effect: &Effect| {
            let same = |it: &&Effect| {
                (&it.run, it.seq, it.index) == (&effect.run, effect.seq, effect.index)
                    && it.epoch < effect.epoch
            };
            let last = self.effects.iter().filter(same).max_by_key(|it| it.epoch)?;
            let owner_lost = |(worker, at): &&(u32, u64)| *worker == last.worker && *at >= last.at;
            let (_, from) = *self.losses.iter().find(owner_lost)?;
            // The next owner may be lost before it does anything.
            let next = (effect.run.clone(), last.epoch + 1)..=(effect.run.clone(), effect.epoch);
            let to = self.claims.range(next).next()?.1.saturating_sub(self.boot);
            // One that is claimed earlier was given up before.
            let took = to.checked_sub(from)?;
            Some(Takeover { run: effect.run.clone(), took, lost: lost_ms(&self.beats, from, to) })
        };
        taken.filter_map(takeover).collect()
    }
}

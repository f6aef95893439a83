//! The figures of one run, and a file that keeps them: a run that has not changed is read once.
//!
//! The file may be deleted at any time. Its lines are used only for the same entry of the same run
//! under the same revision of its agent.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_kernel::{agents::Program, chart::Disposition, event::Event, id::Seq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{SavedTokens, Tally, stops};
use crate::{
    entry::event,
    local_executor::Workspace,
    private,
    store::RunRow,
    timeline::{Spent, TimelineItem, TimelineKind},
};

/// The figures of one run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct CountedRun {
    /// How it ended, or `open`.
    pub(super) ended: Box<str>,
    /// The model that it began with.
    pub(super) model: Option<Box<str>>,
    /// Visits of states.
    pub(super) visits: u64,
    /// Attempts that were repeated.
    pub(super) retries: u64,
    pub(super) spent: Spent,
    /// What it did not spend, if the governor stopped it.
    pub(super) saved: SavedTokens,
    pub(super) tally: Tally,
}

impl CountedRun {
    /// Sums up the entries of a run after one; earlier ones belong to its parent.
    pub(super) fn of(
        program: &Program,
        row: &RunRow,
        lines: &[String],
        items: &[TimelineItem],
        shared: Seq,
    ) -> Self {
        let own = || items.iter().filter(|item| item.seq > shared);
        let mut spent = Spent::default();
        own().for_each(|item| spent.add(item));
        let count = |is: fn(&TimelineKind) -> bool| {
            u64::try_from(own().filter(|item| is(&item.kind)).count()).unwrap_or(u64::MAX)
        };
        let stuck = row.ended.as_deref() == Some(Disposition::Stuck.name());
        let saved = (stuck && items.iter().any(stops))
            .then(|| SavedTokens::of(&program.certificate(), &Spent::of(items)));
        let mut tally = Tally::default();
        tally.add(program.name(), items, shared);
        Self {
            ended: row.ended.clone().unwrap_or_else(|| "open".into()),
            model: lines.first().and_then(|line| model(line)),
            visits: count(|kind| matches!(kind, TimelineKind::Transition { to: Some(_), .. })),
            retries: count(|kind| matches!(kind, TimelineKind::Retrying { .. })),
            spent,
            saved: saved.unwrap_or_default(),
            tally,
        }
    }
}

/// Returns the model that a run began with, if its first entry names one.
fn model(line: &str) -> Option<Box<str>> {
    let Some(Event::Begun(begun)) = event(line) else { return None };
    let place: Workspace = serde_json::from_str(begun.place?.get()).ok()?;
    Some(place.model)
}

/// A line of the file.
#[derive(Debug, Deserialize, Serialize)]
struct KeptSummary {
    run: Box<str>,
    seq: Seq,
    revision: Box<str>,
    summary: CountedRun,
}

/// Keeps the figures of runs between two looks at them.
#[derive(Debug, Default)]
pub struct SummaryCache {
    file: Option<PathBuf>,
    known: HashMap<Box<str>, KeptSummary>,
    changed: bool,
}

impl SummaryCache {
    /// Opens a file of summaries. One that is missing or damaged counts as empty.
    pub fn open(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let known = lines.map(|line: KeptSummary| (line.run.clone(), line)).collect();
        Self { file: Some(file.into()), known, changed: false }
    }

    /// Returns how many runs it knows.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Writes new figures into the file, at once or not at all.
    pub fn save(&mut self) -> io::Result<()> {
        let Some(file) = self.file.as_deref().filter(|_| self.changed) else { return Ok(()) };
        let mut text = String::new();
        for kept in self.known.values() {
            text.push_str(&serde_json::to_string(kept)?);
            text.push('\n');
        }
        let aside = file.with_extension(format!("{}.new", std::process::id()));
        private::file(&aside)?;
        fs::write(&aside, text).and_then(|()| fs::rename(&aside, file))?;
        self.changed = false;
        Ok(())
    }

    /// Returns the figures of a run at an entry.
    pub(super) fn find(&self, row: &RunRow, revision: &str) -> Option<&CountedRun> {
        let kept = self.known.get(row.id.as_str())?;
        let same = kept.seq == row.seq && &*kept.revision == revision && !revision.is_empty();
        same.then_some(&kept.summary)
    }

    /// Keeps the figures of a run. Without a revision a changed agent cannot be noticed.
    pub(super) fn keep(&mut self, row: &RunRow, revision: &str, summary: &CountedRun) {
        if revision.is_empty() {
            return;
        }
        let (run, seq, revision) = (Box::from(row.id.as_str()), row.seq, revision.into());
        let kept = KeptSummary { run, seq, revision, summary: summary.clone() };
        self.known.insert(row.id.as_str().into(), kept);
        self.changed = true;
    }

    /// Forgets runs that no longer exist.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        let before = self.known.len();
        self.known.retain(|run, _| is_there(run));
        self.changed |= self.known.len() != before;
    }
}

/// Writes a map whose keys are no text as a list of pairs.
pub(super) mod pairs {
    use super::{BTreeMap, Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(in super::super) fn deserialize<'de, K, V, D>(
        deserializer: D,
    ) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

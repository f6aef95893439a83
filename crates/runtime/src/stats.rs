//! Figures over many runs, from their timelines.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
};

use pointsman_kernel::{
    agents::{Agents, Program},
    governor::Level,
    id::{At, Digest, Seq},
};
use serde::Serialize;

use crate::{
    store::{Filter, RunId, Store, StoreError},
    timeline::{Projector, Spent, TimelineItem, TimelineKind},
};

/// Figures over many runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Runs that were read.
    pub runs: u64,
    /// How many ended how; `open` are those that have not ended.
    pub dispositions: BTreeMap<Box<str>, u64>,
    /// Transitions by edge, the most frequent first.
    pub edges: Vec<TransitionCount>,
    /// Time by state, the longest first.
    pub states: Vec<StateDuration>,
    /// What the governor found, by rule and state, the most frequent first.
    pub findings: Vec<FindingCount>,
    /// Runs that ended stuck, of a thousand that ended.
    pub stuck_per_mille: u64,
    /// What was called, and what it cost.
    #[serde(flatten)]
    pub spent: Spent,
    /// Runs whose journal this build cannot read, with the reason.
    pub unreadable: Vec<(Box<str>, String)>,
}

/// A way from one state to another, and how often it was taken.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TransitionCount {
    /// The chart.
    pub chart: Box<str>,
    /// The state that was left; none at the start.
    pub from: Option<Box<str>>,
    /// The state that was entered; none where runs ended where they were.
    pub to: Option<Box<str>>,
    /// Why.
    pub reason: Box<str>,
    /// How often.
    pub count: u64,
}

/// How long runs stay in a state.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct StateDuration {
    /// The chart.
    pub chart: Box<str>,
    /// The state.
    pub state: Box<str>,
    /// How often it was left.
    pub visits: u64,
    /// Half of the stays were this long at most, in milliseconds.
    pub median_ms: u64,
    /// 95 of 100 stays were this long at most, in milliseconds.
    pub p95_ms: u64,
    /// All stays together, in milliseconds.
    pub total_ms: u64,
}

/// What the governor found in a state.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FindingCount {
    /// The chart.
    pub chart: Box<str>,
    /// The state.
    pub state: Box<str>,
    /// The rule.
    pub rule: Box<str>,
    /// How often it warned.
    pub warned: u64,
    /// How often it refused the call or stopped the job.
    pub stopped: u64,
    /// Runs in which it said something.
    pub runs: u64,
}

type Name = Box<str>;
/// A chart, the state that was left, the one that was entered, and why.
type Way = (Name, Option<Name>, Option<Name>, Name);
/// A chart, a state and a rule.
type Spot = (Name, Name, Name);

/// Returns whether this is why a run leaves a state that a verdict stops.
fn is_stop(reason: &str) -> bool {
    matches!(reason, "stuck" | "denied")
}

/// What is counted before it is put in order.
#[derive(Default)]
struct Tally {
    edges: BTreeMap<Way, u64>,
    stays: BTreeMap<(Name, Name), Vec<u64>>,
    findings: BTreeMap<Spot, (u64, u64, u64)>,
}

impl Stats {
    /// Reads the journals of all runs, or of those of one agent or chart: each once, and each
    /// chart once.
    pub async fn over(
        agents: &Agents,
        store: &dyn Store,
        agent: Option<&str>,
    ) -> Result<Self, StoreError> {
        let (mut stats, mut tally) = (Self::default(), Tally::default());
        // Runs of one agent mostly share a chart, and proving it takes longer than reading.
        let mut programs: BTreeMap<Digest, Option<Arc<Program>>> = BTreeMap::new();
        let listed = store.all(&Filter::default()).await?;
        for error in &listed.damaged {
            let run = error.run().map_or("(unknown)", RunId::as_str);
            stats.unreadable.push((run.into(), error.to_string()));
        }
        for row in listed.runs {
            if agent.is_some_and(|agent| agent != &*row.agent && agent != &*row.chart) {
                continue;
            }
            // What is damaged, or was removed a moment ago, must not hide all the others.
            let unread =
                |error: &dyn std::fmt::Display| (row.id.as_str().into(), error.to_string());
            let program = match programs.entry(row.source) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match store.chart_source(&row.id).await {
                    Ok(source) => new.insert(agents.verify(&source).ok().map(Arc::new)),
                    Err(error) => {
                        stats.unreadable.push(unread(&error));
                        continue;
                    }
                },
            };
            let Some(program) = program else {
                stats.unreadable.push(unread(&"its chart is refused"));
                continue;
            };
            // What a fork shares is counted where it happened.
            let shared = row.forked.as_ref().map_or(Seq(0), |(_, at)| *at);
            let told = store.journal(&row.id).await.map_err(|error| error.to_string());
            let told = told.and_then(|(row, lines)| {
                let mut projector = Projector::new(Arc::clone(program), row.id.clone());
                let items = projector.fold_all(&lines).map_err(|error| error.to_string())?;
                Ok((row, items))
            });
            match told {
                // It may have gone on since it was listed.
                Ok((row, items)) => {
                    let ended = row.ended.unwrap_or_else(|| "open".into());
                    *stats.dispositions.entry(ended).or_default() += 1;
                    stats.runs += 1;
                    let own = items.iter().filter(|item| item.seq > shared);
                    own.for_each(|item| stats.spent.add(item));
                    tally.add(program.name(), &items, shared);
                }
                Err(error) => stats.unreadable.push(unread(&error)),
            }
        }
        let count = |name: &str| stats.dispositions.get(name).copied().unwrap_or(0);
        let ended = stats.runs - count("open");
        stats.stuck_per_mille = (count("stuck") * 1_000).checked_div(ended).unwrap_or(0);
        tally.sort_into(&mut stats);
        Ok(stats)
    }
}

impl Tally {
    /// Adds the items of a run after an entry. Earlier items and their time belong to its parent.
    fn add(&mut self, chart: &str, items: &[TimelineItem], after: Seq) {
        let chart: Box<str> = chart.into();
        let shared = items.iter().rev().find(|item| item.seq <= after).map_or(At(0), |it| it.at);
        let (mut state, mut left): (Name, Option<(Seq, Name)>) = (Name::default(), None);
        let mut seen = BTreeSet::new();
        for item in items {
            match &item.kind {
                TimelineKind::Transition { from, to, reason, ms, .. } => {
                    if let Some(to) = to {
                        state.clone_from(to);
                    }
                    // A verdict has the run leave a state: a step may have come to it from
                    // another one.
                    let first = left.as_ref().is_none_or(|(seq, _)| *seq != item.seq);
                    if let Some(from) = from.as_ref().filter(|_| first && is_stop(reason)) {
                        left = Some((item.seq, from.clone()));
                    }
                    if item.seq <= after {
                        continue;
                    }
                    let edge = (chart.clone(), from.clone(), to.clone(), reason.clone());
                    *self.edges.entry(edge).or_default() += 1;
                    if let Some(from) = from {
                        let stays = self.stays.entry((chart.clone(), from.clone())).or_default();
                        stays.push(item.at.since(shared).min(*ms));
                    }
                }
                TimelineKind::Verdict(verdict)
                    if item.seq > after && !verdict.rule.is_permission() =>
                {
                    let rule = serde_json::to_value(verdict.rule).unwrap_or_default();
                    let rule: Box<str> = rule.as_str().unwrap_or_default().into();
                    let stops = verdict.level >= Level::Refuse;
                    let left = left.as_ref().filter(|(seq, _)| stops && *seq == item.seq);
                    let place = left.map_or(&state, |(_, from)| from);
                    let key = (chart.clone(), place.clone(), rule);
                    let (warned, stopped, runs) = self.findings.entry(key.clone()).or_default();
                    *if stops { stopped } else { warned } += 1;
                    *runs += u64::from(seen.insert(key));
                }
                _ => {}
            }
        }
    }

    fn sort_into(self, stats: &mut Stats) {
        let edge =
            |((chart, from, to, reason), count)| TransitionCount { chart, from, to, reason, count };
        stats.edges = self.edges.into_iter().map(edge).collect();
        stats.edges.sort_by_key(|edge| std::cmp::Reverse(edge.count));
        let stay = |((chart, state), mut stays): ((Name, Name), Vec<u64>)| {
            stays.sort_unstable();
            // The smallest value that is not below so many of a hundred.
            let among = |percent: usize| {
                let rank = (stays.len() * percent).div_ceil(100).saturating_sub(1);
                stays.get(rank).copied().unwrap_or(0)
            };
            let (median_ms, p95_ms) = (among(50), among(95));
            let total_ms = stays.iter().fold(0, |sum: u64, ms| sum.saturating_add(*ms));
            StateDuration { chart, state, visits: stays.len() as u64, median_ms, p95_ms, total_ms }
        };
        stats.states = self.stays.into_iter().map(stay).collect();
        stats.states.sort_by_key(|stay| std::cmp::Reverse(stay.total_ms));
        let found = |((chart, state, rule), (warned, stopped, runs))| FindingCount {
            chart,
            state,
            rule,
            warned,
            stopped,
            runs,
        };
        stats.findings = self.findings.into_iter().map(found).collect();
        stats.findings.sort_by_key(|found| std::cmp::Reverse(found.warned + found.stopped));
    }
}

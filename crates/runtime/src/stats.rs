//! Figures over many runs, from their timelines.

mod summary;

pub use summary::SummaryCache;

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
};

use pointsman_kernel::{
    agents::{Agents, Program},
    chart::{Certificate, CertificateScope},
    governor::Level,
    id::{At, Digest, Seq},
};
use serde::{Deserialize, Serialize};

use summary::CountedRun;

use crate::{
    store::{Filter, RunId, Store, StoreError},
    timeline::{Projector, Spent, TimelineItem, TimelineKind},
};

/// Figures over many runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Runs that were read.
    pub runs: u64,
    /// The number of runs by disposition; `open` counts those that have not ended.
    pub dispositions: BTreeMap<Box<str>, u64>,
    /// Transitions by edge, the most frequent first.
    pub edges: Vec<TransitionCount>,
    /// Time by state, the longest first.
    pub states: Vec<StateDuration>,
    /// The governor's findings, by rule and state, the most frequent first.
    pub findings: Vec<FindingCount>,
    /// Runs that ended stuck, of a thousand that ended.
    pub stuck_per_mille: u64,
    /// What runs that ended stuck did not spend.
    pub tokens_saved: SavedTokens,
    /// Calls and their cost.
    #[serde(flatten)]
    pub spent: Spent,
    /// What runs take, by agent, version of the chart and model, beside the certificate.
    pub costs: Vec<CostGroup>,
    /// Runs whose journal this build cannot read, with the reason.
    pub unreadable: Vec<(Box<str>, String)>,
}

/// What runs did not spend because the governor stopped them.
///
/// Counted are runs that a rule against repetition stopped and that ended stuck. Such a run has made fewer model
/// calls than its certificate allows. What those calls would have cost is estimated: each counts as the mean of
/// the calls that the same run did make. Runs without a model call, and charts whose certificate is per turn,
/// are not counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct SavedTokens {
    /// The runs that are counted.
    pub runs: u64,
    /// The model calls that their certificates still allowed: they made at most this many fewer.
    pub model_calls: u64,
    /// The tokens of these calls, estimated; never more than a budget of tokens still allowed.
    pub tokens: u64,
}

impl SavedTokens {
    /// Returns what a run that was stopped has left of its certificate.
    fn of(certificate: &Certificate, spent: &Spent) -> Self {
        let left = certificate.model_calls.saturating_sub(spent.model_calls);
        let mean = spent.tokens.checked_div(spent.model_calls);
        let Some(mean) = mean.filter(|_| certificate.per == CertificateScope::Run) else {
            return Self::default();
        };
        let budget = certificate.tokens.map_or(u64::MAX, |max| max.saturating_sub(spent.tokens));
        Self { runs: 1, model_calls: left, tokens: left.saturating_mul(mean).min(budget) }
    }

    const fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
    }
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

/// The governor's findings in a state.
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
    /// Runs with this finding.
    pub runs: u64,
}

/// What the runs of an agent take, with one version of a chart and one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostGroup {
    /// The agent.
    pub agent: Box<str>,
    /// The chart.
    pub chart: Box<str>,
    /// Its version.
    pub version: u32,
    /// The model; none where runs name none.
    pub model: Option<Box<str>>,
    /// The runs.
    pub runs: u64,
    /// Those that ended stuck.
    pub stuck: u64,
    /// Attempts that were repeated, in all runs.
    pub retries: u64,
    /// Visits of states in a run.
    pub visits: RunSpread,
    /// Calls of a model in a run.
    pub model_calls: RunSpread,
    /// Calls of a tool in a run.
    pub tool_calls: RunSpread,
    /// Tokens of a run.
    pub tokens: RunSpread,
    /// Millionths of a currency unit of a run.
    pub money: RunSpread,
    /// The proved worst case.
    pub certificate: Certificate,
}

/// How a figure is spread over runs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct RunSpread {
    /// Half of the runs take this at most.
    pub median: u64,
    /// 95 of 100 runs take this at most.
    pub p95: u64,
    /// No run takes more.
    pub max: u64,
}

impl RunSpread {
    fn of(mut all: Vec<u64>) -> Self {
        all.sort_unstable();
        let max = all.last().copied().unwrap_or(0);
        Self { median: percentile(&all, 50), p95: percentile(&all, 95), max }
    }
}

/// Returns the smallest of sorted values with this share at or below it.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).copied().unwrap_or(0)
}

type Name = Box<str>;
/// An agent, a chart, its version and a model; charts of one name can differ.
type CostKey = (Name, Name, u32, Option<Name>, Digest);
/// A chart, the old state, the new state, and the reason.
type Way = (Name, Option<Name>, Option<Name>, Name);
/// A chart, a state and a rule.
type Spot = (Name, Name, Name);

/// Returns whether an item is a verdict by which a rule against repetition stops something.
fn stops(item: &TimelineItem) -> bool {
    matches!(&item.kind, TimelineKind::Verdict(verdict)
        if verdict.level >= Level::Refuse && !verdict.rule.is_permission())
}

/// Returns whether this is why a run leaves a state that a verdict stops.
fn is_stop(reason: &str) -> bool {
    matches!(reason, "stuck" | "denied")
}

/// Counts, before they are sorted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Tally {
    #[serde(with = "summary::pairs")]
    edges: BTreeMap<Way, u64>,
    #[serde(with = "summary::pairs")]
    stays: BTreeMap<(Name, Name), Vec<u64>>,
    #[serde(with = "summary::pairs")]
    findings: BTreeMap<Spot, (u64, u64, u64)>,
}

impl Stats {
    /// Reads the journals of all runs, or of one agent or chart: each once, and each chart once.
    pub async fn over(
        agents: &Agents,
        store: &dyn Store,
        agent: Option<&str>,
    ) -> Result<Self, StoreError> {
        Self::with_cache(agents, store, agent, &mut SummaryCache::default()).await
    }

    /// Does the same, and reads only runs that have changed since they were last counted.
    pub async fn with_cache(
        agents: &Agents,
        store: &dyn Store,
        agent: Option<&str>,
        cache: &mut SummaryCache,
    ) -> Result<Self, StoreError> {
        let (mut stats, mut tally) = (Self::default(), Tally::default());
        // Runs of one agent mostly share a chart, and proving it takes longer than reading.
        let mut programs: BTreeMap<Digest, Option<Arc<Program>>> = BTreeMap::new();
        let mut groups: BTreeMap<CostKey, (Certificate, Vec<CountedRun>)> = BTreeMap::new();
        let listed = store.all(&Filter::default()).await?;
        let there: BTreeSet<&str> = listed.runs.iter().map(|row| row.id.as_str()).collect();
        cache.retain(|run| there.contains(run));
        for error in &listed.damaged {
            let run = error.run().map_or("(unknown)", RunId::as_str);
            stats.unreadable.push((run.into(), error.to_string()));
        }
        for row in listed.runs {
            if agent.is_some_and(|agent| agent != &*row.agent && agent != &*row.chart) {
                continue;
            }
            // A damaged run, or one that was just removed, must not hide the others.
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
            let revision = program.agent().revision;
            let summary = match cache.find(&row, revision) {
                Some(known) => Ok(known.clone()),
                None => read(store, program, &row.id).await.inspect(|summary| {
                    cache.keep(&row, revision, summary);
                }),
            };
            match summary {
                // It may have continued since it was listed.
                Ok(summary) => {
                    *stats.dispositions.entry(summary.ended.clone()).or_default() += 1;
                    stats.runs += 1;
                    stats.spent.merge(&summary.spent);
                    stats.tokens_saved.merge(&summary.saved);
                    tally.merge(&summary.tally);
                    let (agent, chart) = (row.agent.clone(), program.name().into());
                    let key = (agent, chart, program.version(), summary.model.clone(), row.source);
                    let certificate = program.certificate();
                    let group = groups.entry(key).or_insert_with(|| (certificate, Vec::new()));
                    group.1.push(summary);
                }
                Err(error) => stats.unreadable.push(unread(&error)),
            }
        }
        let count = |name: &str| stats.dispositions.get(name).copied().unwrap_or(0);
        let ended = stats.runs - count("open");
        stats.stuck_per_mille = (count("stuck") * 1_000).checked_div(ended).unwrap_or(0);
        tally.sort_into(&mut stats);
        stats.costs =
            groups.into_iter().map(|(key, (proof, runs))| group(key, proof, &runs)).collect();
        Ok(stats)
    }
}

/// Reads a run, and sums it up.
async fn read(
    store: &dyn Store,
    program: &Arc<Program>,
    run: &RunId,
) -> Result<CountedRun, String> {
    let (row, lines) = store.journal(run).await.map_err(|error| error.to_string())?;
    // Shared entries of a fork are counted in the original run.
    let shared = row.forked.as_ref().map_or(Seq(0), |(_, at)| *at);
    let mut projector = Projector::new(Arc::clone(program), row.id.clone());
    let items = projector.fold_all(&lines).map_err(|error| error.to_string())?;
    Ok(CountedRun::of(program, &row, &lines, &items, shared))
}

fn group(key: CostKey, certificate: Certificate, runs: &[CountedRun]) -> CostGroup {
    let (agent, chart, version, model, _) = key;
    let spread = |of: fn(&CountedRun) -> u64| RunSpread::of(runs.iter().map(of).collect());
    CostGroup {
        agent,
        chart,
        version,
        model,
        runs: runs.len() as u64,
        stuck: runs.iter().filter(|run| &*run.ended == "stuck").count() as u64,
        retries: runs.iter().map(|run| run.retries).sum(),
        visits: spread(|run| run.visits),
        model_calls: spread(|run| run.spent.model_calls),
        tool_calls: spread(|run| run.spent.tool_calls),
        tokens: spread(|run| run.spent.tokens),
        money: spread(|run| run.spent.money),
        certificate,
    }
}

impl Tally {
    /// Adds the counts of a run.
    fn merge(&mut self, run: &Self) {
        for (way, count) in &run.edges {
            *self.edges.entry(way.clone()).or_default() += count;
        }
        for (state, stays) in &run.stays {
            self.stays.entry(state.clone()).or_default().extend(stays);
        }
        for (spot, (warned, stopped, runs)) in &run.findings {
            let all = self.findings.entry(spot.clone()).or_default();
            *all = (all.0 + warned, all.1 + stopped, all.2 + runs);
        }
    }

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
            let (median_ms, p95_ms) = (percentile(&stays, 50), percentile(&stays, 95));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_tokens_are_the_calls_that_were_left_at_the_mean_of_those_made() {
        let spent = Spent { model_calls: 10, tokens: 1_009, ..Spent::default() };
        let run = Certificate { model_calls: 40, ..Certificate::default() };
        let saved = |model_calls, tokens| SavedTokens { runs: 1, model_calls, tokens };
        assert_eq!(SavedTokens::of(&run, &spent), saved(30, 3_000));
        // A budget of tokens would have ended it earlier.
        let budget = Certificate { tokens: Some(2_000), ..run };
        assert_eq!(SavedTokens::of(&budget, &spent), saved(30, 991));
        let used_up = Certificate { model_calls: 10, ..run };
        assert_eq!(SavedTokens::of(&used_up, &spent), saved(0, 0));
        let turn = Certificate { per: CertificateScope::Turn, ..run };
        assert_eq!(SavedTokens::of(&turn, &spent), SavedTokens::default());
        assert_eq!(SavedTokens::of(&run, &Spent::default()), SavedTokens::default());
    }
}

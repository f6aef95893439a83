//! What journals tell when they are read once: the story of one run, figures over many.

use std::collections::{BTreeMap, btree_map::Entry};

use pointsman_kernel::{
    agent::{Answer, Order, OrderKind},
    agents::{Agents, Program},
    body::Body,
    effect::{Effect, EffectKind},
    event::{Event, Usage},
    governor::Level,
    id::{At, Digest, Seq},
    run::{Core, Doing},
    view::{Why, why},
};
use serde::Serialize;

use crate::{
    driver::{DriveError, Loaded, Said, fold_each, say},
    entry,
    observe::Question,
    store::{Filter, RunId, Store, StoreError},
};

/// One transition, as it was taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    /// The entry.
    pub step: Seq,
    /// The state that was left; none at the very start.
    pub from: Option<Box<str>>,
    /// The state that was entered; none where the run ended where it was.
    pub to: Option<Box<str>>,
    /// Why.
    pub reason: String,
    /// Milliseconds that were spent in the state that was left.
    pub ms: u64,
    /// Milliseconds since the run began.
    pub at: At,
}

/// What was called, and what it cost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Spent {
    /// Calls of a model that were started.
    pub model_calls: u64,
    /// Calls of a tool that were started.
    pub tool_calls: u64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Millionths of a currency unit.
    pub money: u64,
}

/// What one journal tells.
pub struct Story {
    /// Why each step went where it went.
    pub steps: Vec<Why>,
    /// What each step was about, where there is more to say than its event.
    pub said: Vec<Option<Said>>,
    /// Every transition, in order.
    pub history: Vec<Transition>,
    /// What was called, and what it cost.
    pub spent: Spent,
    /// What a person must answer.
    pub questions: Vec<Question>,
    /// The run after its last entry.
    pub loaded: Loaded,
}

/// Reads a journal and checks every byte of it.
pub fn story(program: &Program, id: &RunId, lines: &[String]) -> Result<Story, DriveError> {
    story_after(program, id, lines, Seq(0))
}

/// Reads a journal and checks every byte of it; what was called and what was passed through
/// is told of the entries after one.
fn story_after(
    program: &Program,
    id: &RunId,
    lines: &[String],
    after: Seq,
) -> Result<Story, DriveError> {
    let (mut steps, mut history, mut spent) = (Vec::new(), Vec::new(), Spent::default());
    let (mut said, mut stage, mut open) = (Vec::new(), None, BTreeMap::new());
    let (mut entered, mut began) = (At(0), true);
    let loaded = fold_each(program, id, lines, |line, run, stepped| {
        let core = run.core();
        let event = entry::event(line);
        let why = why(program, core, event.as_ref().map_or("", Event::name), stepped);
        let own = why.seq > after;
        for hop in &why.hops {
            let transition = Transition {
                step: why.seq,
                from: Some(hop.from.clone()).filter(|_| !began),
                to: hop.to.clone(),
                reason: hop.because.clone(),
                ms: why.at.since(entered),
                at: why.at,
            };
            history.extend(Some(transition).filter(|_| own));
            (entered, began) = (why.at, false);
        }
        if why.seq == after {
            // What came before is somebody else's time.
            entered = why.at;
        }
        let about = event.as_ref().and_then(|event| say::event(event, &open, run, program));
        // What the agent did itself, it did at some stage.
        let own_report = matches!(&event, Some(Event::Answered { answer: Answer::Own(_), .. }));
        let at = stage.as_ref().filter(|_| own_report);
        said.push(about.map(|said| match at {
            Some(stage) if !said.came.is_empty() => {
                Said { came: format!("{} ({stage})", said.came), ..said }
            }
            _ => said,
        }));
        stage = run.stage();
        for Effect { id, order } in &stepped.effects {
            let started = |model: bool| match order {
                EffectKind::Start(Order::Model(_)) => own && model,
                EffectKind::Start(Order::Tool(_)) => own && !model,
                _ => false,
            };
            spent.model_calls += u64::from(started(true));
            spent.tool_calls += u64::from(started(false));
            open.insert(*id, order.clone());
        }
        let (models, tools) = event.as_ref().map_or((0, 0), |event| repeated(event, core));
        spent.model_calls += if own { models } else { 0 };
        spent.tool_calls += if own { tools } else { 0 };
        let usage = match &event {
            Some(Event::Answered { usage, .. }) if own => *usage,
            _ => Usage::default(),
        };
        spent.tokens = spent.tokens.saturating_add(usage.tokens);
        spent.money = spent.money.saturating_add(usage.money);
        steps.push(why);
    })?;
    let questions = loaded.questions();
    Ok(Story { steps, said, history, spent, questions, loaded })
}

/// Returns how many calls of models and of tools an interruption had made again: what is still
/// under way after it.
fn repeated(event: &Event<Body>, core: &Core) -> (u64, u64) {
    let Event::Interrupted { under_way, .. } = event else { return (0, 0) };
    let again = under_way.iter().filter_map(|unsure| {
        let waited = unsure.effect;
        core.items.iter().find_map(|item| match item.doing {
            Doing::Working { effect, kind, .. } if effect == waited => Some(kind),
            _ => None,
        })
    });
    again.fold((0, 0), |(models, tools), kind| match kind {
        OrderKind::Model => (models + 1, tools),
        OrderKind::Tool => (models, tools + 1),
        _ => (models, tools),
    })
}

/// Returns the state that a verdict had a run leave: a step may have come to it from
/// another one. Where none was left, a call was judged where the step has led.
fn stopped(step: &Why) -> Option<&str> {
    let hop = step.hops.iter().find(|hop| matches!(&*hop.because, "stuck" | "denied"));
    hop.map(|hop| &*hop.from)
}

/// Figures over many runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Runs that were read.
    pub runs: u64,
    /// How many ended how; `open` are those that have not ended.
    pub dispositions: BTreeMap<Box<str>, u64>,
    /// Transitions by edge, the most frequent first.
    pub edges: Vec<Edge>,
    /// Time by state, the longest first.
    pub states: Vec<Stay>,
    /// What the governor found, by rule and state, the most frequent first.
    pub findings: Vec<Finding>,
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
pub struct Edge {
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
pub struct Stay {
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
pub struct Finding {
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
        let mut programs: BTreeMap<Digest, Option<Program>> = BTreeMap::new();
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
                    Ok(source) => new.insert(agents.verify(&source).ok()),
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
                let told = story_after(program, &row.id, &lines, shared);
                told.map(|told| (row, told)).map_err(|error| error.to_string())
            });
            match told {
                // It may have gone on since it was listed.
                Ok((row, told)) => {
                    let ended = row.ended.unwrap_or_else(|| "open".into());
                    *stats.dispositions.entry(ended).or_default() += 1;
                    stats.runs += 1;
                    stats.add(&told.spent);
                    tally.add(program.name(), &told, shared);
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

    fn add(&mut self, spent: &Spent) {
        let sum = &mut self.spent;
        sum.model_calls = sum.model_calls.saturating_add(spent.model_calls);
        sum.tool_calls = sum.tool_calls.saturating_add(spent.tool_calls);
        sum.tokens = sum.tokens.saturating_add(spent.tokens);
        sum.money = sum.money.saturating_add(spent.money);
    }
}

impl Tally {
    /// Adds what a run did after an entry.
    fn add(&mut self, chart: &str, story: &Story, after: Seq) {
        let chart: Box<str> = chart.into();
        for hop in &story.history {
            let reason: Box<str> = hop.reason.as_str().into();
            let edge = (chart.clone(), hop.from.clone(), hop.to.clone(), reason);
            *self.edges.entry(edge).or_default() += 1;
            if let Some(from) = &hop.from {
                self.stays.entry((chart.clone(), from.clone())).or_default().push(hop.ms);
            }
        }
        let mut state: Box<str> = "".into();
        let mut seen = std::collections::BTreeSet::new();
        for step in &story.steps {
            if let Some(to) = step.hops.iter().rev().find_map(|hop| hop.to.clone()) {
                state = to;
            }
            if step.seq <= after {
                continue;
            }
            for verdict in step.verdicts.iter().filter(|it| !it.rule.is_permission()) {
                let rule = serde_json::to_value(verdict.rule).unwrap_or_default();
                let rule: Box<str> = rule.as_str().unwrap_or_default().into();
                let stops = verdict.level >= Level::Refuse;
                let place = stopped(step).filter(|_| stops).unwrap_or(&state);
                let key = (chart.clone(), place.into(), rule);
                let (warned, stopped, runs) = self.findings.entry(key.clone()).or_default();
                *if stops { stopped } else { warned } += 1;
                *runs += u64::from(seen.insert(key));
            }
        }
    }

    fn sort_into(self, stats: &mut Stats) {
        let edge = |((chart, from, to, reason), count)| Edge { chart, from, to, reason, count };
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
            Stay { chart, state, visits: stays.len() as u64, median_ms, p95_ms, total_ms }
        };
        stats.states = self.stays.into_iter().map(stay).collect();
        stats.states.sort_by_key(|stay| std::cmp::Reverse(stay.total_ms));
        let found = |((chart, state, rule), (warned, stopped, runs))| Finding {
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

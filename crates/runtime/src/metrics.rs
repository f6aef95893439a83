//! Figures of the runs that a process drives, and Prometheus' text format.
//!
//! Counters begin at zero with the process, as Prometheus expects. Every label has a fixed set of
//! values: agents that this process knows, dispositions, rules. No run and no chart is a label, so
//! the figures take the same memory after a million runs.

use std::{
    collections::BTreeMap,
    fmt::{Display, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pointsman_kernel::{
    agent::OrderKind, agents::Agents, governor::Rule, id::Seq, view::BudgetView,
};

use crate::{
    observe::{LiveNotice, Notice, Observer},
    store::{QueueStatus, RunId, Store, StoreError},
    timeline::{TimelineItem, TimelineKind, is_stuck},
};

/// The label of agents that this process does not know.
const OTHER: &str = "other";
/// The upper limits of the buckets of times, in seconds.
const SECONDS: &[f64] = &[0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0, 1800.0];
/// The upper limits of the buckets of shares.
const SHARES: &[f64] = &[0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
/// Millionths per currency unit, the unit of money.
const MILLION: f64 = 1e6;

/// Text in Prometheus' format. Its content type is [`MetricsText::CONTENT_TYPE`].
#[derive(Clone, Debug, Default)]
pub struct MetricsText(String);

impl MetricsText {
    /// The content type of the text.
    pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

    /// Begins a metric: its samples follow.
    pub fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a sample.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, is)) in labels.iter().enumerate() {
            let is = is.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            let begin = if at == 0 { '{' } else { ',' };
            let _: std::fmt::Result = write!(self.0, "{begin}{label}=\"{is}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _: std::fmt::Result = writeln!(self.0, "{end} {value}");
    }

    /// Returns the text.
    pub fn finish(self) -> String {
        self.0
    }

    fn histogram(&mut self, name: &str, agent: &str, histogram: &Histogram) {
        let mut below = 0;
        for (limit, count) in histogram.limits.iter().zip(&histogram.counts) {
            below += count;
            let limit = limit.to_string();
            self.sample(&format!("{name}_bucket"), &[("agent", agent), ("le", &limit)], below);
        }
        let all = [("agent", agent), ("le", "+Inf")];
        self.sample(&format!("{name}_bucket"), &all, histogram.all);
        self.sample(&format!("{name}_sum"), &[("agent", agent)], histogram.sum);
        self.sample(&format!("{name}_count"), &[("agent", agent)], histogram.all);
    }
}

/// How often values of some size came.
#[derive(Debug)]
struct Histogram {
    limits: &'static [f64],
    counts: Vec<u64>,
    all: u64,
    sum: f64,
}

impl Histogram {
    fn new(limits: &'static [f64]) -> Self {
        Self { limits, counts: vec![0; limits.len()], all: 0, sum: 0.0 }
    }

    fn add(&mut self, value: f64) {
        let bucket = self.limits.iter().position(|limit| value <= *limit);
        if let Some(count) = bucket.and_then(|at| self.counts.get_mut(at)) {
            *count += 1;
        }
        self.all += 1;
        self.sum += value;
    }
}

/// The figures of one agent's runs.
#[derive(Debug)]
struct AgentFigures {
    ended: BTreeMap<&'static str, u64>,
    transitions: u64,
    steps: Histogram,
    /// By executor, and whether it was the first attempt.
    attempts: BTreeMap<(&'static str, bool), u64>,
    stuck: BTreeMap<Box<str>, u64>,
    budget_left: Histogram,
    queued: Histogram,
    takeovers: u64,
    tokens: u64,
    money: u64,
}

impl AgentFigures {
    fn new() -> Self {
        Self {
            ended: BTreeMap::new(),
            transitions: 0,
            steps: Histogram::new(SECONDS),
            attempts: BTreeMap::new(),
            stuck: BTreeMap::new(),
            budget_left: Histogram::new(SHARES),
            queued: Histogram::new(SECONDS),
            takeovers: 0,
            tokens: 0,
            money: 0,
        }
    }

    fn count(&mut self, item: &TimelineItem) {
        // The first entry was written when the run was queued, the second by its first owner.
        if item.seq == Seq(2) && item.index == 0 {
            self.queued.add(Duration::from_millis(item.at.0).as_secs_f64());
        }
        match &item.kind {
            TimelineKind::Transition { from, ms, .. } => {
                self.transitions += 1;
                if from.is_some() {
                    self.steps.add(Duration::from_millis(*ms).as_secs_f64());
                }
            }
            TimelineKind::Started { by, attempt, only_checked: false, .. } => {
                *self.attempts.entry((executor(*by), *attempt <= 1)).or_default() += 1;
            }
            TimelineKind::Verdict(verdict) if is_stuck(verdict) => {
                *self.stuck.entry(rule(verdict.rule)).or_default() += 1;
            }
            TimelineKind::Answered { usage, .. } => {
                self.tokens = self.tokens.saturating_add(usage.tokens);
                self.money = self.money.saturating_add(usage.money);
            }
            TimelineKind::Interrupted => self.takeovers += 1,
            TimelineKind::Ended { disposition } => {
                *self.ended.entry(disposition.name()).or_default() += 1;
            }
            _ => {}
        }
    }
}

const fn executor(by: OrderKind) -> &'static str {
    match by {
        OrderKind::Model => "model",
        OrderKind::Tool => "tool",
        OrderKind::Child => "child",
        _ => "own",
    }
}

fn rule(rule: Rule) -> Box<str> {
    let name = serde_json::to_value(rule).unwrap_or_default();
    name.as_str().unwrap_or_default().into()
}

/// Returns the share that is left of the budget with the least left.
fn least_left(budgets: &[BudgetView]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    let share = |budget: &BudgetView| budget.left as f64 / budget.max.max(1) as f64;
    budgets.iter().map(share).min_by(f64::total_cmp)
}

/// Counts what happens to the runs that this process drives.
#[derive(Debug)]
pub struct RunMetrics {
    figures: Mutex<BTreeMap<Box<str>, AgentFigures>>,
    known: Vec<Box<str>>,
}

impl RunMetrics {
    /// Begins to count, by agent.
    pub fn new(agents: &Agents) -> Self {
        let known = agents.decls().iter().map(|agent| agent.name.into()).collect();
        Self { figures: Mutex::default(), known }
    }

    /// Returns the observer of an agent's runs.
    pub fn observer(self: &Arc<Self>, agent: &str) -> Arc<dyn Observer> {
        let known = self.known.iter().find(|known| ***known == *agent);
        let agent = known.cloned().unwrap_or_else(|| OTHER.into());
        Arc::new(AgentObserver { metrics: Arc::clone(self), agent })
    }

    fn figures(&self) -> MutexGuard<'_, BTreeMap<Box<str>, AgentFigures>> {
        // Each figure is whole at any time.
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the figures.
    pub fn write(&self, text: &mut MetricsText) {
        let figures = self.figures();
        for (name, kind, help, write) in METRICS {
            text.metric(name, kind, help);
            for (agent, figures) in &*figures {
                write(text, name, agent, figures);
            }
        }
    }
}

/// Writes the samples of one metric for one agent.
type Write = fn(&mut MetricsText, name: &str, agent: &str, &AgentFigures);

/// Every metric of runs: its name, its kind, its description, and its samples.
const METRICS: &[(&str, &str, &str, Write)] = &[
    (
        "pointsman_runs_ended_total",
        "counter",
        "Runs that ended, by disposition.",
        |text, name, agent, it| {
            for (status, count) in &it.ended {
                text.sample(name, &[("agent", agent), ("status", status)], count);
            }
        },
    ),
    (
        "pointsman_transitions_total",
        "counter",
        "Transitions between states.",
        |text, name, agent, it| text.sample(name, &[("agent", agent)], it.transitions),
    ),
    (
        "pointsman_step_seconds",
        "histogram",
        "Time from entering a state to leaving it.",
        |text, name, agent, it| text.histogram(name, agent, &it.steps),
    ),
    (
        "pointsman_attempts_total",
        "counter",
        "Effects started, by executor; repeated attempts have first=\"no\".",
        |text, name, agent, it| {
            for ((by, first), count) in &it.attempts {
                let first = if *first { "yes" } else { "no" };
                text.sample(name, &[("agent", agent), ("by", by), ("first", first)], count);
            }
        },
    ),
    (
        "pointsman_stuck_total",
        "counter",
        "Calls refused and jobs stopped for repetition, by rule.",
        |text, name, agent, it| {
            for (rule, count) in &it.stuck {
                text.sample(name, &[("agent", agent), ("rule", rule)], count);
            }
        },
    ),
    (
        "pointsman_budget_left_ratio",
        "histogram",
        "Remaining share of a run's scarcest budget when it ended.",
        |text, name, agent, it| text.histogram(name, agent, &it.budget_left),
    ),
    (
        "pointsman_queue_wait_seconds",
        "histogram",
        "Time from queueing a run to its first step.",
        |text, name, agent, it| text.histogram(name, agent, &it.queued),
    ),
    (
        "pointsman_takeovers_total",
        "counter",
        "Runs resumed after their process was lost.",
        |text, name, agent, it| text.sample(name, &[("agent", agent)], it.takeovers),
    ),
    (
        "pointsman_tokens_total",
        "counter",
        "Input and output tokens of models.",
        |text, name, agent, it| text.sample(name, &[("agent", agent)], it.tokens),
    ),
    (
        "pointsman_money_total",
        "counter",
        "Model costs in currency units, at the configured prices.",
        |text, name, agent, it| {
            #[expect(clippy::cast_precision_loss, reason = "costs stay below billions")]
            text.sample(name, &[("agent", agent)], it.money as f64 / MILLION);
        },
    ),
];

/// Counts for one agent.
struct AgentObserver {
    metrics: Arc<RunMetrics>,
    agent: Box<str>,
}

impl Observer for AgentObserver {
    fn notice(&self, _: &RunId, notice: &Notice) {
        let mut figures = self.metrics.figures();
        if !figures.contains_key(&self.agent) {
            figures.insert(self.agent.clone(), AgentFigures::new());
        }
        let Some(figures) = figures.get_mut(&self.agent) else { return };
        match notice {
            Notice::Item(item) => figures.count(item),
            Notice::Live(LiveNotice::Persisted { view, .. }) if view.ended.is_some() => {
                figures.budget_left.add(least_left(&view.budgets).unwrap_or(1.0));
            }
            Notice::Live(_) => {}
        }
    }
}

/// Writes the figures of a store.
pub async fn write_store(store: &dyn Store, text: &mut MetricsText) -> Result<(), StoreError> {
    let (health, queue) = (store.health().await?, store.queue_counts().await?);
    text.metric("pointsman_store_runs", "gauge", "Runs in the store.");
    text.sample("pointsman_store_runs", &[], health.runs);
    text.metric("pointsman_store_messages", "gauge", "Messages that wait for a run.");
    text.sample("pointsman_store_messages", &[], health.messages);
    text.metric("pointsman_store_writable", "gauge", "1 if the store accepts entries.");
    text.sample("pointsman_store_writable", &[], u8::from(health.unwritable.is_none()));
    let name = "pointsman_queue_runs";
    text.metric(name, "gauge", "Queued runs that are ready, leased or quarantined.");
    for (status, count) in [
        (QueueStatus::Ready, queue.ready),
        (QueueStatus::Leased, queue.leased),
        (QueueStatus::Quarantined, queue.quarantined),
    ] {
        text.sample(name, &[("status", status.name())], count);
    }
    let name = "pointsman_queue_lag_seconds";
    text.metric(name, "gauge", "How long the first of the ready runs has waited for a worker.");
    text.sample(name, &[], queue.lag.as_secs_f64());
    Ok(())
}

//! Random charts that `verify` accepts, made of a string of bytes: the fewer and the
//! smaller the bytes, the simpler the chart, so that a failure shrinks to a small one.

use std::fmt::Write as _;

use pointsman_kernel::chart::{
    Authority, Charge, Chart, ChartBuilder, Disposition, RefusedChart, StateBuilder,
};

use crate::scripted_agent::REGISTRY;

/// Bytes to make choices from; zeros when they are used up.
pub(crate) struct Genes<'a>(pub(crate) &'a [u8]);

impl Genes<'_> {
    pub(crate) fn take(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.take()) % limit.max(1)
    }

    pub(crate) fn number(&mut self, limit: u64) -> u64 {
        u64::from(self.take()) % limit.max(1)
    }

    pub(crate) fn is_one_in(&mut self, many: u8) -> bool {
        self.take() % many == many - 1
    }
}

/// What a generated state does.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Run(&'static str),
    Decide(&'static str),
    Await { events: usize, timeout: bool },
    FanOut(&'static str),
}

struct Edge {
    outcome: &'static str,
    to: usize,
    spend: Option<usize>,
}

/// How many budgets, and of which kind.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) states: usize,
    pub(crate) budgets: usize,
    pub(crate) max: u64,
    pub(crate) charges: usize,
    /// Each budget is reset by the one before it, and leads to an end; no events.
    pub(crate) chain: bool,
    /// One more budget, spent only at the very end, which is too large for an exact search.
    pub(crate) pad: bool,
}

impl Shape {
    pub(crate) const WHOLE: Self =
        Self { states: 8, budgets: 3, max: 3, charges: 2, chain: false, pad: false };
    /// Without charges, so that a walk is all there is to count.
    pub(crate) const BARE: Self = Self { states: 5, charges: 0, ..Self::WHOLE };
    /// One loop inside the other.
    pub(crate) const CHAIN: Self = Self { chain: true, ..Self::BARE };
}

const NAMES: [&str; 11] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "end", "bad", "stopped"];
const BUDGETS: [&str; 4] = ["b0", "b1", "b2", "pad"];
const CHARGES: [&str; 2] = ["c0", "c1"];
const EVENTS: [&str; 3] = ["go", "stop", "tune"];

/// Makes a chart and has it verified.
pub(crate) fn random(genes: &mut Genes<'_>, shape: Shape) -> Result<Chart, RefusedChart> {
    let count = 2 + genes.below(shape.states - 1);
    let mut kinds: Vec<Kind> = (0..count).map(|_| kind(genes)).collect();
    for kind in kinds.iter_mut().filter(|kind| shape.chain && matches!(kind, Kind::Await { .. })) {
        *kind = Kind::Run("run4");
    }
    let name = |at: usize| NAMES[if at < count { at } else { 8 + (at - count).min(2) }];
    let budgets = genes.below(2 * shape.budgets + 1).div_ceil(2);
    let mut edges: Vec<Vec<Edge>> =
        (0..count).map(|at| routes(genes, &kinds, at, budgets)).collect();
    spend_all(genes, &mut edges, budgets);

    let mut chart = ChartBuilder::new("random", "toy", "s0", Authority::Propose)
        .cancel("stopped")
        .shutdown("bad");
    let awaits = |kind: &Kind| matches!(kind, Kind::Await { .. });
    if let Some(at) = kinds.iter().position(awaits).filter(|_| genes.is_one_in(2)) {
        chart = chart.cancel_turn(name(at));
    }
    for at in 0..budgets {
        let (max, otherwise) = (genes.number(shape.max + 1), name(genes.below(count + 2)));
        let by = match genes.below(4) {
            _ if shape.chain => at.checked_sub(1).map(|by| BUDGETS[by]),
            1 if at > 0 => Some(BUDGETS[at - 1]),
            2 if at > 0 => Some(BUDGETS[genes.below(at)]),
            3 => Some("await"),
            _ => None,
        };
        let otherwise = if shape.chain { "end" } else { otherwise };
        chart = match by {
            None => chart.budget(BUDGETS[at], max, otherwise),
            Some(by) => chart.budget_reset_by(BUDGETS[at], max, by, otherwise),
        };
    }
    if shape.pad {
        let last = edges.last_mut().and_then(|edges| edges.first_mut()).unwrap();
        last.spend = Some(BUDGETS.len() - 1);
        chart = match budgets.checked_sub(1) {
            None => chart.budget("pad", 1 << 18, "end"),
            Some(by) => chart.budget_reset_by("pad", 1 << 18, BUDGETS[by], "end"),
        };
    }
    let charges = if genes.is_one_in(2) { genes.below(shape.charges + 1) } else { 0 };
    for name_of in CHARGES.iter().take(charges) {
        let otherwise = name(genes.below(count + 2));
        let (charge, max) = match genes.below(8) {
            0 => (Charge::Step, 1 + genes.number(12)),
            1 => (Charge::Time, 1 + 10 * genes.number(20)),
            2 => (Charge::ModelCall, genes.number(4)),
            3 => (Charge::ToolCall, genes.number(4)),
            4 => (Charge::Token, 1 + genes.number(30)),
            5 => (Charge::Interaction, genes.number(6)),
            6 => (Charge::OutsideApp, genes.number(3)),
            _ => (Charge::Money, 1 + genes.number(30)),
        };
        chart = chart.charge(name_of, max, charge, otherwise);
    }
    for (at, (kind, edges)) in kinds.iter().zip(&edges).enumerate() {
        let mut state = state(genes, name(at), *kind);
        for edge in edges {
            state = match edge.spend {
                None => state.on(edge.outcome, name(edge.to)),
                Some(budget) => state.on_spending(edge.outcome, name(edge.to), BUDGETS[budget]),
            };
        }
        chart = chart.state(state);
    }
    let ends = [Disposition::Succeeded, Disposition::Failed, Disposition::Cancelled];
    for (name, end) in NAMES[8..].iter().zip(ends) {
        chart = chart.state(StateBuilder::ends(name, end));
    }
    chart.verify(&REGISTRY)
}

fn kind(genes: &mut Genes<'_>) -> Kind {
    const RUNS: [&str; 9] =
        ["run2", "run4", "think", "call", "pair", "then_call", "tap", "turn", "sure"];
    match genes.below(9) {
        0 => Kind::Run("run2"),
        1 | 2 => Kind::Run(RUNS[genes.below(9)]),
        3 => Kind::Decide(["fork2", "fork3", "fork1"][genes.below(3)]),
        4 => Kind::Decide("fork2"),
        5 => Kind::Await { events: 1 + genes.below(3), timeout: false },
        6 => Kind::Await { events: 1 + genes.below(2), timeout: true },
        7 => Kind::FanOut(["run2", "think", "call"][genes.below(3)]),
        _ => Kind::FanOut(["pair", "then_call", "tap"][genes.below(3)]),
    }
}

fn outcomes(genes: &mut Genes<'_>, kind: Kind) -> Vec<&'static str> {
    let governed = |job| matches!(job, "call" | "then_call");
    match kind {
        Kind::Run(job) => {
            let own = if job == "run4" { 4 } else { 2 };
            let mut outcomes = ["a", "b", "c", "d"][..own].to_vec();
            outcomes.extend(["failed"].iter().filter(|_| job != "sure"));
            outcomes.extend(["timeout"].iter().filter(|_| job != "sure" && genes.is_one_in(3)));
            outcomes.extend(["stuck"].iter().filter(|_| governed(job) || job == "turn"));
            outcomes.extend(["denied"].iter().filter(|_| governed(job)));
            outcomes
        }
        Kind::Decide("fork1") => vec!["a"],
        Kind::Decide("fork2") => vec!["a", "b"],
        Kind::Decide(_) => vec!["a", "b", "c"],
        Kind::Await { events, timeout } => {
            let mut outcomes = EVENTS[..events].to_vec();
            outcomes.extend(["timeout"].iter().filter(|_| timeout));
            outcomes
        }
        Kind::FanOut(job) => {
            let mut outcomes = vec!["a", "b"];
            outcomes.extend(["stuck"].iter().filter(|_| governed(job)));
            outcomes
        }
    }
}

/// Routes a state: the first way leads to the next state, so that all are reached;
/// most of the others lead back, if they can.
fn routes(genes: &mut Genes<'_>, kinds: &[Kind], at: usize, budgets: usize) -> Vec<Edge> {
    let outcomes = outcomes(genes, kinds[at]);
    let route = |(route, outcome): (usize, &&'static str)| {
        if route == 0 {
            return Edge { outcome, to: at + 1, spend: None };
        }
        let back = genes.below(4) > 0;
        let to = genes.below(at + 1);
        let decides = |at: usize| matches!(kinds[at], Kind::Decide(_));
        let rests = matches!(kinds[to], Kind::Await { timeout: false, .. });
        if !back || (decides(at) && decides(to)) || (budgets == 0 && !rests) {
            let ahead = genes.below(kinds.len() + 2 - at);
            return Edge { outcome, to: (at + 1 + ahead).min(kinds.len() + 1), spend: None };
        }
        let free = rests && (budgets == 0 || genes.is_one_in(2));
        Edge { outcome, to, spend: (!free).then(|| genes.below(budgets)) }
    };
    outcomes.iter().enumerate().map(route).collect()
}

/// Sees to it that some edge spends each budget.
fn spend_all(genes: &mut Genes<'_>, edges: &mut [Vec<Edge>], budgets: usize) {
    for budget in 0..budgets {
        if edges.iter().flatten().any(|edge| edge.spend == Some(budget)) {
            continue;
        }
        let mut free: Vec<&mut Edge> =
            edges.iter_mut().flatten().filter(|edge| edge.spend.is_none()).collect();
        let chosen = genes.below(free.len());
        if let Some(edge) = free.get_mut(chosen) {
            edge.spend = Some(budget);
        }
    }
}

fn state(genes: &mut Genes<'_>, name: &str, kind: Kind) -> StateBuilder {
    let timeout = 1 + genes.number(50);
    let job = match kind {
        Kind::Decide(job) => return StateBuilder::decide(name, job),
        Kind::Await { events, timeout: waits } => {
            let state = StateBuilder::awaits(name, &EVENTS[..events]);
            return if waits { state.timeout(timeout) } else { state };
        }
        Kind::Run(job) | Kind::FanOut(job) => job,
    };
    let mut state = match kind {
        Kind::FanOut(job) => {
            let items = 1 + genes.below(4);
            let places = 1 + genes.below(items);
            let limit = |count: usize| u16::try_from(count).unwrap();
            StateBuilder::fan_out(name, "items", job, "join2", timeout)
                .items(limit(places), limit(items))
        }
        _ => StateBuilder::run(name, job, timeout),
    };
    if job != "sure" {
        let attempts = 1 + u16::from(genes.take() % 3);
        let base = genes.number(20);
        state = state.attempts(attempts, base, base + genes.number(20));
    }
    state = state.hint_cap(genes.number(60)).ask_timeout(30);
    if matches!(job, "call" | "then_call") { state.all_tools() } else { state }
}

/// Writes a chart down in few lines, for the message of a failed property.
pub(crate) fn sketch(chart: &Chart) -> String {
    let mut text = format!("{:?}\n", chart.certificate());
    let name = |id| chart.state_name(id);
    for budget in chart.budgets() {
        let (max, charge, reset) = (budget.max(), budget.charge(), budget.reset());
        let otherwise = name(budget.otherwise());
        let _ = writeln!(text, "{}: {max} {charge:?} {reset:?} else {otherwise}", budget.name());
    }
    for state in chart.states() {
        let _ = writeln!(text, "{}: {:?}", state.name(), state.kind());
        for route in state.routes() {
            let edge = route.edge();
            let _ = writeln!(text, "    {} -> {} {:?}", route.name(), name(edge.to), edge.spend);
        }
    }
    text
}

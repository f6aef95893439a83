//! The longest walk of a small chart, by trying every way: slow, plain, and written
//! from the rules of budgets alone, apart from how the kernel certifies.

use std::collections::{BTreeMap, BTreeSet};

use pointsman_kernel::{
    chart::{CertificateScope, Chart, Reset, State, StateKind},
    id::{BudgetId, StateId},
    job::Governance,
};

/// State visits, model calls, tool calls, milliseconds.
pub(crate) type Sums = [u64; 4];

/// The balance of each budget, and whether it is closed.
type Balances = Vec<(u64, bool)>;
type Place = (StateId, Balances);

/// Returns the worst sums of a run, or of any turn that can come about.
pub(crate) fn longest(chart: &Chart) -> Sums {
    let mut brute_force = BruteForce { chart, known: BTreeMap::new() };
    let full: Balances = chart.budgets().iter().map(|budget| (budget.max(), false)).collect();
    let mut seen = BTreeSet::new();
    let mut open = vec![(chart.start(), full)];
    let mut starts = open.clone();
    // Everything that any run can come to; an event starts a new turn.
    while let Some(place) = open.pop() {
        if !seen.insert(place.clone()) {
            continue;
        }
        for (event, next) in brute_force.next(&place) {
            open.push(next.clone());
            if event && chart.certificate().per == CertificateScope::Turn {
                starts.push(next);
            }
        }
    }
    let zero = [0; 4];
    starts.into_iter().fold(zero, |worst, start| max(worst, brute_force.walk(&start)))
}

struct BruteForce<'c> {
    chart: &'c Chart,
    known: BTreeMap<Place, Sums>,
}

impl BruteForce<'_> {
    fn walk(&mut self, place: &Place) -> Sums {
        if let Some(sums) = self.known.get(place) {
            return *sums;
        }
        let mut rest = [0; 4];
        for (event, next) in self.next(place) {
            if !(event && self.chart.certificate().per == CertificateScope::Turn) {
                rest = max(rest, self.walk(&next));
            }
        }
        let visit = visit(self.chart.state(place.0).unwrap());
        let sums = [0, 1, 2, 3].map(|at| visit[at] + rest[at]);
        self.known.insert(place.clone(), sums);
        sums
    }

    /// Returns where one step can lead, and whether an event takes it there.
    fn next(&self, (at, balances): &Place) -> Vec<(bool, Place)> {
        let state = self.chart.state(*at).unwrap();
        let mut next = Vec::new();
        for route in state.routes() {
            let event = state.is_await() && route.name() != "timeout";
            let (mut balances, edge) = (balances.clone(), route.edge());
            if event {
                self.refill(Reset::Await, &mut balances);
            }
            let to = match edge.spend.map(|id| (id, balances[id.index()])) {
                None => Some(edge.to),
                Some((_, (_, true))) => None,
                Some((id, (0, false))) => {
                    balances[id.index()].1 = true;
                    Some(self.chart.budget(id).unwrap().otherwise())
                }
                Some((id, (left, false))) => {
                    balances[id.index()].0 = left - 1;
                    self.refill(Reset::Spending(id), &mut balances);
                    Some(edge.to)
                }
            };
            next.extend(to.map(|to| (event, (to, balances))));
        }
        next
    }

    fn refill(&self, by: Reset, balances: &mut Balances) {
        for (at, budget) in self.chart.budgets().iter().enumerate() {
            if budget.reset() == Some(by) {
                balances[at] = (budget.max(), false);
                self.refill(Reset::Spending(BudgetId(u8::try_from(at).unwrap())), balances);
            }
        }
    }
}

fn max(one: Sums, other: Sums) -> Sums {
    [0, 1, 2, 3].map(|at| one[at].max(other[at]))
}

fn visit(state: &State) -> Sums {
    let (work, items, places) = match state.kind() {
        StateKind::Run(work) => (work, 1, 1),
        StateKind::FanOut { work, max_parallel, max_items, .. } => {
            (work, u64::from(*max_items), u64::from(*max_parallel))
        }
        _ => return [1, 0, 0, 0],
    };
    let limits = work.attempts;
    let tries = u64::from(limits.max);
    let time = tries * limits.timeout + (tries - 1) * limits.cap.max(limits.hint_cap);
    let calls = |each: u32| u64::from(each) * tries * items;
    let split = work.governed == Governance::Calls && (work.tasks > 1 || tries > 1);
    let time = if split && items > places {
        time + time * (items - 1) / places
    } else {
        time * items.div_ceil(places)
    };
    [1, calls(work.worst.model_calls), calls(work.worst.tool_calls), time]
}

//! The chart as text: every state with its ways out, the current one lit, taken ways counted.

use pointsman_runtime::inspect::{RunMoment, TakenEdge};

use crate::{
    line::{Ink, Line},
    watch::outline::{ChartOutline, OutlineWay, StateOutline},
};

/// Returns the chart at a moment, and the row of the current state.
pub(super) fn lines(chart: &ChartOutline, moment: Option<&RunMoment>) -> (Vec<Line>, usize) {
    let mut lines = Vec::new();
    let mut lit = 0;
    for state in &chart.states {
        let is_here = moment.is_some_and(|moment| moment.view.state == state.name);
        if is_here {
            lit = lines.len();
        }
        lines.push(head(state, is_here, moment));
        for way in &state.ways {
            lines.push(self::way(state, way, moment));
        }
        lines.extend(others(state, moment));
    }
    (lines, lit)
}

fn head(state: &StateOutline, is_here: bool, moment: Option<&RunMoment>) -> Line {
    let seen_as = moment.filter(|_| is_here).map(|moment| &moment.view.seen_as);
    let visits = count(moment, |edge| edge.to.as_deref() == Some(&*state.name));
    let line = match (is_here, visits) {
        (true, _) => Line::of(Ink::Good, &format!("▶ {}", state.name)),
        (false, 0) => Line::of(Ink::Plain, &format!("  {}", state.name)),
        (false, _) => Line::of(Ink::Bold, &format!("  {}", state.name)),
    };
    let line = match seen_as.filter(|label| ***label != *state.name) {
        Some(label) => line.and(Ink::Good, &format!(" ({label})")),
        None => line,
    };
    let line = line.and(Ink::Dim, &format!("  {}", state.does));
    if visits == 0 { line } else { line.and(Ink::Accent, &format!("  ×{visits}")) }
}

fn way(state: &StateOutline, way: &OutlineWay, moment: Option<&RunMoment>) -> Line {
    let taken = count(moment, |edge| {
        edge.from.as_deref() == Some(&*state.name) && edge.outcome.as_ref() == Some(&way.outcome)
    });
    let last = moment.is_some_and(|moment| {
        moment.why.hops.iter().any(|hop| hop.from == state.name && *hop.because == *way.outcome)
    });
    let ink = match (last, taken) {
        (true, _) => Ink::Accent,
        (false, 0) => Ink::Dim,
        (false, _) => Ink::Plain,
    };
    let spends = way.spends.as_ref().map_or_else(String::new, |it| format!(", spends {it}"));
    let line = Line::of(ink, &format!("    {} → {}{spends}", way.outcome, way.to));
    if taken == 0 { line } else { line.and(Ink::Accent, &format!("  ×{taken}")) }
}

/// Returns the ways that were taken besides outcomes: budgets that were used up, cancelling.
fn others(state: &StateOutline, moment: Option<&RunMoment>) -> Vec<Line> {
    let taken = moment.map(|moment| moment.taken.iter()).into_iter().flatten();
    let others =
        taken.filter(|edge| edge.from.as_deref() == Some(&*state.name) && edge.outcome.is_none());
    let line = |edge: &TakenEdge| {
        let to = edge.to.as_deref().unwrap_or("the end");
        let text = format!("    {} → {to}", edge.because);
        Line::of(Ink::Warning, &text).and(Ink::Accent, &format!("  ×{}", edge.count))
    };
    others.map(line).collect()
}

fn count(moment: Option<&RunMoment>, is: impl Fn(&TakenEdge) -> bool) -> u64 {
    let taken = moment.map(|moment| moment.taken.iter()).into_iter().flatten();
    taken.filter(|edge| is(edge)).map(|edge| edge.count).sum()
}

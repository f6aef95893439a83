//! Budgets and the certificate's bounds as bars.

use pointsman_kernel::chart::Charge;
use pointsman_runtime::inspect::RunMoment;

use crate::{
    format,
    line::{Ink, Line, width},
};

/// Returns what was used of each budget, and of each bound of the certificate.
pub(super) fn lines(moment: &RunMoment, columns: usize) -> Vec<Line> {
    let budgets = moment.view.budgets.iter().map(|budget| {
        let shown = |number: u64| amount(number, budget.charge);
        let used = budget.max.saturating_sub(budget.left);
        let text = format!("{} of {}", shown(used), shown(budget.max.max(used)));
        let text = if budget.closed { format!("{text}, overspent") } else { text };
        (budget.name.to_string(), used, budget.max, text)
    });
    let bounds = moment.bounds.iter().map(|bound| {
        let text = format!("{} of {}", format::grouped(bound.used), format::grouped(bound.max));
        (bound.name.replace('_', " "), bound.used, bound.max, text)
    });
    let mut lines = Vec::new();
    for (title, rows) in
        [("budgets (used)", budgets.collect::<Vec<_>>()), ("certificate (used)", bounds.collect())]
    {
        if rows.is_empty() {
            continue;
        }
        lines.push(Line::of(Ink::Bold, title));
        let names = rows.iter().map(|row| width(&row.0)).max().unwrap_or(0);
        let texts = rows.iter().map(|row| width(&row.3)).max().unwrap_or(0);
        let room = columns.saturating_sub(names + texts + 4).min(40);
        for (name, used, max, text) in rows {
            let space = " ".repeat(names.saturating_sub(width(&name)));
            let line = Line::of(Ink::Plain, &format!("{name}{space}  "));
            let line = if room < 4 { line } else { bar(line, used, max, room) };
            lines.push(line.and(Ink::Plain, &text));
        }
        lines.push(Line::default());
    }
    lines
}

/// Adds a bar of N columns. Something used shows at least one part of it, and something left
/// at least one part without.
fn bar(line: Line, used: u64, max: u64, columns: usize) -> Line {
    let most = u64::try_from(columns).unwrap_or(u64::MAX);
    let share = used.min(max).saturating_mul(most).checked_div(max).unwrap_or(0);
    let least = u64::from(used > 0);
    let full = if used < max { share.min(most - 1).max(least) } else { share };
    let full = usize::try_from(full).unwrap_or(columns).min(columns);
    let ink = match (used >= max, used >= max - max / 5) {
        (true, _) => Ink::Bad,
        (false, true) => Ink::Warning,
        (false, false) => Ink::Good,
    };
    line.and(ink, &"█".repeat(full)).and(Ink::Dim, &format!("{}  ", "░".repeat(columns - full)))
}

fn amount(number: u64, charge: Option<Charge>) -> String {
    match charge {
        Some(Charge::Time) => format::duration(number),
        Some(Charge::Money) => format::money(number),
        _ => format::grouped(number),
    }
}

//! The row of a card: below all cards that lead to it, finals last.

use super::plan::{CardKind, DrawPlan};

/// A row of cards gets no wider than this, in pixels, if it has more than one.
const ROW: i64 = 880;
/// What a card takes beside its own width.
const GAP: i64 = 28;

/// Returns the row of every card.
///
/// File order is the order of the work: an arrow to a later card leads down. An arrow back is
/// drawn upwards, so no edge has to be reversed first.
pub(super) fn ranks(plan: &DrawPlan) -> Vec<usize> {
    let mut rows: Vec<usize> = vec![0; plan.cards.len()];
    let mut filled: Vec<i64> = Vec::new();
    let is_final = |at: usize| matches!(plan.cards[at].kind, CardKind::Final(_));
    let mut last = 0;
    for at in (0..plan.cards.len()).filter(|at| !is_final(*at)) {
        let before = plan.arrows.iter().filter(|arrow| arrow.to == at && arrow.from < at);
        // A card that nothing earlier leads to stays where the file has it.
        let wanted = before.map(|arrow| rows[arrow.from] + 1).max().unwrap_or(last);
        rows[at] = seat(plan, at, wanted, &mut filled);
        last = rows[at];
    }
    let bottom = filled.len();
    for at in (0..plan.cards.len()).filter(|at| is_final(*at)) {
        rows[at] = seat(plan, at, bottom, &mut filled);
    }
    rows
}

/// Finds the first row from `least` on that has room.
fn seat(plan: &DrawPlan, at: usize, least: usize, filled: &mut Vec<i64>) -> usize {
    let card = &plan.cards[at];
    let width = card.left() + card.right() + GAP;
    let mut row = least;
    while filled.get(row).is_some_and(|taken| *taken > 0 && taken + width > ROW) {
        row += 1;
    }
    while filled.len() <= row {
        filled.push(0);
    }
    filled[row] += width;
    row
}

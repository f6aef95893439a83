//! The model as a frame. Pure: what is drawn depends on the model and on the terminal's size.

mod budgets;
mod chart;
mod list;
mod over;
mod paint;
mod run;
pub(crate) mod story;

pub(crate) use over::answer_room;
pub(crate) use paint::Painter;
pub(crate) use run::pane_top;

use ratatui::{Frame, layout::Rect};

use super::model::WatchModel;
use crate::line::{Ink, Line};

/// The smallest terminal that something fits into.
const LEAST: (u16, u16) = (20, 5);

/// Draws the model.
pub(crate) fn draw(model: &WatchModel, coloured: bool, frame: &mut Frame<'_>) {
    let area = frame.area();
    let mut painter = Painter::new(frame.buffer_mut(), coloured);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        painter.rows(area, &[Line::of(Ink::Plain, "too small")]);
        return;
    }
    match &model.open {
        Some(open) => run::draw(model, open, area, &mut painter),
        None => list::draw(model, area, &mut painter),
    }
    if let Some(overlay) = &model.over {
        over::draw(model, overlay, area, &mut painter);
    }
}

/// Splits a rectangle into this many rows at the top and the rest.
fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let top = Rect { height: rows, ..area };
    (top, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Splits a rectangle into the rest and this many rows at the bottom.
fn split_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    split_top(area, area.height - rows.min(area.height))
}

/// Splits a rectangle into this many columns at the left and the rest.
fn split_left(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let left = Rect { width: columns, ..area };
    (left, Rect { x: area.x + columns, width: area.width - columns, ..area })
}

/// Draws the last row: what was said last, or the keys that matter here.
fn footer(model: &WatchModel, keys: &str, area: Rect, painter: &mut Painter<'_>) {
    let Some((ink, text)) = &model.notice else {
        painter.rows(area, &[Line::of(Ink::Dim, keys)]);
        return;
    };
    // What was said has as many rows as it takes, over what is above.
    let lines = Line::of(*ink, text).wrapped(area.width.into());
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.y.saturating_add(1));
    let area = Rect { y: area.y + 1 - rows, height: rows, ..area };
    painter.clear(area);
    painter.rows(area, &lines);
}

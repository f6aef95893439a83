//! What lies over the screen: help, a line that is typed, the answer to a question.

use ratatui::layout::Rect;

use super::{LEAST, Painter, paint::is_framed, split_bottom};
use crate::{
    line::{Ink, Line, width},
    watch::{
        answer::PendingAnswer,
        keys::{FILTERS, HELP},
        model::{WatchDialog, WatchModel},
    },
};

pub(super) fn draw(model: &WatchModel, over: &WatchDialog, area: Rect, painter: &mut Painter<'_>) {
    match over {
        WatchDialog::Help(top) => help(*top, area, painter),
        WatchDialog::Filter(text) => typed("filter: ", text, Some(FILTERS), area, painter),
        WatchDialog::Find(text) => typed("find: ", text, None, area, painter),
        WatchDialog::Answer(answer) => draw_answer(model, answer, area, painter),
    }
}

fn help(top: usize, area: Rect, painter: &mut Painter<'_>) {
    painter.clear(area);
    let inner = painter.framed(area, &Line::of(Ink::Bold, "keys"));
    let keys = HELP.iter().map(|(keys, _)| width(keys)).max().unwrap_or(0);
    let line = |(key, does): &(&str, &str)| {
        let room = " ".repeat(keys.saturating_sub(width(key)) + 2);
        Line::of(Ink::Accent, key).and(Ink::Plain, &room).and(Ink::Plain, does)
    };
    let mut rows: Vec<Line> =
        HELP.iter().flat_map(|each| line(each).wrapped(inner.width.into())).collect();
    rows.push(Line::default());
    rows.extend(Line::of(Ink::Plain, FILTERS).wrapped(inner.width.into()));
    rows.push(Line::of(Ink::Dim, "↑↓ scroll, any other key closes"));
    let rows: Vec<Line> = rows.into_iter().skip(top).collect();
    painter.rows(inner, &rows);
}

/// Draws a line that is typed over the last row; its end stays in sight.
fn typed(name: &str, text: &str, hint: Option<&str>, area: Rect, painter: &mut Painter<'_>) {
    let (rest, last) = split_bottom(area, 1);
    painter.clear(last);
    painter.rows(last, &[input(name, text, last.width)]);
    if let Some(hint) = hint {
        let (_, above) = split_bottom(rest, 1);
        painter.clear(above);
        painter.rows(above, &[Line::of(Ink::Dim, hint)]);
    }
}

fn input(name: &str, text: &str, columns: u16) -> Line {
    let shown = Line::of(Ink::Plain, text).text();
    let room = usize::from(columns).saturating_sub(width(name) + 1);
    let mut skip = 0;
    let tail = |skip: usize| shown.chars().skip(skip).collect::<String>();
    while width(&tail(skip)) > room {
        skip += 1;
    }
    Line::of(Ink::Accent, name).and(Ink::Plain, &tail(skip)).and(Ink::Accent, "▏")
}

/// Returns the columns and rows that a question has, on a terminal of some size.
pub(crate) fn answer_room(size: (u16, u16)) -> (usize, usize) {
    if size.0 < LEAST.0 || size.1 < LEAST.1 {
        return (usize::from(size.0), 0);
    }
    let area = answer_area(Rect { x: 0, y: 0, width: size.0, height: size.1 });
    // As `Painter::framed` leaves it, without the reason and the keys.
    let (columns, rows) = if is_framed(area) {
        (area.width - 2, area.height.saturating_sub(4))
    } else {
        (area.width, area.height.saturating_sub(3))
    };
    (columns.into(), rows.into())
}

const fn answer_area(area: Rect) -> Rect {
    if area.width < 60 || area.height < 16 {
        return area;
    }
    Rect { x: area.x + 2, y: area.y + 2, width: area.width - 4, height: area.height - 4 }
}

fn draw_answer(model: &WatchModel, answer: &PendingAnswer, area: Rect, painter: &mut Painter<'_>) {
    let area = answer_area(area);
    painter.clear(area);
    let (ink, word, does) = if answer.granted {
        (Ink::Good, "approve", "approves")
    } else {
        (Ink::Bad, "deny", "denies")
    };
    let title = Line::of(ink, word).and(Ink::Plain, &format!(" question {}", answer.effect()));
    let inner = painter.framed(area, &title);
    let (columns, room) = answer_room(model.size);
    let rows = answer.rows(columns);
    let shown: Vec<Line> = rows.iter().skip(answer.top).take(room).cloned().collect();
    painter.rows(inner, &shown);
    let (_, last) = split_bottom(inner, 2);
    let left = rows.len().saturating_sub(answer.top + room);
    let keys = match (&model.notice, left) {
        (Some((ink, text)), _) => Line::of(*ink, text),
        (None, 0) => Line::of(Ink::Dim, &format!("Enter {does}  Esc back")),
        (None, 1) => Line::of(Ink::Warning, "1 more row: PgDn  Esc back"),
        (None, left) => Line::of(Ink::Warning, &format!("{left} more rows: PgDn  Esc back")),
    };
    painter.rows(last, &[input("reason (optional): ", &answer.reason, last.width), keys]);
}

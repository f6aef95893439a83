//! The list of runs.

use ratatui::layout::Rect;

use super::{Painter, footer, split_bottom, split_top};
use crate::{
    format,
    line::{Ink, Line, width},
    watch::{model::WatchModel, runs::ListedRun},
};

/// Characters of a goal.
const GOAL: usize = 400;

pub(super) fn draw(model: &WatchModel, area: Rect, painter: &mut Painter<'_>) {
    let (head, rest) = split_top(area, 1);
    let (body, foot) = split_bottom(rest, 1);
    let runs = &model.runs;
    let waiting = runs.rows.iter().filter(|run| run.waits()).count();
    let count =
        if runs.more { format!("{}+", runs.rows.len()) } else { runs.rows.len().to_string() };
    let mut title = Line::of(Ink::Bold, "runs").and(Ink::Dim, &format!("  {count}"));
    if waiting > 0 {
        title = title.and(Ink::Warning, &format!("  {waiting} waiting for you"));
    }
    if let Some(damaged @ 1..) = runs.damaged {
        title = title.and(Ink::Bad, &format!("  {damaged} damaged"));
    }
    if !runs.typed.is_empty() {
        title = title.and(Ink::Accent, &format!("  filter: {}", runs.typed));
    }
    title = title.and(Ink::Dim, &format!("  {}", model.store));
    painter.rows(head, &[title]);
    if runs.rows.is_empty() {
        painter.rows(body, &[Line::default(), Line::of(Ink::Dim, empty(model))]);
    } else {
        table(model, body, painter);
    }
    footer(model, "↑↓ select  Enter open  / filter  ? help  q leave", foot, painter);
}

fn empty(model: &WatchModel) -> &'static str {
    match (model.runs.damaged.is_some(), model.runs.typed.is_empty()) {
        (false, _) => "reading…",
        (true, true) => "no runs yet; start one with `pointsman run research \"QUESTION\"`",
        (true, false) => "no run matches the filter; Esc clears it",
    }
}

fn table(model: &WatchModel, area: Rect, painter: &mut Painter<'_>) {
    let columns = usize::from(area.width);
    let (head, body) = split_top(area, 1);
    let rows = usize::from(body.height);
    let at = model.runs.at();
    let last = model.runs.rows.len().saturating_sub(rows);
    let first = at.saturating_sub(rows / 2).min(last);
    let shown: Vec<&ListedRun> = model.runs.rows.iter().skip(first).take(rows).collect();
    let cells: Vec<[String; 5]> = shown.iter().map(|run| cells(model, run)).collect();
    let names = ["RUN", "CHART", "STATUS", "AGE", "STEPS"];
    let widths = widths(&names, &cells, columns);
    let heads = names.map(String::from);
    painter.rows(head, &[line(&heads, &widths, "GOAL", Ink::Dim, Ink::Dim)]);
    for (y, (place, (run, cells))) in (body.y..).zip((first..).zip(shown.iter().zip(&cells))) {
        let ink = match run.row.ended.as_deref() {
            _ if run.waits() => Ink::Warning,
            None => Ink::Accent,
            Some("succeeded") => Ink::Plain,
            Some(_) => Ink::Bad,
        };
        let goal = format::line(&run.row.goal, GOAL);
        let row = Rect { y, height: 1, ..body };
        painter.rows(row, &[line(cells, &widths, &goal, ink, Ink::Plain)]);
        if place == at {
            painter.select(row);
        }
    }
}

fn cells(model: &WatchModel, run: &ListedRun) -> [String; 5] {
    let row = &run.row;
    let status = run.standing.as_ref().map_or_else(
        || row.ended.as_deref().map_or_else(|| format!("in {}", row.state), str::to_owned),
        |standing| standing.text.clone(),
    );
    [
        row.id.to_string(),
        format::line(&row.chart, 24),
        format::line(&status, 28),
        format::age(model.now_ms, row.made_ms()),
        row.seq.0.to_string(),
    ]
}

/// Returns the columns' widths. Where there is little room, the least important are left out: the
/// steps, the chart, the age, the id.
fn widths(names: &[&str; 5], cells: &[[String; 5]], columns: usize) -> [usize; 5] {
    let mut widths = names.map(width);
    for row in cells {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = width(cell).max(*most);
        }
    }
    for least in [4, 1, 3, 0] {
        let used: usize = widths.iter().filter(|it| **it > 0).map(|it| it + 2).sum();
        // The goal has a part of the row for itself.
        if used + columns / 4 <= columns {
            break;
        }
        if let Some(least) = widths.get_mut(least) {
            *least = 0;
        }
    }
    widths
}

fn line(cells: &[String; 5], widths: &[usize; 5], goal: &str, status: Ink, ink: Ink) -> Line {
    let mut line = Line::default();
    for (at, (cell, columns)) in cells.iter().zip(widths).enumerate() {
        if *columns == 0 {
            continue;
        }
        let room = " ".repeat((columns + 2).saturating_sub(width(cell)));
        line = line.and(if at == 2 { status } else { ink }, cell).and(Ink::Plain, &room);
    }
    line.and(ink, goal)
}

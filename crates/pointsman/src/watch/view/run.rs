//! One run: its timeline, and panes about the selected step.

use pointsman_kernel::id::Seq;
use ratatui::layout::Rect;

use super::{
    Painter, budgets, chart, footer, paint::is_framed, split_bottom, split_left, split_top, story,
};
use crate::{
    command::show::explained,
    format,
    line::{Ink, Line},
    notify::asked,
    watch::{
        items::ItemRow,
        model::WatchModel,
        open_run::{RunModel, StepPane},
    },
};

/// From these columns and rows on, the chart and the budgets are beside the pane.
const WIDE: (u16, u16) = (150, 24);
/// From these columns on, a pane is beside the timeline.
const TWO: u16 = 64;

/// Where the parts of the screen are.
struct Layout {
    head: Rect,
    timeline: Option<Rect>,
    pane: Option<Rect>,
    /// The chart and the budgets.
    side: Option<(Rect, Rect)>,
    foot: Rect,
}

impl Layout {
    fn of(open: &RunModel, area: Rect) -> Self {
        let asks = !questions(open).is_empty();
        let head = match area.height {
            0..=11 => 1,
            _ if asks => 3,
            _ => 2,
        };
        let (head, rest) = split_top(area, head);
        let (body, foot) = split_bottom(rest, 1);
        let (mut timeline, mut pane, mut side) = (None, None, None);
        if open.zoomed {
            pane = Some(body);
        } else if area.width >= WIDE.0 && area.height >= WIDE.1 {
            let (left, rest) = split_left(body, area.width * 36 / 100);
            let (middle, right) = split_left(rest, area.width * 34 / 100);
            let (chart, budgets) = split_top(right, right.height * 60 / 100);
            (timeline, pane, side) = (Some(left), Some(middle), Some((chart, budgets)));
        } else if area.width >= TWO {
            let (left, right) = split_left(body, area.width * 45 / 100);
            (timeline, pane) = (Some(left), Some(right));
        } else {
            timeline = Some(body);
        }
        Self { head, timeline, pane, side, foot }
    }
}

pub(super) fn draw(model: &WatchModel, open: &RunModel, area: Rect, painter: &mut Painter<'_>) {
    let layout = Layout::of(open, area);
    painter.rows(layout.head, &head(open, layout.head.height));
    if let Some(area) = layout.timeline {
        timeline(open, area, painter);
    }
    if let Some(area) = layout.pane {
        draw_pane(open, open.pane, open.top, area, painter);
    }
    if let Some((top, bottom)) = layout.side {
        draw_pane(open, StepPane::Chart, None, top, painter);
        draw_pane(open, StepPane::Budgets, None, bottom, painter);
    }
    let keys = match (questions(open).is_empty(), layout.pane.is_some()) {
        (false, _) => "a approve  d deny  ←→ step  Tab pane  / find  ? help  Esc back",
        (true, true) => "←→ step  ↑↓ item  Tab pane  w why  / find  ? help  Esc back",
        (true, false) => "←→ step  Enter pane  w why  / find  ? help",
    };
    footer(model, keys, layout.foot, painter);
}

/// Returns the questions that no one has answered.
fn questions(open: &RunModel) -> Vec<String> {
    let Some(facts) = &open.facts else { return Vec::new() };
    let unanswered = facts.questions.iter().filter(|it| !facts.answers.contains_key(&it.effect));
    unanswered.map(asked).collect()
}

fn head(open: &RunModel, rows: u16) -> Vec<Line> {
    let (chart, goal) = open.facts.as_ref().map_or((String::new(), String::new()), |facts| {
        (format!(" of {}", facts.row.chart), format::line(&facts.row.goal, 400))
    });
    let title = Line::of(Ink::Bold, open.id.as_str()).and(Ink::Dim, &chart);
    let title = if goal.is_empty() { title } else { title.and(Ink::Plain, &format!(": {goal}")) };
    let place = place(open);
    let questions = questions(open);
    let question = questions.first().map(|text| {
        let more = questions.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        Line::of(Ink::Warning, &format!("waiting for you{more}: {text}"))
    });
    match rows {
        // One row has to do.
        1 => vec![
            question.map_or_else(|| place.clone(), |_| Line::of(Ink::Warning, "? ").joined(&place)),
        ],
        _ => [title, place].into_iter().chain(question).collect(),
    }
}

/// Returns which step is shown, and the status of the run.
fn place(open: &RunModel) -> Line {
    let (seq, head) = (open.selected.0.0, open.head.0);
    let line = Line::of(Ink::Plain, &format!("entry {seq} of {head}"));
    let line = match &open.moment {
        Some(moment) if moment.seq.0 == seq => {
            let (at, place) = (format::stopwatch(moment.view.now.0), &moment.view.seen_as);
            let line =
                line.and(Ink::Dim, &format!("  {at}")).and(Ink::Accent, &format!("  {place}"));
            match &moment.stage {
                Some(stage) => line.and(Ink::Plain, &format!(", {}", format::line(stage, 80))),
                None => line,
            }
        }
        _ if open.unreadable.is_some() => line,
        _ => match open.reading {
            Some(Seq(at)) => line.and(Ink::Dim, &format!("  reading: entry {at}")),
            None => line.and(Ink::Dim, "  reading…"),
        },
    };
    let line = match &open.finding {
        Some(finding) => {
            let found = finding.place(open.head);
            line.and(Ink::Accent, &format!("  “{}”: {found}", finding.text))
        }
        None => line,
    };
    let facts = open.facts.as_ref();
    let ended = facts.and_then(|facts| facts.row.ended.as_deref());
    match (open.follows, ended, facts) {
        (false, ..) => line.and(Ink::Warning, "  stepped back; End to return"),
        (true, Some(_), Some(facts)) => line.and(Ink::Bold, &format!("  {}", facts.standing)),
        (true, None, Some(facts)) => line.and(Ink::Good, &format!("  live, {}", facts.standing)),
        _ => line,
    }
}

fn timeline(open: &RunModel, area: Rect, painter: &mut Painter<'_>) {
    let inner = painter.framed(area, &Line::of(Ink::Bold, "timeline"));
    let (rows, at) = open.around(inner.height.into());
    let digits = open.head.0.max(1).to_string().len();
    let hits = open.finding.as_ref().map(|finding| &finding.hits);
    for (y, (place, row)) in (inner.y..).zip(rows.iter().enumerate()) {
        let area = Rect { y, height: 1, ..inner };
        let hit = hits.is_some_and(|hits| hits.binary_search(&row.id).is_ok());
        painter.rows(area, &[timeline_row(row, digits, hit, inner.width)]);
        if place == at {
            painter.select(area);
        }
    }
    if rows.is_empty() {
        painter.rows(inner, &[Line::of(Ink::Dim, "reading…")]);
    }
}

fn timeline_row(row: &ItemRow, digits: usize, hit: bool, columns: u16) -> Line {
    // An entry's number stands at its first item.
    let number = if row.id.1 == 0 { row.id.0.0.to_string() } else { String::new() };
    let mark = if hit { "*" } else { " " };
    let line = Line::of(Ink::Dim, &format!("{number:>digits$}")).and(Ink::Accent, mark);
    let line = match columns {
        0..48 => line,
        _ if row.id.1 == 0 => line.and(Ink::Dim, &format!("{:>8} ", format::stopwatch(row.at.0))),
        _ => line.and(Ink::Plain, &" ".repeat(9)),
    };
    line.and(row.ink, &row.text)
}

fn draw_pane(
    open: &RunModel,
    pane: StepPane,
    top: Option<usize>,
    area: Rect,
    painter: &mut Painter<'_>,
) {
    let inner = painter.framed(area, &title(open, pane));
    let (lines, first) = pane_rows(open, pane, inner.width.into());
    let top = shown_from(&lines, first, top, inner.height);
    let shown: Vec<Line> = lines.into_iter().skip(top).take(inner.height.into()).collect();
    painter.rows(inner, &shown);
}

/// Returns the row from which a pane is shown.
fn shown_from(lines: &[Line], first: usize, top: Option<usize>, rows: u16) -> usize {
    let rows = usize::from(rows);
    let last = lines.len().saturating_sub(rows);
    // Where it begins by itself, something is seen above what matters.
    top.unwrap_or_else(|| first.saturating_sub(rows / 3)).min(last)
}

fn title(open: &RunModel, pane: StepPane) -> Line {
    let seq = open.moment.as_ref().map_or(0, |moment| moment.seq.0);
    let mut line = Line::default();
    for each in StepPane::ALL {
        if each == pane {
            line = line.and(Ink::Bold, &format!("{} {seq} ", each.name()));
        } else if pane == open.pane {
            line = line.and(Ink::Dim, &format!("{} ", each.name()));
        }
    }
    line
}

/// Returns the pane's first shown row, and the last one that can be: for scrolling.
pub(crate) fn pane_top(model: &WatchModel) -> Option<(usize, usize)> {
    let open = model.open.as_ref()?;
    let (columns, rows) = model.size;
    let area = Layout::of(open, Rect::new(0, 0, columns, rows)).pane?;
    // As `Painter::framed` leaves it.
    let (columns, rows) = if is_framed(area) {
        (area.width - 2, area.height - 2)
    } else {
        (area.width, area.height.saturating_sub(1))
    };
    let (lines, first) = pane_rows(open, open.pane, columns.into());
    let last = lines.len().saturating_sub(rows.into());
    Some((shown_from(&lines, first, open.top, rows), last))
}

/// Returns the rows of a pane, and the one that matters most.
fn pane_rows(open: &RunModel, pane: StepPane, columns: usize) -> (Vec<Line>, usize) {
    let moment = open.moment.as_deref();
    let (lines, first) = match (pane, moment) {
        (StepPane::Chart, moment) => chart::lines(&open.outline, moment),
        (_, None) => (vec![Line::of(Ink::Dim, waits(open))], 0),
        (StepPane::Story, Some(moment)) => {
            let index = if moment.seq == open.selected.0 { open.selected.1 } else { 0 };
            story::lines(&moment.items, index)
        }
        (StepPane::Why, Some(moment)) => {
            let text = explained(&moment.why, &moment.items);
            (text.lines().map(|line| Line::of(Ink::Plain, line)).collect(), 0)
        }
        (StepPane::Budgets, Some(moment)) => (budgets::lines(moment, columns), 0),
        (StepPane::Data, Some(moment)) => {
            (story::preview(&story::pretty(moment.data.get()), Ink::Plain), 0)
        }
        (StepPane::Prompt, Some(moment)) => {
            let mut lines = Vec::new();
            for prompt in &moment.prompts {
                lines.push(Line::of(Ink::Bold, &format!("prompt of {}", prompt.effect)));
                for part in &prompt.parts {
                    lines.extend(story::preview(&story::pretty(part), Ink::Plain));
                }
            }
            if lines.is_empty() {
                lines.push(Line::of(Ink::Dim, "this step asks no model"));
            }
            (lines, 0)
        }
    };
    let above: usize = lines.iter().take(first).map(|line| line.wrapped(columns).len()).sum();
    (lines.iter().flat_map(|line| line.wrapped(columns)).collect(), above)
}

fn waits(open: &RunModel) -> &str {
    open.unreadable.as_deref().unwrap_or("reading…")
}

//! The shapes of cards, notes, tags and arrows.

use std::fmt::{Result, Write};

use super::{
    layout::Rect,
    plan::{Arrow, Card, CardKind, MARKER, Note, PILL},
    text::{Face, escape},
};

/// The radius of an arrow's corners.
const CORNER: i64 = 7;
/// Half the width and the length of an arrowhead.
const HEAD: (i64, i64) = (4, 8);

/// Returns the class of a kind.
pub(super) const fn class(kind: CardKind) -> &'static str {
    match kind {
        CardKind::Run => "run",
        CardKind::Decide => "decide",
        CardKind::Await => "await",
        CardKind::FanOut => "fan_out",
        CardKind::Final(disposition) => disposition.name(),
    }
}

/// Writes the outline of a kind of state.
pub(super) fn outline(kind: CardKind, place: Rect, svg: &mut String) -> Result {
    let Rect { x, y, width, height } = place;
    let (right, bottom, middle) = (x + width, y + height, y + height / 2);
    let rounded = |class: &str, inset: i64, radius: i64| {
        format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{radius}\"/>",
            x + inset,
            y + inset,
            width - 2 * inset,
            height - 2 * inset
        )
    };
    match kind {
        CardKind::Run => writeln!(svg, "{}", rounded("card", 0, 8)),
        CardKind::Await => writeln!(svg, "{}", rounded("card", 0, (height / 2).min(20))),
        CardKind::Decide => {
            let (a, b) = (x + 10, right - 10);
            writeln!(
                svg,
                "<path class=\"card\" d=\"M{a} {y}H{b}L{right} {middle}L{b} {bottom}H{a}L{x} {middle}Z\"/>"
            )
        }
        CardKind::FanOut => {
            let (a, b) = (x + 5, right - 5);
            writeln!(svg, "{}", rounded("card", 0, 4))?;
            writeln!(svg, "<path class=\"inner\" d=\"M{a} {y}V{bottom}M{b} {y}V{bottom}\"/>")
        }
        CardKind::Final(_) => {
            writeln!(svg, "{}{}", rounded("card", 0, 8), rounded("inner", 3, 6))
        }
    }
}

/// Writes the badge of a kind: its letter, or the mark of an end.
pub(super) fn badge(kind: CardKind, x: i64, y: i64, svg: &mut String) -> Result {
    write!(svg, "<circle class=\"badge\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>")?;
    let letter = match kind {
        CardKind::Run => "R",
        CardKind::Decide => "D",
        CardKind::Await => "A",
        CardKind::FanOut => "F",
        CardKind::Final(_) => {
            let (x, y) = (x - 3, y - 3);
            return writeln!(
                svg,
                "<rect class=\"letter\" x=\"{x}\" y=\"{y}\" width=\"6\" height=\"6\"/>"
            );
        }
    };
    writeln!(svg, "<text class=\"letter middle\" x=\"{x}\" y=\"{}\">{letter}</text>", y + 4)
}

/// Writes lines of text below one another.
fn lines(text: &[(Face, String)], x: i64, top: i64, svg: &mut String) -> Result {
    let mut y = top;
    for (face, line) in text {
        y += face.line();
        let (class, line) = (face.class(), escape(line));
        writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{}\">{line}</text>", y - 4)?;
    }
    Ok(())
}

/// Writes a card with its notes.
pub(super) fn card(card: &Card, place: Rect, notes: &[Rect], svg: &mut String) -> Result {
    let Rect { x, y, width, height } = place;
    let kind = class(card.kind);
    writeln!(svg, "<g class=\"{kind}\"><title>{}</title>", escape(&card.name))?;
    let middle = y + height / 2;
    if card.start {
        let (dot, end) = (x - MARKER + 8, x - HEAD.1);
        writeln!(svg, "<path class=\"way\" d=\"M{dot} {middle}H{end}\"/>")?;
        writeln!(svg, "<circle class=\"start\" cx=\"{dot}\" cy=\"{middle}\" r=\"6\"/>")?;
        let (top, bottom) = (middle - HEAD.0, middle + HEAD.0);
        writeln!(svg, "<path class=\"head\" d=\"M{x} {middle}L{end} {top}V{bottom}Z\"/>")?;
    }
    outline(card.kind, place, svg)?;
    badge(card.kind, x + 21, y + 17, svg)?;
    lines(&card.lines, x + 36, y + 8, svg)?;
    for (note, at) in card.notes.iter().zip(notes) {
        self::note(note, *at, (x + width, middle), svg)?;
    }
    writeln!(svg, "</g>")
}

fn note(note: &Note, place: Rect, tie: (i64, i64), svg: &mut String) -> Result {
    let Rect { x, y, width, height } = place;
    writeln!(svg, "<g><title>{}</title>", escape(&note.name))?;
    let middle = y + height / 2;
    writeln!(svg, "<path class=\"tie\" d=\"M{} {}L{x} {middle}\"/>", tie.0, tie.1)?;
    writeln!(
        svg,
        "<rect class=\"note\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
    )?;
    lines(&note.lines, x + 8, y + 4, svg)?;
    writeln!(svg, "</g>")
}

/// Writes the text on an arrow and the budget that it spends.
pub(super) fn tag(arrow: &Arrow, title: &str, place: Rect, svg: &mut String) -> Result {
    let Rect { x, y, width, height } = place;
    writeln!(svg, "<g><title>{}</title>", escape(title))?;
    writeln!(
        svg,
        "<rect class=\"tag\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
    )?;
    let middle = x + width / 2;
    let mut base = y + 1;
    let face = Face::Label;
    let influenced = if arrow.influenced { " influenced-text" } else { "" };
    for line in &arrow.lines {
        base += face.line();
        let line = escape(line);
        writeln!(
            svg,
            "<text class=\"label middle{influenced}\" x=\"{middle}\" y=\"{}\">{line}</text>",
            base - 3
        )?;
    }
    if let Some(text) = &arrow.pill {
        pill(text, middle, y + height - PILL - 1, svg)?;
    }
    writeln!(svg, "</g>")
}

/// Writes a pill around its middle.
pub(super) fn pill(text: &str, middle: i64, y: i64, svg: &mut String) -> Result {
    let width = Face::Small.width(text) + 12;
    let (x, radius) = (middle - width / 2, PILL / 2);
    write!(
        svg,
        "<rect class=\"pill\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{PILL}\" rx=\"{radius}\"/>"
    )?;
    let text = escape(text);
    writeln!(svg, "<text class=\"pill-text middle\" x=\"{middle}\" y=\"{}\">{text}</text>", y + 11)
}

/// Writes a line with rounded corners that stops where its arrowhead begins.
pub(super) fn way(class: &str, points: &[(i64, i64)], svg: &mut String) -> Result {
    write!(svg, "<path class=\"way{class}\" d=\"")?;
    for (at, (x, y)) in points.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).map(|at| points[at]), points.get(at + 1));
        match (before, after) {
            (None, _) => write!(svg, "M{x} {y}")?,
            (_, None) => write!(svg, "L{x} {}", y - HEAD.1 + 1)?,
            (Some(before), Some(after)) => {
                let near = |end: (i64, i64)| {
                    let (dx, dy) = (end.0 - x, end.1 - y);
                    let radius = CORNER.min(dx.abs().max(dy.abs()) / 2);
                    (x + dx.signum() * radius, y + dy.signum() * radius)
                };
                let (into, out) = (near(before), near(*after));
                write!(svg, "L{} {}Q{x} {y} {} {}", into.0, into.1, out.0, out.1)?;
            }
        }
    }
    writeln!(svg, "\"/>")
}

/// Writes an arrowhead that points down.
pub(super) fn head(class: &str, (x, y): (i64, i64), svg: &mut String) -> Result {
    let (left, right, top) = (x - HEAD.0, x + HEAD.0, y - HEAD.1);
    writeln!(svg, "<path class=\"head{class}\" d=\"M{x} {y}L{left} {top}H{right}Z\"/>")
}

/// Writes a chevron that points up.
pub(super) fn chevron((x, y): (i64, i64), svg: &mut String) -> Result {
    let (left, right, low, high) = (x - 4, x + 4, y + 3, y - 2);
    writeln!(svg, "<path class=\"chevron back\" d=\"M{left} {low}L{x} {high}L{right} {low}\"/>")
}

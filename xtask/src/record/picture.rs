//! Frames as one moving picture: SVG, moved by CSS alone.
//!
//! Frames stand side by side, and the picture shows one after the other. A row that is
//! in many frames is drawn once and used in each.

use std::{collections::BTreeMap, fmt::Write as _};

use vt100::{Cell, Color, Screen};

use super::terminal::Frame;

/// Size of a cell, of the margin, and of the bar on top.
const WIDE: f32 = 8.4;
const HIGH: f32 = 18.0;
const MARGIN: f32 = 14.0;
const BAR: f32 = 30.0;

const PAPER: &str = "#14161b";
const INK: &str = "#d7dae0";
/// How the text of a highlighted cell looks: as dark as the paper.
const HIGHLIGHT: &str = " style=\"fill:#14161b\"";
/// The sixteen colours, the dark ones first.
const PALETTE: [&str; 16] = [
    "#3b4048", "#ef6b73", "#8ccf7e", "#e5c76b", "#67b0e8", "#c47fd5", "#6cd0d0", "#b3b9b8",
    "#5a6069", "#ef7d7d", "#96d988", "#f4d67a", "#71baf2", "#ce89df", "#7ae0e0", "#dadada",
];

/// Draws the frames of a terminal with so many lines and columns.
pub(super) fn draw(frames: &[Frame], (lines, columns): (u16, u16), title: &str) -> String {
    let (wide, high) = (f32::from(columns) * WIDE, f32::from(lines) * HIGH);
    let (whole, tall) = (wide + 2.0 * MARGIN, high + 2.0 * MARGIN + BAR);
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    let mut body = String::new();
    let mut steps = String::new();
    let total: f32 = frames.iter().map(|frame| frame.lasts().as_secs_f32()).sum();
    let mut at = 0.0;
    let mut left = 0.0;
    for frame in frames {
        let percent = 100.0 * at / total.max(0.001);
        // Writing to a string cannot fail.
        let _: std::fmt::Result =
            write!(steps, "{percent:.3}%{{transform:translateX(-{left:.0}px)}}");
        let _: std::fmt::Result = write!(body, "<g transform=\"translate({left:.0} 0)\">");
        for row in 0..lines {
            let drawn = draw_row(&frame.screen, row, columns);
            if drawn.is_empty() {
                continue;
            }
            let next = rows.len();
            let id = *rows.entry(drawn).or_insert(next);
            let y = f32::from(row) * HIGH;
            let _: std::fmt::Result = write!(body, "<use href=\"#r{id}\" y=\"{y:.0}\"/>");
        }
        body.push_str(&cursor(&frame.screen));
        body.push_str("</g>\n");
        at += frame.lasts().as_secs_f32();
        left += wide.ceil() + 20.0;
    }
    let mut kept: Vec<(usize, String)> = rows.into_iter().map(|(row, id)| (id, row)).collect();
    kept.sort_unstable();
    let kept = kept.iter().fold(String::new(), |mut kept, (id, row)| {
        kept.extend([format!("<g id=\"r{id}\">{row}</g>\n")]);
        kept
    });
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole:.0} {tall:.0}\" \
         width=\"{whole:.0}\" height=\"{tall:.0}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <style>text{{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;\
         fill:{INK};white-space:pre}}.b{{font-weight:bold}}.d{{opacity:.6}}\
         .u{{text-decoration:underline}}\
         #film{{animation:film {total:.1}s step-end infinite}}\
         @keyframes film{{{steps}}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n\
         <g fill=\"#3b4048\"><circle cx=\"20\" cy=\"18\" r=\"6\"/><circle cx=\"40\" cy=\"18\" r=\"6\"/>\
         <circle cx=\"60\" cy=\"18\" r=\"6\"/></g>\n\
         <defs>\n{kept}</defs>\n\
         <svg x=\"{MARGIN}\" y=\"{:.0}\" width=\"{wide:.0}\" height=\"{high:.0}\">\
         <g id=\"film\">\n{body}</g></svg>\n</svg>\n",
        MARGIN + BAR,
    )
}

/// Draws a row: a text for each piece that looks the same.
fn draw_row(screen: &Screen, row: u16, columns: u16) -> String {
    let mut drawn = String::new();
    let mut piece: Option<(u16, String, String)> = None;
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else { continue };
        if cell.is_wide_continuation() {
            continue;
        }
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let look = look(cell);
        match &mut piece {
            Some((_, words, same)) if *same == look => words.push_str(text),
            _ => {
                drawn.push_str(&draw_piece(piece.take()));
                piece = Some((column, text.to_owned(), look));
            }
        }
    }
    drawn.push_str(&draw_piece(piece));
    drawn
}

fn draw_piece(piece: Option<(u16, String, String)>) -> String {
    let Some((column, words, look)) = piece else { return String::new() };
    // A piece that is highlighted is a bar with dark text.
    let mut bar = String::new();
    if look.contains(HIGHLIGHT) {
        let cells = u16::try_from(words.chars().count()).unwrap_or(u16::MAX);
        let (x, width) = (f32::from(column) * WIDE, f32::from(cells) * WIDE);
        bar = format!("<rect x=\"{x:.1}\" width=\"{width:.1}\" height=\"18\" fill=\"{INK}\"/>");
    }
    let text = words.trim_end();
    if text.is_empty() {
        return bar;
    }
    let blanks = text.chars().take_while(|c| *c == ' ').count();
    let text = text.trim_start();
    let cells = u16::try_from(text.chars().count()).unwrap_or(u16::MAX);
    let column = column.saturating_add(u16::try_from(blanks).unwrap_or(0));
    let (x, length) = (f32::from(column) * WIDE, f32::from(cells) * WIDE);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("{bar}<text x=\"{x:.1}\" y=\"13\" textLength=\"{length:.1}\"{look}>{text}</text>")
}

/// Returns how a cell looks, as attributes.
fn look(cell: &Cell) -> String {
    let mut classes = Vec::new();
    for (is, class) in [(cell.bold(), "b"), (cell.dim(), "d"), (cell.underline(), "u")] {
        if is {
            classes.push(class);
        }
    }
    let mut look = String::new();
    if !classes.is_empty() {
        let _: std::fmt::Result = write!(look, " class=\"{}\"", classes.join(" "));
    }
    if cell.inverse() {
        look.push_str(HIGHLIGHT);
    } else if let Some(colour) = colour(cell.fgcolor()) {
        let _: std::fmt::Result = write!(look, " style=\"fill:{colour}\"");
    }
    look
}

fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(index) => {
            PALETTE.get(usize::from(index)).map(|colour| (*colour).to_owned()).or_else(|| {
                // The cube of 6 by 6 by 6, then greys.
                let level = |of: u8| if of == 0 { 0 } else { 55 + 40 * u16::from(of) };
                let cube = index.checked_sub(16)?;
                if index >= 232 {
                    let grey = 8 + 10 * u16::from(index - 232);
                    return Some(format!("rgb({grey},{grey},{grey})"));
                }
                let (red, green, blue) = (level(cube / 36), level(cube / 6 % 6), level(cube % 6));
                Some(format!("rgb({red},{green},{blue})"))
            })
        }
        Color::Rgb(red, green, blue) => Some(format!("rgb({red},{green},{blue})")),
    }
}

fn cursor(screen: &Screen) -> String {
    if screen.hide_cursor() {
        return String::new();
    }
    let (row, column) = screen.cursor_position();
    let (x, y) = (f32::from(column) * WIDE, f32::from(row) * HIGH);
    format!(
        "<rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"8\" height=\"17\" fill=\"{INK}\" opacity=\".7\"/>"
    )
}

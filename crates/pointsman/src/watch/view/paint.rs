//! Lines on a frame: inks as styles, frames with titles.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    widgets::{Block, Clear, Widget as _},
};

use crate::line::{Ink, Line};

/// Returns whether there is room for a frame.
pub(super) const fn is_framed(area: Rect) -> bool {
    area.width >= 30 && area.height >= 10
}

/// Draws lines into a frame.
pub(crate) struct Painter<'a> {
    buffer: &'a mut Buffer,
    coloured: bool,
}

impl<'a> Painter<'a> {
    pub(crate) const fn new(buffer: &'a mut Buffer, coloured: bool) -> Self {
        Self { buffer, coloured }
    }

    /// Draws lines below each other, each cut to the width.
    pub(crate) fn rows(&mut self, area: Rect, lines: &[Line]) {
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            self.row(area.x, y, area.width, line);
        }
    }

    /// Draws one line.
    pub(crate) fn row(&mut self, x: u16, y: u16, columns: u16, line: &Line) {
        let (mut x, end) = (x, x.saturating_add(columns));
        for (ink, text) in line.cut(columns.into()).pieces() {
            let room = usize::from(end.saturating_sub(x));
            (x, _) = self.buffer.set_stringn(x, y, text, room, self.style(ink));
        }
    }

    /// Marks a row as the selected one.
    pub(crate) fn select(&mut self, area: Rect) {
        self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }

    /// Draws a frame with a title, and returns the room within. Where there is little of it, the
    /// title is all.
    pub(crate) fn framed(&mut self, area: Rect, title: &Line) -> Rect {
        if !is_framed(area) {
            let (head, rest) = super::split_top(area, 1);
            self.rows(head, std::slice::from_ref(title));
            return rest;
        }
        let block = Block::bordered().border_style(self.style(Ink::Dim));
        let inner = block.inner(area);
        block.render(area, self.buffer);
        let columns = area.width.saturating_sub(4);
        let title = Line::of(Ink::Plain, " ").joined(title).and(Ink::Plain, " ");
        self.row(area.x + 2, area.y, columns, &title.cut(columns.into()));
        inner
    }

    /// Wipes a rectangle.
    pub(crate) fn clear(&mut self, area: Rect) {
        Clear.render(area, self.buffer);
    }

    /// Returns how an ink looks. Without colours, weight says what colour would.
    const fn style(&self, ink: Ink) -> Style {
        let plain = Style::new();
        match (ink, self.coloured) {
            (Ink::Plain, _) | (Ink::Good, false) => plain,
            (Ink::Dim, _) => plain.add_modifier(Modifier::DIM),
            (Ink::Struck, _) => plain.add_modifier(Modifier::CROSSED_OUT),
            (Ink::Accent, true) => plain.fg(Color::Cyan),
            (Ink::Good, true) => plain.fg(Color::Green),
            (Ink::Warning, true) => plain.fg(Color::Yellow),
            (Ink::Bad, true) => plain.fg(Color::Red),
            (Ink::Bold, _) | (Ink::Accent | Ink::Warning | Ink::Bad, false) => {
                plain.add_modifier(Modifier::BOLD)
            }
        }
    }
}

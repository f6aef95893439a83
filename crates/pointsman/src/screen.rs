//! A terminal whose last rows are redrawn while everything above them stays.

use std::{
    io::{self, Write},
    time::Duration,
};

use crossterm::{
    cursor::{Hide, MoveToColumn, MoveUp, Show},
    event::{
        self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyModifiers,
    },
    queue,
    terminal::{
        BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, disable_raw_mode,
        enable_raw_mode,
    },
};

use crate::{
    line::{Ink, Line},
    report::coloured,
};

/// Columns and rows of a terminal that does not say.
const USUAL: (u16, u16) = (80, 24);
/// Time that is waited for a key, until there is another look at what else happened.
const LOOK: Duration = Duration::from_millis(40);

/// The terminal behind standard error, with its keys read one by one. Dropping it restores the
/// terminal.
pub(crate) struct TerminalScreen {
    out: io::Stderr,
    coloured: bool,
    /// The rows to redraw, as they were drawn last.
    live: Vec<String>,
    /// The cursor's column, in the last of them.
    cursor: Option<usize>,
}

impl TerminalScreen {
    /// Takes the terminal.
    pub(crate) fn take() -> io::Result<Self> {
        enable_raw_mode()?;
        let mut screen =
            Self { out: io::stderr(), coloured: coloured(), live: Vec::new(), cursor: None };
        queue!(screen.out, EnableBracketedPaste, Hide)?;
        screen.out.flush()?;
        Ok(screen)
    }

    /// Restores the terminal, stops the program as Ctrl-Z does, and takes the terminal again when
    /// the program continues. The live rows are redrawn.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        self.draw(&[], None)?;
        queue!(self.out, DisableBracketedPaste, Show)?;
        self.out.flush()?;
        disable_raw_mode()?;
        stop()?;
        enable_raw_mode()?;
        queue!(self.out, EnableBracketedPaste, Hide)?;
        self.out.flush()
    }

    /// Waits a moment for a key.
    ///
    /// Before the program takes the terminal it reads lines: Enter arrives as Ctrl-J then, and
    /// counts as Enter.
    pub(crate) fn next() -> io::Result<Option<Event>> {
        if !event::poll(LOOK)? {
            return Ok(None);
        }
        let enter = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        Ok(Some(match event::read()? {
            Event::Key(key) if key == enter => Event::Key(KeyCode::Enter.into()),
            event => event,
        }))
    }

    /// Returns its columns; the last one is left free, because terminals differ there.
    pub(crate) fn columns() -> usize {
        let (columns, _) = size();
        usize::from(columns).saturating_sub(1).max(8)
    }

    /// Returns its rows.
    pub(crate) fn rows() -> usize {
        usize::from(size().1).max(4)
    }

    /// Writes lines that stay, each wrapped. Returns how many rows they took.
    pub(crate) fn say(&mut self, lines: &[Line]) -> io::Result<usize> {
        let columns = Self::columns();
        let rows: Vec<Line> = lines.iter().flat_map(|line| line.wrapped(columns)).collect();
        if rows.is_empty() {
            return Ok(0);
        }
        let live = std::mem::take(&mut self.live);
        queue!(self.out, BeginSynchronizedUpdate)?;
        self.wipe(live.len())?;
        for row in &rows {
            write!(self.out, "{}\r\n", row.painted(self.coloured))?;
        }
        self.put(live)?;
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()?;
        Ok(rows.len())
    }

    /// Writes the last rows that stay once more, as what no longer counts. Rows that have
    /// left the screen cannot be written again.
    pub(crate) fn strike(&mut self, rows: &[Line]) -> io::Result<()> {
        let reach = Self::rows().saturating_sub(self.live.len()).saturating_sub(1);
        let rows = rows.get(rows.len().saturating_sub(reach)..).unwrap_or_default();
        let live = std::mem::take(&mut self.live);
        queue!(self.out, BeginSynchronizedUpdate)?;
        self.wipe(live.len())?;
        if self.coloured && !rows.is_empty() {
            queue!(self.out, MoveUp(short(rows.len())), Clear(ClearType::FromCursorDown))?;
            for row in rows {
                write!(self.out, "{}\r\n", row.inked(Ink::Struck).painted(true))?;
            }
        }
        self.put(live)?;
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()
    }

    /// Draws the live rows. The cursor is in a column of the last one, or hidden.
    pub(crate) fn draw(&mut self, lines: &[Line], cursor: Option<usize>) -> io::Result<()> {
        let columns = Self::columns();
        // What does not fit is left out at the top: the end is what matters.
        let over = lines.len().saturating_sub(Self::rows().saturating_sub(1));
        let lines = lines.get(over..).unwrap_or_default();
        let rows: Vec<String> =
            lines.iter().map(|line| line.cut(columns).painted(self.coloured)).collect();
        if rows == self.live && cursor == self.cursor {
            return Ok(());
        }
        self.cursor = cursor;
        queue!(self.out, BeginSynchronizedUpdate)?;
        self.wipe(self.live.len())?;
        self.put(rows)?;
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()
    }

    fn wipe(&mut self, rows: usize) -> io::Result<()> {
        queue!(self.out, MoveToColumn(0))?;
        if rows > 1 {
            queue!(self.out, MoveUp(short(rows - 1)))?;
        }
        queue!(self.out, Clear(ClearType::FromCursorDown))
    }

    fn put(&mut self, rows: Vec<String>) -> io::Result<()> {
        write!(self.out, "{}", rows.join("\r\n"))?;
        self.live = rows;
        let Some(column) = self.cursor else { return queue!(self.out, Hide) };
        queue!(self.out, MoveToColumn(short(column)), Show)
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        // A closed terminal need not be restored.
        drop(self.draw(&[], None));
        drop(queue!(self.out, DisableBracketedPaste, Show).and_then(|()| self.out.flush()));
        drop(disable_raw_mode());
    }
}

/// Stops this program and its foreground process group, until the shell continues them.
pub(crate) fn stop() -> io::Result<()> {
    Ok(rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?)
}

/// Returns whether a key asks for the program to be stopped for a while.
pub(crate) fn suspends(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL)
}

fn size() -> (u16, u16) {
    crossterm::terminal::size().unwrap_or(USUAL)
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

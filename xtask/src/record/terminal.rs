//! The terminal that a scene is played on, and what was on it at each moment.

use std::{
    env,
    io::{Read, Write},
    num::NonZeroU16,
    path::PathBuf,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Time between two frames at least.
const FRAME: Duration = Duration::from_millis(200);
/// How long the program may take to end.
const END: Duration = Duration::from_mins(1);
/// Time between two keys of a typing person.
const KEY: Duration = Duration::from_millis(70);
/// What a program asks a terminal for its cursor with.
const WHERE: &[u8] = b"\x1b[6n";

/// The screen, and how many [`FRAME`]s it was seen for.
pub(super) struct Frame {
    pub(super) screen: vt100::Screen,
    pub(super) ticks: u32,
}

impl Frame {
    /// Returns how long it was seen.
    pub(super) fn lasts(&self) -> Duration {
        FRAME.saturating_mul(self.ticks)
    }
}

/// Where the program is started.
pub(super) struct Place {
    pub(super) home: PathBuf,
    pub(super) folder: PathBuf,
    /// Lines and columns of the terminal.
    pub(super) size: (u16, u16),
}

/// The program on a terminal.
pub(super) struct TerminalRecorder {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    shown: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    frames: Vec<Frame>,
    next: Instant,
    _master: Box<dyn MasterPty + Send>,
}

impl TerminalRecorder {
    /// Starts the program.
    pub(super) fn open(place: &Place, arguments: &[&str]) -> Result<Self> {
        let (rows, cols) = place.size;
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size)?;
        let program = env::current_exe()?.with_file_name("pointsman");
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        command.args(arguments);
        command.cwd(&place.folder);
        command.env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &place.home);
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command)?;
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader()?;
        let keys = pair.master.take_writer()?;
        let (sender, shown) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let Some(bytes) = buffer.get(..count) else { break };
                if sender.send(bytes.to_vec()).is_err() {
                    break;
                }
            }
        });
        let size = NonZeroU16::new(rows).zip(NonZeroU16::new(cols));
        let (rows, columns) = size.context("a terminal has rows and columns")?;
        let parser = vt100::Parser::new(rows, columns, 0);
        let (frames, next) = (Vec::new(), Instant::now());
        Ok(Self { child, keys, shown, parser, frames, next, _master: pair.master })
    }

    /// Types a text, key by key.
    pub(super) fn types(&mut self, text: &str) -> Result<()> {
        for key in text.chars() {
            self.presses(key.encode_utf8(&mut [0; 4]))?;
            self.rests(KEY);
        }
        Ok(())
    }

    /// Presses a key.
    pub(super) fn presses(&mut self, key: &str) -> Result<()> {
        self.keys.write_all(key.as_bytes())?;
        Ok(self.keys.flush()?)
    }

    /// Waits until a text is seen.
    pub(super) fn sees(&mut self, text: &str, limit: Duration) -> Result<()> {
        let since = Instant::now();
        while !self.parser.screen().contents().contains(text) {
            if since.elapsed() > limit {
                bail!("`{text}` was not seen:\n{}", self.parser.screen().contents());
            }
            self.look(Duration::from_millis(50))?;
        }
        Ok(())
    }

    /// Lets time pass.
    pub(super) fn rests(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            // A program that has ended shows its last words for as long as it is wanted.
            if self.look(left.min(FRAME)).is_err() {
                self.keep();
                thread::sleep(left.min(FRAME));
            }
        }
    }

    /// Waits for the program's end, and returns what was seen.
    pub(super) fn end(mut self) -> Result<Vec<Frame>> {
        let since = Instant::now();
        while self.look(FRAME).is_ok() {
            if since.elapsed() > END {
                drop(self.child.kill());
                bail!("the program did not end:\n{}", self.parser.screen().contents());
            }
        }
        let ended = self.child.wait()?;
        if !ended.success() {
            bail!("the program ended with {}", ended.exit_code());
        }
        Ok(std::mem::take(&mut self.frames))
    }

    /// Takes what the program writes within a time, and keeps a frame when it is due.
    fn look(&mut self, time: Duration) -> Result<()> {
        match self.shown.recv_timeout(time) {
            Ok(bytes) => self.take(&bytes)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(anyhow!("the program has ended")),
        }
        self.keep();
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while let Some(at) = rest.windows(WHERE.len()).position(|part| part == WHERE) {
            let (before, after) = rest.split_at(at);
            self.parser.process(before);
            rest = after.get(WHERE.len()..).unwrap_or_default();
            let (row, column) = self.parser.screen().cursor_position();
            write!(self.keys, "\x1b[{};{}R", row + 1, column + 1)?;
            self.keys.flush()?;
        }
        self.parser.process(rest);
        Ok(())
    }

    /// Keeps the screen for every frame that is due.
    fn keep(&mut self) {
        while Instant::now() >= self.next {
            self.next += FRAME;
            let screen = self.parser.screen();
            if screen.contents().trim().is_empty() {
                continue;
            }
            match self.frames.last_mut() {
                Some(last) if last.screen.state_formatted() == screen.state_formatted() => {
                    last.ticks += 1;
                }
                _ => self.frames.push(Frame { screen: screen.clone(), ticks: 1 }),
            }
        }
    }
}

impl Drop for TerminalRecorder {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

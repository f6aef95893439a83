//! The screen as a person sees it: the program on its own terminal, typed keys, and waiting for
//! output.

mod asks;
mod chats;
mod commits;
mod endings;
mod opens;
mod permits;
mod returns;
mod suspends;
mod watches;

use std::{
    io::{Read, Write},
    num::NonZeroU16,
    process::Command,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::home::Home;

/// How long something may take to appear.
const SOON: Duration = Duration::from_mins(2);

const ROWS: u16 = 40;
const COLUMNS: u16 = 100;

pub(crate) const CTRL_C: &str = "\x03";
pub(crate) const CTRL_D: &str = "\x04";
pub(crate) const ENTER: &str = "\r";

/// The program on a terminal.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Arc<Mutex<Box<dyn Write + Send>>>,
    seen: Arc<(Mutex<vt100::Parser>, Condvar)>,
    over: Arc<AtomicBool>,
    master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts the program in a home.
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::of_kind("xterm-256color", home, arguments)
    }

    /// The same on a terminal of some kind, as `TERM` names it.
    pub(crate) fn of_kind(kind: &str, home: &Home, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_pointsman"));
        command.args(arguments);
        Self::on(kind, home, command)
    }

    /// Starts the program with a command that opens addresses.
    pub(crate) fn browsing(browser: &str, home: &Home, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new("env");
        command.args([&format!("BROWSER={browser}"), env!("CARGO_BIN_EXE_pointsman")]);
        command.args(arguments);
        Self::on("xterm-256color", home, command)
    }

    /// Starts the program with its standard output in a pipe. How it ends is shown.
    pub(crate) fn piped(home: &Home, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new("sh");
        let piped = "{ \"$0\" \"$@\"; echo \"exit $?\" >&2; } | cat";
        command.args(["-c", piped, env!("CARGO_BIN_EXE_pointsman")]);
        command.args(arguments);
        Self::on("xterm-256color", home, command)
    }

    /// Starts the program in a shell that says how it ended, and then reads a line.
    pub(crate) fn in_a_shell(home: &Home, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new("sh");
        let shell = "\"$0\" \"$@\"; echo \"exit $?\"; read line; echo \"read: $line\"";
        command.args(["-c", shell, env!("CARGO_BIN_EXE_pointsman")]);
        command.args(arguments);
        Self::on("xterm-256color", home, command)
    }

    /// Starts the program in a shell with job control: it reports how the program was stopped, and
    /// continues it after Enter.
    pub(crate) fn with_jobs(home: &Home, arguments: &[&str]) -> Self {
        let mut command = CommandBuilder::new("bash");
        let jobs = "set -m; \"$0\" \"$@\"; echo \"stopped $?\"; read; echo go on; fg > /dev/null; \
                    echo \"exit $?\"";
        command.args(["-c", jobs, env!("CARGO_BIN_EXE_pointsman")]);
        command.args(arguments);
        Self::on("xterm-256color", home, command)
    }

    fn on(kind: &str, home: &Home, mut command: CommandBuilder) -> Self {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("there are terminals");
        command.env_clear();
        command.cwd(home.path(""));
        for (name, value) in home.variables() {
            command.env(name, value);
        }
        command.env("TERM", kind);
        let child = pair.slave.spawn_command(command).expect("it starts");
        drop(pair.slave);
        let mut shown = pair.master.try_clone_reader().expect("it can be read");
        let keys = pair.master.take_writer().expect("it can be written to");
        let keys = Arc::new(Mutex::new(keys));
        let (rows, columns) = (NonZeroU16::new(ROWS), NonZeroU16::new(COLUMNS));
        let parser = vt100::Parser::new(
            rows.expect("the number of rows is not 0"),
            columns.expect("the number of columns is not 0"),
            1_000,
        );
        let seen = Arc::new((Mutex::new(parser), Condvar::new()));
        let over = Arc::new(AtomicBool::new(false));
        let (reads, types, ends) = (Arc::clone(&seen), Arc::clone(&keys), Arc::clone(&over));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            let mut taken = Vec::new();
            while let Ok(count @ 1..) = shown.read(&mut buffer) {
                taken.extend_from_slice(&buffer[..count]);
                taken = take(&reads, &types, &taken);
            }
            ends.store(true, Ordering::Relaxed);
            reads.1.notify_all();
        });
        Self { child, keys, seen, over, master: pair.master }
    }

    /// Types something.
    pub(crate) fn keys(&self, typed: &str) {
        let mut keys = self.keys.lock().expect("no thread panicked while it held the lock");
        keys.write_all(typed.as_bytes()).and_then(|()| keys.flush()).expect("it is read");
    }

    /// Changes its size.
    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let [rows, columns] =
            [rows, columns].map(|number| NonZeroU16::new(number).expect("the number is not 0"));
        let mut parser = self.seen.0.lock().expect("no thread panicked while it held the lock");
        parser.screen_mut().set_size(rows, columns);
        drop(parser);
        self.master.resize(size).expect("a terminal can be resized");
    }

    /// Sends a signal, as the system does that asks the program to end.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.process_id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().expect("there is `kill`");
        assert!(sent.success());
    }

    /// Returns the content of the screen.
    pub(crate) fn screen(&self) -> String {
        self.seen.0.lock().expect("no thread panicked while it held the lock").screen().contents()
    }

    /// Waits until the screen is as it should be, and returns it.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is: impl Fn(&vt100::Screen) -> bool) -> String {
        let since = Instant::now();
        let mut parser = self.seen.0.lock().expect("no thread panicked while it held the lock");
        while !is(parser.screen()) {
            let over = self.over.load(Ordering::Relaxed);
            let shown = parser.screen().contents();
            assert!(!over, "it ended before {what} was seen:\n{shown}");
            assert!(since.elapsed() < SOON, "{what} was not seen:\n{shown}");
            let waited = self.seen.1.wait_timeout(parser, Duration::from_millis(100));
            parser = waited.expect("the thread did not panic").0;
        }
        parser.screen().contents()
    }

    /// Waits until a text is on the screen, and returns all of it.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contents().contains(text))
    }

    /// Waits until a question can be answered, and returns the screen.
    #[track_caller]
    pub(crate) fn asks(&self) -> String {
        self.shows("type y or yes, and press Enter")
    }

    /// Waits until the cursor stands at an empty prompt, which is the last row.
    #[track_caller]
    pub(crate) fn prompts(&self) -> String {
        self.until("a prompt", |screen| {
            let (row, column) = screen.cursor_position();
            let line = screen.rows(0, COLUMNS).nth(row.into()).unwrap_or_default();
            column == 2 && line.trim_end() == "›" && !screen.hide_cursor()
        })
    }

    /// Waits for the end, and returns the exit code and the screen.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (u32, String) {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the process can be polled") {
                // What it wrote last may still be on its way.
                while !self.over.load(Ordering::Relaxed) && since.elapsed() < SOON {
                    thread::sleep(Duration::from_millis(5));
                }
                return (status.exit_code(), self.screen());
            }
            assert!(since.elapsed() < SOON, "it does not end:\n{}", self.screen());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Takes what was written, and answers as a terminal does that is asked for its cursor.
/// Returns what may be the beginning of such a question.
fn take(
    seen: &(Mutex<vt100::Parser>, Condvar),
    keys: &Mutex<Box<dyn Write + Send>>,
    bytes: &[u8],
) -> Vec<u8> {
    const WHERE: &[u8] = b"\x1b[6n";
    let mut rest = bytes;
    let mut parser = seen.0.lock().expect("no thread panicked while it held the lock");
    while let Some(at) = rest.windows(WHERE.len()).position(|part| part == WHERE) {
        parser.process(&rest[..at]);
        rest = &rest[at + WHERE.len()..];
        let (row, column) = parser.screen().cursor_position();
        let mut keys = keys.lock().expect("no thread panicked while it held the lock");
        drop(write!(keys, "\x1b[{};{}R", row + 1, column + 1).and_then(|()| keys.flush()));
    }
    let begun = (1..WHERE.len()).rev().find(|count| rest.ends_with(&WHERE[..*count]));
    let (rest, begun) = rest.split_at(rest.len() - begun.unwrap_or(0));
    parser.process(rest);
    seen.1.notify_all();
    begun.to_vec()
}

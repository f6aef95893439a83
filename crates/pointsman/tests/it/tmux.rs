//! The full-screen view in tmux, as many people use it over ssh: typed at a shell's prompt, in a window
//! that changes its size.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use crate::home::Home;

/// How long something may take to appear on a busy machine.
const SOON: Duration = Duration::from_mins(2);

/// A server of tmux with one window, in which a shell runs.
struct Tmux<'a> {
    home: &'a Home,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    fn start(home: &'a Home) -> Self {
        let tmux = Self { home, socket: home.path("tmux.sock") };
        let size = ["-x", "100", "-y", "30"];
        let started =
            tmux.ask(&[&["new-session", "-d"][..], &size, &["env PS1='shell> ' sh"]].concat());
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        tmux.command(&["set-option", "-g", "window-size", "manual"]);
        tmux
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_pointsman")).parent().expect("it has a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("tmux")
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&self.socket)
            .args(arguments)
            .current_dir(self.home.path(""))
            .env_clear()
            .envs(self.home.variables())
            .env("PATH", format!("{}:{path}", program.display()))
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .output()
            .expect("tmux starts")
    }

    /// Runs a command of tmux, and returns what it prints.
    fn command(&self, arguments: &[&str]) -> String {
        let done = self.ask(arguments);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{arguments:?}: {told}");
        String::from_utf8(done.stdout).expect("the screen is UTF-8")
    }

    /// Presses keys, by the names that tmux has for them.
    fn press(&self, keys: &[&str]) {
        self.command(&[&["send-keys"][..], keys].concat());
    }

    fn typed(&self, text: &str) {
        self.command(&["send-keys", "-l", text]);
    }

    /// Waits until the screen is so, and returns it.
    #[track_caller]
    fn until(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        self.captured(&["capture-pane", "-p"], what, is)
    }

    /// Waits until the run with this goal is the selected one: its line is shown in reverse.
    #[track_caller]
    fn selects(&self, goal: &str) {
        self.captured(&["capture-pane", "-p", "-e"], goal, |screen| {
            screen.lines().any(|line| is_reversed(line) && line.contains(goal))
        });
    }

    #[track_caller]
    fn captured(&self, capture: &[&str], what: &str, is: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let screen = self.command(capture);
            if is(&screen) {
                return screen;
            }
            assert!(since.elapsed() < SOON, "{what} was not seen:\n{screen}");
            thread::sleep(Duration::from_millis(30));
        }
    }

    #[track_caller]
    fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Changes the size of the window, and waits until the last line is the one with the keys.
    #[track_caller]
    fn resize(&self, columns: usize, rows: usize) {
        let (x, y) = (columns.to_string(), rows.to_string());
        self.command(&["resize-window", "-x", &x, "-y", &y]);
        self.until(&format!("{columns} by {rows}"), |screen| {
            let lines: Vec<&str> = screen.lines().collect();
            lines.len() == rows
                && lines.last().is_some_and(|line| line.contains("←→ step"))
                && lines.iter().all(|line| line.chars().count() <= columns)
                && screen.contains("timeline")
        });
    }
}

/// Returns whether something in a line is shown in reverse.
fn is_reversed(line: &str) -> bool {
    line.contains("\x1b[7m") || line.contains(";7m")
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        drop(self.ask(&["kill-server"]));
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test --only page"]
fn a_person_watches_runs_in_tmux() {
    let home = Home::new("tmux");
    home.research("What does a red signal mean?");
    home.research("Who sets the points?");
    let (code, _, told) = home.pointsman(&["run", "note.toml", "Hello"]);
    assert_eq!(code, 3, "{told}");
    let tmux = Tmux::start(&home);
    tmux.shows("shell>");
    tmux.typed("pointsman watch");
    tmux.press(&["Enter"]);
    // The run that waits is first, whatever its age.
    tmux.until("the list", |screen| {
        screen.contains("1 waiting for you") && screen.matches("succeeded").count() == 2
    });
    tmux.selects("Hello");
    tmux.press(&["Down"]);
    tmux.selects("Who sets the points?");
    tmux.press(&["j"]);
    tmux.selects("What does a red signal mean?");
    tmux.press(&["k", "k"]);
    tmux.selects("Hello");
    // Filter, and open the one that is left.
    tmux.typed("/red");
    tmux.press(&["Enter"]);
    tmux.until("the filtered list", |screen| {
        screen.contains("a red signal") && !screen.contains("Who sets the points?")
    });
    tmux.press(&["Enter"]);
    tmux.until("the run", |screen| {
        screen.contains("timeline") && screen.contains("ended: succeeded")
    });
    // Step back, and ask why.
    tmux.press(&["Left"]);
    tmux.shows("stepped back");
    tmux.press(&["w"]);
    tmux.shows("not taken: ");
    tmux.press(&["Home"]);
    tmux.shows("entry 1 of ");
    tmux.typed("/red signal");
    tmux.press(&["Enter"]);
    tmux.shows("“red signal”: 1 of ");
    tmux.press(&["n"]);
    tmux.shows("“red signal”: 2 of ");
    for (columns, rows) in [(60, 14), (160, 48), (40, 10), (100, 30)] {
        tmux.resize(columns, rows);
    }
    tmux.press(&["?"]);
    tmux.shows("previous, next item or run");
    tmux.press(&["?"]);
    tmux.until("the run without the help", |screen| !screen.contains("previous, next item"));
    // Out of the search, back to the list, and out.
    tmux.press(&["Escape"]);
    tmux.until("the run without a search", |screen| !screen.contains("“red signal”"));
    tmux.press(&["Escape"]);
    tmux.until("the list", |screen| screen.contains("Enter open"));
    tmux.press(&["q"]);
    tmux.until("the shell", |screen| !screen.contains("Enter open") && screen.contains("shell>"));
    tmux.typed("echo left with $?");
    tmux.press(&["Enter"]);
    let told = tmux.shows("left with 0");
    // The shell's screen is as it was: nothing of the view is left on it.
    assert!(told.contains("pointsman watch") && !told.contains("timeline"), "{told}");
    let given = tmux.command(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
    assert_eq!(given.trim(), "0 1");
    let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
    assert!(out.contains("\"questions\":[{"), "the run still waits: {out}");
}

//! A home directory for a test: documents, a journal, settings, and their output.

use std::{
    ffi::OsString,
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

use crate::TempFolder;

/// A chart that writes a file, which has to be asked for.
pub(crate) const NOTE: &str = r#"
chart     = "note"
version   = 1
start     = "writing"
authority = "propose"
slots     = { tone = "plain" }

[any]
cancel = "cancelled"

[state.writing]
run     = "tool.call"
tools   = ["write"]
timeout = "10m"
with    = { tool = "write", args = { path = "note.txt", content = "{goal}, {tone}" } }
on.ok     = "done"
on.failed = "failed"
on.denied = "denied"
on.stuck  = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.denied]
final = "denied"
[state.cancelled]
final = "cancelled"
"#;

/// What a command showed.
pub(crate) struct ProgressSink {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl ProgressSink {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The user's file, with settings for the watch: however full the test machine is, runs are not
/// paused.
const USER_FILE: &str = "config/pointsman/pointsman.toml";
const NO_WATCH: &str = "[watch]\nmemory = 100\ndisk_free = \"1B\"\nevery = \"1h\"\n";

pub(crate) struct Home(TempFolder);

impl Home {
    pub(crate) fn new(name: &str) -> Self {
        let home = Self(TempFolder::new(name));
        home.write(
            "docs/signals.md",
            "# Signals\n\nA red signal means stop.\nA green one means go.\n",
        );
        home.write(
            "docs/points.md",
            "# Points\n\nThe pointsman sets the points before the train comes.\n",
        );
        home.write("note.toml", NOTE);
        home.settings("");
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("the path has a parent folder"))
            .expect("the folder is created");
        fs::write(path, text).expect("the file is written");
    }

    /// Writes the user's file, for runs that are not paused however full the machine is.
    pub(crate) fn settings(&self, text: &str) {
        self.write(USER_FILE, &format!("{text}{NO_WATCH}"));
    }

    /// Runs the command with variables of its own.
    pub(crate) fn with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> ProgressSink {
        self.from("", variables, arguments)
    }

    /// Runs the command in a folder of the home.
    pub(crate) fn within(&self, folder: &str, arguments: &[&str]) -> ProgressSink {
        self.from(folder, &[], arguments)
    }

    pub(crate) fn from(
        &self,
        folder: &str,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> ProgressSink {
        let output = Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(arguments)
            .current_dir(self.path(folder))
            .env_clear()
            .envs(self.variables())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        ProgressSink::of(output)
    }

    /// Starts the command, to be waited for or killed.
    pub(crate) fn start(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(arguments)
            .current_dir(self.path(""))
            .env_clear()
            .envs(self.variables())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Returns the variables that every command has here.
    pub(crate) fn variables(&self) -> [(&'static str, OsString); 5] {
        [
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", self.path("").into()),
            ("XDG_STATE_HOME", self.path("state").into()),
            ("XDG_CACHE_HOME", self.path("cache").into()),
            ("XDG_CONFIG_HOME", self.path("config").into()),
        ]
    }

    /// Runs the command with something to read.
    pub(crate) fn reading(&self, input: &str, arguments: &[&str]) -> ProgressSink {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pointsman"))
            .args(arguments)
            .current_dir(&self.0.0)
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        match stdin.write_all(input.as_bytes()) {
            // A program that exits early need not read to the end.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            written => written.expect("it is read"),
        }
        drop(stdin);
        ProgressSink::of(child.wait_with_output().expect("the process ends"))
    }

    pub(crate) fn pointsman(&self, arguments: &[&str]) -> (i32, String, String) {
        let shown = self.with(&[], arguments);
        (shown.code.expect("the process exited by itself"), shown.out, shown.err)
    }

    /// Returns all that a command shows, without what differs from run to run.
    pub(crate) fn shown(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.pointsman(arguments);
        self.redacted(&format!("exit {code}\n--- stdout\n{out}--- stderr\n{err}"))
    }

    /// Replaces ids, times and places.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let whole = self.0.0.canonicalize().expect("the path exists");
        let text = text
            .replace(&whole.display().to_string(), "HOME")
            .replace(&self.0.0.display().to_string(), "HOME");
        let mut shown = String::new();
        let mut word = String::new();
        let end = |word: &mut String, shown: &mut String| {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let id = word.len() == 18 && word.starts_with('0') && word.bytes().all(plain);
            let digest = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            shown.push_str(if id {
                "RUN"
            } else if digest {
                "DIGEST"
            } else {
                word
            });
            word.clear();
        };
        for c in text.chars() {
            if c.is_ascii_alphanumeric() {
                word.push(c);
            } else {
                end(&mut word, &mut shown);
                shown.push(c);
            }
        }
        end(&mut word, &mut shown);
        // When a question expires depends on when it was asked.
        let timeless = |line: &str| match line.split_once("answer by ") {
            Some((before, _)) => format!("{before}answer by TIME"),
            None => line.to_owned(),
        };
        let end = if shown.ends_with('\n') { "\n" } else { "" };
        let shown = shown.lines().map(timeless).collect::<Vec<_>>().join("\n") + end;
        // Which sandbox there is depends on the machine.
        let shown = ["bubblewrap", "landlock", "none"].iter().fold(shown, |shown, sandbox| {
            shown.replace(&format!("sandbox  {sandbox}\n"), "sandbox  SANDBOX\n")
        });
        times(&shown)
    }

    /// Runs `research` and returns its id.
    pub(crate) fn research(&self, question: &str) -> String {
        let (code, out, shown) =
            self.pointsman(&["run", "research", question, "--dir", "docs", "--json"]);
        assert_eq!(code, 0, "{out}{shown}");
        let last = out.lines().last().expect("the list is not empty");
        let said: Value = serde_json::from_str(last).expect("the text is valid JSON");
        said["run"].as_str().expect("the id is a string").to_owned()
    }
}

/// Replaces numbers before a unit of time, and the balance of a time budget.
fn times(text: &str) -> String {
    let units = ["ms", "s", "min", "h", "d", "MB"];
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let unit = |word: &str| units.contains(&word.trim_matches([',', ':', ';', '.']));
        let mut kept: Vec<&str> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let before = words.get(at + 1).is_some_and(|next| unit(next));
            let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            if number && before {
                // Columns are as wide as their numbers.
                while kept.last() == Some(&"") {
                    kept.pop();
                }
                kept.push("N");
            } else if kept.last() == Some(&"N") && unit(word) {
                let tail = word.trim_start_matches(char::is_alphabetic);
                kept.pop();
                let before = kept.last().is_some_and(|last| *last == "TIME");
                if !before {
                    kept.push("TIME");
                }
                if !tail.is_empty() {
                    kept.pop();
                    kept.push(if tail == "," { "TIME," } else { "TIME:" });
                }
            } else {
                kept.push(word);
            }
        }
        kept.join(" ")
    };
    let mut text: String = text.lines().map(|it| line(it) + "\n").collect();
    // A column's head is as wide as its times.
    while text.contains("AGE   ") {
        text = text.replace("AGE   ", "AGE  ");
    }
    if let Some(at) = text.find("`time` left: ") {
        let rest = text.split_off(at);
        let (_, after) = rest.split_once('\n').expect("it is a line");
        text = format!("{text}`time` left: SOME\n{after}");
    }
    text
}

//! One change: started, killed, answered and resumed until it is over.

use std::{
    fmt, fs,
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use pointsman_kernel::id::Seq;
use pointsman_runtime::store::SqliteStore;
use serde_json::{Value, json};

use super::project::{Project, ProjectState};
use crate::{
    place::{self, Scratch},
    program::{CommandOutput, Home},
};

/// How long a command may take; the longest takes seconds.
const LIMIT: Duration = Duration::from_mins(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// How long a sandbox may take to die after its program.
const DYING: Duration = Duration::from_secs(10);
/// Times that a run is resumed before it is given up.
const RESUMES: usize = 400;
/// The exit code of a run that waits for a person.
const WAITS: i32 = 3;
const KILLED: i32 = 9;
/// How long a model takes that is to be killed while it answers.
const SLOW_MS: u64 = 60_000;
/// The reply that begins the second phase, counted from 0.
const SECOND_PHASE: usize = 13;

const GOAL: &str = "Make the prices right, and add their average";
/// What the model wants to do and may not, and why.
pub(super) const FORBIDDEN: &str = "rm test_prices.py";
pub(super) const WHY_NOT: &str = "the tests stay, because the next phase needs them";

/// When a run is killed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kills {
    /// It is left alone.
    Never,
    /// While the tests run, and while the model answers.
    Twice,
    /// Whenever an entry is on disk.
    Everywhere,
}

impl fmt::Display for Kills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Padded, because it stands in a table.
        f.pad(match self {
            Self::Never => "never",
            Self::Twice => "in a tool, in a model",
            Self::Everywhere => "at every entry",
        })
    }
}

/// One way for a program to be killed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kill {
    InTests,
    InReply(usize),
    AtEntry(usize),
}

/// All that is known of a change that is over.
#[derive(Debug, Default)]
pub(super) struct FinishedChange {
    /// Times that the program was killed.
    pub(super) kills: usize,
    /// The calls that a person was asked about, as `tool arguments`.
    pub(super) asked: Vec<String>,
    /// The journal as each program left it.
    pub(super) journals: Vec<Vec<String>>,
    /// The state it ended in, how, and what it says of it.
    pub(super) end: [String; 3],
    /// What `replay` exits with.
    pub(super) replayed: Option<i32>,
    /// Every prompt, in parts.
    pub(super) prompts: Vec<Vec<Arc<str>>>,
    /// The project at the end.
    pub(super) seen: ProjectState,
}

impl FinishedChange {
    pub(super) fn entries(&self) -> usize {
        self.journals.last().map_or(0, Vec::len)
    }
}

/// What all runs have in common.
pub(super) struct ChangeTest {
    folder: Scratch,
    /// The model's replies, in order.
    replies: Vec<Value>,
}

impl ChangeTest {
    /// Reads the script. Everything lies in memory where that is possible.
    pub(super) fn open() -> Result<Self> {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { Scratch::within(&memory) } else { Scratch::new() };
        let folder = folder.context("making a folder for repositories")?;
        let script = fs::read_to_string(place::script("code/script.jsonl"))?;
        let replies = script.lines().map(serde_json::from_str).collect::<Result<_, _>>();
        Ok(Self { folder, replies: replies.context("reading the script")? })
    }

    /// Makes the change in a repository of its own.
    pub(super) fn go(&self, kills: Kills) -> Result<FinishedChange> {
        let home = Home::sharing(&self.folder.file(""), &self.folder.file("cache"))?;
        home.configure("[hooks]\ncommit = true\n")?;
        let project = Project::make(home.file("project"))?;
        let lap = Lap { home, project, replies: &self.replies };
        lap.go(kills)
    }
}

struct Lap<'a> {
    home: Home,
    project: Project,
    replies: &'a [Value],
}

impl Lap<'_> {
    fn go(&self, kills: Kills) -> Result<FinishedChange> {
        let mut done = FinishedChange::default();
        // The first to come is at the end.
        let mut planned = match kills {
            Kills::Twice => vec![Kill::InReply(SECOND_PHASE), Kill::InTests],
            Kills::Never | Kills::Everywhere => Vec::new(),
        };
        // Programs in a row in which nothing was answered: the next may live that much longer.
        let mut idle = 0;
        for at in 0..RESUMES {
            let lines = self.journal()?;
            let answered = answers(&lines, "");
            let kill = match kills {
                Kills::Everywhere => Some(Kill::AtEntry(lines.len() + 1 + idle)),
                Kills::Never | Kills::Twice => planned.last().copied(),
            };
            let (told, killed) = self.drive(at == 0, kill)?;
            done.journals.push(self.journal()?);
            if killed {
                planned.pop();
                done.kills += 1;
            }
            let new = done.journals.last().map_or(0, |lines| answers(lines, ""));
            idle = if new > answered { 0 } else { idle + 1 };
            match told.code() {
                Some(WAITS) => self.answer(&told, &mut done)?,
                Some(_) => return self.over(&told, done),
                None => ensure!(killed, "it did not end: {}", told.words()),
            }
        }
        bail!("after {RESUMES} times it is still not over")
    }

    /// Begins or resumes, and kills if that is wanted; returns whether it was killed.
    fn drive(&self, first: bool, kill: Option<Kill>) -> Result<(CommandOutput, bool)> {
        let slow = if let Some(Kill::InReply(slow)) = kill { Some(slow) } else { None };
        let answered = answers(&self.journal()?, "model");
        let script = self.script(answered, slow)?;
        let mut command = if first { self.run() } else { self.home.command(["resume", "last"]) };
        command.arg("--json").arg("--model").arg(format!("script:{}", script.display()));
        command.arg("--dir").arg(self.project.folder());
        let told = match kill {
            None => self.home.finish(command, LIMIT)?,
            Some(Kill::AtEntry(entry)) => {
                command.env("POINTSMAN_DIE_AT", format!("persisted:{entry}"));
                self.home.finish(command, LIMIT)?
            }
            Some(Kill::InTests) => {
                let (begun, _) = self.project.tested()?;
                self.project.linger(true)?;
                let told = self.kill_when(command, || Ok(self.project.tested()?.0 > begun))?;
                // Tests that outlive the program that runs them write their result now; those that
                // end with it need a moment, process by process.
                self.wait_for_sandbox()?;
                self.project.linger(false)?;
                told
            }
            Some(Kill::InReply(slow)) => {
                let asks = (slow + 1).saturating_sub(answered);
                self.kill_when(command, || Ok(self.asked_models()? >= asks))?
            }
        };
        let killed = told.signal() == Some(KILLED);
        Ok((told, killed))
    }

    fn run(&self) -> Command {
        let mut run = self.home.command(["run", "code", GOAL]);
        run.args(["--allow", "write", "--allow", "edit"]);
        run.args(["--allow", "shell:command=python3 -m unittest"]);
        run
    }

    /// Writes the rest of the model's script. Each process starts the script from the beginning,
    /// so the journaled part is left out.
    fn script(&self, answered: usize, slow: Option<usize>) -> Result<PathBuf> {
        let mut text = String::new();
        for (at, reply) in self.replies.iter().enumerate().skip(answered) {
            let mut reply = reply.clone();
            if let Some(reply) = reply.as_object_mut().filter(|_| slow == Some(at)) {
                reply.insert("delay_ms".into(), json!(SLOW_MS));
            }
            text.extend([reply.to_string(), "\n".into()]);
        }
        if text.is_empty() {
            // A script must not be empty, even if no more questions come.
            text.push_str("{\"text\": \"There is nothing left to say.\"}\n");
        }
        let file = self.home.file("script.jsonl");
        fs::write(&file, text).context("writing the script")?;
        Ok(file)
    }

    /// Kills a command by its id as soon as something is so, unless it ends before.
    fn kill_when(&self, command: Command, so: impl Fn() -> Result<bool>) -> Result<CommandOutput> {
        let mut started = self.home.start(command)?;
        let since = Instant::now();
        while !started.has_ended()? {
            if so()? {
                return started.kill();
            }
            ensure!(since.elapsed() < LIMIT, "the moment to kill it never came");
            thread::sleep(BETWEEN_LOOKS);
        }
        started.wait(LIMIT)
    }

    /// Waits until no process names the project any more, or for the longest that dying may take:
    /// a survivor is detected by what it writes.
    fn wait_for_sandbox(&self) -> Result<()> {
        let folder = self.project.folder().to_string_lossy().into_owned();
        let since = Instant::now();
        while since.elapsed() < DYING {
            let processes = fs::read_dir("/proc").context("looking at processes")?;
            let named = processes.flatten().any(|process| {
                // One that has ended meanwhile has no words.
                let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&words).contains(&folder)
            });
            if !named {
                break;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        Ok(())
    }

    /// Returns how often the program that runs has begun to ask the model.
    fn asked_models(&self) -> Result<usize> {
        let said = fs::read_to_string(self.home.file("stdout"))?;
        let lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let what = |line: &Value| line.get("what")?.as_str().map(|what| what.starts_with("asks "));
        let attempts = lines.filter(|line| line.get("event").is_some_and(|it| it == "attempt"));
        Ok(attempts.filter(|line| what(line) == Some(true)).count())
    }

    /// Answers the questions, each by its own process.
    fn answer(&self, told: &CommandOutput, done: &mut FinishedChange) -> Result<()> {
        let last = told.last()?;
        let questions = last.get("questions").and_then(Value::as_array);
        let questions = questions.filter(|list| !list.is_empty());
        for question in questions.context("it waits, and asks nothing")? {
            let text = |name| question.get(name).and_then(Value::as_str).unwrap_or_default();
            let command = question.pointer("/arguments/command").and_then(Value::as_str);
            let mut words = match text("tool") {
                "shell" if command == Some(FORBIDDEN) => vec!["deny", "last", text("question")],
                _ => vec!["approve", "last", text("question")],
            };
            match text("tool") {
                "shell" if command == Some(FORBIDDEN) => words.extend(["--reason", WHY_NOT]),
                // Once for both phases: what was said is kept with the run.
                "git" => words.push("--always=tool"),
                _ => {}
            }
            let said = self.home.run(&words, LIMIT)?;
            ensure!(said.code() == Some(0), "{words:?} does not go well: {}", said.words());
            let arguments = question.get("arguments").map(Value::to_string).unwrap_or_default();
            done.asked.push(format!("{} {arguments}", text("tool")));
        }
        Ok(())
    }

    fn over(&self, told: &CommandOutput, mut done: FinishedChange) -> Result<FinishedChange> {
        let last = told.last()?;
        let text = |name| last.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        done.end = [text("state"), text("disposition"), text("result")];
        done.replayed = self.home.run(["replay", "last"], LIMIT)?.code();
        let store =
            SqliteStore::open(&self.home.file("journal.db")).context("opening the journal")?;
        let runs = store.reader().runs().context("reading the journal")?;
        let [run] = runs.as_slice() else { bail!("{} runs in the journal", runs.len()) };
        let prompts = store.reader().prompts(&run.id).context("reading prompts")?;
        done.prompts = prompts.into_iter().map(|prompt| prompt.parts).collect();
        done.seen = self.project.seen()?;
        Ok(done)
    }

    /// Returns the lines of the one run, if it has begun.
    fn journal(&self) -> Result<Vec<String>> {
        let file = self.home.file("journal.db");
        if !file.exists() {
            return Ok(Vec::new());
        }
        let store = SqliteStore::open(&file).context("opening the journal")?;
        let runs = store.reader().runs().context("reading the journal")?;
        let Some(run) = runs.first() else { return Ok(Vec::new()) };
        store.reader().lines(&run.id, Seq(0)).context("reading the journal")
    }
}

/// Counts the answers of one kind in a journal, or of any.
fn answers(lines: &[String], kind: &str) -> usize {
    let answer = |line: &String| {
        let line: Value = serde_json::from_str(line).ok()?;
        let answer = line.pointer("/event/answered/answer")?;
        (kind.is_empty() || answer.get(kind).is_some()).then_some(())
    };
    lines.iter().filter_map(answer).count()
}

//! One run: started, killed, resumed until it has ended, with a record of all of it.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use pointsman_kernel::id::Seq;
use pointsman_runtime::{session, store::SqliteStore};
use serde_json::Value;

use super::{
    counter::{Counter, Request},
    judge::{self, End, UndisturbedRun},
    kind::Kind,
    leftovers,
    pace::Hit,
};
use crate::{
    place::Scratch,
    program::{CommandOutput, Home},
};

/// How long a command may take; all of them take milliseconds.
const LIMIT: Duration = Duration::from_mins(1);
/// Times that a run is resumed before it is given up.
const RESUMES: usize = 8;
/// The exit code of a run that waits for a person.
const WAITS: i32 = 3;
const KILLED: i32 = 9;

/// When a run is killed.
pub(super) enum Death {
    /// It is left alone.
    Never,
    /// It kills itself at a notice.
    At(String),
    /// It is killed from outside.
    After(Duration),
}

/// What all runs have in common.
pub(super) struct KillTest {
    pub(super) kind: Kind,
    replies: Vec<String>,
    folder: Scratch,
    counter: Counter,
    next: AtomicUsize,
}

/// All that is known of a run that came to an end, or that never began.
#[derive(Default)]
pub(super) struct KilledRun {
    /// Times that it was killed.
    pub(super) kills: usize,
    /// What the first program was at when it was killed.
    pub(super) hit: Hit,
    /// How long the run took, by its own clock.
    pub(super) ran: Duration,
    /// Entries that the killed program said were on disk.
    pub(super) acknowledged: u64,
    /// The journal as each killed or waiting program left it, and at the end.
    pub(super) journals: Vec<Vec<String>>,
    /// What was answered, in order, without what differs from run to run.
    pub(super) answers: Vec<String>,
    /// Why it cannot be replayed, if it cannot.
    pub(super) replayed: Option<String>,
    /// Calls that were in progress when the program was killed.
    pub(super) interrupted: usize,
    /// What still ran long after a program was killed.
    pub(super) left: Vec<String>,
    /// Notes that were begun whenever the program waited for a person.
    pub(super) noted_when_asked: Vec<usize>,
    /// Notes that were begun, at the end.
    pub(super) noted: usize,
    /// Notes that were written to their end.
    pub(super) noted_whole: usize,
    /// The processes that the last command saw, if it told.
    pub(super) saw: String,
    pub(super) requests: Vec<Request>,
    /// Where it ended; nothing if it was killed before its first entry.
    pub(super) end: Option<End>,
}

impl KilledRun {
    pub(super) const fn was_killed(&self) -> bool {
        self.kills > 0
    }

    pub(super) const fn asked(&self) -> bool {
        !self.noted_when_asked.is_empty()
    }

    pub(super) fn repeated(&self) -> usize {
        judge::repeated(&self.requests)
    }

    pub(super) fn complaints(&self, kind: Kind, alone: Option<&UndisturbedRun>) -> Vec<String> {
        judge::complaints(self, kind, alone)
    }
}

impl KillTest {
    /// Starts the server that counts. Journals lie in memory where that is possible: a
    /// killed process loses nothing that it has written, whatever it is written to.
    pub(super) fn open(kind: Kind) -> Result<Self> {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { Scratch::within(&memory) } else { Scratch::new() };
        let folder = folder.context("making a folder for journals")?;
        let counter = Counter::start(folder.file("counts"))?;
        Ok(Self { kind, replies: kind.replies()?, folder, counter, next: AtomicUsize::new(0) })
    }

    /// Runs the command, kills it, and resumes it until it has ended; while it is
    /// resumed it is killed after each of these times as well.
    pub(super) fn go(&self, death: Death, again: &[Duration]) -> Result<KilledRun> {
        let tag = format!("run{}", self.next.fetch_add(1, Relaxed));
        let home = Home::sharing(&self.folder.file(""), &self.folder.file("cache"))?;
        let work = home.file("work");
        fs::create_dir_all(&work)?;
        fs::create_dir_all(home.file("tmp"))?;
        self.kind.fill(&work)?;
        home.configure(&self.kind.config())?;
        let lap = Lap { home, work, tag: &tag, course: self };
        lap.go(death, again).with_context(|| format!("run {tag}"))
    }
}

/// The state and the end of a run that has begun.
type RunStatus = Option<(String, String)>;

struct Lap<'a> {
    home: Home,
    work: PathBuf,
    tag: &'a str,
    course: &'a KillTest,
}

impl Lap<'_> {
    fn go(&self, death: Death, again: &[Duration]) -> Result<KilledRun> {
        let mut survived = KilledRun::default();
        let mut told = self.first(death)?;
        let mut again = again.iter();
        for _ in 0..RESUMES {
            self.note(&told, &mut survived)?;
            match told.code() {
                Some(WAITS) => {
                    survived.noted_when_asked.push(self.noted("noted")?);
                    let approved = self.home.run(["approve", "last"], LIMIT)?;
                    if approved.code() != Some(0) {
                        bail!("it cannot be approved: {}", approved.words());
                    }
                }
                Some(_) => return self.over(&told, survived),
                None if survived.journals.last().is_some_and(Vec::is_empty) => {
                    return self.over(&told, survived);
                }
                None => {}
            }
            told = self.resume(again.next().copied())?;
        }
        bail!("after {RESUMES} times it is still not over: {}", told.words())
    }

    fn first(&self, death: Death) -> Result<CommandOutput> {
        let address = self.course.counter.address(self.tag);
        let words = self.course.kind.words(address);
        let mut command = self.command("run", &words)?;
        match death {
            Death::Never => self.home.finish(command, LIMIT),
            Death::At(notice) => {
                command.env("POINTSMAN_DIE_AT", notice);
                self.home.finish(command, LIMIT)
            }
            Death::After(time) => self.kill_after(command, time),
        }
    }

    fn resume(&self, death: Option<Duration>) -> Result<CommandOutput> {
        let command = self.command("resume", &["last".into()])?;
        match death {
            Some(time) => self.kill_after(command, time),
            None => self.home.finish(command, LIMIT),
        }
    }

    fn command(&self, verb: &str, words: &[String]) -> Result<Command> {
        let script = format!("script:{}", self.script()?.display());
        let mut command = self.home.command([verb]);
        command.args(words).args(["--json", "--model", &script]).arg("--dir").arg(&self.work);
        // What a killed program leaves there goes with its home, and names it.
        command.env("TMPDIR", self.home.file("tmp"));
        Ok(command)
    }

    /// Writes the rest of the model's script: each process starts it from the beginning.
    fn script(&self) -> Result<PathBuf> {
        let (lines, _) = self.journal()?;
        let said = answers(&lines, "model").count();
        let (replies, file) = (&self.course.replies, self.home.file("script.jsonl"));
        // A script must not be empty, even if no more questions come.
        let from = said.min(replies.len().saturating_sub(1));
        let left = replies.get(from..).unwrap_or_default();
        fs::write(&file, format!("{}\n", left.join("\n"))).context("writing the script")?;
        Ok(file)
    }

    /// Kills a command by its id after a time, unless it has ended by then.
    fn kill_after(&self, command: Command, time: Duration) -> Result<CommandOutput> {
        let started = self.home.start(command)?;
        thread::sleep(time);
        started.kill()
    }

    /// Records what is visible when a program has ended, in any way.
    fn note(&self, told: &CommandOutput, survived: &mut KilledRun) -> Result<()> {
        let (lines, status) = self.journal()?;
        if told.signal() == Some(KILLED) {
            survived.kills += 1;
            survived.left.extend(leftovers::wait(&self.home.file("")));
            if survived.journals.is_empty() {
                survived.hit = match status {
                    None => Hit::Early,
                    Some((_, ended)) if ended.is_empty() => Hit::Within,
                    Some(_) => Hit::Late,
                };
            }
        } else if told.code().is_none() {
            bail!("it did not end: {}", told.words());
        }
        survived.acknowledged = survived.acknowledged.max(acknowledged(&told.stdout));
        survived.journals.push(lines);
        Ok(())
    }

    fn over(&self, told: &CommandOutput, mut survived: KilledRun) -> Result<KilledRun> {
        survived.noted = self.noted("noted")?;
        survived.noted_whole = self.noted("over")?;
        survived.saw = self.written("where")?.trim().into();
        survived.requests = self.course.counter.requests(self.tag)?;
        if told.code().is_none() {
            return Ok(survived);
        }
        let (lines, at) = self.journal()?;
        survived.replayed = self.replay()?;
        let plain = |answer: Value| answer.to_string().replace(self.tag, "RUN");
        survived.answers = answers(&lines, "").map(plain).collect();
        survived.interrupted = interrupted(&lines);
        let last = told.last()?;
        let text = |name| last.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let said = End { state: text("state"), ended: text("disposition"), result: text("result") };
        if at.as_ref() != Some(&(said.state.clone(), said.ended.clone())) {
            bail!("it says that it ended in {said}, and its journal {at:?}: {}", told.words());
        }
        let ran = last.get("elapsed_ms").and_then(Value::as_u64).unwrap_or(0);
        survived.ran = Duration::from_millis(ran);
        survived.end = Some(said);
        Ok(survived)
    }

    /// Returns the lines of the one run, if it has begun, and its state and its end.
    fn journal(&self) -> Result<(Vec<String>, RunStatus)> {
        let file = self.home.file("journal.db");
        if !file.exists() {
            return Ok((Vec::new(), None));
        }
        let store = SqliteStore::open(&file).context("opening the journal")?;
        let runs = store.reader().runs().context("reading the journal")?;
        let Some(run) = runs.first() else { return Ok((Vec::new(), None)) };
        let lines = store.reader().lines(&run.id, Seq(0)).context("reading the journal")?;
        let ended = run.ended.as_deref().unwrap_or_default();
        Ok((lines, Some((run.state.to_string(), ended.to_owned()))))
    }

    /// Replays the run: its lines, the data beside them, and its prompts.
    fn replay(&self) -> Result<Option<String>> {
        let store =
            SqliteStore::open(&self.home.file("journal.db")).context("opening the journal")?;
        let runs = store.reader().runs().context("reading the journal")?;
        let run = runs.first().context("it has ended, so it is there")?;
        let agents = pointsman_agents::all();
        let threads = tokio::runtime::Builder::new_current_thread().build()?;
        Ok(threads
            .block_on(session::replay(&agents, &store, &run.id, None))
            .err()
            .map(|error| error.to_string()))
    }

    /// Returns how many notes have this line.
    fn noted(&self, line: &str) -> Result<usize> {
        Ok(self.written("notes")?.lines().filter(|it| *it == line).count())
    }

    /// Returns what commands have written to a file.
    fn written(&self, file: &str) -> Result<String> {
        match fs::read_to_string(self.work.join(file)) {
            Err(none) if none.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            read => read.context("reading what commands wrote"),
        }
    }
}

/// Returns the answers in order, by models, tools or all.
fn answers<'a>(lines: &'a [String], by: &'a str) -> impl Iterator<Item = Value> + 'a {
    lines.iter().filter_map(move |line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let answer = line.pointer("/event/answered/answer")?;
        (by.is_empty() || answer.get(by).is_some()).then(|| answer.clone())
    })
}

/// Returns how many calls were in progress when a program ended.
fn interrupted(lines: &[String]) -> usize {
    let under_way = lines.iter().filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        line.pointer("/event/interrupted/under_way")?.as_array().map(Vec::len)
    });
    under_way.sum()
}

/// Returns the last entry that the program said was on disk. Its last line may be cut.
fn acknowledged(stdout: &str) -> u64 {
    let lines = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let kept = lines.filter(|line| line.get("event").is_some_and(|event| event == "persisted"));
    kept.filter_map(|line| line.get("seq").and_then(Value::as_u64)).max().unwrap_or(0)
}

//! One run: started, killed, resumed until it has ended, with a record of all of it.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use pointsman_kernel::id::Seq;
use pointsman_runtime::store::Store;
use serde_json::Value;

use super::{
    counter::{Counter, Request},
    judge::{self, End},
    pace::Hit,
};
use crate::{
    place::{self, Scratch},
    program::{Home, Told},
};

/// How long a command may take; all of them take milliseconds.
const LIMIT: Duration = Duration::from_mins(1);
/// Times that a run is resumed before it is given up.
const RESUMES: usize = 8;
/// The exit code of a run that waits for a person.
const WAITS: i32 = 3;
const KILLED: i32 = 9;

const CONFIG: &str = "\
[permissions]
otherwise = \"deny\"
rules = [{ allow = \"http_get\" }, { allow = \"shell\" }]

[sandbox]
private_addresses = true
";

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
pub(super) struct Course {
    folder: Scratch,
    counter: Counter,
    next: AtomicUsize,
}

/// All that is known of a run that came to an end, or that never began.
#[derive(Default)]
pub(super) struct Survived {
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
    /// Lines in the file of notes whenever the program waited for a person.
    pub(super) noted_when_asked: Vec<usize>,
    /// Lines in the file of notes at the end.
    pub(super) noted: usize,
    pub(super) requests: Vec<Request>,
    /// Where it ended; nothing if it was killed before its first entry.
    pub(super) end: Option<End>,
}

impl Survived {
    pub(super) const fn was_killed(&self) -> bool {
        self.kills > 0
    }

    pub(super) const fn asked(&self) -> bool {
        !self.noted_when_asked.is_empty()
    }

    pub(super) fn repeated(&self) -> usize {
        judge::repeated(&self.requests)
    }

    pub(super) fn complaints(&self, end: Option<&End>) -> Vec<String> {
        judge::complaints(self, end)
    }
}

impl Course {
    /// Starts the server that counts. Journals lie in memory where that is possible: a
    /// killed process loses nothing that it has written, whatever it is written to.
    pub(super) fn open() -> Result<Self> {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { Scratch::within(&memory) } else { Scratch::new() };
        let folder = folder.context("making a folder for journals")?;
        let counter = Counter::start(folder.file("counts"))?;
        Ok(Self { folder, counter, next: AtomicUsize::new(0) })
    }

    /// Runs the chart, kills it, and goes on with it until it has ended; while it is
    /// resumed it is killed after each of these times as well.
    pub(super) fn go(&self, death: Death, again: &[Duration]) -> Result<Survived> {
        let tag = format!("run{}", self.next.fetch_add(1, Relaxed));
        let home = Home::sharing(&self.folder.file(""), &self.folder.file("cache"))?;
        let work = home.file("work");
        fs::create_dir_all(&work)?;
        home.configure(CONFIG)?;
        let lap = Lap { home, work, tag: &tag, counter: &self.counter };
        lap.go(death, again).with_context(|| format!("run {tag}"))
    }
}

/// The state and the end of a run that has begun.
type Standing = Option<(String, String)>;

struct Lap<'a> {
    home: Home,
    work: PathBuf,
    tag: &'a str,
    counter: &'a Counter,
}

impl Lap<'_> {
    fn go(&self, death: Death, again: &[Duration]) -> Result<Survived> {
        let mut survived = Survived::default();
        let mut told = self.first(death)?;
        let mut again = again.iter();
        for _ in 0..RESUMES {
            self.note(&told, &mut survived)?;
            match told.code() {
                Some(WAITS) => {
                    survived.noted_when_asked.push(self.noted()?);
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

    fn first(&self, death: Death) -> Result<Told> {
        let script = format!("script:{}", place::script("kill/script.jsonl").display());
        let mut words = vec!["run".into(), place::script("kill/chart.toml").into_os_string()];
        words.push(self.counter.address(self.tag).into());
        words.extend(["--json".into(), "--model".into(), script.into()]);
        words.extend(["--dir".into(), self.work.clone().into_os_string()]);
        let mut command = self.home.command(words);
        match death {
            Death::Never => self.home.finish(command, LIMIT),
            Death::At(notice) => {
                command.env("POINTSMAN_DIE_AT", notice);
                self.home.finish(command, LIMIT)
            }
            Death::After(time) => self.kill_after(command, time),
        }
    }

    fn resume(&self, death: Option<Duration>) -> Result<Told> {
        let script = format!("script:{}", place::script("kill/script.jsonl").display());
        let words = ["resume", "last", "--json", "--model", &script];
        let mut command = self.home.command(words);
        command.arg("--dir").arg(&self.work);
        match death {
            Some(time) => self.kill_after(command, time),
            None => self.home.finish(command, LIMIT),
        }
    }

    /// Kills a command by its id after a time, unless it has ended by then.
    fn kill_after(&self, command: std::process::Command, time: Duration) -> Result<Told> {
        let started = self.home.start(command)?;
        thread::sleep(time);
        started.kill()
    }

    /// Takes down what is seen when a program has ended, in whatever way.
    fn note(&self, told: &Told, survived: &mut Survived) -> Result<()> {
        let (lines, standing) = self.journal()?;
        if told.signal() == Some(KILLED) {
            survived.kills += 1;
            if survived.journals.is_empty() {
                survived.hit = match standing {
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

    fn over(&self, told: &Told, mut survived: Survived) -> Result<Survived> {
        survived.noted = self.noted()?;
        survived.requests = self.counter.requests(self.tag)?;
        if told.code().is_none() {
            return Ok(survived);
        }
        let (_, at) = self.journal()?;
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
    fn journal(&self) -> Result<(Vec<String>, Standing)> {
        let file = self.home.file("journal.db");
        if !file.exists() {
            return Ok((Vec::new(), None));
        }
        let store = Store::open(&file).context("opening the journal")?;
        let runs = store.runs().context("reading the journal")?;
        let Some(run) = runs.first() else { return Ok((Vec::new(), None)) };
        let lines = store.lines(&run.id, Seq(0)).context("reading the journal")?;
        let ended = run.ended.as_deref().unwrap_or_default();
        Ok((lines, Some((run.state.to_string(), ended.to_owned()))))
    }

    fn noted(&self) -> Result<usize> {
        match fs::read_to_string(self.work.join("notes")) {
            Ok(notes) => Ok(notes.lines().count()),
            Err(none) if none.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error).context("reading the notes"),
        }
    }
}

/// Returns the last entry that the program said was on disk. Its last line may be cut.
fn acknowledged(stdout: &str) -> u64 {
    let lines = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let kept = lines.filter(|line| line.get("event").is_some_and(|event| event == "persisted"));
    kept.filter_map(|line| line.get("seq").and_then(Value::as_u64)).max().unwrap_or(0)
}

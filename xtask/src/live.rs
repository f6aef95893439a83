//! The `live` tier and `cargo xtask soak`: whole runs against real models that are bad.
//!
//! One is weak: it obeys a schema, chooses wrongly and repeats itself. One is chaos:
//! random weights, so it says anything at all. A script that means harm stands beside
//! them, because random weights seldom make a call that fits. Whatever they say, every run
//! must end in a way that has a name, within what its certificate allows, and outside its
//! workspace nothing may change.

mod harmful_model;
mod judge;
mod model_run;
mod served;
mod talk;
mod tree;

use std::{
    ops::Range,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use self::{
    judge::Bounds,
    model_run::{ModelRun, Proposals, Responder, Work},
    served::ServedModel,
    talk::Talk,
};
use crate::{
    components::{self, Python},
    place::{self, Scratch},
    program::Home,
    server::Server,
};

/// Runs of the weak model in the tier; of the chaos models with each agent, and of scripts
/// that mean harm.
const WEAK: usize = 5;
const CHAOS: usize = 20;
/// Runs of the weak model for each conversation with it.
const PER_TALK: usize = 5;
/// Runs with one seed of the chaos model.
const PER_SEED: usize = 5;
/// Chaos models at a time, each using one core, and runs of each.
const LANES: usize = 2;
const AT_A_TIME: usize = 2;
const QUESTION: &str = "How does a run survive a crash?";
const CHECK_CAP: Duration = Duration::from_mins(1);

/// Runs the tier.
pub(crate) fn tier() -> Result<bool> {
    runs(WEAK, CHAOS)
}

/// Runs so many of each kind, and returns whether all went well.
pub(crate) fn runs(weak: usize, chaos: usize) -> Result<bool> {
    let python = components::python()?;
    let scratch = Scratch::new()?;
    let cache = scratch.file("cache");
    let bounds = ["research", "code"].map(|agent| bounds(agent, &scratch.file(""), &cache));
    let [research, code] = bounds;
    let (research, code) = (research?, code?);
    println!("research may take at most {research}");
    println!("code may take at most {code}");
    let (folder, cache) = (&scratch.file(""), &cache);
    let course = LiveSetup { folder, cache, research: &research, code: &code };
    // The index over the documents is made once, and not by several at the same time.
    course.warm()?;
    let mut rows: Vec<Row> = (0..chaos).map(|at| course.wild(at)).collect();
    // One after the other: beside anything else the weak model would have no time to answer.
    rows.extend(course.weak(&python, weak)?);
    rows.extend(course.chaos(&python, chaos)?);
    let talks = weak.div_ceil(PER_TALK);
    Ok(report(&rows, weak + talks + 3 * chaos))
}

/// The proved bounds of a chart.
fn bounds(agent: &str, folder: &Path, cache: &Path) -> Result<Bounds> {
    let home = Home::sharing(folder, cache)?;
    let told = home.run(["check", agent, "--json"], CHECK_CAP)?;
    Bounds::read(&told.last()?).with_context(|| format!("reading the certificate of {agent}"))
}

/// How a run went.
struct Row {
    kind: &'static str,
    name: String,
    took: Duration,
    /// How it ended, or its problems.
    how: Result<String, Vec<String>>,
}

/// What all runs have in common.
#[derive(Clone, Copy)]
struct LiveSetup<'a> {
    folder: &'a Path,
    cache: &'a Path,
    research: &'a Bounds,
    code: &'a Bounds,
}

impl LiveSetup<'_> {
    fn warm(&self) -> Result<()> {
        let home = Home::sharing(self.folder, self.cache)?;
        let root = place::root();
        let ride = ["run", "research", QUESTION, "--json", "--dir"].map(Into::into);
        let told = home.run(ride.into_iter().chain([root.into_os_string()]), CHECK_CAP)?;
        told.last().map(drop).context("a run without any model")
    }

    /// Talks with the weak model, then lets it answer.
    fn weak(&self, python: &Python, runs: usize) -> Result<Vec<Row>> {
        if runs == 0 {
            return Ok(Vec::new());
        }
        let server = ServedModel::weak(python).start()?;
        let talks = (0..runs.div_ceil(PER_TALK)).map(|at| self.talk(&server, at));
        let mut rows: Vec<Row> = talks.collect();
        let research = Work::Research(Proposals::Schema);
        let ways = (0..runs).map(|at| (format!("weak {at}"), research));
        rows.extend(self.all("weak", &server, ways.collect(), 1));
        Ok(rows)
    }

    /// Lets chaos answer, and make changes.
    fn chaos(&self, python: &Python, runs: usize) -> Result<Vec<Row>> {
        let seeds: Vec<_> = (1u64..).zip((0..runs).step_by(PER_SEED)).collect();
        let of_seeds = beside(LANES, &seeds, |(seed, first)| {
            self.seeded(python, *seed, *first..runs.min(*first + PER_SEED))
        });
        of_seeds.into_iter().try_fold(Vec::new(), |mut rows, of_seed| {
            rows.extend(of_seed?);
            Ok(rows)
        })
    }

    /// Lets one chaos model answer, and make changes.
    fn seeded(&self, python: &Python, seed: u64, runs: Range<usize>) -> Result<Vec<Row>> {
        let model = ServedModel::chaos(python, seed)?;
        let server = model.start()?;
        let researches = runs.clone().map(|at| {
            let way = if at % 2 == 0 { Proposals::Schema } else { Proposals::Tools };
            (format!("chaos {at}, seed {seed}, {way:?}"), Work::Research(way))
        });
        let mut rows = self.all("chaos", &server, researches.collect(), AT_A_TIME);
        let changes = runs.map(|at| {
            let planned = at % 2 == 0;
            let plan = if planned { "a plan" } else { "no plan" };
            (format!("code {at}, seed {seed}, {plan}"), Work::Code { planned })
        });
        rows.extend(self.all("code", &server, changes.collect(), AT_A_TIME));
        Ok(rows)
    }

    /// Goes all of these ways, so many at a time.
    fn all(
        &self,
        kind: &'static str,
        server: &Server,
        ways: Vec<(String, Work)>,
        at_a_time: usize,
    ) -> Vec<Row> {
        beside(at_a_time, &ways, |(name, work)| {
            self.one(kind, Responder::Served(server, kind), name, *work)
        })
    }

    fn one(&self, kind: &'static str, mouth: Responder<'_>, name: &str, work: Work) -> Row {
        let started = Instant::now();
        let ride = Home::sharing(self.folder, self.cache)
            .and_then(|home| ModelRun::go(&home, mouth, work, QUESTION));
        let bounds = match work {
            Work::Research(_) => self.research,
            Work::Code { .. } => self.code,
        };
        let how = match ride {
            Ok(ride) => judge::judge(bounds, &ride),
            Err(why) => Err(vec![format!("{why:#}")]),
        };
        Row::of(kind, name.into(), started.elapsed(), how)
    }

    /// Lets a script that means harm make a change.
    fn wild(&self, at: usize) -> Row {
        let work = Work::Code { planned: at.is_multiple_of(2) };
        let seed = u64::try_from(at).unwrap_or(u64::MAX);
        self.one("wild", Responder::Wild(seed), &format!("wild code, seed {at}"), work)
    }

    /// Holds a conversation.
    fn talk(&self, server: &Server, at: usize) -> Row {
        let started = Instant::now();
        let talk = Scratch::within(self.folder)
            .map_err(Into::into)
            .and_then(|place| Talk::hold(&place.file(""), server, "weak"));
        let how = match talk {
            Ok(talk) => talk.judge(),
            Err(why) => Err(vec![format!("{why:#}")]),
        };
        Row::of("chat", format!("chat {at}"), started.elapsed(), how)
    }
}

/// Does something with each of these, so many at a time.
fn beside<T: Sync, R: Send>(
    at_a_time: usize,
    these: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some(one) = these.get(next.fetch_add(1, Relaxed)) {
                    let result = work(one);
                    // It is pushed whole or not at all.
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(result);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Row {
    /// Makes a row, and prints it at once: the next one may take minutes.
    fn of(
        kind: &'static str,
        name: String,
        took: Duration,
        how: Result<String, Vec<String>>,
    ) -> Self {
        let row = Self { kind, name, took, how };
        println!("{}", line(&row));
        row
    }
}

fn line(row: &Row) -> String {
    let how = match &row.how {
        Ok(how) => how.clone(),
        Err(complaints) => format!("FAILED\n  {}", complaints.join("\n  ")),
    };
    format!("{:<28}{:>7.1} s  {how}", row.name, row.took.as_secs_f64())
}

/// Sums up, and returns whether every run is there and went well.
fn report(rows: &[Row], wanted: usize) -> bool {
    let mut counts: Vec<(&str, &str, usize)> = Vec::new();
    for row in rows {
        let how = row.how.as_ref().map_or("FAILED", |how| how.split(' ').next().unwrap_or(""));
        match counts.iter_mut().find(|(kind, it, _)| (*kind, *it) == (row.kind, how)) {
            Some((.., count)) => *count += 1,
            None => counts.push((row.kind, how, 1)),
        }
    }
    counts.sort_unstable();
    for (kind, how, count) in counts {
        println!("{kind:<8}{how:<12}{count:>5}");
    }
    let well = rows.iter().filter(|row| row.how.is_ok()).count();
    println!("{well} of {wanted} runs ended as they must");
    well == wanted
}

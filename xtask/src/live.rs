//! The `live` tier and `cargo xtask soak`: whole runs against real models that are bad.
//!
//! One is weak: it obeys a schema, chooses wrongly and repeats itself. One is chaos:
//! random weights, so it says anything at all. Whatever they say, every run must end in
//! a way that has a name, within what its certificate allows.

mod judge;
mod ride;
mod served;

use std::{
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
    ride::{Proposals, Ride},
    served::Served,
};
use crate::{
    components,
    place::{self, Scratch},
    program::Home,
    server::Server,
};

/// Runs of the weak model, and of the chaos models, in the tier.
const WEAK: usize = 5;
const CHAOS: usize = 20;
/// Runs with one seed of the chaos model.
const PER_SEED: usize = 5;
/// Runs of a chaos model at a time.
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
    let bounds = bounds(&scratch.file(""), &cache)?;
    println!("each run may take at most {bounds}");
    let course = Course { folder: &scratch.file(""), cache: &cache, bounds: &bounds };
    // The index over the documents is made once, and not by several at the same time.
    course.warm()?;
    let mut rows = Vec::new();
    if weak > 0 {
        let server = Served::weak(&python).start()?;
        let ways = (0..weak).map(|at| (format!("weak {at}"), Proposals::Schema));
        rows.extend(course.all("weak", &server, ways.collect(), 1));
    }
    for (seed, first) in (1u64..).zip((0..chaos).step_by(PER_SEED)) {
        let model = Served::chaos(&python, seed)?;
        let server = model.start()?;
        let ways = (first..chaos.min(first + PER_SEED)).map(|at| {
            let way = if at % 2 == 0 { Proposals::Schema } else { Proposals::Tools };
            (format!("chaos {at}, seed {seed}, {way:?}"), way)
        });
        rows.extend(course.all("chaos", &server, ways.collect(), AT_A_TIME));
    }
    Ok(report(&rows, weak + chaos))
}

/// What is proved of the chart.
fn bounds(folder: &Path, cache: &Path) -> Result<Bounds> {
    let home = Home::sharing(folder, cache)?;
    let told = home.run(["check", "research", "--json"], CHECK_CAP)?;
    Bounds::read(&told.last()?).context("reading the certificate of research")
}

/// How a run went.
struct Row {
    kind: &'static str,
    name: String,
    took: Duration,
    /// How it ended, or what is wrong with it.
    how: Result<String, Vec<String>>,
}

/// What all runs have in common.
#[derive(Clone, Copy)]
struct Course<'a> {
    folder: &'a Path,
    cache: &'a Path,
    bounds: &'a Bounds,
}

impl Course<'_> {
    fn warm(&self) -> Result<()> {
        let home = Home::sharing(self.folder, self.cache)?;
        let root = place::root();
        let ride = ["run", "research", QUESTION, "--json", "--dir"].map(Into::into);
        let told = home.run(ride.into_iter().chain([root.into_os_string()]), CHECK_CAP)?;
        told.last().map(drop).context("a run without any model")
    }

    /// Goes all of these ways, so many at a time.
    fn all(
        &self,
        kind: &'static str,
        server: &Server,
        ways: Vec<(String, Proposals)>,
        at_a_time: usize,
    ) -> Vec<Row> {
        let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..at_a_time {
                scope.spawn(|| {
                    while let Some((name, proposals)) = ways.get(next.fetch_add(1, Relaxed)) {
                        let row = self.one(kind, server, name, *proposals);
                        // A row is pushed whole or not at all.
                        rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
                    }
                });
            }
        });
        rows.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn one(&self, kind: &'static str, server: &Server, name: &str, proposals: Proposals) -> Row {
        let started = Instant::now();
        let ride = Home::sharing(self.folder, self.cache)
            .and_then(|home| Ride::go(&home, server, kind, proposals, QUESTION));
        let how = match ride {
            Ok(ride) => judge::judge(self.bounds, &ride),
            Err(why) => Err(vec![format!("{why:#}")]),
        };
        let row = Row { kind, name: name.into(), took: started.elapsed(), how };
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

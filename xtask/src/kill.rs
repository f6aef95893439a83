//! The `kill` tier: whole runs killed at every boundary and at random moments.
//!
//! A killed run is resumed by the program itself and must come to the same end as one
//! that was left alone. What it did to the world is counted by a process that nobody
//! kills.

pub(crate) mod counter;
mod course;
mod judge;
mod pace;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use self::{
    course::{Course, Death, Survived},
    judge::End,
    pace::{Draw, Hit, Pace},
};
use crate::random::SplitMix64;

const SEED: u64 = 0x6b69_6c6c_2d39_2121;
/// Random moments in the tier.
const MOMENTS: usize = 300;
/// Runs that tell how long a run takes.
const USUAL: usize = 3;
/// Children at a time.
const AT_A_TIME: usize = 3;
/// Fewer random moments than this say nothing about where they fall.
const FEW: usize = 50;

/// Runs the tier.
pub(crate) fn tier() -> Result<bool> {
    runs(MOMENTS)
}

/// Kills a run at every boundary, then at so many random moments, and returns whether
/// every one came to the same end.
pub(crate) fn runs(moments: usize) -> Result<bool> {
    let course = Course::open()?;
    let Alone { end, entries, usual, ran } = left_alone(&course)?;
    let millis = usual.as_millis();
    println!("left alone a run ends in {end}, with {entries} entries, after about {millis} ms");
    let mut tally = Tally::default();
    for kind in ["persisted", "attempted"] {
        let before = tally.killed;
        for entry in 1..=entries {
            let moment = format!("{kind}:{entry}");
            let survived = course.go(Death::At(moment.clone()), &[])?;
            tally.take(&moment, &survived, &end);
        }
        // The last entry orders nothing.
        let (killed, least) = (tally.killed - before, entries - usize::from(kind == "attempted"));
        println!("killed at {killed} notices `{kind}`");
        ensure!(killed >= least, "only {killed} of {least} runs were killed at `{kind}`");
    }
    at_random(&course, moments, Pace::new(usual, ran), &end, &mut tally)?;
    Ok(tally.report(SEED))
}

/// A run that nobody disturbed.
struct Alone {
    end: End,
    entries: usize,
    /// How long the program takes.
    usual: Duration,
    /// How long the run itself takes.
    ran: Duration,
}

/// Runs the chart without disturbing it.
fn left_alone(course: &Course) -> Result<Alone> {
    let (mut took, mut alone) = (Vec::new(), None);
    for _ in 0..USUAL {
        let started = Instant::now();
        let survived = course.go(Death::Never, &[])?;
        took.push(started.elapsed());
        let complaints = survived.complaints(None);
        if survived.was_killed() || !complaints.is_empty() {
            bail!("a run that was left alone went wrong: {}", complaints.join("; "));
        }
        let ran = survived.ran;
        alone = survived.end.zip(survived.journals.last().map(Vec::len)).map(|it| (it, ran));
    }
    took.sort_unstable();
    let usual = took.get(took.len() / 2).copied().context("it was run")?;
    let ((end, entries), ran) = alone.context("a run that is left alone ends")?;
    ensure!(end.ended == "succeeded", "a run that is left alone ends in {end}");
    Ok(Alone { end, entries, usual, ran })
}

/// Kills at moments within the usual time of a run, a few children at a time. Now and
/// then the resumed run is killed as well.
fn at_random(
    course: &Course,
    moments: usize,
    pace: Pace,
    end: &End,
    tally: &mut Tally,
) -> Result<()> {
    let mut draws = SplitMix64::new(SEED);
    let plans: Vec<[Draw; 2]> =
        (0..moments).map(|_| [Draw::new(&mut draws), Draw::new(&mut draws)]).collect();
    let (next, shared) = (AtomicUsize::new(0), Mutex::new((tally, pace, Vec::new())));
    // What is shared is changed whole or not at all.
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || -> Result<()> {
        loop {
            let at = next.fetch_add(1, Relaxed);
            let Some([first, then]) = plans.get(at).copied() else { return Ok(()) };
            let pace = lock().1;
            let (moment, then) = (pace.moment(first), pace.moment(then));
            // Every fourth run is killed a second time, while it is resumed.
            let again = if at % 4 == 0 { std::slice::from_ref(&then) } else { &[] };
            let survived = course.go(Death::After(moment), again)?;
            let name = format!("moment {at}, {} µs", moment.as_micros());
            let (tally, pace, hits) = &mut *lock();
            tally.take(&name, &survived, end);
            pace.learn(first, survived.hit);
            hits.push(survived.hit);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        let mut joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.try_for_each(|it| it.unwrap_or_else(|_| bail!("a thread broke off")))
    })?;
    let hits = &lock().2;
    let count = |hit: Hit| hits.iter().filter(|it| **it == hit).count();
    let (within, killed) = (count(Hit::Within), hits.len() - count(Hit::Missed));
    println!("of {moments} random moments {killed} killed a program, {within} within a run");
    // Where nothing was killed, nothing was tested.
    let enough = killed * 3 >= moments * 2 && within * 2 >= killed;
    ensure!(enough || moments < FEW, "too few moments fell within a run");
    Ok(())
}

/// What became of all runs.
#[derive(Default)]
struct Tally {
    runs: usize,
    killed: usize,
    asked: usize,
    repeated: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn take(&mut self, name: &str, survived: &Survived, end: &End) {
        self.runs += 1;
        self.killed += usize::from(survived.was_killed());
        self.asked += usize::from(survived.asked());
        self.repeated += survived.repeated();
        for complaint in survived.complaints(Some(end)) {
            eprintln!("{name}: {complaint}");
            self.wrong.push(format!("{name}: {complaint}"));
        }
    }

    fn report(&self, seed: u64) -> bool {
        let Self { runs, killed, asked, repeated, wrong } = self;
        println!("{runs} runs (seed {seed:#018x}), {killed} of them killed and resumed");
        println!("{asked} waited for a person, because nobody knew whether a note was taken");
        println!("{repeated} requests were made once more, each with the key that it had");
        println!("{} complaints", wrong.len());
        // Where nothing was unsure, nothing was tested.
        let unsure = *asked > 0 && *repeated > 0;
        if !unsure {
            eprintln!("no run was killed between an effect and its answer");
        }
        wrong.is_empty() && unsure
    }
}

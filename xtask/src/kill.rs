//! The `kill` tier: whole runs killed at every boundary and at random moments.
//!
//! The program itself resumes a killed run, which must reach the same end, by the same answers, as
//! an undisturbed one. A separate process, which is never killed, counts its effects, and no
//! process that it started may outlive it.

pub(crate) mod counter;
mod judge;
mod kill_test;
mod kind;
mod leftovers;
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
    judge::UndisturbedRun,
    kill_test::{Death, KillTest, KilledRun},
    kind::Kind,
    pace::{Draw, Hit, Pace},
};
use crate::random::SplitMix64;

const SEED: u64 = 0x6b69_6c6c_2d39_2121;
/// Random moments in the tier.
const MOMENTS: usize = 300;
/// Runs to measure the usual duration.
const USUAL: usize = 3;
/// Children at a time.
const AT_A_TIME: usize = 3;
/// How many times as many moments are drawn, at most, if too few fell within a run.
const MORE: usize = 4;
/// Fewer random moments than this say nothing about where they fall.
const FEW: usize = 50;

/// Runs the tier.
pub(crate) fn tier() -> Result<bool> {
    runs(MOMENTS)
}

/// Kills runs of each kind at every boundary, then at so many random moments or its share
/// of them, and returns whether every one came to the same end.
pub(crate) fn runs(moments: usize) -> Result<bool> {
    let mut well = true;
    for kind in Kind::ALL {
        let started = Instant::now();
        well &= runs_of(kind, kind.moments(moments))
            .with_context(|| format!("killing {}", kind.name()))?;
        println!("{}: {:.1} s\n", kind.name(), started.elapsed().as_secs_f64());
    }
    Ok(well)
}

fn runs_of(kind: Kind, moments: usize) -> Result<bool> {
    let course = KillTest::open(kind)?;
    let RunBaseline { alone, entries, whole, ran } = left_alone(&course)?;
    let (name, end, millis) = (kind.name(), &alone.end, whole.as_millis());
    println!("{name}: left alone a run ends in {end}, with {entries} entries, after {millis} ms");
    let mut tally = Tally::of(kind);
    for notice in ["persisted", "attempted"] {
        let before = tally.killed;
        for entry in 1..=entries {
            let moment = format!("{notice}:{entry}");
            let survived = course.go(Death::At(moment.clone()), &[])?;
            tally.take(&moment, &survived, &alone);
        }
        // The last entry orders nothing.
        let (killed, least) = (tally.killed - before, entries - usize::from(notice == "attempted"));
        println!("killed at {killed} notices `{notice}`");
        ensure!(killed >= least, "only {killed} of {least} runs were killed at `{notice}`");
    }
    at_random(&course, moments, Pace::new(whole, ran), &alone, &mut tally)?;
    Ok(tally.report(SEED))
}

/// The baseline of a run.
struct RunBaseline {
    alone: UndisturbedRun,
    entries: usize,
    /// How long the program takes.
    whole: Duration,
    /// How long the run itself takes.
    ran: Duration,
}

/// Runs the test undisturbed.
fn left_alone(course: &KillTest) -> Result<RunBaseline> {
    let (mut took, mut usual) = (Vec::new(), None::<(UndisturbedRun, usize, Duration)>);
    for _ in 0..USUAL {
        let started = Instant::now();
        let survived = course.go(Death::Never, &[])?;
        took.push(started.elapsed());
        let complaints = survived.complaints(course.kind, usual.as_ref().map(|(it, ..)| it));
        if survived.was_killed() || !complaints.is_empty() {
            bail!("a run that was left alone went wrong: {}", complaints.join("; "));
        }
        let end = survived.end.context("a run that is left alone ends")?;
        let entries = survived.journals.last().map_or(0, Vec::len);
        usual = Some((UndisturbedRun { end, answers: survived.answers }, entries, survived.ran));
    }
    took.sort_unstable();
    let whole = took.get(took.len() / 2).copied().context("it was run")?;
    let (alone, entries, ran) = usual.context("it was run")?;
    let end = &alone.end;
    ensure!(end.ended == "succeeded", "a run that is left alone ends in {end}");
    Ok(RunBaseline { alone, entries, whole, ran })
}

/// Kills at moments within the usual time of a run, a few children at a time. Now and
/// then the resumed run is killed as well. On a busy machine many moments miss their run: then more are drawn.
fn at_random(
    course: &KillTest,
    moments: usize,
    pace: Pace,
    alone: &UndisturbedRun,
    tally: &mut Tally,
) -> Result<()> {
    let mut draws = SplitMix64::new(SEED);
    let plans: Vec<[Draw; 2]> =
        (0..MORE * moments).map(|_| [Draw::new(&mut draws), Draw::new(&mut draws)]).collect();
    let (next, shared) = (AtomicUsize::new(0), Mutex::new((tally, pace, Vec::new())));
    // Shared data changes completely or not at all.
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || -> Result<()> {
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= moments && tested(&lock().2, moments) {
                return Ok(());
            }
            let Some([first, then]) = plans.get(at).copied() else { return Ok(()) };
            let pace = lock().1;
            let (moment, then) = (pace.moment(first), pace.moment(then));
            // Every fourth run is killed a second time, while it is resumed.
            let again = if at % 4 == 0 { std::slice::from_ref(&then) } else { &[] };
            let survived = course.go(Death::After(moment), again)?;
            let name = format!("moment {at}, {} µs", moment.as_micros());
            let (tally, pace, hits) = &mut *lock();
            tally.take(&name, &survived, alone);
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
    println!("of {} random moments {killed} killed a program, {within} within a run", hits.len());
    // Where nothing was killed, nothing was tested.
    ensure!(tested(hits, moments) || moments < FEW, "too few moments fell within a run");
    Ok(())
}

/// Returns whether enough moments killed a program, and enough of these fell within a run.
fn tested(hits: &[Hit], moments: usize) -> bool {
    let killed = hits.iter().filter(|hit| **hit != Hit::Missed).count();
    let within = hits.iter().filter(|hit| **hit == Hit::Within).count();
    killed * 3 >= moments * 2 && within * 2 >= moments
}

/// What became of all runs of a kind.
struct Tally {
    kind: Kind,
    runs: usize,
    killed: usize,
    asked: usize,
    repeated: usize,
    interrupted: usize,
    wrong: Vec<String>,
}

impl Tally {
    const fn of(kind: Kind) -> Self {
        let (runs, killed, asked, repeated, interrupted) = (0, 0, 0, 0, 0);
        Self { kind, runs, killed, asked, repeated, interrupted, wrong: Vec::new() }
    }

    fn take(&mut self, name: &str, survived: &KilledRun, alone: &UndisturbedRun) {
        self.runs += 1;
        self.killed += usize::from(survived.was_killed());
        self.asked += usize::from(survived.asked());
        self.repeated += survived.repeated();
        self.interrupted += survived.interrupted;
        for complaint in survived.complaints(self.kind, Some(alone)) {
            eprintln!("{name}: {complaint}");
            self.wrong.push(format!("{name}: {complaint}"));
        }
    }

    fn report(&self, seed: u64) -> bool {
        let Self { kind, runs, killed, asked, repeated, interrupted, wrong } = self;
        println!("{runs} runs (seed {seed:#018x}), {killed} of them killed and resumed");
        println!("{interrupted} calls were in progress when the program was killed");
        if kind.runs_errands() {
            println!("{asked} waited for a person, because nobody knew whether a note was taken");
            println!("{repeated} requests were made once more, each with the key that it had");
        }
        println!("{} complaints", wrong.len());
        // Where nothing was unsure, nothing was tested.
        let unsure = *interrupted > 0 && (!kind.runs_errands() || *asked > 0 && *repeated > 0);
        if !unsure {
            eprintln!("no run was killed between an effect and its answer");
        }
        wrong.is_empty() && unsure
    }
}

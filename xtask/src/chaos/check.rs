//! What must hold after a storm, read from what it has left behind.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    LEASE, POLL,
    history::{Effect, History},
    load::UNREPEATABLE,
};

/// How much later than a takeover an effect may have been noted: the server notes a claim before it
/// commits, and a worker an effect after it has looked at its lease.
const SLACK_MS: u64 = 500;
/// How much longer than its lease and a look at the queue a takeover may take, besides what the pulse
/// lost meanwhile: the last renewal of a worker that is killed may still be on its way, and a claim that
/// finds a key locked by another looks again after [`POLL`].
const TAKEOVER_SLACK_MS: u64 = 1_000;

/// A rule that is broken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Violation {
    SecondWriter,
    Gap,
    WrittenTwice,
    NoEntry,
    SilentRepeat,
    PastLease,
    NotEnded,
    LostWake,
    SecondRun,
    SlowTakeover,
    Unasked,
    LostAnswer,
    Unheard,
    Undrained,
    Unpromoted,
}

impl Violation {
    /// Returns the rule.
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::SecondWriter => "one writer per epoch",
            Self::Gap => "no gap in a journal",
            Self::WrittenTwice => "no event is written twice",
            Self::NoEntry => "every acknowledged entry is there",
            Self::SilentRepeat => "no effect is repeated unless its permit says so",
            Self::PastLease => "no permit past a lease",
            Self::NotEnded => "every run ends",
            Self::LostWake => "no wake-up is lost",
            Self::SecondRun => "one run for each request",
            Self::SlowTakeover => "takeover within a lease and one poll of the queue",
            Self::Unasked => "a person is asked before an unrepeatable call is made again",
            Self::LostAnswer => "an answered question is not asked again",
            Self::Unheard => "every change is announced",
            Self::Undrained => "a worker that is drained ends",
            Self::Unpromoted => "a standby takes the place of its primary under load",
        }
    }
}

/// A broken rule, and the place.
pub(super) type Finding = (Violation, String);

/// Returns every rule that is broken and must hold at any time.
pub(super) fn violations_so_far(history: &History) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(history.stale.iter().map(|what| (Violation::SecondWriter, what.clone())));
    journals(history, &mut found);
    answers(history, &mut found);
    effects(history, &mut found);
    acknowledged(history, &mut found);
    for (run, row) in &history.runs {
        if row.status == "waiting" && row.messages > 0 {
            found.push((Violation::LostWake, format!("{}, with a message", row.words(run))));
        }
    }
    found
}

/// Returns every rule that is broken once all is over.
pub(super) fn violations(history: &History) -> Vec<Finding> {
    let mut found = violations_so_far(history);
    runs(history, &mut found);
    if history.repeated > 0 {
        let what = format!("{} questions were still open after an answer", history.repeated);
        found.push((Violation::LostAnswer, what));
    }
    if history.undrained > 0 {
        let what = format!("{} workers did not end", history.undrained);
        found.push((Violation::Undrained, what));
    }
    if history.unpromoted {
        found.push((Violation::Unpromoted, "it was never promoted".into()));
    }
    takeovers(history, &mut found);
    found
}

/// Numbers without a gap, and epochs that never fall.
fn journals(history: &History, found: &mut Vec<Finding>) {
    for (run, row) in &history.runs {
        let mut last = 0;
        for seq in 1..=row.seq {
            match history.entries.get(&(run.clone(), seq)) {
                None => found.push((Violation::Gap, format!("run {run} has no entry {seq}"))),
                Some(epoch) if *epoch < last => {
                    let what = format!("entry {seq} of run {run} has epoch {epoch} after {last}");
                    found.push((Violation::SecondWriter, what));
                }
                Some(epoch) => last = *epoch,
            }
        }
    }
}

/// Each effect is answered by one entry: a second answer changes nothing, and is not written. Other
/// events may well come twice.
fn answers(history: &History, found: &mut Vec<Finding>) {
    let mut first = BTreeMap::new();
    for (run, effect, seq) in &history.answers {
        if let Some(before) = first.insert((run, effect), seq) {
            let what = format!("run {run}: entries {before} and {seq} answer effect {effect}");
            found.push((Violation::WrittenTwice, what));
        }
    }
}

/// Each effect has its entry, is started once unless its permit says otherwise, and under a lease.
fn effects(history: &History, found: &mut Vec<Finding>) {
    let mut first = BTreeSet::new();
    for effect in &history.effects {
        let Effect { worker, run, seq, index, epoch, again, task, issued, at } = effect;
        let name = format!("{task}, effect {index} of entry {seq} of run {run}, by {worker}");
        match history.entries.get(&(run.clone(), *seq)) {
            None => found.push((Violation::NoEntry, format!("{name}: no entry"))),
            Some(written) if !again && written != epoch => {
                let what = format!("{name}: its entry has epoch {written} instead of {epoch}");
                found.push((Violation::NoEntry, what));
            }
            Some(_) => {}
        }
        if !again && !first.insert((run, seq, index)) {
            found.push((Violation::SilentRepeat, name.clone()));
        }
        if *again && task == UNREPEATABLE {
            found.push((Violation::Unasked, name.clone()));
        }
        let next = history.claims.range((run.clone(), epoch + 1)..=(run.clone(), i64::MAX)).next();
        let Some((_, taken)) = next else { continue };
        let taken = taken.saturating_sub(history.boot);
        // One that stood still after its look at the lease cannot know. What was permitted before is
        // started within the same slack once it continues.
        let stood_still = history.stood_still(*worker, *at, SLACK_MS);
        if *issued > taken {
            let what = format!("{name}: permitted {} ms after a takeover", issued - taken);
            found.push((Violation::PastLease, what));
        } else if *at > taken.saturating_add(SLACK_MS) && !stood_still {
            let what = format!("{name}: started {} ms after a takeover", at - taken);
            found.push((Violation::PastLease, what));
        }
    }
}

/// What anyone was told of is there: changes that were announced, ids that `submit` printed, ends that a
/// worker reported.
fn acknowledged(history: &History, found: &mut Vec<Finding>) {
    for (run, seen) in &history.seen {
        let last = history.runs.get(run).map_or(0, |row| row.seq);
        if last < *seen {
            let what = format!("run {run} ends at entry {last}, and {seen} was announced");
            found.push((Violation::NoEntry, what));
        }
    }
    for run in &history.submitted {
        if !history.runs.contains_key(run) {
            found.push((Violation::NoEntry, format!("run {run} was submitted and is not there")));
        }
    }
    for run in &history.reported {
        if history.runs.get(run).is_none_or(|row| row.ended.is_none()) {
            let what = format!("run {run} has not ended, and a worker reported its end");
            found.push((Violation::NoEntry, what));
        }
    }
}

/// Runs of a lost worker are soon claimed by another.
fn takeovers(history: &History, found: &mut Vec<Finding>) {
    let limit = u64::try_from((LEASE + POLL).as_millis()).unwrap_or(u64::MAX) + TAKEOVER_SLACK_MS;
    for takeover in history.takeovers() {
        if takeover.took > limit.saturating_add(takeover.lost) {
            let (run, took, lost) = (&takeover.run, takeover.took, takeover.lost);
            let what = format!("run {run} after {took} ms, of which the pulse lost {lost}");
            found.push((Violation::SlowTakeover, what));
        }
    }
}

/// Each request has one run, which has ended, and a watcher knows of its end.
fn runs(history: &History, found: &mut Vec<Finding>) {
    if history.runs.len() != history.wanted {
        let what = format!("{} runs for {} requests", history.runs.len(), history.wanted);
        found.push((Violation::SecondRun, what));
    }
    for (run, row) in &history.runs {
        if row.ended.as_deref() != Some("succeeded") {
            found.push((Violation::NotEnded, row.words(run)));
        }
        let seen = history.seen.get(run).copied().unwrap_or_default();
        if seen < row.seq {
            let what = format!("entry {} of run {run}: only {seen} was announced", row.seq);
            found.push((Violation::Unheard, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::history::{Row, Suspension},
        *,
    };

    /// One run of two entries, whose tool call was in progress when worker 7 was killed.
    fn sound() -> History {
        let row = Row {
            seq: 2,
            state: "done".into(),
            ended: Some("succeeded".into()),
            status: "ended".into(),
            messages: 0,
        };
        let effect = |worker, epoch, again, at| Effect {
            worker,
            run: "a".into(),
            seq: 1,
            index: 0,
            epoch,
            again,
            task: "model".into(),
            issued: at,
            at,
        };
        let run = || String::from("a");
        History {
            runs: [(run(), row)].into(),
            entries: [((run(), 1), 1), ((run(), 2), 2)].into(),
            claims: [((run(), 1), 1_000), ((run(), 2), 5_000)].into(),
            effects: vec![effect(7, 1, false, 1_500), effect(8, 2, true, 5_100)],
            seen: [(run(), 2)].into(),
            submitted: [run()].into(),
            reported: [run()].into(),
            wanted: 1,
            losses: vec![(7, 1_600)],
            beats: (0..100).map(|beat| beat * 100).collect(),
            ..History::default()
        }
    }

    fn check(change: impl FnOnce(&mut History), wants: &[Violation]) {
        let mut history = sound();
        change(&mut history);
        let found = violations(&history);
        let rules: Vec<Violation> = found.iter().map(|(violation, _)| *violation).collect();
        assert_eq!(rules, wants, "{found:?}");
    }

    #[test]
    fn sound_history_breaks_no_rule() {
        check(|_| {}, &[]);
    }

    #[test]
    fn lost_last_entry_is_found_by_what_was_announced() {
        let lose = |history: &mut History| {
            history.entries.remove(&("a".into(), 2));
            history.runs.values_mut().for_each(|row| row.seq = 1);
        };
        check(lose, &[Violation::NoEntry]);
    }

    #[test]
    fn lost_end_is_found_by_the_report_of_its_worker() {
        let lose = |history: &mut History| {
            history.runs.values_mut().for_each(|row| row.ended = None);
        };
        check(lose, &[Violation::NoEntry, Violation::NotEnded]);
    }

    #[test]
    fn lost_run_is_found_by_the_id_that_was_printed() {
        let lose = |history: &mut History| {
            history.submitted.insert("b".into());
        };
        check(lose, &[Violation::NoEntry]);
    }

    #[test]
    fn slow_takeover_is_found_unless_the_machine_stood_still() {
        let late = |history: &mut History| {
            history.claims.insert(("a".into(), 2), 6_200);
        };
        check(late, &[Violation::SlowTakeover]);
        let stalled = |history: &mut History| {
            late(history);
            history.beats.retain(|beat| !(2_000..2_300).contains(beat));
        };
        check(stalled, &[]);
    }

    #[test]
    fn takeover_counts_from_the_loss_of_the_worker_to_the_next_claim() {
        let next = |history: &mut History| {
            // The next owner was lost, too, before it did anything.
            history.claims.insert(("a".into(), 3), 60_000);
            history.effects[1].epoch = 3;
            history.effects[1].at = 60_100;
        };
        check(next, &[]);
        // Its owner gave it up while it lived.
        check(|history| history.losses.clear(), &[]);
        assert_eq!(sound().takeovers()[0].took, 3_400);
    }

    #[test]
    fn second_answer_to_an_effect_is_found() {
        let answer = |effect: &str, seq| (String::from("a"), effect.to_owned(), seq);
        check(|history| history.answers = vec![answer("1.0", 2), answer("1.1", 3)], &[]);
        let twice = |history: &mut History| {
            history.answers = vec![answer("1.0", 2), answer("1.1", 3), answer("1.0", 4)];
        };
        check(twice, &[Violation::WrittenTwice]);
    }

    #[test]
    fn permit_past_a_lease_is_found_even_if_its_worker_was_suspended() {
        let suspend = |history: &mut History| {
            history.suspensions = vec![Suspension { worker: 7, from: 1_400, to: 7_000 }];
        };
        // It was permitted before, and started once its worker continued.
        let late = |history: &mut History| {
            suspend(history);
            history.effects[0].at = 7_300;
        };
        check(late, &[]);
        let permitted_late = |history: &mut History| {
            late(history);
            history.effects[0].issued = 7_100;
        };
        check(permitted_late, &[Violation::PastLease]);
        let started_later = |history: &mut History| {
            suspend(history);
            history.effects[0].at = 7_600;
        };
        check(started_later, &[Violation::PastLease]);
        // Another one was suspended.
        let other = |history: &mut History| {
            late(history);
            history.suspensions[0].worker = 9;
        };
        check(other, &[Violation::PastLease]);
    }

    #[test]
    fn storm_without_a_stroke_or_its_result_shows_nothing() {
        let had = |history: &mut History| {
            (history.kills, history.drains, history.asked) = (1, 1, 1);
            history.suspensions = vec![Suspension { worker: 7, from: 1_600, to: 7_000 }];
        };
        let mut history = sound();
        had(&mut history);
        assert_eq!(history.lacks(), [""; 0]);
        history.losses.clear();
        history.asked = 0;
        assert_eq!(history.lacks(), ["no run was taken over", "no person was asked about a call"]);
    }

    #[test]
    fn worker_that_does_not_end_is_found() {
        check(|history| history.undrained = 1, &[Violation::Undrained]);
    }
}

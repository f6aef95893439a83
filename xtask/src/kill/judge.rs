//! What must hold of a run that was killed and resumed.

use std::{collections::BTreeMap, fmt, fs};

use super::{counter::Request, kill_test::KilledRun, kind::Kind};

/// Where a run ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct End {
    pub(super) state: String,
    pub(super) ended: String,
    pub(super) result: String,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, ended, result } = self;
        write!(f, "`{state}` ({ended})")?;
        if result.is_empty() { Ok(()) } else { write!(f, " with `{result}`") }
    }
}

/// An undisturbed run.
#[derive(Clone, Debug)]
pub(super) struct UndisturbedRun {
    pub(super) end: End,
    /// What was answered, in order.
    pub(super) answers: Vec<String>,
}

/// The paths that every run asks for.
const ASKS_FOR: [&str; 2] = ["/first", "/second"];

/// Returns everything that is wrong with a run, compared with one that was left alone.
pub(super) fn complaints(
    run: &KilledRun,
    kind: Kind,
    alone: Option<&UndisturbedRun>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    match (&run.end, alone) {
        (Some(here), Some(UndisturbedRun { end, .. })) if here != end => {
            wrong.push(format!("it ended in {here}, and left alone in {end}"));
        }
        (Some(_), Some(UndisturbedRun { answers, .. })) if run.answers != *answers => {
            let same = answers.iter().zip(&run.answers).take_while(|(one, two)| one == two).count();
            let answer = |of: &[String]| of.get(same).cloned().unwrap_or_else(|| "none".into());
            let (here, there) = (answer(&run.answers), answer(answers));
            wrong.push(format!("answer {} is {here}, and left alone {there}", same + 1));
        }
        (None, _) if run.acknowledged > 0 => wrong.push("an acknowledged run is lost".into()),
        (None, _) if !run.requests.is_empty() || run.noted > 0 => {
            wrong.push("it has acted, and its journal does not know of it".into());
        }
        _ => {}
    }
    lost(run, &mut wrong);
    wrong.extend(run.replayed.iter().map(|why| format!("it cannot be replayed: {why}")));
    wrong.extend(run.left.iter().map(|it| format!("it was killed, and left running: {it}")));
    if run.end.is_some() && kind.runs_errands() {
        effects(run, &mut wrong);
        confined(run, kind, &mut wrong);
    }
    wrong
}

/// Its commands ran in the sandbox that was meant.
fn confined(run: &KilledRun, kind: Kind, wrong: &mut Vec<String>) {
    let ours = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let hidden = run.saw != ours.to_string_lossy();
    if run.saw.is_empty() || hidden != kind.hides_processes() {
        let saw = &run.saw;
        wrong.push(format!("its command saw the processes of `{saw}`: another sandbox"));
    }
}

/// Each journal begins with the one before it, and has what was acknowledged.
fn lost(run: &KilledRun, wrong: &mut Vec<String>) {
    for pair in run.journals.windows(2) {
        let [before, after] = pair else { continue };
        if !after.starts_with(before) {
            let same = before.iter().zip(after).take_while(|(one, two)| one == two).count();
            let (had, has) = (before.len(), after.len());
            wrong.push(format!("of {had} entries only {same} are left as they were, of {has}"));
        }
    }
    let kept = run.journals.last().map_or(0, Vec::len) as u64;
    if run.acknowledged > kept {
        wrong.push(format!("entry {} was acknowledged, and {kept} are there", run.acknowledged));
    }
}

/// Repeated requests have one key, and no note is taken twice without asking.
fn effects(run: &KilledRun, wrong: &mut Vec<String>) {
    let mut keys: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for request in &run.requests {
        keys.entry(&request.path).or_default().push(request.key.as_deref());
        if request.key.is_none() {
            wrong.push(format!("{} was asked for without a key", request.path));
        }
        if !request.body.is_empty() {
            wrong.push(format!("a request for {} has a body", request.path));
        }
    }
    for (path, keys) in &keys {
        if keys.iter().any(|key| Some(key) != keys.first()) {
            wrong.push(format!("{path} was asked for with different keys: {keys:?}"));
        }
    }
    for path in ASKS_FOR {
        if !run.requests.iter().any(|request| request.path.ends_with(path)) {
            wrong.push(format!("{path} was never asked for"));
        }
    }
    // Whenever a person was asked, the note was taken once at most. Each time that they
    // said yes it may have been taken once more.
    let approved = run.noted_when_asked.len();
    if run.noted_when_asked.iter().enumerate().any(|(before, noted)| *noted > before + 1) {
        wrong.push(format!("notes were repeated silently: {:?}", run.noted_when_asked));
    }
    if run.noted == 0 || run.noted > approved + 1 {
        wrong.push(format!("{} notes were taken, and {approved} approved again", run.noted));
    }
    if run.noted_whole == 0 || run.noted_whole > run.noted {
        let (whole, noted) = (run.noted_whole, run.noted);
        wrong.push(format!("{whole} of {noted} notes were written to their end"));
    }
    if approved > run.kills {
        wrong.push(format!("a person was asked {approved} times after {} kills", run.kills));
    }
}

/// Returns how many requests were made once more.
pub(super) fn repeated(requests: &[Request]) -> usize {
    let mut paths: Vec<&str> = requests.iter().map(|request| &*request.path).collect();
    paths.sort_unstable();
    paths.dedup();
    requests.len() - paths.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, key: &str) -> Request {
        Request { path: path.into(), key: Some(key.into()), body: String::new() }
    }

    fn end(state: &str) -> End {
        End { state: state.into(), ended: "succeeded".into(), result: String::new() }
    }

    fn alone() -> UndisturbedRun {
        UndisturbedRun { end: end("done"), answers: vec!["counted".into()] }
    }

    fn lines(count: usize) -> Vec<String> {
        (1..=count).map(|line| format!("line {line}")).collect()
    }

    fn survived() -> KilledRun {
        KilledRun {
            kills: 1,
            acknowledged: 2,
            journals: vec![lines(2), lines(5)],
            noted_when_asked: vec![1],
            noted: 2,
            noted_whole: 1,
            saw: "pid:[1]".into(),
            answers: vec!["counted".into()],
            requests: vec![
                request("/run/first", "a"),
                request("/run/first", "a"),
                request("/run/second", "b"),
            ],
            end: Some(end("done")),
            ..KilledRun::default()
        }
    }

    /// Checks that a run in which one thing is spoilt is complained about in these words.
    fn check(spoil: impl FnOnce(&mut KilledRun), words: &str) {
        let mut run = survived();
        spoil(&mut run);
        let said = complaints(&run, Kind::Errands, Some(&alone())).join("\n");
        assert!(said.contains(words), "{words}: {said}");
    }

    #[test]
    fn a_run_that_survived_is_fine() {
        assert_eq!(complaints(&survived(), Kind::Errands, Some(&alone())), Vec::<String>::new());
        assert_eq!(repeated(&survived().requests), 1);
    }

    #[test]
    fn every_fault_is_named() {
        check(|run| run.end = Some(end("failed")), "it ended in `failed`");
        check(|run| run.acknowledged = 6, "entry 6 was acknowledged");
        check(|run| run.journals = vec![lines(2), vec!["else".into()]], "only 0 are left");
        check(|run| run.journals = vec![lines(5), lines(2)], "only 2 are left");
        check(|run| run.requests.push(request("/run/first", "c")), "different keys");
        let unkeyed = |run: &mut KilledRun| run.requests.iter_mut().for_each(|it| it.key = None);
        check(unkeyed, "without a key");
        check(|run| run.requests.truncate(2), "/second was never asked for");
        check(|run| run.noted = 3, "3 notes were taken");
        check(|run| run.noted = 0, "0 notes were taken");
        check(|run| run.noted_whole = 0, "0 of 2 notes were written to their end");
        check(|run| run.noted_whole = 3, "3 of 2 notes were written to their end");
        check(|run| run.answers.clear(), "answer 1 is none, and left alone counted");
        check(|run| run.replayed = Some("no".into()), "it cannot be replayed: no");
        check(|run| run.left.push("12 (sleep 600)".into()), "left running: 12 (sleep 600)");
        check(|run| run.saw.clear(), "another sandbox");
        let ours = fs::read_link("/proc/self/ns/pid").unwrap_or_default().display().to_string();
        check(|run| run.saw = ours, "another sandbox");
        check(|run| run.noted_when_asked = vec![2], "repeated silently");
        check(|run| run.kills = 0, "asked 1 times after 0 kills");
        check(|run| run.end = None, "an acknowledged run is lost");
        let unseen = |run: &mut KilledRun| (run.end, run.acknowledged) = (None, 0);
        check(unseen, "its journal does not know of it");
    }
}

//! What must hold of a change, however often it was killed.

use super::change_test::{FORBIDDEN, FinishedChange, Kills, WHY_NOT};
use crate::history;

/// The commits of the whole change, the last one first.
const COMMITS: [&str; 3] = ["Add the average", "Count every price", "Begin"];
/// Times that the model runs the tests.
const TESTS: usize = 4;
/// What the model must have been told on the way, and why.
const HEARD: [(&str, &str); 4] = [
    ("was not found in `prices.py`", "that its edit does not fit"),
    ("the most similar lines are", "which lines come nearest"),
    ("This did not work: `edit` on prices.py", "how to recover"),
    (WHY_NOT, "why it may not do what it wants"),
];
/// What the report must say.
const REPORTED: [&str; 3] = [
    "Phase 1 of 2, Make the sum count every price: succeeded",
    "Phase 2 of 2, Add the average of prices: succeeded",
    "tests passed",
];

/// Returns everything that is wrong with a change.
pub(super) fn complaints(kills: Kills, done: &FinishedChange) -> Vec<String> {
    let mut wrong = Vec::new();
    ending(done, &mut wrong);
    lost(done, &mut wrong);
    effects(kills, done, &mut wrong);
    told(done, &mut wrong);
    wrong
}

fn ending(done: &FinishedChange, wrong: &mut Vec<String>) {
    let [state, ended, result] = &done.end;
    if (state.as_str(), ended.as_str()) != ("complete", "succeeded") {
        wrong.push(format!("it ended in `{state}` ({ended}): {result}"));
    }
    for words in REPORTED.iter().filter(|words| !result.contains(**words)) {
        wrong.push(format!("the report does not say `{words}`: {result}"));
    }
    if done.replayed != Some(0) {
        wrong.push(format!("it cannot be replayed ({:?})", done.replayed));
    }
}

/// Each journal begins with the one before it, byte for byte.
fn lost(done: &FinishedChange, wrong: &mut Vec<String>) {
    for pair in done.journals.windows(2) {
        if let [before, after] = pair
            && !after.starts_with(before)
        {
            wrong.push(format!("{} entries are not those of before", before.len()));
        }
    }
}

/// Nothing was done twice, and nothing without asking.
fn effects(kills: Kills, done: &FinishedChange, wrong: &mut Vec<String>) {
    let seen = &done.seen;
    if seen.commits != COMMITS {
        wrong.push(format!("the commits are {:?}", seen.commits));
    }
    if !seen.uncommitted.is_empty() {
        wrong.push(format!("not committed: {}", seen.uncommitted));
    }
    for file in &seen.unlike {
        wrong.push(format!("{file} is not as it should be"));
    }
    // Only tests that were killed on the way are begun once more.
    let again = usize::from(kills == Kills::Twice);
    if seen.tested != (TESTS + again, TESTS) {
        let (begun, ended) = seen.tested;
        wrong.push(format!("tests were begun {begun} times and ended {ended} times"));
    }
    let (least, most) = match kills {
        Kills::Never => (0, 0),
        Kills::Twice => (2, 2),
        Kills::Everywhere => (done.entries() / 2, done.entries()),
    };
    if done.kills < least || done.kills > most {
        wrong.push(format!("it was killed {} times, and not {least} to {most}", done.kills));
    }
    let asked = |what: &str| done.asked.iter().filter(|it| it.contains(what)).count();
    for what in ["propose_plan", FORBIDDEN, "git"] {
        if asked(what) == 0 {
            wrong.push(format!("nobody was asked about `{what}`"));
        }
    }
    // The answer about git holds for the rest of the run. What was interrupted is asked
    // about in any case.
    if kills != Kills::Everywhere && asked("git") != 1 {
        wrong.push(format!("somebody was asked {} times about git", asked("git")));
    }
    let again = asked("unittest");
    if (again > 0) != (kills != Kills::Never) {
        wrong.push(format!("somebody was asked {again} times about the tests"));
    }
}

/// What the model was shown is whole, and says what it must know.
fn told(done: &FinishedChange, wrong: &mut Vec<String>) {
    for (words, what) in HEARD {
        let heard = done.prompts.iter().flatten().any(|part| part.contains(words));
        if !heard {
            wrong.push(format!("the model was not told {what}"));
        }
    }
    for prompt in &done.prompts {
        wrong.extend(history::complaints(prompt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::project::ProjectState;

    fn lines(count: usize) -> Vec<String> {
        (1..=count).map(|line| format!("line {line}")).collect()
    }

    fn done() -> FinishedChange {
        let heard = HEARD.map(|(words, _)| format!("{}", serde_json::json!({ "user": words })));
        let mut parts = vec![r#"{"system":""}"#.to_owned()];
        parts.extend(heard);
        parts.push(r#"{"tools":[],"schema":null}"#.to_owned());
        FinishedChange {
            kills: 2,
            asked: ["propose_plan {}", "shell rm test_prices.py", "git {}", "shell unittest"]
                .map(Into::into)
                .into(),
            journals: vec![lines(2), lines(5)],
            end: ["complete".into(), "succeeded".into(), REPORTED.join("\n")],
            replayed: Some(0),
            prompts: vec![parts.into_iter().map(Into::into).collect()],
            seen: ProjectState {
                commits: COMMITS.map(Into::into).into(),
                uncommitted: String::new(),
                unlike: Vec::new(),
                tested: (TESTS + 1, TESTS),
            },
        }
    }

    /// Checks that a change in which one thing is spoilt is complained about so.
    fn check(spoil: impl FnOnce(&mut FinishedChange), words: &str) {
        let mut done = done();
        spoil(&mut done);
        let said = complaints(Kills::Twice, &done).join("\n");
        assert!(said.contains(words), "{words}: {said}");
    }

    #[test]
    fn a_change_that_went_well_is_fine() {
        assert_eq!(complaints(Kills::Twice, &done()), Vec::<String>::new());
    }

    #[test]
    fn every_fault_is_named() {
        check(|it| it.end[1] = "failed".into(), "(failed)");
        check(|it| it.end[2].clear(), "the report does not say `Phase 1");
        check(|it| it.replayed = Some(9), "cannot be replayed");
        check(|it| it.journals = vec![lines(5), lines(2)], "5 entries are not those");
        check(|it| it.seen.commits.insert(0, "Add the average".into()), "the commits are");
        check(|it| it.seen.uncommitted = " M prices.py".into(), "not committed");
        check(|it| it.seen.unlike = vec!["prices.py".into()], "prices.py is not");
        check(|it| it.seen.tested = (TESTS + 1, TESTS + 1), "ended 5 times");
        check(|it| it.kills = 1, "killed 1 times");
        check(|it| it.asked.push("git {}".into()), "asked 2 times about git");
        check(|it| it.asked.truncate(3), "asked 0 times about the tests");
        check(|it| drop(it.asked.remove(0)), "nobody was asked about `propose_plan`");
        check(|it| drop(it.prompts[0].remove(4)), "not told why it may not");
    }
}

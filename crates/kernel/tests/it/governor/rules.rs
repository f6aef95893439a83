//! The named rules over calls and results: silent one below the threshold, and at it
//! a verdict that says what was seen, where, and what to do instead.

use pointsman_kernel::governor::{Level::Halt, Level::Warn, Rule};

use super::governed::{GovernedRun, assert_ruled, changed, chart, no, ok, parallel, said};

#[test]
fn the_same_call_in_a_row() {
    for limit in 2..=4 {
        let chart = chart(&format!("identical_call = {limit}"));
        let mut governed = GovernedRun::new(&chart);
        for _ in 1..limit {
            governed.quiet("read", r#"{"path":"a"}"#, ok("same"));
        }
        let verdicts = governed.turn("", &[("read", r#"{"path":"a"}"#)]);
        let entries: Vec<u64> = (1..=limit).map(|round| 2 * round).collect();
        assert_ruled(&verdicts, Halt, Rule::IdenticalCall, &entries);
        assert_eq!((governed.state(), governed.data().advised), ("thinking", 1));
        governed.replays();
    }
}

#[test]
fn counts_restart_after_a_halt() {
    let chart = chart("identical_call = 2");
    let mut governed = GovernedRun::new(&chart);
    governed.quiet("read", r#"{"path":"a"}"#, ok("same"));
    assert_ruled(
        &governed.round("read", r#"{"path":"a"}"#, ok("same")),
        Halt,
        Rule::IdenticalCall,
        &[2, 4],
    );
    governed.quiet("read", r#"{"path":"a"}"#, ok("same"));
}

#[test]
fn evidence_starts_at_the_first_unchanged_result() {
    let chart = chart("identical_call = 3");
    let mut governed = GovernedRun::new(&chart);
    governed.quiet("read", r#"{"path":"a"}"#, ok("one"));
    governed.quiet("read", r#"{"path":"a"}"#, ok("two"));
    governed.quiet("read", r#"{"path":"a"}"#, ok("two"));
    let verdicts = governed.round("read", r#"{"path":"a"}"#, ok("two"));
    assert_ruled(&verdicts, Halt, Rule::IdenticalCall, &[4, 6, 8]);
}

#[test]
fn the_same_query_in_a_row() {
    let chart = chart("identical_query = 2");
    let mut governed = GovernedRun::new(&chart);
    governed.quiet("search", r#"{"q":"The Parser"}"#, ok("nothing"));
    governed.quiet("read", r#"{"path":"a"}"#, ok("a file"));
    governed.quiet("search", r#"{"q":"the lexer"}"#, ok("nothing"));
    let verdicts = governed.round("search", r#"{"q":" the  LEXER "}"#, ok("nothing"));
    assert_ruled(&verdicts, Halt, Rule::IdenticalQuery, &[6, 8]);
    governed.replays();
}

#[test]
fn query_with_other_page_tool_or_change_is_new() {
    let chart = chart("identical_query = 2");
    let mut governed = GovernedRun::new(&chart);
    governed.quiet("search", r#"{"q":"parser","page":1}"#, ok("one"));
    governed.quiet("search", r#"{"q":"parser","page":2}"#, ok("two"));
    governed.quiet("edit", r#"{"path":"a","text":"parser"}"#, changed("done"));
    governed.quiet("search", r#"{"page":2,"q":"Parser"}"#, ok("three"));
    let verdicts = governed.turn("", &[("search", r#"{"q":"PARSER","page":2}"#)]);
    assert_ruled(&verdicts, Halt, Rule::IdenticalQuery, &[8, 10]);
}

#[test]
fn the_same_error_from_the_same_target() {
    for limit in 2..=3 {
        let chart = chart(&format!("same_error = {limit}"));
        let mut governed = GovernedRun::new(&chart);
        let arguments = |round| format!(r#"{{"path":"a","line":{round}}}"#);
        for round in 1..limit {
            governed.quiet("read", &arguments(round), no("denied at 10:00:00"));
            // Another error, another target and a success elsewhere are not counted.
            governed.quiet("read", r#"{"path":"b"}"#, no(&format!("other {round}")));
            governed.quiet("shell", &format!(r#"{{"command":"ls {round}"}}"#), ok("files"));
        }
        let verdicts = governed.round("read", &arguments(limit), no("denied at 11:11:11"));
        let entries: Vec<u64> = (0..limit).map(|round| 6 * round + 3).collect();
        assert_ruled(&verdicts, Halt, Rule::SameError, &entries);
        assert_eq!(governed.state(), "thinking");
        governed.replays();
    }
}

#[test]
fn a_success_at_the_target_ends_a_row_of_errors() {
    let chart = chart("same_error = 2");
    let mut governed = GovernedRun::new(&chart);
    governed.quiet("read", r#"{"path":"a","line":1}"#, no("denied"));
    governed.quiet("read", r#"{"path":"a","line":2}"#, ok("fine"));
    governed.quiet("read", r#"{"path":"a","line":3}"#, no("denied"));
    let verdicts = governed.round("read", r#"{"path":"a","line":4}"#, no("denied"));
    assert_ruled(&verdicts, Halt, Rule::SameError, &[7, 9]);
}

#[test]
fn failing_tool_is_found_with_any_arguments() {
    for limit in [2, 4] {
        let chart = chart(&format!("failing_tool = {limit}"));
        let mut governed = GovernedRun::new(&chart);
        let arguments = |round| format!(r#"{{"q":"{round}"}}"#);
        governed.quiet("search", r#"{"q":"before"}"#, no("401"));
        governed.quiet("search", r#"{"q":"well"}"#, ok("found"));
        for round in 1..limit {
            governed.quiet("search", &arguments(round), no("401 no token"));
            governed.quiet("read", &format!(r#"{{"path":"{round}"}}"#), ok("a file"));
        }
        let verdicts = governed.round("search", &arguments(limit), no("401 no token"));
        let entries: Vec<u64> = (0..limit).map(|round| 4 * round + 7).collect();
        assert_ruled(&verdicts, Halt, Rule::FailingTool, &entries);
        governed.replays();
    }
}

#[test]
fn two_results_in_turn() {
    let chart = chart("oscillation = 4");
    let mut governed = GovernedRun::new(&chart);
    governed.quiet("read", r#"{"path":"first"}"#, ok("x"));
    for text in ["one", "two", "one"] {
        governed.quiet("edit", &format!(r#"{{"path":"a","text":"{text}"}}"#), changed("done"));
    }
    let redo = r#"{"path":"a","text":"two"}"#;
    assert_ruled(
        &governed.round("edit", redo, changed("done")),
        Halt,
        Rule::Oscillation,
        &[5, 7, 9, 11],
    );
    // Settling for one of the two is what was advised.
    governed.quiet("edit", r#"{"path":"a","text":"one"}"#, changed("done"));
    governed.replays();
}

/// Changes files in words that never repeat, and returns in which round it is halted.
fn halted(rounds: &[(&str, &str)]) -> Option<usize> {
    let chart = chart("oscillation = 4");
    let mut governed = GovernedRun::new(&chart);
    let mut held = std::collections::BTreeMap::from([("f", "A"), ("g", "C")]);
    let halted = rounds.iter().zip(1..).find_map(|((path, content), at)| {
        let before = held.insert(*path, *content).unwrap_or("none");
        let output = format!("done\n[content {before} -> {content}]");
        let arguments = format!(r#"{{"path":"{path}","words":"{at}"}}"#);
        let verdicts = governed.round("edit", &arguments, changed(&output));
        // Reads in between change nothing.
        governed.round("read", &format!(r#"{{"path":"{path}","at":{at}}}"#), ok(content));
        verdicts.iter().any(|it| it.rule == Rule::Oscillation).then_some(at)
    });
    governed.replays();
    halted
}

#[test]
fn alternating_contents_are_found_in_any_calls() {
    let (a, b) = (("f", "A"), ("f", "B"));
    assert_eq!(halted(&[b, a, b, a, b]), Some(4));
    let (c, d) = (("g", "C"), ("g", "D"));
    assert_eq!(halted(&[b, d, a, c, b, d, a, c, b, d]), Some(8), "two files in turn");
}

#[test]
fn healthy_changes_of_contents() {
    let (a, b) = (("f", "A"), ("f", "B"));
    // An experiment that is undone each time, and another one that is tried then.
    assert_eq!(halted(&[a, b, a, ("f", "C"), a, ("f", "D"), a, ("f", "E")]), None);
    // A line that is added and removed again while the work continues elsewhere.
    assert_eq!(halted(&[a, b, ("g", "1"), a, ("g", "2"), b, ("g", "3"), a, ("g", "4"), b]), None);
    // A change over many files, and all of it undone.
    let files = ["f", "g", "h", "i", "j", "k"];
    let all = |content| files.map(|file| (file, content));
    assert_eq!(halted(&[all("old"), all("new"), all("old")].concat()), None);
    // Work on two files in turn.
    let work = ["1", "2", "3", "4", "5"].map(|content| [("f", content), ("g", content)]);
    assert_eq!(halted(&work.concat()), None);
}

#[test]
fn a_wider_window_needs_more_turns() {
    let chart = chart("oscillation = 6");
    let mut governed = GovernedRun::new(&chart);
    let rounds = (1..=6).map(|round| {
        let path = if round % 2 == 0 { r#"{"path":"a"}"# } else { r#"{"path":"b"}"# };
        governed.round("read", path, ok("x")).iter().any(|it| it.rule == Rule::Oscillation)
    });
    assert_eq!(rounds.collect::<Vec<_>>(), [false, false, false, false, false, true]);
}

#[test]
fn results_without_news_warn_and_do_not_halt() {
    let chart = chart("no_progress = 3");
    let mut governed = GovernedRun::new(&chart);
    for _ in 1..=2 {
        for path in ["a", "b"] {
            governed.quiet("read", &format!(r#"{{"path":"{path}"}}"#), ok("x"));
        }
    }
    let verdicts = governed.round("read", r#"{"path":"a"}"#, ok("x"));
    assert_ruled(&verdicts, Warn, Rule::NoProgress, &[7, 9, 11]);
    governed.replays();
}

#[test]
fn ten_old_results_in_a_row_are_too_many() {
    let chart = chart("no_progress = 10");
    let mut governed = GovernedRun::new(&chart);
    let path = |at| format!(r#"{{"path":"{at}"}}"#);
    for at in 0..10 {
        governed.quiet("read", &path(at), ok("x"));
    }
    let told = |governed: &mut GovernedRun<'_>, at| {
        let verdicts = governed.round("read", &path(at), ok("x"));
        verdicts.into_iter().filter(|it| it.rule == Rule::NoProgress).collect::<Vec<_>>()
    };
    for at in 0..9 {
        assert!(told(&mut governed, at).is_empty());
    }
    assert_ruled(&told(&mut governed, 9), Warn, Rule::NoProgress, &[35, 37, 39, 41]);
    governed.replays();
}

#[test]
fn new_result_resets_the_count_of_old_ones() {
    let chart = chart("no_progress = 2");
    let mut governed = GovernedRun::new(&chart);
    for path in ["a", "a", "b", "b", "c", "c"] {
        governed.quiet("read", &format!(r#"{{"path":"{path}"}}"#), ok("x"));
    }
}

#[test]
fn a_fan_out_counts_each_call_and_a_halt_leaves_the_state() {
    let chart = parallel("identical_call = 3");
    let mut governed = GovernedRun::new(&chart);
    let same = ("read", r#"{"path":"a"}"#);
    let verdicts = governed.turn("", &[same, same, same]);
    assert_ruled(&verdicts, Halt, Rule::IdenticalCall, &[2]);
    assert_eq!(governed.state(), "thinking");
    governed.replays();
}

#[test]
fn disabled_governor_only_checks_permissions() {
    let chart = chart("enable = false\nidentical_call = 2\nsame_error = 2\nunparsable = 1");
    let mut governed = GovernedRun::new(&chart);
    for _ in 0..20 {
        governed.quiet("read", r#"{"path":"a"}"#, no("denied"));
        assert_eq!(said(&governed.turn("???", &[])), []);
    }
    governed.replays();
}

//! Loops that must be found, with the score alone unless a rule is named.

use pointsman_kernel::{
    agent::{Answer, ToolResult},
    governor::{
        Level::{self, Halt, Refuse, Warn},
        Rule, Verdict,
    },
};

use super::governed::{GovernedRun, assert_ruled, changed, chart, no, ok};

/// Plays rounds until the governor is this strict, and returns in which round it was.
fn found(
    level: Level,
    mut round: impl FnMut(&mut GovernedRun<'_>, u64) -> Vec<Verdict>,
) -> Option<u64> {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    let at = (1..=60).find(|at| round(&mut governed, *at).iter().any(|it| it.level >= level));
    governed.replays();
    at
}

/// Checks in which rounds a loop is warned of, refused and halted.
#[track_caller]
fn assert_found(rungs: [u64; 3], round: fn(&mut GovernedRun<'_>, u64) -> Vec<Verdict>) {
    assert_eq!([Warn, Refuse, Halt].map(|level| found(level, round)), rungs.map(Some));
}

fn read(governed: &mut GovernedRun<'_>, path: u64) -> Vec<Verdict> {
    governed.round("read", &format!(r#"{{"path":"{path}"}}"#), ok("as ever"))
}

#[test]
fn the_very_same_call() {
    assert_found([4, 5, 8], |governed, _| read(governed, 0));
    // The same for a shell, and for an undeclared tool.
    assert_found([4, 5, 8], |governed, _| {
        governed.round("shell", r#"{"command":"make"}"#, ok("done"))
    });
    assert_found([4, 5, 8], |governed, _| governed.round("fetch", r#"{"url":"x"}"#, ok("done")));
}

#[test]
fn cycles() {
    assert_found([6, 7, 10], |governed, at| read(governed, at % 2));
    assert_found([8, 9, 12], |governed, at| read(governed, at % 3));
    assert_found([11, 13, 16], |governed, at| read(governed, at % 6));
}

#[test]
fn the_same_error_at_the_same_target() {
    // The arguments differ each time, so that no call is a repetition of another: the
    // score climbs, and halts.
    let try_line = |governed: &mut GovernedRun<'_>, at: u64| {
        let arguments = format!(r#"{{"path":"a","line":{at}}}"#);
        governed.round("edit", &arguments, no("no such line"))
    };
    assert_eq!(found(Halt, try_line), Some(8));
    // With the very same call, all rungs are climbed.
    assert_found([4, 5, 8], |governed, _| {
        governed.round("edit", r#"{"path":"a","line":1}"#, no("no such line"))
    });
}

#[test]
fn repeated_error_is_found_for_any_call() {
    let chart = chart("failing_tool = 4");
    let mut governed = GovernedRun::new(&chart);
    for at in 1..=3 {
        governed.quiet("search", &format!(r#"{{"q":"{at}"}}"#), no("401: the token has expired"));
    }
    let verdicts = governed.round("search", r#"{"q":"4"}"#, no("401: the token has expired"));
    assert_ruled(&verdicts, Halt, Rule::FailingTool, &[3, 5, 7, 9]);
}

#[test]
fn the_same_edit_while_the_file_grows() {
    assert_found([4, 5, 8], |governed, at| {
        let grown = format!("now {} lines", 100 + at);
        governed.round("edit", r#"{"path":"a","insert":"import os"}"#, changed(&grown))
    });
}

#[test]
fn changes_that_take_turns() {
    // Each of them works, and the second undoes the first.
    assert_found([6, 7, 10], |governed, at| {
        let text = format!(r#"{{"path":"a","text":"{}"}}"#, at % 2);
        governed.round("edit", &text, changed("done"))
    });
    assert_found([6, 7, 10], |governed, at| {
        let command = ["git stash", "git stash pop"][usize::try_from(at % 2).unwrap()];
        governed.round("shell", &format!(r#"{{"command":"{command}"}}"#), changed("done"))
    });
}

#[test]
fn times_in_the_output() {
    assert_found([4, 5, 8], |governed, at| {
        let output = format!(
            "2026-11-15T10:{at:02}:00Z 3 failed in 0.{at}3s (run {:08x}-e89b-12d3-a456-426614174000)",
            0x00a1_0000 + at
        );
        governed.round("shell", r#"{"command":"cargo test"}"#, no(&output))
    });
}

#[test]
fn keys_in_another_order() {
    assert_found([4, 5, 8], |governed, at| {
        let arguments = match at % 3 {
            0 => r#"{"path":"a","from":1,"to":{"line":2,"column":3}}"#,
            1 => r#"{"to":{"column":3,"line":2},"from":1,"path":"a"}"#,
            _ => "{ \"from\" : 1,\n\"to\" : { \"line\" : 2, \"column\" : 3 }, \"path\" : \"a\" }",
        };
        governed.round("read", arguments, ok("x"))
    });
}

#[test]
fn other_ids_and_new_thoughts() {
    // Ids are new in every round of these tests; here the thoughts are, too.
    assert_found([4, 5, 8], |governed, at| {
        let thought = format!("Perhaps it is there by now, {at}.");
        let mut verdicts = governed.turn(&thought, &[("read", r#"{"path":"a"}"#)]);
        if governed.state() == "acting" {
            verdicts.extend(governed.answer(Answer::Tool(ok("x"))));
        }
        verdicts
    });
}

#[test]
fn two_in_turn_with_something_new_between() {
    let refused =
        found(Refuse, |governed, at| read(governed, if at % 3 == 0 { 100 + at } else { at % 3 }));
    assert!(refused.is_some_and(|at| at <= 16), "{refused:?}");
    // It is never halted by the score: something is learnt all the time.
}

#[test]
fn repeated_warning_starts_at_the_next_level() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    let again = |governed: &mut GovernedRun<'_>| governed.turn("", &[("read", r#"{"path":"a"}"#)]);
    let seen = |governed: &mut GovernedRun<'_>| governed.answer(Answer::Tool(ok("x")));
    for _ in 0..3 {
        assert!(again(&mut governed).is_empty() && seen(&mut governed).is_empty());
    }
    assert_ruled(&again(&mut governed), Warn, Rule::NothingNew, &[3, 5, 7]);
    seen(&mut governed);
    // Some good work clears the score, not the memory.
    for at in 0..10 {
        governed.quiet("edit", &format!(r#"{{"path":"{at}"}}"#), changed("done"));
    }
    // After a change it may be worth another look, but not two.
    for _ in 0..2 {
        assert!(again(&mut governed).is_empty() && seen(&mut governed).is_empty());
    }
    assert_ruled(&again(&mut governed), Refuse, Rule::NothingNew, &[31, 33]);
    governed.replays();
}

#[test]
fn person_clears_the_score_but_not_the_warnings() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    let levels = |governed: &mut GovernedRun<'_>, rounds| {
        let level =
            |_| governed.round("read", r#"{"path":"a"}"#, ok("x")).first().map(|it| it.level);
        (0..rounds).map(level).collect::<Vec<_>>()
    };
    assert_eq!(levels(&mut governed, 4), [None, None, None, Some(Warn)]);
    governed.person();
    assert_eq!(levels(&mut governed, 3), [None, None, Some(Refuse)]);
}

#[test]
fn calls_side_by_side_are_judged_each() {
    let chart = super::governed::parallel("");
    let mut governed = GovernedRun::new(&chart);
    let twins = [("read", r#"{"path":"a"}"#), ("read", r#"{"path":"b"}"#)];
    let mut levels = Vec::new();
    for _ in 0..8 {
        levels.extend(governed.turn("", &twins).iter().map(|verdict| verdict.level));
        while governed.state() == "acting" {
            let result: ToolResult = ok("x");
            governed.answer(Answer::Tool(result));
        }
    }
    // Both occur for the third time before the next turn: there is no time to warn.
    assert_eq!(levels[..2], [Refuse, Refuse]);
    assert!(levels.contains(&Halt), "{levels:?}");
    governed.replays();
}

#[test]
fn a_foreign_loop_is_watched_in_the_same_way() {
    use pointsman_kernel::{agent::Reply, chart::StuckThresholds, governor::GovernorMonitor};

    use super::{governed::call, tool_caller::tools};

    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    let mut watch = GovernorMonitor::new(StuckThresholds::default(), tools());
    for at in 0..40 {
        let arguments = format!(r#"{{"path":"{}"}}"#, at % 3);
        let (proposed, result) = (call("", "read", &arguments), ok("as ever"));
        let mut verdicts: Vec<Verdict> = watch.propose(&proposed).into_iter().collect();
        if verdicts.iter().all(|verdict| verdict.level < Refuse) {
            verdicts.extend(watch.observe(&proposed, &result));
        }
        let levels = |verdicts: &[Verdict]| {
            verdicts.iter().map(|it| (it.level, it.rule, it.reason.clone())).collect::<Vec<_>>()
        };
        assert_eq!(levels(&verdicts), levels(&governed.round("read", &arguments, result)));
        if at == 20 {
            watch.person();
            governed.person();
        }
    }
    let mut watch = GovernorMonitor::new(
        StuckThresholds { unparsable: Some(2), ..StuckThresholds::default() },
        Vec::new(),
    );
    assert!(watch.observe_reply(&Reply::default(), false).is_none());
    let verdict = watch.observe_reply(&Reply::default(), false);
    assert_ruled(verdict.as_slice(), Halt, Rule::Unparsable, &[1, 2]);
}

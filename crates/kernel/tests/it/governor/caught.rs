//! Loops that must be found, with the score alone unless a rule is named.

use pointsman_kernel::{
    agent::{Answer, ToolResult},
    governor::{
        Level::{self, Halt, Refuse, Warn},
        Rule, Verdict,
    },
};

use super::desk::{Desk, assert_ruled, changed, chart, no, ok};

/// Plays rounds until the governor is this strict, and returns in which round it was.
fn found(level: Level, mut round: impl FnMut(&mut Desk<'_>, u64) -> Vec<Verdict>) -> Option<u64> {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    let at = (1..=60).find(|at| round(&mut desk, *at).iter().any(|it| it.level >= level));
    desk.replays();
    at
}

/// Checks in which rounds a loop is warned of, refused and halted.
#[track_caller]
fn assert_found(rungs: [u64; 3], round: fn(&mut Desk<'_>, u64) -> Vec<Verdict>) {
    assert_eq!([Warn, Refuse, Halt].map(|level| found(level, round)), rungs.map(Some));
}

fn read(desk: &mut Desk<'_>, path: u64) -> Vec<Verdict> {
    desk.round("read", &format!(r#"{{"path":"{path}"}}"#), ok("as ever"))
}

#[test]
fn the_very_same_call() {
    assert_found([4, 5, 8], |desk, _| read(desk, 0));
    // The same of a shell, and of a tool that nobody declared.
    assert_found([4, 5, 8], |desk, _| desk.round("shell", r#"{"command":"make"}"#, ok("done")));
    assert_found([4, 5, 8], |desk, _| desk.round("fetch", r#"{"url":"x"}"#, ok("done")));
}

#[test]
fn cycles() {
    assert_found([6, 7, 10], |desk, at| read(desk, at % 2));
    assert_found([8, 9, 12], |desk, at| read(desk, at % 3));
    assert_found([11, 13, 16], |desk, at| read(desk, at % 6));
}

#[test]
fn the_same_error_at_the_same_target() {
    // The arguments differ each time, so that no call is a repetition of another: the
    // score climbs, and halts.
    let try_line = |desk: &mut Desk<'_>, at: u64| {
        let arguments = format!(r#"{{"path":"a","line":{at}}}"#);
        desk.round("edit", &arguments, no("no such line"))
    };
    assert_eq!(found(Halt, try_line), Some(8));
    // With the very same call, all rungs are climbed.
    assert_found([4, 5, 8], |desk, _| {
        desk.round("edit", r#"{"path":"a","line":1}"#, no("no such line"))
    });
}

#[test]
fn the_same_error_whatever_is_asked() {
    let chart = chart("failing_tool = 4");
    let mut desk = Desk::new(&chart);
    for at in 1..=3 {
        desk.quiet("search", &format!(r#"{{"q":"{at}"}}"#), no("401: the token has expired"));
    }
    let verdicts = desk.round("search", r#"{"q":"4"}"#, no("401: the token has expired"));
    assert_ruled(&verdicts, Halt, Rule::FailingTool, &[3, 5, 7, 9]);
}

#[test]
fn the_same_edit_while_the_file_grows() {
    assert_found([4, 5, 8], |desk, at| {
        let grown = format!("now {} lines", 100 + at);
        desk.round("edit", r#"{"path":"a","insert":"import os"}"#, changed(&grown))
    });
}

#[test]
fn changes_that_take_turns() {
    // Each of them works, and the second undoes the first.
    assert_found([6, 7, 10], |desk, at| {
        let text = format!(r#"{{"path":"a","text":"{}"}}"#, at % 2);
        desk.round("edit", &text, changed("done"))
    });
    assert_found([6, 7, 10], |desk, at| {
        let command = ["git stash", "git stash pop"][usize::try_from(at % 2).unwrap()];
        desk.round("shell", &format!(r#"{{"command":"{command}"}}"#), changed("done"))
    });
}

#[test]
fn times_in_the_output() {
    assert_found([4, 5, 8], |desk, at| {
        let output = format!(
            "2026-11-15T10:{at:02}:00Z 3 failed in 0.{at}3s (run {:08x}-e89b-12d3-a456-426614174000)",
            0x00a1_0000 + at
        );
        desk.round("shell", r#"{"command":"cargo test"}"#, no(&output))
    });
}

#[test]
fn keys_in_another_order() {
    assert_found([4, 5, 8], |desk, at| {
        let arguments = match at % 3 {
            0 => r#"{"path":"a","from":1,"to":{"line":2,"column":3}}"#,
            1 => r#"{"to":{"column":3,"line":2},"from":1,"path":"a"}"#,
            _ => "{ \"from\" : 1,\n\"to\" : { \"line\" : 2, \"column\" : 3 }, \"path\" : \"a\" }",
        };
        desk.round("read", arguments, ok("x"))
    });
}

#[test]
fn other_ids_and_new_thoughts() {
    // Ids are new in every round of these tests; here the thoughts are, too.
    assert_found([4, 5, 8], |desk, at| {
        let thought = format!("Perhaps it is there by now, {at}.");
        let mut verdicts = desk.turn(&thought, &[("read", r#"{"path":"a"}"#)]);
        if desk.state() == "acting" {
            verdicts.extend(desk.answer(Answer::Tool(ok("x"))));
        }
        verdicts
    });
}

#[test]
fn two_in_turn_with_something_new_between() {
    let refused = found(Refuse, |desk, at| read(desk, if at % 3 == 0 { 100 + at } else { at % 3 }));
    assert!(refused.is_some_and(|at| at <= 16), "{refused:?}");
    // It is never halted by the score: something is learnt all the time.
}

#[test]
fn what_was_warned_of_comes_back_at_the_next_rung() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    let again = |desk: &mut Desk<'_>| desk.turn("", &[("read", r#"{"path":"a"}"#)]);
    let seen = |desk: &mut Desk<'_>| desk.answer(Answer::Tool(ok("x")));
    for _ in 0..3 {
        assert!(again(&mut desk).is_empty() && seen(&mut desk).is_empty());
    }
    assert_ruled(&again(&mut desk), Warn, Rule::NothingNew, &[3, 5, 7]);
    seen(&mut desk);
    // Some good work clears the score, not the memory.
    for at in 0..10 {
        desk.quiet("edit", &format!(r#"{{"path":"{at}"}}"#), changed("done"));
    }
    // After a change it may be worth another look, but not two.
    for _ in 0..2 {
        assert!(again(&mut desk).is_empty() && seen(&mut desk).is_empty());
    }
    assert_ruled(&again(&mut desk), Refuse, Rule::NothingNew, &[31, 33]);
    desk.replays();
}

#[test]
fn a_person_clears_the_score_and_not_what_was_warned_of() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    let levels = |desk: &mut Desk<'_>, rounds| {
        let level = |_| desk.round("read", r#"{"path":"a"}"#, ok("x")).first().map(|it| it.level);
        (0..rounds).map(level).collect::<Vec<_>>()
    };
    assert_eq!(levels(&mut desk, 4), [None, None, None, Some(Warn)]);
    desk.person();
    assert_eq!(levels(&mut desk, 3), [None, None, Some(Refuse)]);
}

#[test]
fn calls_side_by_side_are_judged_each() {
    let chart = super::desk::parallel("");
    let mut desk = Desk::new(&chart);
    let twins = [("read", r#"{"path":"a"}"#), ("read", r#"{"path":"b"}"#)];
    let mut levels = Vec::new();
    for _ in 0..8 {
        levels.extend(desk.turn("", &twins).iter().map(|verdict| verdict.level));
        while desk.state() == "acting" {
            let result: ToolResult = ok("x");
            desk.answer(Answer::Tool(result));
        }
    }
    // Both come for the third time before the next turn: there is no time to warn.
    assert_eq!(levels[..2], [Refuse, Refuse]);
    assert!(levels.contains(&Halt), "{levels:?}");
    desk.replays();
}

#[test]
fn a_foreign_loop_is_watched_in_the_same_way() {
    use pointsman_kernel::{agent::Reply, chart::StuckThresholds, governor::GovernorMonitor};

    use super::{clerk::tools, desk::call};

    let chart = chart("");
    let mut desk = Desk::new(&chart);
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
        assert_eq!(levels(&verdicts), levels(&desk.round("read", &arguments, result)));
        if at == 20 {
            watch.person();
            desk.person();
        }
    }
    let mut watch = GovernorMonitor::new(
        StuckThresholds { unparsable: Some(2), ..StuckThresholds::default() },
        Vec::new(),
    );
    assert!(watch.hear(&Reply::default(), false).is_none());
    let verdict = watch.hear(&Reply::default(), false);
    assert_ruled(verdict.as_slice(), Halt, Rule::Unparsable, &[1, 2]);
}

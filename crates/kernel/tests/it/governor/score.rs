//! The score: what raises it, what lowers it, and its three rungs.

use pointsman_kernel::{
    chart::Disposition,
    governor::{
        Level::{self, Halt, Refuse, Warn},
        Rule,
    },
};

use super::governed::{GovernedRun, assert_ruled, changed, chart, no, ok, parallel, said};

fn path(at: impl std::fmt::Display) -> String {
    format!(r#"{{"path":"{at}"}}"#)
}

/// Reads this many files, each for the first time.
fn read_all(governed: &mut GovernedRun<'_>, files: u64) {
    for at in 0..files {
        governed.quiet("read", &path(at), ok("x"));
    }
}

#[test]
fn at_three_it_is_silent_and_at_four_it_warns() {
    let chart = chart("");
    for revisited in 3..=4 {
        let mut governed = GovernedRun::new(&chart);
        read_all(&mut governed, 4);
        for at in 0..revisited {
            governed.quiet("read", &path(at), ok("x"));
        }
        let verdicts = governed.turn("", &[("read", &path(0))]);
        if revisited == 3 {
            assert!(verdicts.is_empty(), "{verdicts:?}");
        } else {
            assert_ruled(&verdicts, Warn, Rule::NothingNew, &[3, 11]);
        }
        // A warning stops nothing.
        assert_eq!(governed.state(), "acting");
        governed.replays();
    }
}

#[test]
fn at_five_it_warns_and_at_six_it_refuses() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    read_all(&mut governed, 3);
    for at in 0..3 {
        governed.quiet("read", &path(at), ok("x"));
    }
    // The third time counts two, so this makes five.
    governed.quiet("read", &path(0), ok("x"));
    let verdicts = governed.round("read", &path(0), ok("x"));
    assert_ruled(&verdicts, Warn, Rule::NothingNew, &[3, 9, 15]);
    assert_eq!(governed.state(), "thinking");

    let mut governed = GovernedRun::new(&chart);
    for _ in 0..3 {
        governed.quiet("read", &path(0), ok("x"));
    }
    assert_ruled(&governed.round("read", &path(0), ok("x")), Warn, Rule::NothingNew, &[3, 5, 7]);
    let verdicts = governed.turn("", &[("read", &path(0))]);
    assert_ruled(&verdicts, Refuse, Rule::NothingNew, &[3, 5, 7, 9]);
    assert_eq!(governed.state(), "thinking");
    assert!(governed.data().forgone[0].1.starts_with("stuck"), "{:?}", governed.data());
    governed.replays();
}

#[test]
fn at_eleven_it_refuses_and_at_twelve_it_halts() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    read_all(&mut governed, 10);
    // Four, then the warned one takes it to six, and the rest to eleven.
    let levels: Vec<_> =
        (0..10).map(|at| said(&governed.round("read", &path(at), ok("x")))).collect();
    let warned = vec![(Warn, Rule::NothingNew)];
    assert!(levels[..4].iter().all(Vec::is_empty) && levels[4..].iter().all(|it| *it == warned));
    assert_ruled(&governed.turn("", &[("read", &path(0))]), Refuse, Rule::NothingNew, &[3, 23]);
    assert_ruled(&governed.turn("", &[("read", &path(1))]), Halt, Rule::NothingNew, &[5, 25]);
    governed.replays();
}

#[test]
fn a_refused_call_that_comes_again_climbs_to_the_halt() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    let levels: Vec<Option<Level>> = (1..=9)
        .map(|_| governed.round("read", &path("a"), ok("x")).last().map(|verdict| verdict.level))
        .collect();
    let (warn, refuse, halt) = (Some(Warn), Some(Refuse), Some(Halt));
    assert_eq!(levels, [None, None, None, warn, refuse, refuse, refuse, halt, halt]);
    // A refusal alone is not a halt, but now it was one.
    governed.turn("done", &[]);
    assert_eq!(governed.recorder.run().core.ended, Some(Disposition::Stuck));
    governed.replays();
}

#[test]
fn refusing_a_call_refuses_no_other() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    for _ in 0..5 {
        governed.round("read", &path("a"), ok("x"));
    }
    assert_eq!(governed.ruled.last().map(|(_, verdict)| verdict.level), Some(Refuse));
    governed.quiet("read", &path("b"), ok("y"));
    governed.quiet("edit", &path("c"), changed("done"));
    governed.turn("done", &[]);
    assert_eq!(governed.recorder.run().core.ended, Some(Disposition::Succeeded));
}

#[test]
fn in_a_fan_out_a_refused_call_is_an_items_result() {
    let chart = parallel("");
    let mut governed = GovernedRun::new(&chart);
    for _ in 0..4 {
        governed.round("read", &path("a"), ok("x"));
    }
    let verdicts = governed.turn("", &[("read", &path("a")), ("read", &path("b"))]);
    assert_ruled(&verdicts, Refuse, Rule::NothingNew, &[3, 5, 7, 9]);
    assert_eq!(governed.state(), "acting");
    governed.answer(pointsman_kernel::agent::Answer::Tool(ok("y")));
    assert_eq!(governed.state(), "thinking");
    let data = governed.data();
    assert_eq!((data.settled, data.forgone.len(), data.forgone[0].0), (1, 1, 0));
    governed.replays();
}

#[test]
fn something_new_takes_one_away_and_a_change_all() {
    let chart = chart("");
    // After three of the same it stands at four; what comes next is warned, but for
    // what lies between.
    let warned = |between: fn(&mut GovernedRun<'_>)| {
        let mut governed = GovernedRun::new(&chart);
        for _ in 0..3 {
            governed.quiet("read", &path("a"), ok("x"));
        }
        between(&mut governed);
        !governed.turn("", &[("read", &path("a"))]).is_empty()
    };
    assert!(warned(|_| {}));
    assert!(!warned(|governed| governed.quiet("read", &path("b"), ok("y"))));
    assert!(!warned(|governed| governed.quiet("edit", &path("b"), changed("done"))));
    assert!(!warned(|governed| governed.quiet("shell", r#"{"command":"mv a b"}"#, changed(""))));
    assert!(!warned(|governed| {
        governed.person();
        assert_eq!(governed.state(), "thinking");
    }));
    assert!(!warned(|governed| assert!(governed.turn("next phase", &[]).is_empty())));
    assert!(warned(|governed| assert!(governed.turn("only words", &[]).is_empty())));
}

#[test]
fn a_known_failure_counts_two_even_with_other_arguments() {
    let chart = chart("");
    let mut governed = GovernedRun::new(&chart);
    let arguments = |line| format!(r#"{{"path":"a","line":{line}}}"#);
    for line in 0..3 {
        governed.quiet("read", &arguments(line), no("no such file"));
    }
    // It stands at four, so coming back to any of them is warned.
    assert_ruled(&governed.turn("", &[("read", &arguments(1))]), Warn, Rule::NothingNew, &[5]);
}

#[test]
fn a_phase_is_a_fresh_start_only_where_the_chart_says_so() {
    for (stuck, quiet) in [("", true), ("reset_on_phase = false", false)] {
        let chart = chart(stuck);
        let mut governed = GovernedRun::new(&chart);
        for _ in 0..3 {
            governed.quiet("read", &path("a"), ok("x"));
        }
        governed.turn("next phase", &[]);
        assert_eq!(governed.turn("", &[("read", &path("a"))]).is_empty(), quiet);
    }
}

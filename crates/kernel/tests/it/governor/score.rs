//! The score: what raises it, what lowers it, and its three rungs.

use pointsman_kernel::{
    chart::Disposition,
    governor::{
        Level::{self, Halt, Refuse, Warn},
        Rule,
    },
};

use super::desk::{Desk, assert_ruled, changed, chart, no, ok, parallel, said};

fn path(at: impl std::fmt::Display) -> String {
    format!(r#"{{"path":"{at}"}}"#)
}

/// Reads so many files, each for the first time.
fn read_all(desk: &mut Desk<'_>, files: u64) {
    for at in 0..files {
        desk.quiet("read", &path(at), ok("x"));
    }
}

#[test]
fn at_three_it_is_silent_and_at_four_it_warns() {
    let chart = chart("");
    for revisited in 3..=4 {
        let mut desk = Desk::new(&chart);
        read_all(&mut desk, 4);
        for at in 0..revisited {
            desk.quiet("read", &path(at), ok("x"));
        }
        let verdicts = desk.turn("", &[("read", &path(0))]);
        if revisited == 3 {
            assert!(verdicts.is_empty(), "{verdicts:?}");
        } else {
            assert_ruled(&verdicts, Warn, Rule::NothingNew, &[3, 11]);
        }
        // A warning stops nothing.
        assert_eq!(desk.state(), "acting");
        desk.replays();
    }
}

#[test]
fn at_five_it_warns_and_at_six_it_refuses() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    read_all(&mut desk, 3);
    for at in 0..3 {
        desk.quiet("read", &path(at), ok("x"));
    }
    // The third time counts two, so this makes five.
    desk.quiet("read", &path(0), ok("x"));
    let verdicts = desk.round("read", &path(0), ok("x"));
    assert_ruled(&verdicts, Warn, Rule::NothingNew, &[3, 9, 15]);
    assert_eq!(desk.state(), "thinking");

    let mut desk = Desk::new(&chart);
    for _ in 0..3 {
        desk.quiet("read", &path(0), ok("x"));
    }
    assert_ruled(&desk.round("read", &path(0), ok("x")), Warn, Rule::NothingNew, &[3, 5, 7]);
    let verdicts = desk.turn("", &[("read", &path(0))]);
    assert_ruled(&verdicts, Refuse, Rule::NothingNew, &[3, 5, 7, 9]);
    assert_eq!(desk.state(), "thinking");
    assert!(desk.data().forgone[0].1.starts_with("stuck"), "{:?}", desk.data());
    desk.replays();
}

#[test]
fn at_eleven_it_refuses_and_at_twelve_it_halts() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    read_all(&mut desk, 10);
    // Four, then the warned one takes it to six, and the rest to eleven.
    let levels: Vec<_> = (0..10).map(|at| said(&desk.round("read", &path(at), ok("x")))).collect();
    let warned = vec![(Warn, Rule::NothingNew)];
    assert!(levels[..4].iter().all(Vec::is_empty) && levels[4..].iter().all(|it| *it == warned));
    assert_ruled(&desk.turn("", &[("read", &path(0))]), Refuse, Rule::NothingNew, &[3, 23]);
    assert_ruled(&desk.turn("", &[("read", &path(1))]), Halt, Rule::NothingNew, &[5, 25]);
    desk.replays();
}

#[test]
fn a_refused_call_that_comes_again_climbs_to_the_halt() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    let levels: Vec<Option<Level>> = (1..=9)
        .map(|_| desk.round("read", &path("a"), ok("x")).last().map(|verdict| verdict.level))
        .collect();
    let (warn, refuse, halt) = (Some(Warn), Some(Refuse), Some(Halt));
    assert_eq!(levels, [None, None, None, warn, refuse, refuse, refuse, halt, halt]);
    // Being refused is no halt by itself, but now it was one.
    desk.turn("done", &[]);
    assert_eq!(desk.recorder.run().core.ended, Some(Disposition::Stuck));
    desk.replays();
}

#[test]
fn refusing_a_call_refuses_no_other() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    for _ in 0..5 {
        desk.round("read", &path("a"), ok("x"));
    }
    assert_eq!(desk.ruled.last().map(|(_, verdict)| verdict.level), Some(Refuse));
    desk.quiet("read", &path("b"), ok("y"));
    desk.quiet("edit", &path("c"), changed("done"));
    desk.turn("done", &[]);
    assert_eq!(desk.recorder.run().core.ended, Some(Disposition::Succeeded));
}

#[test]
fn in_a_fan_out_a_refused_call_is_an_items_result() {
    let chart = parallel("");
    let mut desk = Desk::new(&chart);
    for _ in 0..4 {
        desk.round("read", &path("a"), ok("x"));
    }
    let verdicts = desk.turn("", &[("read", &path("a")), ("read", &path("b"))]);
    assert_ruled(&verdicts, Refuse, Rule::NothingNew, &[3, 5, 7, 9]);
    assert_eq!(desk.state(), "acting");
    desk.answer(pointsman_kernel::agent::Answer::Tool(ok("y")));
    assert_eq!(desk.state(), "thinking");
    let data = desk.data();
    assert_eq!((data.settled, data.forgone.len(), data.forgone[0].0), (1, 1, 0));
    desk.replays();
}

#[test]
fn something_new_takes_one_away_and_a_change_all() {
    let chart = chart("");
    // After three of the same it stands at four; what comes next is warned, but for
    // what lies between.
    let warned = |between: fn(&mut Desk<'_>)| {
        let mut desk = Desk::new(&chart);
        for _ in 0..3 {
            desk.quiet("read", &path("a"), ok("x"));
        }
        between(&mut desk);
        !desk.turn("", &[("read", &path("a"))]).is_empty()
    };
    assert!(warned(|_| {}));
    assert!(!warned(|desk| desk.quiet("read", &path("b"), ok("y"))));
    assert!(!warned(|desk| desk.quiet("edit", &path("b"), changed("done"))));
    assert!(!warned(|desk| desk.quiet("shell", r#"{"command":"mv a b"}"#, changed(""))));
    assert!(!warned(|desk| {
        desk.person();
        assert_eq!(desk.state(), "thinking");
    }));
    assert!(!warned(|desk| assert!(desk.turn("next phase", &[]).is_empty())));
    assert!(warned(|desk| assert!(desk.turn("only words", &[]).is_empty())));
}

#[test]
fn a_known_failure_counts_two_even_with_other_arguments() {
    let chart = chart("");
    let mut desk = Desk::new(&chart);
    let arguments = |line| format!(r#"{{"path":"a","line":{line}}}"#);
    for line in 0..3 {
        desk.quiet("read", &arguments(line), no("no such file"));
    }
    // It stands at four, so coming back to any of them is warned.
    assert_ruled(&desk.turn("", &[("read", &arguments(1))]), Warn, Rule::NothingNew, &[5]);
}

#[test]
fn a_phase_is_a_fresh_start_only_where_the_chart_says_so() {
    for (stuck, quiet) in [("", true), ("reset_on_phase = false", false)] {
        let chart = chart(stuck);
        let mut desk = Desk::new(&chart);
        for _ in 0..3 {
            desk.quiet("read", &path("a"), ok("x"));
        }
        desk.turn("next phase", &[]);
        assert_eq!(desk.turn("", &[("read", &path("a"))]).is_empty(), quiet);
    }
}

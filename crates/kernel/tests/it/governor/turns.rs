//! The named rules over a model's turns and a run's visits, at their thresholds.

use pointsman_kernel::{
    agent::FaultClass,
    chart::Disposition,
    governor::{Level::Halt, Rule},
};

use super::desk::{Desk, assert_ruled, chart, ok};

#[test]
fn many_steps_in_a_state_without_anything_new() {
    let chart = chart("steps_in_state = 5");
    let mut desk = Desk::new(&chart);
    // The first visit came with the beginning.
    for visit in 2..5 {
        let verdicts = desk.turn(&format!("thought {visit}"), &[]);
        assert!(verdicts.is_empty(), "{verdicts:?}");
    }
    assert_ruled(&desk.turn("thought 5", &[]), Halt, Rule::StepsInState, &[5]);
    assert_eq!(desk.state(), "thinking");
    desk.replays();
}

#[test]
fn something_new_starts_the_count_of_steps_anew() {
    let chart = chart("steps_in_state = 3");
    let mut desk = Desk::new(&chart);
    for round in 0..20 {
        desk.quiet("read", &format!(r#"{{"path":"{round}"}}"#), ok("x"));
        assert!(desk.turn("well", &[]).is_empty());
    }
}

#[test]
fn the_same_message_among_the_last_ones() {
    let chart = chart("duplicate_message = 3");
    let mut desk = Desk::new(&chart);
    for text in ["I shall look", "one", "two", "three"] {
        assert!(desk.turn(text, &[]).is_empty());
    }
    assert!(desk.turn("I shall look", &[]).is_empty(), "three others lie between");
    for text in ["four", "five"] {
        assert!(desk.turn(text, &[]).is_empty());
    }
    let verdicts = desk.turn("I  shall LOOK", &[]);
    assert_ruled(&verdicts, Halt, Rule::DuplicateMessage, &[6, 9]);
    desk.replays();
}

#[test]
fn the_same_words_with_a_call_are_no_message() {
    let chart = chart("duplicate_message = 5");
    let mut desk = Desk::new(&chart);
    for page in 0..20 {
        let arguments = format!(r#"{{"path":"a","page":{page}}}"#);
        assert!(desk.turn("The next page.", &[("read", &arguments)]).is_empty());
        desk.answer(pointsman_kernel::agent::Answer::Tool(ok("text")));
    }
}

#[test]
fn many_messages_without_an_action() {
    let chart = chart("monologue = 3");
    let mut desk = Desk::new(&chart);
    for text in ["one", "two"] {
        assert!(desk.turn(text, &[]).is_empty());
    }
    desk.quiet("read", r#"{"path":"a"}"#, ok("x"));
    for text in ["three", "four"] {
        assert!(desk.turn(text, &[]).is_empty());
    }
    assert_ruled(&desk.turn("five", &[]), Halt, Rule::Monologue, &[6, 7, 8]);
    // Who was told may answer.
    assert!(desk.turn("six", &[]).is_empty());
    desk.replays();
}

#[test]
fn many_turns_that_could_not_be_read() {
    let chart = chart("unparsable = 3");
    let mut desk = Desk::new(&chart);
    for text in ["???", "???", "a word", "???", "???"] {
        assert!(desk.turn(text, &[]).is_empty());
    }
    // A fault of the infrastructure is no turn at all.
    assert!(desk.fault(FaultClass::Invalid).is_empty());
    assert_ruled(&desk.turn("???", &[]), Halt, Rule::Unparsable, &[5, 6, 8]);
    assert!(desk.turn("???", &[]).is_empty());
    desk.replays();
}

#[test]
fn a_halted_run_that_learns_nothing_more_is_no_success() {
    for (learns, speaks, ended) in [
        (false, false, Disposition::Stuck),
        (true, false, Disposition::Succeeded),
        (false, true, Disposition::Succeeded),
    ] {
        let chart = chart("unparsable = 1");
        let mut desk = Desk::new(&chart);
        desk.quiet("read", r#"{"path":"a"}"#, ok("x"));
        assert_ruled(&desk.turn("???", &[]), Halt, Rule::Unparsable, &[4]);
        desk.quiet("read", r#"{"path":"a"}"#, ok("x"));
        if learns {
            desk.quiet("read", r#"{"path":"b"}"#, ok("x"));
        }
        if speaks {
            desk.person();
        }
        desk.turn("done", &[]);
        assert_eq!(desk.recorder.run().core.ended, Some(ended));
        desk.replays();
    }
}

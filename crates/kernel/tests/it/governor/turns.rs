//! The named rules over a model's turns and a run's visits, at their thresholds.

use pointsman_kernel::{
    agent::FaultClass,
    chart::Disposition,
    governor::{Level::Halt, Rule},
};

use super::governed::{GovernedRun, assert_ruled, chart, ok};

#[test]
fn many_steps_in_a_state_without_anything_new() {
    let chart = chart("steps_in_state = 5");
    let mut governed = GovernedRun::new(&chart);
    // The first visit came with the beginning.
    for visit in 2..5 {
        let verdicts = governed.turn(&format!("thought {visit}"), &[]);
        assert!(verdicts.is_empty(), "{verdicts:?}");
    }
    assert_ruled(&governed.turn("thought 5", &[]), Halt, Rule::StepsInState, &[5]);
    assert_eq!(governed.state(), "thinking");
    governed.replays();
}

#[test]
fn new_information_resets_the_step_count() {
    let chart = chart("steps_in_state = 3");
    let mut governed = GovernedRun::new(&chart);
    for round in 0..20 {
        governed.quiet("read", &format!(r#"{{"path":"{round}"}}"#), ok("x"));
        assert!(governed.turn("well", &[]).is_empty());
    }
}

#[test]
fn the_same_message_among_the_last_ones() {
    let chart = chart("duplicate_message = 3");
    let mut governed = GovernedRun::new(&chart);
    for text in ["I shall look", "one", "two", "three"] {
        assert!(governed.turn(text, &[]).is_empty());
    }
    assert!(governed.turn("I shall look", &[]).is_empty(), "three others lie between");
    for text in ["four", "five"] {
        assert!(governed.turn(text, &[]).is_empty());
    }
    let verdicts = governed.turn("I  shall LOOK", &[]);
    assert_ruled(&verdicts, Halt, Rule::DuplicateMessage, &[6, 9]);
    governed.replays();
}

#[test]
fn same_text_with_a_call_is_not_a_message() {
    let chart = chart("duplicate_message = 5");
    let mut governed = GovernedRun::new(&chart);
    for page in 0..20 {
        let arguments = format!(r#"{{"path":"a","page":{page}}}"#);
        assert!(governed.turn("The next page.", &[("read", &arguments)]).is_empty());
        governed.answer(pointsman_kernel::agent::Answer::Tool(ok("text")));
    }
}

#[test]
fn many_messages_without_an_action() {
    let chart = chart("monologue = 3");
    let mut governed = GovernedRun::new(&chart);
    for text in ["one", "two"] {
        assert!(governed.turn(text, &[]).is_empty());
    }
    governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
    for text in ["three", "four"] {
        assert!(governed.turn(text, &[]).is_empty());
    }
    assert_ruled(&governed.turn("five", &[]), Halt, Rule::Monologue, &[6, 7, 8]);
    // A warned model may answer.
    assert!(governed.turn("six", &[]).is_empty());
    governed.replays();
}

#[test]
fn many_turns_that_could_not_be_read() {
    let chart = chart("unparsable = 3");
    let mut governed = GovernedRun::new(&chart);
    for text in ["???", "???", "a word", "???", "???"] {
        assert!(governed.turn(text, &[]).is_empty());
    }
    // A fault of the infrastructure does not count as a turn.
    assert!(governed.fault(FaultClass::Invalid).is_empty());
    assert_ruled(&governed.turn("???", &[]), Halt, Rule::Unparsable, &[5, 6, 8]);
    assert!(governed.turn("???", &[]).is_empty());
    governed.replays();
}

#[test]
fn halted_run_without_news_is_stuck() {
    for (learns, speaks, ended) in [
        (false, false, Disposition::Stuck),
        (true, false, Disposition::Succeeded),
        (false, true, Disposition::Succeeded),
    ] {
        let chart = chart("unparsable = 1");
        let mut governed = GovernedRun::new(&chart);
        governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
        assert_ruled(&governed.turn("???", &[]), Halt, Rule::Unparsable, &[4]);
        governed.quiet("read", r#"{"path":"a"}"#, ok("x"));
        if learns {
            governed.quiet("read", r#"{"path":"b"}"#, ok("x"));
        }
        if speaks {
            governed.person();
        }
        governed.turn("done", &[]);
        assert_eq!(governed.recorder.run().core.ended, Some(ended));
        governed.replays();
    }
}

//! What a run refuses and ignores: nothing of it changes anything.

use pointsman_kernel::{
    Rejected,
    effect::StepOutput,
    event::{Event, Observed},
    id::{At, Seq},
    run::Run,
    step,
};

use crate::{
    scripted::{ScriptedRun, begun, chart, check},
    scripted_agent::ScriptedAgent,
};

const WORK: &str = r#"
[state.work]
run = "run2"
timeout = "100ms"
on.a = "next"
on.b = "end"
on.failed = "bad"
[state.next]
run = "think"
timeout = "100ms"
on.a = "idle"
on.b = "end"
on.failed = "bad"
[state.idle]
await = ["go", "stop"]
on.go = "end"
on.stop = "bad"
"#;

#[test]
fn late_and_duplicate_answers_are_ignored() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 a => work -a-> next; start 2.0 Model; 0: settled
        answer 1.0 a => ignored: Answer
        answer 1.0 b => ignored: Answer
        grant 1.0 => ignored: Answer
        answer 1.7 a => ignored: Answer
        answer 0.0 a => ignored: Answer
        ",
    );
}

#[test]
fn an_answer_after_the_timeout_is_late() {
    check(
        r#"
        [state.work]
        run = "run2"
        timeout = "100ms"
        attempts = 2
        on.a = "end"
        on.b = "end"
        on.failed = "bad"
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        wake => stop 1.0; start 2.1 own 0.2; wake 200
        answer 1.0 a => ignored: Answer
        answer 2.0 a => ignored: Answer
        answer 2.1 a => work -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn unknown_effects_are_rejected() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 2.0 a => rejected: no step asked for effect 2.0
        grant 99.0 => rejected: no step asked for effect 99.0
        ",
    );
}

#[test]
fn an_answer_of_the_wrong_kind_is_rejected_and_a_fault_never() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 a as model => rejected: effect 1.0 cannot be answered in this way
        grant 1.0 => rejected: effect 1.0 cannot be answered in this way
        answer 1.0 a => work -a-> next; start 2.0 Model; 0: settled
        answer 2.0 a as own => rejected: effect 2.0 cannot be answered in this way
        answer 2.0 a as tool => rejected: effect 2.0 cannot be answered in this way
        answer 2.0 fault => next -failed-> bad; 0: failed; ended failed
        ",
    );
}

#[test]
fn beginning_comes_first_and_once() {
    check(
        WORK,
        "
        answer 1.0 a => rejected: the run has not begun; its first event must be `begun`
        woke => rejected: the run has not begun; its first event must be `begun`
        give go => rejected: the run has not begun; its first event must be `begun`
        cancel => rejected: the run has not begun; its first event must be `begun`
        begin nonsense => rejected: invalid input: invalid type: integer `7`, expected struct Data at line 1 column 1
        begin => -> work; start 1.0 own 0.1; wake 100
        begin => rejected: the run has already begun
        ",
    );
}

#[test]
fn only_awaited_events_are_received() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        give go => rejected: state `work` does not wait for event 0
        answer 1.0 a => work -a-> next; start 2.0 Model; 0: settled
        answer 2.0 a => next -a-> idle; 0: settled
        give tune => rejected: state `idle` does not wait for event 2
        give what => rejected: state `idle` does not wait for event 9
        give go nonsense => rejected: invalid input: invalid type: integer `7`, expected struct Data at line 1 column 1
        give go => idle -go-> end; ended succeeded
        ",
    );
}

#[test]
fn waking_too_early_does_nothing() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +99 woke => ignored: NotDue
        +1 woke => work -failed-> bad; stop 1.0; 0: timed out; ended failed
        ",
    );
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 a => work -a-> next; start 2.0 Model; 0: settled
        answer 2.0 a => next -a-> idle; 0: settled
        +500 woke => ignored: NotDue
        ",
    );
}

#[test]
fn time_never_falls() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        @10 answer 1.0 a => work -a-> next; start 2.0 Model; 0: settled; wake 110
        @9 answer 2.0 a => rejected: the clock went back from 10 ms to 9 ms
        @10 answer 2.0 a => next -a-> idle; 0: settled
        ",
    );
}

#[test]
fn an_ended_run_takes_nothing_more() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b => work -b-> end; 0: settled; ended succeeded
        answer 1.0 b => ignored: Ended
        woke => ignored: Ended
        cancel => ignored: Ended
        shutdown => ignored: Ended
        grant 1.0 => ignored: Ended
        give go => rejected: the run has ended; fork it to continue
        pause => rejected: the run has ended; fork it to continue
        resume => rejected: the run has ended; fork it to continue
        begin => rejected: the run has already begun
        ",
    );
}

#[test]
fn a_run_is_bound_to_its_chart() {
    let (mine, other) = (chart(WORK), chart(&WORK.replace("100ms", "101ms")));
    let mut scripted = ScriptedRun::new(&mine);
    let event = begun(other.digest(), &[]);
    let differs = Rejected::ChartDiffers { wants: other.digest(), has: mine.digest() };
    assert_eq!(scripted.apply(event), format!("rejected: {differs}"));
    assert!(scripted.lines.is_empty());
}

#[test]
fn entries_have_no_gaps() {
    let chart = chart(WORK);
    let mut run = Run::<ScriptedAgent>::new(&chart);
    let mut out = StepOutput::default();
    for got in [0, 2, 9] {
        let seen = Observed { at: At(0), event: Event::Woke };
        let gap = Rejected::Gap { expected: Seq(1), got: Seq(got) };
        assert_eq!(step(&chart, &mut run, Seq(got), seen, &mut out), Err(gap));
    }
}

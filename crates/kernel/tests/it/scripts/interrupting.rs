//! Interruptions: what was under way when nobody drove the run any more.

use crate::rig::check;

const CALL: &str = r#"
[budget]
time = { max = "1s", charge = "time", else = "bad" }
calls = { max = 2, charge = "tool_call", else = "bad" }
[state.call]
run = "then_call"
timeout = "100ms"
ask_timeout = "1m"
tools = "all"
on.a = "end"
on.b = "end"
on.failed = "bad"
on.stuck = "bad"
on.denied = "stopped"
"#;

const THINK: &str = r#"
[budget]
models = { max = 2, charge = "model_call", else = "bad" }
[state.think]
run = "think"
timeout = "100ms"
on.a = "end"
on.b = "end"
on.failed = "bad"
"#;

#[test]
fn a_call_that_may_not_be_repeated_waits_for_a_person() {
    check(
        CALL,
        "
        begin => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        +9000 interrupt 2.0 => ask 3.0 read; wake 69030
        +10 answer 2.0 a => ignored: Answer
        +10 grant 3.0 => start 4.0 read; calls 0; wake 9150
        +10 answer 4.0 a => call -a-> end; 0: settled; time 960; ended succeeded
        ",
    );
}

#[test]
fn a_call_that_may_not_be_repeated_is_denied_by_a_no() {
    check(
        CALL,
        "
        begin => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        +9000 interrupt 2.0 => ask 3.0 read; wake 69030
        +10 deny 3.0 => call -denied-> stopped; 0: denied; ended cancelled
        ",
    );
}

#[test]
fn a_call_that_may_be_repeated_stays_under_way_and_is_paid_for_again() {
    check(
        CALL,
        "
        begin after=retry => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        +9000 interrupt 2.0 => calls 0; wake 9130
        +10 answer 2.0 a => call -a-> end; 0: settled; time 960; ended succeeded
        ",
    );
}

#[test]
fn a_call_that_cannot_be_paid_again_goes_where_the_budget_says() {
    check(
        CALL,
        "
        begin after=retry => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        +10 interrupt 2.0 => calls 0; wake 140
        +10 interrupt 2.0 => call -calls used up-> bad; stop 2.0; 0: budget; calls 0 closed; ended failed
        ",
    );
}

#[test]
fn a_call_that_is_taken_as_failed_fails_its_attempt() {
    check(
        CALL,
        "
        begin after=fail => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        +10 interrupt 2.0 => call -failed-> bad; 0: failed; ended failed
        ",
    );
}

#[test]
fn a_model_is_asked_again_and_both_calls_count() {
    check(
        THINK,
        "
        begin => -> think; start 1.0 Model; models 1; wake 100
        +9000 interrupt 1.0 => models 0; wake 9100
        +10 answer 1.0 a => think -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn what_was_not_under_way_is_refused() {
    check(
        THINK,
        "
        begin => -> think; start 1.0 Model; models 1; wake 100
        interrupt 1.1 => rejected: no step asked for effect 1.1
        interrupt 4.0 => rejected: no step asked for effect 4.0
        interrupt =>
        +10 answer 1.0 a => think -a-> end; 0: settled; ended succeeded
        interrupt 1.0 => ignored: Ended
        ",
    );
}

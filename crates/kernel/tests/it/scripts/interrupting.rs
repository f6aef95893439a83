//! Interruptions: work in progress when the run lost its owner.

use crate::scripted::check;

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
fn repeatable_call_stays_in_progress_and_is_charged_again() {
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
fn unknown_interrupted_effect_is_rejected() {
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

const ONCE: &str = r#"
[state.think]
run = "think"
attempts = 2
timeout = "100ms"
on.a = "end"
on.b = "end"
on.failed = "bad"
"#;

#[test]
fn repeated_calls_count_and_a_grant_permits_more() {
    // The certificate says two model calls: two attempts.
    check(
        ONCE,
        "
        begin => -> think; start 1.0 Model; wake 100
        +10 interrupt 1.0 counted => wake 110
        +10 interrupt 1.0 counted => think -certificate used up->; stop 1.0; 0: budget; ended budget
        ",
    );
    check(
        ONCE,
        "
        begin => -> think; start 1.0 Model; wake 100
        +10 interrupt 1.0 counted => wake 110
        +10 more model_call 1 =>
        +10 interrupt 1.0 counted => wake 130
        +10 answer 1.0 a => think -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn repetition_keeps_attempts_within_the_certificate() {
    check(
        ONCE,
        "
        begin => -> think; start 1.0 Model; wake 100
        +10 interrupt 1.0 counted => wake 110
        +10 answer 1.0 fault => think -certificate used up->; 0: budget; ended budget
        ",
    );
}

#[test]
fn repetitions_of_older_builds_do_not_count() {
    check(
        ONCE,
        "
        begin => -> think; start 1.0 Model; wake 100
        +10 interrupt 1.0 => wake 110
        +10 interrupt 1.0 => wake 120
        +10 interrupt 1.0 => wake 130
        +10 answer 1.0 a => think -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn grant_raises_only_an_existing_budget() {
    check(
        THINK,
        "
        begin => -> think; start 1.0 Model; models 1; wake 100
        more token 5 => rejected: the chart has no budget with `charge = \"token\"`
        +9000 more model_call 3 => models 4
        +10 interrupt 1.0 counted => models 3; wake 9110
        +10 answer 1.0 a => think -a-> end; 0: settled; ended succeeded
        more model_call 1 => rejected: the run has ended; fork it to continue
        ",
    );
}

#[test]
fn fork_starts_pending_calls_for_the_first_time() {
    check(
        THINK,
        "
        begin => -> think; start 1.0 Model; models 1; wake 100
        +10 fork => models 2
        +10 interrupt 1.0 counted => models 1; wake 120
        +10 answer 1.0 a => think -a-> end; 0: settled; ended succeeded
        fork => rejected: the run has ended; fork it to continue
        ",
    );
    check(
        ONCE,
        "
        begin => -> think; start 1.0 Model; wake 100
        +10 interrupt 1.0 counted => wake 110
        +10 fork =>
        +10 interrupt 1.0 counted => wake 130
        +10 interrupt 1.0 counted => wake 140
        +10 answer 1.0 fault => think -certificate used up->; 0: budget; ended budget
        ",
    );
}

#[test]
fn a_yes_to_a_repetition_permits_it_beyond_the_certificate() {
    let calls = "calls = { max = 2, charge = \"tool_call\", else = \"bad\" }\n";
    let chart = CALL.replace(calls, "");
    assert_ne!(chart, CALL);
    check(
        &chart,
        "
        begin => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970
        +9000 interrupt 2.0 counted => ask 3.0 read; wake 69030
        +10 grant 3.0 => start 4.0 read; wake 9140
        +10 answer 4.0 a => call -a-> end; 0: settled; time 960; ended succeeded
        ",
    );
}

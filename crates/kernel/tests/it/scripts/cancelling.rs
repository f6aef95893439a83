//! Cancelling, in every kind of state: work in progress is stopped and abandoned.

use crate::scripted::check;

const ANY: &str = r#"
[any]
cancel = "stopped"
cancel_turn = "idle"
shutdown = "bad"
[state.idle]
await = ["go"]
on.go = "work"
[state.work]
run = "run2"
timeout = "100ms"
attempts = 2
backoff = { base = "1s", cap = "1s" }
on.a = "each"
on.b = "end"
on.failed = "bad"
[state.each]
fan_out = { over = "items", run = "then_call", join = "join1", max_parallel = 3, max_items = 5 }
timeout = "100ms"
attempts = 2
backoff = { base = "1s", cap = "1s" }
tools = "all"
on.a = "end"
on.stuck = "bad"
"#;

#[test]
fn in_an_await() {
    check(
        ANY,
        "
        begin => -> idle
        cancel => idle -cancel-> stopped; ended cancelled
        ",
    );
    check(
        ANY,
        "
        begin => -> idle
        shutdown => idle -shutdown-> bad; ended failed
        ",
    );
    check(
        ANY,
        "
        begin => -> idle
        cancel_turn => idle -cancel_turn-> idle
        ",
    );
}

#[test]
fn while_a_job_works() {
    check(
        ANY,
        "
        begin => -> idle
        give go => idle -go-> work; start 2.0 own 0.1; wake 100
        +5 cancel => work -cancel-> stopped; stop 2.0; 0: cancelled; ended cancelled
        +5 answer 2.0 a => ignored: Ended
        ",
    );
}

#[test]
fn cancelled_turn_returns_to_waiting() {
    check(
        ANY,
        "
        begin => -> idle
        give go => idle -go-> work; start 2.0 own 0.1; wake 100
        +5 cancel_turn => work -cancel_turn-> idle; stop 2.0; 0: cancelled
        +5 answer 2.0 a => ignored: Answer
        give go => idle -go-> work; start 4.0 own 0.1; wake 110
        shutdown => work -shutdown-> bad; stop 4.0; 0: cancelled; ended failed
        ",
    );
}

#[test]
fn between_attempts_there_is_nothing_to_stop() {
    check(
        ANY,
        "
        begin => -> idle
        give go => idle -go-> work; start 2.0 own 0.1; wake 100
        answer 2.0 fault => wake 923
        shutdown => work -shutdown-> bad; 0: cancelled; ended failed
        ",
    );
}

#[test]
fn pause_abandons_held_orders() {
    check(
        ANY,
        "
        begin => -> idle
        give go items=2 => idle -go-> work; start 2.0 own 0.1; wake 100
        pause =>
        answer 2.0 a => work -a-> each; 0: settled
        cancel => each -cancel-> stopped; 0: cancelled; 1: cancelled; ended cancelled
        ",
    );
}

#[test]
fn in_a_fan_out_each_item_that_is_not_done() {
    // Item 0 is done, 1 asks a person, 2 waits for its next attempt, 3 works, 4 is queued.
    check(
        ANY,
        "
        begin may=ask => -> idle
        give go items=5 => idle -go-> work; start 2.0 own 0.1; wake 100
        answer 2.0 a => work -a-> each; start 3.0 own 0.1; start 3.1 own 1.1; start 3.2 own 2.1; 0: settled
        answer 3.0 a => start 4.0 own 3.1; 0: settled
        answer 3.1 more => ask 5.0 read; start 5.1 own 4.1; Ask by Permission
        answer 3.2 fault =>
        cancel => each -cancel-> stopped; stop 5.0; stop 4.0; stop 5.1; 1: cancelled; 2: cancelled; 3: cancelled; 4: cancelled; ended cancelled
        ",
    );
}

#[test]
fn cancel_scopes_missing_in_the_chart_are_rejected() {
    check(
        r#"
        [state.work]
        run = "run1"
        timeout = "100ms"
        on.a = "end"
        on.failed = "bad"
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        cancel_turn => rejected: the chart's `[any]` has no `cancel_turn`
        cancel => work -cancel-> stopped; stop 1.0; 0: cancelled; ended cancelled
        ",
    );
}

#[test]
fn cancelling_costs_nothing() {
    check(
        r#"
        [budget]
        steps = { max = 1, charge = "step", else = "bad" }
        [any]
        cancel = "idle"
        [state.work]
        run = "run1"
        timeout = "100ms"
        on.a = "end"
        on.failed = "end"
        [state.idle]
        await = ["stop"]
        on.stop = "bad"
        "#,
        "
        begin => -> work; start 1.0 own 0.1; steps 0; wake 100
        cancel => work -cancel-> idle; stop 1.0; 0: cancelled
        give stop => idle -stop-> bad; ended failed
        ",
    );
}

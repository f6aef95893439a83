//! Fan-outs: places, request order, the join, items beyond the limit.

use crate::scripted::check;

const FAN: &str = r#"
[state.each]
fan_out = { over = "items", run = "run2", join = "join2", max_parallel = 2, max_items = 4 }
timeout = "100ms"
on.a = "end"
on.b = "bad"
"#;

const TRIED: &str = r#"
[state.each]
fan_out = { over = "items", run = "run2", join = "join2", max_parallel = 2, max_items = 4 }
timeout = "100ms"
attempts = 2
backoff = { base = "1s", cap = "1s" }
on.a = "end"
on.b = "bad"
"#;

#[test]
fn items_start_in_request_order_and_no_more_than_the_places() {
    check(
        FAN,
        "
        begin items=4 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; wake 100
        +1 answer 1.1 b => start 2.0 own 2.1; 1: settled
        +1 answer 2.0 a => start 3.0 own 3.1; 2: settled
        +1 answer 1.0 a => 0: settled; wake 102
        +1 answer 3.0 a => each -a-> end; 3: settled; ended succeeded
        ",
    );
}

#[test]
fn the_join_decides_and_not_the_items() {
    check(
        FAN,
        "
        begin items=2 choose=1 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; wake 100
        answer 1.0 a => 0: settled
        answer 1.1 a => each -b-> bad; 1: settled; ended failed
        ",
    );
}

#[test]
fn undeclared_outcome_of_an_item_routes_nothing() {
    check(
        FAN,
        "
        begin items=1 => -> each; start 1.0 own 0.1; wake 100
        answer 1.0 9 => each -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn a_list_without_items_joins_at_once() {
    check(FAN, "begin items=0 => -> each; each -a-> end; ended succeeded");
}

#[test]
fn items_beyond_the_limit_are_refused_one_by_one() {
    check(
        FAN,
        "
        begin items=6 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; 4: limit; 5: limit; wake 100
        answer 1.0 a => start 2.0 own 2.1; 0: settled
        answer 1.1 a => start 3.0 own 3.1; 1: settled
        answer 2.0 a => 2: settled
        answer 3.0 a => each -a-> end; 3: settled; ended succeeded
        ",
    );
}

#[test]
fn the_failure_of_an_item_is_its_result() {
    check(
        FAN,
        "
        begin items=3 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; wake 100
        answer 1.0 fault! => start 2.0 own 2.1; 0: failed
        +50 answer 1.1 a => 1: settled
        wake => each -a-> end; stop 2.0; 2: timed out; ended succeeded
        ",
    );
}

#[test]
fn an_item_between_attempts_keeps_its_place() {
    check(
        TRIED,
        "
        begin items=3 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; wake 100
        +10 answer 1.0 fault =>
        +10 answer 1.1 a => start 3.0 own 2.1; 1: settled; wake 120
        +10 answer 3.0 a => 2: settled; wake 895
        wake => start 5.0 own 0.2; wake 995
        +10 answer 5.0 a => each -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn items_that_time_out_together_are_seen_to_in_one_step() {
    check(
        TRIED,
        "
        begin items=2 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; wake 100
        wake => stop 1.0; stop 1.1; wake 862
        wake => start 3.0 own 1.2; wake 962
        wake => stop 3.0; 1: timed out; wake 985
        wake => start 5.0 own 0.2; wake 1085
        wake => each -a-> end; stop 5.0; 0: timed out; ended succeeded
        ",
    );
}

#[test]
fn new_visit_restarts_a_list() {
    check(
        r#"
        [budget]
        rounds = { max = 1, else = "end" }
        [state.each]
        fan_out = { over = "items", run = "run2", join = "join2", max_parallel = 1, max_items = 2 }
        timeout = "100ms"
        on.a = { to = "each", spend = "rounds" }
        on.b = "bad"
        "#,
        "
        begin items=2 => -> each; start 1.0 own 0.1; wake 100
        answer 1.0 a => start 2.0 own 1.1; 0: settled
        answer 2.0 a => each -a-> each spending rounds; start 3.0 own 0.1; 1: settled; rounds 0
        answer 3.0 a => start 4.0 own 1.1; 0: settled
        answer 4.0 a => each -a, rounds used up-> end; 1: settled; rounds 0 closed; ended succeeded
        ",
    );
}

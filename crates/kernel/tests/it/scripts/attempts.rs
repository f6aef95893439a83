//! Attempts: waiting times, hints, faults, timeouts.

use crate::scripted::check;

const TRIED: &str = r#"
[state.work]
run = "run2"
timeout = "100ms"
attempts = 3
backoff = { base = "1s", cap = "5s" }
hint_cap = "10s"
on.a = "end"
on.b = "end"
on.failed = "bad"
"#;

#[test]
fn attempts_count_the_first_and_wait_longer_each_time() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +10 answer 1.0 fault => wake 895
        wake => start 3.0 own 0.2; wake 995
        +10 answer 3.0 fault => wake 2865
        wake => start 5.0 own 0.3; wake 2965
        +10 answer 5.0 fault => work -failed-> bad; 0: failed; ended failed
        ",
    );
}

#[test]
fn a_later_attempt_can_succeed() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +10 answer 1.0 fault => wake 895
        wake => start 3.0 own 0.2; wake 995
        +10 answer 3.0 b => work -b-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn backoff_depends_on_the_entry_and_not_on_its_time() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +70 answer 1.0 fault => wake 955
        wake => start 3.0 own 0.2; wake 1055
        +20 answer 3.0 fault => wake 2935
        ",
    );
}

#[test]
fn a_hint_raises_the_wait() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +0 answer 1.0 fault hint=7000 => wake 7000
        wake => start 3.0 own 0.2; wake 7100
        +0 answer 3.0 fault hint=10000 => wake 17000
        wake => start 5.0 own 0.3; wake 17100
        ",
    );
}

#[test]
fn a_hint_below_the_wait_changes_nothing() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +10 answer 1.0 fault hint=1 => wake 895
        ",
    );
}

#[test]
fn a_hint_beyond_the_cap_makes_the_attempt_the_last() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +0 answer 1.0 fault hint=10001 => work -failed-> bad; 0: failed; ended failed
        ",
    );
}

#[test]
fn a_fault_that_is_not_repeatable_uses_no_further_attempts() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +10 answer 1.0 fault! => work -failed-> bad; 0: failed; ended failed
        ",
    );
}

#[test]
fn a_timeout_stops_the_effect_and_falls_to_failed() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        wake => stop 1.0; wake 985
        wake => start 3.0 own 0.2; wake 1085
        wake => stop 3.0; wake 3045
        wake => start 5.0 own 0.3; wake 3145
        wake => work -failed-> bad; stop 5.0; 0: timed out; ended failed
        ",
    );
}

#[test]
fn a_routed_timeout_goes_its_own_way() {
    let chart = r#"
        [state.work]
        run = "run1"
        timeout = "100ms"
        on.a = "end"
        on.timeout = "stopped"
        on.failed = "bad"
    "#;
    check(
        chart,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        wake => work -timeout-> stopped; stop 1.0; 0: timed out; ended cancelled
        ",
    );
    check(
        chart,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +5 answer 1.0 fault => work -failed-> bad; 0: failed; ended failed
        ",
    );
}

#[test]
fn an_answer_at_the_deadline_counts_until_the_run_was_woken() {
    check(
        TRIED,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +100 answer 1.0 a => work -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn the_orders_of_an_attempt_share_its_time() {
    check(
        r#"
        [state.work]
        run = "pair"
        timeout = "100ms"
        attempts = 2
        backoff = { base = "0ms", cap = "0ms" }
        on.a = "end"
        on.b = "end"
        on.failed = "bad"
        "#,
        "
        begin => -> work; start 1.0 Model; wake 100
        +60 answer 1.0 more => start 2.0 own 0.1
        wake => stop 2.0; start 3.1 Model; wake 200
        +30 answer 3.1 more => start 4.0 own 0.2
        +30 answer 4.0 a => work -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn the_timeout_of_a_job_that_cannot_fail_breaks_its_declaration() {
    check(
        r#"
        [state.work]
        run = "sure"
        timeout = "100ms"
        on.a = "end"
        on.b = "end"
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        wake => work -broken->; stop 1.0; 0: timed out; ended failed
        ",
    );
}

#[test]
fn a_new_visit_starts_with_new_attempts() {
    check(
        r#"
        [budget]
        rounds = { max = 1, else = "bad" }
        [state.work]
        run = "run2"
        timeout = "100ms"
        attempts = 2
        on.a = "end"
        on.b = { to = "work", spend = "rounds" }
        on.failed = { to = "work", spend = "rounds" }
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 fault => start 2.0 own 0.2
        answer 2.0 b => work -b-> work spending rounds; start 3.0 own 0.1; 0: settled; rounds 0
        answer 3.0 fault => start 4.0 own 0.2
        answer 4.0 fault => work -failed, rounds used up-> bad; 0: failed; rounds 0 closed; ended failed
        ",
    );
}

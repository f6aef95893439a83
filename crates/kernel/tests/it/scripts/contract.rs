//! Agents that break their declaration: never a panic, always a clean end.

use crate::scripted::check;

const WORK: &str = r#"
[state.work]
run = "run2"
timeout = "100ms"
attempts = 3
on.a = "end"
on.b = "end"
on.failed = "bad"
"#;

#[test]
fn an_outcome_that_is_not_declared() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 9 => work -failed-> bad; 0: settled; 0: contract; ended failed
        ",
    );
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 255 => work -failed-> bad; 0: settled; 0: contract; ended failed
        ",
    );
}

#[test]
fn an_outcome_that_is_the_kernels_to_give() {
    // The third outcome of this state is `failed`.
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 2 => work -failed-> bad; 0: settled; 0: contract; ended failed
        ",
    );
}

#[test]
fn more_orders_than_declared() {
    check(
        WORK,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 more => work -failed-> bad; 0: contract; ended failed
        ",
    );
    check(
        &WORK.replace("run2", "pair"),
        "
        begin => -> work; start 1.0 Model; wake 100
        answer 1.0 more => start 2.0 own 0.1
        answer 2.0 more => work -failed-> bad; 0: contract; ended failed
        ",
    );
}

#[test]
fn a_job_that_cannot_fail_and_breaks_its_word_ends_the_run() {
    check(
        &WORK
            .replace("run2", "sure")
            .replace("attempts = 3", "")
            .replace("on.failed = \"bad\"", ""),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 7 => work -broken->; 0: settled; 0: contract; ended failed
        ",
    );
    check(
        &WORK
            .replace("run2", "sure")
            .replace("attempts = 3", "")
            .replace("on.failed = \"bad\"", ""),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 fault => work -broken->; 0: failed; ended failed
        ",
    );
}

#[test]
fn a_tool_call_from_a_job_that_is_not_governed() {
    check(
        &WORK.replace("run2", "rogue").replace("on.b = \"end\"", ""),
        "begin => -> work; work -failed-> bad; 0: contract; ended failed",
    );
}

#[test]
fn a_decide_job_that_ends_in_no_way_of_its_own() {
    let fork = r#"
        [state.work]
        decide = "fork2"
        on.a = "end"
        on.b = "bad"
    "#;
    check(fork, "begin choose=8 => -> work; work -broken->; ended failed");
    check(fork, "begin choose=9 => -> work; work -broken->; ended failed");
}

#[test]
fn a_join_that_ends_in_no_way_of_its_own() {
    // The second outcome of this state is `stuck`, which is the kernel's.
    let fan = r#"
        [state.each]
        fan_out = { over = "items", run = "call", join = "join1", max_parallel = 2, max_items = 2 }
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.stuck = "bad"
    "#;
    check(fan, "begin items=0 choose=8 => -> each; each -broken->; ended failed");
    check(fan, "begin items=0 choose=9 => -> each; each -broken->; ended failed");
}

#[test]
fn a_breach_in_a_fan_out_is_that_items_result() {
    check(
        r#"
        [state.each]
        fan_out = { over = "items", run = "run2", join = "join1", max_parallel = 1, max_items = 2 }
        timeout = "100ms"
        on.a = "end"
        "#,
        "
        begin items=2 => -> each; start 1.0 own 0.1; wake 100
        answer 1.0 more => start 2.0 own 1.1; 0: contract
        answer 2.0 a => each -a-> end; 1: settled; ended succeeded
        ",
    );
    check(
        r#"
        [state.each]
        fan_out = { over = "items", run = "rogue", join = "join1", max_parallel = 1, max_items = 3 }
        timeout = "100ms"
        on.a = "end"
        "#,
        "begin items=3 => -> each; each -a-> end; 0: contract; 1: contract; 2: contract; ended succeeded",
    );
}

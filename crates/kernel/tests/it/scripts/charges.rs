//! Budgets that the kernel charges: each kind, up to its limit and one beyond.

use crate::scripted::check;

/// A loop around one job, with one charged budget.
fn chart(job: &str, budget: &str) -> String {
    format!(
        r#"
        [budget]
        rounds = {{ max = 9, else = "bad" }}
        limit = {{ {budget}, else = "rest" }}
        [state.work]
        run = "{job}"
        timeout = "100ms"
        on.a = "rest"
        on.b = {{ to = "work", spend = "rounds" }}
        on.failed = "bad"
        [state.rest]
        run = "{job}"
        timeout = "100ms"
        on.a = "end"
        on.b = {{ to = "work", spend = "rounds" }}
        on.failed = "bad"
        "#
    )
}

#[test]
fn steps_are_visits_of_states_that_are_not_final() {
    check(
        &chart("run2", r#"max = 2, charge = "step""#),
        "
        begin => -> work; start 1.0 own 0.1; limit 1; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 8; limit 0
        answer 2.0 b => work -b, limit used up-> rest; start 3.0 own 0.1; 0: settled; rounds 7; limit 0 closed
        answer 3.0 a => rest -a-> end; 0: settled; ended succeeded
        ",
    );
    check(
        &chart("run2", r#"max = 2, charge = "step""#),
        "
        begin => -> work; start 1.0 own 0.1; limit 1; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 8; limit 0
        answer 2.0 b => work -b, limit used up-> rest; start 3.0 own 0.1; 0: settled; rounds 7; limit 0 closed
        answer 3.0 b => rest -b, limit used up->; 0: settled; rounds 6; ended budget
        ",
    );
}

#[test]
fn without_a_single_step_the_run_begins_in_else() {
    check(
        &chart("run2", r#"max = 0, charge = "step""#),
        "
        begin => work -limit used up-> rest; start 1.0 own 0.1; limit 0 closed; wake 100
        answer 1.0 a => rest -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn model_calls() {
    check(
        &chart("think", r#"max = 2, charge = "model_call""#),
        "
        begin => -> work; start 1.0 Model; limit 1; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 Model; 0: settled; rounds 8; limit 0
        answer 2.0 b => work -b-> work spending rounds; work -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; rounds 7; limit 0 closed; ended budget
        ",
    );
}

#[test]
fn every_attempt_is_a_call() {
    check(
        &chart("think", r#"max = 2, charge = "model_call""#).replace("on.a", "attempts = 3\non.a"),
        "
        begin => -> work; start 1.0 Model; limit 1; wake 100
        answer 1.0 fault => start 2.0 Model; limit 0
        answer 2.0 fault => work -limit used up-> rest; rest -limit used up->; 0: budget; 0: budget; limit 0 closed; ended budget
        ",
    );
}

#[test]
fn tool_calls() {
    let governed = "tools = \"all\"\non.stuck = \"bad\"\non.denied = \"bad\"\non.a";
    check(
        &chart("call", r#"max = 1, charge = "tool_call""#).replace("on.a", governed),
        "
        begin => -> work; start 1.0 read; limit 0; wake 100
        answer 1.0 b => work -b-> work spending rounds; work -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; rounds 8; limit 0 closed; ended budget
        ",
    );
    // A call that is refused is not paid.
    check(
        &chart("call", r#"max = 1, charge = "tool_call""#).replace("on.a", governed),
        "
        begin may=refuse => -> work; work -denied-> bad; Refuse by Permission; 0: denied; ended failed
        ",
    );
}

#[test]
fn tokens_are_charged_with_the_answer_and_may_overdraw() {
    check(
        &chart("think", r#"max = 100, charge = "token""#),
        "
        begin => -> work; start 1.0 Model; wake 100
        answer 1.0 b tokens=99 => work -b-> work spending rounds; start 2.0 Model; 0: settled; rounds 8; limit 1
        answer 2.0 b tokens=50 => work -b-> work spending rounds; work -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; rounds 7; limit 0 closed; ended budget
        ",
    );
}

#[test]
fn money_is_charged_with_the_answer_and_with_a_failure_too() {
    check(
        &chart("think", r#"max = "0.000100", charge = "money""#)
            .replace("on.a", "attempts = 2\non.a"),
        "
        begin => -> work; start 1.0 Model; wake 100
        answer 1.0 fault money=60 => start 2.0 Model; limit 40
        answer 2.0 b money=40 => work -b-> work spending rounds; work -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; rounds 8; limit 0 closed; ended budget
        ",
    );
}

#[test]
fn token_budget_does_not_stop_other_work() {
    check(
        &chart("run2", r#"max = 1, charge = "outside_app""#).replace(
            "limit =",
            "tokens = { max = 1, charge = \"token\", else = \"bad\" }\nlimit =",
        ),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b tokens=5 => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 8; tokens 0
        answer 2.0 b => work -b-> work spending rounds; start 3.0 own 0.1; 0: settled; rounds 7
        ",
    );
}

#[test]
fn interactions_are_paid_before_they_are_done() {
    // A tap takes two: three permit one, and the remaining one pays for nothing.
    check(
        &chart("tap", r#"max = 3, charge = "interaction""#),
        "
        begin => -> work; start 1.0 own 0.1; limit 1; wake 100
        answer 1.0 b => work -b-> work spending rounds; work -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; rounds 8; limit 1 closed; ended budget
        ",
    );
    check(
        &chart("tap", r#"max = 4, charge = "interaction""#),
        "
        begin => -> work; start 1.0 own 0.1; limit 2; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 8; limit 0
        answer 2.0 b => work -b-> work spending rounds; work -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; rounds 7; limit 0 closed; ended budget
        ",
    );
}

#[test]
fn work_without_touches_needs_no_interactions() {
    check(
        r#"
        [budget]
        taps = { max = 1, charge = "interaction", else = "rest" }
        [state.work]
        run = "tap"
        timeout = "100ms"
        on.a = "rest"
        on.b = "rest"
        on.failed = "bad"
        [state.rest]
        run = "run1"
        timeout = "100ms"
        on.a = "end"
        on.failed = "bad"
        "#,
        "
        begin => -> work; work -taps used up-> rest; start 1.0 own 0.1; 0: budget; taps 1 closed; wake 100
        answer 1.0 a => rest -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn actions_outside_the_app_are_known_afterwards() {
    check(
        &chart("run2", r#"max = 1, charge = "outside_app""#),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b outside=1 => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 8; limit 0
        answer 2.0 b outside=1 => work -b, limit used up-> rest; start 3.0 own 0.1; 0: settled; limit 0 closed
        answer 3.0 b outside=1 => rest -b, limit used up->; 0: settled; ended budget
        ",
    );
}

#[test]
fn terminal_result_counts_despite_used_up_budgets() {
    let direct = |budget: &str| chart("run2", budget).replace("on.a = \"rest\"", "on.a = \"end\"");
    check(
        &direct(r#"max = 0, charge = "outside_app""#),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 a outside=1 => work -a-> end; 0: settled; ended succeeded
        ",
    );
    check(
        &direct(r#"max = "100ms", charge = "time""#),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        +100 answer 1.0 a => work -a-> end; 0: settled; limit 0; ended succeeded
        ",
    );
    check(
        &direct(r#"max = 1, charge = "step""#),
        "
        begin => -> work; start 1.0 own 0.1; limit 0; wake 100
        answer 1.0 a => work -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn so_does_the_terminal_result_of_a_join() {
    check(
        r#"
        [budget]
        time = { max = "100ms", charge = "time", else = "bad" }
        [state.each]
        fan_out = { over = "items", run = "run2", join = "join2", max_parallel = 2, max_items = 2 }
        timeout = "100ms"
        on.a = "end"
        on.b = "last"
        [state.last]
        run = "run1"
        timeout = "100ms"
        on.a = "end"
        on.failed = "bad"
        "#,
        "
        begin items=2 => -> each; start 1.0 own 0.1; start 1.1 own 1.1; wake 100
        +50 answer 1.0 a => 0: settled; time 50
        +50 answer 1.1 a => each -a-> end; 1: settled; time 0; ended succeeded
        ",
    );
}

#[test]
fn nothing_starts_in_the_step_that_overdraws() {
    check(
        &chart("run2", r#"max = 0, charge = "outside_app""#).replace("on.a", "attempts = 2\non.a"),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 fault outside=1 => work -limit used up-> rest; start 2.0 own 0.1; 0: budget; limit 0 closed
        ",
    );
}

#[test]
fn a_charged_budget_is_refilled_like_any_other() {
    check(
        &chart("think", r#"max = 1, charge = "model_call", reset = "rounds""#),
        "
        begin => -> work; start 1.0 Model; limit 0; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 Model; 0: settled; rounds 8
        answer 2.0 a => work -a-> rest; rest -limit used up-> rest; rest -limit used up->; 0: settled; 0: budget; 0: budget; limit 0 closed; ended budget
        answer 3.0 a => ignored: Ended
        ",
    );
}

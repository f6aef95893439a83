//! Budgets that edges spend: N permits exactly N, closing, reopening.

use crate::scripted::{ScriptedRun, chart, check};

const LOOP: &str = r#"
[budget]
rounds = { max = 2, else = "last" }
[state.work]
run = "run2"
timeout = "100ms"
on.a = "last"
on.b = { to = "work", spend = "rounds" }
on.failed = "bad"
[state.last]
run = "run2"
timeout = "100ms"
on.a = "end"
on.b = { to = "work", spend = "rounds" }
on.failed = "bad"
"#;

#[test]
fn two_permit_exactly_two_and_the_third_goes_to_else() {
    check(
        LOOP,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 1
        answer 2.0 b => work -b-> work spending rounds; start 3.0 own 0.1; 0: settled; rounds 0
        answer 3.0 b => work -b, rounds used up-> last; start 4.0 own 0.1; 0: settled; rounds 0 closed
        answer 4.0 a => last -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn spending_a_closed_budget_ends_the_run() {
    check(
        LOOP,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b => work -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 1
        answer 2.0 b => work -b-> work spending rounds; start 3.0 own 0.1; 0: settled; rounds 0
        answer 3.0 b => work -b, rounds used up-> last; start 4.0 own 0.1; 0: settled; rounds 0 closed
        answer 4.0 b => last -b, rounds used up->; 0: settled; ended budget
        ",
    );
}

#[test]
fn agent_learns_of_each_used_up_budget() {
    let chart = chart(LOOP);
    let mut scripted = ScriptedRun::new(&chart);
    let told =
        ["begin", "answer 1.0 b", "answer 2.0 b", "answer 3.0 b", "answer 4.0 b"].map(|line| {
            scripted.play(line);
            scripted.recorder.run().data.used_up
        });
    assert_eq!(told, [(0, 0), (0, 0), (0, 0), (1, 2), (2, 2)], "nothing is under way, and yet");
    scripted.replays();
}

#[test]
fn none_permits_none() {
    check(
        &LOOP.replace("max = 2", "max = 0"),
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b => work -b, rounds used up-> last; start 2.0 own 0.1; 0: settled; rounds 0 closed
        answer 2.0 b => last -b, rounds used up->; 0: settled; ended budget
        ",
    );
}

#[test]
fn a_reset_refills_reopens_and_cascades() {
    // Spending the outer one refills the middle one and, through it, the inner one.
    check(
        r#"
        [budget]
        outer = { max = 1, else = "bad" }
        middle = { max = 1, reset = "outer", else = "work" }
        inner = { max = 1, reset = "middle", else = "work" }
        [state.work]
        run = "run4"
        timeout = "100ms"
        on.a = "end"
        on.b = { to = "work", spend = "inner" }
        on.c = { to = "work", spend = "middle" }
        on.d = { to = "work", spend = "outer" }
        on.failed = "bad"
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b => work -b-> work spending inner; start 2.0 own 0.1; 0: settled; inner 0
        answer 2.0 b => work -b, inner used up-> work; start 3.0 own 0.1; 0: settled; inner 0 closed
        answer 3.0 c => work -c-> work spending middle; start 4.0 own 0.1; 0: settled; middle 0; inner 1
        answer 4.0 c => work -c, middle used up-> work; start 5.0 own 0.1; 0: settled; middle 0 closed
        answer 5.0 b => work -b-> work spending inner; start 6.0 own 0.1; 0: settled; inner 0
        answer 6.0 d => work -d-> work spending outer; start 7.0 own 0.1; 0: settled; outer 0; middle 1; inner 1
        answer 7.0 b => work -b-> work spending inner; start 8.0 own 0.1; 0: settled; inner 0
        answer 8.0 c => work -c-> work spending middle; start 9.0 own 0.1; 0: settled; middle 0; inner 1
        answer 9.0 d => work -d, outer used up-> bad; 0: settled; outer 0 closed; ended failed
        ",
    );
}

const CHAT: &str = r#"
[budget]
turns = { max = 2, else = "bad" }
rounds = { max = 1, reset = "await", else = "idle" }
calls = { max = 1, charge = "model_call", reset = "rounds", else = "idle" }
[state.idle]
await = ["go", "stop"]
on.go = { to = "think", spend = "turns" }
on.stop = "end"
[state.think]
run = "think"
timeout = "100ms"
on.a = "idle"
on.b = { to = "think", spend = "rounds" }
on.failed = "bad"
"#;

#[test]
fn event_resets_budgets_with_await() {
    check(
        CHAT,
        "
        begin => -> idle
        give go => idle -go-> think spending turns; start 2.0 Model; turns 1; calls 0; wake 100
        answer 2.0 b => think -b-> think spending rounds; start 3.0 Model; 0: settled; rounds 0
        answer 3.0 b => think -b, rounds used up-> idle; 0: settled; rounds 0 closed
        give go => idle -go-> think spending turns; start 5.0 Model; turns 0; rounds 1; wake 100
        answer 5.0 b => think -b-> think spending rounds; start 6.0 Model; 0: settled; rounds 0
        answer 6.0 a => think -a-> idle; 0: settled
        give go => idle -go, turns used up-> bad; turns 0 closed; rounds 1; calls 1; ended failed
        ",
    );
}

#[test]
fn the_timeout_of_an_await_resets_nothing() {
    check(
        r#"
        [budget]
        rounds = { max = 1, reset = "await", else = "bad" }
        [state.work]
        run = "run2"
        timeout = "100ms"
        on.a = "wait"
        on.b = "end"
        on.failed = "bad"
        [state.wait]
        await = ["go"]
        timeout = "1s"
        on.go = { to = "work", spend = "rounds" }
        on.timeout = { to = "work", spend = "rounds" }
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 a => work -a-> wait; 0: settled; wake 1000
        wake => wait -timeout-> work spending rounds; start 3.0 own 0.1; rounds 0; wake 1100
        answer 3.0 a => work -a-> wait; 0: settled; wake 2000
        +1 give go => wait -go-> work spending rounds; start 5.0 own 0.1; wake 1101
        answer 5.0 a => work -a-> wait; 0: settled; wake 2001
        wake => wait -timeout, rounds used up-> bad; rounds 0 closed; ended failed
        ",
    );
}

#[test]
fn an_edge_that_cannot_be_paid_refills_nothing() {
    check(
        r#"
        [budget]
        outer = { max = 0, else = "work" }
        inner = { max = 1, reset = "outer", else = "bad" }
        [state.work]
        run = "run4"
        timeout = "100ms"
        on.a = "end"
        on.b = { to = "work", spend = "inner" }
        on.c = { to = "work", spend = "outer" }
        on.d = "end"
        on.failed = "bad"
        "#,
        "
        begin => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 b => work -b-> work spending inner; start 2.0 own 0.1; 0: settled; inner 0
        answer 2.0 c => work -c, outer used up-> work; start 3.0 own 0.1; 0: settled; outer 0 closed
        answer 3.0 b => work -b, inner used up-> bad; 0: settled; inner 0 closed; ended failed
        ",
    );
}

#[test]
fn decide_states_spend_too_within_one_step() {
    check(
        r#"
        [budget]
        rounds = { max = 1, else = "bad" }
        [state.work]
        run = "run1"
        timeout = "100ms"
        on.a = "fork"
        on.failed = "bad"
        [state.fork]
        decide = "fork2"
        on.a = "end"
        on.b = { to = "work", spend = "rounds" }
        "#,
        "
        begin choose=11 => -> work; start 1.0 own 0.1; wake 100
        answer 1.0 a => work -a-> fork; fork -b-> work spending rounds; start 2.0 own 0.1; 0: settled; rounds 0
        answer 2.0 a => work -a-> fork; fork -b, rounds used up-> bad; 0: settled; rounds 0 closed; ended failed
        ",
    );
}

//! The governor's verdicts: tools of the state, permissions, repetition.

use crate::scripted::check;

const CALLS: &str = r#"
[budget]
rounds = { max = 9, else = "bad" }
[stuck]
identical_call = 3
[state.call]
run = "call"
timeout = "100ms"
tools = ["read", "write"]
on.a = "end"
on.b = { to = "call", spend = "rounds" }
on.failed = "bad"
on.stuck = "stopped"
on.denied = "bad"
"#;

#[test]
fn the_third_identical_call_in_a_row_is_stuck() {
    check(
        CALLS,
        "
        begin => -> call; start 1.0 read; wake 100
        answer 1.0 b => call -b-> call spending rounds; start 2.0 read; 0: settled; rounds 8
        answer 2.0 b => call -b-> call spending rounds; call -stuck-> stopped; Halt by IdenticalCall; 0: settled; 0: stuck; rounds 7; ended cancelled
        ",
    );
}

#[test]
fn another_call_between_makes_it_no_repetition() {
    check(
        r#"
        [stuck]
        identical_call = 3
        [state.each]
        fan_out = { over = "items", run = "call", join = "join1", max_parallel = 9, max_items = 9 }
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.stuck = "stopped"
        "#,
        "
        begin items=5 tools=00100 => -> each; start 1.0 read; start 1.1 read; start 1.2 write; start 1.3 read; start 1.4 read; wake 100
        ",
    );
}

#[test]
fn in_a_fan_out_a_halt_ends_the_state_and_stops_the_other_items() {
    check(
        r#"
        [stuck]
        identical_call = 3
        [state.each]
        fan_out = { over = "items", run = "call", join = "join1", max_parallel = 9, max_items = 9 }
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.stuck = "stopped"
        "#,
        "
        begin items=4 => -> each; each -stuck-> stopped; start 1.0 read; start 1.1 read; stop 1.0; stop 1.1; Halt by IdenticalCall; 2: stuck; 0: stuck; 1: stuck; 3: stuck; ended cancelled
        ",
    );
}

#[test]
fn a_rule_that_is_off_says_nothing() {
    check(
        &CALLS.replace("identical_call = 3", "identical_call = 3\nenable = false"),
        "
        begin => -> call; start 1.0 read; wake 100
        answer 1.0 b => call -b-> call spending rounds; start 2.0 read; 0: settled; rounds 8
        answer 2.0 b => call -b-> call spending rounds; start 3.0 read; 0: settled; rounds 7
        ",
    );
}

#[test]
fn persons_event_resets_the_count() {
    check(
        r#"
        [stuck]
        identical_call = 2
        [state.call]
        run = "call"
        timeout = "100ms"
        tools = "all"
        on.a = "idle"
        on.b = "end"
        on.failed = "bad"
        on.stuck = "stopped"
        on.denied = "bad"
        [state.idle]
        await = ["go"]
        on.go = "again"
        [state.again]
        run = "call"
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.b = "end"
        on.failed = "bad"
        on.stuck = "stopped"
        on.denied = "bad"
        "#,
        "
        begin => -> call; start 1.0 read; wake 100
        answer 1.0 a => call -a-> idle; 0: settled
        give go => idle -go-> again; start 3.0 read; wake 100
        ",
    );
}

#[test]
fn a_tool_that_the_state_does_not_list_is_denied() {
    check(
        CALLS,
        "begin tools=2 => -> call; call -denied-> bad; Refuse by ToolsOfState; 0: denied; ended failed",
    );
    check(
        CALLS,
        "begin tools=7 => -> call; call -denied-> bad; Refuse by ToolsOfState; 0: denied; ended failed",
    );
}

#[test]
fn the_strictest_rule_wins() {
    // Asking comes before repeating in severity, so a person is not bothered.
    check(
        CALLS,
        "
        begin may=ask => -> call; ask 1.0 read; Ask by Permission; wake 86400000
        grant 1.0 => start 2.0 read; wake 100
        answer 2.0 b => call -b-> call spending rounds; ask 3.0 read; Ask by Permission; 0: settled; rounds 8; wake 86400000
        grant 3.0 => start 4.0 read; wake 100
        answer 4.0 b => call -b-> call spending rounds; call -stuck-> stopped; Halt by IdenticalCall; 0: settled; 0: stuck; rounds 7; ended cancelled
        ",
    );
}

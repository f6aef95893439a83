//! The time budget: when it runs, when it is stopped, what it interrupts.

use crate::scripted::check;

const TIMED: &str = r#"
[budget]
time = { max = "250ms", charge = "time", else = "rest" }
[state.work]
run = "pair"
timeout = "100ms"
attempts = 9
backoff = { base = "40ms", cap = "40ms" }
on.a = "idle"
on.b = "end"
on.failed = "bad"
[state.idle]
await = ["go"]
on.go = "more"
[state.more]
run = "run1"
timeout = "1s"
on.a = "rest"
on.failed = "bad"
[state.rest]
run = "run1"
timeout = "1s"
on.a = "end"
on.failed = "bad"
"#;

#[test]
fn it_interrupts_the_job_in_flight() {
    check(
        TIMED,
        "
        begin => -> work; start 1.0 Model; wake 100
        +90 answer 1.0 fault => time 160; wake 125
        wake => start 3.0 Model; time 125; wake 225
        +90 answer 3.0 fault => time 35; wake 250
        wake => work -time used up-> rest; start 5.0 own 0.1; 0: budget; time 0 closed; wake 1250
        ",
    );
}

#[test]
fn once_it_is_up_it_runs_no_more() {
    check(
        TIMED,
        "
        begin => -> work; start 1.0 Model; wake 100
        +10 answer 1.0 a => work -a-> idle; 0: settled; time 240
        give go => idle -go-> more; start 3.0 own 0.1; wake 250
        wake => more -time used up-> rest; stop 3.0; start 4.1 own 0.1; 0: budget; time 0 closed; wake 1250
        +999 answer 4.1 a => rest -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn time_budget_stops_in_an_await() {
    check(
        TIMED,
        "
        begin => -> work; start 1.0 Model; wake 100
        +50 answer 1.0 a => work -a-> idle; 0: settled; time 200
        +5000 give go => idle -go-> more; start 3.0 own 0.1; wake 5250
        ",
    );
}

#[test]
fn time_budget_stops_in_a_pause() {
    check(
        TIMED,
        "
        begin => -> work; start 1.0 Model; wake 100
        +50 pause => time 200
        +10 answer 1.0 a => work -a-> idle; 0: settled
        give go => idle -go-> more
        +5000 resume => start 5.0 own 0.1; wake 5260
        ",
    );
}

#[test]
fn outcome_after_the_time_budget_leads_to_else() {
    check(
        &TIMED.replace("\"1s\"", "\"250ms\""),
        "
        begin => -> work; start 1.0 Model; wake 100
        +50 answer 1.0 a => work -a-> idle; 0: settled; time 200
        give go => idle -go-> more; start 3.0 own 0.1; wake 250
        +200 answer 3.0 a => more -a, time used up-> rest; start 4.0 own 0.1; 0: settled; time 0 closed; wake 500
        ",
    );
}

#[test]
fn nothing_starts_when_it_is_up() {
    check(
        &TIMED.replace("\"100ms\"", "\"1s\""),
        "
        begin => -> work; start 1.0 Model; wake 250
        +250 answer 1.0 more => work -time used up-> rest; start 2.0 own 0.1; 0: budget; time 0 closed; wake 1250
        ",
    );
    check(
        &TIMED.replace("\"100ms\"", "\"1s\"").replace("\"40ms\"", "\"0ms\""),
        "
        begin => -> work; start 1.0 Model; wake 250
        +250 answer 1.0 fault => work -time used up-> rest; start 2.0 own 0.1; 0: budget; time 0 closed; wake 1250
        ",
    );
}

#[test]
fn two_budgets_used_up_together_route_one_after_the_other() {
    check(
        &TIMED.replace(
            "[budget]",
            "[budget]\nfirst = { max = \"250ms\", charge = \"time\", else = \"more\" }",
        ),
        "
        begin => -> work; start 1.0 Model; wake 100
        +60 answer 1.0 fault => first 190; time 190; wake 95
        wake => start 3.0 Model; first 155; time 155; wake 195
        +60 answer 3.0 fault => first 95; time 95; wake 194
        wake => start 5.0 Model; first 56; time 56; wake 250
        @250 woke => work -first used up-> more; more -time used up-> rest; stop 5.0; start 6.1 own 0.1; 0: budget; 0: budget; first 0 closed; time 0 closed; wake 1250
        ",
    );
}

#[test]
fn turn_cancelled_at_its_limit_continues_with_else() {
    check(
        &format!(
            "[any]\ncancel = \"stopped\"\ncancel_turn = \"idle\"\n{}",
            TIMED.replace("\"100ms\"", "\"1s\"")
        ),
        "
        begin => -> work; start 1.0 Model; wake 250
        +300 cancel_turn => work -cancel_turn-> idle; stop 1.0; 0: cancelled; time 0
        give go => idle -go, time used up-> rest; start 3.0 own 0.1; time 0 closed; wake 1300
        ",
    );
}

#[test]
fn a_tool_may_want_less_time_than_its_state_allows() {
    let call = r#"
[state.call]
run = "call"
timeout = "100ms"
tools = "all"
on.a = "end"
on.b = "end"
on.failed = "bad"
on.stuck = "bad"
on.denied = "bad"
"#;
    check(
        call,
        "
        begin within=40 => -> call; start 1.0 read; wake 40
        wake => call -failed-> bad; stop 1.0; 0: timed out; ended failed
        ",
    );
    check(call, "begin within=400 => -> call; start 1.0 read; wake 100");
}

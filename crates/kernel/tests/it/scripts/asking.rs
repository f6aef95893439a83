//! Asking: a call that waits for a person, and what continues meanwhile.

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

const EACH: &str = r#"
[state.each]
fan_out = { over = "items", run = "call", join = "join2", max_parallel = 1, max_items = 4 }
timeout = "100ms"
ask_timeout = "1m"
tools = ["read", "erase"]
on.a = "end"
on.b = "bad"
on.stuck = "bad"
"#;

#[test]
fn granted_call_has_the_rest_of_its_attempt() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        +5000 grant 2.0 => start 3.0 read; calls 1; wake 5100
        +10 answer 3.0 a => call -a-> end; 0: settled; time 960; ended succeeded
        ",
    );
}

#[test]
fn clocks_stop_while_a_person_is_asked() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        +5000 grant 2.0 => start 3.0 read; calls 1; wake 5100
        wake => call -failed-> bad; stop 3.0; 0: timed out; time 900; ended failed
        ",
    );
}

#[test]
fn a_denied_call_ends_a_run_state_as_denied() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        +5 deny 2.0 => call -denied-> stopped; 0: denied; ended cancelled
        ",
    );
}

#[test]
fn unanswered_question_counts_as_no() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        wake => call -denied-> stopped; 0: denied; ended cancelled
        ",
    );
}

#[test]
fn unattended_is_denied() {
    check(
        CALL,
        "
        begin may=unattended => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => call -denied-> stopped; Refuse by Unattended; 0: denied; time 970; ended cancelled
        ",
    );
}

#[test]
fn refused_tool_is_denied_without_asking() {
    check(
        CALL,
        "
        begin may=refuse => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => call -denied-> stopped; Refuse by Permission; 0: denied; time 970; ended cancelled
        ",
    );
}

#[test]
fn an_allowed_call_is_not_asked_for() {
    check(
        CALL,
        "
        begin may=ask_erase tools=0 => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        ",
    );
}

#[test]
fn other_items_continue_with_their_own_results() {
    check(
        EACH,
        "
        begin may=ask_erase items=4 tools=2021 => -> each; ask 1.0 erase; start 1.1 read; Ask by Permission; wake 100
        +10 answer 1.1 a => ask 2.0 erase; Ask by Permission; Refuse by ToolsOfState; 1: settled; 3: denied; wake 60000
        +10 grant 1.0 => start 3.0 erase; wake 120
        +10 deny 2.0 => 2: denied
        +10 answer 3.0 a => each -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn in_a_fan_out_a_refusal_is_an_item_and_an_expiry_too() {
    check(
        EACH,
        "
        begin may=ask_erase items=2 tools=21 => -> each; ask 1.0 erase; Ask by Permission; Refuse by ToolsOfState; 1: denied; wake 60000
        wake => each -a-> end; 0: denied; ended succeeded
        ",
    );
}

#[test]
fn a_grant_waits_for_a_place() {
    check(
        EACH,
        "
        begin may=ask_erase items=2 tools=20 => -> each; ask 1.0 erase; start 1.1 read; Ask by Permission; wake 100
        grant 1.0 =>
        answer 1.1 a => start 3.0 erase; 1: settled
        answer 3.0 a => each -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn freed_place_goes_to_the_earliest_waiting_item() {
    // Item 1 loses its place in the very step in which it would have continued.
    check(
        EACH,
        "
        begin may=ask_erase items=2 tools=20 => -> each; ask 1.0 erase; start 1.1 read; Ask by Permission; wake 100
        grant 1.0 =>
        answer 1.1 more => start 3.0 erase; 1: contract
        answer 3.0 a => each -a-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn a_granted_call_must_still_be_paid() {
    check(
        r#"
        [budget]
        calls = { max = 1, charge = "tool_call", else = "stopped" }
        [state.each]
        fan_out = { over = "items", run = "call", join = "join1", max_parallel = 2, max_items = 2 }
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.stuck = "bad"
        "#,
        "
        begin may=ask items=2 => -> each; ask 1.0 read; ask 1.1 read; Ask by Permission; Ask by Permission; wake 86400000
        grant 1.0 => start 2.0 read; calls 0; wake 100
        grant 1.1 => each -calls used up-> stopped; stop 2.0; 0: budget; 1: budget; calls 0 closed; ended cancelled
        ",
    );
}

#[test]
fn approvals_and_answers_are_not_interchangeable() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        grant 1.0 => rejected: effect 1.0 cannot be answered in this way
        answer 1.0 more => ask 2.0 read; Ask by Permission; wake 60000
        answer 2.0 a as tool => rejected: effect 2.0 cannot be answered in this way
        deny 2.1 => ignored: Answer
        grant 2.0 => start 3.0 read; calls 1; wake 100
        grant 2.0 => ignored: Answer
        ",
    );
}

#[test]
fn label_shows_the_waiting_state() {
    use pointsman_kernel::view::view;

    use crate::scripted::{ScriptedRun, chart};

    let chart = chart(
        r#"
        [state.call]
        run = "then_call"
        timeout = "100ms"
        attempts = 2
        backoff = { base = "1s", cap = "1s" }
        tools = "all"
        on.a = "end"
        on.b = "end"
        on.failed = "bad"
        on.stuck = "bad"
        on.denied = "bad"
        [state.waiting]
        between_attempts_of = "call"
        [state.asking]
        while_asking = "call"
        "#,
    );
    let mut scripted = ScriptedRun::new(&chart);
    let mut seen = Vec::new();
    for line in ["begin may=ask", "answer 1.0 fault", "wake", "answer 3.0 more", "grant 4.0"] {
        scripted.play(line);
        seen.push(view(&chart, &scripted.recorder.run().core).seen_as);
    }
    assert_eq!(seen, ["call", "waiting", "call", "asking", "call"].map(Box::from));
}

#[test]
fn impossible_call_fails_without_a_prompt() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        +5 cannot 2.0 1 => call -b-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn open_question_rejects_the_result_of_a_performed_call() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        +5 cannot 2.0 1 changed => rejected: effect 2.0 cannot be answered in this way
        +5 answer 2.0 a as tool => rejected: effect 2.0 cannot be answered in this way
        ",
    );
}

#[test]
fn host_cannot_decide_whether_a_call_is_repeated() {
    check(
        CALL,
        "
        begin may=allow => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => start 2.0 read; time 970; calls 1
        interrupt 2.0 => ask 3.0 read; wake 60030
        +5 cannot 3.0 1 => rejected: effect 3.0 cannot be answered in this way
        ",
    );
}

#[test]
fn unattended_call_is_denied_after_the_hosts_check() {
    check(
        CALL,
        "
        begin may=unattended checks => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; time 970; wake 60030
        +5 grant 2.0 => call -denied-> stopped; Refuse by Unattended; 0: denied; ended cancelled
        ",
    );
}

#[test]
fn unattended_a_call_that_is_impossible_is_not_denied() {
    check(
        CALL,
        "
        begin may=unattended checks => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; time 970; wake 60030
        +5 cannot 2.0 1 => call -b-> end; 0: settled; ended succeeded
        ",
    );
}

#[test]
fn late_answer_is_ignored_whenever_it_is_read() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
        +5 grant 2.0 sent=60030 => ignored: Expired
        deny 2.0 sent=99999 => ignored: Expired
        cannot 2.0 gone sent=60030 => ignored: Expired
        +99000 grant 2.0 sent=60030 => ignored: Expired
        @99035 woke => call -denied-> stopped; 0: denied; ended cancelled
        ",
    );
}

#[test]
fn timely_answer_counts_even_if_read_late() {
    // One that does not say when it was sent was in time.
    for sent in ["sent=60029", ""] {
        let script = format!(
            "
            begin may=ask => -> call; start 1.0 own 0.1; wake 100
            +30 answer 1.0 more => ask 2.0 read; Ask by Permission; time 970; wake 60030
            @70000 grant 2.0 {sent} => start 3.0 read; calls 1; wake 70070
            "
        );
        check(CALL, &script.replace("2.0  =>", "2.0 =>"));
    }
}

#[test]
fn an_answer_of_an_agents_own_is_late_after_its_deadline() {
    check(
        CALL,
        "
        begin may=ask => -> call; start 1.0 own 0.1; wake 100
        +30 answer 1.0 more sent=100 => ignored: Expired
        @150 answer 1.0 b sent=99 => call -b-> end; 0: settled; time 850; ended succeeded
        ",
    );
}

//! Pausing: starts are held, answers settle, resuming emits what was held.

use crate::scripted::check;

const TWO: &str = r#"
[budget]
time = { max = "1s", charge = "time", else = "bad" }
[state.first]
run = "pair"
timeout = "100ms"
attempts = 2
backoff = { base = "50ms", cap = "50ms" }
on.a = "second"
on.b = "end"
on.failed = "bad"
[state.second]
run = "run1"
timeout = "100ms"
on.a = "end"
on.failed = "bad"
"#;

#[test]
fn an_answer_settles_and_the_next_state_waits() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        +10 pause => time 990
        +10 answer 1.0 a => first -a-> second; 0: settled
        +500 resume => start 4.0 own 0.1; wake 620
        +10 answer 4.0 a => second -a-> end; 0: settled; time 980; ended succeeded
        ",
    );
}

#[test]
fn further_order_is_held_with_its_remaining_time() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        +10 pause => time 990
        +10 answer 1.0 more =>
        +500 resume => start 4.0 own 0.1; wake 600
        +10 answer 4.0 b => first -b-> end; 0: settled; time 980; ended succeeded
        ",
    );
}

#[test]
fn the_next_attempt_is_due_in_a_pause_and_starts_after_it() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        +10 answer 1.0 fault => time 990; wake 54
        +10 pause => time 980
        wake =>
        +500 resume => start 5.0 Model; wake 654
        ",
    );
}

#[test]
fn work_in_progress_can_still_time_out() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        pause =>
        wake => stop 1.0; wake 146
        wake =>
        +10 resume => start 5.0 Model; wake 256
        ",
    );
}

#[test]
fn a_granted_call_waits_for_the_end_of_the_pause() {
    check(
        r#"
        [state.call]
        run = "call"
        timeout = "100ms"
        tools = "all"
        on.a = "end"
        on.b = "end"
        on.failed = "bad"
        on.stuck = "bad"
        on.denied = "bad"
        "#,
        "
        begin may=ask => -> call; ask 1.0 read; Ask by Permission; wake 86400000
        pause =>
        grant 1.0 =>
        resume => start 4.0 read; wake 100
        ",
    );
}

#[test]
fn items_are_held_and_a_list_without_items_still_joins() {
    let fan = r#"
        [state.idle]
        await = ["go"]
        on.go = "each"
        [state.each]
        fan_out = { over = "items", run = "run2", join = "join1", max_parallel = 1, max_items = 2 }
        timeout = "100ms"
        on.a = "end"
    "#;
    check(
        fan,
        "
        begin => -> idle
        pause =>
        give go items=2 => idle -go-> each
        resume => start 4.0 own 0.1; wake 100
        ",
    );
    check(
        fan,
        "
        begin => -> idle
        pause =>
        give go items=0 => idle -go-> each; each -a-> end; ended succeeded
        ",
    );
}

#[test]
fn pausing_twice_and_resuming_twice_changes_nothing() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        resume => ignored: Already
        pause =>
        pause => ignored: Already
        resume =>
        resume => ignored: Already
        ",
    );
}

#[test]
fn only_the_machine_lifts_its_own_pause() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        lift machine => ignored: Already
        pause machine =>
        pause machine => ignored: Already
        pause => ignored: Already
        answer 1.0 a => first -a-> second; 0: settled
        lift person => ignored: Already
        lift parent => ignored: Already
        lift machine => start 4.0 own 0.1; wake 100
        lift machine => ignored: Already
        ",
    );
}

#[test]
fn run_stays_paused_until_every_pause_is_lifted() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        pause parent =>
        pause person =>
        answer 1.0 a => first -a-> second; 0: settled
        lift parent =>
        lift parent => ignored: Already
        lift machine => ignored: Already
        lift person => start 6.0 own 0.1; wake 100
        ",
    );
}

#[test]
fn queued_run_starts_nothing_until_a_worker_lifts_its_pause() {
    check(
        TWO,
        "
        begin queued => -> first
        lift machine => ignored: Already
        lift worker => start 2.0 Model; wake 100
        lift worker => ignored: Already
        ",
    );
}

#[test]
fn a_person_who_resumes_a_run_lifts_every_pause() {
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        pause person =>
        pause machine =>
        pause parent =>
        answer 1.0 a => first -a-> second; 0: settled
        resume => start 6.0 own 0.1; wake 100
        lift machine => ignored: Already
        pause machine =>
        ",
    );
}

#[test]
fn anyone_lifts_a_pause_without_author() {
    for by in ["person", "parent", "machine"] {
        check(
            TWO,
            &format!("begin => -> first; start 1.0 Model; wake 100\npause =>\nlift {by} =>"),
        );
    }
    // A second author must lift their own pause.
    check(
        TWO,
        "
        begin => -> first; start 1.0 Model; wake 100
        pause =>
        pause machine =>
        lift person => ignored: Already
        lift machine =>
        resume => ignored: Already
        ",
    );
}

//! Attempts: waiting times, hints, faults, timeouts.

use crate::rig::trace;

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
    insta::assert_snapshot!(
        trace(TRIED, "
            begin
            +10 answer 1.0 fault
            wake
            +10 answer 3.0 fault
            wake
            +10 answer 5.0 fault
        "), @"");
}

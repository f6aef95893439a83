//! Every kind of wait beside every kind of event, in one table.

use std::fmt::Write as _;

use crate::scripted::{ScriptedRun, chart};

const CHART: &str = r#"
[any]
cancel = "stopped"
cancel_turn = "idle"
[state.idle]
await = ["go"]
on.go = "work"
[state.work]
run = "then_call"
timeout = "100ms"
attempts = 2
backoff = { base = "1s", cap = "1s" }
tools = "all"
on.a = "doze"
on.b = "end"
on.failed = "bad"
on.stuck = "bad"
on.denied = "bad"
[state.doze]
await = ["go", "stop"]
timeout = "1s"
on.go = "each"
on.stop = "end"
on.timeout = "end"
[state.each]
fan_out = { over = "items", run = "run2", join = "join1", max_parallel = 1, max_items = 2 }
timeout = "100ms"
on.a = "end"
"#;

/// How each kind of wait is come to, and the effect that it waits for.
const WAITS: &[(&str, &str, &[&str])] = &[
    ("not begun", "9.9", &[]),
    ("await", "9.9", &["begin"]),
    ("working", "2.0", &["begin", "give go"]),
    ("backing off", "9.9", &["begin", "give go", "answer 2.0 fault"]),
    ("asking", "3.0", &["begin may=ask", "give go", "answer 2.0 more"]),
    ("held", "9.9", &["begin", "pause", "give go"]),
    ("dozing", "9.9", &["begin", "give go", "answer 2.0 a"]),
    ("fanned out", "4.0", &["begin", "give go", "answer 2.0 a", "give go items=2"]),
    ("ended", "9.9", &["begin", "cancel"]),
];

const EVENTS: &[&str] = &[
    "begin",
    "give go",
    "give tune",
    "answer EFFECT a",
    "answer 1.0 a",
    "answer 77.0 a",
    "grant EFFECT",
    "woke",
    "+5000 woke",
    "cancel",
    "cancel_turn",
    "shutdown",
    "pause",
    "resume",
];

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn every_waiting_state_handles_every_event() {
    let chart = chart(CHART);
    let mut table = String::new();
    for (wait, effect, lines) in WAITS {
        let _ = writeln!(table, "{wait}");
        for event in EVENTS.iter().filter(|event| *effect != "9.9" || !event.contains("EFFECT")) {
            let mut scripted = ScriptedRun::new(&chart);
            for line in *lines {
                scripted.play(line);
            }
            let came = scripted.play(&event.replace("EFFECT", effect));
            let _ = writeln!(table, "{}", format!("    {event} => {came}").trim_end());
            scripted.replays();
        }
    }
    insta::assert_snapshot!(table, @r#"
    not begun
        begin => -> idle
        give go => rejected: the run has not begun; its first event must be `begun`
        give tune => rejected: the run has not begun; its first event must be `begun`
        answer 1.0 a => rejected: the run has not begun; its first event must be `begun`
        answer 77.0 a => rejected: the run has not begun; its first event must be `begun`
        woke => rejected: the run has not begun; its first event must be `begun`
        +5000 woke => rejected: the run has not begun; its first event must be `begun`
        cancel => rejected: the run has not begun; its first event must be `begun`
        cancel_turn => rejected: the run has not begun; its first event must be `begun`
        shutdown => rejected: the run has not begun; its first event must be `begun`
        pause => rejected: the run has not begun; its first event must be `begun`
        resume => rejected: the run has not begun; its first event must be `begun`
    await
        begin => rejected: the run has already begun
        give go => idle -go-> work; start 2.0 own 0.1; wake 100
        give tune => rejected: state `idle` does not wait for event 2
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        woke => ignored: NotDue
        +5000 woke => ignored: NotDue
        cancel => idle -cancel-> stopped; ended cancelled
        cancel_turn => idle -cancel_turn-> idle
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause =>
        resume => ignored: Already
    working
        begin => rejected: the run has already begun
        give go => rejected: state `work` does not wait for event 0
        give tune => rejected: state `work` does not wait for event 2
        answer EFFECT a => work -a-> doze; 0: settled; wake 1000
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        grant EFFECT => rejected: effect 2.0 cannot be answered in this way
        woke => ignored: NotDue
        +5000 woke => stop 2.0; wake 5923
        cancel => work -cancel-> stopped; stop 2.0; 0: cancelled; ended cancelled
        cancel_turn => work -cancel_turn-> idle; stop 2.0; 0: cancelled
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause =>
        resume => ignored: Already
    backing off
        begin => rejected: the run has already begun
        give go => rejected: state `work` does not wait for event 0
        give tune => rejected: state `work` does not wait for event 2
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        woke => ignored: NotDue
        +5000 woke => start 4.0 own 0.2; wake 5100
        cancel => work -cancel-> stopped; 0: cancelled; ended cancelled
        cancel_turn => work -cancel_turn-> idle; 0: cancelled
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause =>
        resume => ignored: Already
    asking
        begin => rejected: the run has already begun
        give go => rejected: state `work` does not wait for event 0
        give tune => rejected: state `work` does not wait for event 2
        answer EFFECT a => rejected: effect 3.0 cannot be answered in this way
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        grant EFFECT => start 4.0 read; wake 100
        woke => ignored: NotDue
        +5000 woke => ignored: NotDue
        cancel => work -cancel-> stopped; stop 3.0; 0: cancelled; ended cancelled
        cancel_turn => work -cancel_turn-> idle; stop 3.0; 0: cancelled
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause =>
        resume => ignored: Already
    held
        begin => rejected: the run has already begun
        give go => rejected: state `work` does not wait for event 0
        give tune => rejected: state `work` does not wait for event 2
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        woke => ignored: NotDue
        +5000 woke => ignored: NotDue
        cancel => work -cancel-> stopped; 0: cancelled; ended cancelled
        cancel_turn => work -cancel_turn-> idle; 0: cancelled
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause => ignored: Already
        resume => start 4.0 own 0.1; wake 100
    dozing
        begin => rejected: the run has already begun
        give go => doze -go-> each; each -a-> end; ended succeeded
        give tune => rejected: state `doze` does not wait for event 2
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        woke => ignored: NotDue
        +5000 woke => doze -timeout-> end; ended succeeded
        cancel => doze -cancel-> stopped; ended cancelled
        cancel_turn => doze -cancel_turn-> idle
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause =>
        resume => ignored: Already
    fanned out
        begin => rejected: the run has already begun
        give go => rejected: state `each` does not wait for event 0
        give tune => rejected: state `each` does not wait for event 2
        answer EFFECT a => start 5.0 own 1.1; 0: settled
        answer 1.0 a => ignored: Answer
        answer 77.0 a => rejected: no step asked for effect 77.0
        grant EFFECT => rejected: effect 4.0 cannot be answered in this way
        woke => ignored: NotDue
        +5000 woke => stop 4.0; start 5.1 own 1.1; 0: timed out; wake 5100
        cancel => each -cancel-> stopped; stop 4.0; 0: cancelled; 1: cancelled; ended cancelled
        cancel_turn => each -cancel_turn-> idle; stop 4.0; 0: cancelled; 1: cancelled
        shutdown => rejected: the chart's `[any]` has no `shutdown`
        pause =>
        resume => ignored: Already
    ended
        begin => rejected: the run has already begun
        give go => rejected: the run has ended; fork it to continue
        give tune => rejected: the run has ended; fork it to continue
        answer 1.0 a => ignored: Ended
        answer 77.0 a => ignored: Ended
        woke => ignored: Ended
        +5000 woke => ignored: Ended
        cancel => ignored: Ended
        cancel_turn => ignored: Ended
        shutdown => ignored: Ended
        pause => rejected: the run has ended; fork it to continue
        resume => rejected: the run has ended; fork it to continue
    "#);
}

//! Commands that do not end by themselves.

use std::{fs, thread, time::Duration};

use serde_json::json;

use super::{super::wait, KINDS, desk, fails, works};

/// Sleepers that try to be left behind: in the background, in their own session, and
/// without the environment they were given.
fn sleepers(mark: &str) -> String {
    format!(
        "sleep {mark}1 & setsid sleep {mark}2 & (setsid sleep {mark}3 &) ; \
         (setsid env -i sleep {mark}5 &) ; touch started"
    )
}

/// Returns whether a process has this in its command line.
fn runs(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("the folder is readable").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| line.starts_with(b"sleep\0") && String::from_utf8_lossy(&line).contains(mark))
}

/// Waits until something holds; it fails after a minute.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} never came true");
}

fn mark(kind: &str, digit: u32) -> String {
    format!("{}{digit}{}", std::process::id(), kind.len())
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_command_that_takes_too_long_is_stopped_with_all_it_started() {
    for kind in KINDS {
        let (desk, mark) = (desk(kind, "timeout"), mark(kind, 1));
        let command = format!("{}; echo here; sleep {mark}4", sleepers(&mark));
        let said = wait(desk.call("shell", json!({ "command": command, "timeout_ms": 5000 })));
        assert_eq!(said.output, "stopped after 5000 ms, its time limit\nhere\n", "{kind}");
        assert!(!said.ok && said.mutated, "{kind}");
        until("the end of all", || !runs(&mark));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_call_that_is_dropped_leaves_no_process() {
    for kind in KINDS {
        let (desk, mark) = (desk(kind, "dropped"), mark(kind, 2));
        let command = format!("{}; sleep {mark}4", sleepers(&mark));
        wait(async {
            let call = desk.call("shell", json!({ "command": command }));
            let started = async {
                while !desk.root.join("started").exists() || !runs(&mark) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            tokio::select! {
                said = call => panic!("{kind}: it ended: {said:?}"),
                () = started => {}
            }
        });
        until("the end of all", || !runs(&mark));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn background_processes_end_with_their_command() {
    for kind in KINDS {
        let (desk, mark) = (desk(kind, "background"), mark(kind, 3));
        let said = works(&desk, &format!("{}; echo over", sleepers(&mark)));
        assert_eq!(said, "exit code 0\nover\n", "{kind}");
        until("the end of all", || !runs(&mark));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn command_ended_by_a_signal_is_reported() {
    for kind in KINDS {
        let said = fails(&desk(kind, "signal"), "kill -TERM $$");
        // Bubblewrap gives the code that shells give.
        let expected =
            if kind == "landlock" { "stopped by signal 15\n" } else { "exit code 143\n" };
        assert_eq!(said, expected, "{kind}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_call_cannot_ask_for_more_time_than_there_is() {
    let desk = desk("bubblewrap", "more-time");
    let said = desk.refuses("shell", json!({ "command": "true", "timeout_ms": 600_001 }));
    assert!(said.contains("`timeout_ms`") && said.contains("600000"), "{said}");
}

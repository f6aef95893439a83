//! A person at work in the same repository while a model writes the message.

use std::{fs, thread, time::Duration};

use serde_json::json;

use super::{TestSession, committing, edit, script};

/// Runs the hook with a model that is slow, and something else once the file is staged.
fn meanwhile(desk: &TestSession, work: impl FnOnce() + Send) -> (bool, String) {
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    let model = script(&desk.folder.0, &json!({ "text": "Count", "delay_ms": 10_000 }));
    let executor = desk.executor(committing(), model);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2_000 {
                if desk.git(&["diff", "--cached", "--name-only"]) == "a.txt\n" {
                    return work();
                }
                thread::sleep(Duration::from_millis(10));
            }
            panic!("it was never staged");
        });
        TestSession::hook(&executor, &run, &["edit"])
    })
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn changes_during_the_commit_message_stay_out() {
    let desk = TestSession::with_git("race-write");
    let (acted, said) = meanwhile(&desk, || desk.put("a.txt", "two\nmine\n"));
    assert!(acted && said.starts_with("committed 1 file"), "{said}");
    assert_eq!(desk.git(&["show", "HEAD:a.txt"]), "two\n");
    let file = desk.folder.0.join("work/a.txt");
    assert_eq!(fs::read_to_string(file).expect("the file exists and is UTF-8"), "two\nmine\n");
    assert_eq!(desk.git(&["status", "--porcelain"]), " M a.txt\n");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn staging_during_the_message_stops_the_commit() {
    let desk = TestSession::with_git("race-stage");
    let (acted, said) = meanwhile(&desk, || {
        desk.put("c.txt", "mine\n");
        desk.git(&["add", "c.txt"]);
    });
    assert!(!acted && said.contains("another program changed the git index (c.txt)"), "{said}");
    assert_eq!(desk.log(), ["first"]);
    assert_eq!(desk.git(&["status", "--porcelain"]), " M a.txt\nA  c.txt\n");

    // The same file, written and staged again: it is noticed before or after the message.
    let desk = TestSession::with_git("race-again");
    let (acted, said) = meanwhile(&desk, || {
        desk.put("a.txt", "two\nmine\n");
        desk.git(&["add", "a.txt"]);
    });
    assert!(!acted && said.contains("another program"), "{said}");
    assert!(said.contains("a.txt"), "{said}");
    assert_eq!(desk.log(), ["first"]);
    let file = desk.folder.0.join("work/a.txt");
    assert_eq!(fs::read_to_string(file).expect("the file exists and is UTF-8"), "two\nmine\n");
}

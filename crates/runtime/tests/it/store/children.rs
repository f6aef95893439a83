//! Faults that only a process of its own can meet: a file that may not grow, a user who
//! may not write, a sudden death. This test program is started again for each.

use std::{
    env, fs,
    io::{self, BufRead, BufReader},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use pointsman_kernel::id::Seq;
use pointsman_runtime::store::{Store, StoreError};

use super::{Folder, Script, names};

/// Tells a test that it is the child, and where to work.
const PLACE: &str = "POINTSMAN_TEST_PLACE";

fn place() -> Option<PathBuf> {
    env::var_os(PLACE).map(Into::into)
}

/// Starts this program again with one test, after a few words to the shell.
fn start(test: &str, words: &str, place: &Path) -> Command {
    start_at(&env::current_exe().expect("it has a path"), test, words, place)
}

/// Starts a copy of this program with one test.
fn start_at(program: &Path, test: &str, words: &str, place: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{words} exec \"$0\" --exact \"$1\" --nocapture")])
        .arg(program)
        .arg(format!("store::children::{test}"))
        .env(PLACE, place)
        .env_remove("RUST_BACKTRACE");
    command
}

fn check(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
    text
}

/// Returns the number after a word that the child printed.
fn said(text: &str, word: &str) -> u64 {
    let after = text.split(word).nth(1).unwrap_or_else(|| panic!("no `{word}` in {text}"));
    after.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child_writes_until_it_fails() {
    let Some(journal) = place() else { return };
    let store = Store::open(&journal).expect("it opens");
    let mut script = Script::begin("one", &store, 1).await;
    let error = loop {
        let next = script.next(&"words ".repeat(80));
        if let Err(error) = store.append(next).await {
            break error;
        }
        assert!(script.seq < Seq(5_000), "it never fails");
    };
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
    let told = format!("at entry {} of run one", script.seq.0);
    assert!(error.to_string().contains(&told), "{error}");
    script.lines.pop();
    assert_eq!(store.lines(&script.run, Seq(0)).expect("reads go on"), script.lines);
    println!("wrote {} lines", script.lines.len());
}

#[test]
fn an_error_of_the_disk_breaks_the_store_and_loses_nothing() {
    let folder = Folder::new("too-large");
    fs::create_dir_all(folder.0.join("deep")).expect("it can be made");
    // No file may grow past 400 blocks, and to try is an error instead of a signal.
    let mut child =
        start("child_writes_until_it_fails", "trap '' XFSZ; ulimit -f 400;", &folder.journal());
    let written = said(&check(&child.output().expect("it starts")), "wrote");
    let store = folder.store();
    let lines = store.lines(&"one".parse().expect("an id"), Seq(0)).expect("it is whole");
    assert!(lines.len() as u64 >= written, "{} of {written} lines", lines.len());
}

#[tokio::test]
async fn child_opens_what_it_may_not_write() {
    let Some(place) = place() else { return };
    // What is there can be read.
    for existing in ["file/journal.db", "folder/journal.db"] {
        let store = Store::open(&place.join(existing)).expect("it can be read");
        assert_eq!(names(&store), ["one"]);
        let mut script = Script::new("one");
        script.next("it begins");
        assert_eq!(store.lines(&script.run, Seq(0)).expect("readable"), script.lines);
        let refused = [
            store.append(script.next("second")).await.map(drop),
            store.post(&script.run, "hello").await.map(drop),
            store.hold(&script.run).map(drop),
        ];
        for refused in refused {
            let error = refused.expect_err("it may not");
            assert!(matches!(error, StoreError::OnlyRead { .. }), "{error:?}");
            assert!(error.hint().is_some());
        }
    }
    let told = |path: &str| Store::open(&place.join(path)).expect_err("it may not");
    // What a log holds would be missed.
    for other in ["folder/new.db", "log/journal.db"] {
        let error = told(other);
        let clear = matches!(error, StoreError::ReadOnly { .. } | StoreError::Open { .. });
        assert!(clear && error.hint().is_some(), "{error:?}");
    }
    let error = told("folder/deeper/journal.db");
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[tokio::test]
async fn a_file_or_folder_that_may_not_be_written_is_told() {
    let folder = Folder::new("read-only");
    for name in ["file", "folder", "log"] {
        let store = Store::open(&folder.0.join(name).join("journal.db")).expect("it opens");
        Script::begin("one", &store, 1).await;
    }
    fs::write(folder.0.join("log/journal.db-wal"), "what was not written back").expect("written");
    let allow = |path: &str, mode: u32| {
        let path = folder.0.join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    for (path, mode) in [
        ("file", 0o777),
        ("file/journal.db", 0o444),
        ("folder", 0o555),
        ("folder/journal.db", 0o666),
        ("log", 0o555),
        ("log/journal.db", 0o666),
    ] {
        allow(path, mode);
    }
    // Where this program lies, others may not be able to go.
    let program = folder.0.join("program");
    fs::copy(env::current_exe().expect("it has a path"), &program).expect("it is copied");
    for path in ["", "program"] {
        allow(path, 0o755);
    }
    let mut child = start_at(&program, "child_opens_what_it_may_not_write", "", &folder.0);
    if rustix::process::geteuid().is_root() {
        // Nothing is forbidden to root, so somebody else must try.
        child.uid(65_534).gid(65_534);
    }
    let output = child.output().expect("it starts");
    allow("folder", 0o755);
    allow("log", 0o755);
    check(&output);
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child_writes_until_it_is_killed() {
    let Some(journal) = place() else { return };
    let store = Store::open(&journal).expect("it opens");
    let _hold = store.hold(&"one".parse().expect("an id")).expect("asked").expect("it is free");
    let mut script = Script::begin("one", &store, 1).await;
    for _ in 1..30 {
        store.append(script.next("more")).await.expect("it is written").seq();
    }
    println!("wrote {} lines", script.lines.len());
    // The parent looks around, closes our input, and we die without a word.
    io::stdin().read_line(&mut String::new()).expect("it is closed");
    let ourselves = rustix::process::getpid();
    rustix::process::kill_process(ourselves, rustix::process::Signal::KILL).expect("we may");
}

#[test]
fn what_a_killed_process_wrote_is_there_and_its_hold_is_gone() {
    let folder = Folder::new("killed");
    fs::create_dir_all(folder.0.join("deep")).expect("it can be made");
    let mut child = start("child_writes_until_it_is_killed", "", &folder.journal())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let written = output.lines().map_while(Result::ok).find(|line| line.contains("wrote 30 lines"));
    assert!(written.is_some(), "it ended too soon");
    let store = folder.store();
    let run = "one".parse().expect("an id");
    assert!(store.hold(&run).expect("it can be asked").is_none(), "the child holds it");
    drop(child.stdin.take());
    assert!(!child.wait().expect("it ends").success(), "it was killed");
    drop(store);
    let store = folder.store();
    assert_eq!(names(&store), ["one"]);
    assert_eq!(store.lines(&run, Seq(0)).expect("it is whole").len(), 30);
    assert!(store.hold(&run).expect("it can be asked").is_some(), "nobody holds it");
}

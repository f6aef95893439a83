//! Faults that need a separate process: a file that may not grow, a user who
//! may not write, a sudden death. This test program is started again for each.

mod races;

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Write as _},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use pointsman_kernel::{chart::Disposition, governor::Permissions, id::Seq};
use pointsman_runtime::{
    driver::RunStatus,
    engine::Engine,
    session::StartOptions,
    store::{Change, NewRun, QueueOptions, RunId, SqliteStore, Store as _, StoreError, Worker},
    tool::ToolSettings,
};

use super::{
    Plain as _, Script, TempFolder,
    faults::{LEASELESS, UNINDEXED},
    names, new_run,
};
use crate::session::TestSession;

/// Tells a test that it is the child, and where to work.
const PLACE: &str = "POINTSMAN_TEST_PLACE";

fn place() -> Option<PathBuf> {
    env::var_os(PLACE).map(Into::into)
}

/// Starts this program again with one test, after a few words to the shell.
fn start(test: &str, words: &str, place: &Path) -> Command {
    start_at(&env::current_exe().expect("the test binary has a path"), test, words, place)
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
    let store = SqliteStore::open(&journal).expect("the journal opens");
    let mut script = Script::begin("one", &store, 1).await;
    let error = loop {
        let next = script.next(&"words ".repeat(80));
        if let Err(error) = store.write(next).await {
            break error;
        }
        assert!(script.seq < Seq(5_000), "it never fails");
    };
    assert!(matches!(error, StoreError::Unknown { .. }), "{error}");
    let told = format!("at entry {} of run one", script.seq.0);
    assert!(error.to_string().contains(&told), "{error}");
    script.lines.pop();
    assert_eq!(store.reader().lines(&script.run, Seq(0)).expect("reads go on"), script.lines);
    println!("wrote {} lines", script.lines.len());
}

#[test]
fn an_error_of_the_disk_breaks_the_store_and_loses_nothing() {
    let folder = TempFolder::new("too-large");
    fs::create_dir_all(folder.0.join("deep")).expect("the folder is created");
    // No file may grow past 400 blocks, and to try is an error instead of a signal.
    let mut child =
        start("child_writes_until_it_fails", "trap '' XFSZ; ulimit -f 400;", &folder.journal());
    let written = said(&check(&child.output().expect("the program starts")), "wrote");
    let store = folder.store();
    let lines = store
        .reader()
        .lines(&"one".parse().expect("the text is a run id"), Seq(0))
        .expect("the journal lines are readable");
    assert!(lines.len() as u64 >= written, "{} of {written} lines", lines.len());
}

#[tokio::test]
async fn child_opens_a_read_only_journal() {
    let Some(place) = place() else { return };
    // An existing journal can be read.
    for existing in ["file/journal.db", "folder/journal.db"] {
        let store = SqliteStore::open(&place.join(existing)).expect("the journal opens");
        assert_eq!(names(&store), ["one"]);
        let mut script = Script::new("one");
        script.next("it begins");
        assert_eq!(
            store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
            script.lines
        );
        let refused = [
            store.write(script.next("second")).await.map(drop),
            store.send(&script.run, "hello").await.map(drop),
            store.claim(&script.run).await.map(drop),
        ];
        for refused in refused {
            let error = refused.expect_err("it may not");
            assert!(matches!(error, StoreError::OnlyRead { .. }), "{error:?}");
            assert!(error.hint().is_some());
        }
    }
    let told = |path: &str| SqliteStore::open(&place.join(path)).expect_err("it may not");
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
async fn read_only_file_or_folder_is_reported() {
    let folder = TempFolder::new("read-only");
    for name in ["file", "folder", "log"] {
        let store =
            SqliteStore::open(&folder.0.join(name).join("journal.db")).expect("the journal opens");
        Script::begin("one", &store, 1).await;
    }
    fs::write(folder.0.join("log/journal.db-wal"), "what was not written back")
        .expect("the file is written");
    let allow = |path: &str, mode: u32| {
        let path = folder.0.join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .expect("the owner may set permissions");
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
    // Another process copies it: a child that another test starts meanwhile would inherit our open
    // file, and a file that is open for writing cannot be executed.
    let ours = env::current_exe().expect("the test binary has a path");
    let copied = Command::new("cp").arg(ours).arg(&program).status().expect("cp starts");
    assert!(copied.success());
    for path in ["", "program"] {
        allow(path, 0o755);
    }
    let mut child = start_at(&program, "child_opens_a_read_only_journal", "", &folder.0);
    if rustix::process::geteuid().is_root() {
        // Root may do everything, so another user must try.
        child.uid(65_534).gid(65_534);
    }
    let output = child.output().expect("the program starts");
    allow("folder", 0o755);
    allow("log", 0o755);
    check(&output);
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child_writes_until_it_is_killed() {
    let Some(journal) = place() else { return };
    let store = SqliteStore::open(&journal).expect("the journal opens");
    let mut script = Script::begin("one", &store, 1).await;
    let lease = store
        .claim(&script.run)
        .await
        .expect("the store answers the claim")
        .expect("no other owner holds the run");
    for _ in 1..30 {
        store.append(&lease, script.next("more").into()).await.expect("the entry is appended");
    }
    println!("wrote {} lines", script.lines.len());
    // The parent looks around, closes our input, and we die without a word.
    io::stdin().read_line(&mut String::new()).expect("it is closed");
    let ourselves = rustix::process::getpid();
    rustix::process::kill_process(ourselves, rustix::process::Signal::KILL).expect("we may");
}

#[tokio::test]
async fn killed_process_leaves_entries_but_no_lease() {
    let folder = TempFolder::new("killed");
    fs::create_dir_all(folder.0.join("deep")).expect("the folder is created");
    let mut child = start("child_writes_until_it_is_killed", "", &folder.journal())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let output = BufReader::new(child.stdout.take().expect("the stream is piped"));
    let written = output.lines().map_while(Result::ok).find(|line| line.contains("wrote 30 lines"));
    assert!(written.is_some(), "it ended too soon");
    let store = folder.store();
    let run = "one".parse().expect("the text is a run id");
    assert!(
        store.claim(&run).await.expect("the store answers the claim").is_none(),
        "the child has it"
    );
    drop(child.stdin.take());
    assert!(!child.wait().expect("the process ends").success(), "it was killed");
    drop(store);
    let store = folder.store();
    assert_eq!(names(&store), ["one"]);
    assert_eq!(
        store.reader().lines(&run, Seq(0)).expect("the journal lines are readable").len(),
        30
    );
    assert!(
        store.claim(&run).await.expect("the store answers the claim").is_some(),
        "nobody has it"
    );
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child_has_a_run_and_loses_it() {
    let Some(journal) = place() else { return };
    let store = SqliteStore::open(&journal).expect("the journal opens");
    let (mut script, lease) = Script::create("one", &store, 1).await.expect("it begins");
    println!("has the run");
    // The parent takes it over and tells us to continue as if nothing had happened.
    let mut word = String::new();
    io::stdin().read_line(&mut word).expect("the parent writes");
    script.next("written by the parent");
    let late = script.next("too late");
    let refused = store.append(&lease, late.into()).await.expect_err("it is too late");
    assert!(matches!(refused, StoreError::Fenced { .. }), "{refused}");
    store.send(&script.run, "from the child").await.expect("anybody may post");
    println!("was fenced");
    io::stdin().read_line(&mut word).expect("it is closed");
}

#[tokio::test]
async fn takeover_fences_the_previous_owner() {
    let folder = TempFolder::new("taken-over");
    fs::create_dir_all(folder.0.join("deep")).expect("the folder is created");
    let store = folder.store();
    let mut changes = store.changes().await.expect("the store announces changes");
    let mut child = start("child_has_a_run_and_loses_it", "", &folder.journal())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("the stream is piped");
    let mut output = BufReader::new(child.stdout.take().expect("the stream is piped")).lines();
    let mut hears =
        |word: &str| output.by_ref().map_while(Result::ok).any(|line| line.contains(word));
    assert!(hears("has the run"));
    let mut script = Script::new("one");
    script.next("it begins");
    let limit = std::time::Duration::from_mins(1);
    let created = async {
        let wanted =
            |change: &Change| matches!(change, Change::Entry { run, .. } if *run == script.run);
        while !wanted(&changes.next().await) {}
    };
    tokio::time::timeout(limit, created).await.expect("the child's run is announced");
    assert!(store.claim(&script.run).await.expect("the store answers the claim").is_none());

    // As good as an owner whose lock was lost: another file is locked from now on.
    fs::remove_file(folder.0.join("deep/journal.db.holds/one")).expect("the child has it");
    let lease = store
        .claim(&script.run)
        .await
        .expect("the store answers the claim")
        .expect("no other owner holds the run");
    assert_eq!(lease.epoch(), 2);
    let ours = script.next("written by the parent");
    store.append(&lease, ours.into()).await.expect("it is ours");
    input.write_all(b"go on\n").expect("the child reads");
    assert!(hears("was fenced"));
    tokio::time::timeout(limit, changes.message_for(&script.run))
        .await
        .expect("the event comes before the timeout");
    drop(input);
    assert!(child.wait().expect("the process ends").success());
    // The child gave up what it had; that is not our lease.
    assert!(store.claim(&script.run).await.expect("the store answers the claim").is_none());
    assert_eq!(
        store.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable"),
        script.lines
    );
    assert_eq!(store.reader().messages(&script.run).expect("the messages are readable").len(), 1);
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child_drains_the_queue() {
    let Some(journal) = place() else { return };
    let store = SqliteStore::open(&journal).expect("the journal opens");
    let mut drained = 0;
    loop {
        let leases =
            store.claim_ready(3, &Worker::default()).await.expect("the store answers the claim");
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            let mut script = Script::new(lease.run().as_str());
            script.next("it begins");
            let mut last = script.next("it ends");
            last.ended = Some(Disposition::Succeeded);
            // Were it another's, too, one of the two would be refused.
            store.append(&lease, last.into()).await.expect("it is ours alone");
            drained += 1;
        }
    }
    println!("drained {drained} runs");
}

#[tokio::test]
async fn two_processes_drain_a_queue_and_no_run_is_driven_twice() {
    const RUNS: u64 = 60;
    let folder = TempFolder::new("drained");
    let store = folder.store();
    for run in 0..RUNS {
        let first = Script::new(&format!("r{run}")).next("it begins");
        let new_run = NewRun { queue: Some(QueueOptions::default()), ..new_run(run) };
        drop(store.create(first.into(), new_run).await.expect("the run is created"));
    }
    let children = [(); 2].map(|()| {
        let mut child = start("child_drains_the_queue", "", &folder.journal());
        child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    });
    let drained = children.map(|child| {
        let output = child.wait_with_output().expect("the process ends");
        said(&check(&output), "drained")
    });
    // A run that one has for a moment is passed over by the other, and was its last.
    let left =
        store.claim_ready(99, &Worker::default()).await.expect("the store answers the claim");
    assert_eq!(drained.iter().sum::<u64>() + left.len() as u64, RUNS, "{drained:?}");
    let ended = store.reader().runs().expect("the runs are readable");
    let ended = ended.iter().filter(|row| row.ended.is_some()).count();
    assert_eq!(ended as u64, drained.iter().sum::<u64>());
}

#[test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn child_opens_an_older_format() {
    let Some(journal) = place() else { return };
    println!("opens it");
    drop(SqliteStore::open(&journal).expect("the journal opens"));
}

/// Fills a journal with runs and one that was interrupted in the middle of a call, as an older
/// format left it. Returns that run and the file.
async fn older(folder: &TempFolder, format: &str, runs: usize) -> (RunId, Vec<u8>) {
    drop(fs::remove_dir_all(folder.0.join("deep")));
    let store = folder.store();
    for run in 0..runs {
        Script::begin(&format!("r{run}"), &store, 1).await;
    }
    let engine = engine(folder, store).await;
    let permissions = Permissions::allow_all();
    let start = StartOptions { permissions, ..TestSession::start(false) };
    let whole = engine.start(start).await.expect("it begins").wait().await.expect("it runs");
    // A call was started with its first entry and not answered.
    let run = engine.fork(&whole.run, Some(Seq(1))).await.expect("the run is forked");
    drop(engine);
    folder.raw().execute_batch(format).expect("the SQL runs");
    (run, fs::read(folder.journal()).expect("the file is readable"))
}

async fn engine(folder: &TempFolder, store: SqliteStore) -> Engine {
    fs::create_dir_all(folder.0.join("work")).expect("the folder is created");
    let tools = ToolSettings::over(folder.0.join("work"), folder.0.join("index.db"));
    let builder = Engine::builder(store).agents(pointsman_agents::all()).workspace(tools);
    builder.build().await.unwrap_or_else(|error| panic!("it is set up: {error}"))
}

#[tokio::test]
async fn a_death_at_any_moment_of_the_upgrade_loses_nothing() {
    const RUNS: usize = 200;
    /// How often a process is killed at least, and at most until one died before the upgrade and
    /// one after it.
    const KILLS: (u64, u64) = (12, 300);
    let folder = TempFolder::new("upgrade-killed");
    for (format, before) in [(1, LEASELESS), (2, UNINDEXED)] {
        let (interrupted, file) = older(&folder, before, RUNS).await;
        let (mut early, mut late, mut micros) = (0, 0, 800);
        while early + late < KILLS.0 || early * late == 0 {
            assert!(early + late < KILLS.1, "format {format}: {early} early, {late} late");
            fs::remove_dir_all(folder.0.join("deep")).expect("the folder is removed");
            fs::create_dir_all(folder.0.join("deep")).expect("the folder is created");
            fs::write(folder.journal(), &file).expect("the file is written");
            kill_while_it_opens(&folder, micros);
            let raw = folder.raw();
            let found = raw.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
            // The next one dies nearer to the moment of the upgrade.
            match found.expect("it has one") {
                3 => (late, micros) = (late + 1, micros / 2),
                found if found == format => (early, micros) = (early + 1, micros * 2 + 50),
                found => panic!("an upgrade from {format} left format {found}"),
            }
            drop(raw);
            let store = folder.store();
            assert_eq!(store.runs().expect("it is whole").len(), RUNS + 2, "after {micros} µs");
            let resumed = engine(&folder, store).await.resume(&interrupted).await;
            let ended = resumed.expect("it is resumed").wait().await.expect("it runs");
            assert_eq!(ended.status, RunStatus::Ended(Disposition::Succeeded));
        }
    }
}

/// Kills a process so many microseconds after it begins to open the journal.
fn kill_while_it_opens(folder: &TempFolder, micros: u64) {
    let mut child = start("child_opens_an_older_format", "", &folder.journal())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut output = BufReader::new(child.stdout.take().expect("the stream is piped")).lines();
    let mut lines = output.by_ref().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("opens it")));
    std::thread::sleep(std::time::Duration::from_micros(micros));
    child.kill().expect("it may have ended");
    child.wait().expect("the process ends");
}

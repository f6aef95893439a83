//! Commands whose program is killed while they start, and processes that will not be found.

use std::{
    env, fs,
    io::{Read, Write},
    os::{
        fd::OwnedFd,
        unix::{fs::MetadataExt, net::UnixStream},
    },
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::json;

use super::{
    super::{permit, wait},
    KINDS, desk, helper, policy, works,
};
use crate::store::TempFolder;

/// Says to the test below that it is the program which is killed: a kind, and a folder.
const VICTIM: &str = "POINTSMAN_TEST_VICTIM";
/// How often it is killed in each sandbox.
const KILLS: u64 = 25;

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn kill_during_a_commands_start_leaves_nothing_running() {
    if let Some(victim) = env::var_os(VICTIM) {
        return starts(PathBuf::from(victim));
    }
    let (ours, helper) = (env::current_exe().expect("this test has a file"), helper());
    let name = "tool::sandbox::orphans::\
                kill_during_a_commands_start_leaves_nothing_running";
    for kind in KINDS {
        for round in 0..KILLS {
            let folder = TempFolder::new(&format!("victim-{kind}"));
            let begun = folder.0.join("begun");
            let mut victim = Command::new(&ours)
                .args(["--ignored", "--exact", name])
                .env(VICTIM, folder.0.join(kind))
                .env("POINTSMAN_SANDBOX_HELPER", helper)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program starts");
            until("its begin", || begun.exists());
            // Somewhere while the sandbox is set up, or soon after.
            thread::sleep(Duration::from_millis(round * 3));
            victim.kill().expect("the process can be killed");
            victim.wait().expect("the process ends");
            let mark = format!("{}77", victim.id());
            until("the end of its command", || !runs(&mark));
            // A released command would still be started by now, and write.
            let root = folder.0.join(kind);
            let beats = fs::read(root.join("beats")).unwrap_or_default().len();
            thread::sleep(Duration::from_millis(100));
            until("the end of its command", || !runs(&mark));
            let later = fs::read(root.join("beats")).unwrap_or_default().len();
            assert!(later <= beats + 1, "{kind}: it goes on");
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn helper_waits_for_the_start_byte() {
    // The two modes that become the command: the first program in bubblewrap, and the one that
    // keeps the family of a command together under landlock.
    for mode in ["inside", "keep"] {
        for goes in [true, false] {
            let folder = TempFolder::new(&format!("go-{mode}"));
            let root = folder.0.canonicalize().expect("the path exists");
            let found = fs::metadata(&root).expect("the file exists");
            let mut helper = Command::new(helper());
            helper.args([pointsman_runtime::tool::sandbox::HELPER, mode]);
            if mode == "inside" {
                helper.arg("--write").arg(&root);
                helper.args([found.dev(), found.ino()].map(|number| number.to_string()));
            } else {
                helper.args(["0", "--read", "/usr", "--read", "/bin", "--read", "/lib"]);
                helper.args(["--read", "/lib64", "--read", "/etc", "--write", "/dev/null"]);
                helper.arg("--write").arg(&root);
            }
            let (mut ours, theirs) = UnixStream::pair().expect("there are pairs");
            helper.args(["--", "/usr/bin/touch"]).arg(root.join("ran")).current_dir(&root);
            helper.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = helper.spawn().expect("the program starts");
            drop(helper);
            let mut byte = [0];
            ours.read_exact(&mut byte).expect("it is ready, or says why not");
            assert_eq!(byte, *b"r", "{mode}");
            if goes {
                ours.write_all(b"g").expect("the process reads its stdin");
            } else {
                // So the line ends where this program is killed.
                drop(ours);
            }
            let status = child.wait().expect("the process ends");
            assert_eq!((status.success(), root.join("ran").exists()), (goes, goes), "{mode}");
        }
    }
}

/// Runs a command that does not end.
fn starts(root: PathBuf) {
    let kind = root.file_name().expect("it has a name").to_string_lossy().into_owned();
    fs::create_dir_all(&root).expect("the folder is created");
    let folder = root.parent().expect("the path has a parent folder").to_owned();
    let mut settings = pointsman_runtime::tool::ToolSettings::over(&root, folder.join("index.db"));
    settings.sandbox = policy(&kind);
    let tools = pointsman_runtime::tool::WorkspaceTools::open(settings).expect("the tools open");
    assert_eq!(tools.tool_sandbox(), kind);
    fs::write(folder.join("begun"), "").expect("the file is written");
    let command = format!(
        "(while true; do echo >> beats; sleep 0.01; done) & exec sleep {}77",
        std::process::id()
    );
    let call = super::super::call("shell", json!({ "command": command }));
    wait(tools.call(&call, &permit(), &pointsman_runtime::effect::ProgressSink::none()));
}

/// Returns whether a process has this in its command line.
fn runs(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("the folder is readable").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|line| line.starts_with(b"sleep\0") && String::from_utf8_lossy(&line).contains(mark))
}

/// Waits until something holds; it fails after minutes.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..24_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} never came true");
}

/// A process that starts another and ends, over and over, each in its own session, so that a
/// search finds only dead ones. It ends after a minute.
const REFORKS: &str = "perl -MPOSIX -e '$from = time; exit if fork; while (time - $from < 60) { \
    POSIX::setsid(); if (++$n % 50 == 0) { open(my $f, \">\", \"beat\"); print $f $n; close $f } \
    my $child = fork; defined $child or next; exit if $child }'";

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn fast_forking_process_ends_with_its_command() {
    for kind in KINDS {
        for round in 0..6 {
            let desk = desk(kind, &format!("refork-{round}"));
            works(
                &desk,
                &format!("{REFORKS}; while [ ! -s beat ]; do sleep 0.02; done; echo over"),
            );
            let beat = desk.text("beat");
            thread::sleep(Duration::from_millis(300));
            assert_eq!(desk.text("beat"), beat, "{kind}: it goes on");
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_process_that_forks_without_end_ends_at_the_time_limit() {
    for kind in KINDS {
        let desk = desk(kind, "refork-time");
        let command = format!("{REFORKS}; sleep 600");
        let said = wait(desk.call("shell", json!({ "command": command, "timeout_ms": 3000 })));
        assert!(said.output.starts_with("stopped after 3000 ms"), "{kind}: {}", said.output);
        let beat = fs::read_to_string(desk.root.join("beat")).unwrap_or_default();
        thread::sleep(Duration::from_millis(300));
        let later = fs::read_to_string(desk.root.join("beat")).unwrap_or_default();
        assert_eq!(later, beat, "{kind}: it goes on");
    }
}

//! Unusual ends: a reader that does not read, an unattended run, and failed attempts.

use std::{
    fs,
    io::Write as _,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::Home;

/// How long something may take.
const SOON: Duration = Duration::from_mins(2);

fn waited(what: &str, mut is: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < SOON, "{what} was not seen");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns whether a process handles interrupts, and so would not die of one.
fn hears(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn a_reader_who_does_not_read_cannot_keep_the_program() {
    let home = Home::new("unread");
    let (reader, mut writer) = std::io::pipe().expect("there are pipes");
    // Whatever the program says finds no room.
    rustix::io::ioctl_fionbio(&writer, true).expect("it can be set");
    while writer.write(&[b'x'; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).expect("it can be set");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pointsman"))
        .args(["run", "research", "Who sets the points?", "--dir", "docs"])
        .current_dir(home.path(""))
        .env_clear()
        .envs(home.variables())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(writer)
        .spawn()
        .expect("the program starts");
    let process = child.id();
    waited("a handler of signals", || hears(process));
    waited("the run", || home.pointsman(&["runs", "--json"]).1.contains("research"));
    let interrupted = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process");
    let mut ended: Option<ExitStatus> = None;
    waited("the end", || {
        ended = child.try_wait().expect("the process can be polled");
        if ended.is_none() {
            // Two at once count as one, so it is repeated until it is handled.
            kill_process(interrupted, Signal::INT).expect("it is ours");
            thread::sleep(Duration::from_millis(200));
        }
        ended.is_some()
    });
    assert_eq!(ended.and_then(|it| it.code()), Some(6));
    drop(reader);
    // The run can be resumed, or has ended.
    let (code, out, _) = home.pointsman(&["runs", "--json"]);
    assert!(code == 0 && out.contains("research"), "{out}");
}

#[test]
fn calls_denied_unattended_prevent_success() {
    let home = Home::new("unasked");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'It matters.'\n\
         [[turn]]\ntext = '{\"action\":\"tool\",\"tool\":\"write\",\"tool_params\":\"{\\\"path\\\":\
         \\\"a.txt\\\",\\\"content\\\":\\\"x\\\"}\"}'\n\
         [[turn]]\ntext = 'It was not permitted.'\n\
         [[turn]]\ntext = '{\"action\":\"finish\",\"final\":\"Done without it.\"}'\n",
    );
    let run = ["run", "research", "Who sets the points?", "--dir", "docs", "--ask", "write"];
    let more =
        ["--model", "script:script.toml", "--set", "tools=[\"context.fts_search\",\"write\"]"];
    let run = [&run[..], &more, &["--unattended"]].concat();
    assert_snapshot!("unasked", home.shown(&run));
    let (code, out, _) = home.pointsman(&[&run[..], &["--json"]].concat());
    let last: Value =
        serde_json::from_str(out.lines().last().expect("a line")).expect("the text is valid JSON");
    assert_eq!((code, &last["disposition"]), (7, &"succeeded".into()));
    assert_eq!(last["unasked"][0], "`write` needs a person's yes, and nobody is there");
}

#[test]
fn failed_attempt_is_explained_live_and_afterwards() {
    let home = Home::new("failed-attempt");
    home.write(
        "script.toml",
        "[[turn]]\ntext = 'It matters.'\n[[turn]]\ntext = 'I would rather talk.'\n\
         [[turn]]\ntext = '{\"action\":\"finish\",\"final\":\"The pointsman.\"}'\n",
    );
    let run = ["run", "research", "Who sets the points?", "--dir", "docs"];
    assert_snapshot!(
        "failed_attempt",
        home.shown(&[&run[..], &["--model", "script:script.toml"]].concat())
    );
    assert_snapshot!("failed_attempt_show", home.shown(&["show", "last"]));
    assert_snapshot!("failed_attempt_why", home.shown(&["why", "last", "4"]));
}

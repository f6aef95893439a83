//! Real workers: stopped by the system, waited for, and found by settings. The same over a journal file
//! and over PostgreSQL (`postgres.rs`).

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::Child,
    sync::{Mutex, mpsc},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    home::Home,
    kept::{TWICE, waited},
    serve::client::request,
    served::Served,
};

/// Runs a command that must succeed, and returns what it prints.
fn said(home: &Home, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let shown = home.with(variables, arguments);
    assert_eq!(shown.code, Some(0), "{arguments:?}: {}", shown.err);
    shown.out
}

fn rows(home: &Home, variables: &[(&str, &str)]) -> Vec<Value> {
    let listed = said(home, variables, &["runs", "--json"]);
    listed.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

/// Waits for the end of a process, and returns its exit code.
fn ended(child: &mut Child) -> Option<i32> {
    let mut code = None;
    let is_over = || {
        let ended = child.try_wait().expect("the process can be polled");
        code = ended.and_then(|status| status.code());
        ended.is_some()
    };
    assert!(waited(is_over), "the process does not end");
    code
}

/// Stops a worker in the middle of a call with SIGTERM: the call is finished, the next one is left to
/// another worker.
pub(crate) fn drained(home: &Home, store: &[(&str, &str)]) {
    home.write("twice.toml", TWICE);
    let (answer, answers) = mpsc::channel::<()>();
    let answers = Mutex::new(answers);
    let served = Served::new(move |_| {
        let answers = answers.lock().expect("no thread panicked while it held the lock");
        let _: Result<_, _> = answers.recv();
    });
    let model = [("OPENAI_BASE_URL", served.url.as_str())];
    let variables = [store, &model].concat();
    let submit = ["submit", "twice.toml", "it", "--model", "openai-compatible:any"];
    let run = said(home, &variables, &submit);
    let run = run.trim();
    let mut worker = home.start(&variables, &["worker", "--drain", "10m"]);
    assert!(waited(|| served.asked() == 1), "the model is never asked");
    let process = i32::try_from(worker.id()).ok().and_then(Pid::from_raw);
    kill_process(process.expect("it is a process"), Signal::TERM).expect("it is there");
    // The pause is recorded while the call is in progress.
    let is_paused = || said(home, &variables, &["show", run]).contains("paused");
    assert!(waited(is_paused), "the run is not paused");
    answer.send(()).expect("the server waits");
    assert_eq!(ended(&mut worker), Some(0));
    assert_eq!(served.asked(), 1, "the second call is not started");
    let row = &rows(home, &variables)[0];
    assert_eq!((&row["owner"], &row["queue"]), (&Value::Null, &json!("ready")));
    answer.send(()).expect("the server waits");
    said(home, &variables, &["worker", "--once"]);
    assert_eq!(rows(home, &variables)[0]["disposition"], "succeeded");
    assert_eq!(served.asked(), 2, "the first call is not repeated");
}

/// Waits for submitted runs: the result is printed, and the exit code is that of `run`.
pub(crate) fn awaited(home: &Home, store: &[(&str, &str)]) {
    let research = ["submit", "research", "Who sets the points?", "--dir", "docs", "--wait"];
    let mut waiting = home.start(store, &research);
    assert!(waited(|| rows(home, store).len() == 1), "nothing is queued");
    assert!(waiting.try_wait().expect("the process can be polled").is_none(), "it waits");
    said(home, store, &["worker", "--once"]);
    assert_eq!(ended(&mut waiting), Some(0));
    let shown = waiting.wait_with_output().expect("it has ended");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("points.md:3"), "{shown:?}");
    let mut waiting = home.start(store, &["submit", "note.toml", "Hello", "--wait"]);
    assert!(waited(|| rows(home, store).len() == 2), "nothing is queued");
    said(home, store, &["cancel", "last"]);
    assert_eq!(ended(&mut waiting), Some(6));
}

/// Lets settings name the store: every command uses it.
pub(crate) fn settled(home: &Home, journal: &str) {
    home.settings(&format!("[journal]\n{journal}\n"));
    let submit = ["submit", "research", "Who sets the points?", "--dir", "docs"];
    let run = said(home, &[], &submit);
    assert_eq!(rows(home, &[])[0]["queue"], "ready");
    said(home, &[], &["worker", "--once"]);
    let rows = rows(home, &[]);
    assert_eq!((rows.len(), &rows[0]["disposition"]), (1, &json!("succeeded")));
    assert!(said(home, &[], &["show", run.trim()]).contains("points.md:3"));
    assert!(!home.path("state/pointsman/journal.db").exists(), "the usual file is not used");
}

#[test]
fn sigterm_drains_a_worker() {
    drained(&Home::new("worker_drains"), &[]);
}

#[test]
fn worker_serves_its_metrics() {
    let home = Home::new("worker_metrics");
    said(&home, &[], &["submit", "research", "Who sets the points?", "--dir", "docs"]);
    let mut worker = home.start(&[], &["worker", "--metrics", "127.0.0.1:0"]);
    let told = worker.stderr.take().expect("standard error is piped");
    let mut lines = BufReader::new(told).lines().map_while(Result::ok);
    let address = lines.find_map(|line| {
        line.split_once("http://")?.1.strip_suffix("/metrics")?.parse::<SocketAddr>().ok()
    });
    let address = address.expect("the worker says where its metrics are");
    let read = |path: &str| request(address, "GET", path, &[], "").expect("the worker answers");
    let steps = || {
        let metrics = read("/metrics").text();
        let mut lines = metrics.lines();
        let name = "pointsman_transitions_total{agent=\"research\"} ";
        let steps = lines.find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
        steps.unwrap_or_default()
    };
    assert!(waited(|| steps() > 1), "no step is counted");
    assert!(read("/metrics").text().contains("pointsman_store_runs 1"));
    assert_eq!(read("/api/v1/runs").status, 404);
    let foreign = [("Host", "evil.example")];
    let refused = request(address, "GET", "/metrics", &foreign, "").expect("the worker answers");
    assert_eq!(refused.status, 421);
    let process = i32::try_from(worker.id()).ok().and_then(Pid::from_raw);
    kill_process(process.expect("it is a process"), Signal::TERM).expect("it is there");
    assert_eq!(ended(&mut worker), Some(0));
}

#[test]
fn submit_waits_for_the_end() {
    awaited(&Home::new("worker_awaited"), &[]);
}

#[test]
fn settings_name_the_journal_of_every_command() {
    let home = Home::new("worker_settled");
    let journal = home.path("elsewhere.db");
    settled(&home, &format!("path = {:?}", journal.display().to_string()));
    assert!(journal.exists(), "the runs are there");
}

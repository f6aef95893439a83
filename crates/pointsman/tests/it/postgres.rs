//! Commands over journals that are kept in PostgreSQL.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Command,
};

use serde_json::{Value, json};

use crate::{home::Home, serve::Server, worker};

/// Makes a database for one test, and returns its address.
fn database(name: &str) -> String {
    let name = format!("{name}_{}", std::process::id());
    let server = administer(&format!("CREATE DATABASE {name}"));
    format!("{server}/{name}")
}

/// Runs a statement in a database that no test uses, and returns the server's address.
fn administer(sql: &str) -> String {
    let server = std::env::var("POINTSMAN_POSTGRES_URL").expect("the tier names a server");
    let done = Command::new("psql").args([&format!("{server}/postgres"), "-qc", sql]).status();
    assert!(done.expect("psql starts").success());
    server
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn commands_find_their_runs_in_a_database() {
    let home = Home::new("database");
    let url = database("commands");
    let (code, _, err) = home.pointsman(&["runs", "--store", &url]);
    assert_eq!(code, 10);
    assert!(err.contains("pointsman migrate"), "{err}");
    for _ in 0..2 {
        let (code, out, _) = home.pointsman(&["migrate", "--store", &url]);
        assert_eq!((code, out.as_str()), (0, "the tables have format 3\n"));
    }
    let ask = ["run", "research", "Who sets the points?", "--dir", "docs", "--store", &url];
    let (code, out, err) = home.pointsman(&ask);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("points.md:3") && err.contains("journal: PostgreSQL"), "{out}{err}");
    // A call that needs approval: the run waits, and other processes answer and resume it at once.
    let (code, _, err) = home.pointsman(&["run", "note.toml", "Hello", "--store", &url]);
    assert_eq!(code, 3, "{err}");
    let named = [("POINTSMAN_STORE", url.as_str())];
    let shown = home.with(&named, &["runs", "--json"]);
    let rows: Vec<Value> =
        shown.out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let charts: Vec<_> = rows.iter().filter_map(|row| row["chart"].as_str()).collect();
    assert_eq!(charts, ["note", "research"]);
    for command in [&["approve", "last"][..], &["resume", "last"], &["replay", "last"]] {
        let shown = home.with(&named, command);
        assert_eq!(shown.code, Some(0), "{command:?}: {}{}", shown.out, shown.err);
    }
    assert_eq!(
        std::fs::read_to_string(home.path("note.txt")).expect("it is written"),
        "Hello, plain"
    );
    let shown = home.with(&named, &["doctor"]);
    assert!(shown.out.contains("in PostgreSQL, 2 runs"), "{}", shown.out);
    assert!(!home.path("state/pointsman/journal.db").exists(), "nothing is kept in a file");
    // A file that is named is a file.
    let shown = home.with(&named, &["runs", "--json", "--journal", "elsewhere.db"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(0), ""));
}

/// Makes a home with a database, whose address every command has.
fn fleet(name: &str) -> (Home, String) {
    let (home, url) = (Home::new(name), database(name));
    let (code, _, err) = home.pointsman(&["migrate", "--store", &url]);
    assert_eq!(code, 0, "{err}");
    (home, url)
}

fn rows(home: &Home, url: &str, arguments: &[&str]) -> Vec<Value> {
    let list = ["runs", "--json", "--limit", "1000", "--store", url];
    let (code, out, err) = home.pointsman(&[&list, arguments].concat());
    assert_eq!(code, 0, "{err}");
    out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn workers_share_a_queue() {
    let (home, url) = fleet("workers");
    let redis = std::env::var("POINTSMAN_REDIS_URL").expect("the tier names a server");
    let line = r#"{"agent":"research","goal":"Who sets the points?","dir":"docs","key":"k"}"#;
    home.write("runs.jsonl", &format!("{line}\n").repeat(20));
    let submit = ["submit", "--file", "runs.jsonl", "--store", &url, "--redis", &redis];
    let (code, out, err) = home.pointsman(&submit);
    assert_eq!((code, out.lines().count()), (0, 20), "{err}");
    let work = ["worker", "--once", "--store", &url, "--redis", &redis, "--limit", "key=3"];
    let workers: Vec<_> = (0..3).map(|_| home.start(&[], &work)).collect();
    for worker in workers {
        let output = worker.wait_with_output().expect("the worker ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let rows = rows(&home, &url, &[]);
    assert!(rows.iter().all(|row| row["disposition"] == "succeeded"), "{rows:?}");
    assert!(rows.iter().all(|row| row["key"] == "k" && row["owner"].is_null()), "{rows:?}");
}

/// Sends a command to Redis over a plain connection, and waits for its answer.
fn ask_redis(url: &str, command: &str) {
    let address = url.trim_start_matches("redis://").trim_end_matches('/');
    let mut connection = TcpStream::connect(address).expect("Redis listens");
    connection.write_all(format!("{command}\r\n").as_bytes()).expect("it is sent");
    let mut answer = [0; 3];
    connection.read_exact(&mut answer).expect("Redis answers");
    assert_eq!(&answer, b"+OK");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn lost_hints_and_an_absent_redis_lose_no_run() {
    let (home, url) = fleet("hints");
    let redis = std::env::var("POINTSMAN_REDIS_URL").expect("the tier names a server");
    // Nothing listens on the second address.
    for hints in [redis.as_str(), "redis://127.0.0.1:9/"] {
        let ask = ["submit", "research", "Who sets the points?", "--dir", "docs"];
        let (code, _, err) =
            home.pointsman(&[&ask[..], &["--store", &url, "--redis", hints]].concat());
        assert_eq!(code, 0, "{err}");
        ask_redis(&redis, "FLUSHALL");
        let work = ["worker", "--once", "--store", &url, "--redis", hints];
        let (code, _, err) = home.pointsman(&work);
        assert_eq!(code, 0, "{err}");
    }
    let rows = rows(&home, &url, &[]);
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["disposition"] == "succeeded"), "{rows:?}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn delayed_run_waits_in_a_database() {
    let (home, url) = fleet("delayed");
    let ask = ["submit", "research", "Who?", "--dir", "docs", "--delay", "1h", "--store", &url];
    let (code, _, err) = home.pointsman(&ask);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = home.pointsman(&["worker", "--once", "--store", &url]);
    assert_eq!(code, 0, "{err}");
    let rows = rows(&home, &url, &["--status", "waiting"]);
    assert_eq!((rows.len(), &rows[0]["disposition"]), (1, &Value::Null));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn killed_worker_loses_its_runs_to_the_next() {
    let (home, url) = fleet("takeover");
    let named = [("POINTSMAN_STORE", url.as_str()), ("POINTSMAN_LEASE", "5s")];
    let ask = ["submit", "research", "Who sets the points?", "--dir", "docs"];
    let submitted = home.with(&named, &ask);
    assert_eq!(submitted.code, Some(0), "{}", submitted.err);
    // It dies as soon as the first entry of its own is written.
    let killed_env = [named[0], named[1], ("POINTSMAN_DIE_AT", "persisted:2")];
    let died = home.with(&killed_env, &["worker", "--once"]);
    assert_ne!(died.code, Some(0), "{}", died.err);
    let next = home.with(&named, &["worker", "--once"]);
    assert_eq!(next.code, Some(0), "{}", next.err);
    let rows = rows(&home, &url, &[]);
    assert_eq!(rows[0]["disposition"], "succeeded", "{rows:?}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn run_that_no_worker_can_drive_is_quarantined() {
    let (home, url) = fleet("poison");
    let named = [("POINTSMAN_STORE", url.as_str()), ("POINTSMAN_LEASE", "5s")];
    let submitted = home.with(&named, &["submit", "note.toml", "Hello", "--allow", "write"]);
    assert_eq!(submitted.code, Some(0), "{}", submitted.err);
    // The call in progress is lost with its worker, and the certificate permits no second one.
    let dies = [named[0], named[1], ("POINTSMAN_DIE_AT", "persisted:2")];
    assert_ne!(home.with(&dies, &["worker", "--once"]).code, Some(0));
    let next = home.with(&named, &["worker", "--once"]);
    assert_eq!(next.code, Some(0), "{}", next.err);
    assert_eq!(rows(&home, &url, &[])[0]["queue"], "quarantined");
    let shown = home.with(&named, &["show", "last"]);
    assert!(
        shown.out.contains("quarantined: run") && shown.out.contains("certificate"),
        "{}",
        shown.out
    );
    let listed = home.with(&named, &["runs", "--status", "quarantined"]);
    assert!(listed.out.contains("quarantined"), "{}", listed.out);
    let again = home.with(&named, &["resume", "--status", "quarantined", "--queue"]);
    assert_eq!(again.out, "1 run queued\n", "{}", again.err);
    assert_eq!(rows(&home, &url, &[])[0]["queue"], "ready");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn failed_runs_are_forked_back_onto_their_queue() {
    let (home, url) = fleet("forks");
    let line = r#"{"agent":"note.toml","goal":"Hello","key":"slow","needs":"notes"}"#;
    home.write("runs.jsonl", &format!("{line}\n").repeat(60));
    let said = |arguments: &[&str]| {
        let (code, out, err) = home.pointsman(&[arguments, &["--store", &url]].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    said(&["submit", "--file", "runs.jsonl"]);
    assert_eq!(said(&["cancel", "--key", "slow"]), "60 runs cancelled\n");
    let fork = ["fork", "--status", "cancelled", "--key", "slow", "--queue"];
    assert_eq!(said(&[&fork[..], &["--dry-run"]].concat()), "60 runs would be forked and queued\n");
    assert_eq!(said(&fork), "60 runs forked and queued\n");
    assert_eq!(rows(&home, &url, &["--key", "slow", "--status", "ready"]).len(), 60);
    // A worker without the label leaves them; one with it drives them.
    said(&["worker", "--once"]);
    assert_eq!(rows(&home, &url, &["--key", "slow", "--status", "ready"]).len(), 60);
    said(&["worker", "--once", "--label", "notes", "--jobs", "8"]);
    assert_eq!(rows(&home, &url, &["--key", "slow", "--status", "waiting"]).len(), 60);
    assert_eq!(said(&["approve", "--key", "slow", "--dry-run"]), "60 runs would be approved\n");
}

/// Over a database a server only queues: a worker drives, and the server tells of it.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn a_server_queues_runs_and_a_worker_drives_them() {
    let home = Home::new("served_database");
    let url = database("served");
    assert_eq!(home.pointsman(&["migrate", "--store", &url]).0, 0);
    let server = Server::start(&home, &["--store", &url]);
    let body = json!({ "agent": "research", "goal": "Who sets the points?", "dir": "docs" });
    let reply = server.post("/api/v1/runs", &body);
    assert_eq!(reply.status, 201, "{}", reply.text());
    let run = reply.json()["run"].as_str().expect("it names the run").to_owned();
    let read = server.json(&format!("/api/v1/runs/{run}"));
    assert_eq!((&read["queue"], &read["steps"]), (&json!("ready"), &json!(1)), "{read}");
    let (code, _, err) = home.pointsman(&["worker", "--once", "--store", &url]);
    assert_eq!(code, 0, "{err}");
    let read = server.json(&format!("/api/v1/runs/{run}"));
    assert_eq!(read["disposition"], "succeeded", "{read}");
    let stream = server.get(&format!("/api/v1/runs/{run}/events")).text();
    assert!(stream.contains(r#""kind":"ended""#), "{stream}");
    assert_eq!(server.stop(), Some(0));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn server_without_its_database_is_unavailable() {
    let (home, url) = fleet("unreached");
    let server = Server::start(&home, &["--store", &url]);
    let body = json!({ "agent": "research", "goal": "Who sets the points?", "dir": "docs" });
    let reply = server.post("/api/v1/runs", &body);
    assert_eq!(reply.status, 201, "{}", reply.text());
    let run = reply.json()["run"].as_str().expect("it names the run").to_owned();
    let (_, name) = url.rsplit_once('/').expect("the address ends with the database");
    administer(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
    administer(&format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'"
    ));
    let path = format!("/api/v1/runs/{run}");
    let replies = [
        server.get(&path),
        server.get("/api/v1/runs"),
        server.get("/readyz"),
        server.post(&format!("{path}/cancel"), &Value::Null),
        server.post("/api/v1/runs", &body),
    ];
    administer(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"));
    for reply in replies {
        assert_eq!(reply.status, 503, "{}", reply.text());
    }
    assert_eq!(server.json(&path)["queue"], "ready");
    assert_eq!(server.stop(), Some(0));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn sigterm_drains_a_worker_of_a_database() {
    let (home, url) = fleet("drains");
    worker::drained(&home, &[("POINTSMAN_STORE", url.as_str())]);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn submit_waits_for_a_worker_of_a_database() {
    let (home, url) = fleet("awaited");
    worker::awaited(&home, &[("POINTSMAN_STORE", url.as_str())]);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn settings_name_the_database_of_every_command() {
    let (home, url) = fleet("settled");
    worker::settled(&home, &format!("store = {url:?}"));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn exported_runs_move_between_files_and_databases() {
    let (home, url) = fleet("moves");
    let said = |arguments: &[&str]| {
        let (code, out, err) = home.pointsman(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    said(&["run", "research", "Who sets the points?", "--dir", "docs"]);
    // The second run waits for an answer.
    assert_eq!(home.pointsman(&["run", "note.toml", "Hello"]).0, 3);
    for _ in 0..2 {
        let first = said(&["export", "last"]);
        home.write("run.jsonl", &first);
        let moved = said(&["import", "run.jsonl", "--store", &url]);
        let moved = moved.trim();
        let second = said(&["export", moved, "--store", &url]);
        assert_eq!(second, first);
        home.write("back.jsonl", &second);
        let back = said(&["import", "back.jsonl", "--journal", "other.db"]);
        assert_eq!(back.trim(), moved);
        assert_eq!(said(&["export", moved, "--journal", "other.db"]), first);
        said(&["replay", moved, "--store", &url]);
        said(&["replay", moved, "--journal", "other.db"]);
        said(&["runs", "remove", moved]);
    }
    // It continues where it is.
    let waiting = &rows(&home, &url, &["--status", "open"])[0]["run"];
    let waiting = waiting.as_str().expect("it has an id");
    said(&["approve", waiting, "--store", &url]);
    said(&["resume", waiting, "--store", &url]);
    assert!(rows(&home, &url, &[]).iter().all(|row| row["disposition"] == "succeeded"));
}

/// Returns the only value that a query returns.
fn value(url: &str, sql: &str) -> i64 {
    let told = Command::new("psql").args([url, "-qAtc", sql]).output().expect("psql starts");
    let told = String::from_utf8(told.stdout).expect("it is text");
    told.trim().parse().unwrap_or_else(|_| panic!("`{sql}` returns {told:?}"))
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn clock_of_the_submitter_does_not_count() {
    // An hour and a half ahead, and as much behind.
    for (name, ahead) in [("clocks_ahead", "5400"), ("clocks_behind", "-5400")] {
        clock_does_not_count(name, ahead);
    }
}

fn clock_does_not_count(name: &str, ahead: &str) {
    let (home, url) = fleet(name);
    let variables = [("POINTSMAN_STORE", url.as_str()), ("POINTSMAN_CLOCK_AHEAD", ahead)];
    let said = |arguments: &[&str]| {
        let shown = home.with(&variables, arguments);
        assert_eq!(shown.code, Some(0), "{arguments:?}: {}", shown.err);
        shown.out
    };
    said(&["submit", "note.toml", "One"]);
    said(&["submit", "note.toml", "Two", "--delay", "3h"]);
    let line = r#"{"agent":"note.toml","goal":"Three","delay":"3h"}"#;
    home.write("runs.jsonl", &format!("{line}\n"));
    said(&["submit", "--file", "runs.jsonl"]);
    let off = |column: &str| {
        let sql = format!("SELECT max(abs({column} - pointsman.now_ms())) FROM pointsman.run");
        value(&url, &sql)
    };
    let hour = 3_600_000;
    assert!(off("created_ms") < hour && off("rank") < hour && off("made_ms") < hour);
    let wakes = |which: &str| {
        let sql = format!("SELECT {which}(wake_at) - pointsman.now_ms() FROM pointsman.run");
        value(&url, &format!("{sql} WHERE wake_at > 0"))
    };
    assert!(wakes("max") < 3 * hour + hour / 2 && wakes("min") > 3 * hour - hour / 2);
    // Filters, waiting and answers go by the server's clock, too.
    assert_eq!(said(&["runs", "--json", "--newer-than", "1h"]).lines().count(), 3);
    assert_eq!(said(&["runs", "--json", "--older-than", "1h"]), "");
    said(&["worker", "--once"]);
    said(&["approve", "--text", "one"]);
    assert_eq!(said(&["runs", "--json", "--text", "one", "--idle", "1h"]), "");
    let (code, _, err) = home.pointsman(&["worker", "--once", "--store", &url]);
    assert_eq!(code, 0, "{err}");
    let rows = rows(&home, &url, &["--text", "one"]);
    assert_eq!(rows[0]["disposition"], "succeeded", "{rows:?}");
    // A fork's clock continues from its entry.
    said(&["fork", "--text", "one", "--queue"]);
    assert!(off("created_ms") < hour && off("made_ms") < hour);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn repeated_label_counts_no_run_twice() {
    let (home, url) = fleet("labels");
    let line = r#"{"agent":"research","goal":"Who sets the points?","dir":"docs","key":"k","needs":"notes"}"#;
    home.write("runs.jsonl", &format!("{line}\n").repeat(2));
    let submit = ["submit", "--file", "runs.jsonl", "--store", &url];
    assert_eq!(home.pointsman(&submit).0, 0);
    let twice = ["--label", "notes", "--label", "notes", "--jobs", "4"];
    let (code, _, err) =
        home.pointsman(&[&["worker", "--once", "--store", &url], &twice[..]].concat());
    assert_eq!(code, 0, "{err}");
    let rows = rows(&home, &url, &[]);
    assert!(rows.iter().all(|row| row["disposition"] == "succeeded"), "{rows:?}");
    assert_eq!(value(&url, "SELECT turns FROM pointsman.key WHERE key = 'k'"), 2);
}

#[test]
fn invalid_store_address_is_rejected() {
    let home = Home::new("no_database");
    let (code, _, err) = home.pointsman(&["runs", "--store", "mysql://example"]);
    assert!(code == 2 && err.contains("write postgres://USER@HOST/DATABASE"), "{err}");
    let (code, _, err) = home.pointsman(&["migrate"]);
    assert!(code == 2 && err.contains("give `--store URL`"), "{err}");
}

//! Reading: lists, runs, timelines, charts, and what is wrong with a request.

use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use pointsman_runtime::store::{SqliteStore, Store as _};
use serde_json::{Value, json};

use super::{Server, client::request, guard::sample, waited};
use crate::home::Home;

/// Runs the chart that writes a note, and returns the run, which waits for an answer.
fn asking(home: &Home) -> String {
    let (code, out, told) = home.pointsman(&["run", "note.toml", "Hello", "--json"]);
    assert_eq!(code, 3, "{told}");
    let last: Value =
        serde_json::from_str(out.lines().last().expect("there is a result")).expect("it is JSON");
    last["run"].as_str().expect("it names the run").to_owned()
}

#[test]
fn tables_list_the_screens_that_were_known_at_an_entry() {
    let home = Home::new("serve-screens");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/explore-01.jsonl");
    let (code, run, told) = home.pointsman(&["import", &file.display().to_string()]);
    assert_eq!(code, 0, "{told}");
    let server = Server::start(&home, &["--jobs", "0"]);
    let path = format!("/api/v1/runs/{}", run.trim());
    let head = server.json(&path)["steps"].as_u64().expect("a number");
    let screens = |entry: u64| {
        let read = server.json(&format!("{path}/entries/{entry}/tables"));
        assert_eq!(read["map"], json!(true), "{read}");
        let tables = read["tables"].as_array().expect("a list");
        let screens = tables.iter().find(|it| it["title"] == "Screens");
        screens.map_or(0, |it| it["count"].as_u64().expect("a number"))
    };
    let known: Vec<u64> = [1, head / 2, head].map(screens).into();
    assert!(known[0] == 0 && known[0] < known[1] && known[1] < known[2], "{known:?}");
}

#[test]
fn a_run_reads_as_on_the_command_line() {
    let home = Home::new("serve-reads");
    let run = asking(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    let listed = home.pointsman(&["runs", "--json"]).1;
    let listed: Value = serde_json::from_str(listed.trim()).expect("it is JSON");
    let page = server.json("/api/v1/runs");
    assert_eq!(page["runs"], json!([listed]));
    assert_eq!(page["next"], json!(null));
    // One run has the same keys, and more.
    let read = server.json(&format!("/api/v1/runs/{run}"));
    for (key, value) in listed.as_object().expect("it is an object") {
        assert_eq!(&read[key], value, "{key}");
    }
    assert_eq!(read["questions"][0]["tool"], "write");
    let shown = home.pointsman(&["show", &run, "--json"]).1;
    let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
    let timeline = server.json(&format!("/api/v1/runs/{run}/timeline?limit=1000"));
    assert_eq!(timeline["items"], shown["timeline"]["items"]);
    assert_eq!(timeline["version"], shown["timeline"]["version"]);
    let why = home.pointsman(&["why", &run, "--json"]).1;
    let why: Value = serde_json::from_str(&why).expect("it is JSON");
    assert_eq!(server.json(&format!("/api/v1/runs/{run}/why")), why);
    let export = server.get(&format!("/api/v1/runs/{run}/export"));
    assert_eq!(export.text(), home.pointsman(&["export", &run]).1);
    assert_eq!(server.json(&format!("/api/v1/runs/{run}/replay"))["identical"], true);
    assert_eq!(server.json("/api/v1/stats")["runs"], 1);
    assert_eq!(server.json("/healthz")["status"], "ok");
    assert_eq!(server.json("/readyz")["runs"], 1);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn metrics_tell_how_long_the_queue_waits_without_a_worker() {
    let home = Home::new("serve-queue-metrics");
    for more in [&["--delay", "1h"][..], &[]] {
        let (code, _, told) =
            home.pointsman(&[&["submit", "note.toml", "Hello"][..], more].concat());
        assert_eq!(code, 0, "{told}");
    }
    let server = Server::start(&home, &["--jobs", "0"]);
    let figure = |name: &str| sample(&server.get("/metrics").text(), name);
    waited("the lag", || figure("pointsman_queue_lag_seconds") > 0.0);
    assert!(figure("pointsman_queue_lag_seconds") < 1800.0, "the delayed run is not ready");
    let metrics = server.get("/metrics").text();
    for (status, count) in [("ready", 1), ("leased", 0), ("quarantined", 0)] {
        let line = format!("pointsman_queue_runs{{status=\"{status}\"}} {count}");
        assert!(metrics.lines().any(|it| it == line), "{line} is not in\n{metrics}");
    }
}

#[test]
fn runs_are_listed_by_what_they_wait_for_and_for_how_long() {
    let home = Home::new("serve-waiting");
    let asks = asking(&home);
    home.research("What does a red signal mean?");
    let talk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/chat-01.jsonl");
    let (code, _, told) = home.pointsman(&["import", &talk.display().to_string()]);
    assert_eq!(code, 0, "{told}");
    for more in [&["--delay", "30d"][..], &[]] {
        let (code, _, told) =
            home.pointsman(&[&["submit", "note.toml", "Hello"][..], more].concat());
        assert_eq!(code, 0, "{told}");
    }
    let server = Server::start(&home, &["--jobs", "0"]);
    let listed = |query: &str| {
        let page = server.json(&format!("/api/v1/runs?{query}"));
        assert_eq!(page["next"], json!(null), "{page}");
        page["runs"].as_array().expect("it is a list").clone()
    };
    let mut seen = Vec::new();
    for (waiting, queue) in [
        ("person", json!(null)),
        ("message", json!(null)),
        ("worker", json!("ready")),
        ("time", json!("waiting")),
    ] {
        let runs = listed(&format!("waiting={waiting}"));
        assert_eq!(runs.len(), 1, "{waiting}: {runs:?}");
        assert_eq!(runs[0]["queue"], queue, "{waiting}");
        seen.push(runs[0]["run"].clone());
    }
    assert_eq!(seen[0], json!(asks));
    assert_eq!(listed("").len(), 5, "one has ended, and waits for nothing");
    // The conversation is of some time ago, and the question is new.
    let hour = SystemTime::now() - Duration::from_hours(1);
    let hour = hour.duration_since(UNIX_EPOCH).expect("it is later").as_millis();
    let long = |waiting: &str| listed(&format!("waiting={waiting}&idle_since_ms={hour}")).len();
    assert_eq!((long("person"), long("message")), (0, 1));
    assert_eq!(listed("waiting=person&status=ended").len(), 0);
    assert_eq!(listed("waiting=person&agent=research").len(), 0);
    assert_eq!(server.get("/api/v1/runs?waiting=tea").status, 400);
    // A page is as long as it was asked to be, and the next one continues.
    asking(&home);
    let first = server.json("/api/v1/runs?waiting=person&limit=1");
    let next = first["next"].as_str().expect("there is more").to_owned();
    let second = server.json(&format!("/api/v1/runs?waiting=person&limit=1&cursor={next}"));
    assert_eq!(second["runs"][0]["run"], json!(asks));
    // An action is for the same runs: all of them, or those that are named.
    let act = |action: &str, more: Value| {
        let mut body = json!({ "action": action, "filter": { "waiting": "person" } });
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        let reply = server.post("/api/v1/runs/bulk", &body);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let mut runs = reply.json()["runs"].as_array().expect("a list").clone();
        runs.sort_by_key(ToString::to_string);
        json!(runs)
    };
    // Ids are ordered by time.
    let both = json!([asks, first["runs"][0]["run"]]);
    assert_eq!(act("approve", json!({ "dry_run": true })), both);
    assert_eq!(act("cancel", json!({ "dry_run": true, "runs": [asks, seen[3]] })), json!([asks]));
    assert_eq!(act("approve", json!({ "runs": [seen[2]] })), json!([]));
    let refused = json!({ "action": "approve", "filter": { "waiting": "tea" } });
    assert_eq!(server.post("/api/v1/runs/bulk", &refused).status, 422);
}

#[test]
fn pages_of_runs_and_of_entries_join_without_a_gap() {
    let home = Home::new("serve-pages");
    let mut runs: Vec<String> = (0..5).map(|_| asking(&home)).collect();
    // The newest first.
    runs.reverse();
    let server = Server::start(&home, &["--jobs", "0"]);
    let (mut found, mut path) = (Vec::new(), "/api/v1/runs?limit=2".to_owned());
    loop {
        let page = server.json(&path);
        let ids = page["runs"].as_array().expect("it is a list").iter();
        found.extend(ids.map(|row| row["run"].as_str().expect("it has an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/v1/runs?limit=2&cursor={next}");
    }
    assert_eq!(found, runs);
    let whole = server.json(&format!("/api/v1/runs/{}/timeline", runs[0]));
    let (mut items, mut from) = (Vec::new(), 1);
    loop {
        let page = server.json(&format!("/api/v1/runs/{}/timeline?from={from}&limit=1", runs[0]));
        let part = page["items"].as_array().expect("it is a list").clone();
        if part.is_empty() {
            break;
        }
        items.extend(part);
        from = page["next"].as_u64().expect("it is a number");
    }
    assert_eq!(json!(items), whole["items"]);
    assert_eq!(server.json("/api/v1/runs?status=ended")["runs"], json!([]));
    assert_eq!(
        server.json("/api/v1/runs?status=open&text=HELLO&limit=1")["runs"][0]["run"],
        runs[0]
    );
}

#[test]
fn charts_come_with_their_proof_and_picture() {
    let home = Home::new("serve-charts");
    let server = Server::start(&home, &["--jobs", "0"]);
    let charts = server.json("/api/v1/charts");
    assert!(charts["charts"].as_array().expect("a list").contains(&json!("research")), "{charts}");
    let checked = home.pointsman(&["check", "research", "--json"]).1;
    let checked: Value = serde_json::from_str(&checked).expect("it is JSON");
    let chart = server.json("/api/v1/charts/research");
    assert_eq!(chart["certificate"], checked["certificate"]);
    assert_eq!(chart["authority"], checked["authority"]);
    let picture = server.get("/api/v1/charts/research/picture?theme=dark");
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    let drawn = home.pointsman(&["graph", "research", "--format", "svg", "--theme", "dark"]).1;
    // Its policy permits the one style sheet by a nonce.
    let policy = picture.header("content-security-policy").expect("it has a policy");
    let nonce = policy.split('\'').find_map(|it| it.strip_prefix("nonce-")).expect("a nonce");
    assert_eq!(picture.text().replace(&format!(" nonce=\"{nonce}\""), ""), drawn);
    let body = json!({ "chart": chart["source"] });
    assert_eq!(server.post("/api/v1/check", &body).json(), checked);
    let refused = server.post("/api/v1/check", &json!({ "chart": "chart = 1" })).json();
    assert_eq!(refused["ok"], false);
    assert!(refused["errors"][0]["code"].as_str().expect("a code").starts_with("PM"), "{refused}");
    let outcomes = json!({ "agent": "chat", "outcomes": ["user_input", "completed", "text_only"] });
    let walked = home.pointsman(&[
        "simulate",
        "chat",
        "--outcomes",
        "user_input,completed,text_only",
        "--json",
    ]);
    let walked: Value = serde_json::from_str(&walked.1).expect("it is JSON");
    assert_eq!(server.post("/api/v1/simulate", &outcomes).json(), walked);
    assert_eq!(server.json("/api/v1/codes/pm0501")["code"], "PM0501");
}

#[test]
fn errors_are_problem_details_with_the_words_of_the_command_line() {
    let home = Home::new("serve-errors");
    let server = Server::start(&home, &["--jobs", "0"]);
    for (path, status) in [
        ("/api/v1/runs/nobody", 404),
        ("/api/v1/runs/no%20body", 404),
        ("/api/v1/runs/nobody/events", 404),
        ("/api/v1/charts/reserach", 404),
        ("/api/v1/runs?limit=many", 400),
        ("/api/v1/runs?colour=red", 400),
        ("/api/v1/runs?cursor=x", 400),
        ("/nothing", 404),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{path}");
        let problem = reply.json();
        assert_eq!(problem["status"], status, "{path}");
        assert!(problem["detail"].as_str().is_some_and(|it| !it.is_empty()), "{path}: {problem}");
    }
    let near = server.get("/api/v1/charts/reserach").json();
    assert!(near["hint"].as_str().expect("a hint").contains("did you mean `research`"), "{near}");
    let refused = server.post("/api/v1/simulate", &json!({ "chart": "chart = 1" }));
    assert_eq!(refused.status, 422);
    let refused = refused.json();
    assert_eq!(refused["exit_code"], 8);
    assert!(refused["errors"][0]["code"].as_str().expect("a code").starts_with("PM"), "{refused}");
    let wrong = server.post("/healthz", &json!({}));
    assert_eq!(wrong.status, 405);
    assert_eq!(wrong.header("content-type"), Some("application/problem+json"));
}

#[test]
fn number_of_a_query_beyond_its_bounds_is_refused() {
    let home = Home::new("serve-bounds");
    let run = asking(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    for (path, wrong, right) in [
        ("", "limit=0", "limit=1"),
        ("", "limit=1001", "limit=1000"),
        ("RUN/timeline", "from=0", "from=1"),
        ("RUN/timeline", "limit=1001", "limit=1000"),
        ("RUN/lanes", "from=0", "from=1"),
        ("RUN/lanes", "spans=601", "spans=600"),
        ("RUN/why", "entry=0", "entry=1"),
        ("RUN/replay", "until=0", "until=1"),
        ("RUN/edits", "from=0", "from=1"),
        ("RUN/entries/1/tables", "limit=201", "limit=200"),
    ] {
        let path = format!("/api/v1/runs/{}", path.replace("RUN", &run));
        let path = path.trim_end_matches('/');
        let refused = server.get(&format!("{path}?{wrong}"));
        assert_eq!(refused.status, 400, "{path}?{wrong}: {}", refused.text());
        let (name, _) = wrong.split_once('=').expect("it has a value");
        let detail = refused.json()["detail"].to_string();
        assert!(detail.contains(name) && detail.contains("must be"), "{detail}");
        assert_eq!(server.get(&format!("{path}?{right}")).status, 200, "{path}?{right}");
    }
    assert_eq!(server.get(&format!("/api/v1/runs/{run}/events?from=0")).status, 400);
}

/// Somebody who looks for what a command does finds its path, or why it has none.
#[test]
fn every_command_has_a_path_or_a_reason() {
    let help = crate::stdout(&["--help"]);
    let listed = help.split_once("Commands:\n").and_then(|(_, rest)| rest.split_once("\n\n"));
    let (listed, _) = listed.expect("the help lists the commands");
    // Descriptions that continue on another line begin further to the right.
    let commands = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = commands
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 30, "{commands:?}");
    let guide = std::fs::read_to_string(crate::tidy::root().join("docs/api.md"));
    let guide = guide.expect("the guide is there");
    let (_, table) = guide.split_once("## Every command and its path").expect("it has the table");
    let named: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    for command in commands.iter().chain(&["names"]) {
        assert!(
            named.iter().any(|it| it.split(' ').next() == Some(*command)),
            "docs/api.md has no path for `{command}`, and no reason why not"
        );
    }
}

/// The document is made from the types; docs/openapi.json is a copy for people without a server.
#[test]
fn the_document_is_current() {
    let home = Home::new("serve-openapi");
    let server = Server::start(&home, &["--jobs", "0"]);
    let current = server.get("/openapi.json").text();
    let document: Value = serde_json::from_str(&current).expect("it is JSON");
    let mut names = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("it has paths") {
        for (method, operation) in item.as_object().expect("it is an object") {
            let name = operation["operationId"].as_str().expect("it has a name").to_owned();
            assert!(names.insert(name), "{method} {path} has the name of another operation");
        }
    }
    assert!(names.len() > 25, "{names:?}");
    let path = crate::tidy::root().join("docs/openapi.json");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        std::fs::write(&path, &current).expect("the document is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == current,
        "docs/openapi.json is not current: run this test with INSTA_UPDATE=always"
    );
}

#[test]
fn content_is_read_whole_and_by_ranges() {
    let home = Home::new("serve-blobs");
    let run = asking(&home);
    let threads = tokio::runtime::Builder::new_multi_thread().build().expect("threads start");
    let digest = threads.block_on(async {
        let store = SqliteStore::open(&home.path("state/pointsman/journal.db")).expect("it opens");
        let id = run.parse().expect("it is an id");
        store.put_blob(&id, b"0123456789").await.expect("it is kept").to_string()
    });
    let server = Server::start(&home, &["--jobs", "0"]);
    let path = format!("/api/v1/runs/{run}/blobs/{digest}");
    let whole = server.get(&path);
    assert_eq!((whole.status, whole.text().as_str()), (200, "0123456789"));
    for (range, status, body, placed) in [
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=7-", 206, "789", "bytes 7-9/10"),
        ("bytes=-2", 206, "89", "bytes 8-9/10"),
        ("bytes=0-99", 206, "0123456789", "bytes 0-9/10"),
    ] {
        let part = request(server.address, "GET", &path, &[("Range", range)], "");
        let part = part.expect("the server answers");
        assert_eq!((part.status, part.text().as_str()), (status, body), "{range}");
        assert_eq!(part.header("content-range"), Some(placed), "{range}");
    }
    let past = request(server.address, "GET", &path, &[("Range", "bytes=10-")], "");
    let past = past.expect("the server answers");
    assert_eq!((past.status, past.header("content-range")), (416, Some("bytes */10")));
    for digest in ["x".to_owned(), "0".repeat(64)] {
        assert_eq!(server.get(&format!("/api/v1/runs/{run}/blobs/{digest}")).status, 404);
    }
}

#[test]
fn a_server_that_cannot_listen_says_why() {
    let home = Home::new("serve-listen");
    let (code, _, told) = home.pointsman(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("there is no token"), "{told}");
    let server = Server::start(&home, &["--jobs", "0"]);
    let taken = server.address.to_string();
    let (code, _, told) = home.pointsman(&["serve", "--listen", &taken]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("give another port"), "{told}");
    let (code, _, told) =
        home.pointsman(&["serve", "--tls-cert", "note.toml", "--tls-key", "note.toml"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("cannot use note.toml for TLS"), "{told}");
}

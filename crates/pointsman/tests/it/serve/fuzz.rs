//! The document fuzzed, the Python examples run, and every line of docs/api.md tried.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{Server, actions::REPLY, client, waited};
use crate::{home::Home, tidy::root};

/// What every answer is checked for. `negative_data_rejection` is not among it: the document says
/// `int64` for numbers without a sign, so that the check takes those from 2^63 on for wrong ones, and
/// paths that return parts of texts shorten a limit that is too high, as they shorten any other.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,unsupported_method";

/// A stream ends with its run, and a fuzzer has no patience. So only runs that do not exist are
/// followed, without the phase that looks for the others' ids in answers.
const STREAMS: &str = "/events$";
/// These and what removes runs would leave none to ask about.
const LASTING: &str = "/(events|prune|bulk)$";

/// Returns the Python that has the packages.
fn python() -> PathBuf {
    std::env::var_os("POINTSMAN_PYTHON").expect("the tier names a Python").into()
}

fn authorization(server: &Server) -> String {
    client::token(server.address).expect("the server was started with a token")
}

/// The official client of Prometheus reads the metrics, and finds every one that is promised.
#[test]
#[ignore = "needs prometheus-client: cargo xtask test --only serve"]
fn prometheus_reads_the_metrics() {
    let home = Home::new("serve-metrics");
    let server = Server::start(&home, &[]);
    let run = server.asking("Hello");
    assert!(server.act(&run, "approve", &json!({})).status < 300);
    server.end(&run);
    let script = "\
import sys
from prometheus_client.parser import text_string_to_metric_families as families
for family in families(sys.stdin.read()):
    assert family.type in ('counter', 'gauge', 'histogram'), family
    assert family.documentation, family
    for sample in family.samples:
        print(family.type, sample.name, sorted(sample.labels.items()), float(sample.value))
";
    let reply = server.get("/metrics");
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    home.write("metrics.txt", &reply.text());
    let out = Command::new(python())
        .args(["-c", script])
        .stdin(std::fs::File::open(home.path("metrics.txt")).expect("it is there"))
        .output()
        .expect("Python starts");
    let told = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{told}{}", String::from_utf8_lossy(&out.stderr));
    for line in [
        "counter pointsman_runs_ended_total [('agent', 'builtin'), ('status', 'succeeded')] 1.0",
        "histogram pointsman_queue_wait_seconds_count [('agent', 'builtin')] 1.0",
        "histogram pointsman_budget_left_ratio_count [('agent', 'builtin')] 1.0",
        "counter pointsman_attempts_total [('agent', 'builtin'), ('by', 'tool'), ('first', 'yes')] 1.0",
        "gauge pointsman_store_up [] 1.0",
    ] {
        assert!(told.lines().any(|it| it == line), "{line} is not in\n{told}");
    }
    for name in ["transitions", "step_seconds", "stuck", "takeovers", "tokens", "money", "runs"] {
        assert!(reply.text().contains(&format!("# TYPE pointsman_{name}")), "{name}");
    }
}

/// Random requests, valid and not, get an answer that the document describes, and never a fault.
#[test]
#[ignore = "needs schemathesis: cargo xtask test --only serve"]
fn every_answer_is_as_the_document_says() {
    let home = Home::new("serve-fuzz");
    let server = Server::start(&home, &["--jobs", "2"]);
    let admin = authorization(&server);
    fuzz(&home, &server, Some(&admin), &["--exclude-path-regex", STREAMS]);
    let absent = ["--include-path-regex", STREAMS, "--phases", "examples,coverage,fuzzing"];
    fuzz(&home, &server, Some(&admin), &absent);
    // With a run that exists, most requests get further. One that lasts is needed.
    let run = server.asking("Hello");
    let names = format!("[parameters]\nid = \"{run}\"\nname = \"research\"\ncode = \"PM0501\"\n");
    home.write("schemathesis.toml", &names);
    let lasting = ["--exclude-path-regex", LASTING, "--exclude-method", "DELETE"];
    fuzz(&home, &server, Some(&admin), &lasting);
    // A client that may only read, by its token or its address, gets an answer that says so.
    let (code, reader, told) = home.pointsman(&["token", "create", "--role", "read"]);
    assert_eq!(code, 0, "{told}");
    let reader = format!("Bearer {}", reader.trim());
    let count = || server.json("/readyz")["runs"].clone();
    let before = count();
    for authorization in [Some(&*reader), None] {
        let few = ["--exclude-path-regex", STREAMS, "--max-examples", "10"];
        fuzz(&home, &server, authorization, &few);
    }
    assert_eq!(count(), before, "nothing was started or removed");
    // It still serves.
    server.json("/readyz");
}

/// Sends random requests to the paths that are left.
fn fuzz(home: &Home, server: &Server, authorization: Option<&str>, options: &[&str]) {
    let header = authorization.map(|it| format!("Authorization: {it}"));
    let header = header.iter().flat_map(|it| ["--header", it]);
    let out = Command::new(python())
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("http://{}/openapi.json", server.address))
        .args(header)
        .args(["--max-examples", "40", "--seed", "1", "--no-color", "--suppress-health-check=all"])
        .args(["--checks", CHECKS])
        .args(["--request-timeout", "60"])
        .args(options)
        .current_dir(home.path(""))
        .env("PYTHONUTF8", "1")
        .output()
        .expect("Python starts");
    let told = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{told}{}", String::from_utf8_lossy(&out.stderr));
}

/// Somebody restarts the server, and somebody else answers first.
#[test]
#[ignore = "needs Python packages: cargo xtask test --only serve"]
fn the_example_that_follows_survives_a_restart() {
    let home = Home::new("serve-python-restart");
    let turn = json!({ "text": vec!["word"; 100].join(" "), "piece_ms": 50 });
    home.write("script.jsonl", &format!("{turn}\n").repeat(3));
    home.write("reply.toml", REPLY);
    let server = Server::start(&home, &[]);
    let (token, address) = (authorization(&server), server.address.to_string());
    let model = format!("script:{}", home.path("script.jsonl").display());
    let mut example = Command::new(python())
        .arg(root().join("examples/python/follow_run.py"))
        .args(["reply.toml", "Hello", "--server", &format!("http://{address}")])
        .args(["--token", token.trim_start_matches("Bearer "), "--model", &model])
        .current_dir(home.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python starts");
    waited("the run", || server.json("/api/v1/runs")["runs"][0]["state"] == "replying");
    // Killed, in the middle of a text, and away for a while.
    drop(server);
    thread::sleep(Duration::from_secs(3));
    assert!(example.try_wait().expect("it can be waited for").is_none(), "it must go on");
    let server = Server::start_at(&home, &address);
    let out = example.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{told}");
    assert!(told.contains("trying again"), "{told}");
    let result: Value = serde_json::from_slice(&out.stdout).expect("the result is JSON");
    assert_eq!(result["disposition"], json!("succeeded"), "{told}");
    drop(server);
}

#[test]
#[ignore = "needs Python packages: cargo xtask test --only serve"]
fn the_python_examples_start_follow_and_approve_a_run() {
    let home = Home::new("serve-python");
    let server = Server::start(&home, &[]);
    let url = format!("http://{}", server.address);
    for example in ["start_run.py", "follow_run.py"] {
        let out = Command::new(python())
            .arg(root().join("examples/python").join(example))
            .args(["note.toml", example, "--server", &url])
            .args(["--token", authorization(&server).trim_start_matches("Bearer ")])
            .current_dir(home.path(""))
            .output()
            .expect("Python starts");
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{example}: {told}");
        let result: Value = serde_json::from_slice(&out.stdout).expect("the result is JSON");
        assert_eq!(result["disposition"], json!("succeeded"), "{example}: {told}");
        let note = std::fs::read_to_string(home.path("note.txt")).expect("the note is written");
        assert!(note.starts_with(example), "{note}");
    }
}

/// Requests over TLS get the same answers.
#[test]
#[ignore = "needs curl: cargo xtask test --only serve"]
fn a_server_with_a_certificate_speaks_tls() {
    let home = Home::new("serve-tls");
    let file = |name: &str| {
        let folder = root().join("crates/pointsman/tests/it/tls");
        folder.join(name).display().to_string()
    };
    let (cert, key) = (file("good.pem"), file("key.pem"));
    let server = Server::start(&home, &["--jobs", "0", "--tls-cert", &cert, "--tls-key", &key]);
    let ask = |scheme: &str| {
        let url = format!("{scheme}://{}/healthz", server.address);
        // Whose certificate it is says the test of models.
        let curl = Command::new("curl").args(["--silent", "--insecure", &url]).output();
        String::from_utf8(curl.expect("curl starts").stdout).expect("it is text")
    };
    assert!(ask("https").contains("\"status\":\"ok\""), "{}", ask("https"));
    assert_eq!(ask("http"), "");
}

/// Every line that docs/api.md shows works as it stands.
#[test]
#[ignore = "needs curl: cargo xtask test --only serve"]
fn every_curl_line_of_the_guide_works() {
    let home = Home::new("serve-curl");
    let server = Server::start(&home, &[]);
    let guide = std::fs::read_to_string(root().join("docs/api.md")).expect("the guide is there");
    let ended = server.asking("Hello");
    assert!(server.act(&ended, "approve", &json!({})).status < 300);
    server.end(&ended);
    let mut tried = 0;
    for line in guide.lines().filter(|line| line.starts_with("curl ")) {
        let asking = if line.contains("$ASKING") { server.asking("Hello") } else { String::new() };
        let line = line
            .replace("127.0.0.1:7100", &server.address.to_string())
            .replace("$RUN", &ended)
            .replace("$ASKING", &asking)
            .replace("curl ", "curl --fail-with-body --silent --show-error ");
        let token = authorization(&server).replace("Bearer ", "");
        let out = Command::new("sh")
            .args(["-c", &line])
            .env("TOKEN", token)
            .output()
            .expect("the shell starts");
        let told = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{line}: {told}{}", String::from_utf8_lossy(&out.stderr));
        assert!(!told.is_empty(), "{line} says nothing");
        tried += 1;
    }
    assert!(tried > 15, "only {tried} lines were found");
}

//! OpenTelemetry: what a real receiver of OTLP decodes while the real program drives runs; and the dashboard for
//! the metrics.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use insta::assert_snapshot;
use pointsman_testing::{
    site::{HttpReply, Site},
    stand_in::PARENT,
};
use serde_json::Value;

use crate::{home::Home, serve::Server};

const SCRIPT: &str = r#"
[[turn]]
calls = [{ tool = "list", arguments = {} }]
usage = { input = 120, output = 8 }
[[turn]]
text = "A green answer."
usage = { input = 200, output = 5 }
"#;
const CHAT: [&str; 7] =
    ["run", "chat", "A red question", "--dir", "docs", "--model", "script:script.toml"];
const CONTENT: (&str, &str) = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");

/// A receiver that ends with this value.
struct Receiver {
    child: Child,
    home: Home,
    endpoint: String,
}

impl Receiver {
    fn start(name: &str) -> Self {
        let home = Home::new(name);
        home.write("script.toml", SCRIPT);
        let python = std::env::var_os("POINTSMAN_PYTHON").expect("the tier names a Python");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/telemetry/receiver.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(home.path("spans"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the receiver starts");
        let mut port = String::new();
        let out = child.stdout.take().expect("standard output is piped");
        BufReader::new(out).read_line(&mut port).expect("it says where it listens");
        let endpoint = format!("http://127.0.0.1:{}", port.trim());
        Self { child, home, endpoint }
    }

    /// Runs the command with spans sent here.
    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String) {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", self.endpoint.as_str());
        let variables: Vec<_> = [endpoint].into_iter().chain(variables.iter().copied()).collect();
        let shown = self.home.with(&variables, arguments);
        (shown.code, shown.err)
    }

    /// Returns everything that was received, as text.
    fn text(&self) -> String {
        fs::read_to_string(self.home.path("spans")).unwrap_or_default()
    }

    fn spans(&self) -> Vec<Value> {
        let text = self.text();
        text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn word<'a>(span: &'a Value, key: &str) -> &'a str {
    span[key].as_str().unwrap_or_default()
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    &span["attributes"][key]
}

/// Returns spans as a tree, without what differs from run to run.
fn tree(spans: &[Value]) -> String {
    fn below(spans: &[Value], parent: &str, depth: usize, shown: &mut String) {
        let mut children: Vec<_> = spans.iter().filter(|it| word(it, "parent") == parent).collect();
        // Milliseconds do not tell short stays apart.
        let place = |it: &&Value, key: &str| attribute(it, key).as_u64();
        children.sort_by_key(|it| (place(it, "pointsman.state.visit"), place(it, "pointsman.seq")));
        for span in children {
            let pad = "  ".repeat(depth);
            let (name, kind, status) =
                (word(span, "name"), word(span, "kind"), word(span, "status"));
            shown.extend([format!("{pad}{name} [{kind}, {status}]\n")]);
            let attributes: BTreeMap<String, Value> =
                serde_json::from_value(span["attributes"].clone()).expect("they are a map");
            for (key, value) in attributes {
                let is_run = ["pointsman.run.id", "gen_ai.conversation.id"].contains(&key.as_str());
                let value = if is_run { "RUN".into() } else { value.to_string() };
                shown.extend([format!("{pad}    {key} = {value}\n")]);
            }
            below(spans, word(span, "span"), depth + 1, shown);
        }
    }
    let mut shown = String::new();
    below(spans, "", 0, &mut shown);
    shown
}

#[test]
#[ignore = "needs opentelemetry-proto: cargo xtask test --only telemetry"]
fn names_and_parents_are_as_they_were() {
    let receiver = Receiver::start("telemetry-names");
    let named = [
        ("OTEL_SERVICE_NAME", "my-service"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=planted-key"),
    ];
    let (code, told) = receiver.run(&named, &CHAT);
    assert_eq!(code, Some(0), "{told}");
    let spans = receiver.spans();
    let traces: BTreeSet<_> = spans.iter().map(|span| word(span, "trace")).collect();
    let ids: BTreeSet<_> = spans.iter().map(|span| word(span, "span")).collect();
    assert_eq!((traces.len(), ids.len()), (1, spans.len()), "one trace, and every span once");
    for span in &spans {
        assert_eq!(span["resource"]["service.name"], "my-service");
        assert_eq!(span["resource"]["deployment.environment.name"], "test");
        assert_eq!(span["headers"]["x-key"], "planted-key");
        assert!(span["start"].as_u64() <= span["end"].as_u64(), "{span}");
        let parent = word(span, "parent");
        assert!(parent.is_empty() || ids.contains(parent), "{span} has no parent");
    }
    assert_snapshot!(tree(&spans));
}

#[test]
#[ignore = "needs opentelemetry-proto: cargo xtask test --only telemetry"]
fn content_is_sent_only_if_it_is_asked_for() {
    let receiver = Receiver::start("telemetry-content");
    let words = ["A red question", "A green answer", "signals.md"];
    let (code, told) = receiver.run(&[], &CHAT);
    assert_eq!(code, Some(0), "{told}");
    let text = receiver.text();
    assert!(text.contains("execute_tool list"), "{text}");
    for word in words {
        assert!(!text.contains(word), "{word} is content: {text}");
    }
    let (code, told) = receiver.run(&[CONTENT], &CHAT);
    assert_eq!(code, Some(0), "{told}");
    let text = receiver.text();
    for word in words {
        assert!(text.contains(word), "{word} was opted into: {text}");
    }
    let said = receiver
        .spans()
        .into_iter()
        .find_map(|span| attribute(&span, "gen_ai.output.messages").as_str().map(str::to_owned));
    let said: Value = serde_json::from_str(&said.expect("a reply was sent")).expect("it is JSON");
    assert_eq!(said[0]["role"], "assistant");
}

/// A profile, a key and a header are in no span, even where content is opted into.
#[test]
#[ignore = "needs opentelemetry-proto and Chromium: cargo xtask test --only telemetry"]
fn secrets_are_in_no_span() {
    let receiver = Receiver::start("telemetry-secrets");
    let site = Site::start(|_| {
        HttpReply::html(
            "<!doctype html><title>Form</title><form><label>First name <input name=given \
             autocomplete=given-name></label><label>Email <input type=email name=email></label>\
             <label>Why do you apply? <textarea name=why required></textarea></label>\
             <button>Send</button></form>",
        )
    });
    let site = site.expect("a port is free");
    let home = &receiver.home;
    home.write("profile.toml", "given-name = \"Plantedname\"\nemail = \"planted@example.org\"\n");
    let turn = "{\"text\": \"planted-reply because of Plantedname\"}\n";
    home.write("replies.jsonl", &turn.repeat(9));
    let secrets = [
        ("OPENAI_API_KEY", "planted-openai-key"),
        ("ANTHROPIC_API_KEY", "planted-anthropic-key"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=planted-header"),
    ];
    let url = site.url("");
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml", "--submit", "never"];
    let run = [&run[..], &["--model", "script:replies.jsonl"]].concat();
    let (_, told) = receiver.run(&[&secrets[..], &[CONTENT]].concat(), &run);
    let mut spans = receiver.spans();
    assert!(spans.iter().any(|span| word(span, "name") == "invoke_agent form"), "{told}");
    for span in &mut spans {
        // The receiver reports what it was sent beside the spans too.
        assert_eq!(span["headers"]["authorization"], "planted-header");
        span["headers"] = Value::Null;
        let text = span.to_string().to_lowercase();
        assert!(!text.contains("planted"), "{text}");
    }
}

#[test]
#[ignore = "needs opentelemetry-proto: cargo xtask test --only telemetry"]
fn resumed_run_continues_its_trace_and_sends_nothing_twice() {
    let receiver = Receiver::start("telemetry-resume");
    // A run that waits for a person is left, and resumed by another process.
    let (code, told) = receiver.run(&[], &["run", "note.toml", "Hello"]);
    assert_eq!(code, Some(3), "{told}");
    let before = receiver.spans().len();
    let (code, told) = receiver.run(&[], &["approve", "last"]);
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = receiver.run(&[], &["resume", "last"]);
    assert_eq!(code, Some(0), "{told}");
    let spans = receiver.spans();
    assert!(spans.len() > before, "{spans:?}");
    let ids: BTreeSet<_> = spans.iter().map(|span| word(span, "span")).collect();
    let traces: BTreeSet<_> = spans.iter().map(|span| word(span, "trace")).collect();
    assert_eq!((ids.len(), traces.len()), (spans.len(), 1), "{spans:?}");
    let named = |name: &str| spans.iter().filter(|it| word(it, "name") == name).count();
    assert_eq!(named("invoke_agent note"), 1);
    assert_eq!(named("state writing"), 1);
    // A run whose process dies before anything was sent: what it did is not told by the next one.
    let research = ["run", "research", "What is a red signal?", "--dir", "docs"];
    let (code, _) = receiver.run(&[("POINTSMAN_DIE_AT", "persisted:3")], &research);
    assert_ne!(code, Some(0));
    let before = receiver.spans().len();
    let (code, told) = receiver.run(&[], &["resume", "last"]);
    assert_eq!(code, Some(0), "{told}");
    let after: Vec<_> = receiver.spans().split_off(before);
    assert!(!after.is_empty());
    for span in after {
        let seq = attribute(&span, "pointsman.seq").as_u64();
        assert!(seq > Some(3), "an entry that was only read: {span}");
    }
}

/// A child run has the trace of the run that started it, and is below the call.
#[test]
#[ignore = "needs opentelemetry-proto: cargo xtask test --only telemetry"]
fn child_run_is_below_the_call_that_started_it() {
    let receiver = Receiver::start("telemetry-children");
    receiver.home.write("parent.toml", PARENT);
    let run = ["run", "parent.toml", "What is a red signal?", "--dir", "docs"];
    let (code, told) = receiver.run(&[], &run);
    assert_eq!(code, Some(0), "{told}");
    let spans = receiver.spans();
    let all = |key: &str| spans.iter().map(|span| word(span, key)).collect::<BTreeSet<_>>();
    let (traces, ids) = (all("trace"), all("span"));
    assert_eq!((traces.len(), ids.len()), (1, spans.len()), "one trace, and every span once");
    let runs: BTreeSet<_> =
        spans.iter().filter_map(|it| attribute(it, "pointsman.run.id").as_str()).collect();
    assert_eq!(runs.len(), 2, "the parent and the child: {runs:?}");
    for span in &spans {
        let parent = word(span, "parent");
        assert!(parent.is_empty() || ids.contains(parent), "{span} has no parent");
    }
    let named = |name: &str| {
        let found = spans.iter().find(|span| word(span, "name") == name);
        found.unwrap_or_else(|| panic!("there is no {name}: {spans:?}"))
    };
    assert_eq!(word(named("invoke_agent research"), "parent"), word(named("child"), "span"));
    assert_eq!(word(named("invoke_agent parent"), "parent"), "");
    assert_snapshot!("children", tree(&spans));
}

#[test]
#[ignore = "needs opentelemetry-proto: cargo xtask test --only telemetry"]
fn workers_and_the_json_encoding_send_spans_too() {
    let receiver = Receiver::start("telemetry-worker");
    let submit = ["submit", "research", "What is a red signal?", "--dir", "docs"];
    let (code, _, told) = receiver.home.pointsman(&submit);
    assert_eq!(code, 0, "{told}");
    let (code, told) = receiver.run(&[], &["worker", "--once"]);
    assert_eq!(code, Some(0), "{told}");
    let spans = receiver.spans();
    assert!(spans.iter().any(|span| word(span, "name") == "invoke_agent research"), "{told}");
    let (code, told) = receiver.run(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")], &CHAT);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(receiver.spans().len(), spans.len(), "they came as JSON");
    let json = fs::read_to_string(receiver.home.path("spans.json")).expect("JSON came");
    let batch: Value = serde_json::from_str(json.lines().next().expect("a batch came"))
        .expect("the batch is JSON");
    let first = &batch["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(first["traceId"].as_str().map(str::len), Some(32), "{batch}");
}

/// A run is the same with an endpoint where no one listens, but for one warning.
#[test]
fn dead_endpoint_is_one_warning() {
    let home = Home::new("telemetry-dead");
    home.write("script.toml", SCRIPT);
    let plain = home.with(&[], &CHAT);
    home.write("script.toml", SCRIPT);
    // No one listens on port 9 of this machine, and nothing else may be asked.
    let dead = home.with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:word@127.0.0.1:9")], &CHAT);
    assert_eq!((plain.code, &plain.out), (dead.code, &dead.out));
    let new: Vec<_> = dead.err.lines().filter(|line| line.contains("telemetry spans")).collect();
    assert_eq!(new.len(), 1, "{}", dead.err);
    assert!(new.iter().all(|it| it.contains("were not sent to http://127.0.0.1:9/")), "{new:?}");
    assert_eq!(plain.err.lines().count() + 1, dead.err.lines().count(), "{}", dead.err);
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let off = home.with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), grpc], &CHAT);
    assert_eq!(off.code, plain.code);
    assert!(off.err.contains("telemetry is off: OTEL_EXPORTER_OTLP_PROTOCOL"), "{}", off.err);
}

/// Each line of the log is an object that names its run and its entry.
#[test]
fn log_as_json_names_run_and_entry() {
    let home = Home::new("telemetry-log");
    let log = [("POINTSMAN_LOG", "info"), ("POINTSMAN_LOG_FORMAT", "json")];
    let log = [log[0], log[1], ("POINTSMAN_LOG_FILE", "log.jsonl")];
    let run = home.with(&log, &["run", "research", "What is a red signal?", "--dir", "docs"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let text = fs::read_to_string(home.path("log.jsonl")).expect("it was logged");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let moved: Vec<_> = lines.iter().filter(|it| it["message"] == "state_transition").collect();
    assert!(moved.len() > 3, "{text}");
    for line in lines.iter().filter(|line| line["run"].is_string()) {
        assert!(line["seq"].as_u64() > Some(0), "{line}");
    }
    let wrong = home.with(&[("POINTSMAN_LOG", "info"), ("POINTSMAN_LOG_FORMAT", "xml")], &["runs"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
}

/// Every metric that the dashboard shows is one that the server has.
#[test]
fn dashboard_shows_metrics_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dashboard = fs::read_to_string(root.join("deploy/grafana.json")).expect("it is there");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("it is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let queries = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let queries: Vec<&str> = queries.filter_map(|target| target["expr"].as_str()).collect();
    let name = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let words = queries.iter().flat_map(|query| query.split(name));
    let shown: BTreeSet<&str> = words.filter(|word| word.starts_with("pointsman_")).collect();
    assert!(shown.len() > 10, "{shown:?}");
    let home = Home::new("dashboard");
    let server = Server::start(&home, &[]);
    let metrics = server.get("/metrics").text();
    let known: BTreeSet<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    for word in shown {
        let plain = ["_bucket", "_sum", "_count"].iter().find_map(|it| word.strip_suffix(it));
        let is_known = known.contains(word) || plain.is_some_and(|it| known.contains(it));
        assert!(is_known, "/metrics has no {word}");
    }
}

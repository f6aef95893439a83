//! Following a run: a stream that is cut anywhere resumes without loss or repetition.

use std::io::Read as _;

use serde_json::json;

use super::{
    Server,
    client::{events, ids, parse, request, send},
};
use crate::home::Home;

/// Runs a chart to its end and returns the run.
fn ended(home: &Home) -> String {
    let (_, out, told) =
        home.pointsman(&["run", "note.toml", "Hello", "--allow", "write", "--json"]);
    let last = out.lines().last().unwrap_or_else(|| panic!("{told}"));
    let last: serde_json::Value = serde_json::from_str(last).expect("it is JSON");
    assert_eq!(last["disposition"], "succeeded", "{told}");
    last["run"].as_str().expect("it names the run").to_owned()
}

/// Returns the ids of the items that a run's timeline has.
fn items(server: &Server, run: &str) -> Vec<String> {
    let timeline = server.json(&format!("/api/v1/runs/{run}/timeline?limit=1000"));
    let items = timeline["items"].as_array().expect("it is a list").iter();
    items.map(|item| format!("{}.{}", item["seq"], item["index"])).collect()
}

#[test]
fn a_stream_that_is_cut_at_any_byte_resumes_exactly() {
    let home = Home::new("serve-cut");
    let run = ended(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    let path = format!("/api/v1/runs/{run}/events");
    let expected = items(&server, &run);
    assert!(expected.len() > 3, "{expected:?}");
    let mut stream = send(server.address, "GET", &path, &[], "").expect("the server answers");
    let mut whole = Vec::new();
    stream.read_to_end(&mut whole).expect("the stream ends with the run");
    let reply = parse(&whole);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    assert_eq!(ids(&events(&reply.body)), expected);
    // What a client has after each byte, and what it gets when it resumes there. Cuts between two
    // events leave the same, so one resumption for each last event is enough.
    let mut resumed: std::collections::BTreeMap<Option<String>, Vec<String>> =
        std::collections::BTreeMap::new();
    for cut in 0..=whole.len() {
        let mut seen = ids(&events(&parse(&whole[..cut]).body));
        let last = seen.last().cloned();
        let rest = resumed.entry(last.clone()).or_insert_with(|| {
            let head: Vec<(&str, &str)> =
                last.iter().map(|last| ("Last-Event-ID", last.as_str())).collect();
            let reply = request(server.address, "GET", &path, &head, "").expect("it answers");
            let done = last.as_ref() == expected.last();
            assert_eq!(reply.status, if done { 204 } else { 200 }, "{}", reply.text());
            ids(&events(&reply.body))
        });
        seen.extend(rest.iter().cloned());
        assert_eq!(seen, expected, "cut after {cut} bytes");
    }
    assert_eq!(resumed.len(), expected.len() + 1);
    for last in ["", "x", "1", "0.0", "1.x", "99.0"] {
        let head = [("Last-Event-ID", last)];
        let reply = request(server.address, "GET", &path, &head, "").expect("it answers");
        assert_eq!(reply.status, 400, "{last}");
    }
    let from = request(server.address, "GET", &format!("{path}?from=2"), &[], "");
    let from = ids(&events(&from.expect("it answers").body));
    let second: Vec<&String> = expected.iter().filter(|id| !id.starts_with("1.")).collect();
    assert_eq!(from.iter().collect::<Vec<_>>(), second);
}

#[test]
fn a_stream_continues_with_a_run_that_another_process_drives() {
    let home = Home::new("serve-elsewhere");
    let (code, out, told) = home.pointsman(&["run", "note.toml", "Hello", "--json"]);
    assert_eq!(code, 3, "{told}");
    let last: serde_json::Value =
        serde_json::from_str(out.lines().last().expect("a result")).expect("it is JSON");
    let run = last["run"].as_str().expect("it names the run");
    let server = Server::start(&home, &["--jobs", "0"]);
    let path = format!("/api/v1/runs/{run}/events");
    let stream = send(server.address, "GET", &path, &[], "").expect("the server answers");
    let reading = std::thread::spawn(move || {
        let (mut stream, mut whole) = (stream, Vec::new());
        stream.read_to_end(&mut whole).expect("the stream ends with the run");
        whole
    });
    assert_eq!(home.pointsman(&["approve", run]).0, 0);
    assert_eq!(home.pointsman(&["resume", run]).0, 0);
    let seen = events(&parse(&reading.join().expect("it read")).body);
    assert_eq!(ids(&seen), items(&server, run));
    let end = seen.last().expect("there are events");
    assert_eq!(end.data["kind"], json!("ended"));
    assert_eq!(end.data["disposition"], json!("succeeded"));
}

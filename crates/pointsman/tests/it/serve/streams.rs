//! Following a run: a stream that is cut anywhere resumes without loss or repetition.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::json;

use super::{
    SOON, Server,
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
    // The first span of a run begins with its first entry.
    let lanes = server.json(&format!("/api/v1/runs/{run}/lanes?spans=1"));
    let first = server.json(&format!("/api/v1/runs/{run}/timeline?limit=1"));
    assert_eq!(lanes["spans"][0]["at"], first["items"][0]["at"], "{lanes}");
    assert!(first["items"][0]["at"].is_number(), "{first}");
    let from = request(server.address, "GET", &format!("{path}?from=2"), &[], "");
    let from = ids(&events(&from.expect("it answers").body));
    let second: Vec<&String> = expected.iter().filter(|id| !id.starts_with("1.")).collect();
    assert_eq!(from.iter().collect::<Vec<_>>(), second);
}

#[test]
fn stream_says_that_its_run_was_removed() {
    let home = Home::new("serve-stream-removed");
    let run = waiting(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    let path = format!("/api/v1/runs/{run}/events");
    let mut stream = send(server.address, "GET", &path, &[], "").expect("the server answers");
    let mut begin = [0; 64];
    stream.read_exact(&mut begin).expect("the stream begins");
    let removed = request(server.address, "DELETE", &format!("/api/v1/runs/{run}"), &[], "");
    assert_eq!(removed.expect("it answers").status, 200);
    let mut whole = begin.to_vec();
    stream.read_to_end(&mut whole).expect("the stream ends with the run");
    let last = events(&parse(&whole).body).pop().expect("there are events");
    assert_eq!((last.name.as_str(), last.id), ("removed", None));
}

#[test]
fn stream_ends_when_its_token_is_revoked() {
    let home = Home::new("serve-stream-revoked");
    home.settings("[serve]\nkeep_alive = \"100ms\"\n");
    let run = waiting(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    let (_, token, _) = home.pointsman(&["token", "create", "--role", "read", "--name", "reader"]);
    let head = format!(
        "GET /api/v1/runs/{run}/events HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Authorization: Bearer {}\r\n\r\n",
        server.address,
        token.trim(),
    );
    let mut stream = TcpStream::connect(server.address).expect("the server listens");
    stream.set_read_timeout(Some(SOON)).expect("a time can be set");
    stream.write_all(head.as_bytes()).expect("the request is sent");
    let mut whole = Vec::new();
    super::waited("a sign of life", || {
        let mut part = [0; 1_024];
        let read = stream.read(&mut part).expect("the stream is open");
        assert!(read > 0, "the stream ended: {}", String::from_utf8_lossy(&whole));
        whole.extend_from_slice(&part[..read]);
        String::from_utf8_lossy(&whole).contains(": still here")
    });
    assert_eq!(home.pointsman(&["token", "revoke", "reader"]).0, 0);
    stream.read_to_end(&mut whole).expect("the stream ends with its token");
    assert_eq!(parse(&whole).status, 200);
}

/// Starts a run that waits for an answer, and returns it.
fn waiting(home: &Home) -> String {
    let (code, out, told) = home.pointsman(&["run", "note.toml", "Hello", "--json"]);
    assert_eq!(code, 3, "{told}");
    let last: serde_json::Value =
        serde_json::from_str(out.lines().last().expect("a result")).expect("it is JSON");
    last["run"].as_str().expect("it names the run").to_owned()
}

#[test]
fn a_stream_continues_with_a_run_that_another_process_drives() {
    let home = Home::new("serve-elsewhere");
    let run = waiting(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    let path = format!("/api/v1/runs/{run}/events");
    let stream = send(server.address, "GET", &path, &[], "").expect("the server answers");
    let reading = std::thread::spawn(move || {
        let (mut stream, mut whole) = (stream, Vec::new());
        stream.read_to_end(&mut whole).expect("the stream ends with the run");
        whole
    });
    assert_eq!(home.pointsman(&["approve", &run]).0, 0);
    assert_eq!(home.pointsman(&["resume", &run]).0, 0);
    let seen = events(&parse(&reading.join().expect("it read")).body);
    assert_eq!(ids(&seen), items(&server, &run));
    let end = seen.last().expect("there are events");
    assert_eq!(end.data["kind"], json!("ended"));
    assert_eq!(end.data["disposition"], json!("succeeded"));
}

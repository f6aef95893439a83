//! Requests that say less, more or something else than their sender means: none of it is passed over.

use serde_json::{Value, json};

use super::{Reply, Server, actions::REPLY, client::request, waited};
use crate::home::{Home, NOTE};

/// Sends a request with these headers.
fn send(server: &Server, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    request(server.address, "POST", path, headers, body).expect("the server answers")
}

const JSON: (&str, &str) = ("Content-Type", "application/json");

#[test]
fn body_without_a_json_type_is_refused_and_nothing_is_done() {
    let home = Home::new("serve-untyped");
    let server = Server::start(&home, &[]);
    let run = server.asking("Hello");
    let path = format!("/api/v1/runs/{run}");
    for action in ["approve", "deny", "pause", "fork"] {
        let body = match action {
            "pause" => json!({ "reason": "lunch" }),
            "fork" => json!({ "at": 99 }),
            _ => json!({ "question": "99.0" }),
        };
        for headers in [
            &[][..],
            &[("Content-Type", "text/plain")],
            &[("Content-Type", "application/x-www-form-urlencoded")],
            &[JSON, ("Content-Encoding", "gzip")],
        ] {
            let refused = send(&server, &format!("{path}/{action}"), headers, &body.to_string());
            assert_eq!(refused.status, 415, "{action} {headers:?}: {}", refused.text());
            assert!(refused.json()["hint"].as_str().expect("a hint").contains("`Content-"));
        }
    }
    let read = server.json(&path);
    assert_eq!((&read["paused"], &read["disposition"]), (&json!(false), &Value::Null), "{read}");
    assert_ne!(read["questions"], json!([]));
    assert_eq!(server.json("/api/v1/runs")["runs"].as_array().expect("a list").len(), 1);
    // Nothing at all, of whatever type, leaves the body out.
    for headers in [&[][..], &[JSON]] {
        let done = send(&server, &format!("{path}/approve"), headers, "");
        assert!(matches!(done.status, 200 | 202 | 409), "{headers:?}: {}", done.text());
    }
    assert_eq!(server.end(&run)["disposition"], "succeeded");
}

#[test]
fn message_that_a_run_would_drop_is_refused() {
    let home = Home::new("serve-unread");
    home.write("script.toml", "[[turn]]\ntext = 'The first'\n");
    let server = Server::start(&home, &[]);
    let model = format!("script:{}", home.path("script.toml").display());
    let run = server.run(&json!({ "agent": "chat", "model": model }));
    for body in [
        json!({ "text": "" }),
        json!({ "text": " \n" }),
        json!({ "event": "user_input", "body": { "foo": 1 } }),
        json!({ "event": "user_input", "body": { "text": " " } }),
        json!({ "event": "user_input", "body": 7 }),
        json!({ "event": "user_input", "body": [] }),
        json!({ "event": "user_input" }),
        json!({ "body": { "text": 7 } }),
    ] {
        let refused = server.act(&run, "input", &body);
        assert_eq!(refused.status, 422, "{body}: {}", refused.text());
        assert!(refused.json()["hint"].is_string(), "{body}: {}", refused.text());
    }
    let heard =
        server.act(&run, "input", &json!({ "event": "user_input", "body": { "text": "Go" } }));
    assert_eq!(heard.status, 202, "{}", heard.text());
    let timeline = format!("/api/v1/runs/{run}/timeline?limit=1000");
    waited("the answer", || server.get(&timeline).text().contains("The first"));
    // No state of this chart waits for a message.
    let unheard = server.act(&server.asking("Talk"), "input", &json!({ "text": "Hello" }));
    assert_eq!(unheard.status, 409, "{}", unheard.text());
}

#[test]
fn key_that_cannot_be_stored_is_refused_and_nothing_is_done() {
    let home = Home::new("serve-nul-key");
    let server = Server::start(&home, &["--jobs", "0"]);
    let run = server.run(&json!({ "chart": NOTE, "goal": "Hello" }));
    let messages = || {
        let metrics = server.get("/metrics").text();
        let line = metrics.lines().find(|line| line.starts_with("pointsman_store_messages "));
        line.expect("the store has messages").to_owned()
    };
    let count = || server.json("/api/v1/runs")["runs"].as_array().expect("a list").len();
    let before = (count(), messages());
    let key = "a\0b";
    let refused = [
        server.act(&run, "fork", &json!({ "key": key })),
        server.post("/api/v1/runs/bulk", &json!({ "action": "resume", "all": true, "key": key })),
        server.post("/api/v1/runs/bulk", &json!({ "action": "fork", "all": true, "key": key })),
    ];
    for refused in refused {
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains("concurrency key"), "{}", refused.text());
    }
    assert_eq!((count(), messages()), before);
}

#[test]
fn empty_value_of_a_filter_is_no_filter() {
    let home = Home::new("serve-empty-filter");
    let server = Server::start(&home, &[]);
    let run = server.asking("Hello");
    for filter in [
        json!({ "text": "" }),
        json!({ "agent": "", "chart": "", "state": "", "key": "" }),
        json!({ "from_ms": 0 }),
    ] {
        let body = json!({ "action": "cancel", "filter": filter });
        let refused = server.post("/api/v1/runs/bulk", &body);
        assert_eq!(refused.status, 422, "{body}: {}", refused.text());
    }
    assert_eq!(server.json(&format!("/api/v1/runs/{run}"))["disposition"], Value::Null);
    let listed = server.json("/api/v1/runs?text=&agent=");
    assert_eq!(listed["runs"].as_array().expect("a list").len(), 1);
}

#[test]
fn key_names_one_request_also_after_a_restart() {
    let home = Home::new("serve-key-restart");
    home.write("script.toml", "[[turn]]\ntext = 'Hello'\n");
    let model = format!("script:{}", home.path("script.toml").display());
    let start = |server: &Server, body: &Value| {
        send(server, "/api/v1/runs", &[JSON, ("Idempotency-Key", "one")], &body.to_string())
    };
    let asked = json!({ "chart": NOTE, "goal": "Hello", "dir": home.path("docs"), "model": model });
    let with = |key: &str, value: Value| {
        let mut other = asked.clone();
        other[key] = value;
        other
    };
    let others = [
        with("chart", json!(REPLY)),
        with("chart", json!(NOTE.replace("10m", "20m"))),
        with("goal", json!("Goodbye")),
        with("dir", json!(home.path(""))),
        with("model", json!("script:/no/other.toml")),
        with("model", json!("quote")),
    ];
    let server = Server::start(&home, &["--jobs", "0"]);
    let first = start(&server, &asked);
    assert_eq!(first.status, 201, "{}", first.text());
    let location = first.header("location").expect("it has a path");
    let again = start(&server, &asked);
    assert_eq!((again.status, again.json()), (201, first.json()));
    assert_eq!(again.header("location"), Some(location));
    drop(server);
    // The first server remembers the requests, the second one only the run.
    let server = Server::start(&home, &["--jobs", "0"]);
    for other in &others {
        let refused = start(&server, other);
        assert_eq!(refused.status, 422, "{other}: {}", refused.text());
    }
    let again = start(&server, &asked);
    assert_eq!((again.status, again.json()), (201, first.json()), "{}", again.text());
    assert_eq!(again.header("location"), Some(location));
    assert_eq!(server.json("/api/v1/runs")["runs"].as_array().expect("a list").len(), 1);
}

#[test]
fn name_of_a_request_is_checked_wherever_it_stands() {
    let home = Home::new("serve-key-name");
    home.settings("[serve]\nbody = \"3MiB\"\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    let body = json!({ "chart": NOTE, "goal": "Hello" });
    let two = [JSON, ("Idempotency-Key", "one"), ("Idempotency-Key", "two")];
    let refused = send(&server, "/api/v1/runs", &two, &body.to_string());
    assert_eq!(refused.status, 400, "{}", refused.text());
    for name in [String::new(), "x".repeat(256), "a\nb".to_owned()] {
        let body = json!({ "chart": NOTE, "goal": "Hello", "request": name });
        let refused = server.post("/api/v1/runs", &body);
        assert_eq!(refused.status, 422, "{name}: {}", refused.text());
    }
    assert_eq!(server.json("/api/v1/runs")["runs"], json!([]));
    // The limit of a body is the same with a key and without.
    let long = format!("{{ \"keep\": 0, \"dry_run\": true {} }}", " ".repeat(5 << 19));
    for headers in [&[JSON][..], &[JSON, ("Idempotency-Key", "long")]] {
        let pruned = send(&server, "/api/v1/runs/prune", headers, &long);
        assert_eq!(pruned.status, 200, "{}", pruned.text());
    }
}

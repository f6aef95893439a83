//! Streams of runs that the server drives: live text, many followers, and slow ones.

use std::{
    io::Read as _,
    net::{SocketAddr, TcpStream},
    thread,
};

use serde_json::json;

use super::{
    Server,
    actions::REPLY,
    client::{Event, events, ids, parse, send},
    waited,
};
use crate::home::Home;

/// Reads a stream to its end.
fn whole(mut stream: TcpStream) -> Vec<Event> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the stream ends with the run");
    events(&parse(&bytes).body)
}

fn follow(address: SocketAddr, run: &str) -> TcpStream {
    let path = format!("/api/v1/runs/{run}/events");
    send(address, "GET", &path, &[], "").expect("the server answers")
}

/// A script of one reply in pieces.
fn reply(words: usize, word: &str, piece_ms: u64) -> String {
    let text = vec![word; words].join(" ");
    format!("{}\n", json!({ "text": text, "piece_ms": piece_ms }))
}

#[test]
fn a_hundred_clients_see_the_same_items_and_the_text_as_it_is_written() {
    let home = Home::new("serve-hundred");
    home.write("script.jsonl", &reply(100, "word", 20));
    let server = Server::start(&home, &[]);
    let model = format!("script:{}", home.path("script.jsonl").display());
    let run = server.run(&json!({ "chart": REPLY, "goal": "Talk", "model": model }));
    let streams: Vec<_> = (0..100)
        .map(|_| {
            let stream = follow(server.address, &run);
            thread::spawn(move || whole(stream))
        })
        .collect();
    let timeline = format!("/api/v1/runs/{run}/timeline?limit=1000");
    server.end(&run);
    let items = server.json(&timeline)["items"].as_array().expect("a list").clone();
    let expected: Vec<String> =
        items.iter().map(|item| format!("{}.{}", item["seq"], item["index"])).collect();
    let mut live = 0;
    for stream in streams {
        let seen = stream.join().expect("it read");
        assert_eq!(ids(&seen), expected);
        let text: String = seen
            .iter()
            .filter(|event| event.name == "delta")
            .filter_map(|event| event.data["text"].as_str())
            .collect();
        live += usize::from(text.contains("word"));
        // No text comes after the answer that has all of it.
        let answered = seen.iter().position(|it| it.data["kind"] == "answered").expect("an answer");
        assert!(seen[answered..].iter().all(|event| event.name != "delta"));
    }
    assert!(live > 0, "nobody saw the text while it was written");
}

/// Follows a run over connections that end after ever other numbers of bytes, and returns the
/// ids of the items that reached it.
fn follow_with_cuts(address: SocketAddr, run: &str, client: usize) -> Vec<String> {
    let path = format!("/api/v1/runs/{run}/events");
    let mut seen: Vec<String> = Vec::new();
    for connection in 0.. {
        let last = seen.last().cloned();
        let head: Vec<_> = last.iter().map(|last| ("Last-Event-ID", last.as_str())).collect();
        let stream = send(address, "GET", &path, &head, "").expect("the server answers");
        // More than the head of an answer, and a different part of the stream for each client.
        let cut = 1_000 + (client * 7_919 + connection * 104_729) % 4_000;
        let mut bytes = Vec::new();
        stream.take(cut as u64).read_to_end(&mut bytes).expect("the stream can be read");
        let reply = parse(&bytes);
        if reply.status == 204 {
            break;
        }
        assert_eq!(reply.status, 200, "{}", reply.text());
        seen.extend(ids(&events(&reply.body)));
        if bytes.len() < cut {
            break;
        }
    }
    seen
}

#[test]
fn a_hundred_clients_lose_and_repeat_nothing_when_their_streams_are_cut() {
    let home = Home::new("serve-hundred-cuts");
    home.settings("[serve]\nrate = 100_000\n");
    home.write("script.jsonl", &reply(100, "word", 20));
    let server = Server::start(&home, &[]);
    let model = format!("script:{}", home.path("script.jsonl").display());
    let run = server.run(&json!({ "chart": REPLY, "goal": "Talk", "model": model }));
    let address = server.address;
    let clients: Vec<_> = (0..100)
        .map(|client| {
            let run = run.clone();
            thread::spawn(move || follow_with_cuts(address, &run, client))
        })
        .collect();
    let seen: Vec<_> = clients.into_iter().map(|it| it.join().expect("it read")).collect();
    let timeline = server.json(&format!("/api/v1/runs/{run}/timeline?limit=1000"));
    let items = timeline["items"].as_array().expect("a list").iter();
    let expected: Vec<String> =
        items.map(|item| format!("{}.{}", item["seq"], item["index"])).collect();
    for (client, seen) in seen.iter().enumerate() {
        assert_eq!(*seen, expected, "client {client}");
    }
}

#[test]
fn slow_client_gets_lagged_and_slows_nothing() {
    let home = Home::new("serve-slow");
    home.settings("[serve]\nstream_buffer = 8\nwrite_timeout = \"1h\"\n");
    // More than all buffers between the two hold.
    home.write("script.jsonl", &reply(2_000, &"w".repeat(600), 1));
    let server = Server::start(&home, &[]);
    let model = format!("script:{}", home.path("script.jsonl").display());
    let run = server.run(&json!({ "chart": REPLY, "goal": "Talk", "model": model }));
    let slow = follow(server.address, &run);
    // The run ends without a reader.
    assert_eq!(server.end(&run)["disposition"], "succeeded");
    let seen = whole(slow);
    assert!(seen.iter().any(|event| event.name == "lagged"), "{} events", seen.len());
    let timeline = server.json(&format!("/api/v1/runs/{run}/timeline?limit=1000"));
    let items = timeline["items"].as_array().expect("a list").iter();
    let expected: Vec<String> =
        items.map(|item| format!("{}.{}", item["seq"], item["index"])).collect();
    assert_eq!(ids(&seen), expected, "no item is lost");
}

#[test]
fn a_stream_that_resumes_in_the_middle_of_a_text_begins_with_discard() {
    let home = Home::new("serve-discard");
    home.write("script.jsonl", &reply(200, "word", 50));
    let server = Server::start(&home, &[]);
    let model = format!("script:{}", home.path("script.jsonl").display());
    let run = server.run(&json!({ "chart": REPLY, "goal": "Talk", "model": model }));
    let mut stream = follow(server.address, &run);
    let (mut bytes, mut seen) = (Vec::new(), Vec::new());
    waited("live text", || {
        let mut part = [0; 1_024];
        let read = stream.read(&mut part).expect("the stream is open");
        assert!(read > 0, "the stream ended before any text came");
        bytes.extend_from_slice(&part[..read]);
        seen = events(&parse(&bytes).body);
        seen.iter().any(|event| event.name == "delta")
    });
    drop(stream);
    let effect = &seen.iter().find(|event| event.name == "delta").expect("text").data["effect"];
    let last = ids(&seen).pop().expect("items");
    let path = format!("/api/v1/runs/{run}/events");
    let head = [("Last-Event-ID", &*last)];
    let resumed = whole(send(server.address, "GET", &path, &head, "").expect("it answers"));
    let first = resumed.first().expect("there are events");
    assert_eq!((first.name.as_str(), &first.data["effect"]), ("discard", effect));
    let timeline = server.json(&format!("/api/v1/runs/{run}/timeline?limit=1000"));
    let count = timeline["items"].as_array().expect("a list").len();
    assert_eq!(ids(&seen).len() + ids(&resumed).len(), count);
}

#[test]
fn conversation_continues_while_messages_arrive() {
    let home = Home::new("serve-talk");
    home.write("script.toml", "[[turn]]\ntext = 'The first'\n[[turn]]\ntext = 'The second'\n");
    let server = Server::start(&home, &[]);
    let model = format!("script:{}", home.path("script.toml").display());
    let run = server.run(&json!({ "agent": "chat", "model": model }));
    let timeline = format!("/api/v1/runs/{run}/timeline?limit=1000");
    for answer in ["The first", "The second"] {
        let said = server.act(&run, "input", &json!({ "text": "Go on" }));
        assert_eq!(said.status, 202, "{}", said.text());
        waited(answer, || server.get(&timeline).text().contains(answer));
    }
    let open = server.json(&format!("/api/v1/runs/{run}"));
    assert_eq!(open["disposition"], json!(null), "{open}");
    let closed = server.act(&run, "input", &json!({ "event": "input_closed" }));
    assert_eq!(closed.status, 202, "{}", closed.text());
    assert_eq!(server.end(&run)["disposition"], "succeeded");
}

/// Runs end as they must, also if the server is killed on the way.
#[test]
#[ignore = "a thousand runs: cargo xtask test --only serve"]
fn a_thousand_runs_end_also_after_a_kill() {
    const RUNS: usize = 1_000;
    let home = Home::new("serve-thousand");
    let turn = format!("{}\n", json!({ "text": "An answer" }));
    home.write("script.jsonl", &turn.repeat(2 * RUNS));
    let model = format!("script:{}", home.path("script.jsonl").display());
    let mut server = Some(Server::start(&home, &["--jobs", "8"]));
    let mut started = Vec::new();
    for at in 0..RUNS {
        let body = json!({ "chart": REPLY, "goal": format!("Run {at}"), "model": model });
        started.push(server.as_ref().expect("it serves").run(&body));
        if at == RUNS / 2 {
            // Killed, in the middle of runs.
            drop(server.take());
            server = Some(Server::start(&home, &["--jobs", "8"]));
        }
    }
    let server = server.expect("it serves");
    for run in &started {
        let read = server.end(run);
        assert_eq!(read["disposition"], "succeeded", "{read}");
        assert_eq!(read["result"], "An answer", "{read}");
    }
    assert_eq!(server.json("/readyz")["runs"], RUNS);
    assert_eq!(server.json("/api/v1/stats")["dispositions"], json!({ "succeeded": RUNS }));
}

//! Model servers that never come to an end: silent ones, and ones that drip.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use crate::home::{Home, ProgressSink};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    transfer-encoding: chunked\r\n\r\n";
const PIECE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";

/// Asks the model once. The limit of the state is the test's.
const CHART: &str = r#"
chart     = "drip"
version   = 1
start     = "asking"
authority = "propose"

[any]
cancel = "cancelled"

[state.asking]
run          = "model.reply"
timeout      = "TIMEOUT"
with         = { prompt = "{goal}" }
on.completed = "done"
on.failed    = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Answers every request with a beginning, and then with this again and again, until the
/// other side has closed.
fn dripping(head: &'static str, drop: &'static str, every: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
    let url =
        format!("http://{}/v1", listener.local_addr().expect("a bound socket has an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drip(stream, head, drop, every));
        }
    });
    url
}

fn drip(mut stream: TcpStream, head: &str, drop: &str, every: Duration) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    stream.write_all(head.as_bytes()).ok()?;
    loop {
        if drop.is_empty() {
            return reader.read_exact(&mut [0]).ok();
        }
        stream.write_all(drop.as_bytes()).ok()?;
        std::thread::sleep(every);
    }
}

fn ask(name: &str, url: &str, timeout: &str, settings: &str) -> ProgressSink {
    let home = Home::new(name);
    home.write("drip.toml", &CHART.replace("TIMEOUT", timeout));
    home.settings(&format!("[model]\n{settings}\n"));
    let variables = [("OPENAI_BASE_URL", url)];
    home.with(&variables, &["run", "drip.toml", "Well?", "--model", "openai-compatible:m"])
}

#[test]
fn a_server_that_is_silent_is_left_after_the_idle_timeout() {
    let never = Duration::ZERO;
    for (name, head, told) in [
        ("drip-mute", "", "no response within 3s (`connect_timeout` plus `idle_timeout` in"),
        ("drip-head", HEAD, "no data for 2s (`idle_timeout` in `[model]`)"),
    ] {
        let url = dripping(head, "", never);
        let limits = "connect_timeout = \"1s\"\nidle_timeout = \"2s\"";
        let shown = ask(name, &url, "10m", limits);
        assert_eq!(shown.code, Some(1), "{}", shown.err);
        assert!(shown.err.contains(told), "{}", shown.err);
    }
}

#[test]
fn a_head_that_drips_is_left_after_the_idle_timeout() {
    // Each byte comes in time, and the head never ends.
    let url = dripping("HTTP/1.1 200 OK\r\nx-drop: ", "x", Duration::from_millis(100));
    let shown = ask("drip-headers", &url, "10m", "connect_timeout = \"1s\"\nidle_timeout = \"2s\"");
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(shown.err.contains("no response within 3s"), "{}", shown.err);
}

#[test]
fn an_answer_that_drips_is_ended_by_the_timeout_of_its_state() {
    let every = Duration::from_millis(200);
    let piece = format!("{:x}\r\n{PIECE}\r\n", PIECE.len());
    // A byte is a comment of the stream, a piece is a letter of the reply.
    for (name, drop) in [("drip-byte", "1\r\n:\r\n"), ("drip-piece", piece.leak())] {
        let url = dripping(HEAD, drop, every);
        let shown = ask(name, &url, "4s", "idle_timeout = \"10m\"");
        assert_eq!(shown.code, Some(1), "{}", shown.err);
        let told = "it took too long: more than 4 s, the `timeout` of state `asking`";
        assert!(shown.err.contains(&format!("reason: {told}")), "{}", shown.err);
    }
}

#[test]
fn slow_response_is_ended_by_its_size_limit() {
    let piece: &'static str = format!("{:x}\r\n{PIECE}\r\n", PIECE.len()).leak();
    let url = dripping(HEAD, piece, Duration::from_millis(10));
    let shown = ask("drip-size", &url, "10m", "idle_timeout = \"10m\"\nanswer = \"2KiB\"");
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(shown.err.contains("raise `answer` of `[model]`"), "{}", shown.err);
}

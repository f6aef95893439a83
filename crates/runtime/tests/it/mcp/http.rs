//! Servers behind an address: their requests, and how rejections appear.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use pointsman_kernel::agent::{Answer, FaultClass};
use pointsman_runtime::mcp::McpLimits;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::{Project, call, fault, said};

/// An address that answers by a rule and keeps the requests' methods and heads.
struct Peer {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

type Rule = fn(&str, &Value) -> (u16, &'static str, Value);

impl Peer {
    async fn start(rule: Rule) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let url =
            format!("http://{}/mcp", listener.local_addr().expect("a bound socket has an address"));
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, rule, Arc::clone(&kept)));
            }
        });
        Self { url, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no thread panicked while it held the lock").clone()
    }
}

async fn serve(stream: TcpStream, rule: Rule, heads: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(stream.read_line(&mut head).await, Ok(1..)) {
                return;
            }
        }
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
        stream.read_exact(&mut body).await.expect("a body");
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (status, more, mut answer) = match request["method"].as_str() {
            Some("notifications/initialized") => (202, "", Value::Null),
            // No stream of news, and nothing to delete.
            None => (405, "", Value::Null),
            Some(method) => rule(method, &request),
        };
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("id".into(), request["id"].clone());
            answer.insert("jsonrpc".into(), "2.0".into());
        }
        let method = request["method"].as_str().unwrap_or_default();
        heads
            .lock()
            .expect("no thread panicked while it held the lock")
            .push(format!("{method}\n{head}"));
        let body = if answer.is_null() { String::new() } else { answer.to_string() };
        let mut reply = format!("HTTP/1.1 {status} X\r\n{more}");
        write!(
            reply,
            "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("a string accepts any text");
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A good server whose tools are refused by the layer below.
fn good(method: &str, request: &Value) -> (u16, &'static str, Value) {
    let result = match (method, request["params"]["name"].as_str()) {
        ("initialize", _) => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "peer", "version": "1" }
        }),
        ("tools/list", _) => {
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": [tool("works"), tool("busy"), tool("locked"), tool("broken")] })
        }
        (_, Some("busy")) => return (429, "retry-after: 7\r\n", Value::Null),
        (_, Some("locked")) => return (401, "www-authenticate: Bearer\r\n", Value::Null),
        (_, Some("broken")) => return (500, "", Value::Null),
        _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
    };
    (200, "", json!({ "result": result }))
}

fn moved(_: &str, _: &Value) -> (u16, &'static str, Value) {
    (307, "location: http://127.0.0.1:1/elsewhere\r\n", Value::Null)
}

#[tokio::test]
async fn headers_are_sent_and_rejections_become_faults() {
    let peer = Peer::start(good).await;
    let server = json!({ "url": peer.url, "headers": { "Authorization": "Bearer abc" } });
    let project = Project::new("http", json!({ "web": server }));
    let servers = project.servers(&["web"], &McpLimits::default()).await;
    assert_eq!(said(&call(&servers, "mcp.web.works", json!({})).await), (true, "done"));

    let busy = call(&servers, "mcp.web.busy", json!({})).await;
    assert_eq!((fault(&busy).0, fault(&busy).1), (FaultClass::RateLimited, true), "{busy:?}");
    assert!(matches!(&busy.answer, Answer::Fault(fault) if fault.hint_ms == Some(7_000)));
    let locked = call(&servers, "mcp.web.locked", json!({})).await;
    assert_eq!((fault(&locked).0, fault(&locked).1), (FaultClass::Forbidden, false), "{locked:?}");
    let broken = call(&servers, "mcp.web.broken", json!({})).await;
    assert_eq!(
        (fault(&broken).0, fault(&broken).1),
        (FaultClass::Unavailable, false),
        "{broken:?}"
    );
    assert_eq!(said(&call(&servers, "mcp.web.works", json!({})).await), (true, "done"));

    let heads = peer.heads();
    let greetings = heads.iter().filter(|head| head.starts_with("initialize\n")).count();
    assert_eq!(greetings, 2, "only what is broken is opened again: {heads:?}");
    assert!(heads.iter().all(|head| head.contains("authorization: bearer abc")), "{heads:?}");
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let peer = Peer::start(moved).await;
    let project = Project::new("moved", json!({ "web": { "type": "http", "url": peer.url } }));
    let connected = project.connect(&["web"], &McpLimits::default()).await;
    let told: Vec<String> = connected.refused.iter().map(|(_, error)| error.to_string()).collect();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.contains("307"), "{told}");
    assert!(!told.contains("elsewhere"), "{told}");
}

#[tokio::test]
async fn unreachable_address_is_reported() {
    // No other test is given that port.
    let url = "http://127.0.0.1:1/mcp";
    let project = Project::new("nobody", json!({ "web": { "url": url } }));
    let connected = project.connect(&["web"], &McpLimits::default()).await;
    let told: Vec<String> = connected.refused.iter().map(|(_, error)| error.to_string()).collect();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.to_lowercase().contains("connection refused"), "{told}");
}

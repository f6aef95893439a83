//! A small HTTP client: one request per connection, and streams of events that can be cut anywhere.

use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::Mutex,
};

use serde_json::Value;

use super::SOON;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.text()))
    }
}

/// The token for each server that a test has started.
static TOKENS: Mutex<BTreeMap<SocketAddr, String>> = Mutex::new(BTreeMap::new());

/// Sends a token with every request to a server from now on.
pub(crate) fn know(server: SocketAddr, token: &str) {
    TOKENS.lock().expect("no test has failed with it").insert(server, format!("Bearer {token}"));
}

/// Returns the header of a server's token.
pub(crate) fn token(server: SocketAddr) -> Option<String> {
    TOKENS.lock().expect("no test has failed with it").get(&server).cloned()
}

/// Opens a connection and sends a request, with the server's token.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<TcpStream> {
    let token = token(address);
    let token: Vec<_> = token.iter().map(|token| ("Authorization", token.as_str())).collect();
    send_bare(address, method, path, &[&token, headers].concat(), body)
}

/// Opens a connection and sends a request with these headers, and a Host if none is among them.
fn send_bare(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SOON))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if headers.iter().all(|(name, _)| *name != "Host") {
        head.extend(["Host: ", &address.to_string(), "\r\n"]);
    }
    for (name, value) in headers {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    if !body.is_empty() || method != "GET" {
        head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
    Ok(stream)
}

/// Sends a request and reads the whole answer.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Reply> {
    read(send(address, method, path, headers, body)?)
}

/// Sends a request without the server's token and reads the whole answer.
pub(crate) fn bare(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Reply> {
    read(send_bare(address, method, path, headers, body)?)
}

/// Reads a whole answer.
fn read(mut stream: TcpStream) -> io::Result<Reply> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(parse(&bytes))
}

/// Reads an answer, or as much of it as there is.
pub(crate) fn parse(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end else {
        return Reply { status: 0, headers: Vec::new(), body: Vec::new() };
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut reply = Reply {
        status: status.parse().expect("an answer has a status"),
        headers: headers.collect(),
        body: bytes[end + 4..].to_vec(),
    };
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = unchunked(&reply.body);
    }
    reply
}

/// Joins chunks, as many as are there; the last one may be cut.
fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok();
        let Some(size) = size.and_then(|size| usize::from_str_radix(size, 16).ok()) else { break };
        let chunk = &rest[end + 2..];
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        if size == 0 || chunk.len() < size + 2 {
            break;
        }
        rest = &chunk[size + 2..];
    }
    body
}

/// One event of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// Reads the events that are whole.
pub(crate) fn events(body: &[u8]) -> Vec<Event> {
    let text = String::from_utf8_lossy(body);
    let Some(whole) = text.rfind("\n\n") else { return Vec::new() };
    let field = |block: &str, name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)).map(|it| it.trim().to_owned())
    };
    let blocks = text[..whole].split("\n\n");
    blocks
        .filter_map(|block| {
            let data = field(block, "data:")?;
            Some(Event {
                id: field(block, "id:"),
                name: field(block, "event:")?,
                data: serde_json::from_str(&data).expect("data is JSON"),
            })
        })
        .collect()
}

/// Returns the ids of items.
pub(crate) fn ids(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(|event| event.id.clone()).collect()
}

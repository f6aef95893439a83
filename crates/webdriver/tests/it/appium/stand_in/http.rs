//! Enough of HTTP for a WebDriver client and for a browser: requests with a length, one
//! after the other.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) json: bool,
    pub(crate) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: String,
}

const JSON: &str = "application/json; charset=utf-8";
pub(crate) const HTML: &str = "text/html; charset=utf-8";

impl Answer {
    pub(crate) fn value(value: &Value) -> Self {
        Self { status: 200, kind: JSON, body: json!({ "value": value }).to_string() }
    }

    /// Returns an error with the status that the standard gives its code.
    pub(crate) fn error(code: &str, message: &str) -> Self {
        let status = match code {
            "invalid argument"
            | "element not interactable"
            | "invalid element state"
            | "invalid selector"
            | "element click intercepted" => 400,
            "invalid session id"
            | "no such element"
            | "stale element reference"
            | "unknown command"
            | "no such window" => 404,
            "unknown method" => 405,
            _ => 500,
        };
        let error = json!({ "error": code, "message": message, "stacktrace": "" });
        Self { status, kind: JSON, body: json!({ "value": error }).to_string() }
    }
}

/// The server's end of a connection.
pub(crate) struct Connection<'s> {
    reader: BufReader<&'s TcpStream>,
    writer: &'s TcpStream,
}

impl<'s> Connection<'s> {
    pub(crate) fn new(stream: &'s TcpStream) -> Self {
        Self { reader: BufReader::new(stream), writer: stream }
    }

    /// Reads the next request; nothing when the client has gone.
    pub(crate) fn next(&mut self) -> Option<Request> {
        let line = self.line()?;
        let mut words = line.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (mut length, mut json) = (0, false);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "content-type" => json = value.trim().starts_with("application/json"),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        Some(Request { method, path, json, body })
    }

    /// Returns whether the answer was taken.
    pub(crate) fn answer(&mut self, answer: &Answer) -> bool {
        let head = format!(
            "HTTP/1.1 {} X\r\nContent-Type: {}\r\nCache-Control: no-store\r\nContent-Length: \
             {}\r\n\r\n",
            answer.status,
            answer.kind,
            answer.body.len()
        );
        self.writer.write_all(format!("{head}{}", answer.body).as_bytes()).is_ok()
    }

    /// Waits until the client has gone.
    pub(crate) fn wait_for_the_end(&mut self) {
        let mut rest = Vec::new();
        drop(self.reader.read_to_end(&mut rest));
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

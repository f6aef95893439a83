//! The server that counts: a process of its own that writes down every request.

use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::server::{Ready, Server, free_port};

const LISTENS: Duration = Duration::from_secs(20);
/// How long a client may take over its request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the answer takes after the request was counted: the moments in which a
/// client that is killed cannot know.
const UNSURE: Duration = Duration::from_millis(40);
/// Bytes of a request that are read.
const MOST: u64 = 64 * 1024;

/// A request that was counted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Request {
    pub(super) path: String,
    /// The key that identifies a repetition, if it has one.
    pub(super) key: Option<String>,
    pub(super) body: String,
}

/// A client of the counting server.
pub(super) struct Counter {
    server: Server,
    file: PathBuf,
}

impl Counter {
    /// Starts it, as a process of this very program.
    pub(super) fn start(file: PathBuf) -> Result<Self> {
        let port = free_port()?;
        fs::write(&file, "").context("making the file of counts")?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("count-server").arg(port.to_string()).arg(&file);
        Ok(Self { server: Server::start(command, port, Ready::Listens, LISTENS)?, file })
    }

    /// Returns the address under which one run's requests are counted.
    pub(super) fn address(&self, run: &str) -> String {
        format!("{}/{run}", self.server.url())
    }

    /// Returns the requests of one run so far, in their order.
    pub(super) fn requests(&self, run: &str) -> Result<Vec<Request>> {
        let whole = fs::read_to_string(&self.file).context("reading the counts")?;
        let own = format!("/{run}/");
        let all = whole.lines().filter_map(read);
        Ok(all.filter(|request| request.path.starts_with(&own)).collect())
    }
}

fn read(line: &str) -> Option<Request> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    Some(Request { path: text("path")?, key: text("key"), body: text("body")? })
}

/// Serves until the standard input closes. Every request is written down before it is
/// answered.
pub(crate) fn serve(port: u16, file: &Path) -> Result<bool> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).context("listening")?;
    let file = OpenOptions::new().append(true).open(file).context("opening the counts")?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(file) = file.try_clone() else { continue };
            // One that breaks off was not counted, and is not answered.
            thread::spawn(move || drop(answer(&stream, file)));
        }
    });
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).context("waiting for the end")?;
    Ok(true)
}

fn answer(stream: &TcpStream, mut file: fs::File) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(stream.take(MOST));
    let mut first = String::new();
    input.read_line(&mut first)?;
    let path = first.split(' ').nth(1).context("a request has a path")?.to_owned();
    let (mut key, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "idempotency-key" => key = Some(value.trim().to_owned()),
            "content-length" => length = value.trim().parse()?,
            _ => {}
        }
    }
    let mut body = String::new();
    input.take(length).read_to_string(&mut body)?;
    // In one write, so that requests at the same time do not mix.
    let line = format!("{}\n", json!({ "path": path, "key": key, "body": body }));
    file.write_all(line.as_bytes())?;
    thread::sleep(UNSURE);
    let said = format!("counted {path}");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n";
    let mut stream = stream;
    write!(stream, "{head}Content-Length: {}\r\n\r\n{said}", said.len())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Scratch;

    #[test]
    fn a_request_is_written_down_with_its_key_and_its_body() -> Result<()> {
        let scratch = Scratch::new()?;
        let file = scratch.file("counts");
        let log = OpenOptions::new().create(true).append(true).open(&file)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut client = TcpStream::connect(listener.local_addr()?)?;
        let head = "POST /run/first HTTP/1.1\r\nidempotency-KEY: k-1\r\nContent-Length: 2\r\n\r\n";
        client.write_all(format!("{head}ab").as_bytes())?;
        answer(&listener.accept()?.0, log)?;
        let mut said = String::new();
        client.read_to_string(&mut said)?;
        assert!(said.ends_with("counted /run/first"), "{said}");
        let counted =
            Request { path: "/run/first".into(), key: Some("k-1".into()), body: "ab".into() };
        assert_eq!(
            fs::read_to_string(&file)?.lines().filter_map(read).collect::<Vec<_>>(),
            [counted]
        );
        Ok(())
    }
}

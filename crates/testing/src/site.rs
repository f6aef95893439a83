//! A site on loopback, mostly for a browser: it gives the configured answers and records every
//! request.

use std::{
    fs, io,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Component, Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use serde_json::{Map, Value};

/// How long a client may take over its request. Browsers open connections in advance.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of a request that are read.
const MOST: u64 = 4 * 1024 * 1024;

/// A request that came in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// Without what follows the question mark.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// What was sent with it.
    pub body: String,
}

impl Request {
    /// Returns what was sent, whether as JSON or as a form's fields.
    pub fn delivery(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| Value::Object(fields(&self.body)))
    }
}

/// What a browser gets.
#[derive(Clone, Debug)]
#[must_use]
pub struct HttpReply {
    status: &'static str,
    kind: &'static str,
    location: Option<String>,
    body: Vec<u8>,
    /// How long is waited before each byte.
    pause: Duration,
}

impl HttpReply {
    /// The same, byte by byte and slowly.
    pub fn dripping(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Something that a browser would save and not show.
    pub fn download() -> Self {
        Self::of("application/octet-stream", b"a file".into())
    }

    /// A page.
    pub fn html(text: impl Into<String>) -> Self {
        Self::of("text/html; charset=utf-8", text.into().into_bytes())
    }

    /// What a script asked for.
    pub fn json(value: &Value) -> Self {
        Self::of("application/json", value.to_string().into_bytes())
    }

    /// A stream of events, all of them at once.
    pub fn events(text: &str) -> Self {
        Self::of("text/event-stream", text.as_bytes().into())
    }

    /// No page.
    pub fn nothing() -> Self {
        Self { status: "404 Not Found", ..Self::of("text/plain", b"there is no such page".into()) }
    }

    /// A page of a server that has failed.
    pub fn broken(text: &str) -> Self {
        Self { status: "500 Internal Server Error", ..Self::html(text) }
    }

    /// The way to another page.
    pub fn elsewhere(location: String) -> Self {
        let body = Self::of("text/plain", Vec::new());
        Self { status: "303 See Other", location: Some(location), ..body }
    }

    /// Returns a file of a folder; what would lead out of it is not there.
    pub fn file(folder: &Path, name: &str) -> Self {
        let name = PathBuf::from(name.trim_start_matches('/'));
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Self::nothing();
        }
        let kind = match name.extension().and_then(|it| it.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css",
            Some("png") => "image/png",
            _ => "application/octet-stream",
        };
        match fs::read(folder.join(name)) {
            Ok(body) => Self::of(kind, body),
            Err(_) => Self::nothing(),
        }
    }

    /// Returns the same with its text changed.
    pub fn map(mut self, change: impl FnOnce(String) -> String) -> Self {
        if self.kind.starts_with("text/") {
            self.body = change(String::from_utf8_lossy(&self.body).into_owned()).into_bytes();
        }
        self
    }

    fn of(kind: &'static str, body: Vec<u8>) -> Self {
        Self { status: "200 OK", kind, location: None, body, pause: Duration::ZERO }
    }
}

type Answers = dyn Fn(&Request) -> HttpReply + Send + Sync;

/// The site, as long as it is held.
pub struct Site {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Request>>>,
    over: Arc<AtomicBool>,
}

impl Site {
    /// Listens on a free port and answers from a thread.
    pub fn start(
        answers: impl Fn(&Request) -> HttpReply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (heard, over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let site = Self { address, heard: Arc::clone(&heard), over: Arc::clone(&over) };
        let answers: Arc<Answers> = Arc::new(answers);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Relaxed) {
                    break;
                }
                let (answers, heard) = (Arc::clone(&answers), Arc::clone(&heard));
                // A browser that breaks off no longer wants an answer.
                thread::spawn(move || drop(answer(&stream, &*answers, &heard)));
            }
        });
        Ok(site)
    }

    /// Returns an address of the site.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Returns host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Returns what was sent to a path so far, in its order.
    pub fn delivery(&self, path: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let posts = heard.iter().filter(|it| it.method == "POST" && it.path == path);
        posts.map(Request::delivery).collect()
    }

    /// Forgets what came in so far.
    pub fn forget(&self) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns whether a page was asked for.
    pub fn was_asked_for(&self, path: &str) -> bool {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().any(|it| it.path == path)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        // Wakes the thread that listens; one that has ended needs no waking.
        drop(TcpStream::connect(self.address));
    }
}

fn answer(stream: &TcpStream, answers: &Answers, heard: &Mutex<Vec<Request>>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(stream.take(MOST));
    let mut first = String::new();
    input.read_line(&mut first)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    let request = Request {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    heard.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    let HttpReply { status, kind, location, body, pause } = answers(&request);
    let location = location.map(|it| format!("Location: {it}\r\n")).unwrap_or_default();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{location}\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if pause.is_zero() {
        return stream.write_all(&body);
    }
    for byte in body {
        thread::sleep(pause);
        stream.write_all(&[byte])?;
    }
    Ok(())
}

/// Reads the fields of a form as a browser sends them.
fn fields(body: &str) -> Map<String, Value> {
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    let mut all = Map::new();
    for (name, value) in pairs {
        match all.get_mut(&decoded(name)) {
            // The boxes of one group come under one name.
            Some(Value::String(before)) => *before = format!("{before},{}", decoded(value)),
            _ => drop(all.insert(decoded(name), decoded(value).into())),
        }
    }
    all
}

fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next().unwrap_or_default(), bytes.next().unwrap_or_default()];
                let digits = String::from_utf8_lossy(&digits).into_owned();
                u8::from_str_radix(&digits, 16).unwrap_or(b'?')
            }
            byte => byte,
        });
    }
    String::from_utf8_lossy(&plain).into_owned()
}

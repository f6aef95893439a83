//! A server on a free port of this machine that gives the answers it was given.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

/// What happens to the connection after the last chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Then {
    /// The body is ended as HTTP has it.
    End,
    /// The connection is closed in the middle of the body.
    Cut,
    /// Nothing more is sent, and nothing is closed.
    Hang,
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) then: Then,
}

impl Served {
    /// Answers with a body in one piece.
    pub(crate) fn whole(status: u16, body: &str) -> Self {
        Self { status, headers: vec![], chunks: vec![body.as_bytes().to_vec()], then: Then::End }
    }

    /// Answers with a body that is cut into pieces of this many bytes.
    pub(crate) fn pieces(body: &[u8], size: usize) -> Self {
        let chunks = body.chunks(size).map(<[u8]>::to_vec).collect();
        Self { status: 200, headers: vec![], chunks, then: Then::End }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) const fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }
}

/// The server. It stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    /// Requests as they came: the head in lower case, and the body.
    pub(crate) seen: Arc<Mutex<Vec<(String, String)>>>,
    /// Says when a client goes away from an answer that hangs.
    pub(crate) left: mpsc::UnboundedReceiver<()>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves these answers, one per connection; the last one again and again.
pub(crate) async fn serve(answers: Vec<Served>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let url = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (gone, left) = mpsc::unbounded_channel();
    let noted = Arc::clone(&seen);
    let task = tokio::spawn(async move {
        for at in 0_usize.. {
            let Ok((stream, _)) = listener.accept().await else { return };
            let answer = answers.get(at).or_else(|| answers.last()).cloned().expect("there is one");
            let (noted, gone) = (Arc::clone(&noted), gone.clone());
            tokio::spawn(async move { answer_one(stream, answer, &noted, &gone).await });
        }
    });
    Server { url, seen, left, task }
}

async fn answer_one(
    mut stream: TcpStream,
    answer: Served,
    noted: &Mutex<Vec<(String, String)>>,
    gone: &mpsc::UnboundedSender<()>,
) -> Option<()> {
    let request = request(&mut stream).await?;
    noted.lock().expect("no thread panicked while it held the lock").push(request);
    let mut head = format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.extend([*name, ": ", value, "\r\n"]);
    }
    head += "connection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    for chunk in &answer.chunks {
        let size = format!("{:x}\r\n", chunk.len());
        let framed = [size.as_bytes(), chunk, b"\r\n"].concat();
        stream.write_all(&framed).await.ok()?;
        stream.flush().await.ok()?;
        // Let the other side read, so that chunks arrive as chunks.
        tokio::task::yield_now().await;
    }
    match answer.then {
        Then::End => stream.write_all(b"0\r\n\r\n").await.ok()?,
        Then::Cut => {}
        Then::Hang => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
            gone.send(()).ok()?;
        }
    }
    Some(())
}

async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let mut more = [0; 4096];
        let read = stream.read(&mut more).await.ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&more[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
        if body.len() >= length {
            return Some((head, body.to_owned()));
        }
    }
}

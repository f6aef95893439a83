//! A model server on this machine whose every answer is the same, and what it is asked.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A server that counts its requests. It lives as long as the test.
pub(crate) struct Served {
    pub(crate) url: String,
    asked: Arc<AtomicUsize>,
}

impl Served {
    /// Starts one. `before` is called with the number of each request before it is answered.
    pub(crate) fn new(before: impl Fn(usize) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}/v1", listener.local_addr().expect("it has an address"));
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(()) = read(&stream) else { continue };
                before(count.fetch_add(1, Ordering::SeqCst) + 1);
                // A killed client does not read its answer.
                drop(answer(stream));
            }
        });
        Self { url, asked }
    }

    /// Returns how many requests have come.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Reads one request to its end.
fn read(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let said = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}"#;
    let body = format!("data: {said}\n\ndata: [DONE]\n\n");
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )?;
    stream.flush()
}

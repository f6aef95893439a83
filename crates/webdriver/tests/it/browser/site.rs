//! A server of pages on loopback: enough HTTP for a browser that asks for HTML.

use std::{collections::BTreeMap, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Pages by their paths. Dropping it stops the server.
pub(super) struct Site {
    port: u16,
    task: JoinHandle<()>,
}

impl Site {
    /// Serves these pages. A page that begins with `-> ` is a redirect.
    pub(super) async fn of(pages: &[(&str, &str)]) -> Self {
        let pages: BTreeMap<String, String> =
            pages.iter().map(|(path, html)| ((*path).into(), (*html).into())).collect();
        let pages = Arc::new(pages);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("listener has an address").port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&pages)));
            }
        });
        Self { port, task }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut stream: TcpStream, pages: Arc<BTreeMap<String, String>>) {
    let mut asked = Vec::new();
    let mut buffer = [0; 4096];
    while !asked.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(count @ 1..) => asked.extend_from_slice(&buffer[..count]),
            _ => return,
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let target = asked.split(' ').nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or("/");
    if path == "/slow" {
        // Nothing ever comes, and the connection stays.
        std::future::pending::<()>().await;
    }
    let page = pages.get(path).map_or("<p>There is no such page", String::as_str);
    let head = match (pages.contains_key(path), page.strip_prefix("-> ")) {
        (false, _) => "404 Not Found".to_owned(),
        (true, Some(to)) => format!("302 Found\r\nLocation: {to}"),
        (true, None) => "200 OK".to_owned(),
    };
    let reply = format!(
        "HTTP/1.1 {head}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{page}",
        page.len()
    );
    drop(stream.write_all(reply.as_bytes()).await);
}

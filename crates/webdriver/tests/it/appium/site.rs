//! A web app on loopback for the browser: pages by path; one can be made to fail.

use std::{
    collections::BTreeMap,
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use super::stand_in::http::{Answer, Connection, HTML};

/// Pages by their paths. Dropping it stops the server.
pub(super) struct Site {
    port: u16,
    ended: Arc<AtomicBool>,
}

impl Site {
    /// Serves these pages. One that begins with a number and a blank has that status.
    pub(super) fn of(pages: &[(&str, &str)]) -> Self {
        let pages: BTreeMap<String, String> =
            pages.iter().map(|(path, html)| ((*path).into(), (*html).into())).collect();
        let (pages, ended) = (Arc::new(pages), Arc::new(AtomicBool::new(false)));
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("listener has an address").port();
        let end = Arc::clone(&ended);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let pages = Arc::clone(&pages);
                thread::spawn(move || serve(&stream, &pages));
            }
        });
        Self { port, ended }
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.ended.store(true, SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn serve(stream: &TcpStream, pages: &BTreeMap<String, String>) {
    let mut connection = Connection::new(stream);
    while let Some(request) = connection.next() {
        let path = request.path.split('?').next().unwrap_or_default();
        let page = pages.get(path).map_or("404 <p>There is no such page", String::as_str);
        if page == "hang up" {
            return;
        }
        let told = page.split_once(' ').and_then(|(it, rest)| Some((it.parse().ok()?, rest)));
        let (status, html) = told.unwrap_or((200, page));
        let answer = Answer { status, kind: HTML, body: format!("<!doctype html>{html}") };
        if !connection.answer(&answer) {
            return;
        }
    }
}

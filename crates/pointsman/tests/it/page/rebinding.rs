//! A page of another site whose name is rebound to this machine, in a real browser: to it, the server
//! is its own origin.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use pointsman_webdriver::browser::{Browser, BrowserSettings};
use serde_json::{Value, json};

use crate::{
    home::Home,
    serve::{SOON, Server, page::asking, waited},
};

/// What the other site serves: a script that reads all runs and approves one.
const ATTACK: &str = "<!doctype html><title>Evil</title><body><script>
async function attack(run) {
  const told = [];
  for (const [path, options] of [
    ['/api/v1/runs', {}],
    [`/api/v1/runs/${run}`, { credentials: 'include' }],
    [`/api/v1/runs/${run}/approve`, { method: 'POST' }],
    [`/api/v1/runs/${run}/approve`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }],
  ]) {
    try { told.push((await fetch(path, options)).status); } catch (error) { told.push(String(error)); }
  }
  document.body.dataset.told = JSON.stringify(told);
}
</script>";

/// Serves the other site's page, until it is rebound: then connections lead to a server.
fn site(server: SocketAddr, rebound: Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let rebound = Arc::clone(&rebound);
            // Where a connection leads is decided with its first byte: a browser opens some early.
            thread::spawn(move || match client.peek(&mut [0]) {
                // A client that is gone is no matter.
                Err(_) => {}
                Ok(_) if rebound.load(Ordering::SeqCst) => forward(client, server),
                Ok(_) => serve(client),
            });
        }
    });
    port
}

fn serve(mut client: TcpStream) {
    let mut request = [0; 4_096];
    if client.read(&mut request).is_ok_and(|read| read > 0) {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
        drop(client.write_all(format!("{head}{ATTACK}").as_bytes()));
    }
}

fn forward(mut client: TcpStream, server: SocketAddr) {
    let mut server = TcpStream::connect(server).expect("the server listens");
    let (mut from, mut to) = (
        server.try_clone().expect("it can be read elsewhere"),
        client.try_clone().expect("it can be written elsewhere"),
    );
    let answers = thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
    drop(std::io::copy(&mut client, &mut server));
    drop(server.shutdown(std::net::Shutdown::Both));
    drop(answers.join());
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn page_whose_name_is_rebound_to_the_server_reads_and_changes_nothing() {
    let home = Home::new("page-rebinding");
    let run = asking(&home, "Hello");
    let server = Server::start(&home, &["--jobs", "0"]);
    let rebound = Arc::new(AtomicBool::new(false));
    let port = site(server.address, Arc::clone(&rebound));
    // To the browser, the page has the server's port, and so the same origin once it is rebound.
    let evil = format!("evil.test:{}", server.address.port());
    let mut settings = BrowserSettings::default();
    settings.flags.push(format!("--host-resolver-rules=MAP {evil} 127.0.0.1:{port}"));
    (settings.start, settings.command) = (SOON, SOON);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let browser = runtime.block_on(Browser::open(&settings)).expect("the browser starts");
    runtime.block_on(browser.goto(&format!("http://{evil}/"))).expect("the page loads");
    let script = |body: &str, given: Vec<Value>| {
        runtime.block_on(browser.script(body, given)).expect("the script runs")
    };
    assert_eq!(script("return location.host", Vec::new()), json!(evil));
    rebound.store(true, Ordering::SeqCst);
    script("attack(arguments[0])", vec![json!(run)]);
    let mut told = Value::Null;
    waited("the end of the attack", || {
        told = script("return document.body.dataset.told ?? null", Vec::new());
        told != Value::Null
    });
    runtime.block_on(browser.close());
    // Every request reached the server, which answered none.
    assert_eq!(told, json!("[421,421,421,421]"));
    let read = server.json(&format!("/api/v1/runs/{run}"));
    assert_eq!(read["disposition"], Value::Null, "{read}");
    assert_ne!(read["questions"], json!([]), "{read}");
}

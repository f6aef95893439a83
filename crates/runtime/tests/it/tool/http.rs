//! `http_get` against a server in this process.

use pointsman_kernel::agent::ToolResult;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{TestSession, wait};

/// Answers each request by its path, for as long as it is awaited.
async fn serve(listener: TcpListener) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { return };
        tokio::spawn(async move {
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).await.unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let page = |head: &str, body: &str| {
                let length = body.len();
                format!(
                    "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
            };
            let answer = match path {
                "/page" => page("200 OK\r\ncontent-type: text/html", "<p>hello</p>"),
                "/json" => page("200 OK\r\ncontent-type: application/json", "{}"),
                "/gone" => page("404 Not Found\r\ncontent-type: text/plain", "no such page"),
                "/image" => page("200 OK\r\ncontent-type: image/png", "png"),
                "/nul" => page("200 OK", "a\0b"),
                "/long" => page("200 OK\r\ncontent-type: text/plain", &"word ".repeat(10_000)),
                "/hop" => page("302 Found\r\nlocation: /page", ""),
                "/loop" => page("302 Found\r\nlocation: /loop", ""),
                "/file" => page("302 Found\r\nlocation: file:///etc/passwd", ""),
                "/lost" => page("302 Found", ""),
                "/broken" => "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nshort".into(),
                // Nothing ever comes.
                _ => std::future::pending().await,
            };
            stream.write_all(answer.as_bytes()).await.ok();
        });
    }
}

/// Fetches a path of the server.
fn get(desk: &TestSession, path: &str) -> ToolResult {
    wait(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let url = format!("http://127.0.0.1:{port}{path}");
        tokio::select! {
            said = desk.call("http_get", json!({ "url": url })) => said,
            () = serve(listener) => panic!("the server stopped"),
        }
    })
}

fn desk(name: &str) -> TestSession {
    TestSession::with(name, |settings| {
        settings.http_private = true;
        settings.limits.http_ms = 20_000;
    })
}

#[test]
fn a_page_comes_with_its_status_and_type() {
    let desk = desk("http");
    let said = get(&desk, "/page");
    assert!(said.ok && !said.mutated, "{said:?}");
    assert!(said.output.starts_with("200 from http://127.0.0.1:"), "{said:?}");
    assert!(said.output.ends_with("/page, text/html\n<p>hello</p>"), "{said:?}");
    assert!(get(&desk, "/json").ok);
    let said = get(&desk, "/hop");
    assert!(said.ok && said.output.contains("/page"), "{said:?}");
    let said = get(&desk, "/gone");
    assert!(!said.ok && said.output.contains("no such page"), "{said:?}");
}

#[test]
fn content_that_is_not_text_is_rejected() {
    let desk = desk("http-text");
    assert_eq!(get(&desk, "/image").output, "the page is not text but `image/png`");
    assert_eq!(get(&desk, "/nul").output, "the page is not text but `binary data`");
}

#[test]
fn redirects_are_bounded_and_checked() {
    let desk = desk("http-redirect");
    assert_eq!(get(&desk, "/loop").output, "there were more than 5 redirects");
    assert_eq!(get(&desk, "/file").output, "only http and https are supported, not `file`");
    assert_eq!(get(&desk, "/lost").output, "the redirect has no target");
}

#[test]
fn a_long_page_is_cut() {
    let desk = TestSession::with("http-long", |settings| {
        settings.http_private = true;
        settings.limits.http_bytes = 20_000;
        settings.limits.output_bytes = 1000;
    });
    let said = get(&desk, "/long");
    assert!(said.ok && said.output.contains("[19000 bytes are cut here]"), "{said:?}");
    assert!(said.output.ends_with("[only the first 20000 bytes were read]"), "{said:?}");
    assert!(said.output.len() < 1300, "{}", said.output.len());
}

#[test]
fn a_server_that_fails_or_says_nothing_is_not_waited_for() {
    let desk = TestSession::with("http-slow", |settings| {
        settings.http_private = true;
        settings.limits.http_ms = 500;
    });
    assert_eq!(get(&desk, "/silence").output, "it took longer than 500 ms");
    let said = get(&desk, "/broken");
    assert!(!said.ok && said.output.starts_with("it cannot be fetched"), "{said:?}");
}

#[test]
fn this_machine_and_its_network_are_out_of_reach() {
    let desk = TestSession::new("http-private");
    for host in [
        "127.0.0.1:9",
        "localhost:9",
        "[::1]:9",
        "[::ffff:127.0.0.1]:9",
        "0:9",
        "0x7f.1:9",
        "2130706433",
    ] {
        let said = desk.refuses("http_get", json!({ "url": format!("http://{host}/") }));
        assert!(said.contains("this machine or its local network"), "{host}: {said}");
    }
    for host in ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[fe80::1]"] {
        let said = desk.refuses("http_get", json!({ "url": format!("https://{host}/") }));
        assert!(said.contains("`private_addresses = true` in `[sandbox]`"), "{host}: {said}");
    }
}

#[test]
fn only_plain_addresses_are_fetched() {
    let desk = desk("http-scheme");
    for (url, why) in [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://example.org/", "only http and https"),
        ("example.org", "not a web address"),
        ("http://name:word@example.org/", "name or password"),
        ("http://", "not a web address"),
    ] {
        let said = desk.refuses("http_get", json!({ "url": url }));
        assert!(said.contains(why), "{url}: {said}");
    }
}

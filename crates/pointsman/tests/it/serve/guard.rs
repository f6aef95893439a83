//! Who may send which request: tokens and roles, names and origins, bodies and connections that
//! never end.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Duration,
};

use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::Value;

use super::{
    SOON, Server,
    client::{Reply, bare, parse},
    waited,
};
use crate::home::Home;

/// A run that does not exist.
const NO_RUN: &str = "01m7grje5w1xm5mmwk";
/// Operations that compute from their body and change nothing.
const COMPUTING: [&str; 2] = ["/api/v1/check", "/api/v1/simulate"];

/// Makes a token.
fn token(home: &Home, options: &[&str]) -> String {
    let (code, token, told) = home.pointsman(&[&["token", "create"], options].concat());
    assert_eq!(code, 0, "{told}");
    token.trim().to_owned()
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Sends a request with these headers, and with no token unless one is among them.
fn ask(server: &Server, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    bare(server.address, method, path, headers, "").expect("the server answers")
}

/// Returns every operation of the server, with an id in the place of each parameter.
fn operations(server: &Server) -> Vec<(String, String)> {
    let document = server.json("/openapi.json");
    let paths = document["paths"].as_object().expect("there are paths");
    let mut operations = Vec::new();
    for (path, methods) in paths {
        let filled: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { NO_RUN } else { part }).collect();
        for method in methods.as_object().expect("a path has methods").keys() {
            if ["get", "post", "put", "patch", "delete"].contains(&method.as_str()) {
                operations.push((method.to_uppercase(), filled.join("/")));
            }
        }
    }
    operations
}

#[test]
fn reads_are_free_on_loopback_and_changes_need_a_role() {
    let home = Home::new("guard-roles");
    let server = Server::start(&home, &["--jobs", "0"]);
    let reader = bearer(&token(&home, &["--role", "read"]));
    let page = token(&home, &["--role", "operate", "--page"]);
    let (mut reads, mut changes) = (0, 0);
    for (method, path) in operations(&server) {
        let free = ask(&server, &method, &path, &[]);
        if method == "GET" || COMPUTING.contains(&path.as_str()) {
            assert!(![401, 403].contains(&free.status), "{method} {path}: {}", free.text());
            reads += 1;
            continue;
        }
        changes += 1;
        assert_eq!(free.status, 401, "{method} {path}: {}", free.text());
        assert_eq!(free.header("www-authenticate"), Some("Bearer"), "{method} {path}");
        assert_eq!(free.json()["status"], 401);
        let refused = ask(&server, &method, &path, &[("Authorization", &reader)]);
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.text());
        // Nobody guesses, and a browser of another page sends nothing that helps.
        let wrong = [("Authorization", "Bearer pointsman_00000000_0")];
        assert!([401, 429].contains(&ask(&server, &method, &path, &wrong).status));
    }
    assert!(reads > 10 && changes > 1, "{reads} reads and {changes} changes");
    // A page's token counts in requests of the page alone.
    let path = format!("/api/v1/runs/{NO_RUN}");
    let page = bearer(&page);
    let plain = [("Authorization", page.as_str())];
    assert!([401, 429].contains(&ask(&server, "GET", &path, &plain).status));
    let from_page = [plain[0], ("Sec-Fetch-Site", "same-origin")];
    assert_eq!(ask(&server, "GET", &path, &from_page).status, 404);
    assert_eq!(ask(&server, "DELETE", &path, &from_page).status, 403, "removing needs `admin`");
}

#[test]
fn revoked_token_is_refused_at_once() {
    let home = Home::new("guard-revoked");
    let server = Server::start(&home, &["--jobs", "0"]);
    let made = token(&home, &["--role", "admin", "--name", "mine"]);
    let made = bearer(&made);
    let head = [("Authorization", made.as_str())];
    let path = format!("/api/v1/runs/{NO_RUN}");
    assert_eq!(ask(&server, "DELETE", &path, &head).status, 404);
    assert_eq!(home.pointsman(&["token", "revoke", "mine"]).0, 0);
    let refused = ask(&server, "DELETE", &path, &head);
    assert_eq!(refused.status, 401, "{}", refused.text());
    // Even where no token is needed, a wrong one is not passed over.
    assert_eq!(ask(&server, "GET", "/api/v1/runs", &head).status, 401);
}

#[test]
fn rebinding_page_and_pages_of_other_sites_are_refused() {
    let home = Home::new("guard-origins");
    let server = Server::start(&home, &["--jobs", "0"]);
    let admin = bearer(&token(&home, &["--role", "admin"]));
    let port = server.address.port();
    let asked = |headers: &[(&str, &str)]| ask(&server, "GET", "/api/v1/runs", headers).status;
    let local = format!("localhost:{port}");
    assert_eq!(asked(&[("Host", &local)]), 200);
    // A page of `evil.example`, whose name was rebound to this address: the browser thinks that all
    // of it is one origin.
    let evil = format!("evil.example:{port}");
    let origin = format!("http://{evil}");
    let rebound = [
        ("Host", evil.as_str()),
        ("Origin", origin.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
        ("Authorization", admin.as_str()),
    ];
    for headers in [&rebound[..1], &rebound[..3], &rebound] {
        assert_eq!(asked(headers), 421, "{headers:?}");
    }
    for wrong in ["localhost", "127.0.0.1", "localhost:1", &format!("{local}, {evil}")] {
        assert_eq!(asked(&[("Host", wrong)]), 421, "{wrong}");
    }
    assert_eq!(asked(&[("Host", &local), ("Host", &evil)]), 421);
    // Pages of other origins and sites, with their own names.
    for origin in [&origin, "null", "https://localhost", "http://localhost:1", ""] {
        let headers = [("Host", local.as_str()), ("Origin", origin), ("Authorization", &admin)];
        assert_eq!(asked(&headers), 403, "{origin}");
    }
    let own = format!("http://{local}");
    assert_eq!(asked(&[("Host", &local), ("Origin", &own)]), 200);
    for site in ["cross-site", "same-site", "rubbish"] {
        assert_eq!(asked(&[("Sec-Fetch-Site", site)]), 403, "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(asked(&[("Sec-Fetch-Site", site)]), 200, "{site}");
    }
    // A link to the server may be followed, but nothing else of another site's page.
    let link = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ];
    assert_eq!(asked(&link), 200);
    assert_eq!(ask(&server, "POST", "/api/v1/check", &link).status, 403);
    // No answer invites pages of other origins.
    let reply = ask(&server, "GET", "/api/v1/runs", &[]);
    assert_eq!(reply.header("access-control-allow-origin"), None);
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(reply.header("x-frame-options"), Some("DENY"));
}

#[test]
fn server_that_others_reach_needs_a_token_for_everything() {
    let home = Home::new("guard-beyond");
    // It does not even listen.
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let (code, out, told) = home.pointsman(&["serve", "--listen", listen]);
        assert!(code == 2 && out.is_empty(), "{out}{told}");
        assert!(told.contains("pointsman token create"), "{told}");
    }
    let server = Server::start(&home, &["--jobs", "0", "--allow-host", "agents.example.org"]);
    let reader = bearer(&token(&home, &["--role", "read"]));
    let (named, head) = (("Host", "agents.example.org"), ("Authorization", reader.as_str()));
    for path in ["/api/v1/runs", "/openapi.json", "/metrics", "/no/such/path"] {
        assert_eq!(ask(&server, "GET", path, &[named]).status, 401, "{path}");
        // A proxy may have changed the Host.
        assert_eq!(ask(&server, "GET", path, &[]).status, 401, "{path}");
        let good = ask(&server, "GET", path, &[named, head]).status;
        assert_eq!(good, if path.contains("such") { 404 } else { 200 }, "{path}");
    }
    for probe in ["/healthz", "/readyz"] {
        assert_eq!(ask(&server, "GET", probe, &[named]).status, 200, "{probe}");
    }
    drop(server);
    // Without `--allow-host`, headers of a proxy tell.
    let server = Server::start(&home, &["--jobs", "0"]);
    for forwarded in ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"] {
        let status = ask(&server, "GET", "/api/v1/runs", &[(forwarded, "198.51.100.7")]).status;
        assert_eq!(status, 401, "{forwarded}");
    }
    drop(server);
    home.settings("[serve]\nrequire_token = true\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    assert_eq!(ask(&server, "GET", "/api/v1/runs", &[]).status, 401);
    assert_eq!(ask(&server, "GET", "/api/v1/runs", &[head]).status, 200);
}

/// Sends the head of a request with a body, and returns the connection.
fn begin(server: &Server, headers: &[&str]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).expect("the server listens");
    stream.set_read_timeout(Some(SOON)).expect("a time can be set");
    let head = format!(
        "POST /api/v1/check HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{}\r\n\r\n",
        server.address,
        headers.join("\r\n"),
    );
    stream.write_all(head.as_bytes()).expect("the head is sent");
    stream
}

/// Reads until the server closes the connection.
fn answer(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // It was closed while more was on the way.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection stays open: {error}"),
    }
    parse(&bytes)
}

#[test]
fn oversize_and_endless_bodies_are_bounded() {
    let home = Home::new("guard-bodies");
    home.settings("[serve]\nbody = \"1KiB\"\nbody_timeout = \"1s\"\nheader_timeout = \"2s\"\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    // One that is announced, and does not come.
    let announced = answer(begin(&server, &["Content-Length: 1000000000000"]));
    assert_eq!(announced.status, 413, "{}", announced.text());
    // One that ends nowhere, as fast as it goes.
    let mut endless = begin(&server, &["Transfer-Encoding: chunked"]);
    let mut sent = 0;
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    while sent < 1 << 28 && endless.write_all(chunk.as_bytes()).is_ok() {
        sent += 1024;
    }
    assert!(sent < 1 << 28, "the server reads on for ever");
    // One that comes byte by byte.
    let mut slow = begin(&server, &["Content-Length: 1000"]);
    let mut reader = slow.try_clone().expect("it can be read elsewhere");
    let told = thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(reader.read_to_end(&mut bytes));
        parse(&bytes)
    });
    waited("the end of a slow request", || {
        thread::sleep(Duration::from_millis(50));
        slow.write_all(b"x").is_err() || told.is_finished()
    });
    assert_eq!(told.join().expect("it was read").status, 408);
    // A head that never ends.
    let mut head = TcpStream::connect(server.address).expect("the server listens");
    head.set_read_timeout(Some(SOON)).expect("a time can be set");
    head.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ").expect("it is sent");
    assert!([0, 408].contains(&answer(head).status));
    // Nobody without the right gets to send a body at all.
    let mut refused = TcpStream::connect(server.address).expect("the server listens");
    refused.set_read_timeout(Some(SOON)).expect("a time can be set");
    let request = format!(
        "DELETE /api/v1/runs/{NO_RUN} HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n\r\n",
        server.address
    );
    refused.write_all(request.as_bytes()).expect("it is sent");
    assert_eq!(answer(refused).status, 401);
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn thousand_idle_connections_are_bounded_and_make_way() {
    let limit = getrlimit(Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    setrlimit(Resource::Nofile, raised).expect("a process may raise its own soft limit");
    let home = Home::new("guard-idle");
    home.settings("[serve]\nconnections = 50\nheader_timeout = \"300ms\"\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    let mut idle: Vec<TcpStream> = Vec::new();
    for _ in 0..1_000 {
        let connected = TcpStream::connect_timeout(&server.address, SOON);
        idle.push(connected.expect("a connection waits until it is accepted"));
    }
    // It waits for its turn, which comes.
    let metrics = server.get("/metrics");
    assert_eq!(metrics.status, 200);
    let open = sample(&metrics.text(), "pointsman_http_connections");
    assert!((1.0..=50.0).contains(&open), "{open} connections are open");
    for mut stream in idle {
        stream.set_read_timeout(Some(SOON)).expect("a time can be set");
        let ended = stream.read(&mut [0; 64]);
        let reset = |error: &std::io::Error| error.kind() == ErrorKind::ConnectionReset;
        assert!(ended.is_ok() || ended.as_ref().is_err_and(reset), "{ended:?}");
    }
}

#[test]
fn client_that_never_reads_makes_way() {
    let home = Home::new("guard-unread");
    home.settings("[serve]\nconnections = 1\nwrite_timeout = \"300ms\"\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    let mut deaf = TcpStream::connect(server.address).expect("the server listens");
    // More answers than the buffers of both sides hold.
    let document = fs::read(crate::tidy::root().join("docs/openapi.json"));
    let length = document.expect("it is there").len();
    let head = format!("GET /openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    deaf.write_all(head.repeat((1 << 26) / length + 1).as_bytes()).expect("requests are short");
    // Its place is the only one.
    assert_eq!(ask(&server, "GET", "/healthz", &[]).status, 200);
    drop(deaf);
}

#[test]
fn server_stops_beside_a_body_that_never_comes() {
    let home = Home::new("guard-half");
    home.settings("[serve]\nbody_timeout = \"1h\"\ndrain = \"1h\"\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    let mut half = begin(&server, &["Content-Length: 1000"]);
    half.write_all(b"{").expect("it is sent");
    waited("the open connection", || {
        let metrics = ask(&server, "GET", "/metrics", &[]).text();
        sample(&metrics, "pointsman_http_connections") >= 2.0
    });
    assert_eq!(server.stop(), Some(0));
    // The connection ends, with the answer if the head had been read.
    assert!([0, 503].contains(&answer(half).status));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let home = Home::new("guard-settings");
    let refused = |settings: &str| {
        home.settings(&format!("[serve]\n{settings}\n"));
        let (code, _, told) = home.pointsman(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(code, 2, "{settings}: {told}");
        told
    };
    for key in ["connections", "streams", "stream_buffer"] {
        for value in ["0", "1000001", "9223372036854775807"] {
            let told = refused(&format!("{key} = {value}"));
            assert!(told.contains("write a number from 1 to 1000000"), "{key} = {value}: {told}");
        }
    }
    // Half of TLS is not plain HTTP.
    for (given, missing) in [("tls_cert", "tls_key"), ("tls_key", "tls_cert")] {
        let told = refused(&format!("{given} = \"/etc/chain.pem\""));
        assert!(told.contains(&format!("`{given}` without `{missing}`")), "{told}");
    }
}

/// Returns the value of a sample without labels.
pub(super) fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in\n{text}"))
}

#[test]
fn rate_of_a_client_is_limited_and_guessing_is_slow() {
    let home = Home::new("guard-rate");
    let server = Server::start(&home, &["--jobs", "0"]);
    let wrong = [("Authorization", "Bearer pointsman_00000000_1")];
    let tried: Vec<Reply> = (0..40).map(|_| ask(&server, "GET", "/api/v1/runs", &wrong)).collect();
    assert_eq!(tried[0].status, 401);
    let slowed = tried.iter().find(|reply| reply.status == 429).expect("guessing is slowed down");
    assert!(slowed.header("retry-after").is_some());
    // One with a good token is not kept out by others who guess.
    let good = bearer(&token(&home, &["--role", "read"]));
    assert_eq!(ask(&server, "GET", "/api/v1/runs", &[("Authorization", &good)]).status, 200);
    drop(server);
    home.settings("[serve]\nrate = 1\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    waited("a client that is too fast", || {
        let reply = ask(&server, "GET", "/healthz", &[]);
        reply.status == 429 && reply.header("retry-after").is_some()
    });
    // A flood without a token leaves those with one alone.
    let good = bearer(&token(&home, &["--role", "read", "--name", "other"]));
    waited("a flood", || ask(&server, "GET", "/healthz", &[]).status == 429);
    assert_eq!(ask(&server, "GET", "/api/v1/runs", &[("Authorization", &good)]).status, 200);
    waited("a token that is too fast", || {
        ask(&server, "GET", "/", &[("Authorization", &good)]).status == 429
    });
    waited("its turn", || ask(&server, "GET", "/healthz", &[]).status == 200);
}

#[test]
fn token_text_is_in_no_log_and_no_answer() {
    let home = Home::new("guard-secrets");
    let log = home.path("server.log");
    let log = log.to_str().expect("the path is text");
    let good = token(&home, &["--role", "read"]);
    let options = ["--jobs", "0", "--log", "trace", "--log-file", log];
    let server = Server::start(&home, &options);
    let planted = "pointsman_0badc0de_5ec4e75ec4e75ec4e7";
    let (right, wrong) = (bearer(&good), bearer(planted));
    let mut said = String::new();
    for authorization in [&*right, &wrong, &format!("Basic {planted}"), planted] {
        let head = [("Authorization", authorization)];
        for (method, path) in [
            ("GET", "/api/v1/runs"),
            ("GET", "/api/v1/no-such-thing"),
            ("DELETE", "/api/v1/runs/x"),
            ("GET", &format!("/metrics?token={planted}")),
        ] {
            let reply = ask(&server, method, path, &head);
            said.extend([format!("{:?}", reply.headers), reply.text()]);
        }
        let host = [head[0], ("Host", "evil.example")];
        said.push_str(&ask(&server, "GET", "/", &host).text());
    }
    assert_eq!(server.stop(), Some(0));
    let logged = fs::read_to_string(log).expect("the log is written");
    assert!(logged.contains("request_refused") && logged.contains("token"), "{logged}");
    for text in [&said, &logged] {
        for secret in [good.rsplit('_').next().expect("a token has parts"), "5ec4e75ec4e7"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn event_streams_are_bounded() {
    let home = Home::new("guard-streams");
    home.settings("[serve]\nstreams = 2\n");
    // It waits for an answer.
    let (_, out, told) = home.pointsman(&["run", "note.toml", "Hello", "--json"]);
    let last = out.lines().last().unwrap_or_else(|| panic!("{told}"));
    let last: Value = serde_json::from_str(last).expect("it is JSON");
    let path = format!("/api/v1/runs/{}/events", last["run"].as_str().expect("it names the run"));
    let server = Server::start(&home, &["--jobs", "0"]);
    let follow = || {
        let mut stream = TcpStream::connect(server.address).expect("the server listens");
        stream.set_read_timeout(Some(SOON)).expect("a time can be set");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
        stream.write_all(head.as_bytes()).expect("it is sent");
        let mut begin = [0; 15];
        stream.read_exact(&mut begin).expect("an answer begins");
        (String::from_utf8_lossy(&begin).ends_with("200 OK"), stream)
    };
    let (one, two) = (follow(), follow());
    assert!(one.0 && two.0);
    assert!(!follow().0, "a third stream is refused");
    drop(one);
    waited("room for another stream", || follow().0);
}

//! A model server over TLS: one that is trusted, and all that can be wrong with its
//! certificate.
//!
//! The certificates were made by `openssl ca`, with one key, and are valid until 2120 but for
//! the expired one.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustls::{
    ServerConfig, ServerConnection, Stream,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use crate::home::{Home, ProgressSink};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

/// A server that counts its connections. It lives as long as the test.
struct Server {
    place: String,
    met: Arc<AtomicUsize>,
}

impl Server {
    fn new(serve: impl Fn(TcpStream) -> Option<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let place = listener.local_addr().expect("a bound socket has an address").to_string();
        let met = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&met);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                // A client that does not trust the server hangs up.
                serve(stream);
            }
        });
        Self { place, met }
    }

    /// Speaks TLS, with a certificate of the folder.
    fn with(certificate: &str) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = CertificateDer::from_pem_file(file(certificate)).expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(file("key.pem")).expect("a key");
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("there are versions")
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .expect("they fit");
        let config = Arc::new(config);
        Self::new(move |mut stream| {
            let mut session = ServerConnection::new(Arc::clone(&config)).ok()?;
            let mut tls = Stream::new(&mut session, &mut stream);
            request(&mut tls)?;
            let said =
                r#"{"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}"#;
            let body = format!("data: {said}\n\ndata: [DONE]\n\n");
            let length = body.len();
            write!(
                tls,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            )
            .ok()?;
            tls.flush().ok()
        })
    }

    /// Asks this server something, and believes these certificates.
    fn ask(&self, home: &Home, believed: &str, arguments: &[&str]) -> ProgressSink {
        let (base, believed) = (format!("https://{}/v1", self.place), file(believed));
        let variables = [
            ("OPENAI_BASE_URL", base.as_str()),
            ("SSL_CERT_FILE", believed.to_str().expect("the path is UTF-8")),
        ];
        home.with(&variables, &[arguments, &["--model", "openai-compatible:m"]].concat())
    }
}

/// Reads a request until its head has ended; what follows is in the same write.
fn request(stream: &mut impl std::io::Read) -> Option<()> {
    let mut seen = Vec::new();
    let mut more = [0; 4096];
    while !seen.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = stream.read(&mut more).ok().filter(|read| *read > 0)?;
        seen.extend_from_slice(&more[..read]);
    }
    Some(())
}

#[test]
fn a_server_whose_signer_is_trusted_is_asked() {
    let home = Home::new("tls-good");
    for (certificate, believed) in [("good.pem", "ca.pem"), ("own.pem", "own.pem")] {
        let shown = Server::with(certificate).ask(&home, believed, &["chat", "-p", "Well?"]);
        assert_eq!((shown.code, shown.out.as_str()), (Some(0), "yes\n"), "{}", shown.err);
    }
}

#[test]
fn bad_certificate_is_reported_once_with_host_and_hint() {
    let home = Home::new("tls-bad");
    for (certificate, believed, told) in [
        (
            "own.pem",
            "ca.pem",
            &["self-signed or signed by an unknown CA", "SSL_CERT_FILE", "the system's CA"][..],
        ),
        ("expired.pem", "ca.pem", &["expired on 2021-01-01T00:00:00Z", "renew it", "the clock"]),
        ("other.pem", "ca.pem", &["is not for `127.0.0.1`, but for `models.example`", "base URL"]),
        ("authority.pem", "authority.pem", &["is a CA certificate", "CA:FALSE"]),
    ] {
        let server = Server::with(certificate);
        let shown = server.ask(&home, believed, &["chat", "-p", "Well?"]);
        assert_eq!((shown.code, shown.out.as_str()), (Some(1), ""), "{certificate}: {}", shown.err);
        let host = format!("https://{} is not trusted: its certificate ", server.place);
        for part in told.iter().copied().chain([host.as_str()]) {
            assert_eq!(shown.err.matches(part).count(), 1, "{certificate}, {part}: {}", shown.err);
        }
        // No further attempt would change it.
        assert_eq!(server.met.load(Ordering::SeqCst), 1, "{certificate}");
    }
}

#[test]
fn a_run_that_needs_an_untrusted_server_says_why_it_is_stuck() {
    let home = Home::new("tls-run");
    let server = Server::with("expired.pem");
    let shown = server.ask(&home, "ca.pem", &["run", "research", "points", "--dir", "docs"]);
    assert_eq!(shown.code, Some(5), "{}", shown.err);
    assert!(shown.out.contains("its certificate expired on 2021-01-01"), "{}", shown.out);
    assert!(!shown.err.contains("retrying"), "{}", shown.err);
    assert_eq!(server.met.load(Ordering::SeqCst), 1);
}

#[test]
fn plain_http_behind_https_is_reported() {
    let home = Home::new("tls-plain");
    let server = Server::new(|mut stream| {
        // The greeting of TLS is read first, so that the answer is not lost with it.
        let mut greeting = [0; 4096];
        stream.read(&mut greeting).ok().filter(|read| *read > 0)?;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").ok()?;
        // The other side reads, and closes.
        while stream.read(&mut greeting).ok()? > 0 {}
        Some(())
    });
    let shown = server.ask(&home, "ca.pem", &["chat", "-p", "Well?"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(1), ""), "{}", shown.err);
    let told = format!(
        "https://{place} does not speak TLS; if the server speaks plain HTTP, set the base \
         URL to http://{place}",
        place = server.place
    );
    assert!(shown.err.contains(&told), "{}", shown.err);
    assert_eq!(server.met.load(Ordering::SeqCst), 1, "{}", shown.err);
}

#[test]
fn error_is_printed_once_without_a_screen() {
    let home = Home::new("tls-once");
    let server = Server::with("expired.pem");
    let shown = server.ask(&home, "ca.pem", &["chat", "Well?"]);
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert_eq!(shown.err.matches("its certificate expired").count(), 1, "{}", shown.err);
}

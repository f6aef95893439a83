//! Reaching things within a limit: a program that tells its version, a server's port.

use std::{
    io::{self, Read as _},
    net::{TcpStream, ToSocketAddrs as _},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use pointsman_runtime::clock::Stopwatch;

/// Bytes of a version that are read.
const MOST: u64 = 200;

/// Asks a program for its version.
pub(super) fn version(program: &str, limit: Duration) -> Result<String, String> {
    let child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("`{program}` is not installed"),
        _ => format!("`{program}` cannot be started: {error}"),
    })?;
    let started = Stopwatch::start();
    while started.elapsed() < limit {
        if let Ok(Some(_)) = child.try_wait() {
            let mut text = String::new();
            if let Some(out) = child.stdout.take() {
                drop(out.take(MOST).read_to_string(&mut text));
            }
            return Ok(text.lines().next().unwrap_or_default().to_owned());
        }
        thread::sleep(Duration::from_millis(10));
    }
    drop(child.kill());
    drop(child.wait());
    Err(format!("`{program}` does not answer"))
}

/// Opens a connection to a server's address, and closes it again.
pub(super) fn server(url: &str, limit: Duration) -> Result<(), String> {
    let place = place(url).ok_or("it is not a server address")?;
    let (done, result) = mpsc::channel();
    // Resolving a name has no timeout; a late thread is not waited for.
    thread::spawn(move || {
        let connected = place.to_socket_addrs().and_then(|addresses| {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in addresses {
                match TcpStream::connect_timeout(&address, limit) {
                    Ok(_) => return Ok(()),
                    Err(error) => last = error,
                }
            }
            Err(last)
        });
        drop(done.send(connected.map_err(|error| error.to_string())));
    });
    let late = format!("no answer within {} s", limit.as_secs());
    result.recv_timeout(limit).unwrap_or(Err(late))
}

/// Returns host and port of an address such as `http://box:8080/v1`.
fn place(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let usual = if scheme == "https" { 443 } else { 80 };
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn addresses_are_taken_apart() {
        for (url, host, port) in [
            ("http://box:8080/v1", "box", 8080),
            ("https://api.example.com/v1?x", "api.example.com", 443),
            ("127.0.0.1:11434", "127.0.0.1", 11434),
            ("http://[::1]:9/", "::1", 9),
            ("http://[::1]", "::1", 80),
            ("http://me:secret@box", "box", 80),
        ] {
            assert_eq!(place(url), Some((host.into(), port)), "{url}");
        }
        assert_eq!(place("http://"), None);
        assert_eq!(place("http://box:port"), None);
    }
}

//! Servers on loopback that tests talk to: started, waited for, stopped by id.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const CONNECT: Duration = Duration::from_secs(1);
/// How long a server may take to end once its input has closed.
const LEAVING: Duration = Duration::from_secs(5);

/// When a server is ready.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ready {
    /// As soon as a server listens.
    Listens,
    /// When it says yes to a request for this path: it may listen long before.
    Answers(&'static str),
}

/// A server that ends when its standard input closes, so that it never outlives us.
pub struct Server {
    child: Child,
    lifeline: Option<ChildStdin>,
    port: u16,
}

impl Server {
    /// Starts a command that will listen on a port, and waits until it is ready.
    ///
    /// The command must end when its input closes, as all of `process::command` do.
    pub fn start(mut command: Command, port: u16, ready: Ready, limit: Duration) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).spawn().context("starting a server")?;
        let lifeline = child.stdin.take();
        let mut server = Self { child, lifeline, port };
        let started = Instant::now();
        while server.is_ready(ready).is_none() {
            if let Some(status) = server.ended()? {
                bail!("a server ended before it was ready ({status}); what it said is above");
            }
            if started.elapsed() >= limit {
                bail!("a server is not ready after {} s", limit.as_secs());
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        Ok(server)
    }

    /// Returns the id of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns where it listens, as the beginning of URLs.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns how it ended, if it has.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Returns something once the server is ready.
    fn is_ready(&self, ready: Ready) -> Option<()> {
        let mut stream = TcpStream::connect_timeout(&self.address(), CONNECT).ok()?;
        let Ready::Answers(path) = ready else { return Some(()) };
        stream.set_read_timeout(Some(CONNECT)).ok()?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address());
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).ok()?;
        answer.ends_with(b" 200").then_some(())
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let leaving = Instant::now();
        while leaving.elapsed() < LEAVING {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(BETWEEN_LOOKS),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // It was asked; what cannot be killed has ended by itself in the meantime.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns a port without a listener at this moment.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("looking for a port")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port that no other test can be given, unlike one that is free at the moment.
    const NO_LISTENER: u16 = 1;

    #[test]
    fn a_server_that_ends_at_once_is_not_waited_for() {
        let started = Instant::now();
        let limit = Duration::from_mins(10);
        let Err(why) = Server::start(Command::new("true"), NO_LISTENER, Ready::Listens, limit)
        else {
            panic!("it is not ready")
        };
        assert!(why.to_string().contains("ended before it was ready"), "{why}");
        assert!(started.elapsed() < limit);
    }

    #[test]
    fn a_server_that_never_listens_is_given_up() {
        let limit = Duration::from_millis(200);
        let Err(why) = Server::start(Command::new("cat"), NO_LISTENER, Ready::Listens, limit)
        else {
            panic!("it is not ready")
        };
        assert!(why.to_string().contains("is not ready"), "{why}");
    }

    /// A server of models listens while it loads, and says that it is busy.
    #[test]
    fn a_server_that_is_busy_is_waited_for() -> Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let answers = thread::spawn(move || -> io::Result<usize> {
            let answers = ["503 Service Unavailable", "503 Service Unavailable", "200 OK"];
            for answer in answers {
                let mut stream = listener.accept()?.0;
                // The request is read to its end: closed on unread bytes, a connection is
                // reset, and what was answered may be lost with it.
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte)?;
                    request.push(byte[0]);
                }
                // In one piece: the client reads only the status code, and closes.
                stream.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes())?;
            }
            Ok(answers.len())
        });
        let limit = Duration::from_secs(20);
        Server::start(Command::new("cat"), port, Ready::Answers("/health"), limit)?;
        assert!(matches!(answers.join(), Ok(Ok(3))));
        Ok(())
    }

    #[test]
    fn a_server_goes_when_its_owner_does() -> Result<()> {
        // Listens by proxy: only the end of the process is of interest.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let limit = Duration::from_secs(5);
        let server = Server::start(Command::new("cat"), port, Ready::Listens, limit)?;
        let process = format!("/proc/{}", server.child.id());
        assert!(std::path::Path::new(&process).exists());
        drop(server);
        assert!(!std::path::Path::new(&process).exists());
        Ok(())
    }
}

//! Servers on loopback that tests talk to: started, waited for, stopped by id.

use std::{
    io,
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

/// A server that ends when its standard input closes, so that it never outlives us.
pub(crate) struct Server {
    child: Child,
    lifeline: Option<ChildStdin>,
    port: u16,
}

impl Server {
    /// Starts a command that will listen on a port, and waits until it does.
    ///
    /// The command must end when its input closes, as all of `process::command` do.
    pub(crate) fn start(mut command: Command, port: u16, limit: Duration) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).spawn().context("starting a server")?;
        let lifeline = child.stdin.take();
        let mut server = Self { child, lifeline, port };
        let started = Instant::now();
        while TcpStream::connect_timeout(&server.address(), CONNECT).is_err() {
            if let Some(status) = server.ended()? {
                bail!("a server ended before it listened ({status}); what it said is above");
            }
            if started.elapsed() >= limit {
                bail!("a server does not listen after {} s", limit.as_secs());
            }
            thread::sleep(BETWEEN_LOOKS);
        }
        Ok(server)
    }

    /// Returns where it listens, as the beginning of URLs.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns how it ended, if it has.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
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

/// Returns a port that nobody listens on at this moment.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("looking for a port")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_is_not_waited_for() -> Result<()> {
        let started = Instant::now();
        let limit = Duration::from_mins(10);
        let Err(why) = Server::start(Command::new("true"), free_port()?, limit) else {
            panic!("it does not listen")
        };
        assert!(why.to_string().contains("ended before it listened"), "{why}");
        assert!(started.elapsed() < limit);
        Ok(())
    }

    #[test]
    fn a_server_that_never_listens_is_given_up() -> Result<()> {
        let limit = Duration::from_millis(200);
        let Err(why) = Server::start(Command::new("cat"), free_port()?, limit) else {
            panic!("it does not listen")
        };
        assert!(why.to_string().contains("does not listen"), "{why}");
        Ok(())
    }

    #[test]
    fn a_server_goes_when_its_owner_does() -> Result<()> {
        // Listens by proxy: only the end of the process is of interest.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let server = Server::start(Command::new("cat"), port, Duration::from_secs(5))?;
        let process = format!("/proc/{}", server.child.id());
        assert!(std::path::Path::new(&process).exists());
        drop(server);
        assert!(!std::path::Path::new(&process).exists());
        Ok(())
    }
}

//! `pointsman serve`, the real program on a free port, as programs meet it.

pub(crate) mod actions;
pub(crate) mod client;
mod fuzz;
mod guard;
mod live;
pub(crate) mod page;
mod reads;
mod removals;
mod requests;
mod streams;

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::home::Home;
use client::{Reply, request};

/// How long something may take on a busy machine.
pub(crate) const SOON: Duration = Duration::from_mins(2);

/// Waits until something is so.
pub(crate) fn waited(what: &str, mut is: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < SOON, "{what} was not seen");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A server that is killed with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts it over the journal of a home, and waits until it listens.
    pub(crate) fn start(home: &Home, options: &[&str]) -> Self {
        Self::start_with(home, &[], options)
    }

    /// Starts it at the address of a server that has ended.
    pub(crate) fn start_at(home: &Home, address: &str) -> Self {
        Self::listening(home, address, &[], &[])
    }

    /// Starts it with variables of its own.
    pub(crate) fn start_with(home: &Home, variables: &[(&str, &str)], options: &[&str]) -> Self {
        Self::listening(home, "127.0.0.1:0", variables, options)
    }

    fn listening(home: &Home, address: &str, variables: &[(&str, &str)], options: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--listen", address];
        arguments.extend(options);
        let mut child = home.start(variables, &arguments);
        let mut line = String::new();
        let out = child.stdout.take().expect("standard output is piped");
        BufReader::new(out).read_line(&mut line).expect("the server says where it listens");
        let address = line.trim().rsplit_once('/').and_then(|(_, it)| it.parse().ok());
        let Some(address) = address else {
            let output = child.wait_with_output().expect("it ends");
            panic!("{line}{}", String::from_utf8_lossy(&output.stderr));
        };
        let (code, token, told) = home.pointsman(&["token", "create", "--role", "admin"]);
        assert_eq!(code, 0, "{told}");
        client::know(address, token.trim());
        Self { child, address }
    }

    /// Sends a request without a body.
    pub(crate) fn get(&self, path: &str) -> Reply {
        request(self.address, "GET", path, &[], "").expect("the server answers")
    }

    /// Sends a request without a body, and returns the JSON of an answer that must be good.
    pub(crate) fn json(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// Sends JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let head = [("Content-Type", "application/json")];
        request(self.address, "POST", path, &head, &body.to_string()).expect("the server answers")
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let process = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let process = process.expect("it is a process");
        rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("it is there");
        let mut code = None;
        waited("the end of the server", || {
            let ended = self.child.try_wait().expect("it can be waited for");
            code = ended.and_then(|status| status.code());
            ended.is_some()
        });
        code
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

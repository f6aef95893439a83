//! A browser driven by bare WebDriver calls: what harnesses look at pages with, and what
//! the form agent is measured beside.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use pointsman_webdriver::browser::BrowserSettings;
use serde_json::{Value, json};

use xtask_set_up::{components, place::Scratch, process};

use crate::server::{Ready, Server, free_port};

const LISTENS: Duration = Duration::from_secs(30);
/// How long one call may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// The name under which the protocol hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser of our own without a window, as long as it is held.
pub struct Browser {
    wire: BufReader<TcpStream>,
    host: String,
    session: String,
    driver: Server,
    _profile: Scratch,
}

impl Browser {
    /// Starts a driver and a browser with a window of this size.
    pub fn start(width: u32, height: u32) -> Result<Self> {
        components::browser()?;
        let port = free_port()?;
        let mut driver = process::command("chromedriver");
        driver.arg(format!("--port={port}")).stdout(std::process::Stdio::null());
        let driver = Server::start(driver, port, Ready::Listens, LISTENS)?;
        let host = format!("127.0.0.1:{port}");
        let stream = TcpStream::connect(&host).context("reaching chromedriver")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let profile = Scratch::new()?;
        let folder = profile.file("profile");
        let wire = BufReader::new(stream);
        let mut browser = Self { wire, host, session: String::new(), driver, _profile: profile };
        // What the form agent asks for as well, so that a measure of one beside the other
        // measures nothing else.
        let mut settings = BrowserSettings::default();
        settings.flags.push(format!("--window-size={width},{height}"));
        let wanted = settings.capabilities(Some(&folder), None);
        let wanted = json!({ "capabilities": { "alwaysMatch": wanted } });
        let given = browser.call("POST", "/session", Some(&wanted))?;
        let id = given["sessionId"].as_str().context("a session has an id")?;
        browser.session = format!("/session/{id}");
        Ok(browser)
    }

    /// Returns the process of its driver, from which all of its processes descend.
    pub fn process(&self) -> u32 {
        self.driver.process()
    }

    /// Opens a page and waits until it has loaded.
    pub fn open(&mut self, url: &str) -> Result<()> {
        self.post("/url", &json!({ "url": url })).map(drop)
    }

    /// Runs a script in the page and returns what it returns.
    pub fn script(&mut self, script: &str) -> Result<Value> {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Returns the handle of the element that a selector finds.
    pub fn find(&mut self, selector: &str) -> Result<String> {
        let found =
            self.post("/element", &json!({ "using": "css selector", "value": selector }))?;
        let id = found[ELEMENT].as_str().with_context(|| format!("no element: {found}"))?;
        Ok(id.to_owned())
    }

    /// Types into an element.
    pub fn keys(&mut self, element: &str, text: &str) -> Result<()> {
        self.post(&format!("/element/{element}/value"), &json!({ "text": text })).map(drop)
    }

    fn post(&mut self, path: &str, body: &Value) -> Result<Value> {
        let path = format!("{}{path}", self.session);
        self.call("POST", &path, Some(body))
    }

    /// Makes one call and returns its value.
    fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.host,
            body.len()
        );
        self.wire.get_mut().write_all(format!("{head}{body}").as_bytes())?;
        let mut length = None;
        loop {
            let mut line = String::new();
            ensure!(self.wire.read_line(&mut line)? > 0, "chromedriver hung up");
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse::<usize>()?);
            }
        }
        let mut body = vec![0; length.context("an answer has a length")?];
        self.wire.read_exact(&mut body)?;
        let mut answer: Value = serde_json::from_slice(&body)?;
        let value = answer.get_mut("value").map(Value::take).unwrap_or_default();
        if let Some(error) = value.get("error") {
            bail!("{path}: {}", anyhow!("{error}: {}", value["message"]));
        }
        Ok(value)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let session = std::mem::take(&mut self.session);
            // A browser that is gone needs no closing.
            drop(self.call("DELETE", &session, None));
        }
    }
}

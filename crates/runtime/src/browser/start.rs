//! How a browser comes to be: started, attached to, or taken over from a process that died.

use std::{
    future::Future,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use fantoccini::{Client, error::NewSessionError, wd::Capabilities};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use super::{Attach, Browser, BrowserError, Record, Settings, find, group::Group};
use crate::platform;

/// How often a driver is started that ends at once.
const DRIVERS: u8 = 3;

/// Flags that every browser gets: nothing but the page speaks to the network, nothing asks
/// to be the default, and no crash is reported to anyone.
const FLAGS: [&str; 12] = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-search-engine-choice-screen",
    "--disable-popup-blocking",
    "--window-size=1280,1400",
];

/// Starts a driver, and waits until it listens. The port that it draws for itself may be
/// taken by then, and it ends at once: another draws another.
async fn driver(settings: &Settings, record: Option<&Path>) -> Result<(Group, u16), BrowserError> {
    let mut tries = 1;
    loop {
        let mut group = Group::start(settings, record)?;
        match group.port(settings.start).await {
            Err(BrowserError::NotReady { why, .. }) if tries < DRIVERS => {
                tracing::debug!(%why, "another driver is started");
                tries += 1;
            }
            port => return Ok((group, port?)),
        }
    }
}

/// Whose a session at the driver is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ours {
    /// We made it and end it.
    Yes,
    /// Somebody else's, and left open.
    No,
}

impl Browser {
    /// Starts a browser, or attaches to one.
    pub async fn open(settings: &Settings) -> Result<Self, BrowserError> {
        Self::open_for(settings, None).await
    }

    /// Starts a browser, or attaches to one, and writes down how a resumed run finds it.
    pub async fn open_for(
        settings: &Settings,
        record: Option<&Path>,
    ) -> Result<Self, BrowserError> {
        let (url, session) = match &settings.attach {
            Some(Attach::Driver { url, session: Some(session) }) => {
                let client = within(settings.start, "attaching", existing(url, session)).await?;
                let browser = Self::around(client, settings, None, Ours::No);
                browser.answers().await?;
                return Ok(browser);
            }
            Some(Attach::Driver { url, session: None }) => (Some(url.clone()), Ours::Yes),
            Some(Attach::Debugger(_)) => (None, Ours::No),
            None => (None, Ours::Yes),
        };
        let mut ours = None;
        let url = if let Some(url) = url {
            url
        } else {
            // What is missing is told before anything is started.
            let browser = match &settings.attach {
                Some(_) => None,
                None => Some(find::browser(settings)?),
            };
            let (group, port) = driver(settings, record).await?;
            ours = Some((group, port, browser));
            format!("http://127.0.0.1:{port}")
        };
        let capabilities = capabilities(settings, ours.as_ref());
        let made = connect(&url, &capabilities);
        let client = within(settings.start, "starting the browser", made).await?;
        let id = client.session_id().await?.unwrap_or_default();
        let mut browser = Self::around(client, settings, None, session);
        if let Some((mut group, port, _)) = ours {
            let told = browser.client.capabilities().and_then(|it| it.get("goog:processID"));
            let started = told.and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
            group.knows(started.filter(|_| session == Ours::Yes), port, &id)?;
            browser.ours = Some(group);
            // Its processes are ended with it, and need not be asked.
            browser.client.persist().await?;
        }
        Ok(browser)
    }

    /// Takes over the browser of a process that has died.
    pub async fn take_over(
        settings: &Settings,
        found: &Record,
        record: &Path,
    ) -> Result<Self, BrowserError> {
        let group = Group::take_over(settings, found, record)?;
        let url = format!("http://127.0.0.1:{}", found.port);
        let client = within(settings.start, "attaching", existing(&url, &found.session)).await?;
        let browser = Self::around(client, settings, Some(group), Ours::Yes);
        browser.answers().await?;
        Ok(browser)
    }

    /// Leaves the browser to the person before it, if it was started for us and has a
    /// window. Returns whether it stays open.
    pub fn release(mut self) -> bool {
        let ours = self.ours.take().filter(|_| self.settings.visible);
        ours.is_some_and(Group::release)
    }

    /// Ends the browser, if it was started for us.
    pub async fn close(self) {
        if self.session == Ours::Yes {
            let closed = self.client.clone().close();
            match tokio::time::timeout(self.settings.stop, closed).await {
                Ok(Ok(())) => {}
                // The processes are ended all the same, when this is dropped.
                Ok(Err(error)) => tracing::debug!(%error, "a session cannot be closed"),
                Err(_) => tracing::debug!("a session took too long to close"),
            }
        }
    }

    fn around(client: Client, settings: &Settings, ours: Option<Group>, session: Ours) -> Self {
        Self {
            client,
            settings: settings.clone(),
            ours,
            session,
            dialogs: Mutex::default(),
            frame: Mutex::default(),
            site: Mutex::default(),
            consent: AtomicBool::default(),
            commands: AtomicU64::default(),
            stood: Mutex::default(),
            boxes: Mutex::default(),
        }
    }

    /// Looks whether a session that is said to exist does.
    async fn answers(&self) -> Result<(), BrowserError> {
        self.client.persist().await?;
        // Whoever had it before may have left it in a frame.
        self.leave_frames().await?;
        self.script("return document.readyState", Vec::new()).await.map(drop)
    }
}

async fn existing(url: &str, session: &str) -> Result<Client, NewSessionError> {
    Client::with_existing_session(url, session, wire()).await
}

async fn connect(url: &str, capabilities: &Capabilities) -> Result<Client, NewSessionError> {
    Client::with_capabilities_and_connector(url, capabilities, wire()).await
}

/// Commands are small, and each waits for the answer to the one before.
fn wire() -> HttpConnector {
    let mut wire = HttpConnector::new();
    wire.set_nodelay(true);
    wire
}

async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = Result<T, NewSessionError>>,
) -> Result<T, BrowserError> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done.map_err(BrowserError::from),
        Err(_) => Err(BrowserError::Timeout { what: what.into(), within: limit }),
    }
}

/// Says what the browser is to be like.
fn capabilities(
    settings: &Settings,
    ours: Option<&(Group, u16, Option<std::path::PathBuf>)>,
) -> Capabilities {
    let milliseconds = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
    let mut options = json!({});
    if let Some(Attach::Debugger(address)) = &settings.attach {
        options = json!({ "debuggerAddress": address });
    } else {
        let mut flags: Vec<String> = FLAGS.map(String::from).into();
        if !settings.visible {
            flags.push("--headless".into());
        }
        if platform::lacks_sandbox() {
            // Shared memory is often tiny where there is no sandbox.
            flags.extend(["--no-sandbox".into(), "--disable-dev-shm-usage".into()]);
        }
        if let Some((group, _, browser)) = ours {
            flags.push(format!("--user-data-dir={}", group.profile().display()));
            options["binary"] = json!(browser);
        }
        flags.extend(settings.flags.iter().cloned());
        options["args"] = json!(flags);
        // A browser that is left to a person must not go with its driver. Whoever ends ours
        // ends both.
        options["detach"] = json!(settings.visible);
        // A browser that offers to fill in or to save would do a part of the work unseen.
        options["prefs"] = json!({
            "autofill.credit_card_enabled": false,
            "autofill.profile_enabled": false,
            "credentials_enable_service": false,
            "download_restrictions": 3,
            "profile.password_manager_enabled": false,
            "translate.enabled": false,
        });
    }
    let wanted = json!({
        "goog:chromeOptions": options,
        // Parts of a page may load for ever; what a document needs is waited for.
        "pageLoadStrategy": "eager",
        "timeouts": {
            "script": milliseconds(settings.command),
            "pageLoad": milliseconds(settings.load),
            "implicit": 0,
        },
        // Dialogs are answered one by one, and told of; leaving a page never asks.
        "unhandledPromptBehavior": { "default": "ignore", "beforeUnload": "accept" },
    });
    match wanted {
        Value::Object(wanted) => wanted,
        _ => Capabilities::new(),
    }
}

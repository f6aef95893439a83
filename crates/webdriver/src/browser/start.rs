//! How to get a browser: started, attached to, or taken over from a process that died.

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

use super::{
    Attach, Browser, BrowserError, BrowserExit, BrowserRecord, BrowserSettings, executable,
    page::RawCommand, process_group::ProcessGroup,
};

/// How often a driver is started that ends at once.
const DRIVERS: u8 = 3;

/// Starts a driver, and waits until it listens. The port that it draws for itself may be
/// taken by then, and it ends at once: another draws another.
async fn driver(
    settings: &BrowserSettings,
    record: Option<&Path>,
) -> Result<(ProcessGroup, u16), BrowserError> {
    let mut tries = 1;
    loop {
        let mut group = ProcessGroup::start(settings, record)?;
        match group.port(settings.start).await {
            Err(BrowserError::NotReady { why, .. }) if tries < DRIVERS => {
                tracing::debug!(%why, "starting another driver");
                tries += 1;
            }
            port => return Ok((group, port?)),
        }
    }
}

/// Whose a session at the driver is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SessionOwner {
    /// We made it and end it.
    Yes,
    /// Another program's, and left open.
    No,
}

impl Browser {
    /// Starts a browser, or attaches to one.
    pub async fn open(settings: &BrowserSettings) -> Result<Self, BrowserError> {
        Self::open_for(settings, None).await
    }

    /// Starts a browser, or attaches to one, and writes down how a resumed run finds it.
    pub async fn open_for(
        settings: &BrowserSettings,
        record: Option<&Path>,
    ) -> Result<Self, BrowserError> {
        let (url, session) = match &settings.attach {
            Some(Attach::Driver { url, session: Some(session) }) => {
                let client = within(settings.start, "attaching", existing(url, session)).await?;
                let browser = Self::around(client, settings, None, SessionOwner::No);
                browser.answers().await?;
                return Ok(browser);
            }
            Some(Attach::Driver { url, session: None }) => (Some(url.clone()), SessionOwner::Yes),
            Some(Attach::Debugger(_)) => (None, SessionOwner::No),
            None => (None, SessionOwner::Yes),
        };
        let mut ours = None;
        let url = if let Some(url) = url {
            url
        } else {
            // Missing programs are reported before anything is started.
            let browser = match &settings.attach {
                Some(_) => None,
                None => Some(executable::browser(settings)?),
            };
            let (group, port) = driver(settings, record).await?;
            ours = Some((group, port, browser));
            format!("http://127.0.0.1:{port}")
        };
        let profile = ours.as_ref().map(|(group, ..)| group.profile());
        let browser = ours.as_ref().and_then(|(.., browser)| browser.as_deref());
        let capabilities = settings.capabilities(profile.as_deref(), browser);
        let made = connect(&url, &capabilities);
        let client = within(settings.start, "starting the browser", made).await?;
        let id = client.session_id().await?.unwrap_or_default();
        let mut browser = Self::around(client, settings, None, session);
        if let Some((mut group, port, _)) = ours {
            let told = browser.client.capabilities().and_then(|it| it.get("goog:processID"));
            let started = told.and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
            group.knows(started.filter(|_| session == SessionOwner::Yes), port, &id)?;
            browser.ours = Some(group);
            // Its processes are ended with it, and need not be asked.
            browser.client.persist().await?;
        }
        if session == SessionOwner::Yes {
            browser.keep_focus().await;
        }
        Ok(browser)
    }

    /// Keeps the focus on the page. Without this a field gets the focus again when a dialog is
    /// closed, and a page that opens a dialog then does so forever.
    async fn keep_focus(&self) {
        let body = json!({
            "cmd": "Emulation.setFocusEmulationEnabled", "params": { "enabled": true },
        });
        let post = RawCommand { path: "goog/cdp/execute", body };
        if let Err(error) =
            self.raw("keeping the focus", || self.client.issue_cmd(post.clone())).await
        {
            tracing::debug!(%error, "the page may lose the focus when its window does");
        }
    }

    /// Takes over the browser of a process that has died.
    pub async fn take_over(
        settings: &BrowserSettings,
        found: &BrowserRecord,
        record: &Path,
    ) -> Result<Self, BrowserError> {
        let group = ProcessGroup::take_over(settings, found, record)?;
        let url = format!("http://127.0.0.1:{}", found.port);
        let client = within(settings.start, "attaching", existing(&url, &found.session)).await?;
        let browser = Self::around(client, settings, Some(group), SessionOwner::Yes);
        browser.answers().await?;
        Ok(browser)
    }

    /// Leaves the browser to the person before it, if it was started for us, has a window
    /// and still runs; any other is closed.
    pub async fn release(mut self) -> Option<BrowserExit> {
        let stays = self.session == SessionOwner::Yes && self.settings.visible;
        let Some(group) = self.ours.take_if(|group| stays && group.lives()) else {
            return self.close().await;
        };
        let open = tokio::task::spawn_blocking(|| group.release()).await.unwrap_or(false);
        Some(if open { BrowserExit::Open } else { BrowserExit::Closed })
    }

    /// Ends the browser, if we started it. Returns what happened to it; nothing for another
    /// program's browser.
    pub async fn close(mut self) -> Option<BrowserExit> {
        if let Some(group) = self.ours.take() {
            // Processes are waited for.
            if let Err(error) = tokio::task::spawn_blocking(|| drop(group)).await {
                tracing::warn!(%error, "cannot stop a browser");
            }
            return (self.session == SessionOwner::Yes).then_some(BrowserExit::Closed);
        }
        if self.session == SessionOwner::Yes {
            let closed = self.client.clone().close();
            match tokio::time::timeout(self.settings.stop, closed).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a session cannot be closed"),
                Err(_) => tracing::debug!("a session took too long to close"),
            }
        }
        None
    }

    fn around(
        client: Client,
        settings: &BrowserSettings,
        ours: Option<ProcessGroup>,
        session: SessionOwner,
    ) -> Self {
        Self {
            client,
            settings: settings.clone(),
            ours,
            session,
            dialogs: Mutex::default(),
            notices: Mutex::default(),
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
        // Its previous owner may have left it in a frame.
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

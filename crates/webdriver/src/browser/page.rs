//! The current page: opened and queried by scripts; dialogs never block it.

use std::{
    future::Future,
    sync::{PoisonError, atomic::Ordering::Relaxed},
};

use fantoccini::{error::CmdError, wd::WebDriverCompatibleCommand};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::{Browser, BrowserDialog, BrowserError, error::first_line};

/// Dialogs that are answered for one command before it is given up.
const DIALOGS: usize = 8;

/// A command that the client has no method for, or only one that does more.
#[derive(Clone, Debug)]
pub(super) struct RawCommand {
    pub(super) path: &'static str,
    pub(super) body: Value,
}

impl WebDriverCompatibleCommand for RawCommand {
    fn endpoint(
        &self,
        base: &Url,
        session: Option<&str>,
    ) -> Result<Url, <Url as std::str::FromStr>::Err> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    /// Opens an address and waits until its document is there.
    pub async fn goto(&self, url: &str) -> Result<(), BrowserError> {
        let refused = |why: &str| BrowserError::Address { url: url.into(), why: why.into() };
        if let Err(error) = Url::parse(url) {
            return Err(refused(&error.to_string()));
        }
        self.to_top().await?;
        let opening =
            || self.client.issue_cmd(RawCommand { path: "url", body: json!({ "url": url }) });
        match self.raw("opening a page", opening).await {
            Ok(_) => Ok(()),
            Err(BrowserError::Refused { why }) => {
                Err(refused(why.strip_prefix("unknown error: ").unwrap_or(&why)))
            }
            Err(error) => Err(error),
        }
    }

    /// Runs a script on the page, as the body of a function with these arguments.
    pub async fn script(&self, body: &str, args: Vec<Value>) -> Result<Value, BrowserError> {
        self.to_top().await?;
        self.raw("reading the page", || self.client.execute(body, args.clone())).await
    }

    /// Gives pages a size that no window has, such as a phone's: windows of Chromium are at least 500 pixels wide.
    pub async fn emulate_size(&self, width: u32, height: u32) -> Result<(), BrowserError> {
        let params =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        let body = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": params });
        let command =
            || self.client.issue_cmd(RawCommand { path: "goog/cdp/execute", body: body.clone() });
        self.raw("setting the size of pages", command).await.map(drop)
    }

    /// Returns what dialogs have said since this was last asked.
    pub fn dialogs(&self) -> Vec<BrowserDialog> {
        std::mem::take(&mut *self.dialogs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns what else was noticed since this was last asked.
    pub fn notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn notice(&self, what: String) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Returns how many commands the driver was given.
    pub fn commands(&self) -> u64 {
        self.commands.load(Relaxed)
    }

    /// Runs a command within its time. Dialogs in its way are dismissed, unless the person
    /// approved sending.
    pub(super) async fn raw<T, F>(
        &self,
        what: &str,
        command: impl Fn() -> F,
    ) -> Result<T, BrowserError>
    where
        F: Future<Output = Result<T, CmdError>>,
    {
        // The driver has its own limits, and a better message when they are reached.
        let within = self.settings.command.max(self.settings.load) + self.settings.still;
        let work = async {
            for _ in 0..DIALOGS {
                self.commands.fetch_add(1, Relaxed);
                match command().await {
                    Err(error) if error.is_unexpected_alert_open() => self.answer().await?,
                    other => return other,
                }
            }
            command().await
        };
        match tokio::time::timeout(within, work).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(self.judged(error, what)),
            Err(_) if !self.lives() => {
                Err(BrowserError::Gone { why: "its process has ended".into() })
            }
            Err(_) => Err(BrowserError::Timeout { what: what.into(), within }),
        }
    }

    /// Answers the dialog that is open, and keeps what it said.
    async fn answer(&self) -> Result<(), CmdError> {
        let accepted = self.consent.load(Relaxed);
        let text = match self.client.get_alert_text().await {
            // It was gone before it was looked at.
            Err(error) if error.is_no_such_alert() => return Ok(()),
            text => text?,
        };
        let done = if accepted {
            self.client.accept_alert().await
        } else {
            self.client.dismiss_alert().await
        };
        match done {
            Err(error) if error.is_no_such_alert() => return Ok(()),
            done => done?,
        }
        let mut dialogs = self.dialogs.lock().unwrap_or_else(PoisonError::into_inner);
        dialogs.push(BrowserDialog { text, accepted });
        Ok(())
    }

    fn lives(&self) -> bool {
        self.ours.as_ref().is_none_or(super::ProcessGroup::lives)
    }

    fn judged(&self, error: CmdError, what: &str) -> BrowserError {
        match BrowserError::from(error) {
            BrowserError::Timeout { what: why, .. } => {
                let what = format!("{what} ({})", first_line(&why));
                BrowserError::Timeout { what, within: self.settings.load }
            }
            BrowserError::Refused { .. } if !self.lives() => {
                BrowserError::Gone { why: "its process has ended".into() }
            }
            other => other,
        }
    }
}

//! Sessions: opened, found again after a crash, given up when they are lost, and closed.

use std::{path::Path, sync::PoisonError, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Appium,
    client::WireError,
    record::{self, SessionRecord},
    trouble,
};
use crate::device::{DeviceClass, DeviceError};

/// How often a command is repeated that a dialog of the page stood in the way of.
const DIALOGS: u8 = 4;

/// A session at the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct AppiumSession {
    pub(super) id: String,
}

impl Appium {
    /// Takes up the session there is, or opens one.
    pub(super) async fn open_session(&self) -> Result<(), DeviceError> {
        let _one = self.opening.lock().await;
        if let Some(session) = self.current().or_else(|| self.recorded()) {
            self.set(Some(session.clone()));
            match self.probe().await {
                Ok(()) => return Ok(()),
                // Another one would not fare better.
                Err(error) if error.class == DeviceClass::Unreachable => return Err(error),
                Err(error) => {
                    tracing::debug!(%error, "a session does not respond; opening a new one");
                }
            }
            self.end(&session).await;
        }
        self.create().await
    }

    /// Ends the session, if there is one. A lost one need not be ended.
    pub(super) async fn close_session(&self) -> Result<(), DeviceError> {
        let _one = self.opening.lock().await;
        if let Some(session) = self.current().or_else(|| self.recorded()) {
            self.end(&session).await;
        }
        self.set(None);
        self.settings.record.as_deref().map_or(Ok(()), |path| kept(path, record::remove(path)))
    }

    /// Ends the session, and opens another.
    pub(super) async fn renew(&self) -> Result<(), DeviceError> {
        let _one = self.opening.lock().await;
        if let Some(session) = self.current() {
            self.end(&session).await;
        }
        self.create().await
    }

    async fn create(&self) -> Result<(), DeviceError> {
        self.set(None);
        let what = "opening a session";
        let wanted = self.settings.wanted();
        let given = self
            .wire
            .call(Method::POST, "session", Some(&wanted), self.settings.times.session)
            .await
            .map_err(|trouble| trouble::unopened(trouble, what, &self.wire.address()))?;
        let id = given.get("sessionId").and_then(Value::as_str).filter(|id| is_id(id));
        let Some(id) = id else {
            let message = format!("{what}: the server's answer names no session");
            return Err(DeviceError::new(DeviceClass::Internal, message));
        };
        let session = AppiumSession { id: id.to_owned() };
        if let Some(path) = &self.settings.record {
            let record =
                SessionRecord { url: self.settings.url.clone(), session: session.id.clone() };
            if let Err(error) = kept(path, record.write(path)) {
                // It could not be found again, and it occupies the device.
                self.end(&session).await;
                return Err(error);
            }
        }
        self.set(Some(session));
        Ok(())
    }

    /// Looks whether the session answers.
    async fn probe(&self) -> Result<(), DeviceError> {
        self.get("window/rect", "asking for the session").await.map(drop)
    }

    /// Ends a session at the server. If that fails, the server ends it after a while.
    async fn end(&self, session: &AppiumSession) {
        let path = format!("session/{}", session.id);
        if let Err(trouble) =
            self.wire.call(Method::DELETE, &path, None, self.settings.times.close).await
        {
            tracing::debug!(?trouble, "cannot end a session");
        }
    }

    pub(super) async fn get(&self, path: &str, what: &str) -> Result<Value, DeviceError> {
        self.ask(Method::GET, path, None, what, self.limit()).await
    }

    pub(super) async fn post(
        &self,
        path: &str,
        body: Value,
        what: &str,
    ) -> Result<Value, DeviceError> {
        self.ask(Method::POST, path, Some(&body), what, self.limit()).await
    }

    /// Calls one of a driver's own methods, such as `mobile: type`.
    pub(super) async fn mobile(
        &self,
        method: &str,
        arguments: Value,
        what: &str,
    ) -> Result<Value, DeviceError> {
        let body = json!({ "script": format!("mobile: {method}"), "args": [arguments] });
        self.post("execute/sync", body, what).await
    }

    /// Makes a call of the session.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        what: &str,
        limit: Duration,
    ) -> Result<Value, DeviceError> {
        let Some(session) = self.current() else {
            let message = format!("{what}: no session is open");
            return Err(DeviceError::new(DeviceClass::SessionLost, message));
        };
        let path = format!("session/{}/{path}", session.id);
        let mut dialogs = 0;
        loop {
            match self.wire.call(method.clone(), &path, body, limit).await {
                Ok(value) => return Ok(value),
                // The driver has dismissed the dialog by then.
                Err(WireError::Said(said))
                    if said.error == "unexpected alert open" && dialogs < DIALOGS =>
                {
                    dialogs += 1;
                }
                Err(trouble) => return Err(trouble::told(trouble, what, &self.wire.address())),
            }
        }
    }

    fn current(&self) -> Option<AppiumSession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, session: Option<AppiumSession>) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }

    /// Returns the session that an earlier process has opened at the same server.
    fn recorded(&self) -> Option<AppiumSession> {
        let found = SessionRecord::read(self.settings.record.as_deref()?)?;
        let ours = found.url == self.settings.url && is_id(&found.session);
        ours.then_some(AppiumSession { id: found.session })
    }
}

/// An id becomes part of a path, so it may be nothing that leads elsewhere.
fn is_id(id: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    !id.is_empty() && id.len() <= 200 && id.chars().all(plain)
}

fn kept(path: &Path, done: std::io::Result<()>) -> Result<(), DeviceError> {
    done.map_err(|error| {
        let message = format!("cannot save the session's record to {}: {error}", path.display());
        DeviceError::new(DeviceClass::Internal, message)
    })
}

//! The browser's windows: a tap may open another, and the way back closes it again.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Appium, DeviceClass, DeviceError};

/// Whether the window has shown another page before this one.
const HAS_BEFORE: &str = "return window.navigation ? navigation.canGoBack : history.length > 1";

impl Appium {
    /// Returns the windows that are open.
    pub(super) async fn windows(&self) -> Result<Vec<String>, DeviceError> {
        let all = self.get("window/handles", "listing the windows").await?;
        let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Goes to a window that was opened since these were all.
    pub(super) async fn follow(&self, before: &[String]) -> Result<(), DeviceError> {
        match self.windows().await?.iter().find(|it| !before.contains(it)) {
            Some(new) => self.enter(new).await,
            None => Ok(()),
        }
    }

    /// Goes back: to the page before, or out of a window that has shown no other.
    pub(super) async fn page_back(&self) -> Result<(), DeviceError> {
        let what = "going back";
        if self.windows().await?.len() > 1 {
            let body = json!({ "script": HAS_BEFORE, "args": [] });
            let has_before = self.post("execute/sync", body, what).await?;
            if has_before == json!(false) {
                return self.shut().await;
            }
        }
        self.post("back", json!({}), what).await.map(drop)
    }

    /// Closes all windows but one.
    pub(super) async fn shut_others(&self) -> Result<(), DeviceError> {
        for _ in 1..self.windows().await?.len() {
            self.shut().await?;
        }
        Ok(())
    }

    /// Finds a window if the current one has closed itself. Returns whether there is one.
    pub(super) async fn find_window(&self, error: &DeviceError) -> bool {
        if error.class != DeviceClass::SessionLost || !error.message.contains("no such window") {
            return false;
        }
        match self.windows().await.ok().and_then(|mut all| all.pop()) {
            Some(other) => self.enter(&other).await.is_ok(),
            None => false,
        }
    }

    async fn enter(&self, window: &str) -> Result<(), DeviceError> {
        self.post("window", json!({ "handle": window }), "switching to a window").await.map(drop)
    }

    /// Closes the current window, and switches to the last of the others.
    async fn shut(&self) -> Result<(), DeviceError> {
        let what = "closing a window";
        let left = self.ask(Method::DELETE, "window", None, what, self.limit()).await?;
        let left = left.as_array().and_then(|it| it.last()).and_then(Value::as_str);
        match left {
            Some(left) => self.enter(left).await,
            None => Ok(()),
        }
    }
}

//! The app on the device: installed, brought to the front, stopped, and its status.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pointsman_agents::explore::Platform;
use reqwest::Method;
use serde_json::{Value, json};

use super::{AppState, Appium, DeviceClass, DeviceError, InstalledApp, ScreenCapture};
use crate::device::hierarchy;

impl Appium {
    /// Returns the installed version of an app, if the driver reports it.
    pub(super) async fn installed_app(
        &self,
        package: &str,
    ) -> Result<Option<InstalledApp>, DeviceError> {
        if self.is_page() {
            return Ok(Some(InstalledApp::default()));
        }
        let what = "checking whether the app is installed";
        let there = self.device("app_installed", package, what).await?;
        if there != json!(true) {
            return Ok(None);
        }
        if self.platform() != Platform::Android {
            return Ok(Some(InstalledApp::default()));
        }
        match self.mobile("listApps", json!({}), "asking for the app's version").await {
            Ok(apps) => {
                let version = apps.get(package).and_then(|it| it.get("versionCode"));
                Ok(Some(InstalledApp { version: version.and_then(Value::as_u64) }))
            }
            // Older drivers do not have the method, and older devices do not answer it.
            Err(error)
                if matches!(error.class, DeviceClass::InvalidArgument | DeviceClass::Internal) =>
            {
                tracing::debug!(%error, "the app's version is not known");
                Ok(Some(InstalledApp::default()))
            }
            Err(error) => Err(error),
        }
    }

    /// Installs an app from a file, or from an address that the server can read.
    pub(super) async fn install_app(&self, file: &str) -> Result<(), DeviceError> {
        let what = "installing the app";
        if self.is_page() {
            let message = format!("{what}: a web page cannot be installed");
            return Err(DeviceError::new(DeviceClass::InvalidArgument, message));
        }
        let body = json!({ "appPath": file });
        let path = "appium/device/install_app";
        self.ask(Method::POST, path, Some(&body), what, self.settings.times.install).await.map(drop)
    }

    /// Brings an app to the front.
    pub(super) async fn launch_app(&self, package: &str) -> Result<(), DeviceError> {
        if self.is_page() {
            return self.open_page(package).await;
        }
        self.device("activate_app", package, "bringing the app to the front").await.map(drop)
    }

    /// Stops an app; one that does not run is left as it is.
    pub(super) async fn stop_app(&self, package: &str) -> Result<(), DeviceError> {
        if self.is_page() {
            return self.leave_page().await;
        }
        self.device("terminate_app", package, "stopping the app").await.map(drop)
    }

    /// Returns how an app stands.
    pub(super) async fn app_state(&self, package: &str) -> Result<AppState, DeviceError> {
        if self.is_page() {
            return self.page_state(package).await;
        }
        let what = "asking for the app's state";
        let state = self.device("app_state", package, what).await?;
        match state.as_u64() {
            Some(0) => Ok(AppState::Missing),
            Some(1) => Ok(AppState::Stopped),
            Some(2 | 3) => Ok(AppState::Background),
            Some(4) => Ok(AppState::Front),
            _ => {
                let message = format!("{what}: `{state}` is not a state that Appium has");
                Err(DeviceError::new(DeviceClass::Internal, message))
            }
        }
    }

    /// Reads the hierarchy of a screen, and asks which app it is of.
    pub(super) async fn look_at_screen(&self) -> Result<ScreenCapture, DeviceError> {
        let what = "reading the screen";
        let source = self.get("source", what).await?;
        let Value::String(source) = source else {
            let message = format!("{what}: the hierarchy is not text");
            return Err(DeviceError::new(DeviceClass::Unreadable, message));
        };
        let tree = hierarchy::parse(&source).map_err(|error| {
            DeviceError::new(DeviceClass::Unreadable, format!("{what}: {error}"))
        })?;
        let (package, activity) = match self.platform() {
            Platform::Android => {
                let asked = "asking for the app in front";
                let package = self.mobile("getCurrentPackage", json!({}), asked).await?;
                let activity = self.mobile("getCurrentActivity", json!({}), asked).await?;
                (text(&package), text(&activity))
            }
            Platform::Ios => {
                let active = self.mobile("activeAppInfo", json!({}), "asking for the app in front");
                (active.await?.get("bundleId").map(text).unwrap_or_default(), String::new())
            }
            _ => (String::new(), String::new()),
        };
        Ok(ScreenCapture { tree: Arc::new(tree), source: source.into(), package, activity })
    }

    /// Takes a picture of what the device shows, as PNG.
    pub(super) async fn take_picture(&self) -> Result<Vec<u8>, DeviceError> {
        let what = "taking a picture";
        let picture = self.get("screenshot", what).await?;
        // Some drivers break the text into lines.
        let text: String = picture.as_str().unwrap_or_default().split_whitespace().collect();
        match STANDARD.decode(text) {
            Ok(bytes) if !bytes.is_empty() => Ok(bytes),
            _ => {
                let message = format!("{what}: the response is not an image");
                Err(DeviceError::new(DeviceClass::Internal, message))
            }
        }
    }

    /// Makes one of the calls that take an app and are the same for phones of all kinds.
    async fn device(&self, call: &str, package: &str, what: &str) -> Result<Value, DeviceError> {
        let body = json!({ "appId": package });
        let path = format!("appium/device/{call}");
        self.ask(Method::POST, &path, Some(&body), what, self.settings.times.launch).await
    }
}

/// A device between two screens has no activity, and says `null`.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

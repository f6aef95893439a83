//! What a server says about itself before anything is asked of it.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use super::{client::WebDriverClient, trouble};
use crate::device::{DeviceClass, DeviceError};

/// A server that answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerStatus {
    /// Its version, where it tells.
    pub version: Option<String>,
    /// Whether it takes new sessions.
    pub ready: bool,
}

/// Asks a server for its version, and waits for the answer.
pub fn status(url: &str, limit: Duration) -> Result<ServerStatus, DeviceError> {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let threads = threads
        .map_err(|error| DeviceError::new(DeviceClass::Internal, format!("no network: {error}")))?;
    threads.block_on(server(url, limit))
}

/// Asks a server for its version. Nothing else is done there.
pub async fn server(url: &str, limit: Duration) -> Result<ServerStatus, DeviceError> {
    let wire = WebDriverClient::new(url, limit).map_err(|why| {
        let message = format!("`{url}` is not the address of an Appium server: {why}");
        DeviceError::new(DeviceClass::InvalidArgument, message)
    })?;
    let what = "asking for the server's version";
    let status = wire
        .call(Method::GET, "status", None, limit)
        .await
        .map_err(|trouble| trouble::told(trouble, what, &wire.address()))?;
    let version = status.pointer("/build/version").and_then(Value::as_str).map(str::to_owned);
    let ready = status.get("ready").and_then(Value::as_bool).unwrap_or(true);
    Ok(ServerStatus { version, ready })
}

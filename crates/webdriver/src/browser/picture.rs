//! Pictures of the page, with or without what was typed.

use serde_json::{Value, json};

use super::{Browser, BrowserError};

/// Hides what fields hold and where the page repeats it, wherever a script reaches, and
/// shows it again.
const VEIL: &str = include_str!("mask.js");

impl Browser {
    /// Photographs what the window shows, as PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, BrowserError> {
        self.raw("taking a screenshot", || self.client.screenshot()).await
    }

    /// Photographs the page with what its fields hold blotted out, and these values wherever
    /// the page repeats them.
    pub async fn veiled_screenshot(&self, values: &[String]) -> Result<Vec<u8>, BrowserError> {
        let veiled: Result<bool, _> = self.facts(VEIL, vec![json!(true), json!(values)]).await;
        let picture = match veiled {
            Ok(true) => self.screenshot().await,
            Ok(false) => Err(BrowserError::Refused {
                why: "the values on the page cannot be blacked out".into(),
            }),
            Err(error) => Err(error),
        };
        // The page must not stay blacked out, whether or not there is a picture.
        let _unveiled: Value = self.facts(VEIL, vec![json!(false), json!([])]).await?;
        picture
    }
}

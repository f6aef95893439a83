//! A look at the page: what it shows, as facts.

use pointsman_agents::form::Sighting;

use super::{Browser, BrowserError};

const SCRIPT: &str = include_str!("look.js");

impl Browser {
    /// Looks at the page that is open.
    pub async fn look(&self) -> Result<Sighting, BrowserError> {
        let seen = self.script(&format!("return {SCRIPT}"), Vec::new()).await?;
        let misread = |error: serde_json::Error| BrowserError::Refused {
            why: format!("the page interferes with what is read from it: {error}"),
        };
        serde_json::from_value(seen).map_err(misread)
    }
}

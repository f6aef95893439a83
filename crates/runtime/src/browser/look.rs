//! A look at a page: the script reports facts, and everything else is decided elsewhere.

use pointsman_agents::form::Sighting;
use tokio::signal::unix::{SignalKind, signal};

use super::{Browser, BrowserError, Settings, Stand};

/// One expression: it looks at the page and returns what it saw.
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

/// Opens a page in a browser of its own, looks at it when it stands still, and ends the
/// browser. An interrupt ends it as well.
pub fn visit(settings: &Settings, url: &str) -> Result<Stand, BrowserError> {
    let unable = |source| BrowserError::Start { program: "a look at a page".into(), source };
    let threads =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unable)?;
    threads.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(unable)?;
        let mut ended = signal(SignalKind::terminate()).map_err(unable)?;
        let looking = async {
            let browser = Browser::open(settings).await?;
            let stand = match browser.goto(url).await {
                Ok(()) => browser.settle(settings.settle).await,
                Err(error) => Err(error),
            };
            browser.close().await;
            stand.and_then(|stand| is_page(stand, url))
        };
        // Dropping what looks ends the browser that was started for it.
        tokio::select! {
            stand = looking => stand,
            _ = interrupt.recv() => Err(BrowserError::Interrupted),
            _ = ended.recv() => Err(BrowserError::Interrupted),
        }
    })
}

/// Some addresses are refused without a word from the driver: the browser then shows a page
/// of its own.
fn is_page(stand: Stand, url: &str) -> Result<Stand, BrowserError> {
    if stand.url.starts_with("chrome-error:") {
        let why = "the browser shows an error in its place".into();
        return Err(BrowserError::Address { url: url.into(), why });
    }
    Ok(stand)
}

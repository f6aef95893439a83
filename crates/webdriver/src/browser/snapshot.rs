//! A look at a page: the script reports facts, and everything else is decided elsewhere.

use pointsman_agents::form::PageSnapshot;
use serde::Deserialize;
use tokio::signal::unix::{SignalKind, signal};

use super::{Browser, BrowserError, BrowserSettings, StablePage};

/// It looks at the page and returns what it saw.
const SCRIPT: &str = concat!(
    "return (() => {\n\"use strict\";\nconst ALONE = false;\n",
    include_str!("snapshot/words.js"),
    include_str!("snapshot/place.js"),
    include_str!("snapshot/visibility.js"),
    include_str!("snapshot/names.js"),
    include_str!("snapshot/field.js"),
    include_str!("snapshot/slider.js"),
    include_str!("snapshot/page.js"),
    include_str!("snapshot/visit.js"),
    "})();\n",
);

/// The same functions for one element, as `look`: what was read is compared right before it
/// is touched.
pub(super) const ALONE: &str = concat!(
    "const look = (() => {\nconst ALONE = true;\n",
    include_str!("snapshot/words.js"),
    include_str!("snapshot/place.js"),
    include_str!("snapshot/visibility.js"),
    include_str!("snapshot/names.js"),
    include_str!("snapshot/slider.js"),
    include_str!("snapshot/page.js"),
    include_str!("snapshot/single_field.js"),
    "})();\n",
);

/// What was seen, and how the document stood.
#[derive(Debug, Deserialize)]
pub(super) struct SnapshotResult {
    #[serde(flatten)]
    pub(super) sighting: PageSnapshot,
    /// How far it has loaded.
    pub(super) ready: String,
    /// Which document it is.
    pub(super) document: f64,
    /// The HTTP status that it came with; 0 where the browser does not know.
    pub(super) status: u16,
}

impl Browser {
    /// Looks at the page that is open.
    pub async fn look(&self) -> Result<PageSnapshot, BrowserError> {
        self.look_at_all().await.map(|seen| seen.sighting)
    }

    pub(super) async fn look_at_all(&self) -> Result<SnapshotResult, BrowserError> {
        self.facts(SCRIPT, Vec::new()).await
    }
}

/// Opens a page in a new browser, reads it when it has stopped changing, and ends the browser. An
/// interrupt ends it as well.
pub fn visit(settings: &BrowserSettings, url: &str) -> Result<StablePage, BrowserError> {
    let unable = |source| BrowserError::Start { program: "reading a page".into(), source };
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
            stand.map_err(|error| match error {
                BrowserError::Address { why, .. } => BrowserError::Address { url: url.into(), why },
                other => other,
            })
        };
        // Dropping what looks ends the browser that was started for it.
        tokio::select! {
            stand = looking => stand,
            _ = interrupt.recv() => Err(BrowserError::Interrupted),
            _ = ended.recv() => Err(BrowserError::Interrupted),
        }
    })
}

//! What can be settled about a browser.

use std::{path::PathBuf, time::Duration};

/// How a browser is started, and how long everything may take.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BrowserSettings {
    /// The driver; looked for where it is not given.
    pub driver: Option<PathBuf>,
    /// The browser; looked for where it is not given.
    pub browser: Option<PathBuf>,
    /// Whether its window is shown.
    pub visible: bool,
    /// A running one to use instead of starting one.
    pub attach: Option<Attach>,
    /// Flags for the browser besides ours.
    pub flags: Vec<String>,
    /// For driver and browser to come up.
    pub start: Duration,
    /// For one command.
    pub command: Duration,
    /// For a page to load.
    pub load: Duration,
    /// For a document whose parts are still loading, before it is taken as it is.
    pub parts: Duration,
    /// Between two looks at a page that must be equal.
    pub still: Duration,
    /// How long a page without fields must not change: some show their form late.
    pub bare: Duration,
    /// For a page to stop changing.
    pub settle: Duration,
    /// For the page to move after a control was pressed.
    pub moving: Duration,
    /// For the options of a list to appear.
    pub options: Duration,
    /// Characters that are typed key by key; longer texts are pasted.
    pub typed: usize,
    /// For processes to end, and their folder to be removed.
    pub stop: Duration,
    /// How long a browser is kept when our process was killed, so that the run can be
    /// resumed.
    pub keep: Duration,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self {
            driver: None,
            browser: None,
            visible: false,
            attach: None,
            flags: Vec::new(),
            start: Duration::from_secs(30),
            command: Duration::from_secs(30),
            load: Duration::from_secs(30),
            parts: Duration::from_secs(3),
            still: Duration::from_millis(150),
            bare: Duration::from_millis(1_500),
            settle: Duration::from_secs(12),
            moving: Duration::from_secs(5),
            options: Duration::from_secs(3),
            typed: 1_000,
            stop: Duration::from_secs(5),
            keep: Duration::from_mins(10),
        }
    }
}

/// A running driver or browser.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Attach {
    /// A driver, by its address.
    Driver {
        /// Such as `http://127.0.0.1:9515`.
        url: String,
        /// A session of it; a new one where it is not given.
        session: Option<String>,
    },
    /// A browser, by the address of its debugger, such as `127.0.0.1:9222`.
    Debugger(String),
}

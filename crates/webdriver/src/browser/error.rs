//! What goes wrong with a browser, and what to do about it.

use std::{io, time::Duration};

use fantoccini::error::{CmdError, NewSessionError};
use pointsman_agents::form::NOT_PRESSED;
use pointsman_kernel::agent::FaultClass;
use pointsman_runtime::plural::counted;
use thiserror::Error;

/// Why a browser failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// A program is not there.
    #[error("{name} was not found: looked for {looked}")]
    Missing {
        /// Which.
        name: &'static str,
        /// Where.
        looked: String,
    },
    /// A program cannot be started.
    #[error("cannot start {program}")]
    Start {
        /// Which.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The folder for a browser cannot be used.
    #[error("cannot use {path} as the browser's folder")]
    Folder {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The driver or the browser did not come up.
    #[error("{what}: {why}")]
    NotReady {
        /// What.
        what: &'static str,
        /// What it said last.
        why: String,
    },
    /// The browser has exited or cannot be reached.
    #[error("lost the browser: {why}")]
    Gone {
        /// How it showed.
        why: String,
    },
    /// Another process has it.
    #[error("the browser is in use by process {pid}")]
    InUse {
        /// Whose.
        pid: u32,
    },
    /// It took too long.
    #[error("{what} took longer than {} s", within.as_secs_f32())]
    Timeout {
        /// What.
        what: String,
        /// How long it had.
        within: Duration,
    },
    /// The page never stood still.
    #[error("the page kept changing for {} s: {changing}", within.as_secs_f32())]
    Restless {
        /// How long it had.
        within: Duration,
        /// What kept changing.
        changing: String,
    },
    /// An address cannot be opened.
    #[error("cannot open {url}: {why}")]
    Address {
        /// Which.
        url: String,
        /// Why.
        why: String,
    },
    /// What a selector names is not on the page.
    #[error("nothing on the page matches `{selector}`")]
    NoElement {
        /// The selector.
        selector: String,
    },
    /// An element was replaced before it could be used.
    #[error("the page replaces its fields while Pointsman fills them")]
    Replaced,
    /// The field differs from the one that was read.
    #[error("`{selector}` has changed since it was read: {what}")]
    Changed {
        /// Which.
        selector: String,
        /// The difference.
        what: String,
    },
    /// The control differs from the approved one: nothing was pressed.
    #[error("{NOT_PRESSED}{what}")]
    NotAgreed {
        /// The difference.
        what: String,
    },
    /// The page took the focus away while a field was typed into.
    #[error(
        "the page moved the focus to {taker} after {} in `{selector}`: typing \
         stopped there", counted(.typed, "character")
    )]
    Focus {
        /// Which field.
        selector: String,
        /// What has the focus now.
        taker: String,
        /// How many characters were typed.
        typed: usize,
    },
    /// A field or a control cannot be used as it should be.
    #[error("`{selector}` cannot be used: {why}")]
    Unusable {
        /// Which.
        selector: String,
        /// Why.
        why: String,
    },
    /// The page has switched a field off.
    #[error("`{selector}` cannot be used: the page has disabled it")]
    Off {
        /// Which.
        selector: String,
    },
    /// The page's own dialog is in the way, and only a person may answer it.
    #[error("the page shows a dialog that says {words:?}: {why}")]
    Box {
        /// Its text.
        words: String,
        /// Why it was not closed.
        why: String,
    },
    /// The field cannot take the chosen or written value.
    #[error("`{selector}` cannot be filled: {why}")]
    Unfit {
        /// Which.
        selector: String,
        /// Why.
        why: String,
    },
    /// The page is on another site now.
    #[error("the page has moved to another site, {origin}; nothing was done there")]
    Elsewhere {
        /// Scheme, host and port.
        origin: String,
    },
    /// A control was pressed, and its result could not be seen.
    #[error("the control was pressed, but the result is unknown: {0}")]
    Unsure(Box<Self>),
    /// A control may have been pressed before a crash, and an attached browser keeps no record.
    #[error("it is unknown whether the control was pressed: an attached browser keeps no record")]
    Unrecorded,
    /// A control was pressed before a crash, and the page after it is unclear.
    #[error("the run was interrupted right afterwards, and the site may have received the form")]
    Unseen,
    /// The caller wanted it to end.
    #[error("interrupted")]
    Interrupted,
    /// The driver said no.
    #[error("the browser refused: {why}")]
    Refused {
        /// Why.
        why: String,
    },
}

impl BrowserError {
    /// Returns what to do next, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing { .. } => {
                "on Debian or Ubuntu: `sudo apt-get install chromium chromium-driver`; elsewhere \
                 give their paths in `[form]` as `browser` and `driver`"
            }
            Self::NotReady { .. } => {
                "`pointsman doctor` shows both versions: driver and browser must match"
            }
            Self::Gone { .. } => "start a new run: the text typed so far is lost with the browser",
            Self::Unsure(_) | Self::Unrecorded | Self::Unseen => {
                "check the site before you try again"
            }
            Self::InUse { .. } => "wait until that process has ended, or end it",
            Self::Elsewhere { .. } => "if you trust the site, add it to `sites` in `[form]`",
            Self::Box { .. } => "run it with `--visible`, and answer the dialog yourself",
            Self::Restless { .. } => {
                "raise `settle_timeout` in `[form]`, or stop the animation on the page"
            }
            Self::Timeout { .. } => "check whether the site or this machine is busy, and try again",
            Self::Start { .. } | Self::Folder { .. } => {
                "`pointsman doctor` checks the programs and folders"
            }
            Self::NoElement { .. } | Self::Replaced | Self::Changed { .. } => {
                "the page has changed since it was read: start a new run"
            }
            Self::Address { .. } => "check the address and whether its server is up",
            _ => return None,
        })
    }

    /// Returns what kind of fault it is.
    pub fn class(&self) -> FaultClass {
        match self {
            Self::Missing { .. } | Self::Start { .. } | Self::NotReady { .. } => {
                FaultClass::Unavailable
            }
            Self::Address { .. } => FaultClass::Unavailable,
            Self::Folder { .. } => FaultClass::Resource,
            Self::Unsure(error) => error.class(),
            Self::Gone { .. } | Self::Interrupted => FaultClass::Gone,
            Self::InUse { .. } | Self::Elsewhere { .. } | Self::Box { .. } => FaultClass::Forbidden,
            Self::Timeout { .. } | Self::Restless { .. } => FaultClass::Timeout,
            Self::NoElement { .. }
            | Self::Replaced
            | Self::Changed { .. }
            | Self::NotAgreed { .. }
            | Self::Focus { .. }
            | Self::Unusable { .. }
            | Self::Off { .. }
            | Self::Unfit { .. }
            | Self::Unrecorded
            | Self::Unseen
            | Self::Refused { .. } => FaultClass::Invalid,
        }
    }

    /// Returns whether a field is there and cannot be touched now.
    pub(super) fn is_out_of_reach(&self) -> bool {
        match self {
            Self::Off { .. } => true,
            Self::Refused { why } => why.contains("not interactable"),
            _ => false,
        }
    }

    /// Returns whether trying again could help.
    pub const fn is_repeatable(&self) -> bool {
        matches!(
            self,
            Self::Timeout { .. }
                | Self::NoElement { .. }
                | Self::Replaced
                | Self::Unusable { .. }
                | Self::Off { .. }
                | Self::Unfit { .. }
        )
    }
}

/// Returns the first line of what a driver says, without its notes on the session.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

impl From<CmdError> for BrowserError {
    fn from(error: CmdError) -> Self {
        match &error {
            CmdError::Failed(_) | CmdError::FailedC(_) | CmdError::Lost(_) => {
                Self::Gone { why: "its driver does not answer".into() }
            }
            CmdError::Standard(said) => {
                let why = first_line(&said.message).to_owned();
                let dead = ["not reachable", "crashed", "disconnected", "target window already"];
                if error.is_invalid_session_id()
                    || error.is_no_such_window()
                    || dead.iter().any(|word| why.contains(word))
                {
                    Self::Gone { why }
                } else if error.is_stale_element_reference() || error.is_no_such_element() {
                    Self::Replaced
                } else if error.is_timeout() || error.is_script_timeout() {
                    Self::Timeout { what: why, within: Duration::ZERO }
                } else {
                    Self::Refused { why }
                }
            }
            _ => Self::Refused { why: first_line(&error.to_string()).into() },
        }
    }
}

impl From<NewSessionError> for BrowserError {
    fn from(error: NewSessionError) -> Self {
        let why = match &error {
            NewSessionError::SessionNotCreated(said) => first_line(&said.message).to_owned(),
            NewSessionError::NotW3C(said) => {
                let said = said.get("message").and_then(serde_json::Value::as_str);
                first_line(said.unwrap_or("its driver sent an invalid response")).to_owned()
            }
            other => first_line(&other.to_string()).to_owned(),
        };
        Self::NotReady { what: "the browser did not start", why }
    }
}

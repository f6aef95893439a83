//! A real browser, spoken to by W3C WebDriver: it is started or attached to, shown pages,
//! and always ended again.
//!
//! What a page means is not decided here: scripts report facts, and the form agent's pure
//! functions judge them.

mod address;
mod dom;
mod error;
mod executable;
mod insert;
mod keys;
mod overlay;
mod page;
mod picture;
mod press;
mod process_group;
mod record;
mod same;
mod settings;
mod settle;
mod snapshot;
mod start;
mod verify;
mod wanted;
mod watchdog;

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64},
};

use fantoccini::Client;

pub use address::{AddressError, address};
pub use error::BrowserError;
pub use executable::{Executable, is_there, programs};
pub use press::{AgreedPage, FormRemainder, Navigation, PageResponse, PressResult, PressTarget};
pub use record::BrowserRecord;
pub(crate) use record::end_left;
pub use settings::{Attach, BrowserSettings};
pub use settle::StablePage;
pub use snapshot::visit;
pub use verify::FieldCheck;

use dom::FrameContext;
use overlay::KnownBoxes;
use process_group::ProcessGroup;
use start::SessionOwner;
use verify::PriorMessages;

/// A browser with one window. Dropping it ends what was started for it: browser, driver
/// and profile folder. One that was only attached to is left as it is.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    settings: BrowserSettings,
    /// The processes that we started and must end; nothing for another program's browser.
    ours: Option<ProcessGroup>,
    /// Whether the session at the driver was made by us.
    session: SessionOwner,
    /// What dialogs have said since they were last asked for.
    dialogs: Mutex<Vec<BrowserDialog>>,
    /// What else was noticed since that was last asked for.
    notices: Mutex<Vec<String>>,
    /// The frame that scripts run in.
    frame: Mutex<FrameContext>,
    /// The site that fields and controls are touched on; nothing where any will do.
    site: Mutex<Option<String>>,
    /// Whether a person has agreed to what dialogs ask.
    consent: AtomicBool,
    /// How many commands the driver was given.
    commands: AtomicU64,
    /// What the page had to say before anything was typed.
    stood: Mutex<PriorMessages>,
    /// The known dialogs of the page.
    boxes: Mutex<KnownBoxes>,
}

/// What happened to a browser that we started.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BrowserExit {
    /// It is the person's now.
    Open,
    /// It has ended, with everything that was filled in.
    Closed,
}

/// A dialog that was in the way, and how it was answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BrowserDialog {
    /// Its text.
    pub text: String,
    /// Whether it was agreed to.
    pub accepted: bool,
}

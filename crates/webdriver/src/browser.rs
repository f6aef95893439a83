//! A real browser, spoken to by W3C WebDriver: it is started or attached to, shown pages,
//! and always ended again.
//!
//! What a page means is not decided here: scripts report facts, and the form agent's pure
//! functions judge them.

mod address;
mod aside;
mod error;
mod find;
mod group;
mod hand;
mod insert;
mod keeper;
mod keys;
mod look;
mod page;
mod picture;
mod press;
mod record;
mod same;
mod settings;
mod settle;
mod start;
mod verify;
mod wanted;

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64},
};

use fantoccini::Client;

pub use address::{AddressError, address};
pub use error::BrowserError;
pub use find::{Program, is_there, programs};
pub use look::visit;
pub use press::{Agreed, Answer, Pressed, Pressing, Rest, Went};
pub use record::Record;
pub(crate) use record::end_left;
pub use settings::{Attach, Settings};
pub use settle::Stand;
pub use verify::Found;

use aside::Boxes;
use group::Group;
use hand::Inside;
use start::Ours;
use verify::Stood;

/// A browser with one window. Dropping it ends what was started for it: browser, driver
/// and profile folder. One that was only attached to is left as it is.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    settings: Settings,
    /// What was started, and is to be ended; nothing where it is somebody else's.
    ours: Option<Group>,
    /// Whether the session at the driver was made by us.
    session: Ours,
    /// What dialogs have said since they were last asked for.
    dialogs: Mutex<Vec<Dialog>>,
    /// What else was noticed since that was last asked for.
    notices: Mutex<Vec<String>>,
    /// The frame that scripts run in.
    frame: Mutex<Inside>,
    /// The site that fields and controls are touched on; nothing where any will do.
    site: Mutex<Option<String>>,
    /// Whether a person has agreed to what dialogs ask.
    consent: AtomicBool,
    /// How many commands the driver was given.
    commands: AtomicU64,
    /// What the page had to say before anything was typed.
    stood: Mutex<Stood>,
    /// What a box of the page's own is told from.
    boxes: Mutex<Boxes>,
}

/// What became of a browser that was started for us.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Left {
    /// It is the person's now.
    Open,
    /// It is gone, with all that was filled in.
    Closed,
}

/// A dialog that stood in the way, and what became of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dialog {
    /// What it said.
    pub text: String,
    /// Whether it was agreed to.
    pub accepted: bool,
}

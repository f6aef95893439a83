//! What goes wrong with a device, and whether it is worth another try.

use pointsman_kernel::agent::{Fault, FaultClass};
use thiserror::Error;

/// Why a device failed.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{message}")]
pub struct DeviceError {
    /// What kind of trouble it is.
    pub class: DeviceClass,
    /// What happened, for people.
    pub message: String,
}

/// The kinds of trouble that a device has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DeviceClass {
    /// It took too long.
    Timeout,
    /// The session no longer exists.
    SessionLost,
    /// No device is there, or it does not answer.
    Offline,
    /// The server cannot be reached.
    Unreachable,
    /// Another app is in front.
    NotInFront,
    /// A gesture or a text was not taken.
    InputFailed,
    /// An element was replaced before it was touched.
    Stale,
    /// The app is not installed.
    NotInstalled,
    /// The request cannot be right: a wrong capability, file or argument.
    InvalidArgument,
    /// The hierarchy cannot be read.
    Unreadable,
    /// The program stopped during a gesture, which may or may not have been performed.
    Interrupted,
    /// Anything else that the server reports.
    Internal,
}

impl DeviceClass {
    /// Returns whether the same request may go well the next time.
    pub const fn repeatable(self) -> bool {
        match self {
            Self::Timeout
            | Self::Offline
            | Self::InputFailed
            | Self::Stale
            | Self::Internal
            | Self::Unreadable
            | Self::Unreachable => true,
            Self::SessionLost
            | Self::NotInFront
            | Self::NotInstalled
            | Self::InvalidArgument
            | Self::Interrupted => false,
        }
    }
}

impl DeviceError {
    /// Makes an error.
    pub fn new(class: DeviceClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }
}

impl From<DeviceError> for Fault {
    fn from(error: DeviceError) -> Self {
        let class = match error.class {
            DeviceClass::Timeout => FaultClass::Timeout,
            DeviceClass::SessionLost | DeviceClass::NotInstalled | DeviceClass::Stale => {
                FaultClass::Gone
            }
            DeviceClass::Offline | DeviceClass::Unreachable => FaultClass::Unavailable,
            DeviceClass::InvalidArgument | DeviceClass::Unreadable => FaultClass::Invalid,
            DeviceClass::NotInFront
            | DeviceClass::InputFailed
            | DeviceClass::Interrupted
            | DeviceClass::Internal => FaultClass::Other,
        };
        let repeatable = error.class.repeatable();
        Self { class, repeatable, hint_ms: None, message: error.message }
    }
}

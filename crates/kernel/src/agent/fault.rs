//! Faults of an order.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// Why an order came to nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Fault {
    /// What kind of thing went wrong.
    pub class: FaultClass,
    /// Whether trying again could help.
    pub repeatable: bool,
    /// How long the provider asks us to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint_ms: Option<u64>,
    /// The message for a person.
    pub message: String,
}

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultClass {
    /// It took too long.
    Timeout,
    /// The provider asks for patience.
    RateLimited,
    /// The provider cannot be reached, or is broken.
    Unavailable,
    /// A key or a permission is missing.
    Forbidden,
    /// The answer is invalid, or there is none.
    Invalid,
    /// The prompt is longer than the model can read.
    TooLong,
    /// Its subject no longer exists.
    Gone,
    /// Disk, memory or another resource is used up.
    Resource,
    /// A limit of the chart was reached.
    Limit,
    /// An agent broke its own declaration, or a provider does not take such a request.
    Contract,
    /// Anything else.
    Other,
}

//! What a run of the form agent is configured with. It names what the profile holds, and
//! has no value of it.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::profile::ProfileKeys;

/// What a run is configured with.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct FormConfig {
    /// What the form is filled for, in the person's words.
    pub goal: String,
    /// The page to open; without one the browser's page is taken as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What the profile holds: names, and no value.
    pub profile: ProfileKeys,
    /// Whether a model writes text where the profile has none.
    pub writes: bool,
    /// Whether the form may be sent, where that is permitted: without this nothing is
    /// pressed that a page makes for sending.
    pub sends: bool,
    /// Whether to replace values that fields already have.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub overwrite: bool,
    /// Whether values and texts are kept out of the journal.
    pub redact: bool,
    /// What to do with an optional field that cannot be filled.
    pub optional: OnOptional,
    /// Further origins on which the agent may act, beside that of the first page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
}

/// What to do with an optional field that cannot be filled.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnOptional {
    /// Record it and continue.
    #[default]
    Skip,
    /// End the run.
    Error,
}

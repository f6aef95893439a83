//! Why a turn of a conversation has no answer, for front ends.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::agent::Abandoned;

/// Why a turn ended without an answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct TurnError {
    /// What kind of end it was.
    pub kind: TurnErrorKind,
    /// The message for a person.
    pub message: String,
}

/// The kinds of end that a turn without an answer has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnErrorKind {
    /// The model could not be asked, or did not reply, or the machine has no room left.
    Failed,
    /// The governor found no progress.
    Stuck,
    /// A budget is used up.
    Budget,
    /// The person cancelled the turn.
    Cancelled,
}

impl TurnErrorKind {
    /// Returns the kind of end that a turn has when nothing settles its work.
    pub const fn of(why: &Abandoned) -> Self {
        match why {
            Abandoned::Stuck { .. } => Self::Stuck,
            Abandoned::Budget => Self::Budget,
            Abandoned::Cancelled => Self::Cancelled,
            Abandoned::Failed(_) | Abandoned::TimedOut { .. } | Abandoned::Denied { .. } => {
                Self::Failed
            }
        }
    }
}

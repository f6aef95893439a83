//! What can be wrong with an answer: its classes, and which of them a further
//! attempt can cure.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// Why an answer cannot be used.
#[derive(Clone, Debug, Eq, Error, PartialEq, Serialize)]
#[error("{class}: {message}")]
pub struct DecodeError {
    /// What kind of trouble it is.
    pub class: ErrorClass,
    /// The HTTP status, of the answer or as the body tells it.
    pub status: Option<u16>,
    /// The provider's most telling word for it.
    pub code: Option<String>,
    /// What the provider says, or what the decoder found.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the provider asks to wait first.
    pub retry_after_ms: Option<u64>,
}

/// A class of errors. Only errors that callers treat differently are distinguished.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// Too many requests or tokens for now: wait.
    RateLimited,
    /// The provider has no capacity: wait.
    Overloaded,
    /// The provider or something on the way failed or took too long.
    Unavailable,
    /// The account has nothing left to spend. Waiting does not help.
    Quota,
    /// The key is missing, wrong, or not allowed to do this.
    Auth,
    /// The request is wrong, or names what does not exist.
    Invalid,
    /// The request is too long for the model: send less.
    ContextLength,
    /// The provider will not answer this.
    ContentFilter,
    /// The answer breaks its protocol, or the model broke a tool's schema.
    Malformed,
    /// The answer is larger than allowed.
    TooLarge,
    /// The stream ended early.
    Truncated,
    /// Anything else, such as a redirection.
    Other,
}

impl ErrorClass {
    /// Returns the name, as JSON has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::Quota => "quota",
            Self::Auth => "auth",
            Self::Invalid => "invalid",
            Self::ContextLength => "context_length",
            Self::ContentFilter => "content_filter",
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::Truncated => "truncated",
            Self::Other => "other",
        }
    }

    /// Returns whether the same request may succeed later.
    pub const fn retryable(self) -> bool {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::Unavailable
            | Self::Malformed
            | Self::Truncated => true,
            Self::Quota
            | Self::Auth
            | Self::Invalid
            | Self::ContextLength
            | Self::ContentFilter
            | Self::TooLarge
            | Self::Other => false,
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

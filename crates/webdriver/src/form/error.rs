//! Why a task of the form agent failed.

use std::io;

use pointsman_kernel::agent::{Fault, FaultClass};
use pointsman_runtime::store::StoreError;
use thiserror::Error;

use crate::{browser::BrowserError, profile::ProfileError};

/// Why a task failed.
#[derive(Debug, Error)]
pub(super) enum TaskError {
    #[error(transparent)]
    Browser(#[from] BrowserError),
    #[error(transparent)]
    Profile(ProfileError),
    #[error("the run's private data cannot be used: {0}")]
    Vault(io::Error),
    #[error("a screenshot cannot be saved: {0}")]
    Picture(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the run's configuration cannot be read")]
    Config,
    #[error("{0}")]
    Call(String),
}

impl From<&TaskError> for Fault {
    fn from(trouble: &TaskError) -> Self {
        let (class, repeatable, hint) = match trouble {
            TaskError::Browser(error) => (error.class(), error.is_repeatable(), error.hint()),
            // A run cannot continue without its profile: no field is skipped for it.
            TaskError::Profile(error) => (FaultClass::Resource, false, error.hint()),
            TaskError::Vault(_) | TaskError::Picture(_) | TaskError::Store(_) => {
                (FaultClass::Resource, false, None)
            }
            TaskError::Config | TaskError::Call(_) => (FaultClass::Contract, false, None),
        };
        let mut message = trouble.to_string();
        let mut source = std::error::Error::source(trouble);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        if let Some(hint) = hint {
            message = format!("{message}; {hint}");
        }
        Self { class, repeatable, hint_ms: None, message }
    }
}

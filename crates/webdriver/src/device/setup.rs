//! The file that a person writes for an exploration: the steps of a set-up.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_agents::explore::SetupStep;
use serde::Deserialize;
use thiserror::Error;

/// Why the steps of a set-up cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetupError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its content is invalid.
    #[error("{}: {why}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

fn read(path: &Path) -> Result<String, SetupError> {
    fs::read_to_string(path).map_err(|source| SetupError::Read { path: path.into(), source })
}

/// Reads the steps of a set-up: a TOML file of `[[step]]`.
pub fn setup(path: &Path) -> Result<Vec<SetupStep>, SetupError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Steps {
        step: Vec<SetupStep>,
    }
    let bad = |why: String| SetupError::Content { path: path.into(), why };
    let steps: Steps = toml::from_str(&read(path)?).map_err(|error| bad(error.to_string()))?;
    if steps.step.is_empty() {
        return Err(bad("it has no `[[step]]`".into()));
    }
    Ok(steps.step)
}

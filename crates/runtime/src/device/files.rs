//! Files that a person writes for an exploration: capabilities and steps of a set-up.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_agents::explore::Preset;
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

/// Why a file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It does not say what it should.
    #[error("{}: {why}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

fn read(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(|source| FileError::Read { path: path.into(), source })
}

/// Reads the capabilities of a session: a JSON object, alone or under `capabilities`.
pub fn capabilities(path: &Path) -> Result<Map<String, Value>, FileError> {
    let bad = |why: String| FileError::Content { path: path.into(), why };
    let mut found: Value = serde_json::from_str(&read(path)?).map_err(|it| bad(it.to_string()))?;
    if let Some(inside) = found.get_mut("capabilities").map(Value::take) {
        found = inside;
    }
    match found {
        Value::Object(capabilities) => Ok(capabilities),
        _ => Err(bad("capabilities are a JSON object".into())),
    }
}

/// Reads the steps of a set-up: a TOML file of `[[step]]`.
pub fn setup(path: &Path) -> Result<Vec<Preset>, FileError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Steps {
        step: Vec<Preset>,
    }
    let bad = |why: String| FileError::Content { path: path.into(), why };
    let steps: Steps = toml::from_str(&read(path)?).map_err(|error| bad(error.to_string()))?;
    if steps.step.is_empty() {
        return Err(bad("it has no `[[step]]`".into()));
    }
    Ok(steps.step)
}

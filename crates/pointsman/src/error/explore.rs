//! Why an exploration cannot begin, and what to do about it.

use std::path::PathBuf;

use pointsman_runtime::device::{CapsError, RecordingError, SetupError, hierarchy::HierarchyError};
use thiserror::Error;

/// Why an app cannot be explored, or a screen not read.
#[derive(Debug, Error)]
pub(crate) enum ExploreError {
    /// There is no device.
    #[error("an exploration needs a device, or a recording of one")]
    NoDevice,
    /// The app to explore is not named.
    #[error("no app is named: neither by `--package` nor by the capabilities")]
    NoApp,
    /// An option that only explorations take.
    #[error("`{agent}` does not explore an app: `{option}` is for `explore`")]
    OnlyDevices {
        /// The agent.
        agent: String,
        /// The option.
        option: &'static str,
    },
    /// A recording cannot be played.
    #[error(transparent)]
    Recording(RecordingError),
    /// The steps of a set-up cannot be read.
    #[error(transparent)]
    Setup(SetupError),
    /// Capabilities cannot be read.
    #[error(transparent)]
    Capabilities(CapsError),
    /// A file is not a UI hierarchy.
    #[error("{}: {source}", path.display())]
    Hierarchy {
        /// The file.
        path: PathBuf,
        /// Why.
        source: HierarchyError,
    },
}

impl ExploreError {
    /// Returns what to do about it.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::NoDevice => {
                "start Appium and write `--appium http://127.0.0.1:4723 --caps FILE`, or \
                 `--app-graph FILE` for a recording; `pointsman doctor` says what is missing"
                    .into()
            }
            Self::NoApp => {
                "write `--package NAME`, or set `appium:appPackage` or `appium:bundleId` in \
                 the capabilities"
                    .into()
            }
            Self::OnlyDevices { option, .. } => format!("leave `{option}` out, or run `explore`"),
            Self::Recording(_) => "docs/explore.md describes recordings".into(),
            Self::Setup(_) => {
                "write `[[step]]`, and below it `act = \"tap\"` and `label = \"Log in\"`; \
                 docs/explore.md has an example"
                    .into()
            }
            Self::Capabilities(error) => error.hint().into(),
            Self::Hierarchy { .. } => {
                "give a file that `adb shell uiautomator dump` or Appium's page \
                 source wrote"
                    .into()
            }
        }
    }
}

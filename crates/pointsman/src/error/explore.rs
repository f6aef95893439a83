//! Why an exploration cannot begin, and what to do about it.

use std::path::PathBuf;

use pointsman_webdriver::{
    device::{CapsError, DeviceError, RecordingError, SetupError, hierarchy::HierarchyError},
    reproduce::ReproduceError,
};
use thiserror::Error;

/// Why an app cannot be explored, or a screen not read.
#[derive(Debug, Error)]
pub(crate) enum ExploreError {
    /// The device is missing.
    #[error("an exploration needs a device or a recording")]
    NoDevice,
    /// The app to explore is not named.
    #[error("neither `--package` nor the capabilities name an app")]
    NoApp,
    /// An option that only explorations take.
    #[error("`{option}` is only for `explore`, not for `{agent}`")]
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
    /// The address of the server is none.
    #[error(transparent)]
    Address(DeviceError),
    /// The run did not explore an app.
    #[error("run {run} is not an exploration but a run of `{agent}`")]
    NotExploration {
        /// The run.
        run: String,
        /// Its agent.
        agent: String,
    },
    /// The run saw nothing that could be compared.
    #[error("run {run} saw no screen{}", why.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    NothingSeen {
        /// The run.
        run: String,
        /// Why it stopped.
        why: Option<String>,
    },
    /// Two runs explored different apps.
    #[error("the runs explored different apps: {one} and {two}")]
    OtherApp {
        /// The app of the first run.
        one: String,
        /// The app of the second run.
        two: String,
    },
    /// A picture in a language that has no word for it.
    #[error("{what} cannot be drawn as `{format}`")]
    NoFormat {
        /// What should be drawn.
        what: &'static str,
        /// The language.
        format: &'static str,
        /// The formats that can be used.
        instead: &'static str,
    },
    /// What went wrong cannot be made to happen again.
    #[error(transparent)]
    Reproduce(ReproduceError),
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
                "start Appium and use `--appium http://127.0.0.1:4723 --caps FILE`, or `--app-graph FILE` for a recording; `pointsman doctor` reports what is missing"
                    .into()
            }
            Self::NoApp => {
                "write `--package NAME`, or set `appium:appPackage` or `appium:bundleId` in \
                 the capabilities"
                    .into()
            }
            Self::OnlyDevices { option, .. } => format!("leave `{option}` out, or run `explore`"),
            Self::NotExploration { .. } => {
                "`pointsman runs` lists the runs; `pointsman run explore` explores an app".into()
            }
            Self::NothingSeen { .. } => "explore again, and compare with that run".into(),
            Self::OtherApp { .. } => "name two explorations of the same app".into(),
            Self::NoFormat { instead, .. } => format!("use `--format` with one of: {instead}"),
            Self::Reproduce(_) => {
                "connect the device, or restore the recording; `pointsman doctor` reports what is missing"
                    .into()
            }
            Self::Recording(_) => "docs/explore.md describes recordings".into(),
            Self::Setup(_) => {
                "write `[[step]]`, and below it `act = \"tap\"` and `label = \"Log in\"`; \
                 docs/explore.md has an example"
                    .into()
            }
            Self::Capabilities(error) => error.hint().into(),
            Self::Address(_) => "give the server's address with `--appium`".into(),
            Self::Hierarchy { .. } => {
                "give a file with the output of `adb shell uiautomator dump`, or with Appium's \
                 page source"
                    .into()
            }
        }
    }
}

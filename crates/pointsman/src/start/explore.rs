//! An exploration: its options, and the configuration of its run.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use pointsman_agents::explore::{App, DeviceLocation, ExploreConfig, PermissionPolicy, Policy};
use pointsman_webdriver::device::{self, Appium, AppiumSettings, Recording};
use serde_json::{Map, Value, json};

use super::take_text;
use crate::error::ExploreError;

/// Options of `explore`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ExploreArgs {
    /// The address of a running Appium server.
    #[arg(long, value_name = "URL", help_heading = "Exploring", conflicts_with = "app_graph")]
    appium: Option<String>,
    /// The session's capabilities: a JSON file, read when the session opens. The journal keeps
    /// none of its values.
    #[arg(long, value_name = "FILE", help_heading = "Exploring", conflicts_with = "app_graph")]
    caps: Option<PathBuf>,
    /// Explore a recorded app instead of a device.
    #[arg(long, value_name = "FILE", help_heading = "Exploring")]
    app_graph: Option<PathBuf>,
    /// The app: its package, bundle identifier or web address
    /// [default: from the capabilities].
    #[arg(long, value_name = "NAME", help_heading = "Exploring", conflicts_with = "app_graph")]
    package: Option<String>,
    /// Install the app from this file if the app is missing, or older than `--app-version`.
    #[arg(long, value_name = "FILE", help_heading = "Exploring", conflicts_with = "app_graph")]
    app: Option<PathBuf>,
    /// The minimum version code.
    #[arg(long, value_name = "N", help_heading = "Exploring", conflicts_with = "app_graph")]
    app_version: Option<u64>,
    /// The search policy [default: auto].
    #[arg(long, value_name = "POLICY", help_heading = "Exploring")]
    policy: Option<Search>,
    /// What to look for with the policy `goal-oriented`; the same as GOAL.
    #[arg(long = "goal", value_name = "TEXT", help_heading = "Exploring")]
    aim: Option<String>,
    /// Steps to take before exploring and after every restart: a TOML file of `[[step]]`.
    #[arg(long, value_name = "FILE", help_heading = "Exploring")]
    setup: Option<PathBuf>,
    /// Continue until the budget is used up, even when every action has been tried.
    #[arg(long, help_heading = "Exploring")]
    exhaust: bool,
    /// What to do when the system asks for a permission [default: explore].
    #[arg(long, value_name = "WHAT", help_heading = "Exploring")]
    permissions: Option<Asked>,
}

/// How to search.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Search {
    /// Start with max-coverage; switch to the next policy when nothing new appears.
    Auto,
    /// Finish the shallowest screen first.
    Bfs,
    /// Continue from the newest screen, and go back when it is finished.
    Dfs,
    /// Prefer the untried action most likely to show something new, relative to the cost of
    /// reaching it.
    MaxCoverage,
    /// Stay within an activity until it is finished.
    Focused,
    /// Prefer actions that share words with the goal.
    GoalOriented,
}

/// What to do when the system asks for a permission.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Asked {
    /// Allow it.
    Allow,
    /// Deny it.
    Deny,
    /// Try both, as on any other screen.
    Explore,
}

/// An exploration to run.
#[derive(Debug)]
pub(crate) struct ExplorationPlan {
    /// The agent's configuration.
    pub(crate) config: Value,
    /// The same for people, as lines of a name and a text.
    pub(crate) told: Vec<(&'static str, String)>,
}

impl ExploreArgs {
    /// Takes the device from a configuration: `app_graph`, or `appium` and `caps`, and `package`.
    pub(crate) fn take(config: &mut Map<String, Value>) -> Self {
        let mut text = |key: &str| take_text(config, key);
        Self {
            app_graph: text("app_graph").map(PathBuf::from),
            appium: text("appium"),
            caps: text("caps").map(PathBuf::from),
            package: text("package"),
            ..Self::default()
        }
    }

    /// Returns the option that was given, if there is one: no other agent takes it.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--appium", self.appium.is_some()),
            ("--caps", self.caps.is_some()),
            ("--app-graph", self.app_graph.is_some()),
            ("--package", self.package.is_some()),
            ("--app", self.app.is_some()),
            ("--app-version", self.app_version.is_some()),
            ("--policy", self.policy.is_some()),
            ("--goal", self.aim.is_some()),
            ("--setup", self.setup.is_some()),
            ("--exhaust", self.exhaust),
            ("--permissions", self.permissions.is_some()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// Plans an exploration: looks whether what it needs can be read.
    pub(crate) fn trip(
        &self,
        goal: Option<&str>,
        asks: bool,
        seed: u64,
        url: Option<&str>,
    ) -> Result<ExplorationPlan, ExploreError> {
        let (package, place, device) = match &self.app_graph {
            Some(file) => {
                let file = fs::canonicalize(file).unwrap_or_else(|_| file.clone());
                let recording =
                    Recording::open(&file, seed, None).map_err(ExploreError::Recording)?;
                let told = format!("a recording of {}: {}", recording.app(), file.display());
                let file = file.display().to_string();
                let place = DeviceLocation { recording: Some(file), ..DeviceLocation::default() };
                (recording.package().to_owned(), place, told)
            }
            None => self.device(url)?,
        };
        let setup = match &self.setup {
            Some(path) => device::setup(path).map_err(ExploreError::Setup)?,
            None => Vec::new(),
        };
        let app = App {
            package,
            install_from: self.app.as_deref().map(absolute),
            version: self.app_version,
            ..App::default()
        };
        let goal = goal.or(self.aim.as_deref()).unwrap_or_default().to_owned();
        let policy = self.policy.and_then(Search::policy);
        let told = vec![
            ("app", app.package.clone()),
            ("device", device),
            ("policy", policy.map_or("auto", Policy::name).to_owned()),
        ];
        let permissions = match self.permissions {
            Some(Asked::Allow) => PermissionPolicy::Allow,
            Some(Asked::Deny) => PermissionPolicy::Deny,
            Some(Asked::Explore) | None => PermissionPolicy::Explore,
        };
        let (exhaust, ask_model) = (self.exhaust, asks);
        let config = ExploreConfig {
            app,
            goal,
            ask_model,
            policy,
            permissions,
            setup,
            exhaust,
            seed,
            device: place,
            ..ExploreConfig::default()
        };
        Ok(ExplorationPlan { config: json!(config), told })
    }

    /// Returns the package, where it is explored, and the same for people.
    fn device(&self, url: Option<&str>) -> Result<(String, DeviceLocation, String), ExploreError> {
        let url = self.appium.as_deref().or(url).ok_or(ExploreError::NoDevice)?;
        let caps = self.caps.as_deref().ok_or(ExploreError::NoDevice)?;
        let settings = AppiumSettings::read(url, caps).map_err(ExploreError::Capabilities)?;
        let package = self.package.clone().or_else(|| settings.app()).ok_or(ExploreError::NoApp)?;
        // Nothing is sent yet; an address that cannot be one is refused before a run begins.
        Appium::new(settings).map_err(ExploreError::Address)?;
        let place = DeviceLocation {
            appium: Some(url.to_owned()),
            capabilities: Some(absolute(caps)),
            ..DeviceLocation::default()
        };
        Ok((package, place, format!("Appium at {url}")))
    }
}

impl Search {
    const fn policy(self) -> Option<Policy> {
        match self {
            Self::Auto => None,
            Self::Bfs => Some(Policy::BreadthFirst),
            Self::Dfs => Some(Policy::DepthFirst),
            Self::MaxCoverage => Some(Policy::MaxCoverage),
            Self::Focused => Some(Policy::Focused),
            Self::GoalOriented => Some(Policy::GoalOriented),
        }
    }
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

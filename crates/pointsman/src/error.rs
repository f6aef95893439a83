//! What can go wrong on the command line, its exit code, and what to do next.

use std::{io, path::PathBuf};

use pointsman_kernel::chart::Refused;
use pointsman_runtime::{
    acp::AcpError,
    browser::{AddressError, BrowserError},
    config::ConfigError,
    driver::DriveError,
    host::HostError,
    mcp::McpError,
    model::ModelError,
    plan::PlanError,
    profile::ProfileError,
    session::SessionError,
    store::{ExportError, StoreError},
    tool::ToolError,
};
use thiserror::Error;

use crate::chart::Source;

const FOLDER: &str = "`--dir` names the folder to work in";

/// What can go wrong on the command line.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// What is named is neither a page nor a file.
    #[error(transparent)]
    Page(AddressError),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file is in the way.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// The option that replaces it, if there is one.
        unless: Option<&'static str>,
    },
    /// A file is not UTF-8.
    #[error("{path} is not a text file")]
    NotText {
        /// The file.
        path: String,
    },
    /// Neither a file nor a shipped agent.
    #[error("no chart is called `{name}`")]
    NoSuchChart {
        /// What was asked for.
        name: String,
    },
    /// No such code.
    #[error("no code is called `{code}`")]
    NoSuchCode {
        /// What was asked for.
        code: String,
    },
    /// The agent cannot be run yet.
    #[error("`{agent}` cannot be run yet: it needs {missing}")]
    NotYet {
        /// The agent.
        agent: String,
        /// What it lacks.
        missing: &'static str,
    },
    /// The agent needs a goal.
    #[error("`{agent}` needs a goal")]
    NoGoal {
        /// The agent.
        agent: String,
    },
    /// The goal is given twice, or in the wrong place.
    #[error("the goal is not set with `--set goal=…`")]
    GoalSet {
        /// The agent.
        agent: String,
    },
    /// There is no conversation.
    #[error("there is no conversation yet")]
    NoTalks,
    /// The run is no conversation.
    #[error("run {run} is no conversation: it is a run of `{agent}`")]
    NoTalker {
        /// The run.
        run: String,
        /// Its agent.
        agent: String,
    },
    /// A plan cannot be used.
    #[error(transparent)]
    Plan(PlanError),
    /// A form needs an address.
    #[error("`form` needs the page that the form is on")]
    NoUrl,
    /// A form needs a profile.
    #[error("`form` needs a profile to fill the form with")]
    NoProfile,
    /// A profile cannot be used.
    #[error(transparent)]
    Profile(ProfileError),
    /// Only `form` takes the option.
    #[error("`{agent}` takes no `{option}`")]
    OnlyForms {
        /// The agent.
        agent: String,
        /// The option.
        option: &'static str,
    },
    /// Only `code` has a plan.
    #[error("`{agent}` takes no plan")]
    NoPlan {
        /// The agent.
        agent: String,
    },
    /// There is no place for journals.
    #[error("neither HOME nor POINTSMAN_JOURNAL is set, so there is no place for journals")]
    NoHome,
    /// No run is meant by this.
    #[error("no run begins with `{typed}`")]
    NoSuchRun {
        /// What was typed.
        typed: String,
        /// Whether there are no runs at all.
        none: bool,
    },
    /// More than one run could be meant.
    #[error("{} runs begin with `{typed}`", ids.len())]
    SeveralRuns {
        /// What was typed.
        typed: String,
        /// The runs.
        ids: Vec<String>,
    },
    /// The run asks nothing.
    #[error("run {run} asks nothing")]
    AsksNothing {
        /// The run.
        run: String,
    },
    /// The run has no such question.
    #[error("run {run} has no open question `{question}`")]
    NoSuchQuestion {
        /// The run.
        run: String,
        /// What was asked for.
        question: String,
        /// The open ones.
        open: Vec<String>,
    },
    /// The run has ended.
    #[error("run {run} has ended already: {how}")]
    HasEnded {
        /// The run.
        run: String,
        /// How.
        how: String,
    },
    /// The folder that a run works in is not there.
    #[error("run {run} works in {}, and that folder is gone", dir.display())]
    NoFolder {
        /// The run.
        run: String,
        /// The folder.
        dir: PathBuf,
    },
    /// A conversation is held somewhere else.
    #[error("run {run} works in {}, and this conversation elsewhere", dir.display())]
    Elsewhere {
        /// The run.
        run: String,
        /// The folder.
        dir: PathBuf,
    },
    /// Nothing says which runs are to go.
    #[error("nothing says which runs are to go")]
    PruneWhich,
    /// An MCP server is approved, and none are listed.
    #[error("there is no .mcp.json in {}, so there is no server `{name}`", dir.display())]
    NoServers {
        /// The server.
        name: String,
        /// The folder.
        dir: PathBuf,
    },
    /// The log's filter makes no sense.
    #[error("`{filter}` says nothing about what to log: {why}")]
    LogFilter {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        why: String,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(ConfigError),
    /// The model cannot be asked.
    #[error(transparent)]
    Model(ModelError),
    /// The tools cannot be used.
    #[error(transparent)]
    Tools(ToolError),
    /// The MCP servers cannot be read.
    #[error(transparent)]
    Mcp(McpError),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// An export cannot be written or read.
    #[error(transparent)]
    Export(ExportError),
    /// The chart in an export is refused by this build.
    #[error("this build refuses the chart in {path}: {why}")]
    ForeignChart {
        /// The export.
        path: String,
        /// What is wrong with the chart.
        why: Refused,
    },
    /// A replay did not come to the same.
    #[error(transparent)]
    Diverged(Box<Self>),
    /// A browser cannot do what is wanted.
    #[error(transparent)]
    Browser(BrowserError),
    /// An editor cannot be served.
    #[error(transparent)]
    Acp(AcpError),
    /// A run cannot be begun, driven or recalled.
    #[error(transparent)]
    Session(SessionError),
    /// The chart was refused.
    #[error("{} was refused", chart.name)]
    Refused {
        /// The chart's text.
        chart: Source,
        /// Why.
        refused: Refused,
    },
}

impl Error {
    /// Returns the exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Refused { .. } => 8,
            Self::ForeignChart { .. }
            | Self::Export(ExportError::Damaged { .. } | ExportError::TooNew { .. })
            | Self::Session(SessionError::Drive(DriveError::Diverged { .. })) => 9,
            Self::Diverged(inner) => match **inner {
                // What cannot be read is not the same; what cannot be reached is a fault.
                Self::Session(
                    SessionError::Store(StoreError::Damaged { .. } | StoreError::Tables { .. } | StoreError::Behind { .. })
                    | SessionError::Chart { .. },
                ) => 9,
                _ => inner.exit_code(),
            },
            Self::Session(
                SessionError::Drive(DriveError::NotBegun(_))
                | SessionError::Host(_)
                | SessionError::NoSuchEntry { .. }
                | SessionError::ForkOfTheEnd { .. }
                | SessionError::Store(StoreError::NoSuchRun { .. }),
            )
            | Self::Store(StoreError::NoSuchRun { .. })
            // A machine without a browser is not set up; a page that fails is a failure.
            | Self::Browser(
                BrowserError::Missing { .. }
                | BrowserError::Start { .. }
                | BrowserError::Folder { .. }
                | BrowserError::NotReady { .. },
            ) => 2,
            Self::Browser(BrowserError::Interrupted) => 6,
            Self::Acp(_) | Self::Browser(_) => 1,
            Self::Store(_) | Self::Session(_) | Self::Export(_) => 10,
            _ => 2,
        }
    }

    /// Returns what to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exists { unless: Some(option), .. } => {
                format!("give another name, or `{option}` to replace it")
            }
            Self::Exists { unless: None, .. } => "give another name".into(),
            Self::NotText { .. } => "charts are TOML files in UTF-8".into(),
            Self::NoSuchChart { .. } => {
                let names: Vec<&str> =
                    pointsman_agents::CHARTS.iter().map(|(name, _)| *name).collect();
                format!("give a file, or one of: {}", names.join(", "))
            }
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "look at its name, and at the folder that you are in".into()
            }
            Self::NoSuchCode { .. } => "`pointsman explain` lists them all".into(),
            Self::NotYet { .. } => {
                "so far `chat`, `code`, `research`, `form` and charts with `jobs = \"builtin\"` can \
                 be run"
                    .into()
            }
            Self::NoGoal { agent } | Self::GoalSet { agent } => format!("write `pointsman run {agent} \"GOAL\"`"),
            Self::NoTalks => "begin one: `pointsman chat`".into(),
            Self::NoTalker { run, .. } => format!("`pointsman resume {run}` goes on with it"),
            Self::Plan(error) => error.hint().into(),
            Self::NoUrl => "write `pointsman run form --url URL --profile FILE`".into(),
            Self::NoProfile => "give `--profile FILE`, or set `profile` in `[form]` of your settings; \
                 `pointsman profile example` prints one to start from"
                .into(),
            Self::Profile(error) => return error.hint().map(Into::into),
            Self::OnlyForms { option, .. } => format!("leave `{option}` out, or run `form`"),
            Self::NoPlan { .. } => "leave `--plan` out, or run `code`".into(),
            Self::NoHome => "set POINTSMAN_JOURNAL to a file".into(),
            Self::NoSuchRun { none: true, .. } => {
                "there are no runs yet: `pointsman run research \"QUESTION\"` makes one".into()
            }
            Self::NoSuchRun { .. } => "`pointsman runs` lists them".into(),
            Self::SeveralRuns { ids, .. } => {
                let few: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
                format!("type more of it: {}", few.join(", "))
            }
            Self::AsksNothing { run } => format!("`pointsman show {run}` tells where it is"),
            Self::NoSuchQuestion { open, .. } if open.is_empty() => "it asks nothing".into(),
            Self::NoSuchQuestion { open, .. } => format!("it asks: {}", open.join(", ")),
            Self::HasEnded { run, .. } => {
                format!("`pointsman fork {run}` makes a new run out of it")
            }
            Self::NoFolder { .. } => "name the folder to go on in with `--dir`".into(),
            Self::Elsewhere { run, .. } => {
                format!("leave, and write `pointsman chat --resume {run}`")
            }
            Self::PruneWhich => "give `--older-than 30d` or `--keep 100`".into(),
            Self::NoServers { .. } => "list your servers in `.mcp.json`, or give `--dir`".into(),
            Self::LogFilter { .. } => {
                "write error, warn, info, debug or trace, or `pointsman_runtime=debug`".into()
            }
            Self::ForeignChart { .. } => "replay it with the build that wrote it".into(),
            Self::Page(error) => error.hint(),
            Self::Browser(error) => return error.hint().map(Into::into),
            Self::Tools(ToolError::Root { .. }) => FOLDER.into(),
            Self::Model(error) => error.hint(),
            Self::Mcp(error) => return error.hint(),
            Self::Store(error) => return error.hint(),
            Self::Diverged(inner) => return inner.hint(),
            Self::Session(error) => return session_hint(error),
            _ => return None,
        })
    }
}

fn session_hint(error: &SessionError) -> Option<String> {
    match error {
        SessionError::Drive(DriveError::Diverged { source, .. }) => {
            Some(format!("{source}; replay with the build that wrote the journal"))
        }
        SessionError::Drive(DriveError::NotBegun(_)) => {
            Some("look at the goal and at what `--set` says".into())
        }
        SessionError::Drive(DriveError::Store(error)) | SessionError::Store(error) => error.hint(),
        SessionError::Host(HostError::Model(error)) => Some(error.hint()),
        SessionError::ForkOfTheEnd { last, .. } if last.0 > 0 => {
            Some(format!("give `--at {}` or less", last.0))
        }
        SessionError::Host(HostError::NoSuchTool { .. }) => {
            Some("name tools that are there, or leave `--set tools=…` out".into())
        }
        SessionError::Host(HostError::Tools(ToolError::Root { .. })) => Some(FOLDER.into()),
        SessionError::NoSuchEntry { run, .. } => {
            Some(format!("`pointsman show {run}` lists its entries"))
        }
        SessionError::Chart { .. } => Some("use the build that began the run".into()),
        SessionError::Held { run } => Some(format!("`pointsman cancel {run}` stops it")),
        _ => None,
    }
}

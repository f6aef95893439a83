//! What can go wrong on the command line, and its exit code.

mod explore;
mod hint;
mod serve;

use std::{io, path::PathBuf};

use pointsman_kernel::chart::{BadMaximum, RefusedChart};
use pointsman_runtime::{
    config::ConfigError,
    driver::DriveError,
    mcp::McpError,
    model::ModelError,
    plan::PlanError,
    session::SessionError,
    store::{ExportError, RunId, StoreError},
    tool::ToolError,
};
use pointsman_webdriver::{
    browser::{AddressError, BrowserError},
    profile::ProfileError,
};
use thiserror::Error;

use crate::{acp::AcpError, chart::Source, tokens::TokenError};
pub(crate) use explore::ExploreError;
pub(crate) use serve::ServeError;

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
    /// The name is neither a page nor a file.
    #[error(transparent)]
    Page(AddressError),
    /// A page has no field at a selector.
    #[error("the page has no field `{0}`")]
    NoField(String),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file is in the way.
    #[error("{} already exists", path.display())]
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
        /// The requested name.
        name: String,
    },
    /// A request that names both an agent and a chart, or neither.
    #[error("the request must name either an agent or a chart")]
    AgentOrChart,
    /// Several runs cannot be driven by one command.
    #[error("a command can drive only one run")]
    NoQueue,
    /// An option of a run that the command drives, for one that it leaves to others.
    #[error("`{option}` applies only to a run that this command drives")]
    NotForWorkers {
        /// The option.
        option: &'static str,
    },
    /// A child is driven with its parent, and is never queued.
    #[error("run {run} is a child of run {parent} and cannot be queued by itself")]
    QueuedChild {
        /// The run.
        run: String,
        /// Its parent.
        parent: String,
    },
    /// A text that is not a time.
    #[error("`{text}` is not a valid duration")]
    Time {
        /// The text.
        text: String,
    },
    /// A line of a file of requests that is refused.
    #[error("invalid request in line {number} of {}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A goal of several words, each a separate argument.
    #[error("the goal must be one argument")]
    Unquoted {
        /// The agent.
        agent: String,
        /// All of the goal.
        goal: String,
    },
    /// The file is not an export.
    #[error("{path} is not an exported run")]
    NotExport {
        /// The file.
        path: String,
    },
    /// No such code.
    #[error("no error code is called `{code}`")]
    NoSuchCode {
        /// The requested code.
        code: String,
    },
    /// The agent needs a goal.
    #[error("`{agent}` needs a goal")]
    NoGoal {
        /// The agent.
        agent: String,
    },
    /// A limit cannot be set so.
    #[error(transparent)]
    Budget(BadMaximum),
    /// `--set` names a slot that the chart does not have.
    #[error("`{agent}` has no slot `{key}`")]
    NoSuchSlot {
        /// The chart.
        agent: String,
        /// The slot.
        key: String,
        /// What to do next.
        hint: String,
    },
    /// The goal is given twice, or in the wrong place.
    #[error("`--set goal=…` does not set the goal")]
    GoalSet {
        /// The agent.
        agent: String,
    },
    /// There are no conversations.
    #[error("there are no conversations yet")]
    NoTalks,
    /// There are no conversations in the folder.
    #[error("no conversation with `{agent}` in {}", dir.display())]
    NoTalksHere {
        /// The agent.
        agent: String,
        /// The folder.
        dir: PathBuf,
    },
    /// No run of the folder can be resumed.
    #[error("no run in {} can be resumed", dir.display())]
    NoneHere {
        /// The folder.
        dir: PathBuf,
    },
    /// More is piped in than is taken.
    #[error("standard input has more than {most} bytes")]
    PipeLong {
        /// The bytes that are taken.
        most: u64,
    },
    /// Standard input does not end.
    #[error("standard input did not end within {waited}")]
    PipeOpen {
        /// How long it was read.
        waited: String,
    },
    /// There is nothing to say.
    #[error("the message is empty")]
    NothingToSay,
    /// There is no terminal to draw on.
    #[error("`pointsman watch` needs a terminal for input and output")]
    NoTerminal,
    /// The run is not a conversation.
    #[error("run {run} is not a conversation but a run of `{agent}`")]
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
    #[error("`form` needs the address of a page")]
    NoUrl,
    /// An exploration cannot begin.
    #[error(transparent)]
    Explore(ExploreError),
    /// The server cannot start.
    #[error(transparent)]
    Serve(ServeError),
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
    /// There is no location for journals.
    #[error("neither HOME nor POINTSMAN_JOURNAL is set, so the journal has no location")]
    NoHome,
    /// A command needs a database, and none is named.
    #[error("no PostgreSQL database is given")]
    NoDatabase,
    /// No run is meant by this.
    #[error("no run id begins with `{typed}`")]
    NoSuchRun {
        /// What was typed.
        typed: String,
        /// Whether there are no runs at all.
        none: bool,
    },
    /// More than one run could be meant.
    #[error("{} run ids begin with `{typed}`", ids.len())]
    SeveralRuns {
        /// What was typed.
        typed: String,
        /// The runs.
        ids: Vec<String>,
    },
    /// The run has no open question.
    #[error("run {run} has no open question")]
    AsksNothing {
        /// The run.
        run: String,
    },
    /// The question was not answered in time.
    #[error("too late: question {question} of run {run} expired {late} ago")]
    TooLate {
        /// The run.
        run: String,
        /// The question.
        question: String,
        /// How long ago.
        late: String,
    },
    /// The process that drives the run has thrown the message away.
    #[error("run {run} ignored the message: {why}")]
    Ignored {
        /// The run.
        run: String,
        /// Why.
        why: String,
    },
    /// The run has no such question.
    #[error("run {run} has no open question `{question}`")]
    NoSuchQuestion {
        /// The run.
        run: String,
        /// The requested question.
        question: String,
        /// The open ones.
        open: Vec<String>,
    },
    /// No rule is meant by this.
    #[error("question {question} offers no rule `{wanted}`")]
    NoRule {
        /// The question.
        question: String,
        /// The requested rule.
        wanted: String,
        /// The rules that there are.
        offered: Vec<String>,
    },
    /// The run has ended.
    #[error("run {run} has already ended: {how}")]
    HasEnded {
        /// The run.
        run: String,
        /// How.
        how: String,
    },
    /// The folder that a run works in is not there.
    #[error("run {run} works in {}, which no longer exists", dir.display())]
    NoFolder {
        /// The run.
        run: String,
        /// The folder.
        dir: PathBuf,
    },
    /// A conversation is held somewhere else.
    #[error("run {run} belongs to {}; this conversation uses another folder", dir.display())]
    Elsewhere {
        /// The run.
        run: String,
        /// The folder.
        dir: PathBuf,
    },
    /// No option selects the runs to remove.
    #[error("specify which runs to remove")]
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
    #[error("invalid log filter `{filter}`: {why}")]
    LogFilter {
        /// The filter.
        filter: String,
        /// The reason.
        why: String,
    },
    /// The log has no such format.
    #[error("POINTSMAN_LOG_FORMAT has the invalid value `{format}`")]
    LogFormat {
        /// The format.
        format: String,
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
        /// The reason.
        why: RefusedChart,
    },
    /// A replay did not come to the same.
    #[error(transparent)]
    Diverged(Box<Self>),
    /// The browser failed.
    #[error(transparent)]
    Browser(BrowserError),
    /// Tokens cannot be read or changed.
    #[error(transparent)]
    Token(TokenError),
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
        refused: RefusedChart,
    },
}

impl Error {
    /// Returns why a run cannot be queued, if it is a child.
    pub(crate) fn of_child(run: &RunId) -> Option<Self> {
        let (parent, _) = run.as_str().split_once('-')?;
        Some(Self::QueuedChild { run: run.to_string(), parent: parent.into() })
    }

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
                SessionError::Drive(
                    DriveError::NotBegun(_)
                    | DriveError::NotGranted { .. }
                    | DriveError::Store(StoreError::Nul { .. }),
                )
                | SessionError::Executor(_)
                | SessionError::NoSuchEntry { .. }
                | SessionError::ForkOfTheEnd { .. }
                // The store is fine: another command is needed.
                | SessionError::Held { .. }
                | SessionError::Store(StoreError::NoSuchRun { .. } | StoreError::Nul { .. }),
            )
            | Self::Store(StoreError::NoSuchRun { .. } | StoreError::Nul { .. })
            // A machine without a browser is not set up; a page that fails is a failure.
            | Self::Browser(
                BrowserError::Missing { .. }
                | BrowserError::Start { .. }
                | BrowserError::Folder { .. }
                | BrowserError::NotReady { .. },
            ) => 2,
            // The same code as for a run that ended with an empty budget.
            Self::Session(SessionError::Drive(DriveError::Short { .. })) => 4,
            Self::Browser(BrowserError::Interrupted) => 6,
            Self::Acp(_) | Self::Browser(_) => 1,
            Self::Store(_) | Self::Session(_) | Self::Export(_) => 10,
            _ => 2,
        }
    }
}

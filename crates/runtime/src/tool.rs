//! Tools: what a run may do to the world, each confined to its workspace.
//!
//! A call's arguments are checked against the tool's schema before anything runs, and
//! whatever goes wrong is a result that a model can read. Files are reached through
//! [`folder`], commands run in a [`sandbox`].

mod contract;
mod describe;
mod edit;
mod files;
pub mod folder;
pub mod fts;
mod fts_search;
mod git;
mod grant;
mod http;
mod ignored;
mod limits;
mod list;
mod own;
pub(crate) mod plan;
mod precheck;
mod process;
mod read;
mod repositories;
pub mod sandbox;
mod schema;
mod search;
mod shared;
mod shell;
mod text;
mod toolchains;
mod veil;
mod watched;
mod write;

use std::{
    fmt::Display,
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pointsman_kernel::{
    agent::{Answer, FaultClass, ToolCall, ToolResult},
    governor::Permissions,
    tool::ToolDecl,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

pub use contract::{Answering, Arguments, Calling, FileChange, Tool, ToolKind, Toolbox};
pub use describe::{Now, View};
pub use git::Author;
pub(crate) use git::{TRAILER, unfiltered};
pub use limits::Limits;
pub(crate) use repositories::NOTICE;
pub use repositories::Recorded;
pub use sandbox::SandboxPolicy;
pub use toolchains::ToolchainTrial;

use crate::perform::{Done, Errand, Shown};
pub(crate) use files::digest;
use folder::{Folder, FolderError};
use repositories::Repositories;
use schema::Offer;
use shared::{Shared, Stop};

/// Bytes of the lines below a file's own: where to go on, and its digest.
const SLACK: usize = 200;

/// A tool as models are told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: Box<str>,
    /// What it does, in a sentence or two.
    pub about: Box<str>,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
}

/// What the tools work on, and how far they go.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The workspace.
    pub root: PathBuf,
    /// The file of the search index; it may be deleted.
    pub index: PathBuf,
    /// How much a call may take and say.
    pub limits: Limits,
    /// What commands may reach.
    pub sandbox: SandboxPolicy,
    /// Whether `http_get` may ask this machine and its own network.
    pub http_private: bool,
    /// Who commits where the repository does not say.
    pub author: Author,
    /// The tools: those that ship, and more.
    pub toolbox: Toolbox,
}

impl Settings {
    /// Returns the usual settings over a folder.
    pub fn over(root: impl Into<PathBuf>, index: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            index: index.into(),
            limits: Limits::default(),
            sandbox: SandboxPolicy::default(),
            http_private: false,
            author: Author::default(),
            toolbox: Toolbox::default(),
        }
    }
}

/// Why the tools cannot be used at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The workspace cannot be opened.
    #[error("the workspace {} cannot be opened: {source}", root.display())]
    Root {
        /// The workspace.
        root: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The search index cannot be used.
    #[error(transparent)]
    Index(#[from] fts::IndexError),
    /// A tool's own schema is wrong.
    #[error("a tool is described wrongly: {0}")]
    Schema(String),
}

/// The tools over one workspace, for runs that may do everything or for one under rules.
#[derive(Clone, Debug)]
pub struct Tools(Arc<Shared>, Arc<Permissions>, Arc<Offer>);

/// What a tool says.
#[derive(Debug)]
struct Said {
    ok: bool,
    output: String,
    mutated: bool,
    /// Whether the machine is short of something: no model can do anything about that.
    short: bool,
}

impl Said {
    /// It looked.
    fn yes(output: impl Into<String>) -> Self {
        Self { ok: true, output: output.into(), mutated: false, short: false }
    }

    /// It changed something.
    fn changed(output: impl Into<String>) -> Self {
        Self { ok: true, output: output.into(), mutated: true, short: false }
    }

    /// It could not write.
    fn unwritten(error: &FolderError) -> Self {
        Self { short: error.is_shortage(), ..Self::no(error) }
    }

    /// It did not do it.
    fn no(why: impl Display) -> Self {
        Self { ok: false, output: why.to_string(), mutated: false, short: false }
    }
}

impl Tools {
    /// Opens the tools over a workspace.
    pub fn open(settings: Settings) -> Result<Self, ToolError> {
        let folder = Folder::open(&settings.root)
            .map_err(|source| ToolError::Root { root: settings.root.clone(), source })?;
        let offer = Offer::of(settings.toolbox.clone(), &settings.limits);
        let offer = Arc::new(offer.map_err(ToolError::Schema)?);
        let index = Mutex::new(fts::Index::open(&settings.index)?);
        let (sandbox, policy, http) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let repositories = Repositories::default();
        let shared = Shared { settings, folder, index, sandbox, policy, repositories, http };
        Ok(Self(Arc::new(shared), Arc::new(Permissions::allow_all()), offer))
    }

    /// Returns the same with more tools; one of a known name takes its place.
    pub(crate) fn with(
        &self,
        more: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Result<Self, ToolError> {
        let offer = Offer::of(self.toolbox().with(more), self.limits());
        let offer = Arc::new(offer.map_err(ToolError::Schema)?);
        Ok(Self(Arc::clone(&self.0), Arc::clone(&self.1), offer))
    }

    /// Returns the same tools for a run with these permissions: `list`, `search` and
    /// `context.fts_search` do not show what a rule over paths keeps it from reading. What
    /// may be called at all is not decided here.
    #[must_use]
    pub fn under(&self, permissions: Arc<Permissions>) -> Self {
        Self(Arc::clone(&self.0), permissions, Arc::clone(&self.2))
    }

    /// Returns the tools.
    pub fn toolbox(&self) -> &Toolbox {
        &self.2.toolbox
    }

    /// Returns the workspace.
    pub fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// Returns how much a call may take and say.
    pub fn limits(&self) -> &Limits {
        self.0.limits()
    }

    /// Returns what models are told of each tool.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.2.specs.clone()
    }

    /// Returns the declarations of all tools that models can call.
    pub fn decls(&self) -> Vec<ToolDecl> {
        let told = |decl: &ToolDecl| self.2.specs.iter().any(|spec| spec.name == decl.name);
        self.toolbox().iter().map(|tool| tool.decl()).filter(told).collect()
    }

    /// Returns the name of the sandbox in use: `bubblewrap`, `landlock` or `none`. The
    /// first time it is asked, it is tried.
    pub fn tool_sandbox(&self) -> &str {
        self.0.sandbox().name()
    }

    /// Calls a tool. What it cannot do is a result that a model can read; dropping the
    /// future stops it. A call that may have been done already is looked for first.
    pub async fn call(&self, call: &ToolCall, errand: &Errand, shown: &Shown) -> Done {
        let (tool, arguments) = match self.2.check(call) {
            Ok(checked) => checked,
            Err(why) => return done(Said::no(why)),
        };
        if errand.again
            && let Some(done) = self.probe(call).await
            && matches!(done.answer, Answer::Tool(ToolResult { ok: true, .. }))
        {
            return done;
        }
        tool.call(Calling { tools: self, call, errand, shown }, arguments).await
    }

    /// Says what became of a call that was begun and never answered, where the world
    /// can tell.
    pub async fn probe(&self, call: &ToolCall) -> Option<Done> {
        let (tool, arguments) = self.2.check(call).ok()?;
        let (tool, tools) = (Arc::clone(tool), self.clone());
        let probed = tokio::task::spawn_blocking(move || tool.probe(&tools, &arguments));
        tokio::time::timeout(self.limits().look(), probed).await.ok()?.ok()?
    }

    /// Runs a command in the sandbox.
    async fn command(
        &self,
        limit: Duration,
        shown: &Shown,
        ready: impl FnOnce(&Shared) -> Result<sandbox::Confined, Said> + Send + 'static,
    ) -> Said {
        match self.ready(ready).await {
            Ok(confined) => {
                let bytes = self.0.settings.limits.output_bytes;
                shell::run(confined, limit, bytes, shown).await
            }
            Err(said) => said,
        }
    }

    /// Makes a command ready. The sandbox may have to be tried first, and the workspace
    /// is looked at: both wait, and neither for ever.
    async fn ready(
        &self,
        ready: impl FnOnce(&Shared) -> Result<sandbox::Confined, Said> + Send + 'static,
    ) -> Result<sandbox::Confined, Said> {
        let (on, limits) = (Arc::clone(&self.0), &self.0.settings.limits);
        let limit = limits.look().saturating_add(Duration::from_millis(limits.sandbox_ms));
        let made = tokio::task::spawn_blocking(move || ready(&on));
        match tokio::time::timeout(limit, made).await {
            Ok(Ok(made)) => made,
            Ok(Err(error)) => Err(Said::no(format!("the sandbox cannot be set up: {error}"))),
            Err(_) => {
                let ms = limit.as_millis();
                Err(Said::no(format!("the sandbox was not set up in {ms} ms; nothing was run")))
            }
        }
    }
}

impl<'a> Calling<'a> {
    /// Works on the one file that the call names, unless rules over paths cannot tell which file
    /// that is. What changes files may have done so even where it took too long.
    fn on_file<A: DeserializeOwned + Send + 'static>(
        self,
        arguments: Value,
        mutated: bool,
        work: impl FnOnce(&Tools, A, &dyn Fn() -> bool) -> Said + Send + 'static,
    ) -> Answering<'a> {
        let Self { tools, call, .. } = self;
        let decl = tools.toolbox().find(&call.tool).map(|tool| tool.decl());
        let why =
            arguments.get("path").and_then(Value::as_str).zip(decl).and_then(|(path, decl)| {
                veil::another_name(call, &decl, path, tools.folder(), &tools.1)
            });
        match why {
            Some(why) => Box::pin(std::future::ready(done(Said::no(why)))),
            None => self.blocking(arguments, mutated, work),
        }
    }

    /// Does what blocks, on a thread for it, until it is done or has taken too long.
    fn blocking<A: DeserializeOwned + Send + 'static>(
        self,
        arguments: Value,
        mutated: bool,
        work: impl FnOnce(&Tools, A, &dyn Fn() -> bool) -> Said + Send + 'static,
    ) -> Answering<'a> {
        Box::pin(async move {
            let arguments: A = match fitting(arguments) {
                Ok(arguments) => arguments,
                Err(done) => return done,
            };
            let tools = self.tools.clone();
            let stop = Stop(Arc::new(AtomicBool::new(false)));
            let stopped = Arc::clone(&stop.0);
            let working = tokio::task::spawn_blocking(move || {
                work(&tools, arguments, &|| !stopped.load(Ordering::Relaxed))
            });
            let limits = self.tools.limits();
            match tokio::time::timeout(limits.look(), working).await {
                Ok(Ok(mut said)) => {
                    // `read` cuts by lines, and says where to go on below them.
                    let slack = limits.output_bytes.saturating_add(SLACK);
                    if said.output.len() > slack {
                        said.output = limits::cut(&said.output, limits.output_bytes);
                    }
                    done(said)
                }
                Ok(Err(error)) => Done::fault(FaultClass::Other, true, &error.to_string()),
                Err(_) => {
                    let ms = limits.look_ms;
                    let output =
                        format!("it took longer than {ms} ms and was stopped; ask for less");
                    done(Said { mutated, ..Said::no(output) })
                }
            }
        })
    }
}

/// Reads arguments that fit the schema; numbers that no machine holds do not.
fn fitting<A: DeserializeOwned>(arguments: Value) -> Result<A, Done> {
    serde_json::from_value(arguments)
        .map_err(|error| done(Said::no(format!("the arguments do not fit: {error}"))))
}

fn done(Said { ok, output, mutated, short }: Said) -> Done {
    if short {
        return Done::fault(FaultClass::Resource, false, &output);
    }
    Done::result(ToolResult { ok, output, mutated })
}

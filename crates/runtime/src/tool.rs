//! Tools: what a run may do to the world, each confined to its workspace.
//!
//! A call's arguments are checked against the tool's schema before anything runs, and
//! whatever goes wrong is a result that a model can read. Files are reached through
//! [`folder`], commands run in a [`sandbox`].

mod describe;
mod edit;
mod files;
pub mod folder;
pub mod fts;
mod git;
mod grant;
mod http;
mod ignored;
mod limits;
mod look;
mod own;
pub(crate) mod plan;
mod precheck;
mod process;
mod repositories;
pub mod sandbox;
mod schema;
mod shared;
mod shell;
mod text;
mod toolchains;
mod veil;
mod watched;

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

use pointsman_agents::{PLAN_TOOL, form::SUBMIT_TOOL};
use pointsman_kernel::{
    agent::{FaultClass, ToolCall, ToolResult},
    governor::Permissions,
    tool::ToolDecl,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

pub(crate) use describe::Now;
pub use describe::{describe, describe_whole};
pub use git::Author;
pub(crate) use git::{TRAILER, unfiltered};
pub use grant::{exact, grants, is_once, whole};
pub use limits::Limits;
pub(crate) use repositories::NOTICE;
pub use repositories::Recorded;
pub use sandbox::SandboxPolicy;
pub use toolchains::ToolchainTrial;

use crate::perform::{Done, Shown};
pub(crate) use files::digest;
use folder::{Folder, FolderError};
use repositories::Repositories;
use shared::{Shared, Stop};
use veil::Veil;
pub(crate) use veil::heeds_rules;

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
pub struct Tools(Arc<Shared>, Arc<Permissions>);

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
        let specs = schema::specs(&settings.limits);
        let schemas = schema::Schemas::of(&specs).map_err(ToolError::Schema)?;
        let index = Mutex::new(fts::Index::open(&settings.index)?);
        let (sandbox, policy, http) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let repositories = Repositories::default();
        let shared =
            Shared { settings, folder, index, specs, schemas, sandbox, policy, repositories, http };
        Ok(Self(Arc::new(shared), Arc::new(Permissions::allow_all())))
    }

    /// Returns the same tools for a run with these permissions: `list`, `search` and
    /// `context.fts_search` do not show what a rule over paths keeps it from reading. What
    /// may be called at all is not decided here.
    #[must_use]
    pub fn under(&self, permissions: Arc<Permissions>) -> Self {
        Self(Arc::clone(&self.0), permissions)
    }

    /// Returns what models are told of each tool.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.specs.clone()
    }

    /// Returns what the tools declare of themselves.
    pub fn decls(&self) -> Vec<ToolDecl> {
        // What sends a form is done in the run's browser, and not here.
        let decls = pointsman_agents::tools().into_iter();
        decls.filter(|decl| &*decl.name != SUBMIT_TOOL).collect()
    }

    /// Returns the name of the sandbox in use: `bubblewrap`, `landlock` or `none`. The
    /// first time it is asked, it is tried.
    pub fn tool_sandbox(&self) -> &str {
        self.0.sandbox().name()
    }

    /// Calls a tool. What it cannot do is a result that a model can read; dropping the
    /// future stops it. The key is the same when the call is made again, so that a server
    /// which takes such keys can tell.
    /// Commands and pages show how far they have come.
    pub async fn call(&self, call: &ToolCall, key: &str, shown: &Shown) -> Done {
        let tool = call.tool.as_str();
        let arguments = match self.0.schemas.check(tool, call.arguments.get()) {
            Ok(arguments) => arguments,
            Err(why) => return done(Said::no(why)),
        };
        let limits = &self.0.settings.limits;
        let veil = Veil::of(call, &self.1);
        if let ("read" | "write" | "edit", Some(path)) = (tool, arguments.get("path"))
            && let Some(path) = path.as_str()
            && let Some(why) = veil::another_name(call, path, &self.0.folder, &self.1)
        {
            return done(Said::no(why));
        }
        match tool {
            "read" => self.blocking(arguments, false, Shared::read).await,
            "list" => {
                self.blocking(arguments, false, move |on, it, going| on.list(&it, &veil, going))
                    .await
            }
            "search" => {
                self.blocking(arguments, false, move |on, it, going| on.lines(&it, &veil, going))
                    .await
            }
            "context.fts_search" => {
                self.blocking(arguments, false, move |on, it, going| on.passages(&it, &veil, going))
                    .await
            }
            PLAN_TOOL => {
                let plan = fitting::<plan::ProposePlan>(arguments);
                plan.map_or_else(|done| done, |_| done(plan::approved()))
            }
            "write" => self.blocking(arguments, true, Shared::write).await,
            "edit" => {
                let rules = Arc::clone(&self.1);
                self.blocking(arguments, true, move |on, it, going| on.edit(&it, &rules, going))
                    .await
            }
            "shell" => {
                let shell: shell::Shell = match fitting(arguments) {
                    Ok(shell) => shell,
                    Err(done) => return done,
                };
                let limit = shell.limit(limits);
                let running = self.command(limit, shown, move |on| shell.confined(on));
                let (said, notes) = self.watched(running).await;
                done(said.with(&notes))
            }
            "git" => {
                let git: git::Git = match fitting(arguments) {
                    Ok(git) => git,
                    Err(done) => return done,
                };
                let limit = Duration::from_millis(limits.shell_ms);
                done(self.git(git, limit, shown).await)
            }
            _ => self.page(arguments, key, shown).await,
        }
    }

    /// Says what became of a call that was begun and never answered, where the world
    /// can tell: whether a file is as `write` or `edit` would leave it.
    pub async fn probe(&self, call: &ToolCall) -> Option<Done> {
        let arguments = self.0.schemas.check(&call.tool, call.arguments.get()).ok()?;
        let (on, tool) = (Arc::clone(&self.0), call.tool.clone());
        let probed = tokio::task::spawn_blocking(move || match tool.as_str() {
            "write" => {
                let arguments = serde_json::from_value(arguments).ok()?;
                Some(files::was_written(&on.folder, on.limits(), &arguments))
            }
            "edit" => {
                let arguments = serde_json::from_value(arguments).ok()?;
                edit::was_edited(&on.folder, on.limits(), &arguments)
            }
            _ => None,
        });
        let limit = self.0.settings.limits.look();
        Some(done(tokio::time::timeout(limit, probed).await.ok()?.ok()??))
    }

    /// Does what blocks, on a thread for it, until it is done or has taken too long.
    /// What changes files may have done so even then.
    async fn blocking<A: DeserializeOwned + Send + 'static>(
        &self,
        arguments: Value,
        mutated: bool,
        work: impl FnOnce(&Shared, A, &dyn Fn() -> bool) -> Said + Send + 'static,
    ) -> Done {
        let arguments: A = match fitting(arguments) {
            Ok(arguments) => arguments,
            Err(done) => return done,
        };
        let on = Arc::clone(&self.0);
        let stop = Stop(Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop.0);
        let working = tokio::task::spawn_blocking(move || {
            work(&on, arguments, &|| !stopped.load(Ordering::Relaxed))
        });
        let limits = &self.0.settings.limits;
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
                let output = format!("it took longer than {ms} ms and was stopped; ask for less");
                done(Said { mutated, ..Said::no(output) })
            }
        }
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

    async fn page(&self, arguments: Value, key: &str, shown: &Shown) -> Done {
        let arguments: http::HttpGet = match fitting(arguments) {
            Ok(arguments) => arguments,
            Err(done) => return done,
        };
        let http = self.0.http.get_or_init(|| http::Http::new(self.0.settings.http_private));
        match http {
            Ok(http) => done(http.call(&self.0.settings.limits, &arguments, key, shown).await),
            Err(why) => done(Said::no(format!("pages cannot be fetched here: {why}"))),
        }
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

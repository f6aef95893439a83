//! Tools: the actions of a run on the world, each confined to its workspace.
//!
//! A call's arguments are checked against the tool's schema before anything runs, and every error
//! is a result that a model can read. Files are reached through [`folder`], commands run in a
//! [`sandbox`].

mod contract;
mod describe;
#[cfg(feature = "tools")]
mod edit;
#[cfg(feature = "tools")]
mod files;
pub mod folder;
#[cfg(feature = "tools")]
pub mod fts;
#[cfg(feature = "tools")]
mod fts_search;
#[cfg(feature = "tools")]
mod git;
mod grant;
#[cfg(feature = "tools")]
mod http;
#[cfg(feature = "tools")]
mod ignored;
mod limits;
#[cfg(feature = "tools")]
mod list;
#[cfg(feature = "tools")]
mod own;
#[cfg(feature = "tools")]
mod path_filter;
#[cfg(feature = "tools")]
pub(crate) mod plan;
mod precheck;
#[cfg(feature = "tools")]
mod process;
#[cfg(feature = "tools")]
mod read;
#[cfg(feature = "tools")]
mod repositories;
#[cfg(feature = "tools")]
pub mod sandbox;
mod schema;
#[cfg(feature = "tools")]
mod search;
mod shared;
#[cfg(feature = "tools")]
mod shell;
#[cfg(feature = "tools")]
mod stream;
#[cfg(feature = "tools")]
mod text;
#[cfg(feature = "tools")]
mod toolchains;
#[cfg(feature = "tools")]
mod watched;
#[cfg(feature = "tools")]
mod work;
#[cfg(feature = "tools")]
mod write;

#[cfg(feature = "tools")]
use std::sync::{Mutex, OnceLock};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use pointsman_kernel::{
    agent::{Answer, ToolCall, ToolResult},
    governor::Permissions,
    tool::ToolDecl,
};
use serde_json::Value;
use thiserror::Error;

pub use contract::{Arguments, FileChange, Tool, ToolContext, ToolFuture, ToolKind, Toolbox};
pub use describe::{Now, View};
#[cfg(feature = "tools")]
pub use git::Author;
#[cfg(feature = "tools")]
pub(crate) use git::{TRAILER, unfiltered};
pub use limits::ToolLimits;
#[cfg(feature = "tools")]
pub use repositories::RepositoryRecord;
#[cfg(feature = "tools")]
pub use sandbox::SandboxPolicy;
#[cfg(feature = "tools")]
pub use toolchains::ToolchainTrial;

use crate::effect::{Completion, Permit, ProgressSink};
#[cfg(feature = "tools")]
pub(crate) use files::digest;
use folder::Folder;
#[cfg(feature = "tools")]
use repositories::Repositories;
use schema::Offer;
use shared::SharedTools;
#[cfg(feature = "tools")]
use work::{ToolOutput, done, fitting};

/// How a line of a command's output begins that is ours, and meant for the person too.
pub(crate) const NOTICE: &str = "[notice] ";

/// The description of a tool for models.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: Box<str>,
    /// Its description, in a sentence or two.
    pub about: Box<str>,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
}

/// The workspace and limits of the tools.
#[derive(Clone, Debug)]
pub struct ToolSettings {
    /// The workspace.
    pub root: PathBuf,
    /// The file of the search index; it may be deleted.
    #[cfg(feature = "tools")]
    pub index: PathBuf,
    /// How much a call may take and say.
    pub limits: ToolLimits,
    /// What commands may reach.
    #[cfg(feature = "tools")]
    pub sandbox: SandboxPolicy,
    /// Whether `http_get` may ask this machine and its own network.
    #[cfg(feature = "tools")]
    pub http_private: bool,
    /// Who commits where the repository does not say.
    #[cfg(feature = "tools")]
    pub author: Author,
    /// The tools: the shipped ones, and others.
    pub toolbox: Toolbox,
}

impl ToolSettings {
    /// Returns the usual settings over a folder.
    #[cfg(feature = "tools")]
    pub fn over(root: impl Into<PathBuf>, index: impl Into<PathBuf>) -> Self {
        Self { index: index.into(), ..Self::within(root) }
    }

    /// Returns the usual settings over a folder, with a search index in memory.
    pub fn within(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            #[cfg(feature = "tools")]
            index: ":memory:".into(),
            limits: ToolLimits::default(),
            #[cfg(feature = "tools")]
            sandbox: SandboxPolicy::default(),
            #[cfg(feature = "tools")]
            http_private: false,
            #[cfg(feature = "tools")]
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
    #[cfg(feature = "tools")]
    #[error(transparent)]
    Index(#[from] fts::IndexError),
    /// A tool's own schema is wrong.
    #[error("a tool has an invalid schema: {0}")]
    Schema(String),
}

/// The tools over one workspace, for runs that may do everything or for one under rules.
#[derive(Clone, Debug)]
pub struct WorkspaceTools(Arc<SharedTools>, Arc<Permissions>, Arc<Offer>);

impl WorkspaceTools {
    /// Opens the tools over a workspace.
    pub fn open(settings: ToolSettings) -> Result<Self, ToolError> {
        let folder = Folder::open(&settings.root)
            .map_err(|source| ToolError::Root { root: settings.root.clone(), source })?;
        let offer = Offer::of(settings.toolbox.clone(), &settings.limits);
        let offer = Arc::new(offer.map_err(ToolError::Schema)?);
        let shared = SharedTools {
            #[cfg(feature = "tools")]
            index: Mutex::new(fts::Index::open(&settings.index)?),
            #[cfg(feature = "tools")]
            sandbox: OnceLock::new(),
            #[cfg(feature = "tools")]
            policy: OnceLock::new(),
            #[cfg(feature = "tools")]
            repositories: Repositories::default(),
            #[cfg(feature = "tools")]
            http: OnceLock::new(),
            settings,
            folder,
        };
        Ok(Self(Arc::new(shared), Arc::new(Permissions::allow_all()), offer))
    }

    /// Returns the same with more tools; one of a known name takes its place.
    #[cfg(feature = "mcp")]
    pub(crate) fn with(
        &self,
        more: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Result<Self, ToolError> {
        let offer = Offer::of(self.toolbox().with(more), self.limits());
        let offer = Arc::new(offer.map_err(ToolError::Schema)?);
        Ok(Self(Arc::clone(&self.0), Arc::clone(&self.1), offer))
    }

    /// Returns the same tools for a run with these permissions: `list`, `search` and
    /// `context.fts_search` hide files that path rules keep it from reading. Which calls may run
    /// is decided elsewhere.
    #[must_use]
    pub fn under(&self, permissions: Arc<Permissions>) -> Self {
        Self(Arc::clone(&self.0), permissions, Arc::clone(&self.2))
    }

    /// Returns the permissions of the run.
    pub fn permissions(&self) -> &Permissions {
        &self.1
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
    pub fn limits(&self) -> &ToolLimits {
        self.0.limits()
    }

    /// Returns the description of each tool for models.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.2.specs.clone()
    }

    /// Returns the declarations of all tools that models can call.
    pub fn decls(&self) -> Vec<ToolDecl> {
        let told = |decl: &ToolDecl| self.2.specs.iter().any(|spec| spec.name == decl.name);
        self.toolbox().iter().map(|tool| tool.decl()).filter(told).collect()
    }

    /// Returns where the workspace is.
    pub(crate) fn root(&self) -> &Path {
        self.0.folder.root()
    }

    /// Returns the name of the sandbox in use: `bubblewrap`, `landlock` or `none`. The
    /// first time it is asked, it is tried.
    #[cfg(feature = "tools")]
    pub fn tool_sandbox(&self) -> &str {
        self.0.sandbox().name()
    }

    /// Calls a tool. An error is a result that a model can read; dropping the future stops it. A
    /// call that may have been done already is checked first.
    pub async fn call(&self, call: &ToolCall, permit: &Permit, shown: &ProgressSink) -> Completion {
        let (tool, arguments) = match self.2.check(call) {
            Ok(checked) => checked,
            Err(why) => return Completion::tool(false, &why),
        };
        if permit.again
            && let Some(done) = self.probe(call).await
            && matches!(done.answer, Answer::Tool(ToolResult { ok: true, .. }))
        {
            return done;
        }
        tool.call(ToolContext { tools: self, call, permit, shown }, arguments).await
    }

    /// Reports the result of a call that was started and never answered, if it can be determined.
    pub async fn probe(&self, call: &ToolCall) -> Option<Completion> {
        let (tool, arguments) = self.2.check(call).ok()?;
        let (tool, tools) = (Arc::clone(tool), self.clone());
        let probed = tokio::task::spawn_blocking(move || tool.probe(&tools, &arguments));
        tokio::time::timeout(self.limits().look(), probed).await.ok()?.ok()?
    }
}

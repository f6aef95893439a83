//! What a tool is: all that the rest of the program knows of one comes from here.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use pointsman_kernel::{
    agent::ToolCall,
    governor::{Grant, Level},
    tool::ToolDecl,
};
use serde_json::{Map, Value};

use super::{Now, ToolSpec, View, WorkspaceTools, limits::ToolLimits};
#[cfg(feature = "tools")]
use super::{
    edit::EditTool, fts_search::FtsSearchTool, git::GitTool, http::HttpGetTool, list::ListTool,
    plan::PlanTool, read::ReadTool, search::SearchTool, shell::ShellTool, write::WriteTool,
};
use crate::effect::{Completion, Permit, ProgressSink};

/// Returns the tools that ship, by name: one line for each.
#[cfg(feature = "tools")]
fn shipped() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(FtsSearchTool),
        Arc::new(EditTool),
        Arc::new(GitTool),
        Arc::new(HttpGetTool),
        Arc::new(ListTool),
        Arc::new(PlanTool),
        Arc::new(ReadTool),
        Arc::new(SearchTool),
        Arc::new(ShellTool),
        Arc::new(WriteTool),
    ]
}

/// Without the feature `tools` none ships.
#[cfg(not(feature = "tools"))]
const fn shipped() -> Vec<Arc<dyn Tool>> {
    Vec::new()
}

/// A tool. Each has its own file, and no other file knows its name.
pub trait Tool: Send + Sync {
    /// Returns its name, as models call it.
    fn name(&self) -> &str;

    /// Returns its declaration for the governor. The declarations of shipped tools are in
    /// `agents`, where agents are tested against them, and are not repeated; for any other name
    /// the governor assumes the worst.
    fn decl(&self) -> ToolDecl {
        #[cfg(feature = "agents")]
        if let Some(known) =
            pointsman_agents::tools().into_iter().find(|it| *it.name == *self.name())
        {
            return known;
        }
        ToolDecl::unknown(self.name())
    }

    /// Returns its specification for models; nothing for a tool that only an agent's own code
    /// calls. Arguments are checked against this schema before anything runs, unless the tool is
    /// declared to be foreign; without the feature `tools` the tool must check them itself.
    fn spec(&self, limits: &ToolLimits) -> Option<ToolSpec>;

    /// Calls it. A refusal is a result that a model can read. Dropping the future must stop the
    /// work.
    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a>;

    /// Returns why a call cannot run, before a person is asked for it. Must change nothing and
    /// send nothing; the reason goes to the model, so it must not say what the run may not read.
    /// May block.
    fn refuses(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<String> {
        let _ = (tools, arguments);
        None
    }

    /// Returns the result of a call that was started before a crash and never answered, where the
    /// world shows it. A failed result means that it was not done. May block.
    fn probe(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<Completion> {
        let _ = (tools, arguments);
        None
    }

    /// Returns what a call would do, for a person; nothing if the arguments do not fit. Without
    /// it, the arguments are shown as they are.
    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let _ = (arguments, view);
        None
    }

    /// Returns the title of a call in an editor, where the tool's name and its most telling
    /// argument do not do.
    fn title(&self, arguments: &Arguments) -> Option<String> {
        let _ = arguments;
        None
    }

    /// Returns what it does.
    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    /// Returns the change that a call makes to a file, where old and new text are known. `now`
    /// looks into a file.
    fn change(&self, arguments: &Arguments, now: &dyn Fn(&str) -> Now) -> Option<FileChange> {
        let _ = (arguments, now);
        None
    }

    /// Returns the rules that "always" can mean for a call, the most exact one first; nothing
    /// where a yes is for one call alone. Where the list is empty, no rule says what a person
    /// would expect of it.
    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        let _ = arguments;
        Some(vec![every(self.name())])
    }
}

/// The future of a call.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = Completion> + Send + 'a>>;

/// A call, with all that a tool is given beside the arguments.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The workspace, and what the run may do in it.
    pub tools: &'a WorkspaceTools,
    /// The call as the model wrote it.
    pub call: &'a ToolCall,
    /// Which order it is; as text, the same when the call is made again, so that a server which
    /// takes such keys can tell.
    pub permit: &'a Permit,
    /// Shows progress.
    pub shown: &'a ProgressSink,
}

/// What a tool does, for editors and for rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ToolKind {
    /// It reads a file of the workspace, and does nothing else.
    Read,
    /// It looks for something in the workspace, and does nothing else.
    Search,
    /// It changes the one file that `path` names, and the last line of its result says what the
    /// file held and holds: see [`CONTENT`](pointsman_kernel::tool::CONTENT).
    Edit,
    /// It runs a command.
    Execute,
    /// It fetches something from elsewhere.
    Fetch,
    /// It puts a plan to a person, and does nothing else.
    Plan,
    /// None of these.
    Other,
}

impl ToolKind {
    /// Returns whether it is read-only. Of the shipped tools, these run without asking by default,
    /// and a repository's own settings may allow them.
    pub const fn only_looks(self) -> bool {
        matches!(self, Self::Read | Self::Search)
    }
}

/// A change of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileChange {
    /// The file, from the root.
    pub path: String,
    /// The text that goes; nothing where the file is new.
    pub old: Option<String>,
    /// The text that comes.
    pub new: String,
}

/// A call's arguments, by name.
#[derive(Clone, Debug, Default)]
pub struct Arguments(pub Map<String, Value>);

impl Arguments {
    /// Reads them; nothing if they are not an object.
    pub fn of(call: &ToolCall) -> Option<Self> {
        serde_json::from_str(call.arguments.get()).ok().map(Self)
    }

    /// Returns one that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns one that is a list of texts.
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        self.0.get(name)?.as_array()?.iter().map(Value::as_str).collect()
    }
}

/// A list of tools. The first one of a name counts.
#[derive(Clone)]
pub struct Toolbox(Arc<[Arc<dyn Tool>]>);

impl Default for Toolbox {
    /// The tools that ship.
    fn default() -> Self {
        Self(shipped().into())
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|tool| tool.name())).finish()
    }
}

impl Toolbox {
    /// A list without tools.
    pub(crate) fn empty() -> Self {
        Self(Arc::new([]))
    }

    /// Returns the same with other tools behind them; one of a known name takes its place.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut list = self.0.to_vec();
        for tool in more {
            match list.iter_mut().find(|known| known.name() == tool.name()) {
                Some(known) => *known = tool,
                None => list.push(tool),
            }
        }
        Self(list.into())
    }

    /// Returns the tools, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.0.iter()
    }

    /// Returns a tool.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.iter().find(|tool| tool.name() == name)
    }

    /// Returns what a tool does.
    pub fn kind(&self, name: &str) -> ToolKind {
        self.find(name).map_or(ToolKind::Other, |tool| tool.kind())
    }
}

/// Returns the rule that allows every call of a tool.
pub(super) fn every(tool: &str) -> Grant {
    Grant { tool: tool.into(), arguments: Vec::new(), level: Level::Allow, until: None }
}

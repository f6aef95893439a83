//! The tools, as a model would call them, over a real folder.

mod arguments;
mod confine;
mod content;
mod contract;
mod edit;
mod edit_near;
mod files;
mod http;
mod look;
mod path_filter;
mod probe;
mod sandbox;

pub(crate) use sandbox::helper as sandbox_helper;

use std::{fs, path::PathBuf};

use pointsman_kernel::{
    agent::{Answer, ToolCall, ToolResult},
    id::{EffectId, Seq},
};
use pointsman_runtime::{
    effect::{Completion, Permit, ProgressSink},
    tool::{ToolSettings, WorkspaceTools},
};
use serde_json::{Value, value::to_raw_value};

use crate::store::TempFolder;

/// A workspace with its tools.
struct TestSession {
    folder: TempFolder,
    root: PathBuf,
    tools: WorkspaceTools,
}

impl TestSession {
    /// Opens the tools over an empty workspace.
    fn new(name: &str) -> Self {
        Self::with(name, |_| {})
    }

    /// Opens them with other settings.
    fn with(name: &str, change: impl FnOnce(&mut ToolSettings)) -> Self {
        let folder = TempFolder::new(&format!("tool-{name}"));
        let root = folder.0.join("work");
        fs::create_dir_all(&root).expect("the folder is created");
        let mut settings = ToolSettings::over(&root, folder.0.join("cache/search.db"));
        change(&mut settings);
        let tools = WorkspaceTools::open(settings).expect("the tools open");
        Self { root: root.canonicalize().expect("the path exists"), folder, tools }
    }

    /// Puts a file into the workspace.
    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("the path has a parent folder"))
            .expect("the folder is created");
        fs::write(path, text).expect("the file is written");
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).expect("the file exists and is UTF-8")
    }

    async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        result(self.tools.call(&call(tool, arguments), &permit(), &ProgressSink::none()).await)
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    fn does(&self, tool: &str, arguments: Value) -> String {
        let said = wait(self.call(tool, arguments.clone()));
        assert!(said.ok, "{tool} {arguments}: {}", said.output);
        said.output
    }

    /// Calls a tool that must refuse, and change nothing.
    #[track_caller]
    fn refuses(&self, tool: &str, arguments: Value) -> String {
        let said = wait(self.call(tool, arguments.clone()));
        assert!(!said.ok, "{tool} {arguments}: {}", said.output);
        assert!(!said.mutated, "{tool} {arguments}");
        said.output
    }
}

/// The order that a call belongs to.
fn permit() -> Permit {
    let effect = EffectId { seq: Seq(1), index: 0 };
    Permit::unwritten("run".parse().expect("it is an id"), "test", effect, false)
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    let arguments = to_raw_value(&arguments).expect("the value serialises");
    ToolCall { id: "1".into(), tool: tool.into(), arguments }
}

#[track_caller]
fn result(done: Completion) -> ToolResult {
    let Answer::Tool(result) = done.answer else { panic!("no result: {done:?}") };
    result
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    threads.expect("the runtime starts").block_on(work)
}

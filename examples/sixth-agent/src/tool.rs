//! The tool: its declaration for the governor, its schema, the call, and the look after a crash.

use std::fs;

use pointsman_kernel::{
    agent::ToolResult,
    tool::{Recovery, ToolDecl},
};
use pointsman_runtime::{
    effect::Completion,
    tool::{Tool, ToolContext, ToolFuture, ToolLimits, ToolSpec, WorkspaceTools},
};
use serde_json::Value;

pub const LABEL: &str = "label";

/// The file of labels, in the workspace.
pub const FILE: &str = "labels.txt";

/// Writes a label.
pub struct Label;

impl Label {
    fn text(arguments: &Value) -> String {
        let hive = arguments["hive"].as_str().unwrap_or_default();
        format!("{hive}: {} frames\n", arguments["frames"])
    }
}

impl Tool for Label {
    fn name(&self) -> &str {
        LABEL
    }

    fn decl(&self) -> ToolDecl {
        // After a crash the file says whether the label is there: see `probe`.
        ToolDecl { recovery: Recovery::Probe, ..ToolDecl::write(LABEL, &["hive"]) }
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        // No model is offered it: the agent alone calls it.
        None
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        Box::pin(async move {
            let file = calling.tools.folder().root().join(FILE);
            let labels = fs::read_to_string(&file).unwrap_or_default() + &Self::text(&arguments);
            let written = fs::write(&file, labels);
            let output = match &written {
                Ok(()) => "the jars are labelled".into(),
                Err(error) => format!("no label was written: {error}"),
            };
            Completion::result(ToolResult { ok: written.is_ok(), output, mutated: true })
        })
    }

    fn probe(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<Completion> {
        let labels = fs::read_to_string(tools.folder().root().join(FILE)).unwrap_or_default();
        Some(Completion::tool(labels.contains(&Self::text(arguments)), "looked at the labels"))
    }
}

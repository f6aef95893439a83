//! `context.fts_search`: the passages that match a question best.

use std::{path::Path, sync::PoisonError};

use pointsman_agents::research::SEARCH as NAME;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec, WorkspaceTools, fts,
    limits::ToolLimits,
    path_filter::PathFilter,
    schema::{spec, words},
};

/// Finds passages.
pub(super) struct FtsSearchTool;

impl Tool for FtsSearchTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Finds the passages in the workspace's text files that best match a question.",
            json!({ "query": words("Words or a question.") }),
            &["query"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        let path_filter = PathFilter::of(calling.call, &self.decl(), calling.tools.permissions());
        calling.blocking(arguments, false, move |tools, Query { query }, going| {
            passages((tools, &path_filter), &query, going)
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }
}

/// The arguments of `context.fts_search`.
#[derive(Deserialize)]
struct Query {
    query: String,
}

fn passages(
    (tools, path_filter): (&WorkspaceTools, &PathFilter),
    query: &str,
    going: &dyn Fn() -> bool,
) -> ToolOutput {
    // A search that panicked has changed nothing that the next one relies on.
    let mut index = tools.0.index.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tools.folder();
    let seen = |path: &str| !path_filter.hides_file(folder, Path::new(path));
    let wanted: Option<&dyn Fn(&str) -> bool> = path_filter.is_over_some().then_some(&seen);
    let limit = tools.limits().file_bytes;
    let found = index.follow(folder, limit, going).and_then(|mut large| {
        large.retain(|path| seen(path));
        Ok((large, index.search_in(query, wanted)?))
    });
    let (large, passages) = match found {
        Ok(found) => found,
        Err(error) => return ToolOutput::no(error),
    };
    let mut lines: Vec<String> = passages.iter().map(ToString::to_string).collect();
    if lines.is_empty() {
        lines.push("no passage matches".into());
    }
    lines.extend(fts::too_large(&large, limit));
    lines.extend(path_filter.note().map(String::from));
    ToolOutput::yes(lines.join("\n"))
}

//! `context.fts_search`: the passages that fit a question best.

use std::{path::Path, sync::PoisonError};

use pointsman_agents::research::SEARCH as NAME;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Said, Tool, ToolContext, ToolFuture, ToolKind, ToolSpec, WorkspaceTools, fts,
    limits::ToolLimits,
    schema::{spec, words},
    veil::Veil,
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
            "Finds the passages of the workspace's text files that fit a question best.",
            json!({ "query": words("Words or a question.") }),
            &["query"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        let veil = Veil::of(calling.call, &self.decl(), calling.tools.permissions());
        calling.blocking(arguments, false, move |tools, Query { query }, going| {
            passages((tools, &veil), &query, going)
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
    (tools, veil): (&WorkspaceTools, &Veil),
    query: &str,
    going: &dyn Fn() -> bool,
) -> Said {
    // A search that panicked has changed nothing that the next one relies on.
    let mut index = tools.0.index.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tools.folder();
    let seen = |path: &str| !veil.hides_file(folder, Path::new(path));
    let wanted: Option<&dyn Fn(&str) -> bool> = veil.is_over_some().then_some(&seen);
    let limit = tools.limits().file_bytes;
    let found = index.follow(folder, limit, going).and_then(|mut large| {
        large.retain(|path| seen(path));
        Ok((large, index.search_in(query, wanted)?))
    });
    let (large, passages) = match found {
        Ok(found) => found,
        Err(error) => return Said::no(error),
    };
    let mut lines: Vec<String> = passages.iter().map(ToString::to_string).collect();
    if lines.is_empty() {
        lines.push("no passage matches".into());
    }
    lines.extend(fts::too_large(&large, limit));
    lines.extend(veil.note().map(String::from));
    Said::yes(lines.join("\n"))
}

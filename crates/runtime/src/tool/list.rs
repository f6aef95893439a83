//! `list`: what files and folders there are.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec,
    folder::Folder,
    ignored::walk,
    limits::ToolLimits,
    path_filter::PathFilter,
    schema::{number, spec, text},
};

const NAME: &str = "list";

/// Folders that it goes down where the call says nothing.
const DEPTH: usize = 3;

/// Lists files and folders.
pub(super) struct ListTool;

impl Tool for ListTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Lists files and folders, except those that .gitignore names. Folders end in `/`.",
            json!({
                "path": text("The folder, relative to the workspace root; the root if left out."),
                "depth": number(1, "How many levels of folders to list; 3 if left out."),
            }),
            &[],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        let path_filter = PathFilter::of(calling.call, &self.decl(), calling.tools.permissions());
        calling.blocking(arguments, false, move |tools, arguments, going| {
            list((tools.folder(), &path_filter), tools.limits(), &arguments, going)
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }
}

/// The arguments of `list`.
#[derive(Debug, Deserialize)]
struct List {
    #[serde(default)]
    path: String,
    depth: Option<usize>,
}

/// Returns the files and folders below a path, one per line; folders end in `/`.
fn list(
    (folder, path_filter): (&Folder, &PathFilter),
    limits: &ToolLimits,
    arguments: &List,
    going: &dyn Fn() -> bool,
) -> ToolOutput {
    let start = match folder.named(&arguments.path) {
        Ok(start) => start,
        Err(error) => return ToolOutput::no(error),
    };
    if let Err(error) = folder.folder(&start) {
        return ToolOutput::no(error);
    }
    let depth = arguments.depth.unwrap_or(DEPTH);
    let (mut lines, mut more) = (Vec::new(), 0_usize);
    for entry in walk(&folder.root().join(&start), true, depth) {
        if !going() {
            return ToolOutput::no("the listing was stopped");
        }
        let Ok(path) = entry.path().strip_prefix(folder.root()) else { continue };
        // A folder may have been swapped for a link while it was walked: what lies
        // behind a link is not ours to show.
        if entry.depth() == 0 || !folder.holds(path) || path_filter.hides(path) {
            continue;
        }
        if lines.len() >= limits.results {
            more = more.saturating_add(1);
            continue;
        }
        let mark = match entry.file_type() {
            kind if kind.is_dir() => "/",
            kind if kind.is_symlink() => "@",
            _ => "",
        };
        lines.push(format!("{}{mark}", path.display()));
    }
    if lines.is_empty() {
        lines.push("the folder is empty, or everything in it is ignored".into());
    }
    if more > 0 {
        lines.push(format!("[{more} more; give a folder in `path`, or a smaller `depth`]"));
    }
    lines.extend(path_filter.note().map(String::from));
    ToolOutput::yes(lines.join("\n"))
}

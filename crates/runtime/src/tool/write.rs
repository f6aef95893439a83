//! `write`: puts a whole file in place.

use std::path::Path;

use pointsman_kernel::governor::Grant;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Arguments, FileChange, Now, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec,
    View, WorkspaceTools, done,
    files::{changed_since, contents, digest, holds, holds_since},
    folder::Folder,
    grant::over_file,
    limits::ToolLimits,
    schema::{known_digest, spec, text, words},
};
use crate::{effect::Completion, plural::counted};

const NAME: &str = "write";

/// Bytes of a file that a new text is compared with.
const COMPARED: u64 = 4 * 1024 * 1024;

/// Writes a file.
pub(super) struct WriteTool;

impl Tool for WriteTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Writes a whole file, and creates missing folders.",
            json!({
                "path": words("The file, relative to the workspace root."),
                "content": text("The whole content of the file."),
                "digest": known_digest(),
            }),
            &["path", "content"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        calling.on_file(arguments, true, |tools, arguments: WriteFile, going| {
            let said = write(tools.folder(), tools.limits(), &arguments, going);
            if !said.ok {
                return said;
            }
            let path = Path::new(&arguments.path);
            let note = tools.0.repositories.written(tools.folder(), tools.limits(), path);
            said.with(note.as_slice())
        })
    }

    fn probe(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<Completion> {
        let arguments = WriteFile::deserialize(arguments).ok()?;
        Some(done(was_written(tools.folder(), tools.limits(), &arguments)))
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let (path, content) = (arguments.text("path")?, arguments.text("content")?);
        let (lines, bytes) = (content.lines().count(), content.len());
        let (lines, bytes) = (counted(lines, "line"), counted(bytes, "byte"));
        let head = format!("{NAME} {}: {lines}, {bytes}", view.line(path));
        Some(match view.folder {
            Some(folder) => format!("{head}{}", written(folder, path, content, view)),
            None if view.is_whole() => format!("{head}\n{}", view.block("+ ", content)),
            None => head,
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn change(&self, arguments: &Arguments, now: &dyn Fn(&str) -> Now) -> Option<FileChange> {
        let (path, new) = (arguments.text("path")?, arguments.text("content")?);
        let old = match now(path) {
            Now::Nothing => None,
            Now::Text(text) => Some(text),
            Now::Unknown => return None,
        };
        Some(FileChange { path: path.into(), old, new: new.into() })
    }

    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        Some(over_file(NAME, arguments))
    }
}

/// The arguments of `write`.
#[derive(Debug, Deserialize)]
struct WriteFile {
    path: String,
    content: String,
    digest: Option<String>,
}

/// Returns what writing a text does to a file.
fn written(folder: &Folder, path: &str, content: &str, view: &View<'_>) -> String {
    let whole = || view.block("+ ", content);
    let (how, lines) = match Now::of(folder, path, COMPARED) {
        Now::Nothing => ("a new file", whole()),
        Now::Text(old) if old == content => ("no change", String::new()),
        Now::Text(old) => ("replaces the file", view.difference(&old, content)),
        Now::Unknown => ("the current content cannot be shown", whole()),
    };
    let end = if lines.is_empty() { String::new() } else { format!("\n{lines}") };
    format!(" ({how}){end}")
}

/// Puts a file in place.
fn write(
    folder: &Folder,
    limits: &ToolLimits,
    arguments: &WriteFile,
    going: &dyn Fn() -> bool,
) -> ToolOutput {
    let size = arguments.content.len();
    if u64::try_from(size).unwrap_or(u64::MAX) > limits.file_bytes {
        let limit = limits.file_bytes;
        return ToolOutput::no(format!("the content has {size} bytes; the limit is {limit}"));
    }
    let path = match folder.inside(&arguments.path) {
        Ok(path) => path,
        Err(error) => return ToolOutput::no(error),
    };
    let before = before(folder, limits, &path);
    if let Some(said) =
        changed_since(&arguments.path, arguments.digest.as_deref(), before.as_deref())
    {
        return said;
    }
    let replaced = folder.replace(&path, arguments.content.as_bytes(), going);
    let lines = arguments.content.lines().count();
    let (path, holds) =
        (&arguments.path, holds(before.as_deref(), &digest(arguments.content.as_bytes())));
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let bytes = if size == 1 { "byte" } else { "bytes" };
    let holds = format!("{lines} line{}, {size} {bytes}\n{holds}", s(lines));
    match replaced {
        Ok(true) => ToolOutput::changed(format!("created `{path}`: {holds}")),
        Ok(false) => ToolOutput::changed(format!("replaced `{path}`: {holds}")),
        Err(error) => ToolOutput::unwritten(&error),
    }
}

/// Returns the digest of what a file holds before it is replaced.
fn before(folder: &Folder, limits: &ToolLimits, path: &Path) -> Option<String> {
    folder.read(path, limits.file_bytes).ok().map(|bytes| digest(&bytes))
}

/// Says whether a file is as a `write` would leave it.
fn was_written(folder: &Folder, limits: &ToolLimits, arguments: &WriteFile) -> ToolOutput {
    match contents(folder, limits, &arguments.path) {
        Ok(bytes) if bytes == arguments.content.as_bytes() => {
            let holds = holds_since(arguments.digest.as_deref(), &digest(&bytes));
            ToolOutput::changed(format!("`{}` has this content\n{holds}", arguments.path))
        }
        _ => ToolOutput::no(format!(
            "`{}` does not have this content: the write was interrupted before it was made",
            arguments.path
        )),
    }
}

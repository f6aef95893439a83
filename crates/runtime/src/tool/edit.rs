//! `edit`: replaces a piece of a file that is given word for word.
//!
//! Line ends do not count when the piece is looked for, and are kept where it is
//! replaced: a model rarely knows which ones a file has.

mod ends;
mod near;

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
    read::may_read,
    schema::{self, flag, known_digest, spec, words},
    text::TextFile,
};
use crate::effect::Completion;
use ends::Plain;

const NAME: &str = "edit";

/// Places whose lines are named.
const NAMED: usize = 10;

/// Edits a file.
pub(super) struct EditTool;

impl Tool for EditTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Replaces text in a file. `old` must match exactly, and must occur only once unless \
             `all` is set. Line endings and the encoding are kept.",
            json!({
                "path": words("The file, relative to the workspace root."),
                "old": words("The text to replace, with enough lines around it to be unique."),
                "new": schema::text("The new text."),
                "all": flag("Replace every occurrence of `old`."),
                "digest": known_digest(),
            }),
            &["path", "old", "new"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        calling.on_file(arguments, true, |tools, arguments: Edit, going| {
            let shows = may_show(tools, &arguments);
            edit(tools.folder(), tools.limits(), &arguments, shows, going)
        })
    }

    fn refuses(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<String> {
        let arguments = Edit::deserialize(arguments).ok()?;
        // For a file that the run may not read, even whether it contains a text is secret.
        let planned = may_show(tools, &arguments)
            .then(|| planned(tools.folder(), tools.limits(), &arguments, true))?;
        planned.err().map(|said| said.output)
    }

    fn probe(&self, tools: &WorkspaceTools, arguments: &Value) -> Option<Completion> {
        let arguments = Edit::deserialize(arguments).ok()?;
        was_edited(tools.folder(), tools.limits(), &arguments).map(done)
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let path = view.line(arguments.text("path")?);
        let (old, new) = (arguments.text("old")?, arguments.text("new")?);
        let every = arguments.0.get("all") == Some(&Value::Bool(true));
        let places = if every { " (every occurrence)" } else { "" };
        Some(format!("{NAME} {path}{places}\n{}", view.difference(old, new)))
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn change(&self, arguments: &Arguments, _: &dyn Fn(&str) -> Now) -> Option<FileChange> {
        let text = |name: &str| arguments.text(name).map(String::from);
        Some(FileChange { path: text("path")?, old: Some(text("old")?), new: text("new")? })
    }

    fn always(&self, arguments: &Arguments) -> Option<Vec<Grant>> {
        Some(over_file(NAME, arguments))
    }
}

/// Returns whether an answer may contain lines of the file. An invalid path is rejected elsewhere.
fn may_show(tools: &WorkspaceTools, arguments: &Edit) -> bool {
    let path = tools.folder().inside(&arguments.path);
    path.is_ok_and(|path| path.to_str().is_some_and(|path| may_read(tools.permissions(), path)))
}

/// The arguments of `edit`.
#[derive(Debug, Deserialize)]
struct Edit {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
    digest: Option<String>,
}

/// Replaces the one place where `old` stands, or all of them. `shows` says whether an answer may
/// hold lines of the file.
fn edit(
    folder: &Folder,
    limits: &ToolLimits,
    arguments: &Edit,
    shows: bool,
    going: &dyn Fn() -> bool,
) -> ToolOutput {
    let path = &arguments.path;
    let Planned { before, edited, line, places } = match planned(folder, limits, arguments, shows) {
        Ok(planned) => planned,
        Err(said) => return said,
    };
    let replaced = folder.inside(path).and_then(|inside| folder.replace(&inside, &edited, going));
    let holds = holds(Some(&before), &digest(&edited));
    match (replaced, places) {
        (Err(error), _) => ToolOutput::unwritten(&error),
        (Ok(_), 1) => {
            ToolOutput::changed(format!("replaced 1 place in `{path}`, at line {line}\n{holds}"))
        }
        (Ok(_), places) => {
            ToolOutput::changed(format!("replaced {places} places in `{path}`\n{holds}"))
        }
    }
}

/// An edit that can be made.
struct Planned {
    /// The digest of the file as it is.
    before: String,
    /// The file as it will be.
    edited: Vec<u8>,
    /// The first line at which something is replaced.
    line: usize,
    /// How many places are replaced.
    places: usize,
}

/// Works out what a file becomes, or why it cannot be edited so. Nothing is written, and lines
/// of the file are shown only if they may be.
fn planned(
    folder: &Folder,
    limits: &ToolLimits,
    arguments: &Edit,
    shows: bool,
) -> Result<Planned, ToolOutput> {
    let Edit { path, all, .. } = arguments;
    let (old, new) = (ends::plain(&arguments.old), ends::plain(&arguments.new));
    if old == new {
        return Err(ToolOutput::no(
            "`old` and `new` are the same apart from line endings, which `edit` never changes",
        ));
    }
    let (bytes, text) = text(folder, limits, path)?;
    let before = digest(&bytes);
    if let Some(said) = changed_since(path, arguments.digest.as_deref(), Some(&before)) {
        return Err(said);
    }
    let plain = Plain::of(&text.text);
    let places: Vec<usize> = plain.text.match_indices(&*old).map(|(at, _)| at).collect();
    match places.len() {
        0 if !shows => {
            return Err(ToolOutput::no(format!(
                "`old` was not found in `{path}`, and a permission rule hides the file's content"
            )));
        }
        0 => return Err(ToolOutput::no(near::not_found(path, &plain.text, &old))),
        1 => {}
        _ if *all => {}
        count => return Err(ToolOutput::no(several(path, &plain.text, &places, count))),
    }
    let edited = text.encode(&plain.replaced(&places, &old, &new)).map_err(|letter| {
        let encoding = text.encoding();
        ToolOutput::no(format!(
            "`{path}` is stored in {encoding}, which cannot encode `{letter}`; use another character, or `write` the whole file in UTF-8"
        ))
    })?;
    let size = u64::try_from(edited.len()).unwrap_or(u64::MAX);
    if size > limits.file_bytes {
        let limit = limits.file_bytes;
        return Err(ToolOutput::no(format!(
            "`{path}` would have {size} bytes; the limit is {limit}"
        )));
    }
    let line = places.first().map_or(1, |at| line_of(&plain.text, *at));
    Ok(Planned { before, edited, line, places: places.len() })
}

/// Says whether a file is as an `edit` would leave it; nothing if that is unknown.
fn was_edited(folder: &Folder, limits: &ToolLimits, arguments: &Edit) -> Option<ToolOutput> {
    let Edit { path, all, .. } = arguments;
    let (old, new) = (ends::plain(&arguments.old), ends::plain(&arguments.new));
    let (bytes, text) = text(folder, limits, path).ok()?;
    let text = Plain::of(&text.text).text;
    // Occurrences of `old` within `new` do not mean that the edit is incomplete.
    let left = text.replace(&*new, "").matches(&*old).count();
    if left == 0 && (new.is_empty() || text.contains(&*new)) {
        let holds = holds_since(arguments.digest.as_deref(), &digest(&bytes));
        return Some(ToolOutput::changed(format!(
            "`{path}` already has the result of this edit\n{holds}"
        )));
    }
    // Where `old` still stands as the edit needs it, it was not replaced.
    let stands = text.matches(&*old).count();
    (!new.contains(&*old) && (stands == 1 || *all && stands > 0)).then(|| {
        ToolOutput::no(format!(
            "`{path}` still has `old`: the edit was interrupted before it was made"
        ))
    })
}

fn text(
    folder: &Folder,
    limits: &ToolLimits,
    path: &str,
) -> Result<(Vec<u8>, TextFile), ToolOutput> {
    let bytes = contents(folder, limits, path)?;
    match TextFile::decode(bytes.clone()) {
        Some(text) => Ok((bytes, text)),
        None => Err(ToolOutput::no(format!("`{path}` is a binary file"))),
    }
}

fn several(path: &str, text: &str, places: &[usize], count: usize) -> String {
    let lines: Vec<String> =
        places.iter().take(NAMED).map(|at| line_of(text, *at).to_string()).collect();
    format!(
        "`old` was found {count} times in `{path}`, at lines {}{}: add lines around it until it \
         occurs only once, or set `all` to replace every occurrence",
        lines.join(", "),
        if count > lines.len() { " and more" } else { "" }
    )
}

/// Returns the line number of a position.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count().saturating_add(1))
}

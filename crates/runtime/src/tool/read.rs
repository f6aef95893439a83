//! `read`: a whole file, or some lines of one.

use pointsman_kernel::{
    agent::ToolCall,
    governor::{Level, Permissions},
    id::At,
    tool::CONTENT,
};
use serde::Deserialize;
use serde_json::{Value, json, value::to_raw_value};

use super::{
    Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec,
    files::{contents, digest},
    folder::Folder,
    limits::ToolLimits,
    schema::{number, spec, words},
    text::TextFile,
};
use crate::plural::counted;

const NAME: &str = "read";

/// Reads a file.
pub(super) struct ReadTool;

impl Tool for ReadTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Reads a text file, with line numbers. The last line is a digest of the content.",
            json!({
                "path": words("The file, relative to the workspace root."),
                "from": number(1, "The first line."),
                "to": number(1, "The last line."),
            }),
            &["path"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        calling.on_file(arguments, false, |tools, arguments, _| {
            read(tools.folder(), tools.limits(), &arguments)
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }
}

/// Returns whether a run may read a file without a person's yes. Whether a permission with an
/// end still holds is not known here, so it does not count.
pub(super) fn may_read(permissions: &Permissions, path: &str) -> bool {
    let Ok(arguments) = to_raw_value(&json!({ "path": path })) else { return false };
    let call = ToolCall { id: String::new(), tool: NAME.into(), arguments };
    let runs = |level: Level| level < Level::Ask;
    let mut strict = permissions.clone();
    strict.rules.retain(|rule| !runs(rule.level) || rule.until.is_none());
    let rule = strict.deciding(&call, Some(&ReadTool.decl()), At(0));
    runs(rule.map_or(strict.otherwise, |rule| rule.level))
}

/// The arguments of `read`.
#[derive(Debug, Deserialize)]
struct ReadLines {
    path: String,
    from: Option<usize>,
    to: Option<usize>,
}

/// Returns a file's lines with their numbers; if they are too many, as many as the limit allows,
/// and where to continue.
fn read(folder: &Folder, limits: &ToolLimits, arguments: &ReadLines) -> ToolOutput {
    let bytes = match contents(folder, limits, &arguments.path) {
        Ok(bytes) => bytes,
        Err(said) => return said,
    };
    let (size, digest) = (bytes.len(), digest(&bytes));
    let Some(decoded) = TextFile::decode(bytes) else {
        return ToolOutput::no(format!("`{}` is a binary file of {size} bytes", arguments.path));
    };
    let foot = foot(&decoded, &digest);
    let text = decoded.text;
    let lines = text.lines().count();
    let from = arguments.from.unwrap_or(1).max(1);
    let to = arguments.to.unwrap_or(lines).min(lines);
    if lines == 0 {
        return ToolOutput::yes(format!("`{}` is empty", arguments.path));
    }
    if from > lines {
        return ToolOutput::no(format!(
            "`{}` has {}, so there is no line {from}",
            arguments.path,
            counted(lines, "line")
        ));
    }
    if from > to {
        return ToolOutput::no(format!("`from` is {from} and `to` is {to}: the range is empty"));
    }
    let mut output = String::new();
    let range = text.lines().enumerate().skip(from.saturating_sub(1)).take(to - from + 1);
    for (at, line) in range {
        let number = at.saturating_add(1);
        let row = format!("{number:>6}\t{line}\n");
        if output.len().saturating_add(row.len()) > limits.output_bytes {
            let mut said = unfinished(output, &row, (number, lines), limits);
            said.output.push_str(&foot);
            return said;
        }
        output.push_str(&row);
    }
    if to < lines || from > 1 {
        output.extend([format!("[lines {from} to {to} of {lines}]\n")]);
    }
    output.push_str(&foot);
    ToolOutput::yes(output)
}

/// Returns the note below a file's lines: how they are stored, if not as usual, and
/// what tells them apart from others.
fn foot(text: &TextFile, digest: &str) -> String {
    let stored = match text.encoding() {
        "UTF-8" => String::new(),
        other => format!("[not UTF-8: read and kept as {other}]\n"),
    };
    format!("{stored}{CONTENT}{digest}]\n")
}

/// Says where to continue; a line above the limit is cut.
fn unfinished(
    mut output: String,
    row: &str,
    (at, lines): (usize, usize),
    limits: &ToolLimits,
) -> ToolOutput {
    let next = if output.is_empty() {
        output = super::stream::cut(row.trim_end(), limits.output_bytes);
        output.push('\n');
        at.saturating_add(1)
    } else {
        at
    };
    if next <= lines {
        let rest = format!("[cut: the file has {lines} lines; continue with from={next}]\n");
        output.push_str(&rest);
    }
    ToolOutput::yes(output)
}

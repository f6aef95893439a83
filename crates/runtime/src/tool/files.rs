//! `read` and `write`: whole files, or some lines of one.

use std::path::Path;

use pointsman_kernel::{id::Digest, tool::CONTENT};
use serde::Deserialize;

use super::{Said, folder::Folder, limits::Limits, text::Text};
use crate::plural::counted;

/// Bytes in which a NUL makes a file a binary one.
pub(super) const SNIFFED: usize = 8 << 10;
/// Letters of a digest that are shown: enough to tell a file's contents apart.
const DIGEST: usize = 16;
/// What a file held where nobody has looked.
const UNKNOWN: &str = "unknown";

/// The arguments of `read`.
#[derive(Debug, Deserialize)]
pub(super) struct ReadLines {
    path: String,
    from: Option<usize>,
    to: Option<usize>,
}

/// The arguments of `write`.
#[derive(Debug, Deserialize)]
pub(super) struct WriteFile {
    path: String,
    content: String,
    digest: Option<String>,
}

impl WriteFile {
    /// Returns the file as the model named it.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

/// Returns a file's lines with their numbers; where they are too many, the ones that
/// fit, and where to go on.
pub(super) fn read(folder: &Folder, limits: &Limits, arguments: &ReadLines) -> Said {
    let bytes = match contents(folder, limits, &arguments.path) {
        Ok(bytes) => bytes,
        Err(said) => return said,
    };
    let (size, digest) = (bytes.len(), digest(&bytes));
    let Some(decoded) = Text::decode(bytes) else {
        return Said::no(format!("`{}` is a binary file of {size} bytes", arguments.path));
    };
    let foot = foot(&decoded, &digest);
    let text = decoded.text;
    let lines = text.lines().count();
    let from = arguments.from.unwrap_or(1).max(1);
    let to = arguments.to.unwrap_or(lines).min(lines);
    if lines == 0 {
        return Said::yes(format!("`{}` is empty", arguments.path));
    }
    if from > lines {
        return Said::no(format!(
            "`{}` has {}, so there is no line {from}",
            arguments.path,
            counted(lines, "line")
        ));
    }
    if from > to {
        return Said::no(format!("`from` is {from} and `to` is {to}: nothing lies between"));
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
    Said::yes(output)
}

/// Returns what stands below a file's lines: how they are stored, if not as usual, and
/// what tells them apart from others.
fn foot(text: &Text, digest: &str) -> String {
    let stored = match text.encoding() {
        "UTF-8" => String::new(),
        other => format!("[not in UTF-8: it is read and kept as {other}]\n"),
    };
    format!("{stored}{CONTENT}{digest}]\n")
}

/// Says where to go on; a line that is too long by itself is shown cut.
fn unfinished(mut output: String, row: &str, (at, lines): (usize, usize), limits: &Limits) -> Said {
    let next = if output.is_empty() {
        output = super::limits::cut(row.trim_end(), limits.output_bytes);
        output.push('\n');
        at.saturating_add(1)
    } else {
        at
    };
    if next <= lines {
        let rest = format!("[of {lines} lines, this is all that fits; go on with from={next}]\n");
        output.push_str(&rest);
    }
    Said::yes(output)
}

/// Puts a file in place.
pub(super) fn write(
    folder: &Folder,
    limits: &Limits,
    arguments: &WriteFile,
    going: &dyn Fn() -> bool,
) -> Said {
    let size = arguments.content.len();
    if u64::try_from(size).unwrap_or(u64::MAX) > limits.file_bytes {
        let limit = limits.file_bytes;
        return Said::no(format!("the content has {size} bytes, and the limit is {limit}"));
    }
    let path = match folder.inside(&arguments.path) {
        Ok(path) => path,
        Err(error) => return Said::no(error),
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
        Ok(true) => Said::changed(format!("made `{path}`: {holds}")),
        Ok(false) => Said::changed(format!("replaced `{path}`: {holds}")),
        Err(error) => Said::unwritten(&error),
    }
}

/// Returns the digest of what a file holds before it is replaced.
fn before(folder: &Folder, limits: &Limits, path: &Path) -> Option<String> {
    folder.read(path, limits.file_bytes).ok().map(|bytes| digest(&bytes))
}

/// Returns what tells a file's contents apart, short enough for a model to repeat.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string().chars().take(DIGEST).collect()
}

/// Returns the line that says what a file held and holds, for whoever compares.
pub(super) fn holds(before: Option<&str>, after: &str) -> String {
    format!("{CONTENT}{} -> {after}]", before.unwrap_or("none"))
}

/// The same where nobody knows what it held, unless the call itself says so.
pub(super) fn holds_since(seen: Option<&str>, after: &str) -> String {
    holds(Some(seen.unwrap_or(UNKNOWN)), after)
}

/// Says that a file is not as whoever gave this digest has seen it.
pub(super) fn changed_since(path: &str, seen: Option<&str>, now: Option<&str>) -> Option<Said> {
    let seen = seen.filter(|seen| Some(*seen) != now)?;
    let now = now.map_or_else(|| "it is not there".into(), |now| format!("it is at {now}"));
    let seen: String = seen.chars().take(DIGEST).collect();
    Some(Said::no(format!(
        "`{path}` has changed since: `digest` says {seen}, and {now}; read it again before you \
         change it"
    )))
}

/// Says whether a file is as a `write` would leave it.
pub(super) fn was_written(folder: &Folder, limits: &Limits, arguments: &WriteFile) -> Said {
    match contents(folder, limits, &arguments.path) {
        Ok(bytes) if bytes == arguments.content.as_bytes() => {
            let holds = holds_since(arguments.digest.as_deref(), &digest(&bytes));
            Said::changed(format!("`{}` has this content\n{holds}", arguments.path))
        }
        _ => Said::no(format!(
            "`{}` does not have this content: the write was interrupted before it took place",
            arguments.path
        )),
    }
}

/// Reads a file whose path a model gave.
pub(super) fn contents(folder: &Folder, limits: &Limits, path: &str) -> Result<Vec<u8>, Said> {
    let read = folder.named(path).and_then(|path| folder.read(&path, limits.file_bytes));
    read.map_err(Said::no)
}

/// Returns whether these are the bytes of a binary file.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(SNIFFED).any(|byte| *byte == 0)
}

//! `read` and `write`: whole files, or some lines of one.

use serde::Deserialize;

use super::{Said, folder::Folder, limits::Limits};

/// Bytes in which a NUL makes a file a binary one.
const SNIFFED: usize = 8 << 10;

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
}

/// Returns a file's lines with their numbers; where they are too many, the ones that
/// fit, and where to go on.
pub(super) fn read(folder: &Folder, limits: &Limits, arguments: &ReadLines) -> Said {
    let bytes = match contents(folder, limits, &arguments.path) {
        Ok(bytes) => bytes,
        Err(said) => return said,
    };
    if is_binary(&bytes) {
        return Said::no(format!("`{}` is a binary file of {} bytes", arguments.path, bytes.len()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().count();
    let from = arguments.from.unwrap_or(1).max(1);
    let to = arguments.to.unwrap_or(lines).min(lines);
    if lines == 0 {
        return Said::yes(format!("`{}` is empty", arguments.path));
    }
    if from > lines {
        return Said::no(format!(
            "`{}` has {lines} lines, so there is no line {from}",
            arguments.path
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
            return unfinished(output, &row, (number, lines), limits);
        }
        output.push_str(&row);
    }
    if to < lines || from > 1 {
        output.push_str(&format!("[lines {from} to {to} of {lines}]\n"));
    }
    Said::yes(output)
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
        output.push_str(&format!(
            "[of {lines} lines, this is all that fits; go on with from={next}]\n"
        ));
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
    let replaced = folder
        .inside(&arguments.path)
        .and_then(|path| folder.replace(&path, arguments.content.as_bytes(), going));
    let lines = arguments.content.lines().count();
    match replaced {
        Ok(true) => {
            Said::changed(format!("made `{}`: {lines} lines, {size} bytes", arguments.path))
        }
        Ok(false) => {
            Said::changed(format!("replaced `{}`: {lines} lines, {size} bytes", arguments.path))
        }
        Err(error) => Said::no(error),
    }
}

/// Says whether a file is as a `write` would leave it.
pub(super) fn was_written(folder: &Folder, limits: &Limits, arguments: &WriteFile) -> Said {
    match contents(folder, limits, &arguments.path) {
        Ok(bytes) if bytes == arguments.content.as_bytes() => {
            Said::changed(format!("`{}` has this content", arguments.path))
        }
        _ => Said::no(format!(
            "`{}` does not have this content: the write was interrupted before it took place",
            arguments.path
        )),
    }
}

/// Reads a file whose path a model gave.
pub(super) fn contents(folder: &Folder, limits: &Limits, path: &str) -> Result<Vec<u8>, Said> {
    let read = folder.inside(path).and_then(|path| folder.read(&path, limits.file_bytes));
    read.map_err(Said::no)
}

/// Returns whether these are the bytes of a binary file.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(SNIFFED).any(|byte| *byte == 0)
}

//! What the tools over files have in common: contents and their digests.

use pointsman_kernel::{id::Digest, tool::CONTENT};

use super::{ToolOutput, folder::Folder, limits::ToolLimits};

/// Bytes in which a NUL makes a file binary.
pub(super) const SNIFFED: usize = 8 << 10;
/// Digits of a digest to show: enough to distinguish a file's contents.
const DIGEST: usize = 16;
/// Stands for unknown content.
const UNKNOWN: &str = "unknown";

/// Returns what tells a file's contents apart, short enough for a model to repeat.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string().chars().take(DIGEST).collect()
}

/// Returns the line with the digests of a file before and after, for later comparison.
pub(super) fn holds(before: Option<&str>, after: &str) -> String {
    format!("{CONTENT}{} -> {after}]", before.unwrap_or("none"))
}

/// The same if the content before is unknown, unless the call itself names it.
pub(super) fn holds_since(seen: Option<&str>, after: &str) -> String {
    holds(Some(seen.unwrap_or(UNKNOWN)), after)
}

/// Says that a file has changed since its digest was taken.
pub(super) fn changed_since(
    path: &str,
    seen: Option<&str>,
    now: Option<&str>,
) -> Option<ToolOutput> {
    let seen = seen.filter(|seen| Some(*seen) != now)?;
    let now =
        now.map_or_else(|| "the file is missing".into(), |now| format!("the file's is {now}"));
    let seen: String = seen.chars().take(DIGEST).collect();
    Some(ToolOutput::no(format!(
        "`{path}` has changed: `digest` is {seen}, but {now}; read it again before you change it"
    )))
}

/// Reads a file whose path a model gave.
pub(super) fn contents(
    folder: &Folder,
    limits: &ToolLimits,
    path: &str,
) -> Result<Vec<u8>, ToolOutput> {
    let read = folder.named(path).and_then(|path| folder.read(&path, limits.file_bytes));
    read.map_err(ToolOutput::no)
}

/// Returns whether these are the bytes of a binary file.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(SNIFFED).any(|byte| *byte == 0)
}

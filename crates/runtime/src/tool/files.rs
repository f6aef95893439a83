//! What the tools over files have in common: contents and their digests.

use pointsman_kernel::{id::Digest, tool::CONTENT};

use super::{ToolOutput, folder::Folder, limits::ToolLimits};

/// Bytes in which a NUL makes a file a binary one.
pub(super) const SNIFFED: usize = 8 << 10;
/// Letters of a digest that are shown: enough to tell a file's contents apart.
const DIGEST: usize = 16;
/// What a file held where nobody has looked.
const UNKNOWN: &str = "unknown";

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
pub(super) fn changed_since(
    path: &str,
    seen: Option<&str>,
    now: Option<&str>,
) -> Option<ToolOutput> {
    let seen = seen.filter(|seen| Some(*seen) != now)?;
    let now = now.map_or_else(|| "it is not there".into(), |now| format!("it is at {now}"));
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

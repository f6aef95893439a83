//! The lines by which the hook after tools reports, and whether all succeeded.

use alloc::{format, string::String};

use pointsman_kernel::agent::Summary;

/// The beginning of a line about a command.
pub const RAN: &str = "ran `";
/// The words between the name of a failed step and the reason.
pub const FAILED: &str = " failed: ";
/// The name of the commit, which can fail.
pub const COMMIT: &str = "the commit";
/// The search that comes before a commit, which can fail too.
pub const LOOKING: &str = "the search for changes to commit";
/// The end of a line about files that are left out, behind their names.
pub const LEFT_OUT: &str = "not committed, because it also contains changes from outside this run";

/// Returns the report in one line.
pub(super) fn summary(lines: &[String]) -> Summary {
    Summary { ok: went_well(lines), text: lines.join("; "), full: true }
}

/// Returns whether the lines of a report say that all succeeded: nothing failed, and something
/// was done or nothing was left out.
fn went_well(lines: &[String]) -> bool {
    let failed = |line: &String| {
        let what = line.split(FAILED).next().unwrap_or_default();
        let ours = what == COMMIT || what == LOOKING;
        line.contains(FAILED) && (ours || (line.starts_with('`') && is_command(line)))
    };
    let left_out = |line: &String| line.ends_with(LEFT_OUT);
    !lines.iter().any(failed) && (lines.is_empty() || !lines.iter().all(left_out))
}

/// Returns whether a line of a report describes a user's command. Files can have any name, and the
/// line that describes those begins with it.
pub fn is_command(line: &str) -> bool {
    let failed = line.starts_with('`') && line.contains(&format!("`{FAILED}"));
    (line.starts_with(RAN) || failed) && !line.ends_with(LEFT_OUT)
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec::Vec};

    use super::*;

    #[test]
    fn report_is_ok_if_something_was_done_without_failure() {
        let left = format!("a.txt: {LEFT_OUT}");
        let committed = "committed 1 file as 1234567: Say why a test failed: it is slow";
        for (lines, well) in [
            (&[][..], true),
            (&[committed], true),
            (&["ran `cargo fmt`", committed], true),
            (&[committed, &left], true),
            (&[left.as_str()], false),
            (&["the commit failed: locked"], false),
            (&["the search for changes to commit failed: why"], false),
            (&["`cargo fmt` failed: exit code 1", committed], false),
        ] {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            assert_eq!(summary(&lines).ok, well, "{lines:?}");
        }
    }
}

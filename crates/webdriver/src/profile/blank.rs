//! A profile's text as it may be shown beside its mistakes: keys, and no values.

use pointsman_kernel::diagnostic::Span;
use pointsman_runtime::config::Problem;

/// The replacement for hidden text.
const BLANK: &str = " …";
/// Headings that are not values.
const TABLES: [&str; 3] = ["[values]", "[answers]", "[facts]"];

/// Returns the text without possible values: everything after the first `=` of a line, and lines
/// without one. The positions of problems are adjusted.
pub(super) fn blanked(text: &str, problems: &mut [Problem]) -> String {
    let mut shown = String::new();
    let mut lines = Vec::new();
    let mut at = 0_usize;
    for line in text.lines() {
        let kept = kept(line);
        lines.push(Line { at, shown_at: shown.len(), kept: kept.len() });
        shown.push_str(kept);
        if line.len() > kept.len() {
            shown.push_str(if kept.is_empty() { BLANK.trim_start() } else { BLANK });
        }
        shown.push('\n');
        at = at.saturating_add(line.len());
        // A line may end with one sign or two.
        at = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |it| at + it + 1);
    }
    for problem in problems {
        let Span { start, end } = problem.span;
        problem.span = moved(&lines, &shown, start, end);
    }
    shown
}

/// The position of a line in the text and in the shown version, and how much of it is shown.
struct Line {
    at: usize,
    shown_at: usize,
    kept: usize,
}

/// Returns the beginning of a line that holds no value.
fn kept(line: &str) -> &str {
    let heading = line.trim();
    if heading.is_empty() || TABLES.contains(&heading) {
        return line;
    }
    line.split_inclusive('=').next().filter(|key| key.ends_with('=')).unwrap_or_default()
}

/// Returns the position in the shown text of a position in the original.
fn moved(lines: &[Line], shown: &str, start: usize, end: usize) -> Span {
    let Some(line) = lines.iter().rev().find(|line| line.at <= start) else {
        return Span::default();
    };
    let column = start.saturating_sub(line.at);
    let within = line.shown_at.saturating_add(line.kept.min(column));
    if column < line.kept {
        let kept = line.kept.saturating_sub(column);
        let length = end.saturating_sub(start).min(kept);
        return Span { start: within, end: within.saturating_add(length) };
    }
    let rest = shown.get(within..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let sign = rest.trim_start();
    let end = within.saturating_add(rest.len());
    Span { start: end.saturating_sub(sign.len()), end }
}

//! What a run of `code` has come to, for the person who started it.

use alloc::{format, string::String, vec::Vec};

use super::{
    data::CodeData,
    plan::{PhaseRecord, PhaseWork},
};
use crate::dialogue::first_line;

/// Bytes of a line that are shown of a goal or a description.
const MAX_LINE: usize = 200;
/// Files that are named.
const MAX_NAMED: usize = 20;

/// Reports the goal, the result of each phase, the last words, and the remaining work.
pub(super) fn of(data: &CodeData) -> Option<String> {
    if data.prompt.is_empty() {
        return None;
    }
    let last = data.transcript.last_text().trim();
    // A question that was answered needs no report.
    if data.plan.phases.is_empty() && data.work.files.is_empty() && data.error.is_none() {
        return (!last.is_empty()).then(|| last.into());
    }
    let mut parts: Vec<String> = [format!("Goal: {}", first_line(&data.prompt, MAX_LINE))].into();
    parts.extend(phases(data));
    if !last.is_empty() {
        parts.push(format!("Last message:\n{last}"));
    }
    if let Some(error) = &data.error {
        parts.push(format!("Stopped: {}", error.message));
    }
    let left = left(data);
    if !left.is_empty() {
        parts.push(format!("Left to do:\n{}", left.join("\n")));
    }
    Some(parts.join("\n\n"))
}

/// Returns a paragraph for each phase that was begun, or one for work without a plan.
pub(super) fn phases(data: &CodeData) -> Vec<String> {
    let mut parts: Vec<String> = data.plan.records.iter().map(|it| ended(data, it)).collect();
    let begun = data.work.calls > 0 || data.work.tests_passed.is_some();
    match data.plan.current() {
        Some(open) if begun || data.plan.started.is_some() => {
            parts.push(format!("{}: open\n{}", title(data, open), done(&data.work)));
        }
        None if begun => parts.push(format!("Done:\n{}", done(&data.work))),
        Some(_) | None => {}
    }
    parts
}

fn ended(data: &CodeData, record: &PhaseRecord) -> String {
    let how = if record.succeeded { "succeeded" } else { "did not succeed" };
    let mut lines: Vec<String> = [format!("{}: {how}", title(data, record.number))].into();
    let files = count(record.files_changed, "file");
    let tests = tests(record.tests_passed);
    lines.push(format!("- {}, {files} changed, {tests}", count(record.calls as usize, "call")));
    lines.extend(record.blockers.iter().map(|it| format!("- blocked by: {it}")));
    lines.join("\n")
}

fn done(work: &PhaseWork) -> String {
    let calls = count(work.calls as usize, "call");
    let files = count(work.files.len(), "file");
    let line = format!("- {calls}, {files} changed, {}", tests(work.tests_passed));
    if work.files.is_empty() {
        return line;
    }
    let named: Vec<&str> = work.files.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = work.files.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{line}\n- changed: {}{more}", named.join(", "))
}

fn left(data: &CodeData) -> Vec<String> {
    let open = data.plan.current().unwrap_or(usize::MAX);
    let failed = data.plan.records.iter().filter(|record| !record.succeeded);
    let failed = failed.map(|record| format!("- {}", title(data, record.number)));
    let rest = (open..=data.plan.phases.len()).map(|number| format!("- {}", title(data, number)));
    failed.chain(rest).collect()
}

pub(super) fn title(data: &CodeData, number: usize) -> String {
    let phase = data.plan.phases.get(number.saturating_sub(1));
    let what = phase.map_or("", |phase| phase.description.as_str());
    format!("Phase {number} of {}, {}", data.plan.phases.len(), first_line(what, MAX_LINE))
}

const fn tests(passed: Option<bool>) -> &'static str {
    match passed {
        Some(true) => "tests passed",
        Some(false) => "tests failed",
        None => "no tests",
    }
}

fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

//! What a run has to tell in the end: its answer with the sources, or how far it came.
//!
//! Both are made from the run's data alone, so the same run always tells the same,
//! and both are bounded however much was found.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use pointsman_kernel::table::{DataTable, RowMark};

use super::{
    data::{FailureCause, Finding, ResearchData},
    offer::{SEARCH, one_line},
    passage::DocumentLine,
};

/// Sources that an answer lists.
const MAX_SOURCES: usize = 10;
/// Bytes that a quoted passage has at least; less could stand anywhere.
const MIN_QUOTE: usize = 16;
/// Sources that a table lists.
const MAX_ROWS: usize = 1_000;
/// Lines of a list in a summary.
const MAX_LINES: usize = 8;
/// Bytes of a line in a summary.
const MAX_LINE: usize = 300;
/// Bytes of the goal, and of an answer that was not delivered, in a summary.
const MAX_TEXT: usize = 600;
/// Words of the goal by which passages are ranked.
const MAX_WORDS: usize = 32;
/// Analyses that a summary repeats.
const MAX_NOTES: usize = 3;

/// Returns an answer, followed by where it comes from: the places that it names or
/// quotes, failing that those in files that it names, failing that all that was found.
pub(super) fn answer(answer: &str, data: &ResearchData) -> String {
    let findings = data.findings.as_slice();
    let passages: Vec<DocumentLine<'_>> = findings.iter().flat_map(Finding::passages).collect();
    let places = |relies: &dyn Fn(&DocumentLine<'_>) -> bool| -> Vec<String> {
        passages.iter().filter(|it| relies(it)).map(|it| it.place.into()).collect()
    };
    let mut sources = places(&|it| names(answer, it.place) || quotes(answer, it.text));
    if sources.is_empty() {
        sources = places(&|it| names(answer, it.path));
        sources.extend(looked_at(findings).filter(|place| names(answer, place)));
    }
    if sources.is_empty() {
        sources = places(&|_| true);
        sources.extend(looked_at(findings));
    }
    let sources = distinct(sources, MAX_SOURCES);
    let mut told: String = answer.into();
    if !sources.is_empty() {
        told = format!("{}\n\nSources:\n- {}", told.trim_end(), sources.join("\n- "));
    }
    if let Some(off) = off(data) {
        told = format!("{}\n\n({off})", told.trim_end());
    }
    told
}

/// Returns every passage that was found, and whether the answer names or quotes it; nothing if none
/// was found.
pub(super) fn sources(data: &ResearchData) -> Option<DataTable> {
    let mut table = DataTable::new("Sources", &["place", "text", "quoted or named"]);
    let answer = data.answer.as_deref().unwrap_or_default();
    let mut seen = BTreeSet::new();
    let mut add = |place: &str, text: &str, used: bool| {
        if table.rows.len() < MAX_ROWS && seen.insert(String::from(place)) {
            let (mark, used) = if used { (RowMark::Good, "yes") } else { (RowMark::Plain, "no") };
            table.row(mark, [place.into(), text.into(), used.into()]);
        }
    };
    for it in data.findings.iter().flat_map(Finding::passages) {
        add(it.place, it.text, names(answer, it.place) || quotes(answer, it.text));
    }
    for place in looked_at(&data.findings) {
        add(&place, "", names(answer, &place));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Says what the goal turned off.
fn off(data: &ResearchData) -> Option<String> {
    let words = data.off.as_deref()?;
    Some(format!("The documents were not searched: the goal says \u{201c}{words}\u{201d}."))
}

/// Returns how far a run came that has no answer, and what could be done next.
pub(super) fn summary(data: &ResearchData) -> String {
    let mut parts =
        alloc::vec![format!("No answer was found to: {}", one_line(&data.goal, MAX_TEXT))];
    parts.push(stop(data));
    parts.extend(off(data));
    if data.forgotten > 0 {
        parts.push(format!("Calls before the last {}: {}", data.findings.len(), data.forgotten));
    }
    parts.extend(list("Searched", searches(data)));
    parts.extend(list("Not searched", unsearched(data)));
    parts.extend(list("Other calls", others(data)));
    parts.extend(list("Best passages", best(data)));
    parts.extend(list("Notes", notes(data)));
    parts.extend(list("Refused", refused(data)));
    if let Some(answer) = &data.answer {
        let answer = one_line(answer, MAX_TEXT);
        parts.push(format!("The model had written this, and it was not confirmed: {answer}"));
    }
    parts.push(format!("What to do next: {}", next(data)));
    parts.join("\n")
}

/// Says where and why it stopped.
fn stop(data: &ResearchData) -> String {
    match &data.stopped {
        Some(stopped) => format!("It stopped in `{}`: {}.", stopped.state, stopped.reason),
        None if data.goal.trim().is_empty() => "It stopped at once: there is no question.".into(),
        None => match data.advice.halted() {
            Some(why) => format!("It stopped: {}.", one_line(why, MAX_LINE)),
            None => "It stopped: a limit of its chart was reached.".into(),
        },
    }
}

/// Suggests what a person could do.
fn next(data: &ResearchData) -> &'static str {
    let found = data.findings.iter().any(|finding| finding.passages().next().is_some());
    // `quote` says so where it has nothing to quote.
    let unasked = data.stopped.as_ref().is_some_and(|it| it.reason.contains("no model was asked"));
    match data.stopped.as_ref().map(|stopped| stopped.cause) {
        None if data.goal.trim().is_empty() => "ask a question.",
        Some(FailureCause::Unusable) if !found && data.off.is_some() => {
            "leave out of the goal what turned the search off, or ask another model."
        }
        Some(FailureCause::Unusable) if !found && data.findings.iter().any(|it| it.result.ok) => {
            "check that the documents cover this, and use words that occur in them; or ask another \
             model."
        }
        Some(FailureCause::Unusable) if unasked => {
            "use words that occur in the documents, or name a model with `--model`."
        }
        Some(FailureCause::Unusable) => {
            "the model's replies could not be used; ask again, or ask another model."
        }
        Some(FailureCause::Failed) => {
            "see that the model and the tools can be reached, and ask again; the work so far is \
             in the journal."
        }
        Some(FailureCause::Denied) => "permit the tool, or ask in a way that does not need it.",
        Some(FailureCause::Limit) | None if found => {
            "ask a narrower question, or raise the limits in a copy of the chart."
        }
        _ if found => "read the passages above, or ask a narrower question in their words.",
        _ => "check that the documents cover this, and use words that occur in them.",
    }
}

/// Returns a titled list, unless there is nothing to list.
fn list(title: &str, lines: Vec<String>) -> Option<String> {
    let count = lines.len();
    let mut shown: Vec<String> =
        lines.iter().take(MAX_LINES).map(|line| one_line(line, MAX_LINE)).collect();
    let more = count.saturating_sub(MAX_LINES);
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    (count > 0).then(|| format!("{title} ({count}):\n- {}", shown.join("\n- ")))
}

fn searches(data: &ResearchData) -> Vec<String> {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut lines = Vec::new();
    for finding in &data.findings {
        let places: Vec<&str> = finding.passages().map(|it| it.place).collect();
        let new = places.iter().filter(|place| known.insert(place)).count();
        if finding.call.tool == SEARCH {
            let query = one_line(&finding.argument("query").unwrap_or_default(), MAX_LINE / 2);
            let found = match (finding.result.ok, places.len()) {
                (false, _) => one_line(&finding.result.output, MAX_LINE / 2),
                (true, 0) => "no passage".into(),
                (true, 1) => format!("1 passage, {new} new"),
                (true, count) => format!("{count} passages, {new} new"),
            };
            lines.push(format!("\"{query}\": {found}"));
        }
    }
    lines
}

/// Returns what the searches said about files that they left out, each once.
fn unsearched(data: &ResearchData) -> Vec<String> {
    let searches = data.findings.iter().filter(|it| it.call.tool == SEARCH && it.result.ok);
    let lines = searches.flat_map(|finding| finding.result.output.lines());
    let said = lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
    distinct(said.map(Into::into).collect(), MAX_LINES)
}

fn others(data: &ResearchData) -> Vec<String> {
    let others = data.findings.iter().filter(|finding| finding.call.tool != SEARCH);
    let line = |finding: &Finding| {
        let arguments = one_line(finding.call.arguments.get(), MAX_LINE / 3);
        let first = finding.result.output.lines().next().unwrap_or_default();
        let said = if finding.result.ok { "" } else { "failed: " };
        let first = one_line(first, MAX_LINE / 3);
        format!("`{}` {arguments}: {said}{first}", finding.call.tool)
    };
    others.map(line).collect()
}

/// Returns the passages that share the most words with the goal, the best first.
fn best(data: &ResearchData) -> Vec<String> {
    let goal = data.goal.to_lowercase();
    let mut words: Vec<&str> = Vec::new();
    for word in goal.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
        // A long goal has no better words at its end.
        if words.len() < MAX_WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let found = data.findings.iter().flat_map(Finding::passages);
    let mut passages: Vec<DocumentLine<'_>> = found.filter(|it| known.insert(it.place)).collect();
    // The sort is stable: among equals the order in which they were found decides.
    passages.sort_by_cached_key(|passage| {
        let text = passage.text.to_lowercase();
        core::cmp::Reverse(words.iter().filter(|word| text.contains(**word)).count())
    });
    passages.iter().map(|it| format!("{}: {}", it.place, it.text)).collect()
}

/// Returns the rejected decisions, except the one that stopped the run: it is reported already.
fn refused(data: &ResearchData) -> Vec<String> {
    let last = data.stopped.as_ref().map_or("", |stopped| &stopped.reason);
    data.refused.iter().filter(|reason| *reason != last).cloned().collect()
}

/// Returns what the model made of the last findings.
fn notes(data: &ResearchData) -> Vec<String> {
    let analyses = data.findings.iter().map(|it| it.analysis.as_str());
    let made = analyses.filter(|text| !text.is_empty());
    let mut notes: Vec<String> = made.rev().take(MAX_NOTES).map(Into::into).collect();
    notes.reverse();
    notes
}

/// Returns what calls looked at whose results name no lines.
fn looked_at(findings: &[Finding]) -> impl Iterator<Item = String> {
    let unnamed = |it: &&Finding| it.result.ok && it.passages().next().is_none();
    findings
        .iter()
        .filter(unnamed)
        .filter_map(|it| it.argument("path").or_else(|| it.argument("url")))
}

fn distinct(sources: Vec<String>, limit: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for source in sources {
        if kept.len() < limit && !kept.contains(&source) {
            kept.push(source);
        }
    }
    kept
}

/// Returns whether a text names a place, and not only one that starts or ends like it.
fn names(text: &str, place: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    text.match_indices(place).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at.saturating_add(place.len())..).and_then(|it| it.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn quotes(text: &str, passage: &str) -> bool {
    passage.len() >= MIN_QUOTE && text.contains(passage)
}

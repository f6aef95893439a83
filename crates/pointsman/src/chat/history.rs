//! The past of a resumed conversation.

use pointsman_agents::{
    code::Plan,
    transcript::{CallRecord, TranscriptMessage},
};

use crate::{
    calls, format,
    line::{Ink, Line},
};

/// Messages that are shown.
const MESSAGES: usize = 6;
/// Lines of each of them.
const LINES: usize = 6;

/// Returns the last messages.
pub(super) fn last(messages: &[TranscriptMessage]) -> Vec<Line> {
    let over = messages.len().saturating_sub(MESSAGES);
    let mut lines = Vec::new();
    if over > 0 {
        lines.push(Line::of(
            Ink::Dim,
            &format!(
                "… {}",
                format::counted(over.try_into().unwrap_or(u64::MAX), "earlier message")
            ),
        ));
    }
    for message in messages.iter().skip(over) {
        match message {
            TranscriptMessage::User { text } => {
                lines.push(Line::default());
                lines.extend(said("› ", Ink::Accent, text));
            }
            TranscriptMessage::Assistant { text, calls } => {
                if !text.trim().is_empty() {
                    lines.push(Line::default());
                    lines.extend(said("", Ink::Plain, text));
                }
                lines.extend(calls.iter().map(called));
            }
            // The host's own words to the model are not part of the conversation.
            _ => {}
        }
    }
    lines
}

/// Returns a plan, with the result of each phase.
pub(super) fn plan(plan: &Plan) -> Vec<Line> {
    let open = plan.current().filter(|_| plan.started.is_some());
    let phase = |(number, phase): (usize, &pointsman_agents::code::Phase)| {
        let record = plan.records.iter().find(|record| record.number == number);
        let (ink, sign) = match record {
            Some(record) if record.succeeded => (Ink::Good, "✓"),
            Some(_) => (Ink::Bad, "✗"),
            None if open == Some(number) => (Ink::Accent, "▸"),
            None => (Ink::Dim, " "),
        };
        let line = Line::of(ink, &format!("  {sign} {number}. "));
        let line = line.and(Ink::Plain, &phase.description);
        record.map_or_else(
            || line.clone(),
            |record| {
                let calls = format::counted(record.calls.into(), "call");
                let files = format::counted(
                    u64::try_from(record.files_changed).unwrap_or(u64::MAX),
                    "file",
                );
                line.clone().and(Ink::Dim, &format!(" · {calls}, {files} changed"))
            },
        )
    };
    (1..).zip(&plan.phases).map(phase).collect()
}

fn said(sign: &str, ink: Ink, text: &str) -> Vec<Line> {
    let text = text.trim_end();
    let over = text.lines().count().saturating_sub(LINES);
    let mut lines: Vec<Line> =
        text.lines().take(LINES).map(|line| Line::of(Ink::Plain, line)).collect();
    if let Some(first) = lines.first_mut() {
        *first = Line::of(ink, sign).and(Ink::Plain, &first.text());
    }
    if over > 0 {
        let over = format::counted(u64::try_from(over).unwrap_or(u64::MAX), "line");
        lines.push(Line::of(Ink::Dim, &format!("… {over} more")));
    }
    lines
}

fn called(called: &CallRecord) -> Line {
    let (ink, sign) = match &called.result {
        Some(result) if result.ok => (Ink::Good, "  ✓ "),
        Some(_) => (Ink::Bad, "  ✗ "),
        None => (Ink::Warning, "  ? "),
    };
    Line::of(ink, sign).and(Ink::Dim, &calls::title(&called.call))
}

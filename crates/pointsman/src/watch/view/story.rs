//! The story of a step: texts of models, calls with their arguments and results, verdicts with
//! their evidence.

use pointsman_kernel::{agent::Answer, body::Body, event::Usage};
use pointsman_runtime::timeline::{TimelineItem, TimelineKind};
use serde_json::Value;

use crate::{
    calls, dialogue, format,
    line::{Ink, Line},
    watch::items::{ItemRow, level},
};

/// Bytes of a text that are shown; the rest is counted.
pub(crate) const SHOWN: usize = 16 << 10;
/// Characters of a line without a break: longer ones are broken into lines of this many.
const UNBROKEN: usize = 1_000;

/// Returns all that an entry's items say, and the line of the selected one, which is marked.
pub(super) fn lines(items: &[TimelineItem], selected: u16) -> (Vec<Line>, usize) {
    let (mut lines, mut marked) = (Vec::new(), 0);
    // Beyond the last one means the last one.
    let last = items.last().map_or(0, |item| item.index);
    for item in items {
        let row = ItemRow::of(item);
        let mut mark = "  ";
        if item.index == selected.min(last) {
            (mark, marked) = ("▌ ", lines.len());
        }
        lines.push(Line::of(Ink::Accent, mark).and(row.ink, &row.text));
        lines.extend(details(&item.kind).into_iter().map(|line| line.indented(4)));
    }
    (lines, marked)
}

/// Returns the texts of an item, uncut: for a search.
pub(crate) fn texts(kind: &TimelineKind) -> Vec<String> {
    let mut texts = Vec::new();
    match kind {
        TimelineKind::Given { text, .. } => texts.extend(text.clone()),
        TimelineKind::Answered { answer, .. } => {
            texts.push(said(answer));
            if let Answer::Model(reply) = &**answer {
                texts.extend(reply.calls.iter().map(|call| call.arguments.get().to_owned()));
                texts.extend(reply.calls.iter().map(|call| call.tool.clone()));
            }
        }
        TimelineKind::Started { call: Some(call), .. } => {
            texts.push(call.tool.clone());
            texts.push(call.arguments.get().to_owned());
        }
        TimelineKind::Asked(question) => {
            texts.extend(dialogue::about(question, None).iter().map(Line::text));
        }
        TimelineKind::ApprovalAnswered { reason, .. } => texts.push(reason.to_string()),
        TimelineKind::Verdict(verdict) => {
            texts.push(verdict.reason.clone());
            texts.push(verdict.advice.to_string());
        }
        TimelineKind::Transition { from, .. } => texts.extend(from.as_deref().map(str::to_owned)),
        _ => {}
    }
    texts
}

fn details(kind: &TimelineKind) -> Vec<Line> {
    match kind {
        TimelineKind::Given { text: Some(text), .. } => preview(text, Ink::Plain),
        TimelineKind::Answered { did, answer, usage, .. } => {
            let mut lines = Vec::new();
            if !did.is_empty() {
                lines.push(Line::of(Ink::Dim, did));
            }
            lines.extend(preview(&said(answer), Ink::Plain));
            if let Answer::Model(reply) = &**answer {
                for call in &reply.calls {
                    lines.push(Line::of(Ink::Accent, &format!("proposes {}", call.tool)));
                    lines.extend(preview(&pretty(call.arguments.get()), Ink::Plain));
                }
            }
            lines.extend(cost(*usage));
            lines
        }
        TimelineKind::Started { call: Some(call), .. } => shortened(calls::whole(call, None)),
        TimelineKind::Asked(question) => shortened(dialogue::about(question, None)),
        TimelineKind::ApprovalAnswered { call: Some(call), .. } => {
            preview(&pretty(call.arguments.get()), Ink::Plain)
        }
        TimelineKind::Verdict(verdict) => {
            let rule = serde_json::to_value(verdict.rule).unwrap_or_default();
            let rule = rule.as_str().unwrap_or_default().replace('_', " ");
            let mut lines =
                vec![Line::of(Ink::Plain, &format!("rule: {rule} ({})", level(verdict.level)))];
            if !verdict.advice.is_empty() {
                lines.push(Line::of(Ink::Plain, &format!("advice: {}", verdict.advice)));
            }
            if !verdict.evidence.is_empty() {
                let seen: Vec<String> =
                    verdict.evidence.iter().map(|it| it.0.to_string()).collect();
                lines.push(Line::of(Ink::Plain, &format!("seen in entries {}", seen.join(", "))));
            }
            lines
        }
        TimelineKind::Transition { from: Some(from), spent, ms, .. } => {
            let spent = spent.as_ref().map_or_else(String::new, |it| format!(", spending {it}"));
            let time = format::duration(*ms);
            vec![Line::of(Ink::Dim, &format!("after {time} in {from}{spent}"))]
        }
        _ => Vec::new(),
    }
}

/// Returns what an answer says.
pub(crate) fn said(answer: &Answer<Body>) -> String {
    match answer {
        Answer::Model(reply) => reply.text.clone(),
        Answer::Tool(result) => result.output.clone(),
        Answer::Child(end) => format!("{}: {}", end.ended.name(), end.result),
        Answer::Own(report) => pretty(report.get()),
        Answer::Fault(fault) => fault.message.clone(),
        _ => String::new(),
    }
}

fn cost(usage: Usage) -> Option<Line> {
    let tokens = (usage.tokens > 0).then(|| format::counted(usage.tokens, "token"));
    let money = (usage.money > 0).then(|| format!("cost: {}", format::money(usage.money)));
    let parts: Vec<String> = tokens.into_iter().chain(money).collect();
    (!parts.is_empty()).then(|| Line::of(Ink::Dim, &parts.join(", ")))
}

/// Returns JSON over several lines, as far as it is some.
pub(crate) fn pretty(json: &str) -> String {
    // Nobody reads more than a preview, so that nothing longer is parsed.
    if json.len() > SHOWN * 8 {
        return json.to_owned();
    }
    let value = serde_json::from_str::<Value>(json).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| json.to_owned())
}

/// Returns the start of a text in lines, and how much is left out.
pub(super) fn preview(text: &str, ink: Ink) -> Vec<Line> {
    let shown = text.get(..text.floor_char_boundary(SHOWN)).unwrap_or(text);
    let mut lines: Vec<Line> = format::folded(&format::prose(shown))
        .lines()
        .flat_map(broken)
        .map(|line| Line::of(ink, &line))
        .collect();
    let left = u64::try_from(text.len().saturating_sub(shown.len())).unwrap_or(u64::MAX);
    if left > 0 {
        let text = format!(
            "… {} more; `pointsman show RUN --json` prints everything",
            format::counted(left, "byte")
        );
        lines.push(Line::of(Ink::Dim, &text));
    }
    lines
}

/// Breaks a long line.
fn broken(line: &str) -> Vec<String> {
    let mut rest = line;
    let mut pieces = Vec::new();
    while let Some((at, _)) = rest.char_indices().nth(UNBROKEN) {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        pieces.push(head.to_owned());
        rest = tail;
    }
    pieces.push(rest.to_owned());
    pieces
}

/// Returns as many lines as a preview has room for.
fn shortened(lines: Vec<Line>) -> Vec<Line> {
    let mut room = SHOWN;
    let mut shown = Vec::new();
    for line in lines {
        let text = line.text();
        if text.len() > UNBROKEN {
            shown.extend(preview(&text, Ink::Plain));
        } else {
            shown.push(line);
        }
        let Some(left) = room.checked_sub(text.len() + 1) else {
            shown.push(Line::of(Ink::Dim, "… `pointsman show RUN --json` prints everything"));
            break;
        };
        room = left;
    }
    shown
}

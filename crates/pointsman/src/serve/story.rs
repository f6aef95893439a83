//! Items of a timeline as a page tells them: a line, and texts that are cut to a preview.

use std::collections::BTreeMap;

use pointsman_kernel::{
    agent::{Answer, OrderKind},
    body::Body,
};
use pointsman_runtime::{
    observe::Question,
    timeline::{TimelineItem, TimelineKind},
};
use pointsman_webdriver::kept;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    calls, dialogue, format,
    line::Line,
    watch::{ItemRow, level, pretty, said},
};

/// Bytes of a text in which names of files are looked for, and files of one item.
const MENTIONED: usize = 256 << 10;
const FILES: usize = 8;

/// An item of the timeline, as text for people.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StoryItem {
    /// The entry.
    seq: u64,
    /// The item's place among those of its entry.
    index: u16,
    /// Milliseconds since the run began.
    at: u64,
    /// The kind, as in the timeline.
    #[schema(value_type = String, example = "transition")]
    kind: Box<str>,
    /// How it looks: `plain`, `dim`, `bold`, `accent`, `good`, `warning`, `bad` or `struck`.
    #[schema(example = "good")]
    tone: &'static str,
    /// How much it matters: 1 for mechanics, 2 for the story, 3 for turning points.
    #[schema(example = 2)]
    level: u8,
    /// The item in a line.
    text: String,
    /// The effect that it is about.
    effect: Option<String>,
    /// Who carries the effect out: `model`, `tool`, `child` or `own`.
    #[schema(value_type = Option<String>)]
    by: Option<&'static str>,
    /// The state that a transition enters.
    #[schema(value_type = Option<String>)]
    to: Option<Box<str>>,
    /// The entries that are the evidence for the governor's verdict.
    evidence: Vec<u64>,
    /// Tokens that it cost.
    tokens: u64,
    /// Millionths of a currency unit that it cost.
    money: u64,
    /// Its texts.
    parts: Vec<TextPreview>,
    /// Names of files that are kept for it, such as screenshots.
    files: Vec<String>,
}

/// The start of a text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TextPreview {
    /// Its format: `markdown`, `text`, `diff` or `json`.
    #[schema(example = "markdown")]
    format: &'static str,
    /// What it is, in a few words.
    title: String,
    /// Its start.
    text: String,
    /// The bytes of the whole text.
    bytes: usize,
    /// Where the rest begins; null if nothing is left.
    next: Option<usize>,
}

/// A text of an item, whole.
pub(super) struct WholeText {
    format: &'static str,
    title: String,
    text: String,
}

impl WholeText {
    pub(super) fn new(format: &'static str, title: &str, text: impl Into<String>) -> Self {
        Self { format, title: title.into(), text: text.into() }
    }

    /// Returns whether it says this.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text.trim() == text.trim()
    }

    /// Returns a part of it, as a person can read it.
    pub(super) fn part(&self, from: usize, most: usize) -> TextPreview {
        let bytes = self.text.len();
        let from = self.text.floor_char_boundary(from.min(bytes));
        let to = self.text.floor_char_boundary(from.saturating_add(most.max(4)).min(bytes));
        let part = self.text.get(from..to).unwrap_or_default();
        TextPreview {
            format: self.format,
            title: self.title.clone(),
            text: format::prose(part),
            bytes,
            next: (to < bytes).then_some(to),
        }
    }
}

impl StoryItem {
    /// Returns its entry.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns an item with previews of at most so many bytes. `result` is the run's, for its end.
    pub(super) fn of(item: &TimelineItem, most: usize, result: Option<&str>) -> Self {
        let row = ItemRow::of(item);
        let (mut tokens, mut money) = (0, 0);
        let (mut effect, mut by, mut to, mut evidence) = (None, None, None, Vec::new());
        match &item.kind {
            TimelineKind::Answered { effect: of, usage, answer, .. } => {
                (tokens, money) = (usage.tokens, usage.money);
                effect = Some(of.to_string());
                by = answered_by(answer);
            }
            TimelineKind::Started { effect: of, by: kind, .. } => {
                (effect, by) = (Some(of.to_string()), started_by(*kind));
            }
            TimelineKind::Stopped { effect: of }
            | TimelineKind::ApprovalAnswered { effect: of, .. } => effect = Some(of.to_string()),
            TimelineKind::Asked(question) => effect = Some(question.effect.to_string()),
            TimelineKind::Transition { to: state, .. } => to.clone_from(state),
            TimelineKind::Verdict(verdict) => {
                evidence = verdict.evidence.iter().map(|seq| seq.0).collect();
            }
            _ => {}
        }
        Self {
            seq: item.seq.0,
            index: item.index,
            at: item.at.0,
            kind: row.kind,
            tone: row.ink.name(),
            level: importance(&item.kind),
            text: row.text,
            effect,
            by,
            to,
            evidence,
            tokens,
            money,
            files: files(&item.kind),
            parts: texts(&item.kind, result).iter().map(|text| text.part(0, most)).collect(),
        }
    }
}

const fn started_by(kind: OrderKind) -> Option<&'static str> {
    match kind {
        OrderKind::Model => Some("model"),
        OrderKind::Tool => Some("tool"),
        OrderKind::Child => Some("child"),
        OrderKind::Own => Some("own"),
        _ => None,
    }
}

const fn answered_by<T>(answer: &Answer<T>) -> Option<&'static str> {
    match answer {
        Answer::Model(_) => Some("model"),
        Answer::Tool(_) => Some("tool"),
        Answer::Child(_) => Some("child"),
        Answer::Own(_) => Some("own"),
        _ => None,
    }
}

/// Returns how much an item matters to a reader.
pub(super) const fn importance(kind: &TimelineKind) -> u8 {
    match kind {
        TimelineKind::Answered { ok: true, .. }
        | TimelineKind::Transition { .. }
        | TimelineKind::Started { call: Some(_), .. }
        | TimelineKind::Listens { error: None } => 2,
        TimelineKind::Started { .. }
        | TimelineKind::Stopped { .. }
        | TimelineKind::Woke
        | TimelineKind::Retrying { .. }
        | TimelineKind::Lifted { .. }
        | TimelineKind::Raw { .. } => 1,
        _ => 3,
    }
}

/// Returns the names of kept files that an agent's report, a result or a fault mentions.
fn files(kind: &TimelineKind) -> Vec<String> {
    let TimelineKind::Answered { answer, .. } = kind else { return Vec::new() };
    let text = match &**answer {
        Answer::Own(report) => report.get(),
        Answer::Tool(result) => result.output.as_str(),
        Answer::Fault(fault) => fault.message.as_str(),
        _ => return Vec::new(),
    };
    let text = text.get(..text.floor_char_boundary(MENTIONED)).unwrap_or_default();
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '.');
    let mut found: Vec<String> = Vec::new();
    for name in words.filter(|word| kept::is_name(word)) {
        if found.len() < FILES && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// Returns the change that a call made, where the item is its result.
pub(super) fn edit_text(kind: &TimelineKind) -> Option<WholeText> {
    let TimelineKind::Answered { ok: true, call: Some(call), .. } = kind else { return None };
    let change = || WholeText::new("diff", "", joined(calls::whole(call, None)));
    calls::is_edit(call).then(change)
}

/// Returns the texts of an item, whole. `result` is the run's, for its end.
pub(super) fn texts(kind: &TimelineKind, result: Option<&str>) -> Vec<WholeText> {
    match kind {
        TimelineKind::Ended { .. } => {
            result.map(|text| WholeText::new("markdown", "result", text)).into_iter().collect()
        }
        TimelineKind::Given { text: Some(text), .. } => {
            vec![WholeText::new("markdown", "", text.as_str())]
        }
        TimelineKind::Answered { answer, .. } => answer_texts(answer),
        TimelineKind::Started { call: Some(call), .. } => {
            vec![WholeText::new("diff", "call", joined(calls::whole(call, None)))]
        }
        TimelineKind::Asked(question) => vec![about(question, None)],
        TimelineKind::Verdict(verdict) => {
            let rule = serde_json::to_value(verdict.rule).unwrap_or_default();
            let rule = rule.as_str().unwrap_or_default().replace('_', " ");
            let rule = format!("rule: {rule} ({})", level(verdict.level));
            let advice =
                (!verdict.advice.is_empty()).then(|| format!("advice: {}", verdict.advice));
            let lines: Vec<String> = std::iter::once(rule).chain(advice).collect();
            vec![WholeText::new("text", "ruling", lines.join("\n"))]
        }
        TimelineKind::Transition { from: Some(from), spent, ms, .. } => {
            let spent = spent.as_ref().map_or_else(String::new, |it| format!(", spending {it}"));
            let text = format!("after {} in {from}{spent}", format::duration(*ms));
            vec![WholeText::new("text", "", text)]
        }
        _ => Vec::new(),
    }
}

fn answer_texts(answer: &Answer<Body>) -> Vec<WholeText> {
    let text = said(answer);
    let first = match answer {
        Answer::Model(_) => WholeText::new("markdown", "", text),
        Answer::Own(report) => report_text(report).map_or_else(
            || WholeText::new("json", "report", text),
            |words| WholeText::new("markdown", "", words),
        ),
        Answer::Tool(_) => WholeText::new("text", "result", text),
        _ => WholeText::new("text", "", text),
    };
    let mut texts: Vec<WholeText> =
        Some(first).filter(|it| !it.text.is_empty()).into_iter().collect();
    if let Answer::Model(reply) = answer {
        texts.extend(reply.calls.iter().map(|call| {
            let title = format!("proposes {}", format::line(&call.tool, 80));
            WholeText::new("json", &title, pretty(call.arguments.get()))
        }));
    }
    texts
}

/// Returns the words of a report that is nothing else: `{"name": "…"}` or `{"name": {"text": "…"}}`.
fn report_text(report: &Body) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        Text(String),
        Inside(Inside),
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inside {
        text: String,
    }
    let mut named: BTreeMap<String, Words> = report.read().ok()?;
    let (_, words) = named.pop_first().filter(|_| named.is_empty())?;
    Some(match words {
        Words::Text(text) | Words::Inside(Inside { text }) => text,
    })
}

/// Returns all that a question is about. If the run's folder is known, a text is compared with the
/// file that it would replace.
pub(super) fn about(question: &Question, folder: Option<&std::path::Path>) -> WholeText {
    WholeText::new("diff", "question", joined(dialogue::about(question, folder)))
}

fn joined(lines: Vec<Line>) -> String {
    lines.iter().map(Line::text).collect::<Vec<_>>().join("\n")
}

//! The value of a field after it was left, and the page's complaints.

use std::{collections::BTreeMap, path::Path, sync::PoisonError};

use pointsman_agents::form::{Field, FieldShape, kept};
use serde::Deserialize;
use serde_json::json;

use super::{Browser, BrowserError, dom::FieldContent, keys};

/// How a field was found after it was left.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldCheck {
    /// What it holds, as a form would send it.
    pub value: String,
    /// Whether that is what was wanted.
    pub kept: bool,
    /// What the page has against it.
    pub complaint: Option<String>,
}

/// The words that stood on a document before anything was typed, by the fields that they
/// stand with.
#[derive(Debug, Default)]
pub(super) struct PriorMessages {
    document: f64,
    words: BTreeMap<String, Vec<String>>,
}

/// What a script finds.
#[derive(Debug, Deserialize)]
struct CheckResult {
    /// What it held before it was left.
    before: String,
    value: String,
    editable: bool,
    lines: bool,
    /// Whether the page has disabled it.
    off: bool,
    /// How many parts of the page say that nothing else can be used.
    modals: usize,
    chosen: Vec<usize>,
    picked: Vec<usize>,
    joined: String,
    document: f64,
    live: String,
    #[serde(rename = "standing")]
    status: Vec<String>,
}

impl Browser {
    /// Leaves a field, and checks whether it has the wanted value and whether the page complains.
    /// A value that keys could not enter is set by script, and checked again. Messages that were
    /// shown before typing do not count: a page that was sent with them does not remove them.
    pub async fn verify(&self, field: &Field, wanted: &str) -> Result<FieldCheck, BrowserError> {
        let mut check = self.check(field, true).await?;
        // A box may have come up at what was typed, or when the field was left.
        if (check.off || self.has_more_modals(check.modals))
            && self.set_aside(&field.selector, check.off).await?
        {
            check = self.check(field, true).await?;
        }
        if let Some(text) = unkept(field, wanted, &check) {
            self.is_still(field).await?;
            self.hand::<FieldContent>("set", &field.selector, json!(text)).await?;
            check = self.check(field, true).await?;
        }
        let value = value(field, &check);
        let kept = is_kept(field, wanted, &value);
        let complaint = Some(check.live.clone()).filter(|live| !live.is_empty()).or_else(|| {
            let before = self.before(&field.selector, check.document);
            let new = check.status.into_iter().filter(|words| !before.contains(words));
            let new: Vec<String> = new.collect();
            (!new.is_empty()).then(|| new.join("; "))
        });
        Ok(FieldCheck { value, kept, complaint })
    }

    /// Checks whether a field has the wanted value, and changes nothing.
    pub async fn holds(&self, field: &Field, wanted: &str) -> Result<bool, BrowserError> {
        let check = self.check(field, false).await?;
        Ok(is_kept(field, wanted, &value(field, &check)))
    }

    async fn check(&self, field: &Field, leaves: bool) -> Result<CheckResult, BrowserError> {
        let parts: Vec<&str> =
            field.options.iter().filter_map(|it| it.selector.as_deref()).collect();
        let more = json!({ "whole": field.selector, "buttons": parts, "leaves": leaves });
        self.hand("check", &field.selector, more).await
    }

    /// Keeps what stood with a field when it was first touched. Returns whether it was touched
    /// before.
    pub(super) fn stood(&self, selector: &str, document: f64, words: &[String]) -> bool {
        let mut stood = self.stood.lock().unwrap_or_else(PoisonError::into_inner);
        if (stood.document - document).abs() > 0.0 {
            *stood = PriorMessages { document, words: BTreeMap::new() };
        }
        let known = stood.words.contains_key(selector);
        stood.words.entry(selector.into()).or_insert_with(|| words.to_vec());
        known
    }

    fn before(&self, selector: &str, document: f64) -> Vec<String> {
        let stood = self.stood.lock().unwrap_or_else(PoisonError::into_inner);
        let same = (stood.document - document).abs() == 0.0;
        stood.words.get(selector).filter(|_| same).cloned().unwrap_or_default()
    }

    /// Forgets it: the page has moved on.
    pub(super) fn forget(&self) {
        *self.stood.lock().unwrap_or_else(PoisonError::into_inner) = PriorMessages::default();
    }
}

fn is_kept(field: &Field, wanted: &str, value: &str) -> bool {
    match field.shape {
        FieldShape::File => files(wanted) == value,
        _ => kept(field, wanted, value),
    }
}

/// Returns the text that was typed and did not arrive, where setting it could help. Rich
/// text is only ever typed: its editor keeps more than the page shows.
fn unkept(field: &Field, wanted: &str, check: &CheckResult) -> Option<String> {
    let typed = matches!(
        field.shape,
        FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Password
            | FieldShape::Number
            | FieldShape::Date
            | FieldShape::Time
            | FieldShape::DatetimeLocal
    );
    if !typed || check.editable || check.off {
        return None;
    }
    let text = keys::plain(wanted, check.lines);
    let meant = |found: &str| kept(field, wanted, found) || found == text;
    // A page may write it otherwise once the field is left.
    (!meant(&check.before) && !meant(&check.value)).then_some(text)
}

/// Returns what a field holds, as a form would send it.
fn value(field: &Field, check: &CheckResult) -> String {
    let of = |at: &usize| field.options.get(*at).map(|choice| choice.value.as_str());
    match field.shape {
        FieldShape::Radio => check.chosen.first().and_then(of).unwrap_or_default().to_owned(),
        FieldShape::Listbox if !check.picked.is_empty() => {
            check.picked.iter().filter_map(of).collect::<Vec<_>>().join("\n")
        }
        FieldShape::Codes if !field.options.is_empty() => check.joined.clone(),
        _ => check.value.clone(),
    }
}

/// Returns the names of files, as a page sees them.
fn files(paths: &str) -> String {
    let name = |path: &str| Path::new(path).file_name()?.to_str().map(str::to_owned);
    let lines = paths.lines().map(str::trim).filter(|path| !path.is_empty());
    lines.filter_map(name).collect::<Vec<_>>().join("\n")
}

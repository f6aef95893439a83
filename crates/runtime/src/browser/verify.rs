//! What became of a value once its field was left, and what the page has against it.

use std::{collections::BTreeMap, path::Path, sync::PoisonError};

use pointsman_agents::form::{Field, Shape, kept};
use serde::Deserialize;
use serde_json::json;

use super::{Browser, BrowserError};

/// How a field was found after it was left.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
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
pub(super) struct Stood {
    document: f64,
    words: BTreeMap<String, Vec<String>>,
}

/// What a script finds.
#[derive(Debug, Deserialize)]
struct Check {
    value: String,
    chosen: Vec<usize>,
    picked: Vec<usize>,
    joined: String,
    document: f64,
    live: String,
    standing: Vec<String>,
}

impl Browser {
    /// Looks what a field holds, whether it is what was wanted, and whether the page
    /// complains. Words that stood there before anything was typed are no answer to it:
    /// a page that was sent with them will not take them back.
    pub async fn verify(&self, field: &Field, wanted: &str) -> Result<Found, BrowserError> {
        let parts: Vec<&str> =
            field.options.iter().filter_map(|it| it.selector.as_deref()).collect();
        let more = json!({ "whole": field.selector, "buttons": parts });
        let check: Check = self.hand("check", &field.selector, more).await?;
        let value = value(field, &check);
        let kept = match field.shape {
            Shape::File => files(wanted) == value,
            _ => kept(field, wanted, &value),
        };
        let complaint = Some(check.live.clone()).filter(|live| !live.is_empty()).or_else(|| {
            let before = self.before(&field.selector, check.document);
            let new = check.standing.into_iter().filter(|words| !before.contains(words));
            let new: Vec<String> = new.collect();
            (!new.is_empty()).then(|| new.join("; "))
        });
        Ok(Found { value, kept, complaint })
    }

    /// Keeps what stood with a field when it was first touched.
    pub(super) fn stood(&self, selector: &str, document: f64, words: &[String]) {
        let mut stood = self.stood.lock().unwrap_or_else(PoisonError::into_inner);
        if (stood.document - document).abs() > 0.0 {
            *stood = Stood { document, words: BTreeMap::new() };
        }
        stood.words.entry(selector.into()).or_insert_with(|| words.to_vec());
    }

    fn before(&self, selector: &str, document: f64) -> Vec<String> {
        let stood = self.stood.lock().unwrap_or_else(PoisonError::into_inner);
        let same = (stood.document - document).abs() == 0.0;
        stood.words.get(selector).filter(|_| same).cloned().unwrap_or_default()
    }

    /// Forgets it: the page has moved on.
    pub(super) fn forget(&self) {
        *self.stood.lock().unwrap_or_else(PoisonError::into_inner) = Stood::default();
    }
}

/// Returns what a field holds, as a form would send it.
fn value(field: &Field, check: &Check) -> String {
    let of = |at: &usize| field.options.get(*at).map(|choice| choice.value.as_str());
    match field.shape {
        Shape::Radio => check.chosen.first().and_then(of).unwrap_or_default().to_owned(),
        Shape::Listbox if !check.picked.is_empty() => {
            check.picked.iter().filter_map(of).collect::<Vec<_>>().join("\n")
        }
        Shape::Codes if !field.options.is_empty() => check.joined.clone(),
        _ => check.value.clone(),
    }
}

/// Returns the names of files, as a page sees them.
fn files(paths: &str) -> String {
    let name = |path: &str| Path::new(path).file_name()?.to_str().map(str::to_owned);
    let lines = paths.lines().map(str::trim).filter(|path| !path.is_empty());
    lines.filter_map(name).collect::<Vec<_>>().join("\n")
}

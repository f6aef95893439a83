//! A page's objections to filled-in values.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::draft::LogicalField;
use crate::form::{field::Field, snapshot::PageSnapshot};

/// Something that a page has against a field, or against the form as a whole.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Complaint {
    /// The field's id; nothing where the page does not say which.
    pub field: Option<String>,
    /// What the page says.
    pub text: String,
}

/// Words that pages put before a complaint for people who cannot see its colour.
const SAID_BEFORE: [&str; 8] =
    ["error:", "fehler:", "erreur :", "erreur:", "errore:", "erro:", "fout:", "gwall:"];

pub(super) fn of_field(logical: &LogicalField<'_>, field: &Field, into: &mut Vec<Complaint>) {
    for member in &logical.members {
        // The browser has something against every empty required field, from the start:
        // that counts only when a person has been there, or the page says so.
        let flagged = member.user_invalid || member.attribute("aria-invalid") == "true";
        let browser = flagged.then_some(&member.message).into_iter();
        for text in member.complaints.iter().chain(browser) {
            push(into, Some(&field.id), text);
        }
    }
}

pub(super) fn of_page(sighting: &PageSnapshot, into: &mut Vec<Complaint>) {
    for text in &sighting.alerts {
        let known = into.iter().any(|it| it.text == tidy(text));
        if !known {
            push(into, None, text);
        }
    }
}

fn push(into: &mut Vec<Complaint>, field: Option<&String>, text: &str) {
    let complaint = Complaint { field: field.cloned(), text: tidy(text) };
    if !complaint.text.is_empty() && !into.contains(&complaint) {
        into.push(complaint);
    }
}

fn tidy(text: &str) -> String {
    let text = text.trim();
    let said = |before: &&str| {
        text.get(..before.len()).is_some_and(|start| start.to_lowercase() == **before)
    };
    let cut = SAID_BEFORE.iter().find(|before| said(before)).map_or(0, |before| before.len());
    text.get(cut..).unwrap_or(text).trim().to_string()
}

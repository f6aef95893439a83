//! What a list of options is a list of.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use super::{phrase::FoldedText, words::LISTS};
use crate::form::kind::FieldKind;

/// Parts of a date that a list offers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DatePart {
    /// The days of a month.
    Day,
    /// The months.
    Month,
    /// Years that are past, or any.
    Year,
    /// Years, none of them past.
    YearToCome,
}

/// Returns the kind that a list of options speaks for.
pub(super) fn kind(options: &[(String, String)]) -> Option<FieldKind> {
    let labels = labels(options);
    let total = labels.len();
    if total < 2 {
        return None;
    }
    let share = |word: &str| {
        let known: Vec<&str> = LISTS.phrases(word).collect();
        labels.iter().filter(|label| known.contains(&label.as_str())).count()
    };
    let most = |count: usize| count.saturating_mul(2) >= total;
    let dialled = options.iter().filter(|(label, _)| dials(label)).count();
    if dialled >= 3 && most(dialled) {
        return Some(FieldKind::TelCountryCode);
    }
    let countries: Vec<&str> = LISTS.phrases("countries").collect();
    let named = options.iter().filter(|(label, _)| names_country(&countries, label)).count();
    if named >= 12 || (named >= 4 && most(named)) {
        return Some(FieldKind::Country);
    }
    let codes = share("state-codes");
    let known: Vec<&str> = LISTS.phrases("states").collect();
    let states = options.iter().filter(|(label, _)| names_state(&known, label)).count();
    if states >= 4 && (most(states) || states >= 10) || (codes >= 6 && most(codes)) {
        return Some(FieldKind::AddressLevel1);
    }
    let small =
        |list: &str, kind: FieldKind| (most(share(list)) && share(list) >= 2).then_some(kind);
    small("titles", FieldKind::HonorificPrefix)
        .filter(|_| share("sexes") < share("titles"))
        .or_else(|| small("sexes", FieldKind::Sex))
        .or_else(|| small("cards", FieldKind::CcType))
        .or_else(|| small("languages", FieldKind::Language))
        .or_else(|| small("currencies", FieldKind::TransactionCurrency))
}

/// Returns the part of a date that a list of options offers.
pub(super) fn part(options: &[(String, String)]) -> Option<DatePart> {
    let labels = labels(options);
    let names: Vec<&str> = LISTS.phrases("months").collect();
    let is_month = |label: &&String| names.iter().any(|month| begins(label, month));
    let months = labels.iter().filter(is_month).count();
    if months >= 10 && labels.len() <= 14 {
        return Some(DatePart::Month);
    }
    let numbers: Vec<u32> = labels.iter().filter_map(|label| label.parse().ok()).collect();
    // A list may open with a word such as `Month`.
    if numbers.len() < 3 || numbers.len().saturating_add(2) < labels.len() {
        return None;
    }
    let (least, most) = (numbers.iter().min().copied()?, numbers.iter().max().copied()?);
    match (least, most, numbers.len()) {
        (1, 12, 12) => Some(DatePart::Month),
        (1, 28..=31, 28..) => Some(DatePart::Day),
        (2015.., ..=2100, 3..=40) => Some(DatePart::YearToCome),
        (15.., ..=99, 4..=30) if numbers.is_sorted() => Some(DatePart::YearToCome),
        (1850.., ..=2100, _) => Some(DatePart::Year),
        _ => None,
    }
}

/// The labels, folded, without the empty ones.
fn labels(options: &[(String, String)]) -> Vec<String> {
    let folded = options.iter().map(|(label, _)| FoldedText::new(label).solid().to_string());
    folded.filter(|label| !label.is_empty()).collect()
}

/// Returns whether a label begins with a word, or has it after a number: `01 - January`.
fn begins(label: &str, word: &str) -> bool {
    let rest = label.trim_start_matches(|c: char| c.is_ascii_digit());
    label == word || rest == word
}

/// Returns whether a label is a country's name, alone or with another writing after it.
fn names_country(countries: &[&str], label: &str) -> bool {
    let first = label.split(['(', ',', '/', '[']).next().unwrap_or(label);
    countries.contains(&FoldedText::new(first).solid())
}

/// Returns whether a label is a state's name, alone or after its code: `AL - Alabama`.
fn names_state(states: &[&str], label: &str) -> bool {
    let mut pieces = label.split([' ', '-', '(']).peekable();
    let code = pieces.next().unwrap_or_default();
    let rest: String = pieces.collect();
    let rest = FoldedText::new(&rest);
    states.contains(&FoldedText::new(label).solid())
        || (code.len() <= 3 && states.contains(&rest.solid()))
}

/// Returns whether a label holds a number to dial: `Germany (+49)`. The hours by which a time
/// zone differs are none: `(GMT+01:00)`.
fn dials(label: &str) -> bool {
    let mut pieces = label.split('+');
    let before = pieces.next().unwrap_or_default().trim_end();
    let after = pieces.next().unwrap_or_default().trim_start();
    let zone = before.ends_with("GMT") || before.ends_with("UTC");
    // No number to dial has a colon.
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    !zone && rest.len() < after.len() && !rest.starts_with(':')
}

//! Saved pages with labels by hand: how many fields get the right kind, and on how many
//! pages the control is found that sends the form.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use pointsman_agents::form::{Field, Fill, Kind};
use serde_json::Value;

use super::pages::Pages;

/// The share that must be right, of fields and of pages.
const ENOUGH: f64 = 95.0;
/// The share of fields that is aimed at.
const AIM: f64 = 97.0;

/// What a label of the data is in the vocabulary of HTML.
const LABELS: [(&str, &[Kind]); 28] = [
    ("emailAddress", &[Kind::Email]),
    ("username", &[Kind::Username]),
    ("password", &[Kind::CurrentPassword, Kind::NewPassword]),
    ("password.current", &[Kind::CurrentPassword]),
    ("password.new", &[Kind::NewPassword]),
    ("firstName", &[Kind::GivenName]),
    ("lastName", &[Kind::FamilyName]),
    ("middleName", &[Kind::AdditionalName]),
    ("fullName", &[Kind::Name]),
    ("phone", &[Kind::Tel, Kind::TelNational]),
    ("addressStreet", &[Kind::StreetAddress, Kind::AddressLine1]),
    ("addressStreet2", &[Kind::AddressLine2]),
    ("addressCity", &[Kind::AddressLevel2]),
    ("addressProvince", &[Kind::AddressLevel1]),
    ("addressPostalCode", &[Kind::PostalCode]),
    ("addressCountryCode", &[Kind::Country, Kind::CountryName]),
    ("cardNumber", &[Kind::CcNumber]),
    ("cardSecurityCode", &[Kind::CcCsc]),
    ("expirationMonth", &[Kind::CcExpMonth]),
    ("expirationYear", &[Kind::CcExpYear]),
    ("expiration", &[Kind::CcExp]),
    ("cardName", &[Kind::CcName]),
    ("birthdayDay", &[Kind::BdayDay]),
    ("birthdayMonth", &[Kind::BdayMonth]),
    ("birthdayYear", &[Kind::BdayYear]),
    ("totp", &[Kind::OneTimeCode]),
    // Nothing that may be filled: `fits` looks at whether it would be.
    ("unknown", &[Kind::None]),
    ("submit", &[]),
];

#[derive(Default)]
struct Tally {
    right: usize,
    total: usize,
}

impl Tally {
    fn count(&mut self, right: bool) {
        self.total += 1;
        self.right += usize::from(right);
    }

    fn share(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "these are counts of fields")]
        let (right, total) = (self.right as f64, self.total.max(1) as f64);
        100.0 * right / total
    }
}

/// Opens every labelled page, prints how it went, and returns whether enough was right.
pub(super) fn run(pages: &Pages<'_>) -> Result<bool> {
    let listed = pages.part("ddg")?;
    let mut fields = Tally::default();
    let mut submits = Tally::default();
    let mut by_label: BTreeMap<String, Tally> = BTreeMap::new();
    let mut confused: BTreeMap<(String, String), usize> = BTreeMap::new();
    println!("labelled pages: fields of the wrong kind, and submit controls not found");
    for page in listed {
        let file = page["file"].as_str().context("a page has no file")?;
        let reading = pages.read(file)?;
        let mut wanted: Vec<String> = Vec::new();
        for labelled in page["fields"].as_array().into_iter().flatten() {
            let expected = labelled["expected"].as_str().context("a field has no label")?;
            let mark = labelled["fid"].to_string();
            if expected == "submit" {
                wanted.push(mark);
                continue;
            }
            let found = reading.all().find(|field| field.attributes.get("data-fid") == Some(&mark));
            let right = found.is_some_and(|field| fits(expected, field));
            fields.count(right);
            by_label.entry(expected.into()).or_default().count(right);
            if !right {
                let got = found.map_or_else(|| "not found".into(), |field| field.kind.to_string());
                println!("  {}#{mark}: {expected}, taken for {got}", name(file));
                *confused.entry((expected.into(), got)).or_default() += 1;
            }
        }
        if !wanted.is_empty() {
            let found = reading.submit.as_ref().and_then(|it| it.attributes.get("data-fid"));
            let right = found.is_some_and(|mark| wanted.contains(mark));
            submits.count(right);
            if !right {
                let got = reading.submit.map(|it| it.label);
                println!("  {}: sent by {}, taken for {got:?}", name(file), wanted.join(" or "));
            }
        }
    }
    print(&fields, &submits, &by_label, &confused);
    let word = |holds: bool| if holds { "pass" } else { "FAIL" };
    let (kinds, sent) = (fields.share() >= ENOUGH, submits.share() >= ENOUGH);
    println!("{}  fields >= {ENOUGH:.0} %: {:.2} %", word(kinds), fields.share());
    println!("{}  submit >= {ENOUGH:.0} %: {:.2} %", word(sent), submits.share());
    let aimed = if fields.share() > AIM { "reached" } else { "not reached" };
    println!("aim   fields > {AIM:.0} %, {aimed}: {:.2} %\n", fields.share());
    Ok(kinds && sent)
}

/// Returns whether a field has a kind that its label permits. What must not be filled may
/// also be of a kind that never is.
fn fits(expected: &str, field: &Field) -> bool {
    expected.split(" OR ").any(|one| {
        let kinds = LABELS.iter().find(|(label, _)| *label == one).map_or(&[][..], |(_, it)| *it);
        kinds.contains(&field.kind) || (one == "unknown" && field.fill != Fill::Yes)
    })
}

fn name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn print(
    fields: &Tally,
    submits: &Tally,
    by_label: &BTreeMap<String, Tally>,
    confused: &BTreeMap<(String, String), usize>,
) {
    println!("\nby label");
    for (label, tally) in by_label {
        println!("  {label:26} {:>4} of {:>4}  {:6.2} %", tally.right, tally.total, tally.share());
    }
    println!("\ntaken for something else");
    for ((expected, got), count) in confused {
        println!("  {expected:26} {got:20} {count:>3}");
    }
    println!("\nfields: {} of {} = {:.2} %", fields.right, fields.total, fields.share());
    println!("submit: {} of {} pages = {:.2} %\n", submits.right, submits.total, submits.share());
}

/// Returns the labels of an index that this file has no kind for.
pub(super) fn unknown(index: &Value) -> Vec<String> {
    let pages = index["ddg"]["pages"].as_array().into_iter().flatten();
    let fields = pages.flat_map(|page| page["fields"].as_array().into_iter().flatten());
    let labels = fields.filter_map(|field| field["expected"].as_str());
    let known = |one: &str| LABELS.iter().any(|(label, _)| *label == one);
    let mut missing: Vec<String> = labels
        .flat_map(|label| label.split(" OR "))
        .filter(|one| !known(one))
        .map(Into::into)
        .collect();
    missing.sort();
    missing.dedup();
    missing
}

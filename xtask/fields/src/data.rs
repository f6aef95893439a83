//! Labelled pages: which there are, what their labels permit, and what a browser saw.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail, ensure};
use pointsman_agents::form::{FieldKind, PageSnapshot};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::site;

/// What a label of the `DuckDuckGo` pages is in the vocabulary of HTML.
const WORDS: [(&str, &[FieldKind]); 27] = [
    ("emailAddress", &[FieldKind::Email]),
    ("username", &[FieldKind::Username]),
    ("password", &[FieldKind::CurrentPassword, FieldKind::NewPassword]),
    ("password.current", &[FieldKind::CurrentPassword]),
    ("password.new", &[FieldKind::NewPassword]),
    ("firstName", &[FieldKind::GivenName]),
    ("lastName", &[FieldKind::FamilyName]),
    ("middleName", &[FieldKind::AdditionalName]),
    ("fullName", &[FieldKind::Name]),
    ("phone", &[FieldKind::Tel, FieldKind::TelNational]),
    ("addressStreet", &[FieldKind::StreetAddress, FieldKind::AddressLine1]),
    ("addressStreet2", &[FieldKind::AddressLine2]),
    ("addressCity", &[FieldKind::AddressLevel2]),
    ("addressProvince", &[FieldKind::AddressLevel1]),
    ("addressPostalCode", &[FieldKind::PostalCode]),
    ("addressCountryCode", &[FieldKind::Country, FieldKind::CountryName]),
    ("cardNumber", &[FieldKind::CcNumber]),
    ("cardSecurityCode", &[FieldKind::CcCsc]),
    ("expirationMonth", &[FieldKind::CcExpMonth]),
    ("expirationYear", &[FieldKind::CcExpYear]),
    ("expiration", &[FieldKind::CcExp]),
    ("cardName", &[FieldKind::CcName]),
    ("birthdayDay", &[FieldKind::BdayDay]),
    ("birthdayMonth", &[FieldKind::BdayMonth]),
    ("birthdayYear", &[FieldKind::BdayYear]),
    ("totp", &[FieldKind::OneTimeCode]),
    ("unknown", &[FieldKind::None]),
];

/// Words of the vocabulary that Pointsman has no kind for; they stand beside one that it has.
const PARTS: [&str; 2] = ["tel-local-prefix", "tel-local-suffix"];

/// A labelled page.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Page {
    /// Where it is from: `ddg`, `mozilla`, `chrome`, `formasaurus`.
    pub source: String,
    /// Its file, from the folder of the data.
    pub file: String,
    /// The language of its text, as the data says; empty where it does not.
    pub language: String,
    /// Pages with the same number are of one site.
    pub site: usize,
    /// Its labelled fields.
    pub labels: Vec<Label>,
    /// The marks of the controls that send its form.
    pub submits: Vec<String>,
    /// What a browser saw.
    pub sighting: PageSnapshot,
}

/// A labelled field.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Label {
    /// Its `data-fid`.
    pub mark: String,
    /// The label, as it is written.
    pub written: String,
    /// The kinds that the label permits.
    pub kinds: Vec<FieldKind>,
    /// Whether people can see the field.
    pub visible: bool,
}

impl Label {
    /// Returns the label under which tables list it: the first kind that it permits.
    pub fn first(&self) -> FieldKind {
        self.kinds.first().copied().unwrap_or_default()
    }
}

/// Reads the indexes of a folder, and lets `look` open each page.
pub fn load(data: &Path, mut look: impl FnMut(&str) -> Result<PageSnapshot>) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    let mut hosts = Vec::new();
    for (folder, sections) in [("", &["ddg"][..]), ("more", &["mozilla", "chrome", "formasaurus"])]
    {
        let file = data.join(folder).join("index.json");
        // The second set may be missing, the first may not.
        if !folder.is_empty() && !file.exists() {
            continue;
        }
        let index = read_index(&file)?;
        for section in sections {
            let listed = index[*section]["pages"]
                .as_array()
                .with_context(|| format!("{folder}/index.json has no section `{section}`"))?;
            for entry in listed {
                let mut page = page(section, folder, entry)?;
                page.sighting = look(&page.file)?;
                hosts.push(entry["origin_url"].as_str().unwrap_or_default().to_owned());
                pages.push(page);
            }
        }
    }
    site::number(&mut pages, &hosts);
    Ok(pages)
}

fn read_index(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    serde_json::from_str(&text).with_context(|| file.display().to_string())
}

fn page(section: &str, folder: &str, entry: &Value) -> Result<Page> {
    let file = entry["file"].as_str().context("a page has no file")?;
    let file = if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
    let mut page = Page {
        source: section.to_owned(),
        file,
        language: entry["lang"].as_str().unwrap_or_default().to_owned(),
        site: 0,
        labels: Vec::new(),
        submits: Vec::new(),
        sighting: PageSnapshot::default(),
    };
    for field in entry["fields"].as_array().into_iter().flatten() {
        let written = field["expected"].as_str().context("a field has no label")?;
        let mark = field["fid"].to_string();
        if written == "submit" {
            page.submits.push(mark);
            continue;
        }
        let kinds = kinds(written).with_context(|| format!("{}#{mark}", page.file))?;
        let visible = field["visible"].as_bool().unwrap_or(true);
        page.labels.push(Label { mark, written: written.to_owned(), kinds, visible });
    }
    Ok(page)
}

/// Returns the kinds that a label permits.
fn kinds(written: &str) -> Result<Vec<FieldKind>> {
    let mut kinds = Vec::new();
    for word in written.split(" OR ") {
        if let Some((_, these)) = WORDS.iter().find(|(label, _)| *label == word) {
            kinds.extend_from_slice(these);
        } else if word == "none" {
            kinds.push(FieldKind::None);
        } else if let Some(kind) = FieldKind::from_token(word) {
            kinds.push(kind);
        } else if !PARTS.contains(&word) {
            bail!("unknown label `{word}`");
        }
    }
    ensure!(!kinds.is_empty(), "no kind for the label `{written}`");
    Ok(kinds)
}

//! A person's profile: values by what they are, answers by label, and facts.
//!
//! A host reads it from a file; it never enters a journal. The agent knows only the names of its
//! keys.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    facts::Fact,
    kind::{FieldKind, SensitiveKind},
    value::{
        date::{self, Day},
        place::{self, Phone},
        word,
    },
};

/// How a key begins that names an answer by its label.
pub const ANSWERS: &str = "answers.";

/// What a person has to give.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Values by what they are.
    pub values: BTreeMap<FieldKind, String>,
    /// Values by the label of the field that asks for them.
    pub answers: BTreeMap<String, String>,
    /// What a model may know when it writes text for the fields that they are for.
    pub facts: BTreeMap<String, Fact>,
    /// The classes that may be filled although they never are without this.
    pub allow: BTreeSet<SensitiveKind>,
}

/// What an agent knows of a profile: names, and no values.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileKeys {
    /// The profile's absolute path.
    pub file: String,
    /// The kinds that it has a value for, derived ones included.
    pub kinds: BTreeSet<FieldKind>,
    /// The labels that it has an answer for.
    pub answers: Vec<String>,
    /// The classes that it allows.
    pub allow: BTreeSet<SensitiveKind>,
    /// Whether it has facts for a model.
    pub facts: bool,
}

impl Profile {
    /// Returns the value of a key and what it is: a kind's token, given or derived, or
    /// `answers.` and a label.
    pub fn value(&self, key: &str) -> Option<(FieldKind, String)> {
        if let Some(label) = key.strip_prefix(ANSWERS) {
            return self.answers.get(label).map(|value| (FieldKind::None, value.clone()));
        }
        let kind = FieldKind::from_token(key)?;
        self.given(kind).or_else(|| self.derived(kind)).map(|value| (kind, value))
    }

    /// Returns the names of what it holds.
    pub fn holds(&self, file: &str) -> ProfileKeys {
        let has = |kind: &FieldKind| self.value(kind.token()).is_some();
        ProfileKeys {
            file: file.to_string(),
            kinds: FieldKind::all().filter(has).collect(),
            answers: self.answers.keys().cloned().collect(),
            allow: self.allow.clone(),
            facts: !self.facts.is_empty(),
        }
    }

    /// Returns whether a kind's value is derived from others.
    pub fn derives(&self, kind: FieldKind) -> bool {
        self.given(kind).is_none() && self.derived(kind).is_some()
    }

    fn given(&self, kind: FieldKind) -> Option<String> {
        self.values.get(&kind).filter(|value| !value.trim().is_empty()).cloned()
    }

    /// Returns a value that follows from others, without a guess.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most kinds follow from no other")]
    fn derived(&self, kind: FieldKind) -> Option<String> {
        let given = |kind: FieldKind| self.given(kind);
        if let Some(value) = self.named(kind) {
            return Some(value);
        }
        match kind {
            FieldKind::StreetAddress => {
                let lines =
                    [FieldKind::AddressLine1, FieldKind::AddressLine2, FieldKind::AddressLine3];
                let lines: Vec<String> = lines.into_iter().filter_map(given).collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
            FieldKind::AddressLine1 => line(&given(FieldKind::StreetAddress)?, 0),
            FieldKind::AddressLine2 => line(&given(FieldKind::StreetAddress)?, 1),
            FieldKind::AddressLine3 => line(&given(FieldKind::StreetAddress)?, 2),
            FieldKind::Country => {
                place::country_code(&given(FieldKind::CountryName)?).map(String::from)
            }
            FieldKind::CountryName => {
                place::country_name(&given(FieldKind::Country)?).map(String::from)
            }
            FieldKind::Bday => {
                let [year, month, day] =
                    [FieldKind::BdayYear, FieldKind::BdayMonth, FieldKind::BdayDay].map(given);
                let month = month?;
                let month = month.parse().ok().or_else(|| word::month(&month))?;
                Some(Day::new(year?.parse().ok()?, month, day?.parse().ok()?)?.iso())
            }
            FieldKind::BdayDay => Some(format!("{}", self.born()?.day)),
            FieldKind::BdayMonth => Some(format!("{}", self.born()?.month)),
            FieldKind::BdayYear => Some(format!("{}", self.born()?.year)),
            FieldKind::CcExp => {
                let (month, year) = (given(FieldKind::CcExpMonth)?, given(FieldKind::CcExpYear)?);
                let (month, year) = date::expiry(&format!("{month}/{year}"))?;
                Some(format!("{year:04}-{month:02}"))
            }
            FieldKind::CcExpMonth => {
                Some(format!("{:02}", date::expiry(&given(FieldKind::CcExp)?)?.0))
            }
            FieldKind::CcExpYear => Some(format!("{}", date::expiry(&given(FieldKind::CcExp)?)?.1)),
            FieldKind::CcType => card(&given(FieldKind::CcNumber)?).map(String::from),
            FieldKind::Tel => {
                let (code, rest) =
                    (given(FieldKind::TelCountryCode)?, given(FieldKind::TelNational)?);
                let phone = Phone::read(&rest)?;
                Some(format!("+{} {}", code.trim_start_matches(['+', '0']), phone.digits))
            }
            FieldKind::TelCountryCode => Some(format!("+{}", self.phone()?.calling?)),
            FieldKind::TelNational => {
                self.phone().filter(|it| it.calling.is_some()).map(|it| it.national())
            }
            FieldKind::TelAreaCode => Some(self.phone()?.area()?.0),
            FieldKind::TelLocal => Some(self.phone()?.area()?.1),
            _ => None,
        }
    }

    /// Returns names out of other names: a whole one from its parts, and the parts of one
    /// that has two words. What stands on a card is the person's name.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most kinds follow from no other")]
    fn named(&self, kind: FieldKind) -> Option<String> {
        let given = |kind: FieldKind| self.given(kind);
        let whole = |parts: [FieldKind; 3]| {
            let [first, middle, last] = parts.map(given);
            let all = [Some(first?), middle, Some(last?)];
            Some(all.into_iter().flatten().collect::<Vec<_>>().join(" "))
        };
        let part = |at: usize| {
            let name = given(FieldKind::Name)?;
            let words: Vec<&str> = name.split_whitespace().collect();
            words.get(at).filter(|_| words.len() == 2).map(|word| String::from(*word))
        };
        match kind {
            FieldKind::Name => {
                whole([FieldKind::GivenName, FieldKind::AdditionalName, FieldKind::FamilyName])
            }
            FieldKind::GivenName => part(0),
            FieldKind::FamilyName => part(1),
            FieldKind::CcName => given(FieldKind::Name).or_else(|| {
                whole([FieldKind::GivenName, FieldKind::AdditionalName, FieldKind::FamilyName])
            }),
            FieldKind::CcGivenName => given(FieldKind::GivenName).or_else(|| part(0)),
            FieldKind::CcAdditionalName => given(FieldKind::AdditionalName),
            FieldKind::CcFamilyName => given(FieldKind::FamilyName).or_else(|| part(1)),
            _ => None,
        }
    }

    fn born(&self) -> Option<Day> {
        Day::read(&self.given(FieldKind::Bday)?)
    }

    fn phone(&self) -> Option<Phone> {
        Phone::read(&self.given(FieldKind::Tel)?)
    }

    /// Returns what looks wrong with the values, by key: what it is, and what to write.
    pub fn doubts(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (kind, value) in &self.values {
            if let Some(doubt) = doubt(*kind, value) {
                found.push((kind.token().into(), doubt.into()));
            }
            let closed = kind.class().filter(|class| !self.allow.contains(class));
            if let Some(class) = closed {
                let why = format!("never filled unless `allow` lists \"{class}\"");
                found.push((kind.token().into(), why));
            }
        }
        for class in &self.allow {
            let has = self.values.keys().any(|kind| kind.class() == Some(*class));
            // A file is named by an answer, and its field is unknown here.
            if !has && (*class != SensitiveKind::File || self.answers.is_empty()) {
                let why = format!("\"{class}\" is allowed, but has no value");
                found.push(("allow".into(), why));
            }
        }
        found
    }
}

fn line(text: &str, at: usize) -> Option<String> {
    let line = text.lines().map(str::trim).filter(|line| !line.is_empty()).nth(at);
    line.map(String::from)
}

/// Returns what a card is called, by its first digits.
fn card(number: &str) -> Option<&'static str> {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let two: u8 = digits.get(..2)?.parse().ok()?;
    let four: u16 = digits.get(..4)?.parse().ok()?;
    Some(match two {
        40..=49 => "Visa",
        51..=55 => "Mastercard",
        34 | 37 => "American Express",
        36 | 38 | 39 => "Diners Club",
        62 => "UnionPay",
        60 | 64 | 65 => "Discover",
        35 => "JCB",
        _ if (2221..=2720).contains(&four) => "Mastercard",
        _ => return None,
    })
}

/// Returns what looks wrong with a value of a kind.
#[expect(clippy::wildcard_enum_match_arm, reason = "most kinds can be any text")]
fn doubt(kind: FieldKind, value: &str) -> Option<&'static str> {
    let value = value.trim();
    let digits = || value.chars().filter(char::is_ascii_digit).collect::<String>();
    let number = |range: core::ops::RangeInclusive<u16>| {
        value.parse().is_ok_and(|number: u16| range.contains(&number))
    };
    let wrong = match kind {
        _ if value.is_empty() => return Some("it is empty: remove the key instead"),
        FieldKind::Email => !email(value),
        FieldKind::Tel => Phone::read(value).is_none_or(|phone| phone.calling.is_none()),
        FieldKind::TelNational | FieldKind::TelLocal => Phone::read(value).is_none(),
        FieldKind::TelCountryCode => Phone::read(&format!("+{}5550100", digits())).is_none(),
        FieldKind::Bday => Day::read(value).is_none_or(|day| day.iso() != value),
        FieldKind::BdayDay => !number(1..=31),
        FieldKind::BdayMonth | FieldKind::CcExpMonth => !number(1..=12),
        FieldKind::BdayYear => !number(1850..=2200),
        FieldKind::Country => place::country_code(value).is_none_or(|code| code != value),
        FieldKind::CountryName => place::country_name(value).is_none(),
        FieldKind::CcNumber => !luhn(&digits()),
        FieldKind::CcCsc => !matches!(digits().len(), 3 | 4) || digits().len() != value.len(),
        FieldKind::CcExp => date::expiry(value).is_none(),
        FieldKind::CcExpYear => !number(0..=99) && !number(2000..=2200),
        FieldKind::Url => !value.contains('.') || value.contains(char::is_whitespace),
        FieldKind::Photo => !value.starts_with('/'),
        _ => false,
    };
    wrong.then_some(match kind {
        FieldKind::Email => "not an e-mail address: write it as name@example.org",
        FieldKind::Tel => {
            "not a full number: write it with the country code, such as +44 20 7946 0000"
        }
        FieldKind::Bday => "not a date: write it as YYYY-MM-DD",
        FieldKind::Country => "not a country code: write it as in ISO 3166, such as GB",
        FieldKind::CountryName => "not a known country",
        FieldKind::CcNumber => "not a card number: its check digit is wrong",
        FieldKind::CcExp => "not a month: write it as YYYY-MM",
        FieldKind::Url => "not a web address: write it as https://example.org",
        FieldKind::Photo => "not a file: write its absolute path",
        _ => "not a valid number",
    })
}

fn email(value: &str) -> bool {
    let Some((name, host)) = value.rsplit_once('@') else { return false };
    let labels = || host.split('.');
    let plain = |c: char| c.is_alphanumeric() || c == '-';
    !name.is_empty()
        && !value.contains(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '<' | '>'))
        && !name.contains('@')
        && labels().count() > 1
        && labels().all(|label| !label.is_empty() && label.chars().all(plain))
}

/// The check that the last digit of a card's number is for.
fn luhn(digits: &str) -> bool {
    let sum = digits.chars().rev().filter_map(|c| c.to_digit(10)).zip([1, 2].into_iter().cycle());
    let sum = sum.map(|(digit, times): (u32, u32)| {
        let product = digit.saturating_mul(times);
        product.checked_sub(9).filter(|_| product > 9).unwrap_or(product)
    });
    (12..=19).contains(&digits.len()) && sum.sum::<u32>().is_multiple_of(10)
}

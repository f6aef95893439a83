//! A person's profile: values by what they are, answers by label, and facts.
//!
//! A host reads it from a file; it never enters a journal. What the agent is told of it
//! are the names of what it holds.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    facts::Fact,
    kind::{Class, Kind},
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
    pub values: BTreeMap<Kind, String>,
    /// Values by the label of the field that asks for them.
    pub answers: BTreeMap<String, String>,
    /// What a model may know when it writes text for the fields that they are for.
    pub facts: BTreeMap<String, Fact>,
    /// The classes that may be filled although they never are without this.
    pub allow: BTreeSet<Class>,
}

/// What an agent is told of a profile: names, and no value.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Holds {
    /// The profile's absolute path.
    pub file: String,
    /// The kinds that it has a value for, derived ones included.
    pub kinds: BTreeSet<Kind>,
    /// The labels that it has an answer for.
    pub answers: Vec<String>,
    /// The classes that it allows.
    pub allow: BTreeSet<Class>,
    /// Whether it has facts for a model.
    pub facts: bool,
}

impl Profile {
    /// Returns the value of a key and what it is: a kind's token, given or derived, or
    /// `answers.` and a label.
    pub fn value(&self, key: &str) -> Option<(Kind, String)> {
        if let Some(label) = key.strip_prefix(ANSWERS) {
            return self.answers.get(label).map(|value| (Kind::None, value.clone()));
        }
        let kind = Kind::from_token(key)?;
        self.given(kind).or_else(|| self.derived(kind)).map(|value| (kind, value))
    }

    /// Returns the names of what it holds.
    pub fn holds(&self, file: &str) -> Holds {
        let has = |kind: &Kind| self.value(kind.token()).is_some();
        Holds {
            file: file.to_string(),
            kinds: Kind::all().filter(has).collect(),
            answers: self.answers.keys().cloned().collect(),
            allow: self.allow.clone(),
            facts: !self.facts.is_empty(),
        }
    }

    /// Returns whether a kind's value is derived from others.
    pub fn derives(&self, kind: Kind) -> bool {
        self.given(kind).is_none() && self.derived(kind).is_some()
    }

    fn given(&self, kind: Kind) -> Option<String> {
        self.values.get(&kind).filter(|value| !value.trim().is_empty()).cloned()
    }

    /// Returns a value that follows from others, without a guess.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most kinds follow from no other")]
    fn derived(&self, kind: Kind) -> Option<String> {
        let given = |kind: Kind| self.given(kind);
        if let Some(value) = self.named(kind) {
            return Some(value);
        }
        match kind {
            Kind::StreetAddress => {
                let lines = [Kind::AddressLine1, Kind::AddressLine2, Kind::AddressLine3];
                let lines: Vec<String> = lines.into_iter().filter_map(given).collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
            Kind::AddressLine1 => line(&given(Kind::StreetAddress)?, 0),
            Kind::AddressLine2 => line(&given(Kind::StreetAddress)?, 1),
            Kind::AddressLine3 => line(&given(Kind::StreetAddress)?, 2),
            Kind::Country => place::country_code(&given(Kind::CountryName)?).map(String::from),
            Kind::CountryName => place::country_name(&given(Kind::Country)?).map(String::from),
            Kind::Bday => {
                let [year, month, day] =
                    [Kind::BdayYear, Kind::BdayMonth, Kind::BdayDay].map(given);
                let month = month?;
                let month = month.parse().ok().or_else(|| word::month(&month))?;
                Some(Day::new(year?.parse().ok()?, month, day?.parse().ok()?)?.iso())
            }
            Kind::BdayDay => Some(format!("{}", self.born()?.day)),
            Kind::BdayMonth => Some(format!("{}", self.born()?.month)),
            Kind::BdayYear => Some(format!("{}", self.born()?.year)),
            Kind::CcExp => {
                let (month, year) = (given(Kind::CcExpMonth)?, given(Kind::CcExpYear)?);
                let (month, year) = date::expiry(&format!("{month}/{year}"))?;
                Some(format!("{year:04}-{month:02}"))
            }
            Kind::CcExpMonth => Some(format!("{:02}", date::expiry(&given(Kind::CcExp)?)?.0)),
            Kind::CcExpYear => Some(format!("{}", date::expiry(&given(Kind::CcExp)?)?.1)),
            Kind::CcType => card(&given(Kind::CcNumber)?).map(String::from),
            Kind::Tel => {
                let (code, rest) = (given(Kind::TelCountryCode)?, given(Kind::TelNational)?);
                let phone = Phone::read(&rest)?;
                Some(format!("+{} {}", code.trim_start_matches(['+', '0']), phone.digits))
            }
            Kind::TelCountryCode => Some(format!("+{}", self.phone()?.calling?)),
            Kind::TelNational => {
                self.phone().filter(|it| it.calling.is_some()).map(|it| it.national())
            }
            Kind::TelAreaCode => Some(self.phone()?.area()?.0),
            Kind::TelLocal => Some(self.phone()?.area()?.1),
            _ => None,
        }
    }

    /// Returns names out of other names: a whole one from its parts, and the parts of one
    /// that has two words. What stands on a card is the person's name.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most kinds follow from no other")]
    fn named(&self, kind: Kind) -> Option<String> {
        let given = |kind: Kind| self.given(kind);
        let whole = |parts: [Kind; 3]| {
            let [first, middle, last] = parts.map(given);
            let all = [Some(first?), middle, Some(last?)];
            Some(all.into_iter().flatten().collect::<Vec<_>>().join(" "))
        };
        let part = |at: usize| {
            let name = given(Kind::Name)?;
            let words: Vec<&str> = name.split_whitespace().collect();
            words.get(at).filter(|_| words.len() == 2).map(|word| String::from(*word))
        };
        match kind {
            Kind::Name => whole([Kind::GivenName, Kind::AdditionalName, Kind::FamilyName]),
            Kind::GivenName => part(0),
            Kind::FamilyName => part(1),
            Kind::CcName => given(Kind::Name)
                .or_else(|| whole([Kind::GivenName, Kind::AdditionalName, Kind::FamilyName])),
            Kind::CcGivenName => given(Kind::GivenName).or_else(|| part(0)),
            Kind::CcAdditionalName => given(Kind::AdditionalName),
            Kind::CcFamilyName => given(Kind::FamilyName).or_else(|| part(1)),
            _ => None,
        }
    }

    fn born(&self) -> Option<Day> {
        Day::read(&self.given(Kind::Bday)?)
    }

    fn phone(&self) -> Option<Phone> {
        Phone::read(&self.given(Kind::Tel)?)
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
                let why = format!("never filled unless `allow` has \"{class}\"");
                found.push((kind.token().into(), why));
            }
        }
        for class in &self.allow {
            let has = self.values.keys().any(|kind| kind.class() == Some(*class));
            // A file is named by an answer, of which nobody knows for which field it is.
            if !has && (*class != Class::File || self.answers.is_empty()) {
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
fn doubt(kind: Kind, value: &str) -> Option<&'static str> {
    let value = value.trim();
    let digits = || value.chars().filter(char::is_ascii_digit).collect::<String>();
    let number = |range: core::ops::RangeInclusive<u16>| {
        value.parse().is_ok_and(|number: u16| range.contains(&number))
    };
    let wrong = match kind {
        _ if value.is_empty() => return Some("it is empty: remove the key instead"),
        Kind::Email => !email(value),
        Kind::Tel => Phone::read(value).is_none_or(|phone| phone.calling.is_none()),
        Kind::TelNational | Kind::TelLocal => Phone::read(value).is_none(),
        Kind::TelCountryCode => Phone::read(&format!("+{}5550100", digits())).is_none(),
        Kind::Bday => Day::read(value).is_none_or(|day| day.iso() != value),
        Kind::BdayDay => !number(1..=31),
        Kind::BdayMonth | Kind::CcExpMonth => !number(1..=12),
        Kind::BdayYear => !number(1850..=2200),
        Kind::Country => place::country_code(value).is_none_or(|code| code != value),
        Kind::CountryName => place::country_name(value).is_none(),
        Kind::CcNumber => !luhn(&digits()),
        Kind::CcCsc => !matches!(digits().len(), 3 | 4) || digits().len() != value.len(),
        Kind::CcExp => date::expiry(value).is_none(),
        Kind::CcExpYear => !number(0..=99) && !number(2000..=2200),
        Kind::Url => !value.contains('.') || value.contains(char::is_whitespace),
        Kind::Photo => !value.starts_with('/'),
        _ => false,
    };
    wrong.then_some(match kind {
        Kind::Email => "not an e-mail address: write it as name@example.org",
        Kind::Tel => "not a full number: write it with its country, as +44 20 7946 0000",
        Kind::Bday => "not a day: write it as YYYY-MM-DD",
        Kind::Country => "not a country code: write it as in ISO 3166, such as GB",
        Kind::CountryName => "not a known country",
        Kind::CcNumber => "not a card number: its check digit is wrong",
        Kind::CcExp => "not a month: write it as YYYY-MM",
        Kind::Url => "not a web address: write it as https://example.org",
        Kind::Photo => "not a file: write its absolute path",
        _ => "no such number",
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

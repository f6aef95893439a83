//! Countries, states and telephone numbers: names to codes and back.

use alloc::{format, string::String, vec::Vec};

use super::{
    countries::{COUNTRIES, Country},
    states::STATES,
};
use crate::form::{field::Field, text};

/// Returns the country of a code or a name.
fn country(text: &str) -> Option<&'static Country> {
    let text = text.trim();
    let code = |country: &&Country| {
        country.alpha2.eq_ignore_ascii_case(text) || country.alpha3.eq_ignore_ascii_case(text)
    };
    COUNTRIES.iter().find(code).or_else(|| COUNTRIES.iter().find(|it| called(it, text)))
}

fn called(country: &Country, text: &str) -> bool {
    text::same(country.name, text) || country.others.iter().any(|name| text::same(name, text))
}

/// Returns the country's name in English.
pub(crate) fn country_name(text: &str) -> Option<&'static str> {
    country(text).map(|country| country.name)
}

/// Returns the country's two-letter code.
pub(crate) fn country_code(text: &str) -> Option<&'static str> {
    country(text).map(|country| country.alpha2)
}

/// Returns everything that a country is called, codes included.
pub(super) fn country_words(text: &str) -> Vec<&'static str> {
    let Some(country) = country(text) else { return Vec::new() };
    let mut words = Vec::from([country.alpha2, country.name, country.alpha3]);
    words.extend(country.others);
    words
}

/// Returns everything that a state is called: its code, and its names.
pub(super) fn state_words(text: &str) -> Vec<&'static str> {
    let mut words = Vec::new();
    for (country, states) in STATES {
        let bare = text.trim();
        // `US-CA` is the code of ISO 3166-2.
        let bare = bare.split_once('-').filter(|(it, _)| it == country).map_or(bare, |(_, it)| it);
        let is = |(code, name): &&(&'static str, &'static str)| {
            code.eq_ignore_ascii_case(bare) || text::same(name, bare)
        };
        if let Some((code, _)) = states.iter().find(is) {
            words.push(*code);
            words.extend(states.iter().filter(|(it, _)| it == code).map(|(_, name)| *name));
        }
    }
    words
}

/// A telephone number, taken apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Phone {
    /// The digits after the plus, where they are known.
    pub(crate) calling: Option<&'static str>,
    /// The national digits, without the trunk prefix.
    pub(crate) digits: String,
    /// The same in the groups in which it was written.
    groups: Vec<String>,
}

impl Phone {
    /// Reads a number as people write it.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim().replace("(0)", " ");
        let plain = |c: char| c.is_ascii_digit() || " +-()./\u{a0}".contains(c);
        if !text.chars().all(plain) {
            return None;
        }
        let (abroad, rest) = match text.strip_prefix('+') {
            Some(rest) => (true, rest),
            None => text.strip_prefix("00").map_or((false, text.as_str()), |rest| (true, rest)),
        };
        let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
        if !(4..=15).contains(&digits.len()) {
            return None;
        }
        let calling = abroad.then(|| calling_code(&digits)).flatten();
        let skip = calling.map_or(0, str::len);
        let within = digits.get(skip..)?;
        let within = if abroad { within } else { within.strip_prefix('0').unwrap_or(within) };
        let mut groups = Vec::new();
        let mut skipped = digits.len().saturating_sub(within.len());
        for group in rest.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()) {
            let cut = skipped.min(group.len());
            skipped = skipped.saturating_sub(cut);
            groups.extend(group.get(cut..).filter(|rest| !rest.is_empty()).map(String::from));
        }
        Some(Self { calling, digits: within.into(), groups })
    }

    /// Returns the trunk prefix.
    fn trunk(&self) -> &'static str {
        match self.calling {
            Some("7") => "8",
            Some("36") => "06",
            Some(code) if CLOSED.contains(&code) => "",
            Some(_) | None => "0",
        }
    }

    /// Returns the number as it is dialled within its country, in its groups.
    pub(crate) fn national(&self) -> String {
        format!("{}{}", self.trunk(), self.groups.join(" "))
    }

    /// Returns the area code and the rest, where the number was written in groups.
    pub(crate) fn area(&self) -> Option<(String, String)> {
        if self.calling == Some("1") && self.digits.len() == 10 {
            let (area, local) = self.digits.split_at_checked(3)?;
            return Some((area.into(), local.into()));
        }
        let (area, rest) = self.groups.split_first().filter(|(_, rest)| !rest.is_empty())?;
        Some((format!("{}{area}", self.trunk()), rest.concat()))
    }

    /// Returns the number with its plus and without a space.
    pub(crate) fn plain(&self) -> Option<String> {
        self.calling.map(|code| format!("+{code}{}", self.digits))
    }

    /// Returns the ways of writing it, the likeliest first.
    pub(super) fn lines(&self, field: &Field, raw: &str) -> Vec<String> {
        let national = format!("{}{}", self.trunk(), self.digits);
        let mut found = Vec::new();
        let whole = self.calling.map(|code| format!("{code}{}", self.digits));
        let hint = &field.placeholder;
        let slots = hint.chars().filter(|c| is_slot(*c)).count();
        for digits in [Some(&national), Some(&self.digits), whole.as_ref()].into_iter().flatten() {
            if slots == digits.len() && slots > 5 {
                found.push(filled(hint, digits));
            }
        }
        if hint.trim_start().starts_with('0') || hint.trim_start().starts_with('(') {
            found.push(self.national());
        }
        found.push(raw.into());
        found.extend(self.plain());
        found.extend(whole.as_ref().map(|digits| format!("00{digits}")));
        found.push(self.national());
        found.push(national);
        found.push(self.digits.clone());
        found.extend(whole);
        if let [a, b, c] = &thirds(&self.digits)[..] {
            found.extend([
                format!("{a}-{b}-{c}"),
                format!("({a}) {b}-{c}"),
                format!("{a}.{b}.{c}"),
            ]);
        }
        found
    }

    /// Returns whether two numbers are the same, with or without prefixes.
    pub(super) fn same(left: &str, right: &str) -> bool {
        let bare = |text: &str| -> String {
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            digits.trim_start_matches('0').into()
        };
        let (left, right) = (bare(left), bare(right));
        let (long, short) = if left.len() >= right.len() { (left, right) } else { (right, left) };
        long == short || (short.len() >= 6 && long.len() <= 15 && long.ends_with(&short))
    }
}

/// Countries in which nothing is dialled before a number.
const CLOSED: [&str; 19] = [
    "1", "30", "34", "39", "45", "47", "48", "52", "65", "351", "352", "354", "356", "357", "371",
    "372", "376", "420", "852",
];

fn calling_code(digits: &str) -> Option<&'static str> {
    let codes = COUNTRIES.iter().map(|country| country.calling);
    let known = codes.filter(|code| digits.starts_with(code) && digits.len() > code.len());
    // The numbers of the Americas are all dialled with `1`.
    let code = known.max_by_key(|code| code.len())?;
    Some(if code.starts_with('1') { "1" } else { code })
}

fn is_slot(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, 'X' | 'x' | '_' | '#')
}

/// Writes digits into the places that an example has for them.
fn filled(example: &str, digits: &str) -> String {
    let mut digits = digits.chars();
    example
        .trim()
        .chars()
        .map(|c| if is_slot(c) { digits.next().unwrap_or(c) } else { c })
        .collect()
}

fn thirds(digits: &str) -> Vec<&str> {
    let parts = (digits.len() == 10).then(|| [digits.get(..3), digits.get(3..6), digits.get(6..)]);
    parts.into_iter().flatten().flatten().collect()
}

//! Values out of a list: the option that means what a value says.

use alloc::{format, string::String, vec::Vec};

use super::{UnfitValue, date, number, place, word};
use crate::form::{
    field::{Choice, Field},
    kind::FieldKind,
    text,
};

/// Returns the option that a value means, by a unique name; for lists with several choices, one
/// per line.
pub(super) fn fit(field: &Field, raw: &str, kind: FieldKind) -> Result<String, UnfitValue> {
    if let Some(choice) = find(field, raw, kind) {
        return Ok(name_of(field, choice));
    }
    if field.limits.multiple {
        let parts = raw.split(['\n', ',', ';']).map(str::trim).filter(|part| !part.is_empty());
        let found: Option<Vec<String>> =
            parts.map(|part| Some(name_of(field, find(field, part, kind)?))).collect();
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            return Ok(found.join("\n"));
        }
    }
    Err(UnfitValue(match usable(field).count() {
        0 => "there is no choice that can be selected".into(),
        1 => "the only choice does not match the value".into(),
        count => format!("none of the {count} choices matches the value"),
    }))
}

fn usable(field: &Field) -> impl Iterator<Item = &Choice> {
    field.options.iter().filter(|choice| !choice.disabled)
}

/// The unique name of an option: the value that the form sends, else its label.
fn name_of(field: &Field, choice: &Choice) -> String {
    let alike = field.options.iter().filter(|other| other.value == choice.value).count();
    if choice.value.is_empty() || alike > 1 { choice.label.clone() } else { choice.value.clone() }
}

fn find<'a>(field: &'a Field, raw: &str, kind: FieldKind) -> Option<&'a Choice> {
    let exact = |name: &str| {
        let by_label = usable(field).find(|it| it.label.trim() == name);
        by_label.or_else(|| usable(field).find(|it| it.value == name))
    };
    let alike = |name: &str| {
        let by_label = usable(field).find(|it| text::same(&it.label, name));
        by_label.or_else(|| usable(field).find(|it| text::same(&it.value, name)))
    };
    // Codes are short and mean other things elsewhere: the value's own kind comes first.
    let kind = if field.kind == FieldKind::None { kind } else { field.kind };
    let words = words(kind, raw);
    exact(raw.trim())
        .or_else(|| alike(raw))
        .or_else(|| words.iter().find_map(|word| alike(word)))
        .or_else(|| within(field, &words, kind))
        .or_else(|| ranged(field, raw))
        .or_else(|| only(usable(field).filter(|it| text::mentions(&it.label, raw))))
        .or_else(|| only(usable(field).filter(|it| begins(&it.label, raw))))
}

fn only<'a>(mut found: impl Iterator<Item = &'a Choice>) -> Option<&'a Choice> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn begins(label: &str, raw: &str) -> bool {
    let (label, raw) = (label.trim().to_lowercase(), raw.trim().to_lowercase());
    raw.chars().count() >= 3 && label.starts_with(&raw)
}

/// Returns what a value can be called in a list, by what it is.
fn words(kind: FieldKind, raw: &str) -> Vec<String> {
    let owned = |words: Vec<&'static str>| words.into_iter().map(String::from).collect();
    if matches!(kind, FieldKind::Country | FieldKind::CountryName) {
        owned(place::country_words(raw))
    } else if kind == FieldKind::AddressLevel1 {
        owned(place::state_words(raw))
    } else if matches!(kind, FieldKind::BdayMonth | FieldKind::CcExpMonth) {
        let month = raw.trim().parse().ok().or_else(|| word::month(raw));
        month.map(word::months).unwrap_or_default()
    } else if kind == FieldKind::BdayDay {
        raw.trim().parse().ok().map(word::numbers).unwrap_or_default()
    } else if matches!(kind, FieldKind::BdayYear | FieldKind::CcExpYear) {
        years(raw)
    } else if kind == FieldKind::CcExp {
        let read = date::expiry(raw).map(|(month, year)| {
            let short = year.wrapping_rem(100);
            Vec::from([format!("{month:02}/{short:02}"), format!("{month:02}/{year}")])
        });
        read.unwrap_or_default()
    } else if kind == FieldKind::HonorificPrefix {
        owned(word::titles(raw))
    } else if kind == FieldKind::Sex {
        owned(word::sexes(raw))
    } else if kind == FieldKind::Language {
        owned(word::languages(raw))
    } else if kind == FieldKind::CcType {
        owned(word::cards(raw))
    } else if kind == FieldKind::TelCountryCode {
        calling(raw)
    } else {
        plain(raw)
    }
}

/// What has no kind may still be a yes, a month, a country, a sex or a number.
fn plain(raw: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    if let Some(yes) = word::yes_or_no(raw) {
        all.extend(word::words_for(yes).iter().map(|word| String::from(*word)));
    }
    if let Some(number) = number::read(raw) {
        all.push(number::write(number));
        all.extend(raw.trim().parse().ok().map(word::numbers).unwrap_or_default());
    }
    if let Some(month) = word::month(raw) {
        all.extend(word::months(month));
    }
    let names =
        [place::country_words(raw), word::sexes(raw), word::titles(raw), place::state_words(raw)];
    // A single letter is too ambiguous.
    if raw.trim().chars().count() > 1 {
        all.extend(names.into_iter().flatten().map(String::from));
    }
    all
}

fn years(raw: &str) -> Vec<String> {
    let Ok(year) = raw.trim().parse::<u16>() else { return Vec::new() };
    let long = if year < 100 { year.saturating_add(2000) } else { year };
    Vec::from([format!("{long}"), format!("{:02}", long.wrapping_rem(100))])
}

/// `+49` is written as `49`, `+49`, `0049`, or beside its country.
fn calling(raw: &str) -> Vec<String> {
    let digits: String = raw.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches("00");
    if digits.is_empty() {
        return place::country_words(raw).into_iter().map(String::from).collect();
    }
    Vec::from([format!("+{digits}"), digits.into(), format!("00{digits}")])
}

/// Finds the only option that has one of the words in it: `Germany (+49)`, `05 - May`.
fn within<'a>(field: &'a Field, words: &[String], kind: FieldKind) -> Option<&'a Choice> {
    if kind == FieldKind::TelCountryCode {
        let code = words.first()?;
        let has = |it: &&Choice| {
            let rest = it.label.split_once(code.as_str()).map(|(_, rest)| rest);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        // Several countries share a code; the first is as good as any for dialling.
        return usable(field).find(has);
    }
    let long = words.iter().filter(|word| word.chars().count() >= 3);
    long.into_iter()
        .find_map(|word| only(usable(field).filter(|it| text::mentions(&it.label, word))))
}

/// Finds the range that a number lies in: `25-34`, `under 18`, `65+`, `$50,000 to $75,000`.
fn ranged<'a>(field: &'a Field, raw: &str) -> Option<&'a Choice> {
    let number = number::read(raw)?;
    only(usable(field).filter(|it| {
        number::range(&it.label).is_some_and(|(low, high)| low <= number && number <= high)
    }))
}

/// Returns whether what a list shows is what was wanted.
pub(super) fn kept(field: &Field, wanted: &str, found: &str) -> bool {
    let names = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = if field.limits.multiple {
            text.split('\n').map(|line| line.trim().to_lowercase()).collect()
        } else {
            Vec::from([text.trim().to_lowercase()])
        };
        lines.retain(|line| !line.is_empty());
        lines.sort();
        lines
    };
    if names(wanted) == names(found) {
        return true;
    }
    let mut wants: Vec<&Choice> = field.choices(wanted);
    let mut shows: Vec<&Choice> = field.choices(found);
    if shows.is_empty() {
        shows = usable(field).filter(|it| text::same(&it.label, found)).collect();
    }
    let key = |it: &&Choice| (it.label.clone(), it.value.clone());
    wants.sort_by_key(key);
    shows.sort_by_key(key);
    !wants.is_empty() && wants == shows || (wants.is_empty() && text::same(wanted, found))
}

//! Values and fields: how a value must be written so that a field takes it, and whether
//! what a field shows is what was meant.

mod choice;
mod countries;
pub(super) mod date;
mod line;
mod number;
mod pattern;
pub(super) mod place;
mod states;
#[cfg(test)]
mod tests;
pub(super) mod word;

use alloc::{format, string::String};

use thiserror::Error;

use super::{
    field::{Field, FieldShape},
    kind::FieldKind,
};
use crate::answer::counted;

/// A value that a field does not accept. It describes what the field requires, never the value.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{0}")]
pub struct UnfitValue(pub String);

/// Returns the value as the field takes it.
///
/// `kind` is the kind of the value: from the profile's key, or [`FieldKind::None`] for text by a
/// model or a person. The result is, for a choice, the `value` of its option (one per line for
/// several, see [`Field::choices`]); for a checkbox, `true` or `false`; for a day, `YYYY-MM-DD`,
/// and so on as in HTML for the native shapes; for lines, the text to type.
///
/// # Errors
///
/// [`UnfitValue`] where the field takes no such value.
pub fn fit(field: &Field, raw: &str, kind: FieldKind) -> Result<String, UnfitValue> {
    let clean: String = raw.chars().filter(|c| !unwanted(*c)).collect();
    let clean = clean.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
    let plain = clean.trim();
    if plain.is_empty() {
        return Err(UnfitValue("the value is empty".into()));
    }
    match field.shape {
        FieldShape::Captcha => Err(UnfitValue("only a person may solve it".into())),
        FieldShape::Unsupported => Err(UnfitValue("it cannot be filled".into())),
        FieldShape::Checkbox => {
            let yes = word::yes_or_no(plain);
            let yes = yes.ok_or_else(|| UnfitValue("the field takes yes or no".into()))?;
            Ok(format!("{yes}"))
        }
        _ if field.is_choice() => choice::fit(field, plain, kind),
        FieldShape::Number | FieldShape::Range => number::fit(field, plain),
        FieldShape::Date
        | FieldShape::Time
        | FieldShape::DatetimeLocal
        | FieldShape::Month
        | FieldShape::Week => date::native(field, plain),
        FieldShape::Color => color(plain),
        FieldShape::Codes => codes(field, plain),
        FieldShape::Password => password(field, &clean),
        FieldShape::File if plain.starts_with('/') || plain.contains(":\\") => Ok(plain.into()),
        FieldShape::File => Err(UnfitValue("the field takes the absolute path of a file".into())),
        FieldShape::Text
        | FieldShape::Textarea
        | FieldShape::Richtext
        | FieldShape::Combobox
        | FieldShape::Select
        | FieldShape::Radio
        | FieldShape::Listbox => line::fit(field, plain, kind),
    }
}

/// Returns whether what the field shows is what was wanted, as [`fit`] gave it: masks,
/// spaces, case and the way in which days and numbers are written do not count.
pub fn kept(field: &Field, wanted: &str, found: &str) -> bool {
    match field.shape {
        FieldShape::Checkbox => word::yes_or_no(wanted) == word::yes_or_no(found),
        _ if field.is_choice() => choice::kept(field, wanted, found),
        FieldShape::Number | FieldShape::Range => number::same(wanted, found),
        FieldShape::Date => date::same_native(wanted, found) || date::same(wanted, found),
        FieldShape::Time | FieldShape::DatetimeLocal | FieldShape::Month | FieldShape::Week => {
            date::same_native(wanted, found)
        }
        FieldShape::Color => wanted.eq_ignore_ascii_case(found.trim()),
        FieldShape::Codes => alphanumeric(wanted) == alphanumeric(found),
        FieldShape::Password => wanted == found,
        FieldShape::File => file_name(wanted) == file_name(found),
        FieldShape::Text
        | FieldShape::Textarea
        | FieldShape::Richtext
        | FieldShape::Combobox
        | FieldShape::Select
        | FieldShape::Radio
        | FieldShape::Listbox
        | FieldShape::Captcha
        | FieldShape::Unsupported => line::kept(field, wanted, found),
    }
}

/// Control characters, marks that change the direction of what follows, and characters for
/// private use: to a browser's driver those are keys, and not text.
fn unwanted(c: char) -> bool {
    let marks = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    let keys = matches!(c, '\u{e000}'..='\u{f8ff}');
    marks || keys || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

fn alphanumeric(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A browser shows a made-up folder before the name of a file.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path).trim()
}

fn codes(field: &Field, plain: &str) -> Result<String, UnfitValue> {
    let code = alphanumeric(plain);
    match field.limits.chars {
        Some(boxes) if usize::try_from(boxes).ok() != Some(code.chars().count()) => {
            Err(UnfitValue(format!("the field takes a code of {boxes} characters")))
        }
        _ if code.is_empty() => Err(UnfitValue("the value is empty".into())),
        _ => Ok(code),
    }
}

/// A password is typed as it is, or not at all.
fn password(field: &Field, clean: &str) -> Result<String, UnfitValue> {
    let length = clean.encode_utf16().count();
    let most = field.limits.chars.and_then(|it| usize::try_from(it).ok());
    match most {
        Some(most) if length > most => {
            let most = counted(u64::try_from(most).unwrap_or(u64::MAX), "character");
            Err(UnfitValue(format!("the field takes at most {most}")))
        }
        _ => Ok(clean.into()),
    }
}

fn color(plain: &str) -> Result<String, UnfitValue> {
    const NAMES: [(&str, &str); 16] = [
        ("black", "#000000"),
        ("white", "#ffffff"),
        ("red", "#ff0000"),
        ("lime", "#00ff00"),
        ("green", "#008000"),
        ("blue", "#0000ff"),
        ("yellow", "#ffff00"),
        ("cyan", "#00ffff"),
        ("magenta", "#ff00ff"),
        ("gray", "#808080"),
        ("grey", "#808080"),
        ("orange", "#ffa500"),
        ("purple", "#800080"),
        ("pink", "#ffc0cb"),
        ("brown", "#a52a2a"),
        ("navy", "#000080"),
    ];
    let lower = plain.to_lowercase();
    if let Some((_, code)) = NAMES.iter().find(|(name, _)| *name == lower) {
        return Ok((*code).into());
    }
    let digits = lower.strip_prefix('#').unwrap_or(&lower);
    let hexadecimal = digits.chars().all(|c| c.is_ascii_hexdigit());
    match (hexadecimal, digits.len()) {
        (true, 6) => Ok(format!("#{digits}")),
        (true, 3) => Ok(digits.chars().fold(String::from("#"), |all, c| format!("{all}{c}{c}"))),
        _ => Err(UnfitValue("the field takes a colour; write it as #rrggbb".into())),
    }
}

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
    field::{Field, Shape},
    kind::Kind,
};

/// A value that a field cannot take. It tells what the field wants, never the value.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{0}")]
pub struct Unfit(pub String);

/// Returns the value as the field takes it.
///
/// `kind` is what the value is: a profile's key says it, and for text that a model or a
/// person wrote it is [`Kind::None`]. What comes back is for a choice the `value` of its
/// option (one per line where several can be chosen, see [`Field::choices`]), for a
/// checkbox `true` or `false`, for a day `YYYY-MM-DD`, and so on as HTML has it for the
/// native shapes; for lines it is what is typed.
///
/// # Errors
///
/// [`Unfit`] where the field takes no such value.
pub fn fit(field: &Field, raw: &str, kind: Kind) -> Result<String, Unfit> {
    let clean: String = raw.chars().filter(|c| !unwanted(*c)).collect();
    let clean = clean.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
    let plain = clean.trim();
    if plain.is_empty() {
        return Err(Unfit("there is nothing to put in".into()));
    }
    match field.shape {
        Shape::Captcha => Err(Unfit("only a person may solve it".into())),
        Shape::Unsupported => Err(Unfit("it is no field that can be filled".into())),
        Shape::Checkbox => {
            let yes = word::yes_or_no(plain);
            let yes = yes.ok_or_else(|| Unfit("the field takes yes or no".into()))?;
            Ok(format!("{yes}"))
        }
        _ if field.is_choice() => choice::fit(field, plain, kind),
        Shape::Number | Shape::Range => number::fit(field, plain),
        Shape::Date | Shape::Time | Shape::DatetimeLocal | Shape::Month | Shape::Week => {
            date::native(field, plain)
        }
        Shape::Color => color(plain),
        Shape::Codes => codes(field, plain),
        Shape::Password => password(field, &clean),
        Shape::File if plain.starts_with('/') || plain.contains(":\\") => Ok(plain.into()),
        Shape::File => Err(Unfit("the field takes the absolute path of a file".into())),
        Shape::Text
        | Shape::Textarea
        | Shape::Richtext
        | Shape::Combobox
        | Shape::Select
        | Shape::Radio
        | Shape::Listbox => line::fit(field, plain, kind),
    }
}

/// Returns whether what the field shows is what was wanted, as [`fit`] gave it: masks,
/// spaces, case and the way in which days and numbers are written do not count.
pub fn kept(field: &Field, wanted: &str, found: &str) -> bool {
    match field.shape {
        Shape::Checkbox => word::yes_or_no(wanted) == word::yes_or_no(found),
        _ if field.is_choice() => choice::kept(field, wanted, found),
        Shape::Number | Shape::Range => number::same(wanted, found),
        Shape::Date => date::same_native(wanted, found) || date::same(wanted, found),
        Shape::Time | Shape::DatetimeLocal | Shape::Month | Shape::Week => {
            date::same_native(wanted, found)
        }
        Shape::Color => wanted.eq_ignore_ascii_case(found.trim()),
        Shape::Codes => alphanumeric(wanted) == alphanumeric(found),
        Shape::Password => wanted == found,
        Shape::File => file_name(wanted) == file_name(found),
        Shape::Text
        | Shape::Textarea
        | Shape::Richtext
        | Shape::Combobox
        | Shape::Select
        | Shape::Radio
        | Shape::Listbox
        | Shape::Captcha
        | Shape::Unsupported => line::kept(field, wanted, found),
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

fn codes(field: &Field, plain: &str) -> Result<String, Unfit> {
    let code = alphanumeric(plain);
    match field.limits.chars {
        Some(boxes) if usize::try_from(boxes).ok() != Some(code.chars().count()) => {
            Err(Unfit(format!("the code has {boxes} characters")))
        }
        _ if code.is_empty() => Err(Unfit("there is nothing to put in".into())),
        _ => Ok(code),
    }
}

/// A password is typed as it is, or not at all.
fn password(field: &Field, clean: &str) -> Result<String, Unfit> {
    let length = clean.encode_utf16().count();
    let most = field.limits.chars.and_then(|it| usize::try_from(it).ok());
    match most {
        Some(most) if length > most => {
            Err(Unfit(format!("the field takes {most} characters at most")))
        }
        _ => Ok(clean.into()),
    }
}

fn color(plain: &str) -> Result<String, Unfit> {
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
        _ => Err(Unfit("the field takes a colour; write it as #rrggbb".into())),
    }
}

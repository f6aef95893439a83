//! What may be typed: the profile's values and the model's text, made safe to type.

use alloc::{format, string::String, vec::Vec};

use super::field::{Field, FieldKind};

/// Characters that are typed at most, whatever the field says.
const MAX_TYPED: usize = 20_000;

/// Returns the text as it can be typed into the field, or nothing.
///
/// What a browser would take for a key or for layout is dropped, and what is too
/// long is cut: a limit is the form's word, so the text yields.
pub(super) fn usable(field: &Field, text: &str) -> Option<String> {
    let many_lines = matches!(field.kind, FieldKind::Textarea | FieldKind::Richtext);
    let plain: String = text
        .chars()
        .map(|c| if c == '\t' || (!many_lines && (c == '\n' || c == '\r')) { ' ' } else { c })
        .filter(|c| !unwanted(*c, many_lines))
        .collect();
    let plain = plain.trim();
    let fitting = match field.kind {
        FieldKind::Select | FieldKind::Radio => {
            field.options.iter().find(|option| same(option, plain)).cloned()
        }
        FieldKind::Checkbox => yes_or_no(plain),
        FieldKind::Text | FieldKind::Textarea | FieldKind::Richtext => Some(limited(field, plain)),
        FieldKind::Password
        | FieldKind::OneTimeCode
        | FieldKind::Card
        | FieldKind::File
        | FieldKind::Unsupported => None,
    };
    fitting.filter(|text| !text.is_empty())
}

/// Returns whether two labels or options say the same.
pub(super) fn same(left: &str, right: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        parts.map(str::to_lowercase).collect()
    };
    left == right || (!words(left).is_empty() && words(left) == words(right))
}

/// Returns the first so many characters.
pub(super) fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// Renders the question to the model. The page's words are quoted as data.
pub(super) fn prompt(goal: &str, field: &Field, complaint: Option<&str>) -> String {
    let options = Some(&field.options).filter(|options| !options.is_empty());
    let lines = [
        Some("Write the text for one field of a web form. Answer with that text alone.".into()),
        Some(format!("The form is filled for: {goal}")),
        Some(format!("The field's label: {:?}", field.label)),
        Some(format!("Around it the page says: {:?}", field.context)),
        options.map(|options| format!("Answer with one of: {options:?}")),
        field.word_limit.map(|words| format!("Words at most: {words}")),
        field.char_limit.map(|chars| format!("Characters at most: {chars}")),
        complaint.map(|words| format!("The page refused the last text and says: {words:?}")),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    lines.join("\n")
}

/// Control characters, and marks that change the direction of what follows.
fn unwanted(c: char, many_lines: bool) -> bool {
    let line = many_lines && c == '\n';
    let marks = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    marks || (c.is_control() && !line)
}

fn yes_or_no(text: &str) -> Option<String> {
    let yes = ["yes", "true", "on", "1", "checked"];
    let no = ["no", "false", "off", "0", "unchecked"];
    let is = |known: &[&str]| known.iter().any(|known| same(known, text));
    if is(&yes) {
        return Some("true".into());
    }
    is(&no).then(|| "false".into())
}

fn limited(field: &Field, text: &str) -> String {
    let chars =
        field.char_limit.map_or(MAX_TYPED, |limit| usize::try_from(limit).unwrap_or(MAX_TYPED));
    let words =
        field.word_limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let by_words = text
        .split_inclusive(char::is_whitespace)
        .scan(0_usize, |count, piece| {
            *count = count.saturating_add(usize::from(!piece.trim().is_empty()));
            (*count <= words).then_some(piece)
        })
        .collect::<String>();
    String::from(cut(by_words.trim_end(), chars.min(MAX_TYPED)).trim_end())
}

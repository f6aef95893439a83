//! The limits of a field, by its attributes and the text beside it.
//!
//! Limits are read, never guessed: a number counts only beside the word for what it
//! counts, and only where the text says that it is the most.

use alloc::{string::String, vec::Vec};

use super::draft::LogicalField;
use crate::form::{
    classify::FoldedText,
    field::{FieldLimits, FieldShape},
    snapshot::PageSnapshot,
};

/// Words for words, as folded text has them, by their beginnings.
const WORDS: &str = "word, worter, worte, mots, mot, palabra, parole, parola, palavra, woord, ord, \
     sanaa, sana, slow, slov, szo, слов, слів, λεξ, kelime, sozcuk, 단어";
/// Words for characters.
const CHARACTERS: &str = "char, zeichen, caracter, caratter, carattere, teken, tegn, tecken, merkki, \
     znak, karakter, символ, знак, χαρακτηρ, 文字, 字符, 字元, 글자, حرف, letters, buchstaben";
/// What says that a number is the most.
const MOST: &str = "max, maximum, maximal, up to, no more than, not more than, at most, limit, \
     limited to, or less, or fewer, fewer than, less than, under, within, remaining, \
     left, hochstens, bis zu, jusqu, au plus, maximo, hasta, como maximo, massimo, \
     fino a, ate, hoogstens, hojst, hogst, enintaan, najwyzej, nejvyse, до, \
     не более, не більше, en fazla, 以内";
/// What says that a number is the least.
const LEAST: &str = "min, minimum, at least, mindestens, au moins, al menos, minimo, almeno, \
     pelo menos, minstens, не менее, 以上";

/// Returns the limits of a field.
#[expect(clippy::wildcard_enum_match_arm, reason = "most shapes are alike in this")]
pub(super) fn of(
    sighting: &PageSnapshot,
    logical: &LogicalField<'_>,
    context: &str,
) -> FieldLimits {
    let seen = logical.seen;
    let number = |name: &str| seen.attribute(name).trim().parse::<u32>().ok();
    let kept = |name: &str| Some(String::from(seen.attribute(name))).filter(|it| !it.is_empty());
    let takes_words = matches!(
        logical.shape,
        FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Richtext
            | FieldShape::Password
            | FieldShape::Combobox
    );
    let mut limits = FieldLimits { multiple: seen.multiple, ..FieldLimits::default() };
    match logical.shape {
        // A custom slider may not report its steps.
        FieldShape::Range if seen.role == "slider" && seen.tag != "input" => {
            limits.min = kept("aria-valuemin");
            limits.max = kept("aria-valuemax");
            limits.step = Some("any".into());
        }
        FieldShape::Number
        | FieldShape::Range
        | FieldShape::Date
        | FieldShape::Time
        | FieldShape::DatetimeLocal
        | FieldShape::Month
        | FieldShape::Week => {
            limits.min = kept("min");
            limits.max = kept("max");
            limits.step = kept("step");
        }
        FieldShape::Codes => limits.chars = u32::try_from(logical.members.len()).ok(),
        _ if takes_words => {
            limits.chars = number("maxlength");
            limits.min_chars = number("minlength").filter(|least| *least > 0);
            limits.pattern = kept("pattern");
        }
        _ => {}
    }
    if takes_words {
        let told = told(logical, context);
        limits.words =
            marked(sighting, logical, &["data-maxwords", "data-max-words", "data-word-limit"])
                .or_else(|| told.iter().find_map(|text| most(text, WORDS)));
        let counted =
            marked(sighting, logical, &["data-maxlength", "data-max-length", "data-char-limit"])
                .or_else(|| told.iter().find_map(|text| most(text, CHARACTERS)));
        limits.chars = match (limits.chars, counted) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    limits
}

/// Looks for an attribute that holds a limit, on the field and on the three elements up.
fn marked(sighting: &PageSnapshot, logical: &LogicalField<'_>, names: &[&str]) -> Option<u32> {
    let own = names.iter().map(|name| logical.seen.attribute(name));
    let around = sighting.around(logical.seen.place).take(3);
    let outer = around.flat_map(|(_, place)| names.iter().map(|name| place.attribute(name)));
    own.chain(outer).find_map(|value| value.trim().parse().ok())
}

fn told<'a>(logical: &'a LogicalField<'_>, context: &'a str) -> Vec<&'a str> {
    let names = &logical.seen.names;
    let mut told = Vec::from([
        names.associated.as_str(),
        names.wrapping.as_str(),
        names.labelled_by.as_str(),
        names.placeholder.as_str(),
        names.described.as_str(),
        names.title.as_str(),
        context,
    ]);
    if names.after_level <= 2 {
        told.push(&names.after);
    }
    if names.before_level <= 2 {
        told.push(&names.before);
    }
    told
}

/// Returns the most that a text permits of what it counts, if it says so in one clause.
fn most(text: &str, counted: &str) -> Option<u32> {
    // A full stop that shortens a word ends no clause.
    let text = text.replace("ax. ", "ax ").replace("in. ", "in ");
    let clauses = text.split(['.', ';', '(', ')', '·', '\n', '!', '?']);
    clauses.into_iter().find_map(|clause| in_clause(clause, counted))
}

fn in_clause(clause: &str, counted: &str) -> Option<u32> {
    let (at, number, over) = numbers(clause).find_map(|(number, over, rest)| {
        let unit = FoldedText::new(rest.get(..rest.len().min(40)).unwrap_or(rest));
        let solid = unit.solid();
        let names = counted.split(", ").any(|word| solid.starts_with(word));
        names.then_some((rest.len(), number, over))
    })?;
    let before = clause.get(..clause.len().saturating_sub(at)).unwrap_or(clause);
    let after = clause.get(clause.len().saturating_sub(at)..).unwrap_or_default();
    let says = |list: &str, text: &str| {
        let folded = FoldedText::new(text);
        list.split(", ").any(|phrase| folded.holds(phrase))
    };
    // `0/200 words` and `100-200 words` name their most themselves.
    let ranged = over || says(MOST, before) || says(MOST, after);
    let least = says(LEAST, before) && !says(MOST, before) && !over;
    (ranged && !least).then_some(number)
}

/// Returns every number of a clause, whether a smaller one is before it, and the rest.
fn numbers(clause: &str) -> impl Iterator<Item = (u32, bool, &str)> {
    let mut rest = clause;
    let mut before: Option<u32> = None;
    core::iter::from_fn(move || {
        let start = rest.find(|c: char| c.is_ascii_digit())?;
        let gap = rest.get(..start).unwrap_or_default().trim();
        let gap_joins =
            matches!(gap, "/" | "-" | "–" | "to" | "bis" | "of" | "von" | "a" | "à" | "out of");
        let tail = rest.get(start..)?;
        let length = tail
            .char_indices()
            .find(|(_, c)| !c.is_ascii_digit() && !matches!(c, ',' | '\u{a0}'))
            .map_or(tail.len(), |(at, _)| at);
        let digits: String = tail.get(..length)?.chars().filter(char::is_ascii_digit).collect();
        rest = tail.get(length..)?;
        let number: u32 = digits.parse().ok()?;
        let over = gap_joins && before.is_some_and(|before| before <= number);
        before = Some(number);
        Some((number, over, rest))
    })
}

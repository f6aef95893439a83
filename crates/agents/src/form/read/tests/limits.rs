//! Limits are read and never guessed.

use super::page::Page;
use crate::form::FieldLimits;

fn limits(hint: &str, attributes: &str) -> FieldLimits {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, attributes, |seen| {
        seen.tag = "textarea".into();
        seen.names.described = hint.into();
    });
    page.read().fields.remove(0).limits
}

#[test]
fn the_most_words_are_read_in_many_languages() {
    for hint in [
        "Max 200 words",
        "maximum of 200 words",
        "No more than 200 words.",
        "Please answer in 200 words or less",
        "Up to 200 words",
        "0/200 words",
        "100-200 words",
        "You have 200 words remaining",
        "Word limit: at most 200 words",
        "Höchstens 200 Wörter",
        "maximal 200 Worte",
        "200 mots maximum",
        "Máximo 200 palabras",
        "Massimo 200 parole",
        "No máximo 200 palavras: máximo 200 palavras",
        "Maximaal: max 200 woorden",
        "Högst 200 ord",
        "Enintään 200 sanaa",
        "Max 200 słów",
        "не более 200 слов",
        "En fazla 200 kelime",
    ] {
        assert_eq!(limits(hint, "").words, Some(200), "{hint}");
    }
}

#[test]
fn the_most_characters_are_read() {
    for hint in
        ["Up to 1,500 characters", "max. 1500 Zeichen", "0 / 1500 characters", "1500文字以内"]
    {
        assert_eq!(limits(hint, "").chars, Some(1_500), "{hint}");
    }
}

#[test]
fn a_number_without_a_limit_is_none() {
    for hint in [
        "Write 200 words",
        "At least 200 words",
        "Minimum 50 words",
        "200",
        "maximum 3 files",
        "Ordered by 200 people, max",
        "",
    ] {
        assert_eq!(limits(hint, "").words, None, "{hint}");
    }
}

#[test]
fn attributes_are_limits_and_the_smaller_counts() {
    let read = limits("Up to 50 characters", "maxlength=80 minlength=5 pattern=[a-z]+");
    assert_eq!(read.chars, Some(50));
    assert_eq!(read.min_chars, Some(5));
    assert_eq!(read.pattern.as_deref(), Some("[a-z]+"));
    assert_eq!(limits("", "data-maxwords=30").words, Some(30));
}

#[test]
fn numbers_and_days_have_bounds() {
    let mut page = Page::new();
    let form = page.place(0, "form", "");
    page.field(form, "type=number min=1 max=9 step=2", |_| {});
    let limits = page.read().fields.remove(0).limits;
    assert_eq!(
        (limits.min.as_deref(), limits.max.as_deref(), limits.step.as_deref()),
        (Some("1"), Some("9"), Some("2"))
    );
}

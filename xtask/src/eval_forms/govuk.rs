//! Components of a design system with what they were made from: labels, hints, options,
//! limits, values and error messages must come back.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use pointsman_agents::form::{Field, Reading, Shape};
use serde_json::Value;

use super::pages::Pages;

/// How often something was looked for, and how often it was there.
#[derive(Default)]
struct Checks {
    by_name: BTreeMap<&'static str, (usize, usize)>,
    misses: Vec<String>,
}

impl Checks {
    fn see(&mut self, what: &'static str, holds: bool, detail: impl FnOnce() -> String) {
        let (right, total) = self.by_name.entry(what).or_default();
        *total += 1;
        if holds {
            *right += 1;
        } else {
            self.misses.push(format!("{what}: {}", detail()));
        }
    }
}

/// Opens every component, prints how it went, and returns whether all came back.
pub(super) fn run(pages: &Pages<'_>) -> Result<bool> {
    let mut checks = Checks::default();
    println!("components, error states included: what did not come back");
    for page in pages.part("govuk")? {
        let file = page["file"].as_str().context("a page has no file")?;
        let reading = pages.read(file)?;
        let before = checks.misses.len();
        check(&mut checks, page, &reading);
        for miss in checks.misses.iter().skip(before) {
            println!("  {file}: {miss}");
        }
    }
    println!();
    for (what, (right, total)) in &checks.by_name {
        println!("  {what:16} {right:>4} of {total:>4}");
    }
    println!();
    Ok(checks.misses.is_empty())
}

fn check(checks: &mut Checks, page: &Value, reading: &Reading) {
    let options = &page["options"];
    let fields: Vec<&Field> = reading.all().collect();
    for message in page["expected_error_messages"].as_array().into_iter().flatten() {
        let message = flat(message.as_str().unwrap_or_default());
        let told = reading.complaints.iter().any(|it| flat(&it.text).contains(&message));
        checks.see("error message", told, || format!("{message:?} in {:?}", reading.complaints));
    }
    match page["component"].as_str().unwrap_or_default() {
        "input" | "textarea" | "character-count" | "password-input" | "file-upload" => {
            one_line(checks, options, &fields);
        }
        "select" => {
            label(checks, &options["label"], &fields);
            let items = named(&options["items"]);
            choices(checks, "option", &items, fields.first().copied());
        }
        "radios" => group(checks, options, &fields, Shape::Radio),
        "checkboxes" => group(checks, options, &fields, Shape::Checkbox),
        "date-input" => dates(checks, options, &fields),
        "button" => {
            let wanted = text(options);
            let found = reading.controls.iter().chain(&reading.submit);
            let labels: Vec<String> = found.map(|it| flat(&it.label)).collect();
            checks.see("button", labels.contains(&wanted), || format!("{wanted:?} in {labels:?}"));
        }
        // The rest has no control of its own: only messages are looked for.
        _ => {}
    }
}

fn one_line(checks: &mut Checks, options: &Value, fields: &[&Field]) {
    label(checks, &options["label"], fields);
    let Some(field) = fields.first() else { return };
    hint(checks, options, field);
    if let Some(wanted) = options["value"].as_str().filter(|_| field.shape != Shape::Password) {
        let held = field.value.as_deref().unwrap_or_default();
        checks.see("value", flat(held) == flat(wanted), || format!("{wanted:?}, not {held:?}"));
    }
    if let Some(most) = options["maxlength"].as_u64() {
        let counted = options["countType"] == "words";
        let limit = if counted { field.limits.words } else { field.limits.chars };
        checks
            .see("limit", limit.map(u64::from) == Some(most), || format!("{most}, not {limit:?}"));
    }
    if let Some(most) = options["maxwords"].as_u64() {
        let limit = field.limits.words;
        checks
            .see("limit", limit.map(u64::from) == Some(most), || format!("{most}, not {limit:?}"));
    }
    if let Some(token) = options["autocomplete"].as_str() {
        let kind = field.kind.token();
        checks.see("kind", kind == token, || format!("{token}, not {kind}"));
    }
    let disabled = options["disabled"] == true;
    checks.see("disabled", field.disabled == disabled, || format!("{disabled}"));
}

fn label(checks: &mut Checks, wanted: &Value, fields: &[&Field]) {
    let wanted = text(wanted);
    if wanted.is_empty() {
        return;
    }
    let found = fields.first().map(|field| flat(&field.label)).unwrap_or_default();
    checks.see("label", found == wanted, || format!("{wanted:?}, not {found:?}"));
}

fn hint(checks: &mut Checks, options: &Value, field: &Field) {
    let wanted = text(&options["hint"]);
    if !wanted.is_empty() {
        let found = flat(&field.context);
        checks.see("hint", found.contains(&wanted), || format!("{wanted:?} in {found:?}"));
    }
}

/// Radio buttons are one field named by their legend; checkboxes are a field each, with
/// the legend as their context.
fn group(checks: &mut Checks, options: &Value, fields: &[&Field], shape: Shape) {
    let legend = text(&options["fieldset"]["legend"]);
    let mine: Vec<&Field> = fields.iter().copied().filter(|field| field.shape == shape).collect();
    let items = named(&options["items"]);
    if shape == Shape::Radio {
        checks.see("one field", mine.len() == 1, || format!("{} groups", mine.len()));
        choices(checks, "option", &items, mine.first().copied());
    } else {
        let labels: Vec<String> = mine.iter().map(|field| flat(&field.label)).collect();
        let wanted: Vec<String> = items.iter().map(|item| text(item)).collect();
        checks.see("option", labels == wanted, || format!("{wanted:?}, not {labels:?}"));
    }
    let Some(field) = mine.first() else { return };
    if !legend.is_empty() {
        let name = if shape == Shape::Radio { &field.label } else { &field.context };
        checks.see("legend", flat(name).contains(&legend), || format!("{legend:?} in {name:?}"));
    }
    hint(checks, options, field);
}

fn choices(checks: &mut Checks, what: &'static str, items: &[&Value], field: Option<&Field>) {
    let found: Vec<(String, bool)> = field
        .map(|field| field.options.iter().map(|it| (flat(&it.label), it.disabled)).collect())
        .unwrap_or_default();
    let wanted: Vec<(String, bool)> =
        items.iter().map(|item| (text(item), item["disabled"] == true)).collect();
    checks.see(what, found == wanted, || format!("{wanted:?}, not {found:?}"));
}

fn dates(checks: &mut Checks, options: &Value, fields: &[&Field]) {
    let count = match options["items"].as_array() {
        // A list without anything in it makes the usual three.
        Some(items) if !items.is_empty() => items.iter().filter(|item| item.is_object()).count(),
        _ => 3 - usize::from(options["day"] == false),
    };
    checks.see("parts", fields.len() == count, || format!("{count}, not {}", fields.len()));
    let legend = text(&options["fieldset"]["legend"]);
    let birth = legend.to_lowercase().contains("birth");
    for field in fields {
        if !legend.is_empty() {
            let held = flat(&field.context).contains(&legend);
            checks.see("legend", held, || format!("{legend:?} in {:?}", field.context));
        }
        hint(checks, options, field);
        if !legend.is_empty() {
            let typed = field.kind.token().starts_with("bday");
            checks.see("kind", typed == birth, || format!("{} under {legend:?}", field.kind));
        }
    }
}

/// The items that make a choice: dividers and empty places do not.
fn named(items: &Value) -> Vec<&Value> {
    let all = items.as_array().into_iter().flatten();
    all.filter(|item| item.is_object() && item["divider"].is_null()).collect()
}

/// What a component was told to write: its HTML without tags, else its text.
fn text(part: &Value) -> String {
    let html = part["html"].as_str().map(|html| {
        let mut plain = String::new();
        let mut inside = false;
        for letter in html.chars() {
            match letter {
                '<' => inside = true,
                '>' => inside = false,
                _ if !inside => plain.push(letter),
                _ => {}
            }
        }
        plain
    });
    let told = html.or_else(|| part["text"].as_str().map(Into::into));
    let number = || part["text"].as_i64().map(|number| number.to_string());
    flat(&told.or_else(number).unwrap_or_default())
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

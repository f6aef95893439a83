//! What a component was made from, looked for in what was read of its page.

use pointsman_agents::form::{Field, FieldShape, PageReading};
use serde_json::{Value, json};

use super::checks::Checks;

/// Checks everything that a component was told to show.
pub(super) fn check(checks: &mut Checks, page: &Value, reading: &PageReading) {
    let options = &page["options"];
    let fields: Vec<&Field> = reading.all().collect();
    let component = page["component"].as_str().unwrap_or_default();
    let own: Vec<&Field> = match component {
        "radios" => of_shape(&fields, FieldShape::Radio),
        "checkboxes" => of_shape(&fields, FieldShape::Checkbox),
        _ => fields.clone(),
    };
    for message in page["expected_error_messages"].as_array().into_iter().flatten() {
        let message = flat(message.as_str().unwrap_or_default());
        let at_own = |it: &Option<String>| own.iter().any(|field| Some(&field.id) == it.as_ref());
        let told = reading
            .complaints
            .iter()
            .any(|it| at_own(&it.field) && flat(&it.text).contains(&message));
        checks.see("message at field", told, || format!("{message:?} in {:?}", reading.complaints));
    }
    match component {
        "input" | "textarea" | "character-count" | "password-input" | "file-upload" => {
            one_line(checks, options, &fields);
        }
        "select" => select(checks, options, &fields),
        "radios" => radios(checks, options, &own),
        "checkboxes" => checkboxes(checks, options, &own),
        "date-input" => dates(checks, options, &fields),
        "button" => {
            let wanted = text(options);
            let found = reading.controls.iter().chain(&reading.submit);
            let labels: Vec<String> = found.map(|it| flat(&it.label)).collect();
            checks.see("button", labels.contains(&wanted), || format!("{wanted:?} in {labels:?}"));
        }
        "error-message" => said(checks, reading, &message(options)),
        "error-summary" => {
            let lines = ["titleText", "descriptionText"].map(|it| options[it].as_str());
            for line in lines.into_iter().flatten() {
                said(checks, reading, &flat(line));
            }
            for error in options["errorList"].as_array().into_iter().flatten() {
                said(checks, reading, &text(error));
            }
        }
        // A legend with nothing below it: nothing may be made of it.
        "fieldset" => {
            let none = fields.is_empty() && reading.complaints.is_empty();
            checks.see("no field", none && reading.submit.is_none(), || {
                format!("{} fields, {:?}", fields.len(), reading.complaints)
            });
        }
        // A component that is new is a page without a check, which fails.
        _ => {}
    }
}

/// Returns a message without the hidden prefix for screen readers.
fn message(options: &Value) -> String {
    let hidden = "<span class=\"govuk-visually-hidden\">";
    let html = options["html"].as_str().unwrap_or_default();
    let rest = html.strip_prefix(hidden).and_then(|rest| rest.split_once("</span>"));
    rest.map_or_else(|| text(options), |(_, rest)| text(&json!({ "html": rest })))
}

/// Looks for words that the page says of itself, at no field.
fn said(checks: &mut Checks, reading: &PageReading, wanted: &str) {
    let told = reading.complaints.iter().any(|it| flat(&it.text).contains(wanted));
    checks.see("message", told, || format!("{wanted:?} in {:?}", reading.complaints));
}

fn of_shape<'a>(fields: &[&'a Field], shape: FieldShape) -> Vec<&'a Field> {
    fields.iter().copied().filter(|field| field.shape == shape).collect()
}

/// Returns the one field that a component has.
fn only<'a>(checks: &mut Checks, fields: &[&'a Field]) -> Option<&'a Field> {
    checks.see("one field", fields.len() == 1, || format!("{} fields", fields.len()));
    fields.first().copied()
}

fn one_line(checks: &mut Checks, options: &Value, fields: &[&Field]) {
    let Some(field) = only(checks, fields) else { return };
    label(checks, &options["label"], field);
    hint(checks, options, field);
    let wanted = flat(options["value"].as_str().unwrap_or_default());
    if field.shape == FieldShape::Password {
        // A password's presence is reported, and never its value.
        let told = field.holds_value != wanted.is_empty() && field.value.is_none();
        checks.see("value", told, || "of a password".into());
    } else {
        value(checks, &wanted, field);
    }
    let counted = options["countType"] == "words";
    let most = [("maxlength", counted), ("maxwords", true)];
    for (most, words) in most.map(|(name, words)| (options[name].as_u64(), words)) {
        let Some(most) = most else { continue };
        let limit = if words { field.limits.words } else { field.limits.chars };
        checks
            .see("limit", limit.map(u64::from) == Some(most), || format!("{most}, not {limit:?}"));
    }
    if let Some(token) = options["autocomplete"].as_str() {
        let kind = field.kind.token();
        checks.see("kind", kind == token, || format!("{token}, not {kind}"));
    }
    disabled(checks, options, field);
}

fn select(checks: &mut Checks, options: &Value, fields: &[&Field]) {
    let Some(field) = only(checks, fields) else { return };
    label(checks, &options["label"], field);
    hint(checks, options, field);
    let items = named(&options["items"]);
    choices(checks, &items, field);
    // A list without a choice shows its first line.
    let shown = chosen(&items, options).or_else(|| items.first().copied());
    value(checks, &shown.map(sent).unwrap_or_default(), field);
    disabled(checks, options, field);
}

/// Radio buttons are one field named by their legend.
fn radios(checks: &mut Checks, options: &Value, own: &[&Field]) {
    let Some(field) = only(checks, own) else { return };
    let items = named(&options["items"]);
    choices(checks, &items, field);
    value(checks, &chosen(&items, options).map(sent).unwrap_or_default(), field);
    legend(checks, options, &field.label);
    hint(checks, options, field);
}

/// Checkboxes are a field each, with the legend as their context.
fn checkboxes(checks: &mut Checks, options: &Value, own: &[&Field]) {
    let items = named(&options["items"]);
    let labels: Vec<String> = own.iter().map(|field| flat(&field.label)).collect();
    let wanted: Vec<String> = items.iter().map(|item| text(item)).collect();
    checks.see("option", labels == wanted, || format!("{wanted:?}, not {labels:?}"));
    let listed = |item: &Value| {
        let mut values = options["values"].as_array().into_iter().flatten();
        values.any(|value| plain(value) == sent(item))
    };
    for (item, field) in items.iter().zip(own) {
        let on = item["checked"] == true || listed(item);
        value(checks, if on { "true" } else { "false" }, field);
        disabled(checks, item, field);
        legend(checks, options, &field.context);
        hint(checks, options, field);
    }
}

fn dates(checks: &mut Checks, options: &Value, fields: &[&Field]) {
    let count = match options["items"].as_array() {
        // A list without anything in it makes the usual three.
        Some(items) if !items.is_empty() => items.iter().filter(|item| item.is_object()).count(),
        _ => 3 - usize::from(options["day"] == false),
    };
    checks.see("parts", fields.len() == count, || format!("{count}, not {}", fields.len()));
    let asked = text(&options["fieldset"]["legend"]);
    let birth = asked.to_lowercase().contains("birth");
    for field in fields {
        let name = field.attributes.get("name").map(String::as_str).unwrap_or_default();
        value(checks, &part(options, name), field);
        legend(checks, options, &field.context);
        hint(checks, options, field);
        if !asked.is_empty() {
            let typed = field.kind.token().starts_with("bday");
            checks.see("kind", typed == birth, || format!("{} under {asked:?}", field.kind));
        }
    }
}

/// Returns what a part of a date was given: by its item, its own options, or its name.
fn part(options: &Value, name: &str) -> String {
    let is = |part: &str| name == part || name.ends_with(&format!("-{part}"));
    let named = |of: &Value, usual: &str| is(of["name"].as_str().unwrap_or(usual));
    let mut items = options["items"].as_array().into_iter().flatten();
    let item = items.find(|item| named(item, "")).map(|item| &item["value"]);
    let mut parts = ["day", "month", "year"].into_iter();
    let own = parts.find(|part| named(&options[*part], part)).map(|it| &options[it]["value"]);
    let by_name = Some(&options["values"][name]);
    let given = [item, own, by_name].into_iter().flatten().find(|value| !value.is_null());
    given.map(plain).unwrap_or_default()
}

fn value(checks: &mut Checks, wanted: &str, field: &Field) {
    let held = flat(field.value.as_deref().unwrap_or_default());
    checks.see("value", held == wanted, || format!("{wanted:?}, not {held:?}"));
}

fn disabled(checks: &mut Checks, options: &Value, field: &Field) {
    let wanted = options["disabled"] == true;
    checks.see("disabled", field.disabled == wanted, || format!("{wanted}: {:?}", field.label));
}

fn label(checks: &mut Checks, wanted: &Value, field: &Field) {
    let (wanted, found) = (text(wanted), flat(&field.label));
    if !wanted.is_empty() {
        checks.see("label", found == wanted, || format!("{wanted:?}, not {found:?}"));
    }
}

fn legend(checks: &mut Checks, options: &Value, place: &str) {
    let wanted = text(&options["fieldset"]["legend"]);
    if !wanted.is_empty() {
        checks.see("legend", flat(place).contains(&wanted), || format!("{wanted:?} in {place:?}"));
    }
}

fn hint(checks: &mut Checks, options: &Value, field: &Field) {
    let wanted = text(&options["hint"]);
    if !wanted.is_empty() {
        let found = flat(&field.context);
        checks.see("hint", found.contains(&wanted), || format!("{wanted:?} in {found:?}"));
    }
}

fn choices(checks: &mut Checks, items: &[&Value], field: &Field) {
    let found: Vec<(String, String, bool)> =
        field.options.iter().map(|it| (flat(&it.label), it.value.clone(), it.disabled)).collect();
    let wanted: Vec<(String, String, bool)> =
        items.iter().map(|item| (text(item), sent(item), item["disabled"] == true)).collect();
    checks.see("option", found == wanted, || format!("{wanted:?}, not {found:?}"));
}

/// Returns the item that is chosen from the start.
fn chosen<'a>(items: &[&'a Value], options: &Value) -> Option<&'a Value> {
    let given = Some(&options["value"]).filter(|value| !value.is_null()).map(plain);
    let is = |item: &Value| {
        item["selected"] == true || item["checked"] == true || given == Some(sent(item))
    };
    items.iter().copied().find(|item| is(item))
}

/// The items that make a choice: dividers and empty places do not.
fn named(items: &Value) -> Vec<&Value> {
    let all = items.as_array().into_iter().flatten();
    all.filter(|item| item.is_object() && item["divider"].is_null()).collect()
}

/// Returns what the form sends for an item: its value, else its label.
fn sent(item: &Value) -> String {
    if item["value"].is_null() { text(item) } else { plain(&item["value"]) }
}

/// Returns a value as it is written, without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}

/// The configured text of a component: its HTML without tags, else its text.
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

#[cfg(test)]
mod tests {
    use pointsman_agents::form::Complaint;

    use super::*;

    fn reading(at: Option<&str>) -> PageReading {
        let field = Field { id: "f1".into(), shape: FieldShape::Text, ..Field::default() };
        let complaint = Complaint { field: at.map(Into::into), text: "Enter a name".into() };
        PageReading { fields: vec![field], complaints: vec![complaint], ..PageReading::default() }
    }

    fn seen(page: &Value, reading: &PageReading) -> Checks {
        let mut checks = Checks::default();
        check(&mut checks, page, reading);
        checks
    }

    #[test]
    fn message_must_be_next_to_its_field() {
        let page = json!({ "component": "input", "expected_error_messages": ["Enter a name"] });
        assert_eq!(seen(&page, &reading(Some("f1"))).of("message at field"), (1, 1));
        assert_eq!(seen(&page, &reading(Some("f2"))).of("message at field"), (0, 1));
        assert_eq!(seen(&page, &reading(None)).of("message at field"), (0, 1));
    }

    #[test]
    fn a_field_that_is_missing_is_a_miss() {
        for component in ["input", "select", "radios"] {
            let page = json!({ "component": component });
            assert_eq!(seen(&page, &PageReading::default()).of("one field"), (0, 1), "{component}");
        }
    }

    #[test]
    fn a_value_that_is_missing_is_a_miss() {
        let page = json!({ "component": "input", "options": { "value": "QQ" } });
        assert_eq!(seen(&page, &reading(None)).of("value"), (0, 1));
    }

    #[test]
    fn a_part_of_a_date_has_its_value_from_the_nearest() {
        let options = json!({ "items": [{ "name": "year", "value": 2018 }],
            "year": { "value": 2023 }, "values": { "year": 2026, "dob-day": 3 } });
        assert_eq!(part(&options, "year"), "2018");
        assert_eq!(part(&options, "dob-day"), "3");
        assert_eq!(part(&options, "month"), "");
    }
}

//! A component is filled as the agent fills it: the value is kept, the page has nothing
//! new against it, and the page itself says that it holds it.

use pointsman_agents::form::{Field, FieldKind, FieldShape};

use super::checks::Checks;
use crate::eval_forms::pages::FilledField;

/// Fills a field with something other than what it holds, and notes what became of it.
pub(super) fn check(
    checks: &mut Checks,
    field: &Field,
    fill: impl FnOnce(&str) -> Result<FilledField, String>,
) {
    let tried = match value(field) {
        Some(value) => fill(&value),
        None => Err(format!("there is no value for a field of the shape {}", field.shape)),
    };
    let judged = tried.and_then(|filled| judged(&filled));
    let holds = judged.is_ok();
    checks.see("filled", holds, || {
        format!("{:?}: {}", field.label, judged.err().unwrap_or_default())
    });
}

fn judged(filled: &FilledField) -> Result<(), String> {
    let FilledField { wanted, found, holds } = filled;
    if !found.kept {
        return Err(format!("{wanted:?} was put in, {:?} was found", found.value));
    }
    if let Some(complaint) = &found.complaint {
        return Err(format!("{wanted:?} was put in, and the page says {complaint:?}"));
    }
    if holds != wanted {
        return Err(format!("{wanted:?} was put in, and the page holds {holds:?}"));
    }
    Ok(())
}

/// Returns what a person could put in that is not there yet.
#[expect(clippy::wildcard_enum_match_arm, reason = "the components have few shapes")]
fn value(field: &Field) -> Option<String> {
    let held = field.value.as_deref().unwrap_or_default();
    if field.is_choice() {
        let free = || field.options.iter().filter(|it| !it.disabled);
        let other = free().rfind(|it| it.value != held);
        return other.or_else(|| free().next_back()).map(|it| it.label.clone());
    }
    let label = field.label.trim().to_lowercase();
    let is_text = field.shape == FieldShape::Text;
    let is_year = field.kind == FieldKind::BdayYear || label == "year";
    let is_part = matches!(field.kind, FieldKind::BdayDay | FieldKind::BdayMonth)
        || matches!(label.as_str(), "day" | "month");
    let ways = match field.shape {
        FieldShape::Checkbox if held == "true" => ["no"; 2],
        FieldShape::Checkbox => ["yes"; 2],
        FieldShape::Date => ["2001-03-14", "2002-04-15"],
        _ if is_text && is_year => ["1980", "1981"],
        _ if is_text && field.kind == FieldKind::PostalCode => ["SW1A 1AA", "SW1A 2AA"],
        _ if is_text && is_part
            || matches!(field.shape, FieldShape::Number | FieldShape::Range) =>
        {
            ["3", "4"]
        }
        FieldShape::Text | FieldShape::Textarea | FieldShape::Richtext => ["Ada", "Grace"],
        _ => return None,
    };
    ways.into_iter().find(|way| *way != held).map(Into::into)
}

#[cfg(test)]
mod tests {
    use pointsman_agents::form::Choice;
    use pointsman_webdriver::browser::FieldCheck;

    use super::*;

    fn seen(kept: bool, complaint: Option<&str>, holds: &str) -> (usize, usize) {
        let mut checks = Checks::default();
        let field = Field { shape: FieldShape::Text, ..Field::default() };
        check(&mut checks, &field, |value| {
            let complaint = complaint.map(Into::into);
            let found = FieldCheck { value: value.into(), kept, complaint };
            Ok(FilledField { wanted: value.into(), found, holds: holds.into() })
        });
        assert_eq!(checks.all_hold(), checks.of("filled") == (1, 1));
        checks.of("filled")
    }

    #[test]
    fn only_kept_and_accepted_values_count() {
        assert_eq!(seen(true, None, "Ada"), (1, 1));
        assert_eq!(seen(false, None, "Ada"), (0, 1));
        assert_eq!(seen(true, Some("Too short"), "Ada"), (0, 1));
        assert_eq!(seen(true, None, "Grace"), (0, 1));
    }

    #[test]
    fn unfillable_field_is_a_miss() {
        let mut checks = Checks::default();
        let line = Field { shape: FieldShape::Text, ..Field::default() };
        check(&mut checks, &line, |_| Err("it is gone".into()));
        check(&mut checks, &Field::default(), |_| unreachable!("there is no value"));
        assert_eq!(checks.of("filled"), (0, 2));
    }

    #[test]
    fn chosen_test_value_differs_from_the_current_one() {
        let choice = |value: &str, disabled| Choice {
            value: value.into(),
            label: value.to_uppercase(),
            disabled,
            ..Choice::default()
        };
        let mut list = Field {
            shape: FieldShape::Select,
            options: vec![choice("a", false), choice("b", false), choice("c", true)],
            ..Field::default()
        };
        assert_eq!(value(&list).as_deref(), Some("B"));
        list.value = Some("b".into());
        assert_eq!(value(&list).as_deref(), Some("A"));
        let ticked =
            Field { shape: FieldShape::Checkbox, value: Some("true".into()), ..Field::default() };
        assert_eq!(value(&ticked).as_deref(), Some("no"));
    }
}

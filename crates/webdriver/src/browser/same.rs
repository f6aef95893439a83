//! Only a field that was read is touched: a field that has changed since is rejected.

use pointsman_agents::form::{Choice, Field, FieldReading, FieldShape, alone, document, said_by};

use super::dom::FieldState;

/// Returns how a field has changed since it was read. A field that is known only by its selector
/// and shape is compared by these. A field that was `touched` before may have a longer label: the
/// page's complaint about the first value.
pub(super) fn differs(
    field: &Field,
    selector: &str,
    reached: &FieldState,
    touched: bool,
) -> Option<String> {
    if field.document != 0 && document(reached.document) != field.document {
        return Some("its document has changed".into());
    }
    let now = now(field, reached)?;
    let part = field.shape == FieldShape::Codes;
    let same = match now.shape {
        FieldShape::Text | FieldShape::Password | FieldShape::Number if part => true,
        now => now == field.shape,
    };
    if !same {
        return Some(format!("its type changed from `{}` to `{}`", field.shape, now.shape));
    }
    // The boxes of a code have their own names, and a radio button has that of its choice.
    let named = selector == field.selector && !part && !field.label.is_empty();
    let says_more = touched && now.label.starts_with(&field.label);
    // Pages show the value of a slider as a number, which the next slider seems to be called.
    let is_value = field.shape == FieldShape::Range
        && [&field.label, &now.label].iter().all(|label| label.parse::<f64>().is_ok());
    if !named || now.label == field.label || says_more || is_value {
        return None;
    }
    Some(format!("its label changed from {:?} to {:?}", field.label, now.label))
}

/// Returns whether a reached field is invisible.
pub(super) fn is_unseen(field: &Field, reached: &FieldState) -> bool {
    now(field, reached).is_some_and(|now| !now.is_seen)
}

/// Returns how a button of a group has changed since it was read.
pub(super) fn choice_differs(choice: &Choice, reached: &FieldState) -> Option<String> {
    let now = reached.alone.as_ref().map(|it| said_by(&it.seen))?;
    if choice.label.is_empty() || now == choice.label {
        return None;
    }
    Some(format!("its text changed from {:?} to {now:?}", choice.label))
}

fn now(field: &Field, reached: &FieldState) -> Option<FieldReading> {
    reached.alone.as_ref().map(|it| alone(&it.seen, &it.places, field.shape))
}

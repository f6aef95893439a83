//! What was read is what is touched: a field that is another by now is refused.

use pointsman_agents::form::{Choice, Field, FieldReading, FieldShape, alone, document, said_by};

use super::dom::FieldState;

/// Returns what is different about a field since it was read. One that nobody has read, and
/// that is known by its selector and its shape alone, is compared by these. A field that was
/// `touched` before may have come to say more: what its page has against the first value.
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
        return Some(format!("it was of the type `{}` and is `{}` now", field.shape, now.shape));
    }
    // The boxes of a code have names of their own, and a radio button has that of its choice.
    let named = selector == field.selector && !part && !field.label.is_empty();
    let says_more = touched && now.label.starts_with(&field.label);
    // Pages show the value of a slider as a number, which the next slider seems to be called.
    let is_value = field.shape == FieldShape::Range
        && [&field.label, &now.label].iter().all(|label| label.parse::<f64>().is_ok());
    if !named || now.label == field.label || says_more || is_value {
        return None;
    }
    Some(format!("it was called {:?} and is called {:?} now", field.label, now.label))
}

/// Returns whether nobody can see a field that was reached.
pub(super) fn is_unseen(field: &Field, reached: &FieldState) -> bool {
    now(field, reached).is_some_and(|now| !now.is_seen)
}

/// Returns what is different about a button of a group since it was read.
pub(super) fn choice_differs(choice: &Choice, reached: &FieldState) -> Option<String> {
    let now = reached.alone.as_ref().map(|it| said_by(&it.seen))?;
    if choice.label.is_empty() || now == choice.label {
        return None;
    }
    Some(format!("it said {:?} and says {now:?} now", choice.label))
}

fn now(field: &Field, reached: &FieldState) -> Option<FieldReading> {
    reached.alone.as_ref().map(|it| alone(&it.seen, &it.places, field.shape))
}

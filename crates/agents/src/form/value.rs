//! Values and fields: how a value must be written so that a field takes it, and whether
//! what a field shows is what was meant.

use alloc::string::String;

use thiserror::Error;

use super::{
    field::{Field, Shape},
    kind::Kind,
    text,
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
pub fn fit(field: &Field, raw: &str, kind: Kind) -> Result<String, Unfit> {
    let _ = kind;
    let plain = raw.trim();
    if plain.is_empty() {
        return Err(Unfit("the value is empty".into()));
    }
    if field.is_choice() {
        let named = field.options.iter().find(|option| {
            !option.disabled && (text::same(&option.label, plain) || option.value == plain)
        });
        let named = named.ok_or_else(|| Unfit("none of the choices is the value".into()))?;
        return Ok(named.value.clone());
    }
    if field.shape == Shape::Checkbox {
        return Ok(plain.to_lowercase());
    }
    Ok(plain.into())
}

/// Returns whether what the field shows is what was wanted, as [`fit`] gave it: masks,
/// spaces, case and the way in which days and numbers are written do not count.
pub fn kept(field: &Field, wanted: &str, found: &str) -> bool {
    let by_label = || field.choices(wanted).iter().any(|it| text::same(&it.label, found));
    text::same(wanted, found) || by_label()
}

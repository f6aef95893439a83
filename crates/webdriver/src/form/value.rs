//! Where values come from: the person's profile, or a text that was written.

use std::path::Path;

use pointsman_agents::form::{Field, FieldKind, Source, fit};

use super::{error::TaskError, secrets::Secrets};
use crate::profile;

/// A value for a field.
#[derive(Debug)]
pub(super) enum FieldValue {
    /// As the field takes it.
    Fits(String),
    /// The field cannot take it, for this reason.
    Unfit(String),
    /// There is none.
    None,
}

/// Finds the value for a field, and writes it so that the field takes it.
pub(super) fn of(secrets: &Secrets, field: &Field, from: &Source) -> Result<FieldValue, TaskError> {
    let (kind, raw) = match from {
        Source::Nothing => return Ok(FieldValue::None),
        Source::Written { text } => {
            let text = secrets.text(text)?;
            if let Some(name) = secrets.repeated(field, &text)? {
                let why =
                    format!("the text repeats the fact `{name}`, which is not for this field");
                return Ok(FieldValue::Unfit(why));
            }
            (FieldKind::None, text)
        }
        Source::Profile { file, key } => {
            let profile = secrets.profile(Path::new(file))?;
            match profile.value(key) {
                Some(found) => found,
                None => {
                    return Ok(FieldValue::Unfit(format!("the profile no longer has `{key}`")));
                }
            }
        }
    };
    Ok(match fit(field, &raw, kind) {
        Ok(value) => FieldValue::Fits(value),
        Err(unfit) => FieldValue::Unfit(unfit.to_string()),
    })
}

/// Returns what a model may know of the person to write for a field that is called so, as a
/// part of the system's word.
pub(super) fn facts(file: &Path, called: &[String]) -> Result<String, TaskError> {
    let told = profile::read(file).map_err(TaskError::Profile)?.told(called);
    if told.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("\n\nFacts about the person:\n{told}"))
}

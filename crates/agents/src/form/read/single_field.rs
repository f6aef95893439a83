//! One field that is looked at by itself, right before it is touched: whether it still is
//! the field that was read.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use super::{draft::LogicalField, label, shape, visible};
use crate::form::{
    field::FieldShape,
    snapshot::{Control, EnclosingElement, PageSnapshot},
};

/// The result of reading a single field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldReading {
    /// Its shape. Boxes of a code look like lines, each of them.
    pub shape: FieldShape,
    /// Its name.
    pub label: String,
    /// Whether a person can see it.
    pub is_seen: bool,
}

/// Reads one field, which was read before as one of a shape, and the elements around it.
pub fn alone(seen: &Control, places: &[EnclosingElement], read_as: FieldShape) -> FieldReading {
    let sighting = PageSnapshot { places: places.to_owned(), ..PageSnapshot::default() };
    let is_seen = visible::is_seen(seen);
    let logical = LogicalField {
        seen,
        members: Vec::from([seen]),
        shape: read_as,
        options: Vec::new(),
        is_seen,
        is_trap: false,
    };
    FieldReading { shape: shape::of(seen), label: label::of(&sighting, &logical), is_seen }
}

/// Returns the text at a radio button.
pub fn said_by(button: &Control) -> String {
    label::of_choice(button)
}

/// Returns what a document is known by: the time at which it was begun, in microseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time of this millennium has room in it"
)]
pub fn document(begun_ms: f64) -> u64 {
    if begun_ms.is_finite() && begun_ms > 0.0 { (begun_ms * 1_000.0) as u64 } else { 0 }
}

//! The words by which fields are known, in many languages, ordered by kind.
//!
//! A word table is data: rows of phrases that speak for a kind, and how strongly. All
//! phrases are written as `Text` folds them: lower case, Latin and Greek letters without
//! accents. A phrase matches whole words in a row; one that begins with `*` matches
//! anywhere, also across words, because identifiers often have no gaps. Scripts that do
//! not part words always match anywhere.

mod address;
mod identity;
mod money;
mod other;
mod private;
mod purposes;
mod secret;
mod traps;

use crate::form::kind::Kind;

pub(super) use private::PRIVATE;

pub(in crate::form) use purposes::{
    ASIDES, Aim, LOG_IN_HINTS, PURPOSES, SENDS, SIGN_UP_HINTS, UNSENT,
};
pub(in crate::form) use traps::{BAIT, HUMAN, MARKS, TRAPS};

/// Phrases that speak for a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The kind.
    pub(super) kind: Kind,
    /// How strongly, where 10 leaves no doubt.
    pub(super) strength: i32,
    /// The phrases, parted by commas.
    pub(super) says: &'static str,
}

const fn row(kind: Kind, strength: i32, says: &'static str) -> Row {
    Row { kind, strength, says }
}

/// All tables.
pub(super) const TABLES: &[&[Row]] = &[
    identity::NAMES,
    identity::ACCOUNTS,
    identity::REACHED,
    address::ADDRESSES,
    address::WORK,
    money::CARDS,
    money::AMOUNTS,
    secret::NEW,
    secret::OLD,
    secret::CODES,
    other::PERSON,
    other::NOTHING,
];

/// Returns every row of every table.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// Returns the phrases of a kind's strongest row.
pub(super) fn of(kind: Kind) -> &'static str {
    rows().find(|row| row.kind == kind).map_or("", |row| row.says)
}

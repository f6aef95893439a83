//! What a person can see, and traps for robots.

use super::Lexicons;
use crate::form::snapshot::{Control, PageSnapshot};

/// Less than this is nothing that a person could hit or read.
const LEAST: f64 = 4.0;
/// A field at or below this opacity counts as invisible.
const CLEAR: f64 = 0.1;

/// Returns whether a person can see a control, or the widget or label that is drawn in
/// its stead.
pub(super) fn is_seen(seen: &Control) -> bool {
    let sight = &seen.sight;
    if sight.inert {
        return false;
    }
    let bare = sight.rendered
        && sight.visible
        && sight.opacity > CLEAR
        && !sight.clipped
        && !sight.covered
        && !sight.far
        && seen.area.width >= LEAST
        && seen.area.height >= LEAST;
    // Boxes and file fields are often hidden under a drawn label, which takes the press.
    let drawn_over = matches!(seen.type_.as_str(), "checkbox" | "radio" | "file");
    bare || (drawn_over && sight.parent_rendered && (seen.names.label_seen || seen.stand_in))
}

/// Names that traps are given, since robots cannot let them be.
const BAIT: [&str; 12] = [
    "url", "website", "homepage", "hp", "honeypot", "nickname", "company", "fax", "phone", "email",
    "name", "address",
];

/// Returns whether a control is there to catch robots: it says so, or it is kept from the
/// keyboard and from assistive technology although it has a name to bite on.
pub(super) fn is_trap(sighting: &PageSnapshot, seen: &Control, lexicons: &Lexicons) -> bool {
    let names = &seen.names;
    let traps = &lexicons.traps;
    let said = [
        names.associated.as_str(),
        names.wrapping.as_str(),
        names.labelled_by.as_str(),
        names.aria.as_str(),
        names.title.as_str(),
        names.placeholder.as_str(),
        names.described.as_str(),
    ];
    let marks = [seen.attribute("name"), seen.attribute("id"), seen.attribute("class")];
    if said.into_iter().any(|text| traps.is_said(text))
        || marks.into_iter().any(|text| traps.is_marked(text))
    {
        return true;
    }
    let near = [&names.before, &names.after];
    let unlabelled = names.associated.is_empty() && names.wrapping.is_empty();
    if unlabelled && near.into_iter().any(|text| text.len() < 120 && traps.is_said(text)) {
        return true;
    }
    let around = sighting.around(seen.place).take(2);
    let marked = |text: &str| traps.is_marked(text);
    if around
        .into_iter()
        .any(|(_, place)| marked(place.attribute("class")) || marked(place.attribute("id")))
    {
        return true;
    }
    let kept_away = seen.sight.tabindex.is_some_and(|tab| tab < 0) && seen.sight.aria_hidden;
    let name = seen.attribute("name").to_ascii_lowercase();
    let shut = matches!(seen.attribute("autocomplete"), "off" | "nope" | "new-password" | "");
    kept_away && shut && BAIT.iter().any(|bait| name == *bait || name.starts_with(bait))
}

//! A box that a page puts before its form: where it is, and what only closes it.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use super::visible;
use crate::form::{
    navigation,
    snapshot::{Control, ControlKind, EnclosingElement, PageSnapshot, PressEffect},
};

/// A box that has come up since a page was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Overlay {
    /// Where it is.
    pub selector: String,
    /// Whether nothing else can be used while it is there: it says so, or every field is
    /// switched off.
    pub blocks: bool,
    /// The one control that closes it and does no more, if there is exactly one.
    pub closes: Option<String>,
}

/// Returns the controls of a page by selector: a new dialog is detected by comparison with them.
pub fn pressable(sighting: &PageSnapshot) -> BTreeSet<String> {
    seen(sighting, ControlKind::Pressed).map(|control| control.selector.clone()).collect()
}

/// Looks for a box among what has come since only these controls were there: a part of the
/// page with new controls and nothing else, neither fields nor controls that were known.
pub fn aside(sighting: &PageSnapshot, known: &BTreeSet<String>) -> Option<Overlay> {
    let is_new = |control: &&Control| !known.contains(&control.selector);
    let boxes = seen(sighting, ControlKind::Pressed).filter(is_new).filter_map(|control| {
        let places = sighting.around(control.place).take_while(|(at, place)| {
            !matches!(place.tag.as_str(), "body" | "html") && !holds_more(sighting, *at, known)
        });
        places.map(|(at, _)| at).last()
    });
    let boxes: BTreeSet<usize> = boxes.collect();
    let modal = boxes.iter().copied().find(|at| is_modal(sighting, *at));
    // What came last lies over the rest.
    let at = modal.or_else(|| boxes.last().copied())?;
    let fields: Vec<&Control> = seen(sighting, ControlKind::Field).collect();
    let off = !fields.is_empty() && fields.iter().all(|field| field.disabled);
    let inside = seen(sighting, ControlKind::Pressed).filter(|it| sighting.is_within(it.place, at));
    let closing: Vec<&Control> = inside.filter(|it| navigation::closes(&it.label)).collect();
    let only = match closing[..] {
        [only] if does_no_more(sighting, only) => Some(only.selector.clone()),
        _ => None,
    };
    let selector = sighting.places.get(at)?.selector.clone();
    Some(Overlay { selector, blocks: off || modal.is_some(), closes: only })
}

fn seen(sighting: &PageSnapshot, what: ControlKind) -> impl Iterator<Item = &Control> {
    sighting.controls.iter().filter(move |it| it.what == what && visible::is_seen(it))
}

/// Returns whether a place has a field in it, or a control that was there before.
fn holds_more(sighting: &PageSnapshot, at: usize, known: &BTreeSet<String>) -> bool {
    let fields = seen(sighting, ControlKind::Field);
    let before = seen(sighting, ControlKind::Pressed).filter(|it| known.contains(&it.selector));
    fields.chain(before).any(|it| sighting.is_within(it.place, at))
}

/// Returns whether a box, or a part of it, says that nothing else can be used.
fn is_modal(sighting: &PageSnapshot, at: usize) -> bool {
    let says = |place: &EnclosingElement| {
        place.tag == "dialog"
            || place.role == "alertdialog"
            || place.attribute("aria-modal") == "true"
    };
    let places = (0..).zip(&sighting.places);
    let mut inside = places.filter(|(index, _)| sighting.is_within(Some(*index), at));
    inside.any(|(_, place)| says(place))
}

/// Returns whether pressing a control does nothing but what its script does: it leads
/// nowhere, and sends no form.
fn does_no_more(sighting: &PageSnapshot, seen: &Control) -> bool {
    let form = sighting.form_of(seen).and_then(|at| sighting.places.get(at));
    let sends = form.is_some_and(|form| !form.attribute("method").eq_ignore_ascii_case("dialog"));
    match seen.does {
        _ if seen.disabled => false,
        PressEffect::Button => true,
        PressEffect::Submit => !sends,
        PressEffect::Reset | PressEffect::Link => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::snapshot::Area;

    /// A form with a line and a button in one part of the page, and a box in another.
    fn page(buttons: &[&str]) -> PageSnapshot {
        let place = |selector: &str, tag: &str, parent| EnclosingElement {
            selector: selector.into(),
            tag: tag.into(),
            parent,
            ..EnclosingElement::default()
        };
        let control = |selector: &str, what, place, label: &str| Control {
            selector: selector.into(),
            what,
            place: Some(place),
            label: label.into(),
            area: Area { width: 40.0, height: 20.0, ..Area::default() },
            ..Control::default()
        };
        let mut controls = Vec::from([
            control("#name", ControlKind::Field, 2, ""),
            control("#send", ControlKind::Pressed, 2, "Send"),
        ]);
        let new = buttons.iter().map(|label| control(label, ControlKind::Pressed, 4, label));
        controls.extend(new);
        let places = Vec::from([
            place("html", "html", None),
            place("body", "body", Some(0)),
            place("#form", "form", Some(1)),
            place("#box", "div", Some(1)),
            place("#box > p", "p", Some(3)),
        ]);
        PageSnapshot { controls, places, ..PageSnapshot::default() }
    }

    fn found(sighting: &PageSnapshot) -> Option<(String, bool, Option<String>)> {
        let known = BTreeSet::from(["#send".into()]);
        aside(sighting, &known).map(|it| (it.selector, it.blocks, it.closes))
    }

    #[test]
    fn only_new_controls_make_a_dialog() {
        assert_eq!(found(&page(&[])), None);
        let mut asks = page(&["OK", "Cancel"]);
        assert_eq!(found(&asks), Some(("#box".into(), false, Some("Cancel".into()))));
        asks.controls[0].disabled = true;
        assert_eq!(found(&asks), Some(("#box".into(), true, Some("Cancel".into()))));
        // A new part of the form is not a dialog.
        let mut grown = page(&["Cancel"]);
        grown.controls[0].place = Some(4);
        assert_eq!(found(&grown), None);
        assert_eq!(aside(&asks, &pressable(&asks)), None);
    }

    #[test]
    fn only_a_pure_close_button_is_pressed() {
        let closes = |sighting: &PageSnapshot| found(sighting).and_then(|(_, _, closes)| closes);
        for none in [
            &["OK"][..],
            &["Cancel", "Close"],
            &["Cancel my order", "OK"],
            &["Delete", "OK"],
            &["No problem, go on"],
        ] {
            assert_eq!(closes(&page(none)), None, "{none:?}");
        }
        for one in ["×", "No, thanks", "Not now", "Abbrechen", "閉じる", "Close"] {
            assert_eq!(closes(&page(&["OK", one])).as_deref(), Some(one));
        }
        let with = |change: fn(&mut PageSnapshot)| {
            let mut page = page(&["OK", "Cancel"]);
            change(&mut page);
            closes(&page)
        };
        assert_eq!(with(|page| page.controls[3].does = PressEffect::Link), None);
        assert_eq!(with(|page| page.controls[3].disabled = true), None);
        // A button that sends a form does so, whatever is written on it.
        assert!(with(|page| page.controls[3].does = PressEffect::Submit).is_some());
        let sends = |page: &mut PageSnapshot| {
            page.controls[3].does = PressEffect::Submit;
            page.controls[3].form = Some(2);
        };
        assert_eq!(with(sends), None);
        let dialog = |page: &mut PageSnapshot| {
            page.controls[3].does = PressEffect::Submit;
            page.places[3].tag = "form".into();
            page.places[3].attributes.insert("method".into(), "dialog".into());
        };
        assert!(with(dialog).is_some());
    }
}

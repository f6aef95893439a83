//! Pages made by hand, for tests.

use alloc::{format, string::String};

use crate::form::{
    read::{PageReading, read},
    snapshot::{
        Area, Control, ControlKind, ControlOption, EnclosingElement, PageSnapshot, PressEffect,
        TextElement, TextKind,
    },
};

/// A page in the making. It begins with a body.
#[derive(Clone, Debug)]
pub(in crate::form) struct Page {
    pub(in crate::form) sighting: PageSnapshot,
}

impl Page {
    pub(in crate::form) fn new() -> Self {
        let mut page = Self { sighting: PageSnapshot::default() };
        page.within(None, "body", "");
        page
    }

    fn order(&self) -> u32 {
        let all =
            self.sighting.controls.len() + self.sighting.said.len() + self.sighting.places.len();
        u32::try_from(all).unwrap_or(u32::MAX)
    }

    fn within(&mut self, parent: Option<usize>, tag: &str, attributes: &str) -> usize {
        let at = self.sighting.places.len();
        let place = EnclosingElement {
            selector: format!("#place{at}"),
            tag: tag.into(),
            parent,
            order: self.order(),
            attributes: pairs(attributes),
            area: Area { x: 0.0, y: 0.0, width: 800.0, height: 400.0 },
            ..EnclosingElement::default()
        };
        let role = place.attribute("role").into();
        self.sighting.places.push(EnclosingElement { role, ..place });
        at
    }

    /// Adds an element within another; the body is 0.
    pub(in crate::form) fn place(&mut self, parent: usize, tag: &str, attributes: &str) -> usize {
        self.within(Some(parent), tag, attributes)
    }

    /// Adds a field with attributes such as `type=email name=mail`, and changes it.
    pub(in crate::form) fn field(
        &mut self,
        place: usize,
        attributes: &str,
        change: impl FnOnce(&mut Control),
    ) {
        let mut seen = self.control(place, attributes);
        seen.what = ControlKind::Field;
        seen.tag = "input".into();
        seen.type_ = seen.attributes.remove("type").unwrap_or_else(|| "text".into());
        seen.role = seen.attribute("role").into();
        seen.required = seen.attributes.contains_key("required");
        change(&mut seen);
        self.sighting.controls.push(seen);
    }

    /// Adds a field that a label points at.
    pub(in crate::form) fn labelled(&mut self, place: usize, label: &str, attributes: &str) {
        self.field(place, attributes, |seen| seen.names.associated = label.into());
    }

    /// Adds a list.
    pub(in crate::form) fn list(&mut self, place: usize, attributes: &str, options: &[&str]) {
        let option = |label: &&str| ControlOption {
            value: (*label).into(),
            label: (*label).into(),
            ..ControlOption::default()
        };
        self.field(place, attributes, |seen| {
            seen.tag = "select".into();
            seen.type_ = "select-one".into();
            seen.options = options.iter().map(option).collect();
        });
    }

    /// Adds something to press.
    pub(in crate::form) fn press(&mut self, place: usize, does: PressEffect, label: &str) {
        self.pressed(place, does, label, |_| {});
    }

    /// Adds something to press, and changes it.
    pub(in crate::form) fn pressed(
        &mut self,
        place: usize,
        does: PressEffect,
        label: &str,
        change: impl FnOnce(&mut Control),
    ) {
        let mut seen = self.control(place, "");
        seen.what = ControlKind::Pressed;
        seen.tag = "button".into();
        seen.does = does;
        seen.label = label.into();
        change(&mut seen);
        self.sighting.controls.push(seen);
    }

    /// Adds a heading.
    pub(in crate::form) fn heading(&mut self, place: usize, text: &str) {
        let said = TextElement {
            what: TextKind::Heading,
            text: text.into(),
            order: self.order(),
            place: Some(place),
            seen: true,
        };
        self.sighting.said.push(said);
    }

    fn control(&self, place: usize, attributes: &str) -> Control {
        let attributes = pairs(attributes);
        let nth = self.sighting.controls.len();
        let form = self
            .sighting
            .around(Some(place))
            .find(|(_, place)| place.tag == "form")
            .map(|(at, _)| at);
        Control {
            selector: format!("#control{nth}"),
            order: self.order(),
            place: Some(place),
            form,
            attributes,
            area: Area { x: 10.0, y: 10.0, width: 200.0, height: 20.0 },
            ..Control::default()
        }
    }

    pub(in crate::form) fn read(&self) -> PageReading {
        read(&self.sighting)
    }
}

/// Reads `name=value` pairs, parted by blanks; `_` in a value stands for one.
fn pairs(text: &str) -> alloc::collections::BTreeMap<String, String> {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, value)) => (name.into(), value.replace('_', " ")),
        None => (pair.into(), String::new()),
    };
    text.split_whitespace().map(pair).collect()
}

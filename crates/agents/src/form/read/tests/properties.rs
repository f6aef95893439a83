//! What holds for every page.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use proptest::prelude::*;

use super::page::Page;
use crate::form::{
    read::read,
    snapshot::{Control, ControlKind, EnclosingElement, PageSnapshot, PressEffect},
};

fn seen() -> impl Strategy<Value = Control> {
    let text = || {
        prop_oneof![
            Just(String::new()),
            "\\PC{0,12}",
            Just("E-Mail *".into()),
            Just("max 5 words".into())
        ]
    };
    let kinds = prop_oneof![
        Just("text"),
        Just("radio"),
        Just("checkbox"),
        Just("password"),
        Just("date"),
        Just("select-one"),
        Just("")
    ];
    (
        text(),
        text(),
        kinds,
        any::<Option<u8>>(),
        any::<Option<u8>>(),
        any::<(bool, bool, bool)>(),
        "\\PC{0,6}",
    )
        .prop_map(|(label, name, kind, place, form, (pressed, rendered, one), selector)| {
            let mut seen = Control {
                selector,
                tag: if pressed { "button".into() } else { "input".into() },
                type_: kind.into(),
                place: place.map(usize::from),
                form: form.map(usize::from),
                what: if pressed { ControlKind::Pressed } else { ControlKind::Field },
                does: if one { PressEffect::Submit } else { PressEffect::Link },
                label: label.clone(),
                ..Control::default()
            };
            seen.names.associated = label;
            seen.sight.rendered = rendered;
            seen.attributes.insert("name".into(), name);
            if one {
                seen.attributes.insert("maxlength".into(), "1".into());
            }
            seen
        })
}

fn sighting() -> impl Strategy<Value = PageSnapshot> {
    let place =
        (any::<Option<u8>>(), prop_oneof![Just("form"), Just("div"), Just("nav"), Just("body")])
            .prop_map(|(parent, tag)| EnclosingElement {
                parent: parent.map(usize::from),
                tag: tag.into(),
                ..EnclosingElement::default()
            });
    (prop::collection::vec(seen(), 0..20), prop::collection::vec(place, 0..12))
        .prop_map(|(controls, places)| PageSnapshot { controls, places, ..PageSnapshot::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a page reports, also places that are not there, it is read; every control
    /// is in exactly one field, and no two fields share an id.
    #[test]
    fn everything_is_read(sighting in sighting()) {
        let reading = read(&sighting);
        let ids: BTreeSet<&str> = reading.all().map(|field| field.id.as_str()).collect();
        prop_assert_eq!(ids.len(), reading.all().count());
        let fields = sighting.controls.iter().filter(|it| it.what == ControlKind::Field).count();
        let parts = |field: &crate::form::Field| match field.shape {
            crate::form::FieldShape::Radio | crate::form::FieldShape::Codes => field.options.len(),
            _ => 1,
        };
        prop_assert_eq!(reading.all().map(parts).sum::<usize>(), fields);
        prop_assert_eq!(read(&sighting), reading);
    }

    /// A field keeps its id when another one comes.
    #[test]
    fn ids_stay_when_a_field_is_added(labels in prop::collection::vec("[a-z]{3,8}", 1..8), at in any::<prop::sample::Index>()) {
        let mut page = Page::new();
        let form = page.place(0, "form", "");
        for label in &labels {
            page.labelled(form, label, "");
        }
        let before: Vec<(String, String)> =
            page.read().all().map(|it| (it.selector.clone(), it.id.clone())).collect();
        let mut new = page.sighting.controls[0].clone();
        new.selector = "#new".into();
        page.sighting.controls.insert(at.index(labels.len() + 1), new);
        let after: BTreeSet<(String, String)> =
            page.read().all().map(|it| (it.selector.clone(), it.id.clone())).collect();
        prop_assert!(before.iter().all(|pair| after.contains(pair)));
    }
}

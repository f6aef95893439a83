//! Which control sends the form, and what else can be pressed in it.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use super::{Lexicons, container::Container, draft::LogicalField, visible};
use crate::form::{
    navigation::{self, ControlRole, NavigationControl},
    snapshot::{Control, ControlKind, PageSnapshot, PressEffect},
};

/// Returns everything in the form that a person can press.
pub(super) fn controls(sighting: &PageSnapshot, container: &Container) -> Vec<NavigationControl> {
    let all = |place| within(sighting, *container, place).into_iter();
    let shown = |place| all(place).filter(|seen| visible::is_seen(seen));
    let mut around = sighting.around(container.place).map(|(at, _)| Some(at)).chain([None]);
    let place = around.find(|place| shown(*place).any(|seen| seen.does != PressEffect::Link));
    shown(place.unwrap_or(container.place)).map(|seen| control(sighting, seen)).collect()
}

/// Returns the control that sends the form or leads on: the one for which most speaks.
pub(super) fn choose(
    sighting: &PageSnapshot,
    container: &Container,
    logicals: &[LogicalField<'_>],
    lexicons: &Lexicons,
) -> Option<NavigationControl> {
    let fields = logicals.iter().filter(|it| container.holds(sighting, it.place()) && it.is_seen);
    let last = fields.map(|it| it.seen.order).max();
    // If the form has no control that sends, one around it may send it.
    let mut around = sighting.around(container.place).map(|(at, _)| Some(at)).chain([None]);
    around.find_map(|place| {
        let mut best: Option<(i32, &Control)> = None;
        for seen in within(sighting, *container, place) {
            let score = score(seen, last, lexicons);
            if score > 0 && best.is_none_or(|(most, _)| score > most) {
                best = Some((score, seen));
            }
        }
        best.map(|(_, seen)| control(sighting, seen))
    })
}

/// What can be pressed within a place, and what says that it belongs to the form.
fn within(sighting: &PageSnapshot, container: Container, place: Option<usize>) -> Vec<&Control> {
    let form = container.form(sighting);
    let belongs = |seen: &&Control| {
        let inside = place.is_none_or(|outer| sighting.is_within(seen.place, outer));
        inside || (seen.form.is_some() && (seen.form == form || seen.form == container.place))
    };
    let pressed = sighting.controls.iter().filter(|seen| seen.what == ControlKind::Pressed);
    pressed.filter(belongs).collect()
}

/// Scores how likely a control sends the form.
fn score(seen: &Control, last_field: Option<u32>, lexicons: &Lexicons) -> i32 {
    let made = match seen.does {
        PressEffect::Submit => 40,
        PressEffect::Button => 10,
        PressEffect::Link => -15,
        PressEffect::Reset => return 0,
    };
    let marks = [
        seen.attribute("id"),
        seen.attribute("class"),
        seen.attribute("name"),
        seen.attribute("data-testid"),
    ];
    let marked = marks.into_iter().any(|mark| lexicons.sends.is_in(mark));
    let primary = seen.attribute("class").contains("primary");
    let says = lexicons.sends.is_in(&seen.label);
    let aside = lexicons.unsent.is_in(&seen.label);
    let unnamed = seen.label.is_empty();
    let after = last_field.is_none_or(|last| seen.order > last);
    let points = [
        (says, 30),
        (aside, -45),
        (marked, 8),
        (primary, 6),
        (after, 12),
        (unnamed, -10),
        (!visible::is_seen(seen), -40),
        (seen.label.chars().count() > 60, -10),
    ];
    points
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(made, |sum: i32, (_, point)| sum.saturating_add(point))
}

fn control(sighting: &PageSnapshot, seen: &Control) -> NavigationControl {
    let form = sighting.form_of(seen).and_then(|at| sighting.places.get(at));
    let form = form.map_or("", |form| form.text.as_str());
    let known = |name: &str| matches!(name, "id" | "name") || name.starts_with("data-");
    let attributes: BTreeMap<String, String> = seen
        .attributes
        .iter()
        .filter(|(name, _)| known(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    NavigationControl {
        selector: seen.selector.clone(),
        label: seen.label.clone(),
        does: match seen.does {
            PressEffect::Submit => ControlRole::Submit,
            PressEffect::Button | PressEffect::Reset => ControlRole::Button,
            PressEffect::Link => ControlRole::Link,
        },
        origin: seen.origin.clone(),
        disabled: seen.disabled,
        attributes,
        costs: navigation::costs(&seen.near, form),
    }
}

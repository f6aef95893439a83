//! What it costs to type a field: with the model, and by the rules alone.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use pointsman_agents::form::{
    Control, ControlNames, ControlOption, EnclosingElement, PageReader, PageSnapshot,
    learnt::{FieldModel, WEIGHTS},
};

/// Readings of each sort, after some to warm up.
const ROUNDS: usize = 31;
const WARM: usize = 5;

/// Labels of a form, with the names of their fields.
const ASKED: [(&str, &str); 20] = [
    ("First name *", "billing[first_name]"),
    ("Nachname", "nachname"),
    ("Organisation (optional)", "company"),
    ("Adresse e-mail", "mail"),
    ("Número de teléfono", "phone_1"),
    ("Street and house number", "street1"),
    ("Complément d'adresse", "address_2"),
    ("Postleitzahl", "plz"),
    ("Città", "city"),
    ("Область", "region"),
    ("Trading style", "ctl00$Body$tbStyle"),
    ("How did you hear about us?", "source"),
    ("メールアドレス", "email_confirm"),
    ("Όνομα χρήστη", "user"),
    ("Date of arrival", "arrival"),
    ("Gift card code", "gift"),
    ("VAT number", "vat_id"),
    ("Name on card", "cardholder"),
    ("Nickname", "nick"),
    ("Notes for the courier", "delivery_info"),
];
const COUNTRIES: [&str; 8] =
    ["Austria", "Belgium", "Canada", "Denmark", "Estonia", "France", "Germany", "Other"];

/// What a field costs, whole readings shared out among their fields: medians.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// With the model.
    pub model: Duration,
    /// By the rules alone.
    pub rules: Duration,
}

/// Measures both in turns, so that a noisy machine is as noisy for both.
pub fn measure() -> Cost {
    let (form, reader) = (form(), PageReader::default());
    let model = FieldModel::new(WEIGHTS);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..WARM + ROUNDS {
        for (model, times) in [model.as_ref(), None].into_iter().zip(&mut times) {
            let started = Instant::now();
            let read = black_box(reader.read_with(black_box(&form), model));
            let took = started.elapsed();
            if round >= WARM {
                let fields = u32::try_from(read.typings.len()).unwrap_or(u32::MAX).max(1);
                times.push(took / fields);
            }
        }
    }
    let [model, rules] = times.map(|mut times| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    });
    Cost { model, rules }
}

/// A form of forty fields and a list.
fn form() -> PageSnapshot {
    let mut form = PageSnapshot { language: "en".into(), ..PageSnapshot::default() };
    form.places.push(EnclosingElement { tag: "form".into(), ..EnclosingElement::default() });
    for (nth, (label, name)) in ASKED.iter().chain(&ASKED).chain([&("Country", "c")]).enumerate() {
        let mut seen = Control {
            selector: format!("#field{nth}"),
            tag: "input".into(),
            type_: "text".into(),
            order: u32::try_from(nth).unwrap_or_default(),
            place: Some(0),
            form: Some(0),
            names: ControlNames { associated: (*label).into(), ..ControlNames::default() },
            ..Control::default()
        };
        if *name == "c" {
            seen.tag = "select".into();
            seen.type_ = "select-one".into();
            let option =
                |label: &&str| ControlOption { label: (*label).into(), ..Default::default() };
            seen.options = COUNTRIES.iter().map(option).collect();
        }
        seen.area.width = 200.0;
        seen.area.height = 20.0;
        seen.attributes.insert("name".into(), (*name).into());
        seen.attributes.insert("id".into(), format!("input_{nth}"));
        form.controls.push(seen);
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_form_is_typed() {
        let read = PageReader::default().read_with(&form(), None);
        assert_eq!(read.typings.len(), 2 * ASKED.len() + 1);
        assert!(measure().rules > Duration::ZERO);
    }
}

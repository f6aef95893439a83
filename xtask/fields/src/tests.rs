//! A small world of forms, learnt from and judged.

use pointsman_agents::form::{
    Control, ControlNames, EnclosingElement, FieldKind, PageSnapshot, learnt::FieldModel,
};

use crate::{
    Settings,
    data::{Label, Page},
    judge::{Judgement, by_folds},
    surprise::surprises,
    train::{learn, lessons},
};

const ASKED: [(&str, FieldKind); 6] = [
    ("Trading style", FieldKind::Organization),
    ("Given name", FieldKind::GivenName),
    ("Surname", FieldKind::FamilyName),
    ("Postcode", FieldKind::PostalCode),
    ("Favourite colour", FieldKind::None),
    ("Telephone", FieldKind::Tel),
];

fn page(site: usize) -> Page {
    let mut sighting = PageSnapshot { language: "en".into(), ..PageSnapshot::default() };
    sighting.places.push(EnclosingElement { tag: "form".into(), ..EnclosingElement::default() });
    let mut labels = Vec::new();
    for (nth, (asked, kind)) in ASKED.iter().enumerate() {
        let mark = nth.to_string();
        let mut seen = Control {
            selector: format!("#field{nth}"),
            tag: "input".into(),
            type_: "text".into(),
            order: u32::try_from(nth).unwrap_or_default(),
            place: Some(0),
            form: Some(0),
            names: ControlNames { associated: (*asked).into(), ..ControlNames::default() },
            ..Control::default()
        };
        seen.area.width = 200.0;
        seen.area.height = 20.0;
        seen.attributes.insert("data-fid".into(), mark.clone());
        sighting.controls.push(seen);
        let written = kind.to_string();
        labels.push(Label { mark, written, kinds: vec![*kind], visible: true });
    }
    Page {
        source: "ddg".into(),
        file: format!("{site}.html"),
        language: "en".into(),
        site,
        labels,
        submits: Vec::new(),
        sighting,
    }
}

fn world() -> Vec<Page> {
    (0..60).map(page).collect()
}

#[test]
fn the_same_pages_give_the_same_bytes() {
    let settings = Settings::default();
    let bytes = || {
        let pages = world();
        let lessons = lessons(&pages);
        learn(&lessons.iter().collect::<Vec<_>>(), &settings).bytes(&settings, 60)
    };
    let first = bytes();
    assert!(FieldModel::new(&first).is_some());
    assert_eq!(first, bytes());
}

#[test]
fn words_that_no_rule_knows_are_learnt_from_other_sites() {
    let pages = world();
    let lessons = lessons(&pages);
    let judged = by_folds(&lessons.iter().collect::<Vec<_>>(), 5, &Settings::default());
    let odd: Vec<_> = judged.fields.iter().filter(|it| it.label.mark == "0").collect();
    assert_eq!(odd.len(), 60);
    assert!(odd.iter().all(|it| !it.rules.right), "the rules know the words");
    assert!(odd.iter().all(|it| it.model.right), "{odd:?}");
}

#[test]
fn threshold_skips_likely_mistakes() {
    let mut pages = world();
    // The same words ask for nothing on two sites of five.
    for page in pages.iter_mut().filter(|page| page.site % 5 < 2) {
        page.labels[0].kinds = vec![FieldKind::None];
    }
    let lessons = lessons(&pages);
    let all: Vec<_> = lessons.iter().collect();
    let wrong = |judged: &Judgement<'_>| {
        let wrong = judged.fields.iter().filter(|it| it.model.wrongly_filled).count();
        100 * wrong / judged.fields.len()
    };
    let settings = Settings::default();
    let mut careless = Judgement::default();
    let bytes = learn(&all, &settings).bytes(&settings, 0);
    for lesson in &all {
        careless.page(lesson.page, FieldModel::new(&bytes).as_ref());
    }
    assert!(wrong(&careless) > 2);
    assert!(wrong(&by_folds(&all, 5, &settings)) <= 2);
}

#[test]
fn a_planted_label_error_is_the_greatest_surprise() {
    let mut pages = world();
    let planted = &mut pages[7].labels[3];
    planted.kinds = vec![FieldKind::FamilyName];
    planted.written = "family-name".into();
    let found = surprises(&lessons(&pages), &Settings::default());
    assert_eq!(found.first().map(|it| it.field.as_str()), Some("7.html#3"), "{found:?}");
}

#[test]
fn a_model_that_is_cut_or_foreign_is_none() {
    let settings = Settings::default();
    let pages = world();
    let lessons = lessons(&pages);
    let bytes = learn(&lessons.iter().collect::<Vec<_>>(), &settings).bytes(&settings, 60);
    assert!(FieldModel::new(&bytes[..bytes.len() - 1]).is_none());
    assert!(FieldModel::new(b"something else").is_none());
    assert!(FieldModel::new(&[]).is_none());
}

//! What each form of a page is for: from its name, headings, buttons, links and make.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use super::{FieldDraft, FoldedText, Lexicon, votes::Votes, words};
use crate::form::{
    field::FieldShape,
    kind::FieldKind,
    snapshot::{ControlKind, PageSnapshot, PressEffect, TextKind},
};

/// What a form is for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in crate::form) enum Aim {
    /// Signing in to an account.
    LogIn,
    /// Making an account.
    SignUp,
    /// Changing a password.
    Change,
    /// Getting back into an account.
    Recover,
    /// Buying or booking.
    Checkout,
    /// Having news sent.
    Newsletter,
    /// Writing to a person.
    Contact,
    /// Finding something.
    Search,
    /// Proving by a code who one is.
    Code,
}

/// Every aim, with its word.
const TOKENS: [(Aim, &str); 9] = [
    (Aim::LogIn, "log-in"),
    (Aim::SignUp, "sign-up"),
    (Aim::Change, "change-password"),
    (Aim::Recover, "recover"),
    (Aim::Checkout, "checkout"),
    (Aim::Newsletter, "newsletter"),
    (Aim::Contact, "contact"),
    (Aim::Search, "search"),
    (Aim::Code, "code"),
];

impl Aim {
    /// Returns the aim of that word.
    pub(super) fn from_token(token: &str) -> Option<Self> {
        TOKENS.iter().find(|(_, word)| *word == token).map(|(aim, _)| *aim)
    }

    /// Returns the word for what a form is for, as far as that is known.
    pub(in crate::form) fn token(aim: Option<Self>) -> &'static str {
        TOKENS.iter().find(|(it, _)| Some(*it) == aim).map_or("other", |(_, word)| word)
    }
}

/// What a form is for, as far as the page tells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::form) struct Purpose {
    /// The form, or the part of the page that does its work.
    pub(in crate::form) form: Option<usize>,
    /// Its purpose.
    pub(in crate::form) aim: Option<Aim>,
}

/// Below this, nothing is known.
const ENOUGH: i32 = 4;

/// The phrases that reveal the purpose of a form.
#[derive(Debug)]
pub(super) struct PurposePhrases {
    says: Lexicon<Aim>,
    hints: Lexicon<Aim>,
    elsewhere: Lexicon<()>,
}

type Scores = BTreeMap<Aim, i32>;

/// Judges every form that has fields.
pub(super) fn all(
    judge: &PurposePhrases,
    sighting: &PageSnapshot,
    drafts: &[FieldDraft<'_>],
    votes: &[Votes],
    kinds: &[FieldKind],
) -> Vec<Purpose> {
    let mut purposes: Vec<Purpose> = Vec::new();
    for draft in drafts {
        if purposes.iter().all(|purpose| purpose.form != draft.form) {
            let aim = judge.aim(sighting, drafts, votes, kinds, draft.form);
            purposes.push(Purpose { form: draft.form, aim });
        }
    }
    purposes
}

impl PurposePhrases {
    pub(super) fn new() -> Self {
        Self {
            says: Lexicon::new(words::purposes()),
            hints: Lexicon::new(words::hints()),
            elsewhere: words::PURPOSES.lexicon("unsent"),
        }
    }

    fn aim(
        &self,
        sighting: &PageSnapshot,
        drafts: &[FieldDraft<'_>],
        votes: &[Votes],
        kinds: &[FieldKind],
        form: Option<usize>,
    ) -> Option<Aim> {
        let mut scores = Scores::new();
        self.by_name(&mut scores, sighting, form);
        self.by_what_is_said(&mut scores, sighting, drafts, form);
        self.by_buttons(&mut scores, sighting, form);
        by_make(&mut scores, drafts, votes, kinds, form);
        self.hear(&mut scores, &sighting.title, 2);
        // A saved page's address says nothing about its form.
        if sighting.url.starts_with("http") {
            let path = sighting.url.splitn(4, '/').nth(3).unwrap_or_default();
            self.hear(&mut scores, path.split('?').next().unwrap_or_default(), 2);
        }
        let mut best: Option<(Aim, i32)> = None;
        for (aim, score) in scores {
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((aim, score));
            }
        }
        best.filter(|(_, score)| *score >= ENOUGH).map(|(aim, _)| aim)
    }

    /// Lets a text speak once for each aim that it names.
    fn hear(&self, scores: &mut Scores, raw: &str, weight: i32) {
        let mut heard: Vec<Aim> = Vec::new();
        for found in self.says.find(&FoldedText::new(raw)) {
            if !heard.contains(&found.meaning) {
                heard.push(found.meaning);
                add(scores, found.meaning, weight);
            }
        }
    }

    fn by_name(&self, scores: &mut Scores, sighting: &PageSnapshot, form: Option<usize>) {
        for (depth, (_, place)) in sighting.around(form).take(4).enumerate() {
            let weight = if depth == 0 { 3 } else { 1 };
            for name in ["id", "name", "class", "aria-label", "data-testid", "action"] {
                let raw = place.attribute(name);
                let path = raw.split('?').next().unwrap_or_default();
                let path = path
                    .split_once("://")
                    .map_or(path, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
                let value = if name == "action" { path } else { raw };
                self.hear(scores, value, weight);
            }
            if depth == 0 {
                self.hear(scores, &place.label, 4);
            }
        }
    }

    fn by_what_is_said(
        &self,
        scores: &mut Scores,
        sighting: &PageSnapshot,
        drafts: &[FieldDraft<'_>],
        form: Option<usize>,
    ) {
        let within = |place: Option<usize>| form.is_none_or(|form| sighting.is_within(place, form));
        let first =
            drafts.iter().filter(|draft| draft.form == form).map(|draft| draft.seen.order).min();
        let said = || sighting.said.iter().filter(|said| within(said.place) && said.seen);
        let headings: Vec<&str> =
            said().filter(|it| it.what == TextKind::Heading).map(|it| it.text.as_str()).collect();
        for heading in &headings {
            self.hear(scores, heading, 4);
        }
        // Links in a form are among its controls.
        let pressed = sighting.controls.iter().filter(|it| it.what == ControlKind::Pressed);
        let links = pressed.filter(|it| it.does == PressEffect::Link && within(it.place));
        let boxes = drafts.iter().filter(|it| it.form == form && it.shape == FieldShape::Checkbox);
        let text = form.and_then(|form| sighting.places.get(form)).map_or("", |place| &place.text);
        let linked = said().filter(|it| it.what == TextKind::Link).map(|it| it.text.as_str());
        let hints = linked
            .chain(links.map(|it| it.label.as_str()))
            .chain(boxes.map(|it| it.label.as_str()))
            .chain([text]);
        self.hint(scores, hints);
        let headed = !headings.is_empty();
        if let (Some(first), false) = (first, headed) {
            let before = sighting.said.iter().filter(|said| said.order < first && said.seen);
            let nearest =
                before.filter(|said| said.what == TextKind::Heading).max_by_key(|said| said.order);
            if let Some(said) = nearest {
                self.hear(scores, &said.text, 3);
            }
            let opens = drafts.iter().find(|draft| draft.form == form && draft.seen_by_people);
            if let Some(draft) = opens {
                self.hear(scores, &draft.seen.names.before, 4);
            }
        }
    }

    /// Takes the hints of several texts; each aim is hinted at once.
    fn hint<'a>(&self, scores: &mut Scores, texts: impl Iterator<Item = &'a str>) {
        let mut heard: Vec<Aim> = Vec::new();
        for raw in texts {
            for found in self.hints.find(&FoldedText::new(raw)) {
                if !heard.contains(&found.meaning) {
                    heard.push(found.meaning);
                    // Terms and privacy are spoken of everywhere, lost passwords are not.
                    add(scores, found.meaning, if found.meaning == Aim::LogIn { 4 } else { 2 });
                }
            }
        }
    }

    fn by_buttons(&self, scores: &mut Scores, sighting: &PageSnapshot, form: Option<usize>) {
        let belongs = |it: &&crate::form::snapshot::Control| {
            let inside = form.is_none_or(|form| sighting.is_within(it.place, form));
            it.what == ControlKind::Pressed && (inside || (it.form.is_some() && it.form == form))
        };
        for button in sighting.controls.iter().filter(belongs) {
            let weight = match button.does {
                PressEffect::Submit => 5,
                PressEffect::Button => 4,
                PressEffect::Link | PressEffect::Reset => continue,
            };
            let by_others =
                button.does == PressEffect::Button && self.elsewhere.is_in(&button.label);
            if !by_others {
                self.hear(scores, &button.label, weight);
                let marks: String = button.attribute("id").into();
                self.hear(scores, &marks, 1);
            }
        }
    }
}

/// The kinds of a form's fields show its purpose.
fn by_make(
    scores: &mut Scores,
    drafts: &[FieldDraft<'_>],
    votes: &[Votes],
    kinds: &[FieldKind],
    form: Option<usize>,
) {
    let mine: Vec<(&FieldDraft<'_>, FieldKind)> = drafts
        .iter()
        .zip(kinds.iter().copied())
        .filter(|(draft, _)| draft.form == form && draft.seen_by_people)
        .collect();
    let has = |kind: FieldKind| mine.iter().any(|(_, it)| *it == kind);
    let secret =
        |kind: FieldKind| matches!(kind, FieldKind::NewPassword | FieldKind::CurrentPassword);
    let passwords = mine.iter().filter(|(_, kind)| secret(*kind)).count();
    let hidden = drafts
        .iter()
        .filter(|draft| {
            draft.form == form && draft.shape == FieldShape::Password && !draft.seen_by_people
        })
        .count();
    let lines = mine.iter().filter(|(draft, _)| draft.shape == FieldShape::Text).count();
    match (passwords, lines) {
        // One line and a password that comes later: the account is asked for first.
        (0, 1) if hidden == 1 => add(scores, Aim::LogIn, 4),
        (0, 3..) => add(scores, Aim::LogIn, -4),
        (0, _) => {}
        (1, 0..=2) => add(scores, Aim::LogIn, 4),
        (1, 3) => add(scores, Aim::SignUp, 2),
        (2, 0) => add(scores, Aim::Change, 3),
        (1 | 2, _) => add(scores, Aim::SignUp, 4),
        _ => add(scores, Aim::Change, 4),
    }
    let named = has(FieldKind::GivenName) || has(FieldKind::FamilyName) || has(FieldKind::Name);
    if passwords > 0 && named {
        add(scores, Aim::SignUp, 2);
    }
    if has(FieldKind::Email) && has(FieldKind::Username) {
        add(scores, Aim::SignUp, 3);
    }
    if has(FieldKind::NewPassword) {
        // The attribute alone is often there to keep browsers away.
        let said = drafts.iter().zip(votes).any(|(draft, votes)| {
            draft.form == form && votes.says_which && votes.of(FieldKind::NewPassword) > 0
        });
        add(scores, Aim::SignUp, if said { 5 } else { 1 });
        if has(FieldKind::CurrentPassword) && passwords >= 2 {
            add(scores, Aim::Change, 5);
        }
    }
    if has(FieldKind::CcNumber) || has(FieldKind::CcCsc) {
        add(scores, Aim::Checkout, 5);
    }
    if has(FieldKind::PostalCode) && has(FieldKind::AddressLevel2) && passwords == 0 {
        add(scores, Aim::Checkout, 2);
    }
    if has(FieldKind::OneTimeCode) && passwords == 0 {
        add(scores, Aim::Code, 3);
    }
    if mine.iter().any(|(draft, _)| draft.shape == FieldShape::Textarea) {
        add(scores, Aim::Contact, 3);
    }
}

fn add(scores: &mut Scores, aim: Aim, weight: i32) {
    let score = scores.entry(aim).or_default();
    *score = score.saturating_add(weight);
}

//! Reads a page snapshot: the fields of the form, and the control that sends it.
//!
//! Pure: the same sighting gives the same reading. The form is chosen in `container`,
//! controls become fields in `draft`, names and hints are read in `label` and `limits`,
//! what people can see in `visible`, what sends in `submit`. What fields ask for is
//! decided in `classify`.

mod complaint;
mod container;
mod draft;
mod label;
mod limits;
mod overlay;
mod shape;
mod single_field;
mod submit;
#[cfg(test)]
pub(super) mod tests;
mod trap;
mod visible;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use serde::{Deserialize, Serialize};

pub use complaint::Complaint;
pub use overlay::{Overlay, aside, pressable};
pub use single_field::{FieldReading, alone, document, said_by};

use super::{
    classify::{
        self, Classification, FieldDraft,
        learnt::{self, Example, FieldModel, KindDecision},
    },
    field::{Field, FieldShape, Fill},
    navigation::NavigationControl,
    snapshot::{Captcha, Control, PageSnapshot},
};
use draft::LogicalField;

/// What a page was found to hold.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct PageReading {
    /// The fields of the form, in the order of the page; hidden ones are marked.
    pub fields: Vec<Field>,
    /// Fields of the page that are not part of the form.
    pub outside: Vec<Field>,
    /// The control that sends the form or leads on.
    pub submit: Option<NavigationControl>,
    /// Everything in the form that can be pressed.
    pub controls: Vec<NavigationControl>,
    /// The page's objections to filled-in values.
    pub complaints: Vec<Complaint>,
    /// The same as long as the form has the same fields.
    pub signature: String,
    /// What the form is for, as a word.
    pub purpose: String,
    /// How each field came to its kind, by the field's id.
    pub typings: BTreeMap<String, KindDecision>,
}

/// Reads a sighting. Where many are read, a [`PageReader`] is made once.
pub fn read(sighting: &PageSnapshot) -> PageReading {
    PageReader::default().read(sighting)
}

/// Reads sightings. It holds all words in a form in which they are quickly found: making one takes
/// longer than reading a page.
#[derive(Debug)]
pub struct PageReader {
    lexicons: Lexicons,
    judge: classify::Judge,
}

impl Default for PageReader {
    fn default() -> Self {
        Self { lexicons: Lexicons::new(), judge: classify::Judge::new() }
    }
}

impl PageReader {
    /// Reads a sighting.
    pub fn read(&self, sighting: &PageSnapshot) -> PageReading {
        self.read_with(sighting, FieldModel::new(learnt::WEIGHTS).as_ref())
    }

    /// Returns the fields of a sighting as a model is trained on them.
    pub fn examples(&self, sighting: &PageSnapshot) -> Vec<Example> {
        let logicals = draft::logicals(sighting, &self.lexicons);
        let drafts = drafts(sighting, &logicals, &self.lexicons);
        classify::examples(&self.judge, sighting, &drafts)
    }

    /// Reads a snapshot with another model than the shipped one, or by the rules alone.
    pub fn read_with(
        &self,
        sighting: &PageSnapshot,
        model: Option<&FieldModel<'_>>,
    ) -> PageReading {
        read_by((&self.lexicons, &self.judge), sighting, model)
    }
}

fn read_by(
    (lexicons, judge): (&Lexicons, &classify::Judge),
    sighting: &PageSnapshot,
    model: Option<&FieldModel<'_>>,
) -> PageReading {
    let logicals = draft::logicals(sighting, lexicons);
    let container = container::choose(sighting, &logicals, lexicons);
    let drafts = drafts(sighting, &logicals, lexicons);
    let Classification { typings, purposes } = classify::kinds(judge, sighting, &drafts, model);
    let secrets = classify::secrets(judge, &drafts);

    let mut reading = PageReading::default();
    let mut ids = Ids::default();
    let settled = typings.into_iter().zip(secrets);
    for ((logical, draft), (typing, secret)) in logicals.iter().zip(&drafts).zip(settled) {
        let mut field = field(sighting, logical, draft, lexicons);
        let kind = typing.kind;
        field.kind = kind;
        // What its kind says already need not be said twice.
        field.secret = secret.filter(|it| it.class().is_none() || it.class() != kind.class());
        field.id = ids.take(&field.selector);
        reading.typings.insert(field.id.clone(), typing);
        field.fill = fill(logical, &field);
        complaint::of_field(logical, &field, &mut reading.complaints);
        if container.holds(sighting, logical.place()) {
            reading.fields.push(field);
        } else {
            reading.outside.push(field);
        }
    }
    for captcha in draft::captchas(sighting) {
        let field = captcha_field(captcha, &mut ids);
        if container.holds(sighting, captcha.place) {
            reading.fields.push(field);
        } else {
            reading.outside.push(field);
        }
    }
    // What most of its fields work in is the form, whether or not the markup says so.
    let inside = |draft: &&FieldDraft<'_>| container.holds(sighting, draft.seen.place);
    let form = drafts.iter().filter(inside).find(|it| it.seen_by_people).map(|it| it.form);
    let purpose = purposes.iter().find(|purpose| Some(purpose.form) == form);
    reading.purpose = classify::Aim::token(purpose.and_then(|purpose| purpose.aim)).into();
    reading.controls = submit::controls(sighting, &container);
    reading.submit = submit::choose(sighting, &container, &logicals, lexicons);
    complaint::of_page(sighting, &mut reading.complaints);
    reading.signature = signature(&reading.fields);
    reading
}

/// Phrases that are looked for in several places.
#[derive(Debug)]
struct Lexicons {
    traps: trap::Traps,
    asides: classify::Lexicon<()>,
    sends: classify::Lexicon<()>,
    unsent: classify::Lexicon<()>,
    captcha: classify::Lexicon<()>,
}

impl Lexicons {
    fn new() -> Self {
        use classify::words;
        let sends = words::PURPOSES.under("sends").map(|(_, says)| ((), says));
        let aims = words::purposes().filter(|(aim, _)| *aim != classify::Aim::Search);
        Self {
            traps: trap::Traps::new(),
            asides: words::PURPOSES.lexicon("asides"),
            sends: classify::Lexicon::new(aims.map(|(_, says)| ((), says)).chain(sends)),
            unsent: words::PURPOSES.lexicon("unsent"),
            captcha: words::LISTS.lexicon("captcha"),
        }
    }
}

fn drafts<'a>(
    sighting: &'a PageSnapshot,
    logicals: &'a [LogicalField<'a>],
    lexicons: &Lexicons,
) -> Vec<FieldDraft<'a>> {
    let places = container::work_places(sighting, logicals, lexicons);
    let draft = |(logical, form): (&'a LogicalField<'a>, Option<usize>)| FieldDraft {
        seen: logical.seen,
        shape: logical.shape,
        label: label::of(sighting, logical),
        context: label::context(sighting, logical),
        options: logical.options.iter().map(|it| (it.label.clone(), it.value.clone())).collect(),
        form,
        seen_by_people: logical.is_seen,
    };
    logicals.iter().zip(places).map(draft).collect()
}

fn field(
    sighting: &PageSnapshot,
    logical: &LogicalField<'_>,
    draft: &FieldDraft<'_>,
    lexicons: &Lexicons,
) -> Field {
    let seen = logical.seen;
    let asked = asks_for_captcha(seen, &draft.label, lexicons);
    Field {
        id: String::new(),
        selector: seen.selector.clone(),
        shape: if asked && logical.shape == FieldShape::Text {
            FieldShape::Captcha
        } else {
            logical.shape
        },
        kind: super::FieldKind::None,
        secret: None,
        label: draft.label.clone(),
        context: draft.context.clone(),
        placeholder: seen.names.placeholder.clone(),
        required: label::is_required(sighting, logical),
        options: logical.options.clone(),
        limits: limits::of(sighting, logical, &draft.context),
        value: logical.value(),
        holds_value: logical.holds_value(),
        fill: Fill::Yes,
        disabled: seen.disabled || seen.read_only,
        attributes: attributes(seen),
        document: document(seen.document),
    }
}

/// A line that asks for the text of a picture is a captcha, whatever made it.
fn asks_for_captcha(seen: &Control, label: &str, lexicons: &Lexicons) -> bool {
    let names = [label, &seen.names.placeholder, seen.attribute("name"), seen.attribute("id")];
    names.into_iter().any(|text| lexicons.captcha.is_in(text))
}

fn fill(logical: &LogicalField<'_>, field: &Field) -> Fill {
    if !logical.is_seen || logical.is_trap {
        Fill::Hidden
    } else if field.shape == FieldShape::Captcha || field.class().is_some() {
        Fill::Never
    } else {
        Fill::Yes
    }
}

fn captcha_field(captcha: &Captcha, ids: &mut Ids) -> Field {
    Field {
        id: ids.take(&captcha.selector),
        selector: captcha.selector.clone(),
        shape: FieldShape::Captcha,
        label: captcha.kind.clone(),
        fill: if captcha.seen { Fill::Never } else { Fill::Hidden },
        ..Field::default()
    }
}

/// Keeps the attributes by which a field is known: `id`, `name`, `autocomplete`, `data-*`.
fn attributes(seen: &Control) -> BTreeMap<String, String> {
    let known =
        |name: &str| matches!(name, "id" | "name" | "autocomplete") || name.starts_with("data-");
    let kept = seen.attributes.iter().filter(|(name, _)| known(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Gives ids that depend on the selector alone, so that a field keeps its id when others
/// come and go.
#[derive(Default)]
struct Ids {
    taken: BTreeSet<String>,
}

impl Ids {
    fn take(&mut self, selector: &str) -> String {
        let id = format!("f{:012x}", digest(selector) & 0xffff_ffff_ffff);
        let mut unique = id.clone();
        let mut nth: u32 = 1;
        while !self.taken.insert(unique.clone()) {
            nth = nth.saturating_add(1);
            unique = format!("{id}-{nth}");
        }
        unique
    }
}

/// FNV-1a: short, stable, and nothing secret depends on it.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn signature(fields: &[Field]) -> String {
    let mut all = String::new();
    for field in fields {
        let required = if field.required { "required" } else { "" };
        for part in [field.selector.as_str(), field.shape.token(), required] {
            all.push_str(part);
            all.push('\n');
        }
    }
    format!("{:016x}", digest(&all))
}

impl PageReading {
    /// Returns every field of the page, those of the form first.
    pub fn all(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().chain(&self.outside)
    }
}

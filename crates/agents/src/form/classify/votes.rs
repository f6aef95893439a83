//! How much speaks for each kind of a field, taken by itself.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use super::{
    FieldDraft, autocomplete, options,
    parts::DatePhrases,
    phrase::{FoldedText, Lexicon},
    purpose::PurposePhrases,
    words,
};
use crate::form::{
    field::FieldShape,
    kind::{FieldKind, SecretKind},
    snapshot::{Control, PageSnapshot},
};

/// How much each source of words weighs, against a phrase's strength of ten.
mod weight {
    /// The field's own label.
    pub(super) const LABEL: i32 = 60;
    /// Texts for assistive technology.
    pub(super) const ARIA: i32 = 50;
    /// What it shows while it is empty.
    pub(super) const PLACEHOLDER: i32 = 40;
    /// The name under which it is sent.
    pub(super) const NAME: i32 = 36;
    /// Its id.
    pub(super) const ID: i32 = 30;
    /// Its `title`.
    pub(super) const TITLE: i32 = 25;
    /// Names that frameworks and tests give it.
    pub(super) const MARK: i32 = 20;
    /// Text near it, by distance.
    pub(super) const NEAR: [i32; 5] = [38, 34, 28, 22, 16];
    /// The head of its column or row.
    pub(super) const TABLE: i32 = 25;
    /// The class of the element.
    pub(super) const CLASS: i32 = 10;
    /// An attribute that exists to say what the field asks for.
    pub(super) const AUTOCOMPLETE: i32 = 700;
    /// A type that only one kind has.
    pub(super) const TYPE: i32 = 500;
    /// A type that is also used for its keyboard.
    pub(super) const KEYBOARD: i32 = 140;
    /// What its list offers.
    pub(super) const OPTIONS: i32 = 500;
}

/// A field is typed only if this much speaks for it.
const ENOUGH: i32 = 120;
/// A phrase so far into a text is about something else.
pub(super) const FAR: usize = 60;
/// What an identifier's word for nothing in particular is worth at most.
const QUIET: i32 = 5;
/// The most letters of a word after the phrase that it begins with.
const ENDING: usize = 2;
/// A text so long explains rather than names.
pub(super) const LONG: usize = 90;

/// Attributes by which frameworks and tests name fields.
pub(super) const MARKS: [&str; 12] = [
    "data-testid",
    "data-test",
    "data-qa",
    "data-automation-id",
    "data-field",
    "data-name",
    "data-type",
    "ng-model",
    "formcontrolname",
    "v-model",
    "data-bind",
    "itemprop",
];

/// How much speaks for each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    by_kind: BTreeMap<FieldKind, i32>,
    /// Whether words say which of old and new a password is.
    pub(super) says_which: bool,
    /// What the field asks for by its attribute, or by the question of its group.
    pub(super) told: Option<FieldKind>,
    /// What each text speaks for.
    pub(super) heard: Vec<TextVotes>,
    /// Whether there is something to read at the field.
    pub(super) read: bool,
    /// Whether it is part of a day, a month and a year, of an unknown event.
    pub(super) nobodys_date: bool,
    /// Texts that were counted.
    said: Vec<(String, WordSource)>,
}

/// What one text speaks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextVotes {
    /// What the text is.
    pub(super) voice: WordSource,
    /// How much the text weighs, by which it is known.
    pub(super) weight: i32,
    /// The kind of its strongest phrase.
    pub(super) kind: FieldKind,
    /// How strong that phrase is.
    pub(super) strength: i32,
    /// Whether the text says nothing else.
    pub(super) whole: bool,
}

/// Holds the phrases by which fields are judged. Making one takes longer than judging a page.
#[derive(Debug)]
pub(in crate::form) struct Judge {
    lexicon: Lexicon<(FieldKind, i32)>,
    pub(super) dates: DatePhrases,
    pub(super) aims: PurposePhrases,
    pub(super) private: Lexicon<SecretKind>,
}

/// Whether words come from an identifier or from what a person reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum WordSource {
    Identifier,
    Prose,
}

impl Judge {
    pub(in crate::form) fn new() -> Self {
        Self {
            lexicon: Lexicon::new(words::kinds()),
            dates: DatePhrases::new(),
            aims: PurposePhrases::new(),
            private: Lexicon::new(words::private()),
        }
    }

    /// Collects what speaks for each kind of a field.
    pub(super) fn votes(&self, sighting: &PageSnapshot, draft: &FieldDraft<'_>) -> Votes {
        let seen = draft.seen;
        let mut votes = Votes::default();
        let names = &seen.names;
        let own = [&names.associated, &names.wrapping, &names.labelled_by];
        for text in own {
            self.hear(&mut votes, text, weight::LABEL, WordSource::Prose);
        }
        self.hear(&mut votes, &names.aria, weight::ARIA, WordSource::Prose);
        self.hear(&mut votes, &names.placeholder, weight::PLACEHOLDER, WordSource::Prose);
        let unnamed = own.iter().all(|text| text.is_empty());
        if unnamed {
            let far = usize::try_from(names.before_level).unwrap_or(usize::MAX);
            let near = weight::NEAR.get(far).copied().unwrap_or_default();
            self.hear(&mut votes, &names.before, near, WordSource::Prose);
            self.hear(&mut votes, &names.table.column, weight::TABLE, WordSource::Prose);
            self.hear(&mut votes, &names.table.row, weight::TABLE, WordSource::Prose);
        }
        self.hear(&mut votes, &names.title, weight::TITLE, WordSource::Prose);
        self.hear(&mut votes, seen.attribute("name"), weight::NAME, WordSource::Identifier);
        self.hear(&mut votes, seen.attribute("id"), weight::ID, WordSource::Identifier);
        for mark in MARKS {
            self.hear(&mut votes, seen.attribute(mark), weight::MARK, WordSource::Identifier);
        }
        self.hear(&mut votes, seen.attribute("class"), weight::CLASS, WordSource::Identifier);
        if unnamed {
            self.hear_around(&mut votes, sighting, seen);
        }
        // A list often opens with the question: `Birth month`, `Select a country`. Lists that
        // are made of other elements have no values, so there the first may be an answer.
        let native = draft.shape == FieldShape::Select;
        if let Some((first, value)) = draft.options.first()
            && (value.is_empty() || (native && value == first))
        {
            self.hear(&mut votes, first, weight::PLACEHOLDER, WordSource::Prose);
        }
        Self::built(&mut votes, draft);
        votes
    }

    /// Where a field has no name of its own, the ids of the elements around it may speak.
    fn hear_around(&self, votes: &mut Votes, sighting: &PageSnapshot, seen: &Control) {
        let has_name = !seen.attribute("name").is_empty() || !seen.attribute("id").is_empty();
        let around = sighting.around(seen.place).take(2).filter(|(_, place)| !place.is_form());
        for (_, place) in around {
            let weight = if has_name { weight::CLASS } else { weight::MARK };
            self.hear(votes, place.attribute("id"), weight, WordSource::Identifier);
            self.hear(votes, place.attribute("data-name"), weight, WordSource::Identifier);
        }
    }

    /// Lets one text vote: for what its strongest phrase speaks for.
    fn hear(&self, votes: &mut Votes, raw: &str, weight: i32, voice: WordSource) {
        if raw.is_empty() || weight == 0 {
            return;
        }
        let text = FoldedText::new(raw);
        // A text in two places counts once.
        if votes.said.iter().any(|(other, said)| *said == voice && other == text.solid()) {
            return;
        }
        votes.said.push((text.solid().into(), voice));
        votes.read |= voice == WordSource::Prose;
        if let Some((kind, strength)) = self.best(&text, voice) {
            let whole = self.is_whole(&text, kind);
            let explicit =
                matches!(kind, FieldKind::NewPassword | FieldKind::CurrentPassword) && strength > 8;
            votes.says_which |= explicit;
            votes.heard.push(TextVotes { voice, weight, kind, strength, whole });
            votes.add(kind, weight.saturating_mul(strength));
        }
    }

    /// Returns whether a text is one phrase for a kind, and nothing more than an ending.
    fn is_whole(&self, text: &FoldedText, kind: FieldKind) -> bool {
        let solid = text.solid().trim_end_matches('#');
        let rest = |end: usize| solid.get(end..).unwrap_or_default().chars().count();
        let most = if text.words() == 1 { ENDING } else { 0 };
        let found = self.lexicon.find(text);
        found.iter().any(|it| it.meaning.0 == kind && it.start == 0 && rest(it.end) <= most)
    }

    /// Returns what a text speaks for most, and how strongly.
    pub(super) fn best(&self, text: &FoldedText, voice: WordSource) -> Option<(FieldKind, i32)> {
        let long = text.solid().len() > LONG;
        let mut best: Option<(FieldKind, i32)> = None;
        for found in self.lexicon.find(text) {
            let (kind, strength) = found.meaning;
            // Identifiers say more of their surroundings: a search for a street by its
            // postal code still asks for the code.
            let quiet = kind == FieldKind::None && voice == WordSource::Identifier;
            let strength = if quiet { strength.min(QUIET) } else { strength };
            let strength =
                if long && found.start > FAR { strength.saturating_div(3) } else { strength };
            // What a person reads names its thing first, an identifier last.
            let better = match best {
                None => true,
                Some((_, least)) if voice == WordSource::Identifier => strength >= least,
                Some((_, least)) => strength > least,
            };
            if better {
                best = Some((kind, strength));
            }
        }
        best
    }

    /// What the field's make says: its attribute, its type, its list.
    fn built(votes: &mut Votes, draft: &FieldDraft<'_>) {
        let seen = draft.seen;
        // On a line of text `new-password` is written to keep browsers from filling it.
        let secret =
            |kind: &FieldKind| matches!(kind, FieldKind::NewPassword | FieldKind::CurrentPassword);
        let told = autocomplete::kind(seen.attribute("autocomplete"));
        if let Some(kind) = told.filter(|kind| draft.shape == FieldShape::Password || !secret(kind))
        {
            votes.told = Some(kind);
            votes.add(kind, weight::AUTOCOMPLETE);
        }
        match (seen.type_.as_str(), seen.attribute("inputmode")) {
            ("email", _) | (_, "email") => votes.add(FieldKind::Email, weight::TYPE),
            ("url", _) | (_, "url") => votes.add(FieldKind::Url, weight::TYPE),
            ("tel", _) | (_, "tel") => votes.add(FieldKind::Tel, weight::KEYBOARD),
            ("search", _) | (_, "search") => votes.add(FieldKind::None, weight::KEYBOARD),
            _ => {}
        }
        if let Some(kind) = options::kind(&draft.options) {
            votes.add(kind, weight::OPTIONS);
        }
    }
}

impl Votes {
    fn add(&mut self, kind: FieldKind, weight: i32) {
        let sum = self.by_kind.entry(kind).or_default();
        *sum = sum.saturating_add(weight);
    }

    /// Returns how much speaks for a kind.
    pub(super) fn of(&self, kind: FieldKind) -> i32 {
        self.by_kind.get(&kind).copied().unwrap_or_default()
    }

    /// Returns the two kinds for which most speaks, with how much does.
    pub(super) fn first_two(&self) -> [Option<(FieldKind, i32)>; 2] {
        let mut two = [None, None];
        for (kind, weight) in &self.by_kind {
            let more =
                |other: Option<(FieldKind, i32)>| other.is_none_or(|(_, most)| *weight > most);
            if more(two[0]) {
                two = [Some((*kind, *weight)), two[0]];
            } else if more(two[1]) {
                two[1] = Some((*kind, *weight));
            }
        }
        two
    }

    /// Returns the kind with the most votes, among those that the field can be.
    pub(super) fn pick(&self, draft: &FieldDraft<'_>) -> FieldKind {
        if draft.shape == FieldShape::Codes {
            return FieldKind::OneTimeCode;
        }
        let fits = self.by_kind.iter().filter(|(kind, _)| can_be(draft, **kind));
        let best = fits.max_by_key(|(_, weight)| **weight);
        best.filter(|(_, weight)| **weight >= ENOUGH).map_or(FieldKind::None, |(kind, _)| *kind)
    }
}

/// Returns whether a field of this shape can ask for a kind.
pub(super) fn can_be(draft: &FieldDraft<'_>, kind: FieldKind) -> bool {
    use FieldKind as K;
    let listed = matches!(
        kind,
        K::None
            | K::HonorificPrefix
            | K::HonorificSuffix
            | K::AddressLevel1
            | K::AddressLevel2
            | K::AddressLevel3
            | K::AddressLevel4
            | K::Country
            | K::CountryName
            | K::PostalCode
            | K::CcExpMonth
            | K::CcExpYear
            | K::CcExp
            | K::CcType
            | K::TransactionCurrency
            | K::TransactionAmount
            | K::Language
            | K::Bday
            | K::BdayDay
            | K::BdayMonth
            | K::BdayYear
            | K::Sex
            | K::TelCountryCode
            | K::TelAreaCode
            | K::StreetAddress
            | K::AddressLine1
            | K::AddressLine2
            | K::OrganizationTitle
            | K::CcNumber
            | K::Organization
    );
    let secret = matches!(
        kind,
        K::None | K::NewPassword | K::CurrentPassword | K::OneTimeCode | K::CcCsc | K::CcNumber
    );
    match draft.shape {
        FieldShape::Select | FieldShape::Listbox => listed,
        FieldShape::Radio => matches!(
            kind,
            K::None | K::Sex | K::HonorificPrefix | K::CcType | K::Language | K::Country
        ),
        FieldShape::Password => secret,
        FieldShape::Textarea | FieldShape::Richtext => matches!(kind, K::None | K::StreetAddress),
        FieldShape::Codes => kind == K::OneTimeCode,
        FieldShape::Number | FieldShape::Range => !matches!(
            kind,
            K::Email
                | K::Name
                | K::GivenName
                | K::FamilyName
                | K::Country
                | K::StreetAddress
                | K::NewPassword
                | K::CurrentPassword
                | K::Url
        ),
        FieldShape::Date => matches!(kind, K::None | K::Bday | K::CcExp),
        FieldShape::Month => matches!(kind, K::None | K::CcExp | K::CcExpMonth),
        FieldShape::File => matches!(kind, K::None | K::Photo),
        FieldShape::Checkbox
        | FieldShape::Captcha
        | FieldShape::Time
        | FieldShape::DatetimeLocal
        | FieldShape::Week
        | FieldShape::Color => kind == K::None,
        FieldShape::Text | FieldShape::Combobox | FieldShape::Unsupported => true,
    }
}

/// Returns everything that a person reads at a field.
pub(super) fn read_of(seen: &Control) -> Vec<&String> {
    let names = &seen.names;
    let texts = [
        &names.associated,
        &names.wrapping,
        &names.labelled_by,
        &names.aria,
        &names.placeholder,
        &names.title,
        &names.before,
        &names.described,
    ];
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

//! What a browser saw on a page: facts only, as the script in the page reports them.
//!
//! This file makes no judgement. `read` and `classify`, which are pure, decide what is a field,
//! what it is called and whether a person can see it. Every part has a default, so that an
//! incomplete report can still be read.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// A page, as it was when it was read.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct PageSnapshot {
    /// Its address.
    pub url: String,
    /// Scheme, host and port.
    pub origin: String,
    /// Its title.
    pub title: String,
    /// The language that it says it is in.
    pub language: String,
    /// What can be filled or pressed, in the order of the document.
    pub controls: Vec<Control>,
    /// The elements around the controls; each names its parent by its place in this list.
    pub places: Vec<EnclosingElement>,
    /// Headings and links, which say what a form is for.
    pub said: Vec<TextElement>,
    /// Tests that the reader is a person.
    pub captchas: Vec<Captcha>,
    /// What the page calls out.
    pub alerts: Vec<String>,
}

/// An element that can be filled or pressed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that a browser told")]
pub struct Control {
    /// Where it is: CSS, with ` >>> ` where a shadow root or a frame lies between.
    pub selector: String,
    /// The element's name.
    pub tag: String,
    /// Its `type`, as the browser understands it.
    #[serde(rename = "type")]
    pub type_: String,
    /// Its ARIA role.
    pub role: String,
    /// How many elements of the document come before it.
    pub order: u32,
    /// The element around it.
    pub place: Option<usize>,
    /// The form that it belongs to.
    pub form: Option<usize>,
    /// Which document it is in: the time at which that was begun, in milliseconds.
    pub document: f64,
    /// Its attributes, without style, value and scripts.
    pub attributes: BTreeMap<String, String>,
    /// Where it is drawn.
    #[serde(rename = "box")]
    pub area: Area,
    /// What decides whether a person sees it.
    pub sight: Visibility,
    /// Whether the page has disabled it.
    pub disabled: bool,
    /// Whether it is filled or pressed.
    pub what: ControlKind,
    /// Everything that could be its name.
    pub names: ControlNames,
    /// What may be chosen.
    pub options: Vec<ControlOption>,
    /// What it holds; never told of passwords and files.
    pub value: Option<String>,
    /// Whether it holds anything.
    pub holds_value: bool,
    /// Whether it is on, if it is something that is on or off.
    pub checked: Option<bool>,
    /// Whether it is a region that is edited in place.
    pub editable: bool,
    /// Whether a drawn widget stands in for it.
    pub stand_in: bool,
    /// Whether the browser takes it as required.
    pub required: bool,
    /// Whether it only shows.
    pub read_only: bool,
    /// Whether it takes several values.
    pub multiple: bool,
    /// Whether the browser shows it as invalid, because a person has been there.
    pub user_invalid: bool,
    /// What the browser has against its value.
    pub message: String,
    /// What the page has against its value.
    pub complaints: Vec<String>,
    /// What pressing it does.
    pub does: PressEffect,
    /// The text on it, if it is pressed.
    pub label: String,
    /// Where pressing it leads: scheme, host and port.
    pub origin: Option<String>,
    /// The text beside it, up to the nearest field, if it is pressed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub near: String,
    /// Whether a style hides its text.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub masked: bool,
}

/// Whether an element is filled or pressed.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlKind {
    /// It takes a value.
    #[default]
    Field,
    /// It does something.
    Pressed,
}

/// What pressing an element does, by its markup.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PressEffect {
    /// It sends its form.
    Submit,
    /// It empties its form.
    Reset,
    /// What its script does.
    #[default]
    Button,
    /// It leads elsewhere.
    Link,
}

/// Everything that could be the name of a field.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ControlNames {
    /// The label that points at it.
    pub associated: String,
    /// The label that it stands in.
    pub wrapping: String,
    /// What `aria-labelledby` points at.
    pub labelled_by: String,
    /// The nearest text before it.
    pub before: String,
    /// How many elements up that text was found.
    pub before_level: u32,
    /// The nearest text after it.
    pub after: String,
    /// How many elements up that text was found.
    pub after_level: u32,
    /// Its `aria-label`.
    pub aria: String,
    /// Its `title`.
    pub title: String,
    /// What it shows while it is empty.
    pub placeholder: String,
    /// What `aria-describedby` points at.
    pub described: String,
    /// Whether a label of it is drawn.
    pub label_seen: bool,
    /// What stands at the head of its column and its row.
    pub table: TableHeaders,
}

/// What stands at the head of a cell's column and row.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct TableHeaders {
    /// The column's head.
    pub column: String,
    /// The row's first cell.
    pub row: String,
}

/// Something that may be chosen.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct ControlOption {
    /// What the form sends for it.
    pub value: String,
    /// The text on it.
    pub label: String,
    /// Where it is, if it is not part of a native list.
    pub selector: Option<String>,
    /// Whether it is chosen now.
    pub selected: bool,
    /// Whether it cannot be chosen.
    pub disabled: bool,
}

/// Where something is drawn, in pixels of the outermost document.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Area {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
}

/// What decides whether a person sees an element.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that a browser told")]
pub struct Visibility {
    /// Whether it is drawn at all.
    pub rendered: bool,
    /// Whether `visibility` lets it be seen.
    pub visible: bool,
    /// How opaque it is, with all that is around it.
    pub opacity: f64,
    /// Whether it is cut away.
    pub clipped: bool,
    /// Whether something covers it, or it has the colour of its background.
    pub covered: bool,
    /// Whether it lies outside the document.
    pub far: bool,
    /// Whether it or one of its parents is inert.
    pub inert: bool,
    /// Whether it is kept from assistive technology.
    pub aria_hidden: bool,
    /// Its place in the order of the tab key, if it has an own one.
    pub tabindex: Option<i64>,
    /// Whether its parent is drawn.
    pub parent_rendered: bool,
}

impl Default for Visibility {
    fn default() -> Self {
        Self {
            rendered: true,
            visible: true,
            opacity: 1.0,
            clipped: false,
            covered: false,
            far: false,
            inert: false,
            aria_hidden: false,
            tabindex: None,
            parent_rendered: true,
        }
    }
}

/// An element around controls.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct EnclosingElement {
    /// Where it is.
    pub selector: String,
    /// The element's name.
    pub tag: String,
    /// Its ARIA role.
    pub role: String,
    /// The element around it.
    pub parent: Option<usize>,
    /// How many elements of the document come before its first control.
    pub order: u32,
    /// Its attributes.
    pub attributes: BTreeMap<String, String>,
    /// Its legend, if it is a fieldset.
    pub legend: String,
    /// What assistive technology calls it.
    pub label: String,
    /// What `aria-describedby` points at.
    pub described: String,
    /// Where it is drawn.
    #[serde(rename = "box")]
    pub area: Area,
    /// Its text, if it is a form.
    pub text: String,
}

/// A heading or a link.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct TextElement {
    /// Which of the two.
    pub what: TextKind,
    /// Its text.
    pub text: String,
    /// How many elements of the document come before it.
    pub order: u32,
    /// The element around it.
    pub place: Option<usize>,
    /// Whether it is drawn.
    pub seen: bool,
}

/// What kind of text says something.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// A heading or a legend.
    #[default]
    Heading,
    /// A link.
    Link,
}

/// A test that the reader is a person.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Captcha {
    /// Whose it is, as far as its address or class tells.
    pub kind: String,
    /// Where it is.
    pub selector: String,
    /// How many elements of the document come before it.
    pub order: u32,
    /// The element around it.
    pub place: Option<usize>,
    /// Whether it is drawn.
    pub seen: bool,
}

impl PageSnapshot {
    /// Returns the places around a place, itself first, outermost last.
    pub fn around(&self, place: Option<usize>) -> impl Iterator<Item = (usize, &EnclosingElement)> {
        let mut at = place;
        // Places name parents that were listed before them; anything else ends the walk.
        core::iter::from_fn(move || {
            let index = at?;
            let place = self.places.get(index)?;
            at = place.parent.filter(|parent| *parent < index);
            Some((index, place))
        })
    }

    /// Returns whether a place is, or lies within, another.
    pub fn is_within(&self, place: Option<usize>, outer: usize) -> bool {
        self.around(place).any(|(index, _)| index == outer)
    }

    /// Returns the form that a control belongs to: the one it names, else the one it is in.
    pub fn form_of(&self, control: &Control) -> Option<usize> {
        let is_form = |(index, place): (usize, &EnclosingElement)| place.is_form().then_some(index);
        control.form.or_else(|| self.around(control.place).find_map(is_form))
    }
}

impl Control {
    /// Returns an attribute, or nothing as an empty text.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

impl EnclosingElement {
    /// Returns an attribute, or nothing as an empty text.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// Returns whether it is a form, by its tag or its role.
    pub fn is_form(&self) -> bool {
        self.tag == "form" || self.role == "form" || self.role == "search"
    }
}

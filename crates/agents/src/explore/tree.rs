//! A UI hierarchy as a platform describes it: elements in document order.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// The elements of a screen. The place of an element in the list is its ordinal: the order
/// of the document, from 0, without the root that only holds the others.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tree {
    /// Whose words the elements use.
    pub platform: Platform,
    /// The elements.
    pub elements: Vec<Element>,
}

/// Where a hierarchy comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Platform {
    /// Android, by `UiAutomator`.
    #[default]
    Android,
    /// iOS, by `XCUITest`.
    Ios,
    /// The fake driver of Appium.
    Fake,
    /// A web page.
    Web,
}

impl Platform {
    /// Returns its name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Android => "android",
            Self::Ios => "ios",
            Self::Fake => "fake",
            Self::Web => "web",
        }
    }
}

/// Something on a screen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "the platforms give these as flags")]
pub struct Element {
    /// The ordinal of the element around it.
    pub parent: Option<usize>,
    /// Its place among the children of its parent, as the platform counts.
    pub index: u32,
    /// Its class or type, such as `android.widget.Button`.
    pub class: String,
    /// The identifier that the app gives it; empty if it gives none.
    pub resource: String,
    /// The app that it belongs to; empty where the platform does not say.
    pub package: String,
    /// The text on it, or in it.
    pub text: String,
    /// Its description for people who do not see it, or its label.
    pub description: String,
    /// What an empty text field asks for.
    pub hint: String,
    /// Where it is drawn.
    pub bounds: Option<Bounds>,
    /// Whether a tap on it does something.
    pub clickable: bool,
    /// Whether a long press on it does something.
    pub long_clickable: bool,
    /// Whether its contents can be scrolled.
    pub scrollable: bool,
    /// Whether it can be ticked.
    pub checkable: bool,
    /// Whether it is ticked.
    pub checked: bool,
    /// Whether it is the chosen one among others, such as a tab.
    pub selected: bool,
    /// Whether it takes input at all.
    pub enabled: bool,
    /// Whether text can be typed into it.
    pub editable: bool,
    /// Whether it hides the text typed into it.
    pub password: bool,
    /// Whether it has the keyboard's focus.
    pub focused: bool,
    /// Whether it is shown.
    pub displayed: bool,
}

/// A rectangle in the platform's own units.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(from = "[i32; 4]", into = "[i32; 4]")]
pub struct Bounds {
    /// The left edge.
    pub left: i32,
    /// The upper edge.
    pub top: i32,
    /// The right edge.
    pub right: i32,
    /// The lower edge.
    pub bottom: i32,
}

impl Bounds {
    /// Returns the point in the middle.
    pub const fn middle(self) -> (i32, i32) {
        (self.left.midpoint(self.right), self.top.midpoint(self.bottom))
    }

    /// Returns whether nothing is inside.
    pub const fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }
}

impl From<[i32; 4]> for Bounds {
    fn from([left, top, right, bottom]: [i32; 4]) -> Self {
        Self { left, top, right, bottom }
    }
}

impl From<Bounds> for [i32; 4] {
    fn from(bounds: Bounds) -> Self {
        [bounds.left, bounds.top, bounds.right, bounds.bottom]
    }
}

impl Tree {
    /// Returns an element.
    pub fn get(&self, ordinal: usize) -> Option<&Element> {
        self.elements.get(ordinal)
    }

    /// Returns an element and the elements around it, from the inside out.
    pub fn around(&self, ordinal: usize) -> impl Iterator<Item = (usize, &Element)> {
        let parent = |at: &usize| self.elements.get(*at)?.parent.filter(|parent| parent < at);
        core::iter::successors(Some(ordinal), parent)
            .filter_map(|at| Some((at, self.elements.get(at)?)))
    }
}

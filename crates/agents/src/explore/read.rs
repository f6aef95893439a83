//! Reads a hierarchy: what can be acted upon, and what the screen is known by.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use pointsman_kernel::id::Digest;

use super::{
    actions::DeviceAction,
    field, foreground,
    screen::{Screen, ScreenId, Widget},
    shape,
    tree::{Element, Tree},
};

/// Widgets of a screen that are kept.
const MAX_WIDGETS: usize = 300;
/// Rows of one list that are kept.
const MAX_ROWS: u32 = 12;
/// Characters of a label that are kept.
const MAX_LABEL: usize = 60;
/// Characters of a text that are part of a key.
const MAX_WORDS: usize = 24;
/// Elements between one without a name and the one it is placed by.
const MAX_PLACE: usize = 12;

/// Ends of the classes whose children are rows.
const LISTS: &[&str] = &[
    "ListView",
    "RecyclerView",
    "GridView",
    "XCUIElementTypeTable",
    "XCUIElementTypeCollectionView",
];
/// Names of elements of a page whose children are rows.
const WEB_LISTS: &[&str] = &["ul", "ol", "tbody", "listbox", "list"];

/// Words in the names of elements that come and go on one screen.
const FLEETING: &[&str] = &["error", "snackbar", "toast", "badge", "tooltip"];

impl Screen {
    /// Reduces a hierarchy to what the agent keeps of it.
    pub fn read(tree: &Tree, package: &str, activity: &str) -> Self {
        let reading = ElementReading::new(tree);
        let mut rows: BTreeMap<String, u32> = BTreeMap::new();
        let mut widgets: Vec<Widget> = Vec::new();
        for (ordinal, element) in tree.elements.iter().enumerate() {
            let Some(mut widget) = reading.widget(ordinal, element) else { continue };
            let row = rows.entry(widget.key.clone()).or_default();
            *row = row.saturating_add(1);
            widget.row = *row;
            if *row <= MAX_ROWS && widgets.len() < MAX_WIDGETS {
                widgets.push(widget);
            }
        }
        let (coarse, fine) = reading.identity(package, activity, &widgets);
        Self {
            package: package.into(),
            activity: activity.chars().take(200).collect(),
            coarse,
            fine,
            shape: shape::of(tree, &reading.hidden),
            title: reading.title(),
            nodes: u32::try_from(tree.elements.len()).unwrap_or(u32::MAX),
            dialog: foreground::dialog(tree, package),
            widgets,
            ..Self::default()
        }
    }
}

/// An element with what its surroundings imply.
struct ElementReading<'a> {
    tree: &'a Tree,
    /// Not drawn, or part of a bar of the system or of a keyboard.
    hidden: Vec<bool>,
    listed: Vec<bool>,
    /// Something around it takes taps.
    covered: Vec<bool>,
    parent: Vec<bool>,
}

impl<'a> ElementReading<'a> {
    fn new(tree: &'a Tree) -> Self {
        let count = tree.elements.len();
        let mut it = Self {
            tree,
            hidden: vec![false; count],
            listed: vec![false; count],
            covered: vec![false; count],
            parent: vec![false; count],
        };
        for (at, element) in tree.elements.iter().enumerate() {
            let above = element.parent.filter(|above| *above < at);
            let of =
                |flags: &[bool]| above.and_then(|above| flags.get(above)).is_some_and(|it| *it);
            let around = above.and_then(|above| tree.get(above));
            let hidden = of(&it.hidden) || !element.displayed || foreground::is_system_bar(element);
            let listed = of(&it.listed) || around.is_some_and(is_list);
            let covered = of(&it.covered) || around.is_some_and(|it| it.clickable);
            for (flags, flag) in
                [(&mut it.hidden, hidden), (&mut it.listed, listed), (&mut it.covered, covered)]
            {
                if let Some(slot) = flags.get_mut(at) {
                    *slot = flag;
                }
            }
            if let Some(slot) = above.and_then(|above| it.parent.get_mut(above)) {
                *slot |= !hidden;
            }
        }
        it
    }

    fn has(flags: &[bool], at: usize) -> bool {
        flags.get(at).is_some_and(|flag| *flag)
    }

    fn widget(&self, at: usize, element: &Element) -> Option<Widget> {
        let empty = element.bounds.is_some_and(super::tree::Bounds::is_empty);
        if Self::has(&self.hidden, at) || !element.enabled || empty {
            return None;
        }
        let mut acts = Vec::new();
        let leaf = !Self::has(&self.parent, at);
        let mut weak = false;
        if element.editable {
            acts.push(DeviceAction::Text);
        }
        if element.clickable || element.checkable {
            acts.push(DeviceAction::Tap);
        } else if leaf && !element.editable && !Self::has(&self.covered, at) {
            weak = true;
            acts.push(DeviceAction::Tap);
        }
        if element.long_clickable {
            acts.push(DeviceAction::LongPress);
        }
        if element.scrollable {
            acts.push(DeviceAction::Swipe);
        }
        if acts.is_empty() {
            return None;
        }
        let label = self.label(at, element);
        Some(Widget {
            ordinal: u32::try_from(at).ok()?,
            key: self.key(at, element),
            row: 1,
            class: short(&element.class).into(),
            label: label.chars().take(MAX_LABEL).collect(),
            bounds: element.bounds,
            acts,
            field: element.editable.then(|| field::kind(element, &label)),
            weak,
            listed: Self::has(&self.listed, at),
            holds: if element.editable && !element.text.is_empty() && element.text != element.hint {
                digest(&element.text).chars().take(8).collect()
            } else {
                String::new()
            },
        })
    }

    /// Returns what a person reads on an element: its own words, or the first inside it.
    fn label(&self, at: usize, element: &Element) -> String {
        let own = |it: &Element| {
            let words = [&it.text, &it.description, &it.hint];
            words.into_iter().find(|words| !words.is_empty()).cloned()
        };
        if let Some(words) = own(element) {
            return words;
        }
        let after = self.tree.elements.iter().enumerate().skip(at.saturating_add(1));
        let mut inside = after.take_while(|(below, _)| {
            self.tree.around(*below).skip(1).any(|(around, _)| around == at)
        });
        inside.find_map(|(_, it)| own(it)).unwrap_or_default()
    }

    /// Returns what an element is known by: class and identifier, else its words, else its place.
    fn key(&self, at: usize, element: &Element) -> String {
        let class = short(&element.class);
        let listed = Self::has(&self.listed, at);
        if !element.resource.is_empty() {
            return format!("{class}#{}", name(&element.resource));
        }
        let own = if element.text.is_empty() { &element.description } else { &element.text };
        let words = plain(own);
        if !words.is_empty() && !listed && !element.editable {
            return format!("{class} {words}");
        }
        let mut place = Vec::new();
        for (around, it) in self.tree.around(at).take(MAX_PLACE) {
            if is_list(it) && around != at {
                place.push(format!("*{}", name(&it.resource)));
                break;
            }
            if !it.resource.is_empty() {
                place.push(format!("#{}", name(&it.resource)));
                break;
            }
            let index =
                if Self::has(&self.listed, around) { String::new() } else { it.index.to_string() };
            place.push(format!("{}{index}", short(&it.class)));
        }
        let place = place.join("/");
        if place.len() > 60 {
            format!("{class}@{}", digest(&place))
        } else {
            format!("{class}@{place}")
        }
    }

    fn identity(&self, package: &str, activity: &str, widgets: &[Widget]) -> (ScreenId, ScreenId) {
        let strong = widgets.iter().filter(|it| !it.weak);
        let mut marks: BTreeSet<String> = strong
            .map(|it| {
                let acts: Vec<&str> = it.acts.iter().map(|act| act.name()).collect();
                format!("{}:{}", it.key, acts.join("+"))
            })
            .collect();
        for (_, element) in self.shown().filter(|(at, _)| !Self::has(&self.listed, *at)) {
            let name = name(&element.resource);
            if name.is_empty() || is_fleeting(name) {
                continue;
            }
            marks.insert(format!("{}#{name}", short(&element.class)));
            if name == "alertTitle" {
                marks.insert(format!("title {}", steady(&element.text)));
            }
        }
        let mut text = format!("{package}\n{activity}");
        for mark in &marks {
            text.push('\n');
            text.push_str(mark);
        }
        let coarse = digest(&text);
        for (_, element) in self.shown() {
            let words = match (element.editable, element.text.is_empty()) {
                (true, true) => "empty".into(),
                (true, false) => "filled".into(),
                (false, _) => plain(&element.text),
            };
            let (checked, selected, enabled) = (element.checked, element.selected, element.enabled);
            let marks = format!("\n{} {words} {checked} {selected} {enabled}", element.class);
            text.push_str(&marks);
        }
        (ScreenId(coarse), ScreenId(digest(&text)))
    }

    /// Returns the elements that are drawn, with their ordinals.
    fn shown(&self) -> impl Iterator<Item = (usize, &Element)> {
        let all = self.tree.elements.iter().enumerate();
        all.filter(|(at, _)| !Self::has(&self.hidden, *at))
    }

    /// Returns the text at the top of the screen: its title, else its first text.
    fn title(&self) -> String {
        let texts = || {
            self.shown().filter(|(at, element)| {
                !element.text.is_empty() && !element.editable && !Self::has(&self.listed, *at)
            })
        };
        let titled = |element: &Element| name(&element.resource).to_lowercase().contains("title");
        let title = texts().find(|(_, element)| titled(element)).or_else(|| texts().next());
        let title = title.map(|(_, element)| steady(&element.text)).unwrap_or_default();
        title.chars().take(MAX_LABEL).collect()
    }
}

pub(super) fn is_list(element: &Element) -> bool {
    let class = element.class.as_str();
    LISTS.iter().any(|end| class.ends_with(end)) || WEB_LISTS.contains(&class)
}

/// Returns whether elements with this name come and go on one screen.
pub(super) fn is_fleeting(name: &str) -> bool {
    let name = name.to_lowercase();
    FLEETING.iter().any(|word| name.contains(word))
}

pub(super) fn digest(text: &str) -> String {
    // Sixteen digits are plenty for the few hundred screens of a run.
    Digest::of(text.as_bytes()).to_string().chars().take(16).collect()
}

/// Returns a class without its package.
pub(super) fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Returns an identifier without its package.
pub(super) fn name(resource: &str) -> &str {
    resource.rsplit('/').next().unwrap_or(resource)
}

/// Returns the words of a text without what changes by itself: digits and blanks.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|it| !it.is_numeric() && !it.is_whitespace());
    kept.take(MAX_WORDS).collect()
}

/// Returns the words of a title without numbers, times and counts that stand alone.
fn steady(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic));
    words.collect::<Vec<&str>>().join(" ")
}

//! Which screens of a recording count as the same, and which actions do the same there.
//!
//! Only a recording uses this, to answer actions that were recorded on a screen of the same
//! structure. The agent's own notion of a screen is another one.

use std::collections::BTreeSet;

use pointsman_agents::explore::{Element, Tree};
use pointsman_kernel::id::Digest;

use super::graph::RecordedAction;

const LISTS: [&str; 5] =
    ["ListView", "RecyclerView", "GridView", "AbsListView", "ExpandableListView"];
/// Characters of a text that name an action.
const TEXT: usize = 24;
/// Elements around one without an identifier that name its place.
const PLACE: usize = 12;

/// Returns what a screen is known by: the tree of classes and identifiers, equal neighbours
/// merged. Below a list or a web view only the set of them counts.
pub(super) fn of(tree: &Tree) -> String {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.elements.len()];
    let mut text = String::new();
    let mut roots = Vec::new();
    for (ordinal, element) in tree.elements.iter().enumerate() {
        match element.parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(ordinal),
            None => roots.push(ordinal),
        }
    }
    let shape = Shape { tree, children };
    for root in roots {
        if shape.element(root).package != "com.android.systemui" {
            text.push_str(&shape.sign(root));
        }
    }
    Digest::of(text.as_bytes()).to_string()
}

struct Shape<'a> {
    tree: &'a Tree,
    children: Vec<Vec<usize>>,
}

impl Shape<'_> {
    fn element(&self, ordinal: usize) -> &Element {
        &self.tree.elements[ordinal]
    }

    /// Returns the digest of an element and its content.
    fn sign(&self, ordinal: usize) -> String {
        let element = self.element(ordinal);
        let mut text = format!("{:?} {:?}", element.class, element.resource);
        if is_list(&element.class) || element.class.ends_with("WebView") {
            let mut inside = BTreeSet::new();
            self.flat(ordinal, &mut inside);
            text.extend(inside.iter().map(|it| format!("{it:?}")));
        } else {
            let mut last = String::new();
            for child in &self.children[ordinal] {
                let sign = self.element(*child).displayed.then(|| self.sign(*child));
                if let Some(sign) = sign.filter(|sign| *sign != last) {
                    text.push_str(&sign);
                    last = sign;
                }
            }
        }
        Digest::of(text.as_bytes()).to_string()
    }

    fn flat<'a>(&'a self, ordinal: usize, into: &mut BTreeSet<(&'a str, &'a str)>) {
        let web = self.element(ordinal).class.ends_with("WebView");
        for child in &self.children[ordinal] {
            let element = self.element(*child);
            into.insert((&element.class, if web { "" } else { &element.resource }));
            self.flat(*child, into);
        }
    }
}

fn is_list(class: &str) -> bool {
    LISTS.iter().any(|list| class.ends_with(list))
}

/// Returns the name of an action, independent of the screen: class, identifier, short text without
/// digits, and the position if nothing else names the element. Rows of a list share a name.
pub(super) fn name(tree: &Tree, action: &RecordedAction) -> String {
    let head = action.to_string();
    let Some((node, element)) = action.node.and_then(|node| Some((node, tree.get(node)?))) else {
        return match &action.name {
            Some(name) => format!("{head} {name}"),
            None => head,
        };
    };
    let in_list = |at: usize| tree.around(at).skip(1).any(|(_, it)| is_list(&it.class));
    let text = if in_list(node) || element.class.ends_with("EditText") {
        String::new()
    } else {
        let said = if element.text.is_empty() { &element.description } else { &element.text };
        said.chars().filter(|c| !is_digit(*c) && !c.is_whitespace()).take(TEXT).collect()
    };
    let mut place = Vec::new();
    if element.resource.is_empty() {
        let mut named = None;
        for (at, element) in tree.around(node) {
            if !element.resource.is_empty() || place.len() >= PLACE {
                named = Some(element.resource.clone());
                break;
            }
            if is_list(&element.class) {
                place.push("*".to_owned());
                named = Some(String::new());
                break;
            }
            let class = element.class.rsplit('.').next().unwrap_or_default();
            let index = if in_list(at) { String::new() } else { element.index.to_string() };
            place.push(format!("{class}{index}"));
        }
        place.extend(named);
    }
    let kind = action.kind.name();
    let direction = action.direction.map_or("", |direction| direction.name());
    let Element { class, resource, .. } = element;
    format!("{kind} {class:?} {resource:?} {text:?} {} {direction}", place.join("/"))
}

/// Returns whether a character is a decimal digit of any script.
fn is_digit(c: char) -> bool {
    /// The zeros; nine digits follow each.
    const ZEROS: [u32; 36] = [
        0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
        0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0,
        0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0,
        0xAA50, 0xABF0, 0xFF10,
    ];
    let code = u32::from(c);
    c.is_ascii_digit()
        || ZEROS.iter().any(|zero| code.checked_sub(*zero).is_some_and(|digit| digit < 10))
}

//! The shape of a screen: the tree of classes and identifiers, whatever is written there.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use super::{
    read::{digest, is_fleeting, is_list, name, short},
    tree::Tree,
};

/// The digests of everything inside an element.
#[derive(Clone, Default)]
struct Inside {
    /// The children, from the last to the first.
    children: Vec<String>,
    /// All that is inside, at any depth.
    all: BTreeSet<String>,
}

/// Returns a digest of the visible elements. Equal neighbours count once, and in a list or a page
/// only the set counts, so that the number of rows does not matter.
pub(super) fn of(tree: &Tree, hidden: &[bool]) -> String {
    let mut known = vec![Inside::default(); tree.elements.len()];
    let mut roots = String::new();
    // From the last to the first, so that children come before their parents.
    for (at, element) in tree.elements.iter().enumerate().rev() {
        let name = name(&element.resource);
        if hidden.get(at).is_none_or(|hidden| *hidden) || is_fleeting(name) {
            continue;
        }
        let Inside { children, mut all } =
            known.get_mut(at).map(core::mem::take).unwrap_or_default();
        let class = short(&element.class);
        let mark = format!("{class} {name}");
        let flat = is_list(element) || is_page(&element.class);
        let inside: Vec<&str> = if flat {
            all.iter().map(String::as_str).collect()
        } else {
            children.iter().map(String::as_str).collect()
        };
        let sign = digest(&format!("{mark}\n{}", inside.join("\n")));
        let above = element.parent.filter(|above| *above < at);
        let around = above.and_then(|above| Some((tree.get(above)?, known.get_mut(above)?)));
        let Some((parent, around)) = around else {
            roots.push_str(&sign);
            continue;
        };
        all.insert(if is_page(&parent.class) { class.to_string() } else { mark });
        around.all.append(&mut all);
        if around.children.last() != Some(&sign) {
            around.children.push(sign);
        }
    }
    digest(&roots)
}

fn is_page(class: &str) -> bool {
    class.ends_with("WebView")
}

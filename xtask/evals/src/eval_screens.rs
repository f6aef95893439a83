//! `cargo xtask eval screens`: hierarchies of others are read with the counts that their index
//! gives, and what a screen is known by stays when only its contents change.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};
use pointsman_agents::explore::{Element, Platform, Screen, Tree};
use pointsman_webdriver::device::hierarchy;
use serde_json::Value;

/// Reads every dump of an index, and returns whether all is as it should be.
pub(crate) fn screens(data: &Path) -> Result<bool> {
    let index = data.join("index.json");
    let text = fs::read_to_string(&index).with_context(|| format!("{}", index.display()))?;
    let index: Value = serde_json::from_str(&text)?;
    let dumps = index["dumps"].as_array().context("the index has no `dumps`")?;
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut passed = true;
    for dump in dumps {
        let file = dump["file"].as_str().context("a dump has no `file`")?;
        let source = fs::read_to_string(data.join(file)).with_context(|| file.to_owned())?;
        let tree = hierarchy::parse(&source).with_context(|| file.to_owned())?;
        let package = dump["packages"][0].as_str().unwrap_or_default();
        let mut faults = counts(&tree, &dump["expected"]);
        let screen = Screen::read(&tree, package, "");
        faults.extend(unstable(&tree, package, &screen));
        if let Some(other) = known.insert(screen.coarse.as_str().to_owned(), file.to_owned()) {
            faults.push(format!("it is taken for {other}"));
        }
        passed &= faults.is_empty();
        let elements = tree.elements.len();
        let told = if faults.is_empty() { "as expected".to_owned() } else { faults.join("; ") };
        println!("{file}: {elements} elements, {} widgets: {told}", screen.widgets.len());
    }
    println!("{} dumps, {} screens", dumps.len(), known.len());
    Ok(passed)
}

/// Returns which counts differ from those of the index.
fn counts(tree: &Tree, expected: &Value) -> Vec<String> {
    let count = |holds: fn(&Element) -> bool| tree.elements.iter().filter(|it| holds(it)).count();
    let android: [(&str, usize); 5] = [
        ("clickable", count(|it| it.clickable)),
        ("clickable_enabled", count(|it| it.clickable && it.enabled)),
        ("scrollable", count(|it| it.scrollable)),
        ("long_clickable", count(|it| it.long_clickable)),
        ("password", count(|it| it.password)),
    ];
    // The index counts attributes of Android; other platforms say it in other words.
    let flags = android.into_iter().filter(|_| tree.platform == Platform::Android);
    let counts = flags.chain([("nodes", tree.elements.len())]);
    let wrong = counts.filter_map(|(name, found)| {
        let wanted = usize::try_from(expected[name].as_u64()?).ok()?;
        (wanted != found).then(|| format!("{found} {name} where the index has {wanted}"))
    });
    wrong.collect()
}

/// Returns which changes of contents alone make another screen of it.
fn unstable(tree: &Tree, package: &str, screen: &Screen) -> Vec<String> {
    let read = |tree: &Tree| Screen::read(tree, package, "").coarse;
    let mut faults = Vec::new();
    let mut later = tree.clone();
    for element in &mut later.elements {
        element.text =
            element.text.chars().map(|it| if it.is_ascii_digit() { '7' } else { it }).collect();
    }
    if read(&later) != screen.coarse {
        faults.push("other digits make another screen of it".into());
    }
    let mut badged = tree.clone();
    badged.elements.push(Element {
        class: "android.widget.TextView".into(),
        resource: "tab_badge".into(),
        text: "7".into(),
        enabled: true,
        displayed: true,
        ..Element::default()
    });
    if read(&badged) != screen.coarse {
        faults.push("a badge makes another screen of it".into());
    }
    if let Some(longer) = one_row_more(tree)
        && read(&longer) != screen.coarse
    {
        faults.push("a further row makes another screen of it".into());
    }
    let mut more = tree.clone();
    more.elements.push(Element {
        class: "android.widget.Button".into(),
        resource: "a_new_button".into(),
        clickable: true,
        enabled: true,
        displayed: true,
        ..Element::default()
    });
    if read(&more) == screen.coarse {
        faults.push("a new button leaves it the same".into());
    }
    faults
}

/// Returns the tree with the last row of its last list twice.
fn one_row_more(tree: &Tree) -> Option<Tree> {
    let is_list =
        |it: &Element| it.class.ends_with("RecyclerView") || it.class.ends_with("ListView");
    let list = tree.elements.iter().rposition(is_list)?;
    let row = tree.elements.iter().rposition(|it| it.parent == Some(list))?;
    let inside = |at: usize| tree.around(at).any(|(around, _)| around == row);
    let rows: Vec<usize> = (row..tree.elements.len()).filter(|at| inside(*at)).collect();
    let mut longer = tree.clone();
    let start = longer.elements.len();
    for at in &rows {
        let mut element = tree.get(*at)?.clone();
        let parent = element.parent?;
        let moved = rows.iter().position(|old| *old == parent);
        element.parent = Some(moved.map_or(parent, |place| start + place));
        longer.elements.push(element);
    }
    Some(longer)
}

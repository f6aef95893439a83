//! UI hierarchies, read from the XML that Appium and `uiautomator dump` write.

use pointsman_agents::explore::{Bounds, Element, Platform, Tree};
use roxmltree::{Document, Node, ParsingOptions};
use thiserror::Error;

/// Elements of a hierarchy at most.
pub const MAX_ELEMENTS: usize = 50_000;

/// Why a hierarchy cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HierarchyError {
    /// It is not well-formed XML.
    #[error("not well-formed XML: {0}")]
    Xml(#[from] roxmltree::Error),
    /// It is XML of something else.
    #[error(
        "`<{root}>` is not the root of a UI hierarchy: expected `<hierarchy>` (Android), `<AppiumAUT>` (iOS) or an app of Appium's fake driver"
    )]
    Root {
        /// The root that was found.
        root: String,
    },
    /// It has too many elements.
    #[error("more than {MAX_ELEMENTS} elements")]
    TooLarge,
}

/// Reads a hierarchy of Android (`UiAutomator`), iOS (`XCUITest`) or Appium's fake driver.
pub fn parse(text: &str) -> Result<Tree, HierarchyError> {
    let nodes_limit = u32::try_from(MAX_ELEMENTS.saturating_mul(4)).unwrap_or(u32::MAX);
    let options = ParsingOptions { nodes_limit, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Err(roxmltree::Error::NodesLimitReached) => return Err(HierarchyError::TooLarge),
        parsed => parsed?,
    };
    let root = document.root_element();
    let (platform, holder) = match root.tag_name().name() {
        "hierarchy" => (Platform::Android, true),
        "AppiumAUT" => (in_appium(root), true),
        name if name.starts_with("XCUIElementType") => (Platform::Ios, false),
        "app" | "App" | "AppiumFake" => (Platform::Fake, false),
        name => return Err(HierarchyError::Root { root: name.to_owned() }),
    };
    let mut tree = Tree { platform, elements: Vec::new() };
    // In document order; a node comes before the nodes inside it.
    let mut ordinals: Vec<(roxmltree::NodeId, usize)> = Vec::new();
    for node in root.descendants().filter(Node::is_element) {
        if holder && node == root {
            continue;
        }
        if tree.elements.len() >= MAX_ELEMENTS {
            return Err(HierarchyError::TooLarge);
        }
        // The ancestors of a node are at the end of the list, those of earlier nodes are not.
        let above = node.parent().map(|parent| parent.id());
        while ordinals.last().is_some_and(|(id, _)| Some(*id) != above) {
            ordinals.pop();
        }
        let parent = ordinals.last().map(|(_, ordinal)| *ordinal);
        ordinals.push((node.id(), tree.elements.len()));
        tree.elements.push(match platform {
            Platform::Ios => ios(node, parent),
            Platform::Fake => fake(node, parent),
            _ => android(node, parent),
        });
    }
    Ok(tree)
}

/// Appium's fake driver answers with the same root as the one for iOS; the content distinguishes
/// them.
fn in_appium(root: Node<'_, '_>) -> Platform {
    let inner = root.first_element_child().map(|it| it.tag_name().name());
    if inner.is_some_and(|it| it.eq_ignore_ascii_case("app")) {
        Platform::Fake
    } else {
        Platform::Ios
    }
}

fn text(node: Node<'_, '_>, name: &str) -> String {
    node.attribute(name).unwrap_or_default().to_owned()
}

fn flag(node: Node<'_, '_>, name: &str, otherwise: bool) -> bool {
    node.attribute(name).map_or(otherwise, |value| value == "true")
}

fn number(node: Node<'_, '_>, name: &str) -> Option<i32> {
    node.attribute(name)?.parse().ok()
}

fn android(node: Node<'_, '_>, parent: Option<usize>) -> Element {
    let class = node.attribute("class").unwrap_or_else(|| node.tag_name().name()).to_owned();
    Element {
        parent,
        index: node.attribute("index").and_then(|it| it.parse().ok()).unwrap_or_default(),
        resource: text(node, "resource-id"),
        package: text(node, "package"),
        text: text(node, "text"),
        description: text(node, "content-desc"),
        hint: text(node, "hint"),
        bounds: node.attribute("bounds").and_then(corners),
        clickable: flag(node, "clickable", false),
        long_clickable: flag(node, "long-clickable", false),
        scrollable: flag(node, "scrollable", false),
        checkable: flag(node, "checkable", false),
        checked: flag(node, "checked", false),
        selected: flag(node, "selected", false),
        enabled: flag(node, "enabled", true),
        editable: class.ends_with("EditText") || class.ends_with("AutoCompleteTextView"),
        password: flag(node, "password", false),
        focused: flag(node, "focused", false),
        displayed: flag(node, "displayed", true),
        class,
    }
}

/// Reads `[left,top][right,bottom]`.
fn corners(text: &str) -> Option<Bounds> {
    let mut numbers = text.split(['[', ']', ',']).filter(|part| !part.is_empty());
    let mut next = || numbers.next()?.trim().parse().ok();
    Some(Bounds { left: next()?, top: next()?, right: next()?, bottom: next()? })
}

fn sized(node: Node<'_, '_>) -> Option<Bounds> {
    let (left, top) = (number(node, "x").unwrap_or(0), number(node, "y").unwrap_or(0));
    let (width, height) = (number(node, "width")?, number(node, "height")?);
    Some(Bounds {
        left,
        top,
        right: left.saturating_add(width),
        bottom: top.saturating_add(height),
    })
}

/// `XCUITest` gives no flags of what can be done: types say it.
fn ios(node: Node<'_, '_>, parent: Option<usize>) -> Element {
    let class = node.attribute("type").unwrap_or_else(|| node.tag_name().name()).to_owned();
    let kind = class.strip_prefix("XCUIElementType").unwrap_or(&class).to_owned();
    let value = text(node, "value");
    let editable = ["TextField", "SecureTextField", "SearchField", "TextView"].contains(&&*kind);
    let checkable = ["Switch", "Toggle", "CheckBox", "RadioButton"].contains(&&*kind);
    Element {
        parent,
        index: node.attribute("index").and_then(|it| it.parse().ok()).unwrap_or_default(),
        resource: text(node, "name"),
        package: String::new(),
        checked: checkable && value == "1",
        text: value,
        description: text(node, "label"),
        hint: text(node, "placeholderValue"),
        bounds: sized(node),
        clickable: editable
            || checkable
            || [
                "Button",
                "Cell",
                "Link",
                "MenuItem",
                "Tab",
                "Icon",
                "Key",
                "PickerWheel",
                "Slider",
                "Stepper",
                "PopUpButton",
                "DisclosureTriangle",
            ]
            .contains(&&*kind),
        long_clickable: false,
        scrollable: ["Table", "CollectionView", "ScrollView", "WebView", "Picker"]
            .contains(&&*kind),
        checkable,
        selected: flag(node, "selected", false),
        enabled: flag(node, "enabled", true),
        editable,
        password: kind == "SecureTextField",
        focused: flag(node, "focused", false),
        displayed: flag(node, "visible", true),
        class,
    }
}

/// Appium's fake driver shows the XML of its app.
fn fake(node: Node<'_, '_>, parent: Option<usize>) -> Element {
    let class = node.tag_name().name().to_owned();
    let editable = class.contains("Input");
    let inner = node.text().unwrap_or_default().trim();
    Element {
        parent,
        resource: text(node, "id"),
        text: node.attribute("value").unwrap_or(inner).to_owned(),
        description: text(node, "label"),
        bounds: sized(node),
        clickable: editable || class.contains("Button") || class.contains("Link"),
        enabled: flag(node, "enabled", true),
        editable,
        displayed: flag(node, "visible", true),
        class,
        ..Element::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_android_dump_is_read_with_tags_or_nodes() {
        let tagged = r#"<hierarchy rotation="0"><android.widget.LinearLayout bounds="[0,0][100,200]">
            <android.widget.Button text="OK" clickable="true" bounds="[10,20][90,60]"/>
            <android.widget.EditText resource-id="a:id/name" enabled="false"/>
            </android.widget.LinearLayout><android.view.View/></hierarchy>"#;
        let plain = r#"<hierarchy rotation="0"><node class="android.widget.LinearLayout" bounds="[0,0][100,200]">
            <node class="android.widget.Button" text="OK" clickable="true" bounds="[10,20][90,60]"/>
            <node class="android.widget.EditText" resource-id="a:id/name" enabled="false"/>
            </node><node class="android.view.View"/></hierarchy>"#;
        let tree = parse(tagged).expect("hierarchy is well-formed");
        assert_eq!(tree, parse(plain).expect("hierarchy is well-formed"));
        let parents: Vec<Option<usize>> = tree.elements.iter().map(|it| it.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(0), None]);
        let button = &tree.elements[1];
        assert!(button.clickable && button.enabled && button.displayed && !button.editable);
        assert_eq!(button.bounds.map(Bounds::middle), Some((50, 40)));
        assert!(tree.elements[2].editable && !tree.elements[2].enabled);
    }

    #[test]
    fn fake_driver_and_ios_roots_are_distinguished() {
        let live =
            "<?xml version=\"1.0\"?><AppiumAUT><app><MockButton id=\"b\"/></app></AppiumAUT>";
        let tree = parse(live).expect("hierarchy is well-formed");
        assert_eq!((tree.platform, tree.elements.len()), (Platform::Fake, 2));
        assert!(tree.elements[1].clickable);
    }

    #[test]
    fn types_of_ios_say_what_can_be_done() {
        let source = r#"<?xml version="1.0"?><AppiumAUT><XCUIElementTypeApplication name="App">
            <XCUIElementTypeButton name="go" label="Go" x="1" y="2" width="10" height="20"/>
            <XCUIElementTypeSwitch value="1" visible="false"/>
            <XCUIElementTypeSecureTextField/></XCUIElementTypeApplication></AppiumAUT>"#;
        let tree = parse(source).expect("hierarchy is well-formed");
        assert_eq!((tree.platform, tree.elements.len()), (Platform::Ios, 4));
        let [app, button, switch, secret] = &tree.elements[..] else { panic!("four elements") };
        assert!(!app.clickable && button.clickable);
        assert_eq!(button.bounds, Some(Bounds { left: 1, top: 2, right: 11, bottom: 22 }));
        assert!(switch.checkable && switch.checked && !switch.displayed);
        assert!(secret.password && secret.editable);
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let said = |text: &str| parse(text).expect_err("it is refused").to_string();
        assert!(said("<html><body/></html>").starts_with("`<html>` is not the root"));
        assert!(said("not xml").starts_with("not well-formed XML"));
        assert!(said("<hierarchy><a></hierarchy>").starts_with("not well-formed XML"));
        let many = format!("<hierarchy>{}</hierarchy>", "<a/>".repeat(MAX_ELEMENTS + 1));
        assert_eq!(said(&many), "more than 50000 elements");
    }
}

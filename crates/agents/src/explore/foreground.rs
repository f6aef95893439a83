//! What is in front: the app, a question of the system, or the news of a crash.

use super::{
    screen::Dialog,
    tree::{Element, Tree},
};

/// Packages that ask on behalf of the system.
const ASKERS: &[&str] = &["permissioncontroller", "packageinstaller", "com.lbe.security.miui"];
/// Identifiers of the buttons of a dialog about an app that crashed or does not respond.
const CRASH: &[&str] = &["aerr_app_info", "aerr_close", "aerr_restart", "aerr_report", "aerr_mute"];
const WAITS: &str = "aerr_wait";
/// Packages of keyboards contain one of these.
const KEYBOARDS: &[&str] = &["inputmethod", ".keyboard", ".ime.", "swiftkey"];

/// Returns what the system shows instead of an app.
pub(super) fn dialog(tree: &Tree, package: &str) -> Option<Dialog> {
    let system = package == "android" || package == "com.android.systemui";
    let says = |names: &[&str]| {
        let name = |it: &Element| names.iter().any(|name| it.resource.ends_with(name));
        tree.elements.iter().any(name)
    };
    if package == "android" && says(&[WAITS]) {
        return Some(Dialog::NotResponding);
    }
    if package == "android" && says(CRASH) {
        return Some(Dialog::Crash);
    }
    let asks = system || ASKERS.iter().any(|asker| package.contains(asker));
    let springboard = package == "com.apple.springboard"
        && tree.elements.iter().any(|it| it.class == "XCUIElementTypeAlert");
    (asks || springboard).then_some(Dialog::System)
}

/// Returns whether an element belongs to a bar of the system or to a keyboard.
pub(super) fn is_system_bar(element: &Element) -> bool {
    let package = element.package.as_str();
    let bar = ["statusBarBackground", "navigationBarBackground"];
    package == "com.android.systemui"
        || KEYBOARDS.iter().any(|keyboard| package.contains(keyboard))
        || matches!(element.class.as_str(), "XCUIElementTypeStatusBar" | "XCUIElementTypeKeyboard")
        || bar.iter().any(|name| element.resource.ends_with(name))
}

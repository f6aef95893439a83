//! The app in front, a dialog of the system, or the report of a crash.

use super::{
    screen::SystemDialog,
    tree::{Element, Tree},
};

/// Packages that ask on behalf of the system.
const ASKERS: &[&str] = &["permissioncontroller", "packageinstaller", "com.lbe.security.miui"];
/// Identifiers of the buttons of a dialog about an app that crashed or does not respond.
const CRASH: &[&str] = &["aerr_app_info", "aerr_close", "aerr_restart", "aerr_report", "aerr_mute"];
const WAITS: &str = "aerr_wait";
/// Identifiers of the parts of a dialog that say what happened, where its buttons have no
/// names of their own: up to Android 6.
const SAYING: &[&str] = &["alertTitle", "message"];
/// The texts for a crashed app, in the system's translations and in lower case. Those of English,
/// Chinese, French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian and Spanish are
/// Android 4.4's `aerr_application` and `aerr_process`.
const STOPPED: &[&str] = &[
    "has stopped",
    "keeps stopping",
    "wurde beendet",
    "wird wiederholt beendet",
    "wurde angehalten",
    "s\u{2019}est arrêté",
    "s'est arrêté",
    "s\u{2019}arrête",
    "s'arrête",
    "s'est interrompu",
    "se ha detenido",
    "se detuvo",
    "si è arrestata",
    "si è interrott",
    "si è bloccat",
    "si arresta",
    "parou",
    "apresenta falhas",
    "is gestopt",
    "stopt steeds",
    "przestała działać",
    "zatrzyman",
    "har stoppats",
    "har stoppet",
    "er stoppet",
    "durdu",
    "перестало работать",
    "остановлено",
    "произошел сбой",
    "произошла ошибка",
    "зупинено",
    "已停止运行",
    "已停止運作",
    "屡次停止运行",
    "停止しました",
    "停止しています",
    "問題が発生したため",
    "중지되었습니다",
    "중지됨",
    "توقف",
    "ने काम करना बंद कर दिया",
];
/// What they say about an app that does not respond: `anr_activity_application` and the like.
const SILENT: &[&str] = &[
    "isn't responding",
    "isn\u{2019}t responding",
    "is not responding",
    "reagiert nicht",
    "ne répond pas",
    "no responde",
    "non risponde",
    "não está respondendo",
    "não está a responder",
    "não responde",
    "reageert niet",
    "nie odpowiada",
    "nie reaguje",
    "svarar inte",
    "svarer ikke",
    "reagerer ikke",
    "yanıt vermiyor",
    "не отвечает",
    "не відповідає",
    "无响应",
    "没有响应",
    "沒有回應",
    "応答していません",
    "응답하지 않",
    "لا يستجيب",
    "प्रतिसाद नहीं",
    "जवाब नहीं",
];
/// Packages of keyboards contain one of these.
const KEYBOARDS: &[&str] = &["inputmethod", ".keyboard", ".ime.", "swiftkey"];

/// Returns what the system shows instead of an app.
pub(super) fn dialog(tree: &Tree, package: &str) -> Option<SystemDialog> {
    let system = package == "android" || package == "com.android.systemui";
    let says = |names: &[&str]| {
        let name = |it: &Element| names.iter().any(|name| it.resource.ends_with(name));
        tree.elements.iter().any(name)
    };
    if package == "android" && says(&[WAITS]) {
        return Some(SystemDialog::NotResponding);
    }
    if package == "android" && says(CRASH) {
        return Some(SystemDialog::Crash);
    }
    let told = |words: &[&str]| {
        let part = |it: &&Element| SAYING.iter().any(|name| it.resource.ends_with(name));
        let mut texts = tree.elements.iter().filter(part).map(|it| it.text.to_lowercase());
        texts.any(|text| words.iter().any(|word| text.contains(word)))
    };
    // An app that hangs is asked about before it is stopped, and both words may be there.
    if package == "android" && told(SILENT) {
        return Some(SystemDialog::NotResponding);
    }
    if package == "android" && told(STOPPED) {
        return Some(SystemDialog::Crash);
    }
    let asks = system || ASKERS.iter().any(|asker| package.contains(asker));
    let springboard = package == "com.apple.springboard"
        && tree.elements.iter().any(|it| it.class == "XCUIElementTypeAlert");
    (asks || springboard).then_some(SystemDialog::System)
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

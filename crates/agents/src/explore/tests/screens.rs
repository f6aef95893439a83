//! What is read from hierarchies: identity, keys, candidates, fields.

use alloc::{format, string::String, vec, vec::Vec};

use super::{button, read, screen};
use crate::explore::{
    Bounds, DeviceAction, Element, Foreground, Screen, ScreenChange, SystemDialog, TextFieldKind,
    Tree, field, offers, sample, variant::Variants,
};

fn shown(class: &str, resource: &str, text: &str) -> Element {
    Element { class: class.into(), resource: resource.into(), clickable: false, ..button(text) }
}

/// A list with this many rows, each with a button inside.
fn list(rows: usize) -> Vec<Element> {
    let mut elements =
        vec![Element { scrollable: true, ..shown("androidx.RecyclerView", "list", "") }];
    for row in 0..rows {
        let at = elements.len();
        let inside = |parent, class: &str, name: &str, text: String| Element {
            parent: Some(parent),
            ..shown(class, name, &text)
        };
        let taps = Element { clickable: true, ..inside(0, "ViewGroup", "row", String::new()) };
        elements.push(taps);
        elements.push(inside(at, "TextView", "row_title", format!("Row {row}")));
        if row % 2 == 0 {
            elements.push(inside(at, "TextView", "row_badge", format!("{row}")));
        }
    }
    elements
}

#[test]
fn clocks_badges_and_more_rows_are_the_same_screen() {
    let page = |clock: &str, rows: usize, badge: bool| {
        let mut elements = list(rows);
        elements.push(shown("TextView", "clock", clock));
        if badge {
            elements.push(shown("TextView", "tab_badge", "7"));
        }
        read("home", elements)
    };
    let one = page("12:34", 3, false);
    for other in [page("12:35", 3, false), page("12:34", 9, false), page("12:34", 3, true)] {
        assert_eq!(one.coarse, other.coarse);
    }
    assert_eq!(one.fine, page("12:35", 3, false).fine);
    assert_eq!(one.change(&page("12:35", 3, false)), ScreenChange::None);
}

#[test]
fn other_screens_differ() {
    let one = screen("home", &["Settings"]);
    assert_ne!(one.coarse, screen("home", &["Settings", "More"]).coarse);
    assert_ne!(one.coarse, screen("other", &["Settings"]).coarse);
    let dialog =
        |title: &str| read("home", vec![shown("TextView", "android:id/alertTitle", title)]);
    assert_ne!(dialog("Delete?").coarse, dialog("Log out?").coarse);
    assert_eq!(dialog("3 files").coarse, dialog("4 files").coarse);
}

#[test]
fn a_change_is_none_minor_moderate_or_major() {
    let ticked = |checked: bool| read("home", vec![Element { checked, ..button("Sound") }]);
    let one = ticked(false);
    assert_eq!(one.change(&ticked(false)), ScreenChange::None);
    assert_eq!(one.change(&ticked(true)), ScreenChange::Minor);
    assert_eq!(one.change(&screen("home", &["Sound", "More"])), ScreenChange::Moderate);
    assert_eq!(one.change(&screen("other", &["Sound"])), ScreenChange::Major);
    // Pictures decide only where neither screen has elements.
    let blank = |hash: u64| Screen { hash: Some(hash), ..Screen::default() };
    assert_eq!(blank(0).change(&blank(0b11)), ScreenChange::None);
    assert_eq!(blank(0).change(&blank(u64::MAX)), ScreenChange::Moderate);
    let drawn = |hash: u64| Screen { hash: Some(hash), ..ticked(false) };
    assert_eq!(drawn(0).change(&drawn(u64::MAX)), ScreenChange::None);
}

#[test]
fn bars_keyboards_and_hidden_elements_are_not_offered() {
    let of = |package: &str| Element { package: package.into(), ..button("Key") };
    let elements = vec![
        of("com.android.systemui"),
        of("com.google.android.inputmethod.latin"),
        Element { displayed: false, ..button("Unseen") },
        Element { enabled: false, ..button("Off") },
        Element { bounds: Some(Bounds::default()), ..button("Empty") },
        Element { resource: "android:id/navigationBarBackground".into(), ..button("Bar") },
        button("Seen"),
    ];
    let offers = offers(&read("home", elements));
    let labels: Vec<&str> = offers.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["Seen", ""], "and back");
    assert_eq!(offers[1].act, DeviceAction::Back);
}

#[test]
fn every_act_of_an_element_is_a_candidate() {
    let all = Element { editable: true, long_clickable: true, scrollable: true, ..button("Note") };
    let acts: Vec<String> = offers(&read("home", vec![all]))
        .iter()
        .map(|it| format!("{}{}", it.act.name(), it.direction.map_or("", |way| way.name())))
        .collect();
    assert_eq!(
        acts,
        ["text", "tap", "long_press", "swipeup", "swipedown", "swipeleft", "swiperight", "back",]
    );
}

#[test]
fn plain_leaves_come_last_and_button_content_is_skipped() {
    let inside = Element { parent: Some(0), ..shown("TextView", "", "inside") };
    let elements = vec![button("Row"), inside, shown("TextView", "", "alone")];
    let read = read("home", elements);
    let weak: Vec<(&str, bool)> =
        read.widgets.iter().map(|it| (it.label.as_str(), it.weak)).collect();
    assert_eq!(weak, [("Row", false), ("alone", true)]);
}

#[test]
fn keys_are_stable_and_rows_share_theirs() {
    let rows = read("home", list(4));
    let taps: Vec<&str> = rows.widgets.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(
        taps,
        ["RecyclerView#list", "ViewGroup#row", "ViewGroup#row", "ViewGroup#row", "ViewGroup#row"]
    );
    assert_eq!(rows.widgets[2].row, 2);
    assert!(read("home", list(40)).widgets.len() <= 13, "later rows are not kept");
    let unnamed = |text: &str| Element { resource: String::new(), ..button(text) };
    let read = read("home", vec![unnamed("Inbox 3"), unnamed("")]);
    assert_eq!(read.widgets[0].key, "Button Inbox");
    assert_eq!(read.widgets[1].key, "Button@Button0");
}

#[test]
fn a_screen_without_anything_to_press_can_be_waited_on() {
    let offers = offers(&read("splash", vec![shown("ImageView", "logo", "")]));
    assert_eq!(offers.last().map(|it| it.act), Some(DeviceAction::Wait));
}

#[test]
fn the_foreground_is_the_app_a_dialog_a_crash_or_elsewhere() {
    let front = |package: &str, resource: &str| {
        let element = Element { resource: resource.into(), ..button("OK") };
        let tree = Tree { elements: vec![element], ..Tree::default() };
        Screen::read(&tree, package, "").front("app")
    };
    assert_eq!(front("app", "ok"), Foreground::App);
    for asker in
        ["com.google.android.permissioncontroller", "com.android.packageinstaller", "android"]
    {
        assert_eq!(front(asker, "ok"), Foreground::SystemDialog, "{asker}");
    }
    assert_eq!(front("android", "android:id/aerr_close"), Foreground::CrashDialog);
    assert_eq!(front("android", "android:id/aerr_wait"), Foreground::CrashDialog);
    assert_eq!(front("launcher", "ok"), Foreground::Elsewhere);
}

#[test]
fn the_old_words_of_the_system_about_a_crash_are_known() {
    let told = |package: &str, resource: &str, text: &str, buttons: &[&str]| {
        let says = shown("TextView", resource, text);
        let button =
            |name: &&str| Element { resource: format!("android:id/{name}"), ..button("x") };
        let elements = [says].into_iter().chain(buttons.iter().map(button)).collect();
        let tree = Tree { elements, ..Tree::default() };
        Screen::read(&tree, package, "").dialog
    };
    let (message, title) = ("android:id/message", "android:id/alertTitle");
    for text in [
        "Unfortunately, Points has stopped.",
        "\"Points\" wurde beendet.",
        "很抱歉，“Points”已停止运行。",
        "L'application \"Points\" s'est arrêtée.",
        "Se ha detenido la aplicación Points.",
        "L'applicazione Points si è bloccata in modo anomalo.",
        "O Points parou.",
        "В приложении \"Points\" произошла ошибка.",
        "問題が発生したため、Pointsを終了します。",
        "Points(이)가 중지되었습니다.",
        "Niestety, aplikacja Points została zatrzymana.",
    ] {
        assert_eq!(
            told("android", message, text, &["button1"]),
            Some(SystemDialog::Crash),
            "{text}"
        );
    }
    for text in [
        "Points isn't responding. Do you want to close it?",
        "Points is not responding.\n\nWould you like to close it?",
        "Points reagiert nicht.\n\nMöchten Sie die App schließen?",
        "L'application Points ne répond pas.\n\nVoulez-vous quitter ?",
        "La aplicación Points no responde.\n\n¿Quieres cerrarla?",
        "Points non risponde.\n\nVuoi chiuderla?",
        "Points não está respondendo.\n\nDeseja fechá-la?",
        "Приложение \"Points\" не отвечает.\n\nЗакрыть его?",
        "Pointsは応答していません。\n\nこのアプリを終了しますか？",
        "Points이(가) 응답하지 않습니다.\n\n닫으시겠습니까?",
        "Aplikacja Points nie reaguje.\n\nCzy chcesz ją zamknąć?",
        "Points 无响应。\n\n要将其关闭吗？",
    ] {
        let dialog = told("android", title, text, &["button1", "button2"]);
        assert_eq!(dialog, Some(SystemDialog::NotResponding), "{text}");
    }
    // Another question of the system, and an app that only says so itself.
    let other = told("android", message, "Use USB for charging?", &["button1"]);
    assert_eq!(other, Some(SystemDialog::System));
    assert_eq!(told("app", message, "The timer has stopped", &["button1"]), None);
}

#[test]
fn a_field_gets_a_text_of_its_kind() {
    let kind = |resource: &str, hint: &str, password: bool| {
        let element = Element {
            resource: resource.into(),
            hint: hint.into(),
            password,
            ..Element::default()
        };
        field::kind(&element, "")
    };
    assert_eq!(kind("x", "", true), TextFieldKind::Password);
    assert_eq!(kind("login_email", "", false), TextFieldKind::Email);
    assert_eq!(kind("", "Phone number", false), TextFieldKind::Phone);
    assert_eq!(kind("amount", "", false), TextFieldKind::Number);
    assert_eq!(kind("search_src_text", "", false), TextFieldKind::Search);
    assert_eq!(kind("shopping", "", false), TextFieldKind::Text, "a pin is no part of shopping");
    assert!(sample(TextFieldKind::Email).contains('@'));
    assert!(sample(TextFieldKind::Number).parse::<u32>().is_ok());
}

#[test]
fn filled_fields_and_titles_make_variants() {
    let mut variants = Variants::default();
    let form = |text: &str| {
        let field = Element { editable: true, text: text.into(), ..shown("EditText", "name", "") };
        read("form", vec![field, button("Send")])
    };
    let bare = variants.id(&form("Your name"));
    assert_eq!(bare, variants.id(&form("Your name")), "a hint is not a text");
    let filled = variants.id(&form("Ada"));
    assert_ne!(bare, filled);
    assert_eq!(form("Your name").coarse, form("Ada").coarse, "variants count as one screen");
    // The same actions in another shape are another variant, however many rows a list has.
    let framed = |class: &str, rows: usize| {
        let mut elements = list(rows);
        elements.extend([shown(class, "", ""), shown("TextView", "tab_badge", "7")]);
        read("framed", elements)
    };
    let plain = framed("ViewGroup", 4);
    assert_eq!(variants.id(&plain), plain.coarse);
    assert_eq!(variants.id(&framed("ViewGroup", 7)), plain.coarse);
    let other = framed("ImageView", 4);
    assert_eq!(other.coarse, plain.coarse);
    assert_eq!(variants.id(&other).as_str(), format!("{}/1", plain.coarse.as_str()));
    // One structure is several screens once an action led to several others.
    let page = |title: &str| read("detail", vec![shown("TextView", "title", title), button("Go")]);
    let one = variants.id(&page("One"));
    assert_eq!(one, variants.id(&page("Two")));
    assert!(variants.split(&page("One").coarse));
    assert!(!variants.split(&page("One").coarse), "once is enough");
    assert_eq!(one, variants.id(&page("One")));
    assert_eq!(variants.id(&page("Two")).as_str(), format!("{}/1", one.as_str()));
    assert!(!variants.split(&form("").coarse), "nothing tells them apart");
}

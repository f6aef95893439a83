//! Every kind of field, in common frameworks and disguises: the sent values are those of the
//! profile.

use insta::assert_snapshot;
use serde_json::json;

use super::rig::{ADA, Rig};

const SEND: &[&str] = &["--submit", "yes"];

/// Text is typed and never set by a script: a person could have caused each change. The list of a
/// `select` is the browser's own, and no driver opens it. A script sends the key events; the
/// browser's own keys would go to the focused element.
fn only_by_hand(rig: &Rig) {
    assert!(!rig.notes("input").is_empty(), "the page tells what happens to it");
    for kind in ["input", "change", "click"] {
        for note in rig.notes(kind) {
            assert!(note["trusted"] == true || note["tag"] == "select", "{note}");
        }
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn react_form_receives_every_value() {
    let answers = r#"
address-level2 = "Oslo"
[answers]
"Member code" = "ab12"
"Shirt size" = "Medium"
"What do you eat?" = "Vegan"
"About you" = "I like trains, and boats more."
"Weekly letter" = "yes"
"#;
    let rig = Rig::new("react", &format!("{ADA}{answers}"));
    assert_snapshot!(rig.shown("react", SEND));
    let about = "I like trains, and boats more.";
    let wanted = json!({
        "given": "Ada", "email": "ada@example.org", "code": "AB12", "town": "Oslo",
        "size": "M", "diet": "vegan", "about": about, "news": true,
    });
    assert_eq!(rig.sent(), wanted);
    only_by_hand(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn vue_form_receives_every_value() {
    let answers = r#"
[answers]
"How many people come?" = "4"
"Boat" = "Ketch"
"Mooring" = "South quay"
"Wishes" = "A chart of the fjord"
"Life jackets" = "yes"
"#;
    let rig = Rig::new("vue", &format!("{ADA}{answers}"));
    assert_snapshot!(rig.shown("vue", SEND));
    let wanted = json!({
        "skipper": "Ada Lovelace", "email": "ada@example.org", "people": 4, "boat": "ketch",
        "mooring": "South quay", "wishes": "A chart of the fjord", "jackets": true,
    });
    assert_eq!(rig.sent(), wanted);
    only_by_hand(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn masked_fields_keep_their_value() {
    let profile = r#"
tel = "+1 212 555 0123"
bday = "1985-02-03"
[answers]
"Reader number" = "123456789012"
"Yearly fee in euros" = "12500"
"#;
    let rig = Rig::new("masks", profile);
    assert_snapshot!(rig.shown("masks", SEND));
    let wanted = json!({
        "tel": "(212) 555-0123", "born": "03/02/1985", "reader": "1234 5678 9012",
        "amount": "12,500",
    });
    assert_eq!(rig.sent(), wanted);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn dates_times_and_numbers_arrive() {
    let answers = r##"
[answers]
"Day of the event" = "24 December 2026"
"Doors open" = "19:30"
"End of the event" = "2026-12-25 01:00"
"Month of payment" = "2026-11"
"Week of rehearsal" = "2026-W50"
"Number of guests" = "120"
"Volume" = "7"
"Colour of the light" = "#336699"
"##;
    let rig = Rig::new("dates", &format!("{ADA}{answers}"));
    assert_snapshot!(rig.shown("dates", SEND));
    let wanted = json!({
        "day": "2026-12-24", "from": "19:30", "until": "2026-12-25T01:00", "month": "2026-11",
        "week": "2026-W50", "guests": "120", "volume": "7", "colour": "#336699",
        "bday": "3", "bmonth": "2", "byear": "1985",
    });
    assert_eq!(rig.sent(), wanted);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_state_is_chosen_once_its_country_has_brought_it() {
    let profile = r#"
street-address = "12 Harbour Road"
country = "AU"
address-level1 = "Queensland"
postal-code = "4000"
"#;
    let rig = Rig::new("dependent", profile);
    assert_snapshot!(rig.shown("dependent", SEND));
    let wanted = json!({
        "street": "12 Harbour Road", "country": "au", "state": "qld", "postcode": "4000",
    });
    assert_eq!(rig.sent(), wanted);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn fields_that_come_late_are_waited_for() {
    let rig = Rig::new("late", ADA);
    assert_snapshot!(rig.shown("late", SEND));
    let wanted = json!({ "given": "Ada", "family": "Lovelace", "email": "ada@example.org" });
    assert_eq!(rig.sent(), wanted);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn fields_in_the_shadow_are_found() {
    let answers = "[answers]\n\"Favourite colour\" = \"green\"\n";
    let rig = Rig::new("shadow", &format!("{ADA}{answers}"));
    assert_snapshot!(rig.shown("shadow", SEND));
    let wanted = json!({ "given": "Ada", "email": "ada@example.org", "colour": "Green" });
    assert_eq!(rig.sent(), wanted);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn fields_in_a_frame_are_found() {
    let answers = r#"
[answers]
"How would you like to travel?" = "By train"
"Why do you want to come?" = "For the trains."
"#;
    let rig = Rig::new("frame", &format!("{ADA}{answers}"));
    assert_snapshot!(rig.shown("frame", SEND));
    let sent = rig.sent();
    assert_eq!((&sent["given"], &sent["country"]), (&json!("Ada"), &json!("GB")));
    assert_eq!((&sent["travel"], &sent["why"]), (&json!("train"), &json!("For the trains.")));
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn custom_lists_are_filled() {
    let profile = r#"
[answers]
"Town of departure" = "Berlin"
"Class of travel" = "Sleeper"
"Seat" = "Aisle"
"#;
    let rig = Rig::new("combobox", profile);
    assert_snapshot!(rig.shown("combobox", SEND));
    let wanted = json!({ "town": "Berlin", "class": "Sleeper", "seat": "Aisle" });
    assert_eq!(rig.sent(), wanted);
    only_by_hand(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn rich_text_field_receives_typed_text() {
    let profile = r#"
[answers]
"Title of the story" = "The last train"
"Story" = "It was late. The signal stood at red."
"#;
    let rig = Rig::new("rich", profile);
    assert_snapshot!(rig.shown("rich", SEND));
    let wanted =
        json!({ "title": "The last train", "text": "It was late. The signal stood at red." });
    assert_eq!(rig.sent(), wanted);
    only_by_hand(&rig);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_code_in_boxes_is_one_field_and_filled_only_if_allowed() {
    let code = "one-time-code = \"271828\"\n";
    let rig = Rig::new("codes-left", &format!("{ADA}{code}"));
    assert_snapshot!("codes_left", rig.shown("codes", &[]));
    assert!(rig.site.delivery("/sent").is_empty());
    assert!(rig.notes("input").iter().all(|note| note["field"] == "email"));
    let rig = Rig::new("codes", &format!("allow = [\"one-time-code\"]\n{ADA}{code}"));
    assert_snapshot!("codes_allowed", rig.shown("codes", SEND));
    assert_eq!(rig.sent(), json!({ "email": "ada@example.org", "code": "271828" }));
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_hundred_fields_are_filled_in_one_run() {
    let answers: Vec<String> =
        (1..=100).map(|at| format!("\"Answer number {at}\" = \"value {at}\"\n")).collect();
    let rig = Rig::new("hundred", &format!("[answers]\n{}", answers.concat()));
    let ran = rig.fill("hundred", SEND);
    assert_eq!(ran.code, Some(0), "{}", rig.told(&ran));
    let sent = rig.sent();
    for at in 1..=100 {
        assert_eq!(sent[format!("f{at}")], format!("value {at}"));
    }
}

//! What must not happen on a page, whatever it asks for: traps stay empty, sensitive fields are
//! skipped, and the report is clear where a person has to continue.

use insta::assert_snapshot;
use serde_json::json;

use super::rig::{ADA, Rig};

const SEND: &[&str] = &["--submit", "yes"];

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn traps_stay_empty() {
    let answers = r#"
organization = "Analytical Engines"
url = "https://example.org"
[answers]
"Message" = "Good day."
"#;
    let rig = Rig::new("trap", &format!("{ADA}{answers}"));
    assert_snapshot!(rig.shown("trap", SEND));
    let wanted = json!({
        "name": "Ada Lovelace", "website": "", "email2": "", "fax": "", "company": "", "hp": "",
        "token": "abc", "email": "ada@example.org", "message": "Good day.",
    });
    assert_eq!(rig.sent(), wanted);
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_captcha_is_left_to_the_person_and_nothing_is_sent() {
    let profile =
        format!("allow = [\"password\", \"file\"]\n{ADA}new-password = \"s3cret-Word\"\n");
    let rig = Rig::new("captcha", &profile);
    assert_snapshot!(rig.shown("captcha", SEND));
    assert!(rig.site.delivery("/sent").is_empty());
    assert!(rig.notes("click").iter().all(|note| note["field"] != "robot"));
    // Allowed values are filled, and never appear in stored data.
    assert!(rig.notes("input").iter().any(|note| note["field"] == "new"));
    let (_, kept, _) = rig.home.pointsman(&["show", "last", "--json"]);
    assert!(!kept.contains("s3cret-Word") && !kept.contains("ada@example.org"), "{kept}");
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn a_box_of_the_browsers_own_is_never_agreed_to() {
    let rig = Rig::new("confirm", ADA);
    assert_snapshot!("dialog_confirm", rig.shown("dialog?confirm", &[]));
    let answered = rig.site.delivery("/answered");
    assert!(!answered.is_empty() && answered.iter().all(|it| it["yes"] == false), "{answered:?}");
    assert!(rig.site.delivery("/sent").is_empty());
    let rig = Rig::new("alert", ADA);
    assert_snapshot!("dialog_alert", rig.shown("dialog", &[]));
    assert!(rig.site.delivery("/sent").is_empty());
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn another_site_is_not_ours_to_fill() {
    // The button says where it leads.
    let rig = Rig::new("elsewhere", ADA);
    assert_snapshot!("elsewhere_said", rig.shown("elsewhere", SEND));
    assert!(!rig.elsewhere.was_asked_for("/plain"));
    // The button does not say it.
    let rig = Rig::new("leave", ADA);
    assert_snapshot!("elsewhere_unsaid", rig.shown("leave", SEND));
    assert!(rig.elsewhere.delivery("/note").is_empty(), "nothing may be typed there");
    assert!(rig.elsewhere.delivery("/sent").is_empty());
    // The very first page leads away.
    let rig = Rig::new("away", ADA);
    assert_snapshot!("elsewhere_first", rig.shown("away", SEND));
    assert!(rig.elsewhere.delivery("/note").is_empty(), "nothing may be typed there");
    assert!(rig.elsewhere.delivery("/sent").is_empty());
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn ever_changing_page_is_abandoned() {
    let rig = Rig::new("restless", ADA);
    let shown = rig.shown("restless", SEND);
    // Which fields were there at the end is the moment's.
    let mut parts = shown.split("(#f");
    let mut plain = parts.next().expect("there is a beginning").to_owned();
    for part in parts {
        let (_, rest) = part.split_once(')').expect("it names fields and no others");
        plain.extend(["(FIELDS)", rest]);
    }
    assert_snapshot!(plain);
    assert_eq!(rig.state(), "error");
    assert!(rig.site.delivery("/note").is_empty());
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn missing_page_is_reported() {
    let rig = Rig::new("nothing", ADA);
    assert_snapshot!("no_form", rig.shown("nothing-here", SEND));
    let url = format!("http://{}/", closed());
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml"];
    let ran = rig.command(&run, &[]).end();
    let told = rig.told(&ran).replace(url.trim_end_matches('/'), "NOWHERE");
    assert_snapshot!("no_site", told);
}

/// Returns an address without a listener.
fn closed() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
    listener.local_addr().expect("a bound socket has an address")
}

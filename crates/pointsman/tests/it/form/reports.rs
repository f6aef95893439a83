//! Pages that send in their own way: a report says only what is known.

use super::rig::{ADA, Rig};

const PRESSED: &str = "`Next` was pressed: the site may have the filled-in values. \
                       Check the site before you send it again.";
const BY_ITSELF: &str = "the site may have the filled-in values";
const REACH: &str = "[answers]\n\"How may we reach you?\" = \"By mail\"\n";

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn sending_next_is_reported_as_pressed() {
    for (page, mode, sends) in [
        ("sends?script", "never", true),
        ("sends?script", "ask", true),
        ("sends?script", "yes", true),
        ("sends?next", "never", false),
        ("sends?next", "ask", true),
        ("sends?next", "yes", true),
    ] {
        let rig = Rig::new("next", ADA);
        let ran = rig.fill(page, &["--submit", mode]);
        let told = rig.told(&ran);
        assert_eq!(ran.code, Some(0), "{page} {mode}: {told}");
        assert_eq!(rig.site.delivery("/sent").len(), usize::from(sends), "{page} {mode}: {told}");
        assert_eq!(ran.out.contains(PRESSED), sends, "{page} {mode}: {told}");
        assert_eq!(ran.out.contains("`Next` was not pressed"), !sends, "{page} {mode}: {told}");
        assert!(!ran.out.contains("Not sent"), "{page} {mode}: {told}");
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn page_that_sends_automatically_is_reported() {
    for page in ["sends?change", "sends?choice"] {
        let rig = Rig::new("itself", &format!("{ADA}{REACH}"));
        let ran = rig.fill(page, &["--submit", "never"]);
        let told = rig.told(&ran);
        assert_eq!(rig.site.delivery("/sent").len(), 1, "{page}: {told}");
        assert!(ran.out.contains(BY_ITSELF), "{page}: {told}");
        assert!(!ran.out.contains("Not sent"), "{page}: {told}");
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn unobservable_sending_is_not_denied() {
    // A timer may fire after the last look, and a script sends without leaving the page.
    for page in ["sends?timer", "sends?blur"] {
        let rig = Rig::new("unseen", ADA);
        let ran = rig.fill(page, &["--submit", "never"]);
        let told = rig.told(&ran);
        assert!(!rig.site.delivery("/sent").is_empty(), "{page}: {told}");
        let known = ["As you asked, `Send` was not pressed.", BY_ITSELF];
        assert!(known.iter().any(|it| ran.out.contains(it)), "{page}: {told}");
        assert!(!ran.out.contains("Not sent"), "{page}: {told}");
    }
}

#[test]
#[ignore = "needs Chromium: cargo xtask test --only browser"]
fn money_is_asked_for_even_where_sending_was_allowed() {
    for page in ["sends?priced", "sends?gap", "sends?drawn", "sends?cost", "sends?bid"] {
        let rig = Rig::new("money", ADA);
        let ran = rig.fill(page, &["--submit", "yes"]);
        let told = rig.told(&ran);
        assert_eq!(ran.code, Some(7), "{page}: {told}");
        assert!(rig.site.delivery("/sent").is_empty(), "{page}: {told}");
    }
    // The same form without a price goes.
    let rig = Rig::new("money-none", ADA);
    let ran = rig.fill("sends", &["--submit", "yes"]);
    assert_eq!(rig.site.delivery("/sent").len(), 1, "{}", rig.told(&ran));
}

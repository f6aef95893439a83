//! Fields that are named by their selectors, and fields that a page switches off under our
//! hands.

use alloc::{
    string::{String, ToString},
    vec,
};

use serde_json::json;

use super::{
    super::{Field, FieldShape, FormConfig, FormReport, SkipReason, Status, plan},
    KEPT, at_fill, control, controls, field, fill, name, statuses, with,
};

#[test]
fn selector_answer_has_priority_for_its_field() {
    let second = "#a > fieldset > input:nth-of-type(2)";
    let named = "form:nth-of-type(1) > input[name=\"x > y\"]";
    let answers = ["Why us", "#city", second, named, "Billing > City", "#1 choice"];
    let config = with(json!({"profile": {"file": "/p", "answers": answers}}));
    let config: FormConfig = serde_json::from_value(config).expect("text is valid JSON");
    let key = |selector: &str, label: &str, context: &str| {
        let field = Field {
            selector: selector.into(),
            label: label.into(),
            context: context.into(),
            ..field("it", FieldShape::Text)
        };
        let key = plan::key(&field, &config.profile);
        key.map(|key| key.strip_prefix("answers.").unwrap_or_default().to_string())
    };
    assert_eq!(key(second, "Why us", "").as_deref(), Some(second));
    assert_eq!(key("#city", "", "").as_deref(), Some("#city"));
    assert_eq!(key(named, "", "").as_deref(), Some(named));
    // The words of a selector are not a label, and its parents are not a section.
    assert_eq!(key("#town", "City", ""), None);
    assert_eq!(key("#i", "input:nth-of-type(2)", "a fieldset"), None);
    assert_eq!(key("#i", "City", "Billing address").as_deref(), Some("Billing > City"));
    // A label may begin like one.
    assert_eq!(key("#i", "#1 Choice", "").as_deref(), Some("#1 choice"));
    assert_eq!(key("#i", "#city", "").as_deref(), Some("#city"));
}

#[test]
fn a_form_whose_field_was_switched_off_is_not_sent() {
    for required in [true, false] {
        let off =
            Field { required, kind: super::FieldKind::Email, ..field("mail", FieldShape::Text) };
        let mut driver = at_fill(vec![name(), off]);
        fill(&mut driver);
        driver.report(FormReport::SwitchedOff { note: Some("a dialog said \"Hm\"".into()) });
        driver.report(KEPT);
        assert_eq!(driver.state(), "next_page");
        assert_eq!(statuses(&driver)[1], Status::Left(SkipReason::SwitchedOff));
        driver.report(controls(vec![control("Send")]));
        assert_eq!(driver.state(), "handed_over");
        let why: String = driver.run.data.why_handed_over.clone().unwrap_or_default();
        assert_eq!(why, "the page disabled `MAIL` before it could be filled");
    }
}

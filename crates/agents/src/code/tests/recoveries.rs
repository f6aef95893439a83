//! Recovery by the class of the error: a row each.

use super::*;

/// Fails the same call three times, and returns the rule that was chosen and its note.
fn recovered(tool: &str, error: &str) -> (RecoveryAction, String) {
    let mut driver = begun(json!({}));
    for _ in 0..3 {
        round(&mut driver, call(tool, json!({"path": "a.rs", "command": "x"})), false, error);
    }
    assert_eq!(driver.state(), "streaming_response", "{error}");
    let [rule] = driver.run.data.used[..] else { panic!("one rule helps: {error}") };
    (rule, notes(&driver.run.data)[0].into())
}

#[test]
fn each_class_has_its_rule() {
    let rows = [
        ("edit", "`a.rs` has changed since it was read", RecoveryAction::ReRead, "Read it again"),
        ("write", "the file was modified since", RecoveryAction::ReRead, "Read it again"),
        (
            "edit",
            "`old` was not found; the nearest is line 3",
            RecoveryAction::WriteInstead,
            "line 3",
        ),
        (
            "shell",
            "stopped after 100 ms, its time limit",
            RecoveryAction::LongerTime,
            "smaller pieces",
        ),
        ("write", "No space left on device", RecoveryAction::Wait, "Wait before you try it again"),
        ("shell", "fork: Cannot allocate memory", RecoveryAction::Wait, "free what you used"),
        (
            "read",
            "the program broke off while it did this",
            RecoveryAction::OtherWay,
            "the program broke off",
        ),
        ("read", "internal error (panic); see the log", RecoveryAction::OtherWay, "internal error"),
        ("shell", "exit code 2\nno such option", RecoveryAction::OtherWay, "Do not repeat it"),
    ];
    for (tool, error, rule, words) in rows {
        let (chosen, note) = recovered(tool, error);
        assert_eq!(chosen, rule, "{tool}: {error}");
        assert!(note.contains(words), "{note}");
    }
}

#[test]
fn each_class_of_missing_reply_has_its_rule() {
    let rows = [
        (FaultClass::Timeout, Some(RecoveryAction::LongerTime)),
        (FaultClass::RateLimited, Some(RecoveryAction::Wait)),
        (FaultClass::Unavailable, Some(RecoveryAction::Wait)),
        (FaultClass::Resource, Some(RecoveryAction::Wait)),
        (FaultClass::Gone, Some(RecoveryAction::ReRead)),
        (FaultClass::Other, Some(RecoveryAction::OtherWay)),
        (FaultClass::Forbidden, None),
        (FaultClass::Invalid, None),
        (FaultClass::TooLong, None),
        (FaultClass::Limit, None),
        (FaultClass::Contract, None),
    ];
    for (class, rule) in rows {
        let mut driver = begun(json!({}));
        driver.fault(class, false);
        assert_eq!(driver.run.data.used.first().copied(), rule, "{class:?}");
        let ended = rule.is_none().then_some(Disposition::Failed);
        assert_eq!(driver.ended(), ended, "{class:?}");
    }
}

#[test]
fn each_rule_helps_once_and_a_second_time_is_the_end() {
    let mut driver = begun(json!({}));
    driver.fault(FaultClass::Timeout, false);
    assert_eq!(driver.state(), "streaming_response");
    driver.fault(FaultClass::Timeout, false);
    assert_eq!(driver.state(), "halted");
}

#[test]
fn recovered_error_is_not_reported_until_all_rules_fail() {
    let error = |driver: &TestDriver<CodeAgent>| CodeAgent::turn_error(&driver.run.data).cloned();
    let mut driver = begun(json!({}));
    for class in [FaultClass::Timeout, FaultClass::Unavailable, FaultClass::Gone] {
        driver.fault(class, false);
        assert_eq!(driver.state(), "streaming_response");
        assert_eq!(error(&driver), None, "the work goes on");
    }
    // The fourth has a rule, and the chart no recovery.
    driver.fault(FaultClass::Other, false);
    assert_eq!(driver.state(), "halted");
    let told = error(&driver).expect("turn ended with an error");
    assert_eq!((told.kind, &*told.message), (TurnErrorKind::Failed, "the test says so"));
}

#[test]
fn rounds_that_are_used_up_are_why_a_run_ends() {
    let chart = CHART.replace("rounds      = { max = 1000", "rounds = { max = 2");
    assert_ne!(chart, CHART);
    let mut driver = TestDriver::<CodeAgent>::new(&chart, &[]);
    driver.begin(json!({}));
    driver.give("prompt", json!({"text": "go"}));
    for n in 0..3 {
        round(&mut driver, edit(&format!("{n}.rs")), true, "edited");
    }
    assert_eq!(driver.ended(), Some(Disposition::Budget));
    let error = CodeAgent::turn_error(&driver.run.data).expect("turn ended with an error");
    assert_eq!(error.kind, TurnErrorKind::Budget);
    assert!(CodeAgent::result(&driver.run.data).unwrap().contains("2 for `rounds`"));
}

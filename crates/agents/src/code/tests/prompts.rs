//! Whole prompts and reports.

use super::*;
use crate::dialogue::well_formed;

fn at_work() -> TestDriver<CodeAgent> {
    let mut driver = begun(json!({
        "instructions": [{"source": "AGENTS.md", "text": "Use tabs."}],
        "tools": ["edit", "propose_plan", "read", "shell"],
        "phases": [{"description": "write a test"}, {"description": "make it pass"}],
    }));
    round(&mut driver, edit("tests/a.rs"), true, "edited");
    let tests = call("shell", json!({"command": "cargo test"}));
    round(&mut driver, tests, true, "exit code 0\ntest result: ok. 1 passed; 0 failed");
    proposes(&mut driver, vec![over(true)]);
    edit_loop(&mut driver);
    driver
}

#[test]
fn a_prompt_has_everything_in_its_place() {
    let driver = at_work();
    well_formed(&driver.prompt());
    insta::assert_snapshot!("code_prompt", serde_json::to_string_pretty(&driver.prompt()).unwrap());
}

#[test]
fn report_lists_finished_and_remaining_work() {
    let mut driver = at_work();
    driver.fault(FaultClass::Forbidden, false);
    assert_eq!(driver.ended(), Some(Disposition::Failed));
    insta::assert_snapshot!("code_report", CodeAgent::result(&driver.run.data).unwrap());
    let mut driver = begun(json!({}));
    assert_eq!(CodeAgent::result(&driver.run.data), None);
    driver.say("It is a function.");
    assert_eq!(CodeAgent::result(&driver.run.data).as_deref(), Some("It is a function."));
}

#[test]
fn a_long_session_is_summed_up_and_the_prompt_stays() {
    let mut driver = begun(json!({"limits": {"context_tokens": 3_000, "keep_turns": 2}}));
    let mut summaries = 0;
    for n in 0..30 {
        if driver.prompt().system.contains("condense") {
            summaries += 1;
            driver.say("Files were read.");
        }
        round(
            &mut driver,
            call("read", json!({"path": format!("f{n}.rs")})),
            true,
            &format!("{n} ").repeat(500),
        );
        assert_eq!(driver.state(), "streaming_response");
    }
    assert!(summaries > 1);
    assert_eq!(driver.verdicts, [], "a summary is no monologue");
    let asked = TranscriptMessage::User { text: "make it so".into() };
    assert!(driver.run.data.transcript.messages().contains(&asked));
}

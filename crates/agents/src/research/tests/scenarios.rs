//! The seed's own stories, step by step.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use pointsman_kernel::{
    agent::{Answer, Fault, FaultClass},
    chart::Disposition,
    event::Event,
    governor::{Level, Rule},
};
use serde_json::json;

use super::{FINISH, assembles, begun, deciding, last_words, prompt, search, summarises};
use crate::{
    research::{FailureCause, ResearchAgent},
    testing::TestDriver,
};

fn states_of(rounds: usize, end: &[&'static str]) -> Vec<&'static str> {
    let round = ["searching", "analyzing", "deciding"];
    let rounds = round.into_iter().cycle().take(rounds * round.len());
    ["init"].into_iter().chain(rounds).chain(end.iter().copied()).collect()
}

/// Ends a run that is stuck, and returns what it says.
fn told_at_the_end(driver: &mut TestDriver<ResearchAgent>) -> String {
    summarises(driver);
    assembles(driver);
    assert_eq!(driver.ended(), Some(Disposition::Stuck), "never succeeded");
    driver.run.data.result.clone().unwrap()
}

/// The appendix of the seed. Its last step, from searching to finishing, passes
/// through `stuck_search`, as its table and its worked example have it.
#[test]
fn the_appendix_step_by_step() {
    // 1. The goal is searched for.
    let mut driver = begun(json!({"goal": "Find the savant-mvp architecture."}));
    assert_eq!(driver.states(), ["init", "searching"]);
    // 2. What was found is thought about.
    driver.tool(true, "docs/architecture.md:1: The savant-mvp architecture");
    assert_eq!(driver.state(), "analyzing");
    let shown = prompt(&driver);
    assert_eq!(
        last_words(&shown),
        "## Agent State\nCurrent Phase: ANALYZING\nPhase Duration: 0ms\nStatus: HEALTHY"
    );
    // 3. The model wants details of the execution,
    driver.now = driver.now.after(2_340);
    driver.say("It is about layers; how they execute is missing.");
    assert_eq!(driver.state(), "deciding");
    // 4. and searches for them.
    driver.say(&search("execution"));
    assert_eq!(driver.state(), "searching");
    driver.tool(true, "docs/architecture.md:9: execution is by workers");
    driver.say("It names workers.");
    assert!(!driver.run.data.advice.is_stuck());
    // 5. It searches for the same again: spelling does not make another query of it.
    driver.say(&search(" Execution  "));
    assert_eq!(driver.rules(), [Rule::IdenticalQuery]);
    assert_eq!(driver.verdicts[0].level, Level::Halt);
    let advice = driver.verdicts[0].advice.as_ref();
    assert_eq!(advice, "you already searched for this; finish with what was found");
    assert_eq!(driver.states(), states_of(2, &["searching", "stuck_search"]));
    // 6. It finishes with what it has, and not as a success.
    let told = told_at_the_end(&mut driver);
    assert_eq!(driver.states(), states_of(2, &["searching", "stuck_search", "finishing", "stuck"]));
    for part in [
        "No answer was found to: Find the savant-mvp architecture.",
        "It stopped in `searching`: `context.fts_search` was asked the same query 2 times: \"Execution\".",
        "- \"execution\": 1 passage, 1 new",
        "- docs/architecture.md:1: The savant-mvp architecture",
        "- It names workers.",
        "What to do next: read the passages above",
    ] {
        assert!(told.contains(part), "{part}\n\n{told}");
    }
}

/// "Ask the agent to find something that doesn't exist."
#[test]
fn missing_answer_ends_after_searching() {
    let goal = "Find the secret password in the file /non-existent/hacker.txt";
    // The same once more is caught at once,
    let mut driver = begun(json!({"goal": goal}));
    driver.tool(true, "no passage matches");
    driver.say("Nothing.");
    driver.say(&search(goal));
    assert_eq!(driver.states(), states_of(1, &["searching", "stuck_search"]));
    let told = told_at_the_end(&mut driver);
    assert!(
        told.contains("hacker.txt\": no passage")
            && told.contains("check that the documents cover")
    );
    // and a model that paraphrases is warned, then rejected.
    let mut driver = begun(json!({"goal": goal}));
    let mut paraphrases = (1..).map(|n| search(&format!("password {n} of the hacker file")));
    for searched in 1..=6 {
        driver.tool(true, "no passage matches");
        driver.say("Nothing.");
        let shown = prompt(&driver);
        let stuck = last_words(&shown).contains("Status: STUCK\nAdvice: the last ");
        assert_eq!(stuck, searched >= 3, "{}", last_words(&shown));
        driver.say(&paraphrases.next().unwrap());
    }
    for _ in 0..2 {
        assert_eq!(driver.state(), "deciding");
        driver.say(&paraphrases.next().unwrap());
    }
    assert_eq!(driver.states(), states_of(6, &["stuck_decide"]));
    let told = told_at_the_end(&mut driver);
    assert!(told.contains("the last 6 searches found nothing new"), "{told}");
    assert!(told.contains("Searched (6):"), "{told}");
}

#[test]
fn a_model_that_searches_in_vain_may_still_finish() {
    let mut driver = begun(json!({"goal": "Where is it?"}));
    for n in 0..6 {
        driver.tool(true, "no passage matches");
        driver.say("Nothing.");
        if n < 5 {
            driver.say(&search(&format!("words {n}")));
        }
    }
    driver.say(&search("once more"));
    assert_eq!(driver.state(), "deciding", "it is turned away");
    driver.say(FINISH);
    assembles(&mut driver);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn alternating_queries_that_find_new_things_are_work() {
    let mut driver = begun(json!({"goal": "signals"}));
    for n in 0..19 {
        driver.tool(true, &format!("a.md:{n}: text {n}\na.md:1000: known"));
        driver.say("One more.");
        let shown = prompt(&driver);
        assert!(last_words(&shown).ends_with("Status: HEALTHY"), "{}", last_words(&shown));
        let colour = if n % 2 == 0 { "red" } else { "green" };
        driver.say(&search(&format!("{colour} {}", n / 2)));
        assert_eq!(driver.state(), "searching");
    }
    driver.tool(true, "a.md:77: the last");
    driver.say("That is it.");
    driver.say(FINISH);
    assembles(&mut driver);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
    assert!(driver.verdicts.is_empty(), "{:?}", driver.rules());
}

#[test]
fn third_attempt_of_a_decision_can_succeed() {
    let mut driver = deciding();
    driver.say("Hm.");
    driver.say(r#"{"action": "tool", "tool_name": "shell"}"#);
    driver.say(&search("parser entry"));
    assert_eq!(driver.states(), ["searching"]);
    // The count starts afresh with the next decision.
    driver.tool(true, "main.rs:9: parse()");
    driver.say("Good.");
    for text in ["", "{}", "[]"] {
        assert_eq!(driver.state(), "deciding");
        driver.say(text);
    }
    assert_eq!(driver.state(), "stuck_decide");
    assert_eq!(driver.run.data.stopped.as_ref().unwrap().cause, FailureCause::Unusable);
    let told = told_at_the_end(&mut driver);
    assert!(told.contains("It stopped in `deciding`: no JSON object could be read"), "{told}");
    assert!(told.contains("ask another model"), "{told}");
}

/// A provider that asks for patience, once in every state that asks a model.
#[test]
fn a_model_that_is_busy_once_is_asked_again() {
    fn busy(driver: &mut TestDriver<ResearchAgent>) {
        let state = driver.state().to_owned();
        let busy = Fault {
            class: FaultClass::RateLimited,
            repeatable: true,
            hint_ms: Some(9_000),
            message: "slow down".into(),
        };
        driver.answer_last(Answer::Fault(busy));
        assert_eq!(driver.state(), state);
        assert!(driver.running().is_empty(), "it waits");
        let before = driver.now;
        driver.wake();
        assert_eq!(driver.now.since(before), 9_000, "for as long as it was asked to");
        assert_eq!(driver.state(), state);
    }
    let mut driver = begun(json!({"goal": "Where is the parser?"}));
    driver.tool(true, "parser.rs:1: mod parser");
    for text in ["It names a module.", &search("entry")] {
        busy(&mut driver);
        driver.say(text);
    }
    driver.tool(true, "main.rs:9: parse()");
    driver.say("That is it.");
    busy(&mut driver);
    driver.say(FINISH);
    assembles(&mut driver);
    assert_eq!(driver.ended(), Some(Disposition::Succeeded));
}

#[test]
fn timeout_reports_the_findings() {
    let mut driver = deciding();
    driver.now = driver.now.after(300_000);
    driver.apply(Event::Woke);
    assert_eq!(driver.states(), ["stuck_decide"]);
    let told = told_at_the_end(&mut driver);
    for part in [
        "It stopped in `deciding`: a limit stopped it.",
        "parser.rs:1: mod parser",
        "raise the limits",
    ] {
        assert!(told.contains(part), "{part}\n\n{told}");
    }
    // An answer that came too late is kept, and is none.
    let mut driver = deciding();
    driver.say(FINISH);
    driver.now = driver.now.after(300_000);
    driver.apply(Event::Woke);
    let told = told_at_the_end(&mut driver);
    assert!(told.contains("it was not confirmed: It is in main.rs."), "{told}");
}

#[test]
fn used_up_decisions_are_reported_as_a_limit() {
    let mut driver = deciding();
    for n in 0..20 {
        driver.say(&search(&format!("words {n}")));
        driver.tool(true, &format!("a.md:{n}: text"));
        driver.say("Go on.");
    }
    assert_eq!(driver.state(), "stuck_decide");
    let told = told_at_the_end(&mut driver);
    assert!(told.contains("It stopped: a limit of its chart was reached."), "{told}");
}

#[test]
fn denied_call_has_its_reason_and_the_alternatives() {
    use pointsman_kernel::governor::{Grant, Permissions};
    let allow = |tool: &str| Grant {
        tool: tool.into(),
        arguments: vec![],
        level: Level::Allow,
        until: None,
    };
    let mut driver = TestDriver::<ResearchAgent>::new(super::CHART, &[super::SEARCH, "files.read"]);
    driver.permissions =
        Permissions { rules: vec![allow(super::SEARCH)], ..Permissions::default() };
    driver.begin(json!({"goal": "Where?", "tools": [super::SEARCH, "files.read"]}));
    driver.tool(true, "a.md:1: here");
    driver.say("Hm.");
    driver.say(r#"{"tool": "files.read", "args": {"path": "a.md"}}"#);
    assert_eq!(driver.state(), "analyzing", "a refusal is something to think about");
    driver.say("It may not be read.");
    let shown = prompt(&driver);
    let words = last_words(&shown);
    assert!(words.contains("Status: HEALTHY\nAdvice: `files.read` is not permitted"), "{words}");
    assert!(words.ends_with(" Allowed: search, tool (files.read), finish."), "{words}");
    (0..3).for_each(|_| driver.say("?"));
    let told = told_at_the_end(&mut driver);
    assert!(told.contains("Refused (1):\n- `files.read` is not permitted"), "{told}");
    assert!(
        told.contains("Other calls (1):\n- `files.read` {\"path\":\"a.md\"}: failed: not done"),
        "{told}"
    );
}

//! What `check` finds in users' charts before anything runs, and whose doing a call is.

use alloc::{string::String, vec::Vec};

use pointsman_kernel::{
    chart::{Chart, RefusedChart, verify},
    code::Code,
};

use super::chart;
use crate::registry;

fn check(authority: &str, states: &str) -> Result<Chart, RefusedChart> {
    verify(&chart(authority, states), &registry())
}

/// Returns the findings for a chart of one state, with the hints.
fn found(state: &str) -> Vec<(Code, String, String)> {
    let refused = check("propose", state).map(|chart| chart.certificate());
    let diagnostics = refused.expect_err("input is invalid").diagnostics;
    diagnostics.into_iter().map(|it| (it.code, it.message, it.hint)).collect()
}

fn one(state: &str) -> (Code, String, String) {
    let mut found = found(state);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// A state that calls a tool with these parameters.
fn calling(tools: &str, with: &str) -> String {
    alloc::format!(
        r#"
        [state.first]
        run = "tool.call"
        tools = {tools}
        with = {with}
        on.ok = "done"
        on.stuck = "failed"
        on.denied = "failed"
        on.failed = "failed"
        "#
    )
}

/// A model's reply in `reply`, then a state that calls a tool.
fn after_a_reply(with: &str) -> String {
    let call = calling("\"all\"", with).replace("[state.first]", "[state.second]");
    alloc::format!(
        r#"
        [state.first]
        run = "model.reply"
        with = {{ prompt = "{{goal}}", into = "reply" }}
        on.completed = "second"
        on.failed = "failed"
        {call}"#
    )
}

#[test]
fn a_slot_that_nothing_fills_is_found_wherever_it_is_read() {
    let (code, message, hint) = one(&calling(
        "\"all\"",
        r#"{ tool = "write", args = { path = "a", content = "{ reprot } {goal}" }, into = "report" }"#,
    ));
    assert_eq!(code, Code::UnknownSlot);
    assert_eq!(message, "nothing fills the slot `reprot`");
    assert_eq!(hint, "did you mean `report`?");
    for with in [
        r#"{ tool = "git", args = { args = ["log", "{branch}"] } }"#,
        r#"{ tool = "read", args = { path = "{goal.path}" } }"#,
    ] {
        assert_eq!(one(&calling("\"all\"", with)).0, Code::UnknownSlot, "{with}");
    }
    let (_, _, hint) = one(&calling("\"all\"", r#"{ tool = "read", args = { path = "{tone}" } }"#));
    assert!(hint.contains("slots = { tone = \"…\" }") && hint.contains("{{tone}}"), "{hint}");
    let matching = r#"
        [state.first]
        decide = "match"
        with = { slot = "gaol" }
        on.yes = "failed"
        on.other = "done"
    "#;
    assert_eq!(one(matching).2, "did you mean `goal`?");
}

#[test]
fn braces_that_name_no_slot_are_text() {
    for text in ["{{tone}}", "{ }", "{\\\"a\\\": 1}", "{goal}", "a } b", "{count}", "{"] {
        let with =
            alloc::format!(r#"{{ tool = "write", args = {{ path = "a", content = "{text}" }} }}"#);
        let checked = check("propose", &calling("\"all\"", &with));
        assert!(checked.is_ok(), "{text}: {checked:?}");
    }
}

#[test]
fn the_slots_that_a_run_must_be_given_are_known() {
    let chart =
        check("propose", &after_a_reply(r#"{ tool = "read", args = { path = "{reply}" } }"#));
    let chart = chart.expect("chart is verified");
    assert_eq!(chart.needs().iter().map(|it| &**it).collect::<Vec<_>>(), ["goal"]);
    assert_eq!(
        chart.slots().iter().map(|it| &**it).collect::<Vec<_>>(),
        ["count", "error", "goal", "input", "reply"]
    );
    let without =
        check("text", &calling("\"all\"", r#"{ tool = "list" }"#)).expect("chart is verified");
    assert!(without.needs().is_empty());
    assert_eq!(without.filled(), [("count".into(), 1.into())]);
}

#[test]
fn a_tool_that_does_not_exist_is_found() {
    let (code, _, hint) = one(&calling("\"all\"", r#"{ tool = "wirte", args = { path = "a" } }"#));
    assert_eq!((code, &*hint), (Code::UnknownTool, "did you mean `write`?"));
    // Which tools servers offer is known only when a run starts.
    let mcp = calling("[\"mcp.files.stat\"]", r#"{ tool = "mcp.files.stat", args = { x = 1 } }"#);
    assert!(check("text", &mcp).is_ok());
}

#[test]
fn arguments_are_checked_against_the_tools_schema() {
    let found =
        found(&calling("\"all\"", r#"{ tool = "write", args = { file = "a", content = 5 } }"#));
    let told: Vec<&str> = found.iter().map(|(_, message, _)| message.as_str()).collect();
    assert!(found.iter().all(|(code, ..)| *code == Code::Arguments), "{found:?}");
    assert_eq!(told.len(), 3, "{told:?}");
    for wanted in [
        "`write` takes no argument `file`",
        "`write` needs the argument `path`",
        "`content` of `write` must be a string",
    ] {
        assert!(told.contains(&wanted), "{told:?}");
    }
    let slot =
        one(&calling("\"all\"", r#"{ tool = "read", args = { path = "a", from = "{count}" } }"#));
    assert_eq!(slot.2, "a filled slot is a string; write a whole number here");
    assert_eq!(one(&calling("\"all\"", r#"{ tool = "read" }"#)).0, Code::Arguments);
    let fits = [
        r#"{ tool = "list" }"#,
        r#"{ tool = "read", args = { path = "a", from = 2, to = 9 } }"#,
        r#"{ tool = "git", args = { args = ["log"] } }"#,
        r#"{ tool = "search", args = { query = "{goal}", literal = true } }"#,
    ];
    for with in fits {
        assert!(check("text", &calling("\"all\"", with)).is_ok(), "{with}");
    }
}

#[test]
fn a_state_that_forbids_its_own_call_is_found() {
    let write = r#"{ tool = "write", args = { path = "a", content = "b" } }"#;
    for tools in ["[\"read\"]", "\"none\"", "[]"] {
        let (code, message, hint) = one(&calling(tools, write));
        assert_eq!(code, Code::NotAllowed, "{tools}");
        assert_eq!(message, "state `first` calls `write` but does not allow it");
        assert_eq!(hint, "write `tools = [\"write\"]`");
    }
    for (job, with) in [("shell", "command = [\"ls\"]"), ("http", "url = \"https://a.test\"")] {
        let state = calling("[\"read\"]", &alloc::format!("{{ {with} }}"));
        let state =
            state.replace("tool.call", job).replace("on.ok", "on.nonzero = \"done\"\non.ok");
        let state = if job == "http" { state.replace("on.nonzero = \"done\"", "") } else { state };
        assert_eq!(one(&state).0, Code::NotAllowed, "{job}");
    }
}

#[test]
fn a_list_from_which_nothing_can_be_chosen_is_found() {
    let choose = |from: &str| {
        alloc::format!(
            r#"
            [state.first]
            run = "model.choose"
            with = {{ prompt = "Which?", from = {from}, into = "size" }}
            on.chosen = "done"
            on.failed = "failed"
            "#
        )
    };
    for (from, message) in [
        ("[]", "`with.from` is empty, so there is nothing to choose"),
        ("[\"a\", \"b\", \"a\"]", "`with.from` lists `a` twice"),
        ("[\"a\", \" \"]", "`with.from` lists an empty string"),
    ] {
        let (code, told, _) = one(&choose(from));
        assert_eq!((code, &*told), (Code::Choices, message), "{from}");
    }
    assert!(check("choose", &choose("[\"a\", \"A\"]")).is_ok(), "two that differ in case");
}

/// Returns the routes of the second state that count as the model's doing.
fn models(states: &str) -> Vec<String> {
    let chart = check("propose", states).unwrap_or_else(|refused| panic!("{refused:#?}"));
    let edges = chart.authority_report().edges.iter();
    edges.filter(|edge| &*edge.from == "second").map(|edge| String::from(&*edge.outcome)).collect()
}

#[test]
fn a_call_that_the_chart_has_fixed_is_not_the_models_doing() {
    for with in [
        r#"{ tool = "read", args = { path = "fixed.txt" } }"#,
        r#"{ tool = "write", args = { path = "a", content = "{goal} {count}" } }"#,
        r#"{ tool = "read", args = { path = "{{reply}}" } }"#,
    ] {
        assert!(models(&after_a_reply(with)).is_empty(), "{with}");
        assert!(check("text", &after_a_reply(with)).is_ok(), "{with}");
    }
}

#[test]
fn a_call_with_a_models_words_in_it_is_the_models_doing() {
    for with in [
        r#"{ tool = "read", args = { path = "{reply}" } }"#,
        r#"{ tool = "write", args = { path = "a", content = "so: { reply }" } }"#,
        r#"{ tool = "git", args = { args = ["log", "{reply}"] } }"#,
        // A failure may repeat a model's words.
        r#"{ tool = "read", args = { path = "{error}" } }"#,
    ] {
        assert_eq!(models(&after_a_reply(with)), ["ok", "failed", "stuck", "denied"], "{with}");
        assert!(check("choose", &after_a_reply(with)).is_err(), "{with}");
    }
}

#[test]
fn a_models_words_are_followed_through_the_results_of_calls() {
    let states = |first: &str, slot: &str| {
        let call = calling("\"all\"", &alloc::format!("{{ {first}, into = \"page\" }}"));
        let call =
            call.replace("[state.first]", "[state.between]").replace("\"done\"", "\"second\"");
        alloc::format!(
            r#"
            [state.first]
            run = "model.reply"
            with = {{ prompt = "x", into = "reply" }}
            on.completed = "between"
            on.failed = "failed"
            {call}
            [state.second]
            decide = "match"
            with = {{ slot = "{slot}" }}
            on.yes = "done"
            on.other = "failed"
            "#
        )
    };
    let fetched = r#"tool = "http_get", args = { url = "https://a.test/{reply}" }"#;
    assert_eq!(models(&states(fetched, "page")), ["other", "yes"]);
    let fixed = r#"tool = "http_get", args = { url = "https://a.test/" }"#;
    assert!(models(&states(fixed, "page")).is_empty(), "a page that no model has chosen");
    assert_eq!(models(&states(fixed, "reply")), ["other", "yes"]);
    assert!(models(&states(fixed, "goal")).is_empty(), "a person's words");
}

#[test]
fn a_person_has_a_day_where_the_state_says_nothing() {
    use pointsman_kernel::chart::StateKind;
    let ask = |limit: &str| {
        let states = alloc::format!(
            r#"
            [state.first]
            run = "ask.person"
            {limit}
            with = {{ question = "Go on?" }}
            on.yes = "done"
            on.no = "done"
            on.failed = "failed"
            "#
        );
        // Also where the chart has no default for the others.
        let source = chart("text", &states).replace("timeout = \"10s\"", "");
        for source in [source, chart("text", &states)] {
            let chart = verify(&source, &registry()).expect("chart is verified");
            assert_eq!(chart.certificate().time_ms, 0, "a person's time does not count");
            let first = chart.state(chart.start()).expect("chart has the state");
            let StateKind::Run(work) = first.kind() else { panic!("it runs a job") };
            let wanted = if limit.is_empty() { 24 * 60 * 60 * 1000 } else { 5 * 60 * 1000 };
            assert_eq!(work.attempts.timeout, wanted);
        }
    };
    ask("");
    ask("timeout = \"5m\"");
}

#[test]
fn question_is_asked_once_despite_default_attempts() {
    use pointsman_kernel::chart::StateKind;
    for (own, wanted) in [("", 1), ("attempts = 2", 2)] {
        let states = alloc::format!(
            r#"
            [state.first]
            run = "ask.person"
            {own}
            with = {{ question = "Go on?" }}
            on.yes = "done"
            on.no = "done"
            on.failed = "failed"
            "#
        );
        let source =
            chart("text", &states).replace("timeout = \"10s\"", "timeout = \"10s\"\nattempts = 3");
        assert!(source.contains("attempts = 3"), "{source}");
        let verified = verify(&source, &registry()).expect("chart is verified");
        let first = verified.state(verified.start()).expect("chart has the state");
        let StateKind::Run(work) = first.kind() else { panic!("it runs a job") };
        assert_eq!(work.attempts.max, wanted);
        // No label describes a wait that never comes.
        let labelled = alloc::format!("{source}\n[state.again]\nbetween_attempts_of = \"first\"\n");
        assert_eq!(verify(&labelled, &registry()).is_ok(), wanted > 1);
    }
}

//! Whole runs against the mock server `@copilotkit/aimock`, in all four protocols.
//!
//! It is started elsewhere, with the fixtures of the models' own tests, and its address is in
//! `POINTSMAN_AIMOCK_URL`. In `runs.json` each provider has its own model, since the mock
//! counts what it was asked by model.

use std::env;

use serde_json::Value;

use crate::home::Home;

/// The providers, the path that the mock serves each under, and the variable of its key.
const SERVED: [(&str, &str, &str); 4] = [
    ("openai:patient-chat", "/v1", "OPENAI_API_KEY"),
    ("openai-responses:patient-responses", "/v1", "OPENAI_API_KEY"),
    ("anthropic:patient-messages", "", "ANTHROPIC_API_KEY"),
    ("gemini:patient-generate", "", "GEMINI_API_KEY"),
];
/// What the mock asks for with its 429s: longer than the chart waits by itself.
const ASKED_MS: u64 = 2_000;

/// Busy when the first result is thought about, then a search, then busy when the end is to
/// be decided, then the answer.
#[test]
#[ignore = "needs the aimock server: cargo xtask test --only aimock"]
fn a_busy_provider_is_waited_for_in_a_whole_run() {
    let url = env::var("POINTSMAN_AIMOCK_URL").expect("POINTSMAN_AIMOCK_URL names the mock");
    let url = url.trim_end_matches('/');
    for (model, path, key) in SERVED {
        let home = Home::new("aimock");
        let base = format!("{url}{path}");
        let variables = [(key, "sk-test-0123456789")];
        let goal = "What does a red signal mean?";
        let run = ["run", "research", goal, "--dir", "docs", "--json"];
        let to = ["--model", model, "--base-url", &base];
        let ran = home.with(&variables, &[&run[..], &to].concat());
        assert_eq!(ran.code, Some(0), "{model}: {}{}", ran.out, ran.err);
        let last: Value =
            serde_json::from_str(ran.out.lines().last().expect("the list is not empty"))
                .expect("the text is valid JSON");
        assert_eq!(last["disposition"], "succeeded", "{model}");
        let told = last["result"].as_str().expect("the value is a string");
        assert!(told.starts_with("It means stop (signals.md:3)."), "{model}: {told}");

        let (code, out, _) = home.pointsman(&["show", "last", "--json"]);
        assert_eq!(code, 0, "{model}");
        let shown: Value = serde_json::from_str(&out).expect("the text is valid JSON");
        let entries = shown["entries"].as_array().expect("there are entries");
        let at = |entry: &Value| entry["at"].as_u64().expect("a time");
        let mut waited = 0;
        for (busy, next) in entries.iter().zip(entries.iter().skip(1)) {
            let fault = &busy["event"]["answered"]["answer"]["fault"];
            if fault["class"] == "rate_limited" {
                assert_eq!(fault["hint_ms"], ASKED_MS, "{model}: {fault}");
                assert_eq!(next["event"], "woke", "{model}: it waits, and asks again");
                assert!(at(next) - at(busy) >= ASKED_MS, "{model}: {busy} {next}");
                waited += 1;
            }
        }
        assert_eq!(waited, 2, "{model}: busy in `analyzing` and in `deciding`");
        assert_eq!(shown["spent"]["model_calls"], 6, "{model}");
        assert_eq!(shown["spent"]["tool_calls"], 2, "{model}");

        let (code, _, err) = home.pointsman(&["replay", "last"]);
        assert_eq!(code, 0, "{model}: {err}");
    }
}

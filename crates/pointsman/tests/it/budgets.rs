//! Limits as people set them: on the command line, in their settings, in a repository's.

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::Home;

/// Returns what a run of `code` could cost.
fn certificate(home: &Home, more: &[&str]) -> Value {
    let plan = ["run", "code", "Mend it", "--dir", "docs", "--dry-run", "--json"];
    let (code, out, told) = home.pointsman(&[&plan[..], more].concat());
    assert_eq!(code, 0, "{told}");
    let plan: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    plan["certificate"].clone()
}

#[test]
fn a_limit_is_set_by_the_command_line_over_the_settings() {
    let home = Home::new("limits");
    let usual = certificate(&home, &[]);
    assert_eq!((&usual["model_calls"], &usual["money"]), (&200.into(), &20_000_000.into()));
    home.settings(
        "[budget.code]\nmodel_calls = 300\ntime = \"8h\"\n[budget.chat]\ntime = \"1m\"\n",
    );
    let settled = certificate(&home, &[]);
    assert_eq!((&settled["model_calls"], &settled["time_ms"]), (&300.into(), &28_800_000.into()));
    // A repository lowers and never raises.
    home.write("pointsman.toml", "[budget.code]\nmodel_calls = 30\ntime = \"9h\"\n");
    let lowered = certificate(&home, &[]);
    assert_eq!((&lowered["model_calls"], &lowered["time_ms"]), (&30.into(), &28_800_000.into()));
    let typed = certificate(&home, &["--budget", "model_calls=400", "--budget", "money=1.50"]);
    assert_eq!((&typed["model_calls"], &typed["money"]), (&400.into(), &1_500_000.into()));
    assert_eq!(typed["time_ms"], 28_800_000);
}

#[test]
fn a_limit_that_is_wrong_is_refused() {
    let home = Home::new("no-limit");
    for (name, arguments) in [
        ("unknown", &["run", "research", "x", "--budget", "decision=3"][..]),
        ("amount", &["run", "research", "x", "--budget", "time=30"]),
        ("pair", &["run", "research", "x", "--budget", "time"]),
    ] {
        assert_snapshot!(name, home.shown(arguments));
    }
    home.settings("[budget]\ncode = 5\n[budget.chat]\ntime = true\n");
    assert_snapshot!("settings", home.shown(&["run", "research", "x"]));
}

#[test]
fn chart_and_plan_show_the_worst_case() {
    let home = Home::new("cost");
    assert_snapshot!("check", home.shown(&["check", "form"]));
    let plan = ["run", "chat", "Hello", "--dir", "docs", "--dry-run", "--model", "ollama:x"];
    let cost = |home: &Home| {
        let (_, out, _) = home.pointsman(&plan);
        let line =
            out.lines().find(|line| line.starts_with("Worst case")).expect("the item is listed");
        line.to_owned()
    };
    assert!(cost(&home).contains("cost unknown (`[model] prices` is not set)"), "{}", cost(&home));
    home.settings("[model]\nprices = { input = \"2.50\", output = \"10\" }\n");
    assert!(cost(&home).contains("2,000,000 tokens, cost 5.00, 30 min"), "{}", cost(&home));
}

/// A run keeps the limits that it was started with, whatever the settings say later.
#[test]
fn a_run_that_reaches_its_limit_says_so_and_replays() {
    let home = Home::new("reached");
    home.write(
        "script.toml",
        "[[turn]]\ncalls = [{ tool = \"list\", arguments = {} }]\n[[turn]]\ntext = \"Done.\"\n",
    );
    let run = ["run", "chat", "Look", "--dir", "docs", "--model", "script:script.toml"];
    let (code, _, told) = home.pointsman(&[&run[..], &["--budget", "model_calls=1"]].concat());
    assert_eq!(code, 4, "{told}");
    assert!(told.contains("the limit of 1 model call is reached"), "{told}");
    home.settings("[budget.chat]\nmodel_calls = 9\n");
    let (code, _, told) = home.pointsman(&["replay", "last"]);
    assert_eq!(code, 0, "{told}");
}

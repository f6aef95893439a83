//! Each command as people meet it.

use insta::assert_snapshot;
use pointsman_kernel::diagnostic::Code;

use crate::{pointsman, stdout};

#[test]
fn help_has_examples() {
    assert_snapshot!(stdout(&["--help"]));
    for command in [
        "acp",
        "approve",
        "cancel",
        "check",
        "compare",
        "completions",
        "decode",
        "deny",
        "doctor",
        "explain",
        "export",
        "fields",
        "fork",
        "pause",
        "graph",
        "init",
        "man",
        "migrate",
        "profile",
        "replay",
        "report",
        "reproduce",
        "resume",
        "run",
        "runs",
        "serve",
        "show",
        "simulate",
        "stats",
        "token",
        "why",
    ] {
        let help = stdout(&[command, "--help"]);
        assert!(help.contains("Examples:\n"), "`{command} --help` has no examples:\n{help}");
    }
    for more in [
        ["profile", "check"],
        ["profile", "example"],
        ["runs", "prune"],
        ["token", "create"],
        ["token", "list"],
        ["token", "revoke"],
    ] {
        let help = stdout(&[&more[..], &["--help"]].concat());
        assert!(help.contains("Examples:\n"), "`{more:?} --help` has no examples:\n{help}");
    }
}

#[test]
fn agents_to_talk_with_are_described() {
    for command in ["chat", "acp"] {
        let help = stdout(&[command, "--help"]);
        for agent in pointsman_agents::all().conversational() {
            let agent = agent.name;
            let (_, what) = help.split_once(&format!("- {agent}:")).unwrap_or_default();
            let what = what.lines().next().unwrap_or_default();
            assert!(what.trim().len() > 10, "`{command}` does not say what `{agent}` is:\n{help}");
        }
    }
}

#[test]
fn check_prints_the_certificates_of_the_shipped_charts() {
    for (name, _) in pointsman_agents::CHARTS {
        assert_snapshot!(format!("check_{name}"), stdout(&["check", name]));
    }
}

#[test]
fn check_json_keeps_its_contract() {
    assert_snapshot!(stdout(&["check", "form", "--json"]));
    assert_snapshot!(stdout(&["check", "research", "--json"]));
}

#[test]
fn check_explains_invalid_names() {
    assert_snapshot!(pointsman(&["check", "forms"]));
    assert_snapshot!(pointsman(&["check", "no/such/file.toml"]));
    assert_snapshot!(pointsman(&["check"]));
}

#[test]
fn graph_has_three_text_formats() {
    for format in ["mermaid", "dot", "xstate"] {
        assert_snapshot!(
            format!("graph_form_{format}"),
            stdout(&["graph", "form", "--format", format])
        );
    }
    assert_snapshot!(stdout(&["graph", "code"]));
}

#[test]
fn graph_refuses_a_refused_chart() {
    let shown = pointsman(&["graph", "tests/it/faulty/pm0403_unreachable.toml"]);
    assert!(shown.starts_with("exit 8\n"), "{shown}");
    assert!(shown.contains("PM0403"), "{shown}");
}

#[test]
fn simulate_walks() {
    let happy = "activate,ready,found,fillable,filled,last_field,no_more";
    assert_snapshot!(stdout(&["simulate", "form", "--outcomes", happy]));
    assert_snapshot!(stdout(&["simulate", "form", "--outcomes", happy, "--json"]));
    assert_snapshot!(stdout(&["simulate", "form"]));
}

#[test]
fn simulate_rejects() {
    assert_snapshot!(stdout(&["simulate", "form", "--outcomes", "activate,bogus", "--json"]));
    assert_snapshot!(stdout(&["simulate", "form", "--outcomes", "cancel,activate", "--json"]));
    let used_up = "activate,ready,found,fillable,filled,invalid,filled,invalid";
    assert_snapshot!(stdout(&["simulate", "form", "--outcomes", used_up]));
}

#[test]
fn explain_knows_every_code() {
    assert_snapshot!(stdout(&["explain"]));
    assert_snapshot!(stdout(&["explain", "pm0501"]));
    assert_snapshot!(pointsman(&["explain", "PM9999"]));
    for code in Code::ALL {
        assert!(stdout(&["explain", code.as_str()]).contains(code.title()));
    }
}

#[test]
fn shells_and_manuals_are_served() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("pointsman") && script.contains("approve"), "{shell}");
    }
    assert!(pointsman(&["completions", "csh"]).starts_with("exit 2\n"));
    assert!(stdout(&["man"]).contains(".TH pointsman 1"));
    let folder = crate::TempFolder::new("man");
    let dir = folder.0.display().to_string();
    stdout(&["man", "--dir", &dir]);
    for page in ["pointsman.1", "pointsman-run.1", "pointsman-runs-prune.1"] {
        assert!(folder.0.join(page).is_file(), "{page} was not written");
    }
}

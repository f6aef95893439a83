//! Settings as people meet them: files with mistakes, what a repository may say, `doctor`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::Home;

#[test]
fn mistakes_are_shown_where_they_are() {
    let home = Home::new("mistakes");
    home.write(
        "config/pointsman/pointsman.toml",
        "[model]\nuse = \"opnai:x\"\nmax_token = 100\ntemperature = 7\n\n\
         [limits]\nshell_timeout = \"2 weeks\"\noutput = 32\n\n[sandbx]\n",
    );
    assert_snapshot!(home.shown(&["run", "research", "x"]));
    // Commands that need no settings do not mind.
    assert_eq!(home.pointsman(&["check", "form"]).0, 0);
}

#[test]
fn a_repository_may_not_loosen_security() {
    let home = Home::new("loosen");
    home.write(
        "pointsman.toml",
        "[model]\nbase_url = \"http://example.com\"\n[sandbox]\nnetwork = true\n\
         [mcp]\napprove = [\"files\"]\n\
         [permissions]\notherwise = \"allow\"\nrules = [{ allow = \"shell\" }, { allow = \"read\" }]\n\
         [journal]\npath = \"/tmp/elsewhere.db\"\n",
    );
    assert_snapshot!(home.shown(&["run", "research", "x", "--dry-run"]));
}

#[test]
fn nearest_settings_apply_and_the_command_line_wins() {
    let home = Home::new("nearest");
    home.write("config/pointsman/pointsman.toml", "[model]\nuse = \"ollama:from-user\"\n");
    let model = |variables: &[(&str, &str)], more: &[&str]| {
        let plan = ["run", "research", "x", "--dry-run", "--json", "--dir", "docs"];
        let shown = home.with(variables, &[&plan[..], more].concat());
        let plan: Value = serde_json::from_str(&shown.out).expect("the text is valid JSON");
        plan["model"].as_str().expect("a name").to_owned()
    };
    assert_eq!(model(&[], &[]), "ollama:from-user");
    // A repository says how a model is used, and not which one.
    home.write("pointsman.toml", "[model]\nmax_tokens = 100\n");
    assert_eq!(model(&[], &[]), "ollama:from-user");
    let variable = [("POINTSMAN_MODEL", "ollama:from-environment")];
    assert_eq!(model(&variable, &[]), "ollama:from-environment");
    assert_eq!(model(&variable, &["--model", "quote"]), "quote");
}

#[test]
fn doctor_reports_problems() {
    let home = Home::new("doctor");
    let checks = |arguments: &[&str]| {
        let (code, out, _) = home.pointsman(&[&["doctor", "--json"][..], arguments].concat());
        let said: Value = serde_json::from_str(&out).expect("the text is valid JSON");
        (code, said)
    };
    let find = |said: &Value, name: &str| -> Value {
        let all = said["checks"].as_array().expect("the value is a list").iter();
        all.clone().find(|check| check["name"] == name).cloned().expect("it was checked")
    };
    let (code, said) = checks(&[]);
    assert_eq!((code, &said["ok"]), (0, &true.into()), "{said}");
    assert_eq!(find(&said, "journal")["status"], "ok");
    assert!(!home.path("state").exists(), "nothing is made");
    let (code, said) = checks(&["--model", "openai:gpt"]);
    assert_eq!((code, &find(&said, "model")["status"]), (1, &"fail".into()), "{said}");
    // No server listens on port 1.
    let local = ["--model", "openai-compatible:x", "--base-url", "http://127.0.0.1:1/v1"];
    let (code, said) = checks(&local);
    assert_eq!((code, &find(&said, "server")["status"]), (1, &"fail".into()), "{said}");
    home.write(".mcp.json", "{\"mcpServers\":{\"files\":{\"command\":\"serve-files\"}}}");
    let (code, said) = checks(&[]);
    assert_eq!((code, &find(&said, "mcp")["status"]), (0, &"warn".into()), "{said}");
    let hint = find(&said, "mcp")["hint"].as_str().expect("it has one").to_owned();
    home.write("config/pointsman/pointsman.toml", "[mcp]\napprove = [\"files\"]\n");
    assert_eq!(find(&checks(&[]).1, "mcp")["status"], "warn", "a name alone approves nothing");
    assert_eq!(find(&checks(&["--mcp", "files"]).1, "mcp")["status"], "ok");
    let line = hint.split('`').find(|it| it.starts_with("approve = ")).expect("the line to add");
    home.write("config/pointsman/pointsman.toml", &format!("[mcp]\n{line}\n"));
    assert_eq!(find(&checks(&[]).1, "mcp")["status"], "ok", "{line}");
    home.write("state/pointsman/journal.db", "this is no journal, and is long enough to tell");
    let (code, said) = checks(&[]);
    assert_eq!((code, &find(&said, "journal")["status"]), (1, &"fail".into()), "{said}");
    assert_eq!(home.pointsman(&["runs"]).0, 10);
}

#[test]
fn the_log_is_off_until_it_is_asked_for() {
    let home = Home::new("log");
    let run = ["run", "research", "red signal", "--dir", "docs"];
    assert!(!home.pointsman(&run).2.contains("state_transition"));
    let (_, _, told) = home.pointsman(&[&run[..], &["--log", "info"]].concat());
    assert!(told.contains("INFO") && told.contains("state_transition"), "{told}");
    let variables = [("POINTSMAN_LOG", "info"), ("POINTSMAN_LOG_FILE", "run.log")];
    assert!(!home.with(&variables, &run).err.contains("state_transition"));
    let log = std::fs::read_to_string(home.path("run.log")).expect("the file exists and is UTF-8");
    assert!(log.contains("state_transition") && !log.contains('\u{1b}'), "{log}");
}

#[test]
fn invalid_rule_is_rejected_and_useless_rule_reported() {
    let home = Home::new("void-rules");
    for rule in ["shell:rm *", ":command=x", "", "shell:=x"] {
        let (code, _, told) = home.pointsman(&["run", "research", "x", "--deny", rule]);
        assert_eq!(code, 2, "{rule}: {told}");
        assert!(told.contains("write TOOL or TOOL:ARGUMENT=PATTERN"), "{rule}: {told}");
    }
    home.settings("[permissions]\nrules = [{ deny = \"gti\" }, { deny = \"mcp.elsewhere.*\" }]\n");
    let run = ["run", "research", "Who sets the points?", "--dir", "docs"];
    let rules = ["--deny", "shel*", "--ask", "shell:comand=rm *", "--deny", "shell:command=rm *"];
    let (code, _, told) = home.pointsman(&[&run[..], &rules].concat());
    assert_eq!(code, 0, "{told}");
    assert!(!told.contains("`shel*`") && !told.contains("`mcp.elsewhere"), "{told}");
    for void in ["rule `gti` matches no known tool", "has no argument `comand`"] {
        assert_eq!(told.matches(void).count(), 1, "{void}: {told}");
    }
}

#[test]
fn unusable_server_list_stops_no_run() {
    let home = Home::new("wrong-servers");
    let run = ["run", "research", "Who sets the points?", "--dir", "docs"];
    for (list, told) in [
        (r#"{"mcpServers":{"a":{"type":"sse","url":"http://x"}}}"#, "`sse` is not supported"),
        (r#"{"mcpServers":{"a":{"type":"ws","url":"ws://x"}}}"#, "`ws` is not supported"),
        (r#"{"mcpServers":{"a":{"command":"x","env":{"K":"${input:key}"}}}}"#, "names no variable"),
        (r#"{"mcpServers":{"a":7}}"#, "expected an object, found a number"),
        ("{}", "it has no `mcpServers` object"),
        ("{", "not valid JSON"),
    ] {
        home.write("docs/.mcp.json", list);
        let (code, _, said) = home.pointsman(&run);
        assert_eq!(code, 0, "{list}: {said}");
        assert!(said.contains(told), "{list}: {said}");
        let (code, _, said) = home.pointsman(&[&run[..], &["--mcp", "a"]].concat());
        let told = if list == "{}" { "lists no server `a`; it lists none" } else { told };
        assert!(code == 2 && said.contains(told), "{list}: {code}, {said}");
        assert_eq!(
            home.pointsman(&["doctor", "--dir", "docs"]).0,
            i32::from(list == "{"),
            "{list}"
        );
    }
}

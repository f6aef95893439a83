//! Forms without a browser: profiles, messages before a run, and rejections.

use insta::assert_snapshot;
use serde_json::Value;

use crate::home::Home;

const PROFILE: &str = "given-name = \"Ada\"\nfamily-name = \"Byron\"\nemail = \"ada@example.org\"\n\
    [answers]\n\"Why us\" = \"the reason\"\n[facts]\nwork = \"engines\"\n";

fn home(name: &str) -> Home {
    let home = Home::new(name);
    home.write("profile.toml", PROFILE);
    home.write("form.html", "<form><input name=email></form>");
    home
}

#[test]
fn a_profile_is_checked() {
    let home = home("profile-check");
    assert_snapshot!("profile_fine", home.shown(&["profile", "check", "profile.toml"]));
    home.write(
        "doubtful.toml",
        "email = \"nobody\"\nbday = \"9.3.1984\"\ncountry = \"Germany\"\ntel = \"12\"\n\
         new-password = \"hunter2\"\nallow = [\"card\"]\n",
    );
    let shown = home.shown(&["profile", "check", "doubtful.toml"]);
    assert!(!shown.contains("hunter2") && !shown.contains("nobody"), "{shown}");
    assert_snapshot!("profile_doubts", shown);
    home.write(
        "wrong.toml",
        "given_name = \"Ada\"\nnew-password = \"hunter2\"\nemial = \"a@b.org\"\nallow = \"card\"\n",
    );
    let shown = home.shown(&["profile", "check", "wrong.toml"]);
    assert!(!shown.contains("hunter2") && !shown.contains("Ada"), "{shown}");
    assert_snapshot!("profile_mistakes", shown);
    assert_snapshot!("profile_missing", home.shown(&["profile", "check", "nobody.toml"]));
    let (code, out, _) = home.pointsman(&["profile", "check", "profile.toml", "--json"]);
    let said: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!((code, &said["derived"][0]), (0, &Value::from("name")));
}

#[test]
fn the_example_can_be_used_as_it_is() {
    let home = home("profile-example");
    let (code, out, _) = home.pointsman(&["profile", "example"]);
    assert_eq!(code, 0);
    home.write("example.toml", &out);
    let (code, out, err) = home.pointsman(&["profile", "check", "example.toml"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn form_without_its_options_says_what_is_missing() {
    let home = home("form-lacks");
    let form = |more: &[&str]| home.shown(&[&["run", "form"][..], more].concat());
    assert_snapshot!("form_no_url", form(&["--profile", "profile.toml"]));
    assert_snapshot!("form_no_profile", form(&["--url", "form.html"]));
    let with = |url: &str| form(&["--url", url, "--profile", "profile.toml"]);
    assert_snapshot!("form_bad_scheme", with("ftp://example.org/form"));
    assert_snapshot!("form_no_file", with("nowhere.html"));
    home.write("wrong.toml", "emial = \"a@b.org\"\n");
    let wrong = form(&["--url", "form.html", "--profile", "wrong.toml"]);
    assert_snapshot!("form_bad_profile", wrong);
    let other = home.shown(&["run", "research", "x", "--url", "https://example.org"]);
    assert_snapshot!("form_option_elsewhere", other);
    assert_eq!(home.pointsman(&["runs", "--json"]).1, "", "nothing was begun");
}

#[test]
fn missing_browser_is_reported_before_the_run() {
    let home = home("form-no-browser");
    let arguments = ["run", "form", "--url", "form.html", "--profile", "profile.toml"];
    let shown = home.with(&[("PATH", "/nonexistent")], &arguments);
    let (code, err) = (shown.code, home.redacted(&shown.err));
    assert_eq!((code, shown.out.as_str()), (Some(2), ""), "{err}");
    assert_snapshot!("form_no_browser", err);
    home.write("config/pointsman/pointsman.toml", "[form]\ndriver = \"/nowhere/chromedriver\"\n");
    let (code, _, err) = home.pointsman(&arguments);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("/nowhere/chromedriver"), "{err}");
}

#[test]
fn dry_run_lists_fields_and_sources() {
    let home = home("form-dry");
    let plan = ["run", "form", "--url", "form.html", "--profile", "profile.toml", "--dry-run"];
    assert_snapshot!("form_dry", home.shown(&plan));
    let more = [&plan[..], &["--submit", "yes", "--json"]].concat();
    let (code, out, err) = home.pointsman(&more);
    assert_eq!(code, 0, "{err}");
    let said: Value = serde_json::from_str(&out).expect("the text is valid JSON");
    assert_eq!(said["permissions"]["rules"][0]["tool"], "form.submit");
    assert_eq!(said["permissions"]["attended"], false, "nobody is at the terminal");
    assert!(!out.contains("ada@example.org") && !out.contains("the reason"), "{out}");
    assert!(said["form"]["profile"].as_str().is_some_and(|it| it.contains("1 answer")), "{out}");
}

#[test]
fn only_typed_rules_override_denials() {
    let home = home("form-refused");
    let first = |settings: &str, more: &[&str]| {
        home.settings(settings);
        let plan = ["run", "form", "--url", "form.html", "--profile", "profile.toml", "--dry-run"];
        let (code, out, err) = home.pointsman(&[&plan[..], &["--json"], more].concat());
        assert_eq!(code, 0, "{err}");
        let said: Value = serde_json::from_str(&out).expect("the text is valid JSON");
        let rule = &said["permissions"]["rules"][0];
        assert_eq!(rule["tool"], "form.submit", "{out}");
        rule["level"].as_str().expect("it has a level").to_owned()
    };
    let denies = "[permissions]\nrules = [{ deny = \"form.submit\" }]\n";
    assert_eq!(first("", &[]), "ask");
    assert_eq!(first(denies, &[]), "refuse");
    let sends = format!("[form]\nsubmit = \"yes\"\n{denies}");
    assert_eq!(first("[form]\nsubmit = \"yes\"\n", &[]), "allow");
    assert_eq!(first(&sends, &[]), "refuse");
    assert_eq!(first(denies, &["--submit", "ask"]), "ask");
    assert_eq!(first(&sends, &["--submit", "yes"]), "allow");
}

#[test]
fn a_browser_that_runs_already_is_not_looked_for() {
    let home = home("form-attach");
    // No server listens there, which is reported when the run needs it.
    home.settings("[form]\nattach = \"http://127.0.0.1:9\"\nstart_timeout = \"2s\"\n");
    let arguments = ["run", "form", "--url", "form.html", "--profile", "profile.toml"];
    let shown = home.with(&[("PATH", "/nonexistent")], &arguments);
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(!shown.err.contains("was not found"), "{}", shown.err);
}

#[test]
fn attempts_per_field_are_part_of_the_chart() {
    let home = home("form-attempts");
    let digest = |attempts: &str| {
        let settings = format!("[form]\nattempts_per_field = {attempts}\n");
        home.write("config/pointsman/pointsman.toml", &settings);
        let plan = [
            "run",
            "form",
            "--url",
            "form.html",
            "--profile",
            "profile.toml",
            "--dry-run",
            "--json",
        ];
        let (code, out, err) = home.pointsman(&plan);
        assert_eq!(code, 0, "{err}");
        let said: Value = serde_json::from_str(&out).expect("the text is valid JSON");
        said["digest"].to_string()
    };
    let shipped = pointsman_agents::chart("form").expect("the chart ships").expect("it is sound");
    let shipped = format!("\"{}\"", shipped.digest());
    assert_eq!(digest("2"), shipped, "the default is the shipped chart");
    assert_ne!(digest("1"), digest("2"));
}

//! Profiles and `[form]`: what they may say, and where mistakes are.

use std::{env, fs, os::unix::fs::PermissionsExt as _};

use pointsman_agents::form::{FieldKind, OnOptional, SensitiveKind};
use pointsman_runtime::config::{Config, ConfigOrigin, Problem, Submit};
use pointsman_webdriver::{
    browser::{self, Attach},
    profile::{self, ProfileError},
    settings,
};

#[test]
fn the_example_is_a_profile_and_nothing_about_it_looks_wrong() {
    let written = profile::parse(profile::EXAMPLE).expect("profile is valid");
    assert_eq!(written.doubts(), []);
    assert!(written.profile.values.len() > 10);
    assert_eq!(written.profile.answers["Do you need a visa"], "no");
    assert_eq!(written.profile.facts.len(), 2);
}

#[test]
fn values_are_text_however_they_are_written() {
    let text = r#"
        bday = 1984-03-09
        postal-code = 12345
        allow = ["file", "card"]
        [values]
        email = "ada@example.org"
        [answers]
        "Years" = 8
        "Share" = 0.5
        "Agree" = true
        "Days" = ["Monday", "Friday"]
        '#a > input[name="b"]:nth-of-type(2)' = "by its selector"
    "#;
    let profile = profile::parse(text).expect("profile is valid").profile;
    assert_eq!(profile.values[&FieldKind::Bday], "1984-03-09");
    assert_eq!(profile.values[&FieldKind::PostalCode], "12345");
    assert_eq!(profile.values[&FieldKind::Email], "ada@example.org");
    let answer = |label: &str| profile.answers[label].as_str();
    assert_eq!([answer("Years"), answer("Share")], ["8", "0.5"]);
    assert_eq!([answer("Agree"), answer("Days")], ["yes", "Monday\nFriday"]);
    let (selector, key) = ("#a > input[name=\"b\"]:nth-of-type(2)", "answers.");
    let found = profile.value(&format!("{key}{selector}")).map(|(_, value)| value);
    assert_eq!(found.as_deref(), Some("by its selector"));
    assert!(
        profile.allow.contains(&SensitiveKind::File)
            && profile.allow.contains(&SensitiveKind::Card)
    );
}

#[test]
fn a_fact_names_the_fields_that_it_is_for() {
    let text = r#"
        [facts]
        work = "engines"
        years = 8
        why = { value = "for the trains", for = ["motivation", "cover letter"] }
        town = { value = "Whitby", for = "*" }
    "#;
    let profile = profile::parse(text).expect("profile is valid").profile;
    let told = |label: &str| profile.told(&[label.into()]);
    assert_eq!(told("Describe your work"), "- town: Whitby\n- work: engines");
    assert_eq!(told("Cover letter"), "- town: Whitby\n- why: for the trains");
    assert_eq!(told("Anything else"), "- town: Whitby");
    assert_eq!(profile.facts["years"].value, "8");
    for (wrong, says) in [
        ("iban = { value = \"x\", form = \"y\" }", "a fact has no `form`"),
        ("iban = { for = \"y\" }", "the fact `iban` has no `value`"),
        ("iban = { value = \"\", for = \"y\" }", "`value` of the fact `iban` is empty"),
        ("iban = { value = \"x\", for = [] }", "`for` of the fact `iban` is empty"),
    ] {
        let problems = profile::parse(&format!("[facts]\n{wrong}\n")).expect_err(wrong);
        assert_eq!(problems[0].message, says);
        assert!(problems[0].hint.contains("iban = { value"), "{problems:?}");
    }
}

#[test]
fn mistakes_of_a_profile_have_places_and_hints() {
    let text = "given_name = \"Ada\"\nemial = \"a@b.org\"\nallow = [\"pasword\", \"captcha\"]\n\
                facts = 3\ntel = { a = 1 }\nwibble = \"x\"\n";
    let problems = profile::parse(text).expect_err("profile has mistakes");
    let told: Vec<(usize, &str, &str)> = problems
        .iter()
        .map(|it| {
            let line = text[..it.span.start].matches('\n').count() + 1;
            (line, it.message.as_str(), it.hint.as_str())
        })
        .collect();
    assert_eq!(told[0], (1, "a profile has no key `given_name`", "did you mean `given-name`?"));
    assert!(told[1].2.contains("did you mean `email`?"), "{told:?}");
    assert!(told[2].2.contains("did you mean `password`?"), "{told:?}");
    assert!(told[3].2.contains("never filled"), "{told:?}");
    assert_eq!((told[4].0, told[4].1), (4, "`facts` must be a table"));
    assert_eq!((told[5].0, told[5].1), (5, "`tel` must be text"));
    assert!(told[6].2.contains("[answers]"), "{told:?}");
    assert_eq!(told.len(), 7);
    assert!(profile::parse("email = ").is_err(), "no TOML");
}

#[test]
fn doubts_have_the_place_of_their_key() {
    let text = "family-name = \"Byron\"\nemail = \"nobody\"\nallow = [\"card\"]\n";
    let doubts = profile::parse(text).expect("profile is valid").doubts();
    let lines: Vec<usize> =
        doubts.iter().map(|it| text[..it.span.start].matches('\n').count() + 1).collect();
    assert_eq!(lines, [2, 3], "{doubts:?}");
}

#[test]
fn world_readable_files_are_detected() {
    let file = env::temp_dir().join(format!("pointsman-profile-{}", std::process::id()));
    fs::write(&file, "email = \"a@b.org\"\n").expect("file is writable");
    for (mode, open) in [(0o600, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("test owns the file");
        assert_eq!(profile::is_open(&file), open, "{mode:o}");
    }
    assert_eq!(
        profile::read(&file).expect("profile is valid").values[&FieldKind::Email],
        "a@b.org"
    );
    fs::remove_file(&file).expect("test owns the path");
    let missing = profile::read(&file).expect_err("target is gone");
    fs::write(&file, "#".repeat(1024 * 1024 + 1)).expect("file is writable");
    let long = profile::read(&file).expect_err("profile is too long");
    assert!(long.hint().is_some_and(|it| it.contains("yourself")), "{long}");
    fs::remove_file(&file).expect("test owns the path");
    assert!(missing.hint().is_some_and(|it| it.contains("profile example")), "{missing}");
}

#[test]
fn mistakes_of_a_profile_show_no_value() {
    let file = env::temp_dir().join(format!("pointsman-mistakes-{}.toml", std::process::id()));
    let told = |text: &str| {
        fs::write(&file, text).expect("file is writable");
        let error = profile::read(&file).expect_err(text);
        assert!(error.hint().is_some_and(|it| it.contains("profile check")), "{error}");
        let ProfileError::Mistakes { text, problems, .. } = error else { panic!("{error}") };
        let shown =
            |it: &Problem| text.get(it.span.start..it.span.end).expect("span is inside the text");
        let shown = problems.iter().map(shown).collect::<Vec<_>>().join("|");
        assert!(!format!("{text}{problems:?}").contains("hunter2"), "{text}{problems:?}");
        (text, shown)
    };
    let beside = "emial = \"a\"\nnew-password = \"hunter2\" # hunter2\n[answers]\n\"a = b\" = 1\n";
    assert_eq!(
        told(beside),
        ("emial = …\nnew-password = …\n[answers]\n\"a = …\n".into(), "emial".into())
    );
    // The place of a value is that of the sign which stands for it.
    let (text, place) = told("# hunter2\nallow = \"hunter2\"\nemail = { a = \"hunter2\" }\r\n");
    assert_eq!((text.as_str(), place.as_str()), ("…\nallow = …\nemail = …\n", "…|…"));
    // Text of several lines, and text that is not TOML.
    for text in [
        "emial = 1\nnew-password = \"\"\"\nhunter2\n  [hunter2]\n\"\"\"\n",
        "new-password \"hunter2\"\n",
        "new-password = hunter2\n",
        "new-password = \"hunter2\n",
        "hunter2",
        "new-password = \"é\\hunter2\"",
        "[facts]\nhunter2",
        "emial = [\n  \"hunter2\",\n]",
    ] {
        told(text);
    }
    fs::remove_file(&file).expect("test owns the path");
}

const WHOLE: &str = r#"
[form]
profile = "/home/ada/profile.toml"
attempts_per_field = 3
redact = false
optional = "error"
submit = "yes"
sites = ["https://pay.example.org"]
driver = "/opt/chromedriver"
browser = "/opt/chromium"
attach = "http://127.0.0.1:9515"
visible = true
keep = "1m"
start_timeout = "20s"
load_timeout = "10s"
settle_timeout = "5s"
bare_timeout = "2s"
fill_timeout = "90s"
verify_timeout = "9s"
press_timeout = "8s"
list_timeout = "4s"
parts_timeout = "6s"
command_timeout = "40s"
stop_timeout = "7s"
"#;

#[test]
fn the_settings_for_forms_are_read_and_used() {
    let form = Config::parse(WHOLE, ConfigOrigin::User).expect("settings are valid").form;
    assert_eq!((form.attempts(), form.redact, form.submit), (3, Some(false), Some(Submit::Yes)));
    assert_eq!(form.optional, Some(OnOptional::Error));
    let browser = settings::browser(&form);
    assert!(browser.visible && browser.keep.as_secs() == 60 && browser.settle.as_secs() == 5);
    assert_eq!(browser.bare.as_millis(), 2_000);
    let times = [browser.moving, browser.options, browser.parts, browser.command, browser.stop];
    assert_eq!(times.map(|time| time.as_secs()), [8, 4, 6, 40, 7]);
    let attach = Attach::Driver { url: "http://127.0.0.1:9515".into(), session: None };
    assert_eq!(browser.attach, Some(attach));
    let expected =
        [("observe", 38_000), ("next_page", 31_000), ("fill", 90_000), ("verify", 9_000)];
    assert_eq!(settings::timeouts(&form), expected);
    let usual = Config::default().form;
    assert_eq!((usual.attempts(), settings::timeouts(&usual).len()), (2, 0));
    assert_eq!(settings::browser(&usual).bare.as_millis(), 1_500);
    let short = Config::parse("[form]\nsettle_timeout = \"1s\"\n", ConfigOrigin::User);
    let bare = settings::browser(&short.expect("settings are valid").form).bare;
    assert_eq!(bare.as_millis(), 500, "a page without fields is not given up before it is one");
}

#[test]
fn a_repository_may_only_be_stricter_with_forms() {
    let refused = |text: &str| {
        let problems = Config::parse(text, ConfigOrigin::Repository).expect_err(text);
        assert!(
            problems.iter().all(|it| it.message.contains("cannot be set here")),
            "{problems:?}"
        );
        problems.len()
    };
    let all = Config::parse(WHOLE, ConfigOrigin::Repository)
        .expect_err("repository settings are restricted");
    assert_eq!(all.len(), 9, "{all:?}");
    assert_eq!(refused("[form]\nredact = false\n"), 1);
    assert_eq!(refused("[form]\nsubmit = \"yes\"\n"), 1);
    assert_eq!(refused("[form]\nsites = [\"https://evil.test\"]\n"), 1);
    let repository = |text: &str| Config::parse(text, ConfigOrigin::Repository).expect(text);
    let user = || Config::parse(WHOLE, ConfigOrigin::User).expect("settings are valid");
    let strict = "[form]\nredact = true\nsubmit = \"never\"\nattempts_per_field = 9\n";
    let form = user().under(repository(strict)).form;
    assert_eq!((form.redact, form.submit), (Some(true), Some(Submit::Never)));
    assert_eq!(form.attempts(), 3, "what its reader has set stays");
    let form = user().under(repository("[form]\nsubmit = \"ask\"\n")).form;
    assert_eq!(form.submit, Some(Submit::Ask));
    let harmless = repository("[form]\nattempts_per_field = 1\nbare_timeout = \"3s\"\n");
    let form = Config::default().under(harmless).form;
    assert_eq!(
        (form.attempts(), form.submit, form.bare),
        (1, None, Some(std::time::Duration::from_secs(3)))
    );
}

#[test]
fn only_programs_to_start_are_searched() {
    let nowhere = "[form]\ndriver = \"/nowhere/driver\"\nbrowser = \"/nowhere/browser\"\n";
    let missing = |more: &str| {
        let config = Config::parse(&format!("{nowhere}{more}"), ConfigOrigin::User);
        let settings = settings::browser(&config.expect("settings are valid").form);
        browser::is_there(&settings).map_err(|error| error.to_string())
    };
    assert!(missing("").is_err_and(|it| it.contains("/nowhere/driver")));
    assert_eq!(missing("attach = \"http://127.0.0.1:9515\"\n"), Ok(()));
    // A driver is started for a browser that runs.
    assert!(missing("attach = \"127.0.0.1:9222\"\n").is_err_and(|it| it.contains("driver")));
    let driver = env::current_exe().expect("test binary has a path");
    let config = format!("[form]\ndriver = {driver:?}\nbrowser = \"/nowhere/browser\"\n");
    let missing = |more: &str| {
        let config = Config::parse(&format!("{config}{more}"), ConfigOrigin::User);
        let settings = settings::browser(&config.expect("settings are valid").form);
        browser::is_there(&settings).is_err()
    };
    assert!(missing("") && !missing("attach = \"127.0.0.1:9222\"\n"));
}

#[test]
fn a_page_is_named_by_an_address_or_a_file() {
    let folder = env::temp_dir().join(format!("pointsman-pages-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("folder is writable");
    let page = folder.join("a form#1?.html");
    fs::write(&page, "<input>").expect("file is writable");
    let page = page.canonicalize().expect("path exists");
    let named = page.display().to_string();
    for name in [named.clone(), format!("file:{named}")] {
        let url = browser::address(&name).expect("page exists");
        assert!(url.starts_with("file:///") && url.ends_with("/a%20form%231%3F.html"), "{url}");
    }
    for whole in
        ["https://a.test/x", "HTTP://a.test", "file:///a%20b.html", "data:,x://y", "about:blank"]
    {
        assert_eq!(browser::address(whole).expect("page address is valid"), whole);
    }
    let folder_name = folder.display().to_string();
    for (bad, why, hint) in [
        ("ftp://a.test", "cannot be opened", "file"),
        ("chrome://version", "cannot be opened", "file"),
        ("https:///x", "names no host", "example.org"),
        ("http://", "names no host", "example.org"),
        ("https://?q", "names no host", "example.org"),
        ("no/such/file", "cannot read", "an existing file"),
        ("nowhere.html", "cannot read", "or a full address"),
        ("example.org", "cannot read", "https://example.org"),
        ("localhost:8000/form", "cannot read", "http://localhost:8000/form"),
        (&folder_name, "is a directory", "an existing file"),
    ] {
        let error = browser::address(bad).expect_err(bad);
        assert!(error.to_string().contains(why) && error.hint().contains(hint), "{bad}: {error}");
    }
    fs::remove_dir_all(&folder).expect("test owns the path");
}

#[test]
fn bad_form_settings_have_hints() {
    for (line, hint) in [
        ("attempts_per_field = 0", "from 1 to 20"),
        ("attempts_per_field = \"two\"", "from 1 to 20"),
        ("submit = \"maybe\"", "\"never\""),
        ("optional = true", "\"skip\""),
        ("sites = [\"example.org\"]", "https://example.org"),
        ("sites = \"https://example.org\"", "a list of sites"),
        ("attach = \"9222\"", "127.0.0.1:9222"),
        ("browser = \"chromium\"", "a full path"),
        ("keep = 10", "a number and a unit"),
        ("settle_timout = \"1s\"", "did you mean `settle_timeout`?"),
    ] {
        let problems =
            Config::parse(&format!("[form]\n{line}\n"), ConfigOrigin::User).expect_err(line);
        assert!(problems[0].hint.contains(hint), "{line}: {problems:?}");
    }
}

//! Answers that are remembered in the file that people write: rules, for as long as they
//! hold, and whether changes are committed.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use pointsman_kernel::governor::{Grant, Level};
use pointsman_runtime::config::{
    Config, ConfigError, ConfigOrigin, remember, remember_commit, rule,
};

use crate::store::TempFolder;

fn file(name: &str) -> (TempFolder, PathBuf) {
    let folder = TempFolder::new(&format!("remember-{name}"));
    let file = folder.0.join("config/pointsman.toml");
    (folder, file)
}

fn shell(command: &str) -> Grant {
    let arguments = vec![("command".into(), command.into())];
    Grant { arguments, ..rule("shell", Level::Allow) }
}

fn rules(file: &Path) -> Vec<Grant> {
    let config = Config::read(file, ConfigOrigin::User)
        .expect("the settings are valid")
        .expect("it is there");
    config.permissions.rules.into_iter().map(|dated| dated.grant).collect()
}

#[test]
fn a_file_is_made_and_a_rule_is_added_once() {
    let (_folder, file) = file("new");
    remember(&file, &shell("cargo test *"), None).expect("the rule is written");
    assert_eq!(rules(&file), [shell("cargo test *")]);
    let text = fs::read_to_string(&file).expect("the file exists and is UTF-8");
    remember(&file, &shell("cargo test *"), None).expect("it is there already");
    assert_eq!(fs::read_to_string(&file).expect("the file exists and is UTF-8"), text);
    remember(&file, &rule("edit", Level::Refuse), None).expect("the rule is written");
    remember(&file, &shell("say \"it\" \\ = ü"), None).expect("the rule is written");
    assert_eq!(
        rules(&file),
        [shell("say \"it\" \\ = ü"), shell("cargo test *"), rule("edit", Level::Refuse)]
    );
    let left: Vec<_> = fs::read_dir(file.parent().expect("the path has a parent folder"))
        .expect("the folder is readable")
        .collect();
    assert_eq!(left.len(), 1, "no temporary file stays");
}

const WRITTEN: &str = "\
# Mine.
[model]
use = \"ollama:x\"   # the small one

[permissions]
otherwise = \"ask\"
rules = [
    # Never.
    { deny = \"shell\", with = { command = \"rm *\" } },
    { allow = \"read\" }, # looking is fine
    # The rest is asked for.
    { ask = \"shell\" },
]

[watch]
cpu = 80 # percent
";

#[test]
fn the_answer_about_commits_is_kept_with_the_rest() {
    let (_folder, file) = file("commits");
    let committed = || Config::read(&file, ConfigOrigin::User).expect("the settings are valid");
    let committed = || committed().expect("it is there").hooks.commit;
    remember_commit(&file, true).expect("the setting is written");
    assert_eq!(committed(), Some(true));
    fs::write(&file, format!("{WRITTEN}[hooks]\ndiff = \"1KiB\" # small\n"))
        .expect("the file is written");
    remember_commit(&file, false).expect("the setting is written");
    assert_eq!(committed(), Some(false));
    let text = fs::read_to_string(&file).expect("the file exists and is UTF-8");
    assert!(text.starts_with(WRITTEN) && text.contains("diff = \"1KiB\" # small\n"), "{text}");
    fs::write(&file, "[hooks").expect("the file is written");
    remember_commit(&file, true).expect_err("it has mistakes");
    assert_eq!(fs::read_to_string(&file).expect("the file exists and is UTF-8"), "[hooks");
}

#[test]
fn comments_and_order_stay_and_denials_come_first() {
    let (_folder, file) = file("kept");
    fs::create_dir_all(file.parent().expect("the path has a parent folder"))
        .expect("the folder is created");
    fs::write(&file, WRITTEN).expect("the file is written");
    remember(&file, &shell("cargo test *"), None).expect("the rule is written");
    let text = fs::read_to_string(&file).expect("the file exists and is UTF-8");
    let added = "    { allow = \"shell\", with = { command = \"cargo test *\" } },\n";
    assert_eq!(text.replace(added, ""), WRITTEN, "{text}");
    let order: Vec<Level> = rules(&file).iter().map(|rule| rule.level).collect();
    assert_eq!(order, [Level::Refuse, Level::Allow, Level::Allow, Level::Ask]);
    remember(&file, &rule("edit", Level::Allow), None).expect("the rule is written");
    assert_eq!(rules(&file).last(), Some(&rule("edit", Level::Allow)));
    let text = fs::read_to_string(&file).expect("the file exists and is UTF-8");
    let last = "    { ask = \"shell\" },\n    { allow = \"edit\" },\n]\n";
    assert!(text.contains(last), "{text}");
}

fn with(file: &Path, rules: &[Grant]) {
    let line = |rule: &Grant| {
        let verb = match rule.level {
            Level::Allow => "allow",
            Level::Ask => "ask",
            _ => "deny",
        };
        let with = rule.arguments.first();
        let with =
            with.map_or_else(String::new, |(name, it)| format!(", with = {{ {name} = '{it}' }}"));
        format!("{{ {verb} = '{}'{with} }}", rule.tool)
    };
    let list: Vec<String> = rules.iter().map(line).collect();
    fs::create_dir_all(file.parent().expect("the path has a parent folder"))
        .expect("the folder is created");
    let text = format!("[permissions]\nrules = [{}]\n", list.join(", "));
    fs::write(file, text).expect("the file is written");
}

#[test]
fn later_denials_still_apply() {
    let at = |level, command: &str| Grant { level, ..shell(command) };
    let (_folder, file) = file("later");
    let publish = at(Level::Refuse, "cargo *publish*");
    for (rules, place) in [
        // After a deny that matches some of the same calls.
        (vec![at(Level::Ask, "git *"), publish.clone(), rule("shell", Level::Ask)], 2),
        (vec![shell("make *"), publish.clone()], 2),
        // A deny of other calls, and one that is never looked at, do not count.
        (vec![at(Level::Ask, "git *"), at(Level::Refuse, "rm *")], 0),
        (vec![rule("*", Level::Ask), publish], 0),
    ] {
        with(&file, &rules);
        remember(&file, &shell("cargo test *"), None).expect("the rule is written");
        let mut wanted = rules;
        wanted.insert(place, shell("cargo test *"));
        assert_eq!(self::rules(&file), wanted);
    }
}

#[test]
fn rule_without_effect_is_moved_or_reported() {
    let (_folder, file) = file("shadow");
    let test = shell("cargo test *");
    let ask = |command: &str| Grant { level: Level::Ask, ..shell(command) };
    with(&file, &[ask("cargo *"), test.clone()]);
    remember(&file, &test, None).expect("it is moved");
    assert_eq!(rules(&file), [test.clone(), ask("cargo *")]);
    remember(&file, &test, None).expect("it is there");
    assert_eq!(rules(&file).len(), 2);
    // If it would have no effect, nothing is written, and the caller learns why.
    with(&file, &[shell("make *"), rule("shel*", Level::Refuse), test.clone()]);
    let before = fs::read_to_string(&file).expect("the file exists and is UTF-8");
    let error = remember(&file, &test, None).expect_err("nothing would come of it").to_string();
    assert!(
        error.ends_with("rule 2 denies everything that the new rule allows; edit rule 2 by hand"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&file).expect("the file exists and is UTF-8"), before);
}

#[test]
fn other_ways_to_write_a_list_work_too() {
    for text in [
        "[[permissions.rules]]\ndeny = \"git\"\n\n[[permissions.rules]]\nask = \"shell\" # so\n\n[watch]\ncpu = 9\n",
        "permissions = { rules = [{ deny = \"git\" }, { ask = \"shell\" }] }\n",
        "[permissions]\nrules = [{ deny = \"git\" }, { ask = \"shell\" }]\n",
    ] {
        let (_folder, file) = file("ways");
        fs::create_dir_all(file.parent().expect("the path has a parent folder"))
            .expect("the folder is created");
        fs::write(&file, text).expect("the file is written");
        remember(&file, &shell("make *"), None).expect("the rule is written");
        let wanted = [rule("git", Level::Refuse), shell("make *"), rule("shell", Level::Ask)];
        assert_eq!(
            rules(&file),
            wanted,
            "{}",
            fs::read_to_string(&file).expect("the file exists and is UTF-8")
        );
    }
}

#[test]
fn a_rule_holds_as_long_as_it_says() {
    let (_folder, file) = file("until");
    remember(&file, &shell("make *"), Some(Duration::from_hours(1))).expect("the rule is written");
    let config = || {
        Config::read(&file, ConfigOrigin::User)
            .expect("the settings are valid")
            .expect("there")
            .permissions
    };
    let permissions = config().permissions(Vec::new(), true);
    let left = permissions.rules.first().and_then(|rule| rule.until).expect("it ends");
    assert!((3_590_000..=3_601_000).contains(&left.0), "{left:?}");
    let ends = config().rules[0].until_ms;
    // A longer time replaces it, a shorter one does not, and permanent stays permanent.
    remember(&file, &shell("make *"), Some(Duration::from_mins(1))).expect("the rule is written");
    assert_eq!(config().rules[0].until_ms, ends);
    remember(&file, &shell("make *"), None).expect("the rule is written");
    assert_eq!((config().rules.len(), config().rules[0].until_ms), (1, None));
    let past = "[permissions]\nrules = [{ allow = \"shell\", until = 2020-01-01 }, \
                { allow = \"edit\", until = 2999-12-31T23:00:00Z }]";
    let config =
        Config::parse(past, ConfigOrigin::User).expect("the settings are valid").permissions;
    let tools: Vec<String> =
        config.permissions(Vec::new(), true).rules.into_iter().map(|rule| rule.tool).collect();
    assert_eq!(tools.first().map(String::as_str), Some("edit"));
    let wrong = "[permissions]\nrules = [{ allow = \"shell\", until = \"tomorrow\" }]";
    let found = Config::parse(wrong, ConfigOrigin::User).expect_err("it is no day");
    assert!(found[0].hint.contains("2026-12-01"), "{found:?}");
}

#[test]
fn a_file_with_mistakes_is_left_alone() {
    let (_folder, file) = file("bad");
    fs::create_dir_all(file.parent().expect("the path has a parent folder"))
        .expect("the folder is created");
    for text in ["[permissions\n", "[permissions]\nrule = []\n", "[modell]\n"] {
        fs::write(&file, text).expect("the file is written");
        let error = remember(&file, &shell("make *"), None).expect_err("it has mistakes");
        assert!(matches!(error, ConfigError::Mistakes { .. }), "{error}");
        assert_eq!(fs::read_to_string(&file).expect("the file exists and is UTF-8"), text);
    }
    let error = remember(&file.join("below"), &shell("make *"), None).expect_err("not a folder");
    assert!(error.to_string().contains("cannot"), "{error}");
}

//! One chart for each thing that can be wrong, and the message that it gets.

use std::{collections::BTreeSet, fs, path::PathBuf};

use insta::assert_snapshot;
use pointsman_kernel::diagnostic::Code;

use crate::{TempFolder, pointsman_in};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/faulty")
}

fn charts() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("the folder is there")
        .map(|entry| {
            entry.expect("the folder is readable").file_name().into_string().expect("a name")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_faulty_chart_is_refused_with_its_message() {
    for name in charts() {
        let shown = pointsman_in(&folder(), &["check", &name]);
        assert!(shown.starts_with("exit 8\n"), "{name} was not refused:\n{shown}");
        // The file's name says which code must come.
        if let Some(code) = name.strip_prefix("pm").and_then(|rest| rest.get(..4)) {
            assert!(shown.contains(&format!("PM{code}")), "{name}:\n{shown}");
        }
        assert_snapshot!(name.trim_end_matches(".toml").to_owned(), shown);
    }
}

#[test]
fn every_code_has_a_faulty_chart() {
    let shown: BTreeSet<String> =
        charts().iter().filter_map(|name| name.get(..6)).map(str::to_uppercase).collect();
    for code in Code::ALL {
        // Too long to keep as a file; see below.
        if *code != Code::TooMany {
            assert!(shown.contains(code.as_str()), "no chart in faulty/ shows {code}");
        }
    }
}

#[test]
fn a_chart_with_too_many_states_is_refused() {
    use std::fmt::Write as _;
    let mut chart = fs::read_to_string(folder().join("pm0403_unreachable.toml"))
        .expect("the file exists and is UTF-8");
    for at in 0..200 {
        write!(chart, "[state.more_{at}]\nfinal = \"failed\"\n").expect("strings can be written");
    }
    let home = TempFolder::new("too-many");
    fs::write(home.0.join("large.toml"), chart).expect("the file is written");
    let shown = pointsman_in(&home.0, &["check", "large.toml", "--json"]);
    assert!(shown.contains("\"code\":\"PM0106\""), "{shown}");
}

#[test]
fn json_tells_line_and_column() {
    let shown = pointsman_in(&folder(), &["check", "several_at_once.toml", "--json"]);
    assert_snapshot!(shown);
}

//! Commands over journals that are kept in PostgreSQL.

use std::process::Command;

use serde_json::Value;

use crate::home::Home;

/// Makes a database for one test, and returns its address.
fn database(name: &str) -> String {
    let server = std::env::var("POINTSMAN_POSTGRES_URL").expect("the tier names a server");
    let name = format!("{name}_{}", std::process::id());
    let sql = format!("CREATE DATABASE {name}");
    let made = Command::new("psql").args([&format!("{server}/postgres"), "-qc", &sql]).status();
    assert!(made.expect("psql starts").success());
    format!("{server}/{name}")
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only fleet"]
fn commands_find_their_runs_in_a_database() {
    let home = Home::new("database");
    let url = database("commands");
    let (code, _, err) = home.pointsman(&["runs", "--store", &url]);
    assert_eq!(code, 10);
    assert!(err.contains("pointsman migrate"), "{err}");
    for _ in 0..2 {
        let (code, out, _) = home.pointsman(&["migrate", "--store", &url]);
        assert_eq!((code, out.as_str()), (0, "the tables have format 1\n"));
    }
    let ask = ["run", "research", "Who sets the points?", "--dir", "docs", "--store", &url];
    let (code, out, err) = home.pointsman(&ask);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("points.md:3") && err.contains("journal: PostgreSQL"), "{out}{err}");
    // A call that has to be asked for: the run waits, and other processes answer and go on at once.
    let (code, _, err) = home.pointsman(&["run", "note.toml", "Hello", "--store", &url]);
    assert_eq!(code, 3, "{err}");
    let named = [("POINTSMAN_STORE", url.as_str())];
    let shown = home.with(&named, &["runs", "--json"]);
    let rows: Vec<Value> =
        shown.out.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let charts: Vec<_> = rows.iter().filter_map(|row| row["chart"].as_str()).collect();
    assert_eq!(charts, ["note", "research"]);
    for command in [&["approve", "last"][..], &["resume", "last"], &["replay", "last"]] {
        let shown = home.with(&named, command);
        assert_eq!(shown.code, Some(0), "{command:?}: {}{}", shown.out, shown.err);
    }
    assert_eq!(
        std::fs::read_to_string(home.path("note.txt")).expect("it is written"),
        "Hello, plain"
    );
    let shown = home.with(&named, &["doctor"]);
    assert!(shown.out.contains("in PostgreSQL, 2 runs"), "{}", shown.out);
    assert!(!home.path("state/pointsman/journal.db").exists(), "nothing is kept in a file");
    // A file that is named is a file.
    let shown = home.with(&named, &["runs", "--json", "--journal", "elsewhere.db"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(0), ""));
}

#[test]
fn what_is_no_database_is_refused() {
    let home = Home::new("no_database");
    let (code, _, err) = home.pointsman(&["runs", "--store", "mysql://example"]);
    assert!(code == 2 && err.contains("write postgres://USER@HOST/DATABASE"), "{err}");
    let (code, _, err) = home.pointsman(&["migrate"]);
    assert!(code == 2 && err.contains("give --store URL"), "{err}");
}

//! `list`, `search` and `context.fts_search`.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use serde_json::json;

use super::{TestSession, wait};

fn desk(name: &str) -> TestSession {
    let desk = TestSession::new(name);
    desk.put(".gitignore", "target/\n*.log\n");
    desk.put(".git/config", "[core]\n\tneedle = 1\n");
    desk.put("src/main.rs", "fn main() {\n    needle(1);\n}\n");
    desk.put("src/deep/er/lib.rs", "pub fn needle(n: u8) {}\n// Needle.\n");
    desk.put("target/out.rs", "needle\n");
    desk.put("run.log", "needle\n");
    desk.put("notes.md", "A needle in the hay (1).\n");
    desk.put("binary", b"needle\0needle\n");
    desk
}

#[test]
fn list_skips_ignored_files() {
    let desk = desk("list");
    assert_eq!(
        desk.does("list", json!({})),
        ".gitignore\nbinary\nnotes.md\nsrc/\nsrc/deep/\nsrc/deep/er/\nsrc/main.rs"
    );
    assert_eq!(desk.does("list", json!({ "path": "src", "depth": 1 })), "src/deep/\nsrc/main.rs");
    assert!(desk.does("list", json!({ "depth": 9 })).contains("src/deep/er/lib.rs"));
    let said = desk.refuses("list", json!({ "path": "notes.md" }));
    assert_eq!(said, "`notes.md` is not a folder, but a folder is needed");
    desk.refuses("list", json!({ "path": "nowhere" }));
}

#[test]
fn lines_are_found_by_pattern_or_by_text() {
    let desk = desk("search");
    assert_eq!(
        desk.does("search", json!({ "query": r"needle\(.*\)" })),
        "src/deep/er/lib.rs:1: pub fn needle(n: u8) {}\nsrc/main.rs:2:     needle(1);"
    );
    let literal = json!({ "query": "(1)", "literal": true, "glob": "*.md" });
    assert_eq!(desk.does("search", literal), "notes.md:1: A needle in the hay (1).");
    let narrow = json!({ "query": "needle", "ignore_case": true, "path": "src/deep" });
    assert_eq!(desk.does("search", narrow).lines().count(), 2);
    let one = json!({ "query": "needle", "path": "src/main.rs" });
    assert_eq!(desk.does("search", one), "src/main.rs:2:     needle(1);");
    let glob = json!({ "query": "needle", "glob": "src/**/*.rs" });
    assert_eq!(desk.does("search", glob).lines().count(), 2);
    assert_eq!(desk.does("search", json!({ "query": "nothing at all" })), "nothing matches");
}

#[test]
fn a_bad_pattern_is_explained() {
    let desk = desk("pattern");
    let said = desk.refuses("search", json!({ "query": "(" }));
    assert!(
        said.contains("`query` is not a valid pattern") && said.contains("`literal`"),
        "{said}"
    );
    let said = desk.refuses("search", json!({ "query": "a", "glob": "[" }));
    assert!(said.contains("`glob` is not a valid pattern"), "{said}");
    let said = desk.refuses("search", json!({ "query": "(a{1000}){1000}" }));
    assert!(said.contains("not a valid pattern"), "{said}");
    desk.refuses("search", json!({ "query": "a", "path": "nowhere" }));
}

#[test]
fn results_and_lines_have_limits() {
    let desk = TestSession::with("results", |settings| settings.limits.results = 3);
    for n in 0..5 {
        desk.put(&format!("{n}.txt"), format!("{}hit{}\n", "x".repeat(1000), "y".repeat(1000)));
    }
    let said = desk.does("search", json!({ "query": "hit" }));
    assert_eq!(said.lines().count(), 4);
    assert!(said.ends_with("[more than 3 lines match; narrow the search]"), "{said}");
    assert!(said.lines().take(3).all(|line| line.contains("hit") && line.len() < 400), "{said}");
    let said = desk.does("list", json!({}));
    assert!(said.ends_with("[2 more; give a folder in `path`, or a smaller `depth`]"), "{said}");
}

#[test]
fn passages_are_found_by_words() {
    let desk = desk("passages");
    let said = desk.does("context.fts_search", json!({ "query": "What is in the hay?" }));
    assert_eq!(said, "notes.md:1: A needle in the hay (1).");
    let said = desk.does("context.fts_search", json!({ "query": "zebra" }));
    assert_eq!(said, "no passage matches");
}

#[test]
fn a_look_that_takes_too_long_is_stopped() {
    let desk = TestSession::with("slow", |settings| settings.limits.look_ms = 0);
    for n in 0..200 {
        desk.put(&format!("{n}.txt"), "text\n".repeat(10_000));
    }
    for (tool, arguments) in [
        // Nothing matches, so the search cannot be done early.
        ("search", json!({ "query": "zebra" })),
        ("context.fts_search", json!({ "query": "text" })),
    ] {
        let said = wait(desk.call(tool, arguments));
        assert_eq!(said.output, "it took longer than 0 ms and was stopped; request less", "{tool}");
    }
}

#[test]
fn ignore_list_must_be_a_regular_file() {
    for (name, target) in [("pipe", None), ("zero", Some("/dev/zero"))] {
        let desk = TestSession::with(&format!("ignore-{name}"), |settings| {
            settings.limits.look_ms = 20_000;
        });
        desk.put("sub/a.md", "A needle in the hay.\n");
        desk.put(".gitignore", "*.log\n");
        desk.put("sub/run.log", "needle\n");
        for list in [".ignore", "sub/.gitignore", ".git/info/exclude"] {
            let path = desk.root.join(list);
            fs::create_dir_all(path.parent().expect("the path has a parent folder"))
                .expect("the folder is created");
            match target {
                Some(target) => symlink(target, path).expect("the link is created"),
                None => mkfifo(&path),
            }
        }
        let (said, found) = (desk.does("list", json!({ "depth": 9 })), "sub/a.md");
        assert!(said.contains(found) && !said.contains("run.log"), "{name}: {said}");
        let said = desk.does("search", json!({ "query": "needle", "path": "sub" }));
        assert_eq!(said, "sub/a.md:1: A needle in the hay.", "{name}");
        let said = desk.does("context.fts_search", json!({ "query": "needle hay" }));
        assert_eq!(said, "sub/a.md:1: A needle in the hay.", "{name}");
    }
}

#[test]
fn search_supports_encodings_and_names_large_files() {
    let desk = TestSession::with("encodings", |settings| settings.limits.file_bytes = 2000);
    desk.put("latin.md", b"Der gr\xfcne Papagei singt.\n");
    let wide = "The parrot whistles.\n".encode_utf16().flat_map(u16::to_le_bytes);
    desk.put("wide.md", [0xff, 0xfe].into_iter().chain(wide).collect::<Vec<u8>>());
    desk.put("large.md", "A parrot in a long text.\n".repeat(100));
    desk.put("picture.png", [0; 3000]);
    let search = |query: &str| desk.does("context.fts_search", json!({ "query": query }));
    let large = "[1 file is larger than 2000 bytes and not searched: large.md]";
    assert_eq!(search("Papagei"), format!("latin.md:1: Der gr\u{fc}ne Papagei singt.\n{large}"));
    assert_eq!(search("parrot"), format!("wide.md:1: The parrot whistles.\n{large}"));
    assert_eq!(search("nothing"), format!("no passage matches\n{large}"));
    for n in 0..6 {
        desk.put(&format!("more-{n}.md"), "x\n".repeat(2000));
    }
    let said = search("nothing");
    assert!(said.contains("[7 files are larger than 2000 bytes and not searched: "), "{said}");
    assert!(said.ends_with(", …]"), "{said}");
}

#[test]
fn the_index_can_be_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = TestSession::new("private-index");
    desk.put("a.md", "text\n");
    desk.does("context.fts_search", json!({ "query": "text" }));
    let cache = desk.folder.0.join("cache");
    let mode =
        |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
    assert_eq!(mode(&cache), 0o700);
    for entry in fs::read_dir(&cache).expect("the folder is readable") {
        let path = entry.expect("it is there").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn lists_of_ignored_files_are_honoured_as_git_does() {
    let desk = TestSession::new("ignore");
    desk.put(".gitignore", "*.log\nbuild/\n/only-here\n");
    desk.put(".git/info/exclude", "private.txt\n");
    desk.put("sub/.gitignore", "!keep.log\nlocal\n");
    desk.put("sub/.ignore", "quiet\n");
    for path in [
        "a.log",
        "only-here",
        "private.txt",
        "build/out",
        "sub/keep.log",
        "sub/drop.log",
        "sub/local",
        "sub/only-here",
        "sub/quiet",
        "sub/deep/local",
        "plain",
    ] {
        desk.put(path, "text\n");
    }
    let said = desk.does("list", json!({ "depth": 9 }));
    let files: Vec<&str> = said.lines().filter(|line| !line.contains(".git")).collect();
    assert_eq!(
        files,
        ["plain", "sub/", "sub/.ignore", "sub/deep/", "sub/keep.log", "sub/only-here"]
    );
    let said = desk.does("list", json!({ "path": "sub" }));
    assert!(said.contains("sub/keep.log") && !said.contains("drop.log"), "{said}");
    // A list as long as this is none that a person wrote.
    desk.put(".gitignore", format!("plain\n{}", "#\n".repeat(1 << 20)));
    assert!(desk.does("list", json!({})).contains("plain"));
}

fn mkfifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("the program starts");
    assert!(made.success());
}

#[test]
fn a_file_that_cannot_be_searched_to_its_end_is_named() {
    let desk = TestSession::new("long-line");
    // A line longer than the buffer, and a match behind it.
    desk.put("long.txt", format!("{}\nneedle\n", "x".repeat(9 << 20)));
    desk.put("short.txt", "needle\n");
    for path in [".", "long.txt"] {
        let said = desk.does("search", json!({ "query": "needle", "path": path }));
        assert!(said.contains("1 file was not searched completely"), "{path}: {said}");
        assert!(said.contains("long.txt: "), "{path}: {said}");
    }
    let said = desk.does("search", json!({ "query": "needle", "path": "short.txt" }));
    assert_eq!(said, "short.txt:1: needle");
}

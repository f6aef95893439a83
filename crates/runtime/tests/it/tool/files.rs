//! `read` and `write`.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use super::{TestSession, wait};

#[test]
fn lines_have_their_numbers() {
    let desk = TestSession::new("read");
    desk.put("a.txt", "one\ntwo\nthree\n");
    assert_eq!(
        desk.does("read", json!({ "path": "a.txt" })),
        "     1\tone\n     2\ttwo\n     3\tthree\n[content 10e1a16f0805bd71]\n"
    );
    assert_eq!(
        desk.does("read", json!({ "path": "a.txt", "from": 2, "to": 2 })),
        "     2\ttwo\n[lines 2 to 2 of 3]\n[content 10e1a16f0805bd71]\n"
    );
    let far = json!({ "path": "a.txt", "from": 3, "to": 99 });
    assert!(desk.does("read", far).starts_with("     3\tthree\n"));
    desk.put("empty", "");
    assert_eq!(desk.does("read", json!({ "path": "empty" })), "`empty` is empty");
}

#[test]
fn an_encoding_that_is_not_utf_8_is_named() {
    let desk = TestSession::new("encodings");
    let wide: Vec<u8> = "one\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = [b"\xff\xfe".as_slice(), &wide].concat();
    for (path, bytes, named) in [
        ("plain", "né\n".as_bytes(), None),
        ("marked", "\u{feff}né\n".as_bytes(), None),
        ("odd", b"caf\xe9 \xc3\xa9\n", Some("Latin-1")),
        ("wide", wide.as_slice(), Some("UTF-16")),
    ] {
        desk.put(path, bytes);
        let said = desk.does("read", json!({ "path": path }));
        let line = named.map(|it| format!("\n[not UTF-8: read and kept as {it}]\n[content "));
        match line {
            Some(line) => assert!(said.contains(&line), "{path}: {said}"),
            None => assert!(!said.contains("UTF-8"), "{path}: {said}"),
        }
    }
}

#[test]
fn unreadable_files_have_distinct_errors() {
    let desk = TestSession::with("unread", |settings| settings.limits.file_bytes = 100);
    desk.put("a.txt", "one\ntwo\n");
    desk.put("binary", [1, 0, 2]);
    desk.put("large", "x".repeat(101));
    fs::create_dir(desk.root.join("folder")).expect("the folder is created");
    for (path, why) in [
        ("binary", "`binary` is a binary file of 3 bytes"),
        ("folder", "`folder` is a folder, but a file is needed"),
        ("nothing", "`nothing` does not exist; `list` shows the files"),
    ] {
        assert_eq!(desk.refuses("read", json!({ "path": path })), why);
    }
    let said = desk.refuses("read", json!({ "path": "large" }));
    assert!(said.contains("101 bytes; the limit is 100"), "{said}");
    let said = desk.refuses("read", json!({ "path": "a.txt", "from": 3 }));
    assert_eq!(said, "`a.txt` has 2 lines, so there is no line 3");
    let said = desk.refuses("read", json!({ "path": "a.txt", "from": 2, "to": 1 }));
    assert!(said.contains("the range is empty"), "{said}");
}

#[test]
fn a_long_file_is_read_in_pieces_that_join() {
    let desk = TestSession::with("pieces", |settings| settings.limits.output_bytes = 200);
    let whole: Vec<String> = (1..=50).map(|n| format!("line {n}")).collect();
    desk.put("long", whole.join("\n"));
    let (mut from, mut seen) = (1, Vec::new());
    for _ in 0..50 {
        let said = desk.does("read", json!({ "path": "long", "from": from }));
        assert!(said.len() <= 300, "{}", said.len());
        seen.extend(
            said.lines().filter_map(|line| line.split_once('\t')).map(|(_, t)| t.to_owned()),
        );
        let Some((_, next)) = said.split_once("from=") else { break };
        from = next.split(']').next().expect("a part").parse().expect("it is a number");
    }
    assert_eq!(seen, whole);
    desk.put("wide", "y".repeat(1000));
    let said = desk.does("read", json!({ "path": "wide" }));
    assert!(said.contains("bytes are cut here") && said.len() < 300, "{said}");
}

#[test]
fn a_file_is_made_with_its_folders_and_replaced_with_its_mode() {
    let desk = TestSession::new("write");
    let said = desk.does("write", json!({ "path": "a/b/c.sh", "content": "echo 1\n" }));
    assert!(said.starts_with("created `a/b/c.sh`: 1 line, 7 bytes\n[content none -> "), "{said}");
    let path = desk.root.join("a/b/c.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751))
        .expect("the owner may set permissions");
    let said = wait(desk.call("write", json!({ "path": "a/b/c.sh", "content": "echo 2\n" })));
    assert!(said.ok && said.mutated);
    assert!(said.output.starts_with("replaced `a/b/c.sh`: 1 line,"), "{}", said.output);
    assert_eq!(desk.text("a/b/c.sh"), "echo 2\n");
    let mode = fs::metadata(&path).expect("the file exists").permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);
    let names: Vec<_> =
        fs::read_dir(desk.root.join("a/b")).expect("the folder is readable").collect();
    assert_eq!(names.len(), 1, "no temporary file stays");
}

#[test]
fn failed_write_changes_nothing() {
    let desk = TestSession::with("unwritten", |settings| settings.limits.file_bytes = 10);
    fs::create_dir(desk.root.join("folder")).expect("the folder is created");
    desk.put("file", "text");
    let write = |path: &str, content: &str| json!({ "path": path, "content": content });
    let said = desk.refuses("write", write("folder", "x"));
    assert_eq!(said, "`folder` is a folder, but a file is needed");
    let said = desk.refuses("write", write(".", "x"));
    assert!(said.contains("the workspace itself"), "{said}");
    let said = desk.refuses("write", write("file/below", "x"));
    assert!(said.contains("below a file"), "{said}");
    let said = desk.refuses("write", write("file", "more than ten bytes"));
    assert!(said.contains("19 bytes; the limit is 10"), "{said}");
    assert_eq!(desk.text("file"), "text");
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let desk = TestSession::new("atomic");
    let (short, long) = ("a".repeat(10), "b".repeat(200_000));
    desk.put("file", &short);
    let path = desk.root.join("file");
    let reader = std::thread::spawn(move || {
        for _ in 0..2000 {
            let text = fs::read(&path).expect("it is always there");
            assert!(matches!(text.len(), 10 | 200_000), "{} bytes", text.len());
        }
    });
    for _ in 0..20 {
        for content in [&long, &short] {
            desk.does("write", json!({ "path": "file", "content": content }));
        }
    }
    reader.join().expect("it saw whole files");
}

//! Ways out of the workspace, all of them shut.

use std::{
    fs,
    os::unix::fs::symlink,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};

use super::TestSession;

/// A workspace with a secret beside it, and links that lead there.
fn desk(name: &str) -> TestSession {
    let desk = TestSession::new(name);
    let outside = desk.folder.0.join("outside");
    fs::create_dir(&outside).expect("the folder is created");
    fs::write(outside.join("secret"), "SECRET\n").expect("the file is written");
    desk.put("inside/file", "harmless\n");
    desk.put(".git/config", "[core]\n");
    let link = |target: &str, name: &str| {
        symlink(target, desk.root.join(name)).expect("the link is created");
    };
    link("../outside", "up");
    link(outside.to_str().expect("the path is UTF-8"), "away");
    link("../outside/secret", "leak");
    link("/proc/self/root", "proc");
    link("inside", "within");
    link("inside/file", "alias");
    link(".git", "hidden");
    link("round", "round");
    desk
}

/// Every tool that takes a path, with this one.
fn calls(path: &str) -> [(&'static str, Value); 7] {
    [
        ("read", json!({ "path": path })),
        ("list", json!({ "path": path })),
        ("search", json!({ "query": "SECRET", "path": path })),
        ("write", json!({ "path": path, "content": "x" })),
        ("write", json!({ "path": format!("{path}/new/er"), "content": "x" })),
        ("edit", json!({ "path": path, "old": "SECRET", "new": "x" })),
        ("shell", json!({ "command": "true", "cwd": path })),
    ]
}

#[test]
fn no_path_leads_out() {
    let desk = desk("out");
    let outside = desk.folder.0.join("outside");
    let absolute = outside.join("secret");
    let (long, deep) = ("n".repeat(256), "d/".repeat(3000));
    let paths = [
        "../outside/secret",
        "inside/../../outside/secret",
        "inside/..",
        "/etc/passwd",
        absolute.to_str().expect("the path is UTF-8"),
        "up/secret",
        "up",
        "away/secret",
        "leak",
        "proc/etc/passwd",
        "round",
        "a\0b",
        &long,
        &deep,
    ];
    for path in paths {
        for (tool, arguments) in calls(path) {
            let said = desk.refuses(tool, arguments);
            assert!(!said.contains("SECRET"), "{tool} {path}: {said}");
            assert!(said.len() < 700, "{tool} {path}: {said}");
        }
    }
    assert_eq!(fs::read_to_string(&absolute).expect("the file exists and is UTF-8"), "SECRET\n");
    assert_eq!(fs::read_dir(outside).expect("the folder is readable").count(), 1);
}

#[test]
fn a_walk_does_not_follow_links() {
    let desk = desk("walk");
    let said = desk.does("search", json!({ "query": "SECRET|harmless" }));
    assert_eq!(said, "inside/file:1: harmless");
    let said = desk.does("context.fts_search", json!({ "query": "secret" }));
    assert_eq!(said, "no passage matches");
    let said = desk.does("list", json!({ "depth": 9 }));
    assert!(said.lines().any(|line| line == "up@") && !said.contains("up/"), "{said}");
}

#[test]
fn a_link_inside_leads_to_a_name_and_not_to_a_file() {
    let desk = desk("within");
    for (tool, arguments) in calls("alias").into_iter().filter(|(tool, _)| *tool != "write") {
        let said = desk.refuses(tool, arguments);
        assert_eq!(said, "`alias` leads through a link to `inside/file`: name that instead");
    }
    for path in ["within/file", "./within//file"] {
        let said = desk.refuses("read", json!({ "path": path }));
        assert_eq!(said, "`within/file` leads through a link to `inside/file`: name that instead");
    }
    let said = desk.refuses("list", json!({ "path": "within" }));
    assert_eq!(said, "`within` leads through a link to `inside`: name that instead");
    let said = desk.refuses("write", json!({ "path": "alias", "content": "x" }));
    assert!(said.contains("`alias` is a link to `inside/file`"), "{said}");
    let said = desk.refuses("write", json!({ "path": "within/new", "content": "x" }));
    assert!(said.contains("is a link to `inside`"), "{said}");
}

#[test]
fn absolute_path_inside_is_rejected_with_its_plain_name() {
    let desk = desk("absolute");
    let path = desk.root.join("inside/./file");
    for (tool, arguments) in calls(path.to_str().expect("the path is UTF-8")) {
        let said = desk.refuses(tool, arguments);
        assert!(said.contains("use its relative path, `inside/file"), "{tool}: {said}");
    }
    let said = desk.refuses("list", json!({ "path": desk.root }));
    assert!(said.ends_with("use its relative path, `.`"), "{said}");
}

#[test]
fn gits_own_files_are_not_written() {
    let desk = desk("git");
    let paths = [".git/config", ".git", ".GIT/config", "inside/.git/hooks/x", "hidden/config"];
    for path in paths {
        desk.refuses("write", json!({ "path": path, "content": "x" }));
    }
    desk.refuses("edit", json!({ "path": ".git/config", "old": "core", "new": "x" }));
    desk.refuses("edit", json!({ "path": "hidden/config", "old": "core", "new": "x" }));
    assert_eq!(desk.text(".git/config"), "[core]\n");
    // Names that only begin so are a person's own.
    desk.does("write", json!({ "path": ".gitignore", "content": "x" }));
    desk.does("write", json!({ "path": ".github/ci.yml", "content": "x" }));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let desk = desk("pipe");
    let made = Command::new("mkfifo").arg(desk.root.join("pipe")).status();
    assert!(made.expect("it runs").success());
    let said = desk.refuses("read", json!({ "path": "pipe" }));
    assert_eq!(said, "`pipe` is not a regular file, but a file is needed");
    desk.refuses("write", json!({ "path": "pipe", "content": "x" }));
    assert_eq!(desk.does("search", json!({ "query": "harmless" })), "inside/file:1: harmless");
}

#[test]
fn a_link_that_appears_between_check_and_use_leads_nowhere() {
    let desk = desk("race");
    desk.put("flip/secret", "harmless\n");
    let outside = desk.folder.0.join("outside");
    let (flip, spare) = (desk.root.join("flip"), desk.root.join("spare"));
    let over = Arc::new(AtomicBool::new(false));
    let flipping = {
        let over = Arc::clone(&over);
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // A write may have recreated the folder, so any of these may fail.
                fs::rename(&flip, &spare).ok();
                symlink(&outside, &flip).ok();
                fs::remove_file(&flip).ok();
                fs::remove_dir_all(&flip).ok();
                fs::rename(&spare, &flip).ok();
            }
        })
    };
    let (mut read, mut rounds) = (0, 0);
    // How often the folder is met whole is up to the machine: at least once it must be.
    while rounds < 300 || read == 0 {
        rounds += 1;
        assert!(rounds < 100_000, "nothing was read at all");
        let said = super::wait(desk.call("read", json!({ "path": "flip/secret" })));
        assert!(!said.output.contains("SECRET"), "{}", said.output);
        read += u32::from(said.ok);
        let write = json!({ "path": "flip/secret", "content": "harmless\n" });
        super::wait(desk.call("write", write));
        let said = super::wait(desk.call("search", json!({ "query": "SECRET", "path": "flip" })));
        assert!(!said.output.contains("SECRET"), "{}", said.output);
    }
    over.store(true, Ordering::Relaxed);
    flipping.join().expect("it went on to the end");
    let secret = fs::read_to_string(desk.folder.0.join("outside/secret"));
    assert_eq!(secret.expect("it is there"), "SECRET\n");
}

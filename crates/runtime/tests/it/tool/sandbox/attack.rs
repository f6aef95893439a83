//! Links that commands plant under `.git`, and files that change while a sandbox is set up.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use pointsman_runtime::tool::SandboxPolicy;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::{
    super::{TestSession, wait},
    policy, sh, works,
};

/// Calls in one race.
const CALLS: usize = 400;
/// Calls at a time.
const AT_ONCE: usize = 4;

/// Puts a folder with a secret beside the workspace.
fn secret(desk: &TestSession) {
    let folder = desk.folder.0.join("private");
    fs::create_dir_all(&folder).expect("the folder is created");
    for name in ["key", "config", "hooks"] {
        fs::write(folder.join(name), "SECRET\n").expect("the file is written");
    }
}

/// A repository beside a secret. Programs that its settings name are not run: see `git::drivers`.
fn repository(name: &str, change: impl FnOnce(&mut SandboxPolicy)) -> TestSession {
    let desk = TestSession::with(&format!("attack-{name}"), |settings| {
        settings.sandbox = policy("bubblewrap");
        change(&mut settings.sandbox);
        settings.limits.shell_ms = 120_000;
    });
    assert_eq!(desk.tools.tool_sandbox(), "bubblewrap");
    secret(&desk);
    desk.does("git", json!({ "args": ["init", "-q"] }));
    desk.put("a.txt", "one\n");
    desk
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_link_under_git_is_refused_and_shows_nothing() {
    let targets = ["../../private", "../../private/key", "../../../..", "/etc", "/proc", "nowhere"];
    let desk = repository("links", |_| {});
    let add = json!({ "args": ["add", "a.txt"] });
    for name in ["hooks", "config", "config.worktree", "commondir", "modules", "worktrees"] {
        let (path, aside) = (desk.root.join(".git").join(name), desk.root.join("aside"));
        let had = fs::rename(&path, &aside).is_ok();
        for target in targets {
            symlink(target, &path).expect("the link is created");
            let said = desk.refuses("git", add.clone());
            let linked = said.contains(&format!("`.git/{name}` there is a link"));
            // Git itself may stumble over the link when it lists the settings, which is before.
            let unread = said.contains("settings cannot be read");
            assert!(linked || unread, "{name} {target}: {said}");
            assert!(!said.contains("SECRET"), "{name} {target}: {said}");
            // Whatever only looks has all of `.git` as one folder: no link in it is followed.
            let (_, said) = sh(&desk, &format!("cat .git/{name} .git/{name}/*"));
            assert!(!said.contains("SECRET"), "{name} {target}: {said}");
            fs::remove_file(&path).expect("the file existed and is removed");
        }
        if had {
            fs::rename(&aside, &path).expect("the file is renamed");
        }
    }
    // Something else than a link is refused too.
    fs::create_dir(desk.root.join(".git/commondir")).expect("the folder is created");
    let said = desk.refuses("git", add.clone());
    assert!(said.contains("commondir: Is a directory"), "{said}");
    fs::remove_dir(desk.root.join(".git/commondir")).expect("the empty folder is removed");
    desk.does("git", add);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn git_finds_a_read_only_hooks_folder() {
    let desk = repository("no-hooks", |_| {});
    fs::remove_dir_all(desk.root.join(".git/hooks")).expect("the folder is removed");
    desk.does("git", json!({ "args": ["add", "a.txt"] }));
    // A folder that is not there cannot be kept from being made, so an empty one is put there.
    let hooks = fs::read_dir(desk.root.join(".git/hooks")).expect("the folder is readable");
    assert_eq!(hooks.count(), 0);
    desk.does("git", json!({ "args": ["commit", "-m", "First"] }));
}

/// A bubblewrap that does not say that it takes descriptors.
fn older(folder: &Path) -> PathBuf {
    let script = folder.join("bwrap");
    let text = "#!/bin/sh\nif [ \"$1\" = --help ]; then bwrap --help | grep -v bind-fd; exit; fi\n\
                for word; do case $word in *bind-fd) echo 'unknown option' >&2; exit 1;; --) break;; \
                esac; done\nexec bwrap \"$@\"\n";
    fs::write(&script, text).expect("the file is written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
        .expect("the owner may set permissions");
    script
}

/// Swaps two names as fast as it can while calls are made; returns how many of them ran.
fn race(
    desk: &TestSession,
    names: (&str, &str),
    tool: &str,
    arguments: &serde_json::Value,
) -> usize {
    let over = AtomicBool::new(false);
    let (one, two) = (desk.root.join(names.0), desk.root.join(names.1));
    let swap = || renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).expect("it swaps");
    thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0_usize;
            while !over.load(Ordering::Relaxed) {
                swap();
                swaps += 1;
            }
            swaps
        });
        let callers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    let mut ran = 0_usize;
                    for _ in 0..CALLS / AT_ONCE {
                        let said = wait(desk.call(tool, arguments.clone()));
                        assert!(!said.output.contains("SECRET"), "{}", said.output);
                        ran += usize::from(said.mutated);
                    }
                    ran
                })
            })
            .collect();
        let ran: Vec<_> = callers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        // An odd number of swaps would leave the link under the folder's name.
        if swapper.join().expect("it swaps") % 2 == 1 {
            swap();
        }
        ran.into_iter().map(|ran| ran.expect("no secret is shown")).sum()
    })
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn swapped_path_during_set_up_shows_nothing() {
    for by_name in [false, true] {
        let desk = repository(&format!("race-{by_name}"), |_| {});
        let root = desk.root.clone();
        let bubblewrap = by_name.then(|| older(&desk.folder.0));
        let mut settings = pointsman_runtime::tool::ToolSettings::over(
            &root,
            desk.folder.0.join("cache/second.db"),
        );
        settings.sandbox = policy("bubblewrap");
        settings.sandbox.bubblewrap = bubblewrap;
        settings.sandbox.read_only.push(root.join("kept"));
        settings.limits.shell_ms = 120_000;
        let tools =
            pointsman_runtime::tool::WorkspaceTools::open(settings).expect("the tools open");
        assert_eq!(tools.tool_sandbox(), "bubblewrap");
        let desk = TestSession { tools, ..desk };
        fs::create_dir(root.join("kept")).expect("the folder is created");
        desk.put("kept/key", "mine\n");
        desk.put(".git/key", "mine\n");

        // The whole of `.git`.
        symlink("../private", root.join("other")).expect("the link is created");
        let look = json!({ "command": "cat .git/key kept/key ../private/key; cat other/key" });
        race(&desk, (".git", "other"), "shell", &look);
        works(&desk, "cat .git/key");
        // A path of the settings.
        race(&desk, ("kept", "other"), "shell", &look);
        works(&desk, "cat kept/key");
        // What git may not write.
        symlink("../../private", root.join(".git/other")).expect("the link is created");
        let add = json!({ "args": ["add", "--renormalize", "."] });
        race(&desk, (".git/hooks", ".git/other"), "git", &add);
        fs::remove_file(root.join(".git/other")).expect("the file existed and is removed");
        desk.does("git", add);
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_bubblewrap_without_descriptors_works_too() {
    let ground = crate::store::TempFolder::new("attack-older");
    let desk = repository("older", |policy| policy.bubblewrap = Some(older(&ground.0)));
    works(&desk, "cat a.txt && ls .git");
    super::fails(&desk, "echo x > .git/config");
    desk.does("git", json!({ "args": ["add", "a.txt"] }));
    desk.does("git", json!({ "args": ["commit", "-m", "First"] }));
}

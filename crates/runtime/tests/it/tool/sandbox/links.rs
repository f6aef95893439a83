//! Links, pipes and devices that commands leave behind for the next command to trip over.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use super::{super::TestSession, KINDS, desk, fails, policy, sh, works};

/// Puts something beside the workspace that no command may read.
fn secret(desk: &TestSession) -> String {
    fs::write(desk.folder.0.join("secret"), "SECRET").expect("the file is written");
    desk.folder.0.join("secret").display().to_string()
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_link_named_git_shows_nothing_outside() {
    for kind in KINDS {
        let desk = desk(kind, "git-link");
        let secret = secret(&desk);
        works(&desk, "ln -s .. .git");
        let (_, said) = sh(&desk, &format!("cat .git/secret; cat {secret}"));
        assert!(!said.contains("SECRET"), "{kind}: {said}");
        let said = desk.refuses("shell", json!({ "command": "true" }));
        assert!(said.contains("`.git`") && said.contains("is a link"), "{kind}: {said}");
        desk.refuses("git", json!({ "args": ["status"] }));
        fs::remove_file(desk.root.join(".git")).expect("the file existed and is removed");
        works(&desk, "true");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn policy_path_replaced_by_a_link_shows_nothing() {
    for kind in KINDS {
        for writable in [false, true] {
            let desk = TestSession::with(&format!("{kind}-policy-link-{writable}"), |settings| {
                settings.sandbox = policy(kind);
                let kept = settings.root.canonicalize().expect("the path exists").join("kept");
                let policy = &mut settings.sandbox;
                let list = if writable { &mut policy.writable } else { &mut policy.read_only };
                list.push(kept);
            });
            secret(&desk);
            works(&desk, "ln -s .. kept");
            let (_, said) = sh(&desk, "cat kept/secret; echo x > kept/made");
            assert!(!said.contains("SECRET"), "{kind}: {said}");
            assert!(said.contains("leaves"), "{kind}: {said}");
            assert!(!desk.folder.0.join("made").exists(), "{kind}");
            fs::remove_file(desk.root.join("kept")).expect("the file existed and is removed");
            fs::create_dir(desk.root.join("real")).expect("the folder is created");
            symlink("real", desk.root.join("kept")).expect("the link is created");
            if kind == "landlock" && !writable {
                let said = desk.refuses("shell", json!({ "command": "true" }));
                assert!(said.contains("landlock cannot do both"), "{said}");
            } else {
                works(&desk, "ls kept/");
            }
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_pipe_or_a_device_named_git_holds_nothing_up() {
    for kind in KINDS {
        let pipe = desk(kind, "git-pipe");
        works(&pipe, "mkfifo .git");
        let said = pipe.refuses("shell", json!({ "command": "true" }));
        assert!(said.contains("`.git`"), "{kind}: {said}");
        let zero = desk(kind, "git-zero");
        symlink("/dev/zero", zero.root.join(".git")).expect("the link is created");
        zero.refuses("shell", json!({ "command": "true" }));
        let long = desk(kind, "git-long");
        long.put(".git", format!("gitdir: {}", "x".repeat(1 << 20)));
        works(&long, "true");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn the_terminal_cannot_be_opened() {
    let said = fails(&desk("landlock", "terminal"), "exec 3<>/dev/tty");
    // Without a terminal it could not be opened either, but for another reason.
    assert!(said.contains("Permission denied"), "{said}");
    fails(&desk("bubblewrap", "terminal"), "exec 3<>/dev/tty");
}

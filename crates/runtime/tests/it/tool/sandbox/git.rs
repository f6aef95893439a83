//! `git`, and what commands may do to its files.

mod drivers;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use serde_json::{Value, json};

use super::{
    super::{TestSession, wait},
    KINDS, desk, fails, sh,
};

fn git(arguments: &[&str]) -> Value {
    json!({ "args": arguments })
}

/// A workspace with a commit in it.
fn repository(kind: &str, name: &str) -> TestSession {
    let desk = desk(kind, name);
    desk.does("git", git(&["init", "-b", "main"]));
    desk.put("a.txt", "one\n");
    desk.does("git", git(&["add", "a.txt"]));
    desk.does("git", git(&["commit", "-m", "First"]));
    desk
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn history_is_made_and_read() {
    for kind in KINDS {
        let desk = repository(kind, "git");
        desk.put("a.txt", "two\n");
        assert!(desk.does("git", git(&["status", "--short"])).contains(" M a.txt"), "{kind}");
        let said = desk.does("git", git(&["diff"]));
        assert!(said.contains("-one\n+two\n"), "{kind}: {said}");
        desk.does("git", git(&["switch", "-c", "next"]));
        desk.does("git", git(&["commit", "-am", "Second"]));
        let said = desk.does("git", git(&["log", "--format=%an <%ae> %s"]));
        assert!(said.contains("Pointsman <pointsman@localhost> Second"), "{kind}: {said}");
        desk.does("git", git(&["switch", "main"]));
        assert_eq!(desk.text("a.txt"), "one\n", "{kind}");
        assert!(desk.does("git", git(&["show", "next:a.txt"])).contains("two"), "{kind}");
    }
}

#[test]
fn verbs_that_are_not_allowed_are_refused_before_anything_runs() {
    let desk = TestSession::new("git-verbs");
    for arguments in [&["push"][..], &["clone", "x"], &["config", "a.b", "c"], &["-C", "/", "log"]]
    {
        let said = desk.refuses("git", git(arguments));
        assert!(said.contains("is not allowed here; allowed: add, blame,"), "{said}");
    }
    let said = desk.refuses("git", git(&["diff", "--output=x"]));
    assert_eq!(said, "`git diff` does not allow `--output` here");
    let said = desk.refuses("git", git(&["commit"]));
    assert!(said.contains("needs a message"), "{said}");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn uncommitted_changes_are_never_lost() {
    for kind in KINDS {
        let desk = repository(kind, "lost");
        desk.put("a.txt", "mine\n");
        for arguments in [
            &["checkout", "--", "a.txt"][..],
            &["checkout", "HEAD", "--", "a.txt"],
            &["restore", "a.txt"],
            &["restore", "--staged", "--worktree", "a.txt"],
            &["restore", "--source=HEAD", "a.txt"],
        ] {
            desk.refuses("git", git(arguments));
            assert_eq!(desk.text("a.txt"), "mine\n", "{kind} {arguments:?}");
        }
        let said = desk.refuses("git", git(&["restore", "a.txt"]));
        assert!(said.contains("`show HEAD:PATH`"), "{kind}: {said}");
        desk.does("git", git(&["add", "a.txt"]));
        desk.does("git", git(&["restore", "--staged", "a.txt"]));
        assert_eq!(desk.text("a.txt"), "mine\n", "{kind}");
        desk.does("git", git(&["commit", "-qam", "Second"]));
        // A file that is ignored on one branch and tracked on another.
        desk.does("git", git(&["switch", "-qc", "next"]));
        desk.put("own.txt", "theirs\n");
        desk.does("git", git(&["add", "own.txt"]));
        desk.does("git", git(&["commit", "-qm", "Third"]));
        desk.does("git", git(&["switch", "-q", "main"]));
        desk.put(".git/info/exclude", "own.txt\n");
        desk.put("own.txt", "mine\n");
        wait(desk.call("git", git(&["switch", "next"])));
        assert_eq!(desk.text("own.txt"), "mine\n", "{kind}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn programs_that_the_repository_names_are_not_run() {
    for kind in KINDS {
        let desk = repository(kind, "programs");
        let trap = desk.root.join("trap.sh");
        desk.put("trap.sh", format!("#!/bin/sh\ntouch {}/sprung\n", desk.root.display()));
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755))
            .expect("the owner may set permissions");
        for hook in ["pre-commit", "post-checkout", "post-commit", "post-index-change"] {
            fs::create_dir_all(desk.root.join(".git/hooks")).expect("the folder is created");
            fs::copy(&trap, desk.root.join(".git/hooks").join(hook)).expect("the file is copied");
        }
        let trap = trap.display();
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {trap}\n\tpager = {trap}\n\
             \teditor = {trap}\n[diff]\n\texternal = {trap}\n[diff \"x\"]\n\ttextconv = {trap}\n\
             [commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {trap}\n"
        );
        desk.put(".git/config", config);
        desk.put(".gitattributes", "*.txt diff=x\n");
        desk.put("a.txt", "two\n");
        for arguments in [
            &["status"][..],
            &["diff"],
            &["add", "-A"],
            &["commit", "-m", "Second"],
            &["log", "-p"],
            &["show"],
            &["blame", "a.txt"],
            &["switch", "-c", "next"],
        ] {
            desk.does("git", git(arguments));
        }
        assert!(!desk.root.join("sprung").exists(), "{kind}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_command_cannot_change_gits_own_files() {
    let desk = repository("bubblewrap", "git-kept");
    fails(&desk, "echo '[core]' >> .git/config");
    fails(&desk, "touch .git/hooks/pre-commit");
    fails(&desk, "rm -rf .git");
    fails(&desk, "mv .git elsewhere");
    assert!(sh(&desk, "git log --oneline").1.contains("First"), "reading it is fine");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn git_leaves_no_hook_and_no_setting_behind() {
    for kind in KINDS {
        let desk = repository(kind, "git-hook");
        desk.put("hook.sh", "#!/bin/sh\ntouch sprung\n");
        desk.does("git", git(&["add", "hook.sh"]));
        let hook = desk.root.join(".git/hooks/pre-commit");
        for arguments in [
            &["mv", "hook.sh", ".git/hooks/pre-commit"][..],
            &["mv", "--", "hook.sh", ".git/hooks/pre-commit"],
            &["mv", "hook.sh", "./.GIT/hooks/pre-commit"],
            &["mv", "hook.sh", ":(top).git/hooks/pre-commit"],
        ] {
            let said = desk.refuses("git", git(arguments));
            assert!(said.contains("git's own files"), "{kind}: {said}");
        }
        symlink(".git/hooks", desk.root.join("away")).expect("the link is created");
        let said = desk.refuses("git", git(&["mv", "hook.sh", "away/pre-commit"]));
        assert!(said.contains("git's own files"), "{kind}: {said}");
        assert!(!hook.exists(), "{kind}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn linked_worktree_is_verified() {
    for kind in KINDS {
        let first = repository(kind, "linked");
        let second = desk(kind, "worktree");
        fs::remove_dir(&second.root).expect("the empty folder is removed");
        let mut add = std::process::Command::new("git");
        add.arg("-C").arg(&first.root).args(["worktree", "add", "-q"]).arg(&second.root);
        assert!(add.status().expect("the program starts").success());
        // The folder was recreated, so the tools are reopened.
        let mut settings = pointsman_runtime::tool::ToolSettings::over(
            &second.root,
            second.folder.0.join("cache/search.db"),
        );
        settings.sandbox = super::policy(kind);
        let tools =
            pointsman_runtime::tool::WorkspaceTools::open(settings).expect("the tools open");
        let second = TestSession { tools, ..second };
        second.put("b.txt", "new\n");
        second.does("git", git(&["add", "b.txt"]));
        second.does("git", git(&["commit", "-m", "Beside"]));
        assert!(second.does("git", git(&["log"])).contains("Beside"), "{kind}");

        let third = desk(kind, "false");
        let secret = third.folder.0.join("secret");
        fs::create_dir(&secret).expect("the folder is created");
        fs::write(secret.join("key"), "SECRET").expect("the file is written");
        third.put(".git", format!("gitdir: {}\n", secret.display()));
        fails(&third, &format!("cat {}/key", secret.display()));
    }
}

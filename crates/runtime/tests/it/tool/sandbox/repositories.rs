//! Repositories that commands leave behind, and what git makes of them.

use std::{fs, os::unix::fs::symlink, process::Command};

use pointsman_runtime::tool::{ToolSettings, WorkspaceTools};
use serde_json::{Value, json};

use super::{
    super::{TestSession, wait},
    KINDS, desk, policy, sh, works,
};

const FSMONITOR: &str = "git config core.fsmonitor 'touch ~/PWNED; false'";

fn git(arguments: &[&str]) -> Value {
    json!({ "args": arguments })
}

/// Runs git as a person does, outside the sandbox.
fn person(desk: &TestSession, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=P", "-c", "user.email=p@example.org"]).args(arguments);
    git.current_dir(&desk.root).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(git.output().expect("the program starts").status.success(), "{arguments:?}");
}

/// A workspace with a commit of the person's.
fn repository(kind: &str, name: &str) -> TestSession {
    let desk = desk(kind, name);
    person(&desk, &["init", "--quiet", "--initial-branch=main"]);
    desk.put("a.txt", "one\n");
    person(&desk, &["add", "-A"]);
    person(&desk, &["commit", "--quiet", "-m", "First"]);
    desk
}

#[track_caller]
fn notices(said: &str, wanted: &str) {
    let second = said.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("[notice] ") && second.contains(wanted), "{wanted}: {said}");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn new_repository_is_reported_and_git_refuses_it() {
    for kind in KINDS {
        let desk = desk(kind, "made");
        let said = works(&desk, &format!("git init -q . && {FSMONITOR}"));
        notices(&said, "new git repository `.git`: `config` sets `core.fsmonitor`");
        for arguments in [&["status"][..], &["add", "-A"], &["log"], &["init"]] {
            let said = desk.refuses("git", git(arguments));
            let why = "git does not run here: `.git` is not trusted, because it has appeared";
            assert!(said.contains(why) && said.contains("core.fsmonitor"), "{kind}: {said}");
        }
        // It is reported once, and commands still run.
        assert!(!works(&desk, "true").contains("[notice]"), "{kind}");
        // Where the person has removed it, git can be used.
        fs::remove_dir_all(desk.root.join(".git")).expect("the folder is removed");
        desk.does("git", git(&["init", "-b", "main"]));
        desk.does("git", git(&["status"]));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_harmless_repository_is_reported_and_can_be_used() {
    for kind in KINDS {
        let desk = desk(kind, "harmless");
        let said = works(&desk, "git init -q -b main . && echo x > a.txt");
        notices(&said, "new git repository `.git`; its settings are harmless");
        desk.does("git", git(&["add", "a.txt"]));
        desk.does("git", git(&["commit", "-m", "First"]));
        assert!(!works(&desk, "true").contains("[notice]"), "{kind}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_repository_within_another_is_reported_and_not_added() {
    for kind in KINDS {
        let desk = repository(kind, "within");
        let said = works(&desk, &format!("git init -q deep/sub && cd deep/sub && {FSMONITOR}"));
        notices(&said, "new git repository `deep/sub/.git`: `config` sets `core.fsmonitor`");
        desk.put("b.txt", "two\n");
        desk.put("deep/sub/c.txt", "two\n");
        for arguments in [
            &["add", "deep/sub"][..],
            &["add", "./deep"],
            &["add", "deep/sub/c.txt"],
            &["add", "d*"],
            &["add", "-A"],
            &["add", "."],
            &["commit", "-am", "Second"],
            &["mv", "a.txt", "deep/sub/a.txt"],
        ] {
            let said = desk.refuses("git", git(arguments));
            assert!(said.contains("`deep/sub/.git` is a nested repository"), "{kind}: {said}");
        }
        // Nothing else is held up.
        desk.does("git", git(&["status"]));
        desk.does("git", git(&["add", "b.txt"]));
        desk.does("git", git(&["commit", "-m", "Second"]));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_bare_repository_is_reported_and_not_added() {
    for kind in KINDS {
        let desk = repository(kind, "bare");
        let said = works(&desk, &format!("git init -q --bare doc && cd doc && {FSMONITOR}"));
        notices(&said, "new git repository `doc`: `config` sets `core.fsmonitor`");
        let said = desk.refuses("git", git(&["add", "doc"]));
        assert!(said.contains("`doc` is a nested repository"), "{kind}: {said}");
        // One that shares the objects of another is one too.
        let said = works(&desk, "mkdir x && cd x && echo ../doc > commondir && cp ../doc/HEAD .");
        notices(&said, "new git repository `x`: it has `commondir`");
        // So is one that the workspace itself becomes, and one of files that a tool writes.
        let said = works(&desk, "mkdir y && mkdir y/objects y/refs");
        assert!(!said.contains("[notice]"), "{kind}: {said}");
        let written =
            desk.does("write", json!({ "path": "y/HEAD", "content": "ref: refs/heads/x" }));
        assert!(written.contains("[notice] new git repository `y`"), "{kind}: {written}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn settings_that_a_command_changes_are_reported_and_not_trusted() {
    for kind in KINDS {
        // A repository below the workspace can be written in both sandboxes, the workspace's
        // own under landlock.
        let below = repository(kind, "changed-below");
        person(&below, &["init", "--quiet", "sub"]);
        let said = works(&below, &format!("cd sub && {FSMONITOR}"));
        notices(&said, "a command changed git's settings in `sub/.git`: `config` sets");
        let said = below.refuses("git", git(&["add", "sub"]));
        assert!(said.contains("a command changed it"), "{kind}: {said}");
    }
    for (name, command, wanted) in [
        ("config", FSMONITOR, "`config` sets `core.fsmonitor`"),
        ("hook", "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", "hooks/pre-commit"),
        ("linked", "rm -rf .git/hooks && ln -s .. .git/hooks", "`hooks` is a link"),
        ("common", "echo ../x > .git/commondir", "it has `commondir`"),
        ("worktree", "echo > .git/config.worktree", "it has `config.worktree`"),
        (
            "attributes",
            "mkdir -p .git/info && echo '* filter=x' > .git/info/attributes",
            "info/attributes",
        ),
        ("module", "mkdir -p .git/modules/a/b && echo > .git/modules/a/b/config", "modules/a"),
    ] {
        let desk = repository("landlock", &format!("changed-{name}"));
        let said = works(&desk, command);
        notices(&said, "a command changed git's settings in `.git`");
        notices(&said, wanted);
        let said = desk.refuses("git", git(&["status"]));
        assert!(said.contains("`.git` is not trusted, because a command changed it"), "{said}");
    }
    let desk = repository("bubblewrap", "unchanged");
    let (ok, said) = sh(&desk, FSMONITOR);
    assert!(!ok && !said.contains("[notice]"), "{said}");
    desk.does("git", git(&["status"]));
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn persons_changes_between_commands_are_trusted() {
    for kind in KINDS {
        let desk = repository(kind, "own");
        works(&desk, "true");
        person(&desk, &["config", "core.fsmonitor", "false"]);
        person(&desk, &["config", "alias.st", "status"]);
        assert!(!works(&desk, "true").contains("[notice]"), "{kind}");
        desk.does("git", git(&["status"]));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn no_link_is_followed_and_a_search_that_is_cut_says_so() {
    let desk = TestSession::with("cut", |settings| {
        settings.sandbox = policy("bubblewrap");
        settings.limits.repository_entries = 20;
    });
    let outside = desk.folder.0.join("outside");
    fs::create_dir_all(&outside).expect("the folder is created");
    symlink(&outside, desk.root.join("link")).expect("the link is created");
    assert!(!works(&desk, "true").contains("[notice]"));
    // What appears there is none of the workspace's.
    fs::create_dir(outside.join(".git")).expect("the folder is created");
    let config = "[core]\n\tfsmonitor = x\n";
    fs::write(outside.join(".git/config"), config).expect("the file is written");
    assert!(!works(&desk, "true").contains("[notice]"));
    let said = works(&desk, "seq 1 50 | xargs touch; mkdir -p a/b");
    notices(&said, "the search for new git repositories stopped after 20 entries");
    assert!(!works(&desk, "true").contains("[notice]"), "it is said once");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_command_that_is_stopped_in_the_middle_is_looked_after() {
    let desk = TestSession::with("stopped", |settings| {
        settings.sandbox = policy("bubblewrap");
        settings.limits.shell_ms = 600_000;
    });
    person(&desk, &["init", "--quiet", "known"]);
    // Before the next command a change would be the person's, unless one was stopped meanwhile.
    let command = format!(
        "git init -q sub && (cd sub && {FSMONITOR}); cd known && {FSMONITOR}; touch ../ready; \
         sleep 600"
    );
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    threads.expect("the runtime starts").block_on(async {
        let running = desk.call("shell", json!({ "command": command }));
        let ready = async {
            while !desk.root.join("ready").exists() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        // Dropping the call stops it.
        tokio::select! {
            said = running => panic!("it ended: {}", said.output),
            () = ready => {}
        }
    });
    let said = works(&desk, "true");
    notices(&said, "a command changed git's settings in `known/.git`");
    assert!(said.contains("[notice] new git repository `sub/.git`"), "{said}");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn git_is_refused_in_every_sandbox() {
    // Without a command nothing has appeared, and what was there is trusted.
    for kind in KINDS {
        let first = repository(kind, "there");
        person(&first, &["config", "core.fsmonitor", "false"]);
        let mut settings = ToolSettings::over(&first.root, first.folder.0.join("cache/again.db"));
        settings.sandbox = policy(kind);
        let tools = WorkspaceTools::open(settings).expect("the tools open");
        let desk = TestSession { tools, ..first };
        works(&desk, "true");
        let said = wait(desk.call("git", git(&["status", "--short"])));
        assert!(said.ok, "{kind}: {}", said.output);
    }
}

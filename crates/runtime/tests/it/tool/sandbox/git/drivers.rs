//! Programs that a repository's settings name: none of them is run.

use std::{fs, os::unix::fs::PermissionsExt};

use super::{
    super::{super::TestSession, KINDS, open},
    git, repository,
};

/// Names that a driver may have.
const NAMES: [&str; 5] = ["x", "a.b", "", "two words", "UPPER"];

/// Puts a program into the workspace that leaves a trace, and returns where it is.
fn trap(desk: &TestSession) -> String {
    let path = desk.root.join("trap.sh");
    desk.put("trap.sh", format!("#!/bin/sh\necho $* >> {}/sprung\ncat\n", desk.root.display()));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .expect("the owner may set permissions");
    path.display().to_string()
}

#[track_caller]
fn not_sprung(desk: &TestSession, what: &str) {
    let sprung = fs::read_to_string(desk.root.join("sprung"));
    assert!(sprung.is_err(), "{what}: {sprung:?}");
}

/// Every call of git that looks, over files that go through the drivers.
fn look(desk: &TestSession) {
    for arguments in [
        &["status"][..],
        &["status", "-v"],
        &["diff"],
        &["log", "-p"],
        &["log", "--format=%G?"],
        &["show"],
        &["blame", "a.txt"],
    ] {
        desk.does("git", git(arguments));
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn repository_drivers_never_run() {
    for kind in KINDS {
        for (at, name) in NAMES.iter().enumerate() {
            let desk = repository(kind, &format!("driver-{at}"));
            let (trap, config) = (trap(&desk), desk.text(".git/config"));
            let driver = |section: &str| format!("[{section} \"{name}\"]\n");
            let more = format!(
                "{}\tclean = {trap}\n\tsmudge = {trap}\n\trequired = true\n\
                 {}\ttextconv = {trap}\n\tcommand = {trap}\n{}\tdriver = {trap}\n\
                 [gpg \"x509\"]\n\tprogram = {trap}\n",
                driver("filter"),
                driver("diff"),
                driver("merge")
            );
            desk.put(".git/config", format!("{config}{more}"));
            let attribute = if name.contains(' ') { "x" } else { name };
            desk.put(".gitattributes", format!("*.txt filter={attribute} diff={attribute}\n"));
            desk.put("a.txt", "two\n");
            look(&desk);
            // What the filter would change does not get into a commit without it.
            if !name.is_empty() && !name.contains(' ') {
                for arguments in [&["add", "a.txt"][..], &["commit", "-am", "Second"]] {
                    let said = super::wait(desk.call("git", git(arguments)));
                    assert!(!said.ok, "{kind} {name:?}: {}", said.output);
                    let why = format!("a.txt uses the repository's filter `{name}`");
                    assert!(said.output.contains(&why), "{kind} {name:?}: {}", said.output);
                }
            }
            not_sprung(&desk, &format!("{kind} {name:?}"));
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn drivers_of_included_settings_never_run() {
    for kind in KINDS {
        let desk = repository(kind, "driver-include");
        let (trap, config) = (trap(&desk), desk.text(".git/config"));
        desk.put(
            ".git/config",
            format!(
                "{config}[include]\n\tpath = ../more.ini\n[extensions]\n\tworktreeConfig = true\n"
            ),
        );
        desk.put("more.ini", format!("[filter \"one\"]\n\tprocess = {trap}\n"));
        desk.put(".git/config.worktree", format!("[filter \"two\"]\n\tclean = {trap}\n"));
        desk.put(".git/info/attributes", "*.txt filter=one\nb.txt filter=two\n");
        // Of another length, so that git need not read it to see that it has changed.
        desk.put("a.txt", "two lines\n");
        desk.put("b.txt", "two lines\n");
        look(&desk);
        for (file, filter) in [("a.txt", "one"), ("b.txt", "two")] {
            let said = super::wait(desk.call("git", git(&["add", file])));
            assert!(said.output.contains(&format!("filter `{filter}`")), "{}", said.output);
        }
        // Other files are not held up by it.
        desk.put("c.md", "text\n");
        desk.does("git", git(&["add", "c.md"]));
        desk.does("git", git(&["commit", "-m", "Third"]));
        desk.does("git", git(&["switch", "-c", "next"]));
        not_sprung(&desk, kind);
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn repository_program_never_fetches_objects() {
    for kind in KINDS {
        let desk = repository(kind, "driver-fetch");
        let (trap, config) = (trap(&desk), desk.text(".git/config"));
        desk.put(
            ".git/config",
            format!(
                "{config}[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\
                 \turl = ext::{trap}\n\tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n"
            ),
        );
        let blob = desk.does("git", git(&["rev-parse", "HEAD:a.txt"]));
        let blob = blob.lines().nth(1).expect("an object").to_owned();
        let (folder, file) = blob.split_at(2);
        let object = desk.root.join(".git/objects").join(folder).join(file);
        fs::remove_file(object).expect("the file existed and is removed");
        let said = super::wait(desk.call("git", git(&["show", "HEAD:a.txt"])));
        assert!(!said.ok, "{kind}: {}", said.output);
        not_sprung(&desk, kind);
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_commit_names_the_person_and_is_marked() {
    for kind in KINDS {
        let desk = TestSession::with(&format!("{kind}-author"), |settings| {
            settings.sandbox = super::super::policy(kind);
            settings.author = pointsman_runtime::tool::Author {
                name: Some("Ada".into()),
                email: Some("ada@example.org".into()),
            };
        });
        desk.does("git", git(&["init", "-b", "main"]));
        desk.put("a.txt", "one\n");
        desk.does("git", git(&["add", "a.txt"]));
        desk.does("git", git(&["commit", "-m", "First", "--", "a.txt"]));
        let log = git(&["log", "-1", "--format=%an <%ae> %cn %s|%(trailers:separator=%x2C)"]);
        let said = desk.does("git", log.clone());
        let wanted = "Ada <ada@example.org> Ada First|Assisted-by: Pointsman";
        assert!(said.contains(wanted), "{kind}: {said}");
        // The repository's own setting wins: people have one name at work and one at home.
        let config = desk.text(".git/config");
        desk.put(".git/config", format!("{config}[user]\n\temail = ada@work.example\n"));
        desk.put("a.txt", "two\n");
        desk.does("git", git(&["commit", "-am", "Second"]));
        let said = desk.does("git", log);
        assert!(said.contains("Ada <ada@work.example> Ada Second|"), "{kind}: {said}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_repository_above_the_workspace_is_not_used() {
    for kind in KINDS {
        let desk = open(kind, "above", |_| {});
        let mut init = std::process::Command::new("git");
        init.arg("-C").arg(&desk.folder.0).args(["init", "--quiet"]);
        assert!(init.status().expect("the program starts").success());
        let said = super::wait(desk.call("git", git(&["status"])));
        assert!(!said.ok && said.output.contains("not a git repository"), "{}", said.output);
    }
}

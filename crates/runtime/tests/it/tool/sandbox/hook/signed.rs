//! The author of a commit, and files that are left to the person.

use pointsman_runtime::{local_executor::Hooks, model::Spec};
use serde_json::json;

use super::{TestSession, committing, edit, write};

#[test]
fn nothing_is_committed_unless_a_person_has_said_so() {
    assert!(!Hooks::default().commit);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_commit_names_the_person_of_the_repository_and_its_run() {
    let desk = TestSession::with_git("signed");
    desk.git(&["config", "user.name", "Ada"]);
    desk.git(&["config", "user.email", "ada@example.org"]);
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    assert!(desk.commit(&run).0);
    let format = "--format=%an <%ae> %cn|%s|%(trailers:separator=%x2C)";
    assert_eq!(
        desk.git(&["log", "-1", format]),
        format!(
            "Ada <ada@example.org> Ada|Change a.txt|Assisted-by: Pointsman,Pointsman-Run: {run}\n"
        )
    );
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_file_that_needs_a_filter_is_left_to_the_person() {
    let desk = TestSession::with_git("filter");
    desk.put(".gitattributes", "*.bin filter=x\n");
    desk.git(&["config", "filter.x.clean", "touch sprung; cat"]);
    let run = desk.run(&[write("large.bin", "large\n")]);
    let (acted, said) =
        TestSession::hook(&desk.executor(committing(), Spec::quote()), &run, &["write"]);
    let wanted = "the commit failed: large.bin uses the repository's filter `x`";
    assert!(!acted && said.starts_with(wanted), "{said}");
    assert!(!desk.folder.0.join("work/sprung").exists());
    assert_eq!(desk.log(), ["first"]);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn nothing_is_committed_to_a_repository_that_a_command_made() {
    let desk = TestSession::new("made");
    let made = "git init -q . && git config core.fsmonitor 'touch sprung; false'";
    let run = desk.run(&[("shell", json!({ "command": made })), edit("a.txt", "one", "two")]);
    let (acted, said) = desk.commit(&run);
    let wanted =
        "the search for changes to commit failed: git does not run here: `.git` is not trusted";
    assert!(!acted && said.starts_with(wanted), "{said}");
    assert!(!desk.folder.0.join("work/sprung").exists());
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn one_file_is_counted_as_one() {
    let desk = TestSession::with_git("one-file");
    desk.put("c.txt", "mine\n");
    desk.git(&["add", "c.txt"]);
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    let (_, said) = desk.commit(&run);
    assert!(said.ends_with("so 1 file was not committed"), "{said}");
}

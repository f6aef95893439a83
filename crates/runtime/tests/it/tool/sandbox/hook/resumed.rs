//! A repository that a run's command makes is not trusted after a stop either.

use std::fs;

use pointsman_kernel::governor::{Grant, Level, Permissions};
use pointsman_runtime::{
    driver::RunStatus,
    local_executor::Hooks,
    model::Spec,
    session::{
        ApprovalDecision, ApprovalRequest, Approver, ApproverReply, Session, StartOptions,
        Unattended,
    },
};
use serde_json::json;

use super::TestSession;

/// Says yes to everything.
struct Yes;

impl Approver for Yes {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        ApproverReply::Decided(ApprovalDecision {
            granted: true,
            reason: "yes".into(),
            remember: None,
        })
    }
}

/// A chart that runs a command, and then git, which a person is asked about.
fn chart(command: &str) -> String {
    let state = |name: &str, tool: &str, arguments: &str, next: &str| {
        format!(
            "[state.{name}]\nrun = \"tool.call\"\ntimeout = \"10m\"\ntools = [\"{tool}\"]\n\
             with = {{ tool = \"{tool}\", args = {arguments}, into = \"x\" }}\n\
             on.ok = \"{next}\"\non.failed = \"failed\"\non.denied = \"failed\"\n\
             on.stuck = \"failed\"\n"
        )
    };
    let makes = state("makes", "shell", &format!("{{ command = '''{command}''' }}"), "looks");
    let looks = state("looks", "git", "{ args = [\"status\"] }", "done");
    format!(
        "chart = \"calls\"\nversion = 1\nstart = \"makes\"\nauthority = \"propose\"\n\
         [any]\ncancel = \"stopped\"\n{makes}{looks}\
         [state.done]\nfinal = \"succeeded\"\n[state.failed]\nfinal = \"failed\"\n\
         [state.stopped]\nfinal = \"cancelled\"\n"
    )
}

/// Runs the command, stops at a question, resumes in a new session, and returns the final state of
/// the run.
fn stopped_and_resumed(desk: &mut TestSession, command: &str) -> String {
    let source = chart(command);
    let asks = Grant { tool: "git".into(), arguments: Vec::new(), level: Level::Ask, until: None };
    let permissions = Permissions { otherwise: Level::Allow, rules: vec![asks], attended: true };
    let start = StartOptions {
        program: crate::program(&source),
        source: source.as_str().into(),
        config: json!({ "goal": "x" }).into(),
        words: Vec::new(),
        goal: "x".into(),
        permissions,
        seed: Some(7),
    };
    let executor = desk.executor(Hooks::default(), Spec::quote());
    let ran = desk.session.run(&executor, start, Vec::new(), &mut Unattended).expect("it runs");
    assert!(matches!(ran.status, RunStatus::Asking), "{:?}", ran.status);
    drop(executor);
    let (journal, cache) = (desk.folder.journal(), desk.folder.0.join("cache"));
    desk.session =
        Session::open(pointsman_agents::all(), &journal, &cache).expect("the session opens");
    let executor = desk.executor(Hooks::default(), Spec::quote());
    let ran = desk.session.resume(&executor, &ran.run, Vec::new(), &mut Yes).expect("it goes on");
    ran.state.into()
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn new_repository_is_not_trusted_after_a_stop() {
    let mut desk = TestSession::new("resumed");
    let made = "git init -q . && git config core.fsmonitor 'touch /tmp/x; false'";
    assert_eq!(stopped_and_resumed(&mut desk, made), "failed");
    // The person removes the unwanted settings, and another run trusts the rest.
    fs::write(desk.folder.0.join("work/.git/config"), "[core]\n\tbare = false\n")
        .expect("the file is written");
    assert_eq!(stopped_and_resumed(&mut desk, "true"), "done");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn existing_repository_is_trusted_after_a_stop() {
    let mut desk = TestSession::with_git("resumed-own");
    desk.git(&["config", "core.fsmonitor", "false"]);
    assert_eq!(stopped_and_resumed(&mut desk, "true"), "done");
}

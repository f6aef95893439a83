//! The hook within a conversation, with a person at work beside the run.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use pointsman_kernel::{body::Body, governor::Permissions};
use pointsman_runtime::{
    driver::RunStatus,
    local_executor::{AfterTools, Hooks},
    model::Spec,
    observe::{Notice, Observer},
    session::{StartOptions, Unattended},
    store::RunId,
    timeline::TimelineKind,
};
use serde_json::json;

use super::{TestSession, committing};

/// Talks with the `chat` agent while an observer watches.
fn talk(desk: &TestSession, hooks: Hooks, script: &str, observer: Arc<dyn Observer>) {
    let file = desk.folder.0.join("script.toml");
    fs::write(&file, script).expect("the file is written");
    let model: Spec = format!("script:{}", file.display()).parse().expect("the text names a model");
    let source = pointsman_agents::chat::CHART;
    let start = StartOptions {
        program: crate::program(source),
        source: source.into(),
        config: json!({}).into(),
        words: vec![Body::canonical(&json!({ "text": "change it" }))],
        goal: "talk".into(),
        permissions: Permissions::allow_all(),
        seed: Some(7),
    };
    let ran =
        desk.session.run(&desk.executor(hooks, model), start, vec![observer], &mut Unattended);
    let ran = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert!(matches!(ran.status, RunStatus::Ended(_)), "{:?}", ran.status);
}

/// Says what was done after tools.
fn after_tools(notice: &Notice) -> Option<&str> {
    match notice.kind()? {
        kind @ TimelineKind::Answered { what, .. } if kind.output().is_none() => {
            Some(&**what).filter(|what| !what.is_empty())
        }
        _ => None,
    }
}

const EDITS: &str = "[[turn]]\nwhen = 'change it'\ntext = 'edits'\n[[turn.calls]]\ntool = 'edit'\n\
    arguments = { path = 'a.txt', old = 'one', new = 'two' }\n[[turn]]\ntext = 'done'\n\
    [[turn]]\ntext = 'done'\n";

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn persons_changes_before_the_commit_stay_out() {
    for mine in [false, true] {
        let desk = TestSession::with_git(&format!("talk-{mine}"));
        let file = desk.folder.0.join("work/a.txt");
        let (changed, told) = (AtomicBool::new(!mine), Arc::new(std::sync::Mutex::new(Vec::new())));
        let lines = Arc::clone(&told);
        let observer = move |_: &RunId, notice: &Notice| {
            let edited = |what: &str| what.starts_with("replaced 1 place");
            if matches!(notice.kind(), Some(TimelineKind::Answered { what, .. }) if edited(what))
                && !changed.swap(true, Ordering::Relaxed)
            {
                fs::write(&file, "two\nmine\n").expect("the file is written");
            }
            lines
                .lock()
                .expect("no thread panicked while it held the lock")
                .extend(after_tools(notice).map(str::to_owned));
        };
        talk(&desk, committing(), EDITS, Arc::new(observer));
        let told = told.lock().expect("no thread panicked while it held the lock").join("\n");
        if mine {
            assert!(told.contains("a.txt: not committed"), "{told}");
            assert_eq!(desk.log(), ["first"]);
            assert_eq!(desk.git(&["status", "--porcelain"]), " M a.txt\n");
        } else {
            assert!(told.contains("committed 1 file"), "{told}");
            assert_eq!(desk.git(&["show", "HEAD:a.txt"]), "two\n");
        }
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn commands_between_batches_count_as_the_runs() {
    let desk = TestSession::with_git("talk-command");
    let lock = desk.folder.0.join("work/.git/refs/heads/main.lock");
    fs::write(&lock, "").expect("the file is written");
    let script = "[[turn]]\nwhen = 'change it'\ntext = 'edits'\n[[turn.calls]]\ntool = 'edit'\n\
        arguments = { path = 'a.txt', old = 'one', new = 'two' }\n\
        [[turn]]\ntext = 'a message'\n\
        [[turn]]\ntext = 'again'\n[[turn.calls]]\ntool = 'edit'\n\
        arguments = { path = 'a.txt', old = 'more', new = 'less' }\n\
        [[turn]]\ntext = 'Say less'\n[[turn]]\ntext = 'done'\n";
    let command = AfterTools {
        run: "grep -q less a.txt || echo more >> a.txt".into(),
        when: Vec::new(),
        timeout_ms: None,
    };
    // The first commit fails; what the command did before it counts for the second one.
    let observer = move |_: &RunId, notice: &Notice| {
        if after_tools(notice).is_some() {
            drop(fs::remove_file(&lock));
        }
    };
    let hooks = Hooks { after_tools: vec![command], ..committing() };
    talk(&desk, hooks, script, Arc::new(observer));
    assert_eq!(desk.log(), ["Say less", "first"]);
    assert_eq!(desk.git(&["show", "HEAD:a.txt"]), "two\nless\n");
}

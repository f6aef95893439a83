//! A run on this machine: asked, cancelled from outside, forked, watched, interrupted.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use pointsman_kernel::{
    agents::Agents,
    chart::Disposition,
    governor::{Level, Permissions},
    id::Seq,
};
use pointsman_runtime::{
    driver::{RunStatus, fold},
    engine::EngineConfig,
    local_executor::LocalExecutor,
    model::{self, Spec},
    observe::{LiveNotice, Notice, Observer},
    session::{
        ApprovalDecision, ApprovalRequest, Approver, ApproverReply, RunSummary, Session,
        SessionError, StartOptions, Unattended,
    },
    store::{RunId, SqliteStore, Store as _},
    timeline::{TimelineItem, TimelineKind},
    tool, watch,
};
use serde::Serialize;
use serde_json::json;

use crate::store::TempFolder;

/// Writes a file and reads it back, each by a call that the chart fixes.
pub(crate) const CHART: &str = r#"
chart     = "scribe"
version   = 1
start     = "writing"
authority = "propose"

[any]
cancel = "cancelled"

[state.writing]
run     = "tool.call"
with    = { tool = "write", args = { path = "note.txt", content = "{goal}" }, into = "written" }
tools   = ["write"]
timeout = "10m"
on.ok     = "reading"
on.failed = "failed"
on.denied = "refused"
on.stuck  = "failed"

[state.reading]
run     = "tool.call"
with    = { tool = "read", args = { path = "note.txt" }, into = "result" }
tools   = ["read"]
timeout = "10m"
on.ok     = "done"
on.failed = "failed"
on.denied = "refused"
on.stuck  = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.refused]
final = "denied"
[state.cancelled]
final = "cancelled"
"#;

/// A workspace with a journal beside it.
pub(crate) struct TestSession {
    folder: TempFolder,
    pub(crate) session: Session,
}

impl TestSession {
    pub(crate) fn new(name: &str) -> Self {
        Self::with(name, pointsman_agents::all())
    }

    /// A desk at which runs can be of these agents.
    pub(crate) fn with(name: &str, agents: Agents) -> Self {
        let folder = TempFolder::new(name);
        std::fs::create_dir_all(folder.0.join("work")).expect("the folder is created");
        let session = Session::open(agents, &folder.journal(), &folder.0.join("cache"));
        let session = session.unwrap_or_else(|error| panic!("it opens: {error}"));
        Self { folder, session }
    }

    pub(crate) fn work(&self) -> std::path::PathBuf {
        self.folder.0.join("work")
    }

    pub(crate) fn executor(&self) -> LocalExecutor {
        self.host_of(model::ModelSettings::new(Spec::quote()), None)
    }

    /// A host with a model, and a watch if one is wanted.
    pub(crate) fn host_of(
        &self,
        model: model::ModelSettings,
        watch: Option<watch::ResourceLimits>,
    ) -> LocalExecutor {
        self.host_from(self.settings(model, watch))
    }

    pub(crate) fn host_from(&self, settings: EngineConfig) -> LocalExecutor {
        self.session.executor(settings).unwrap_or_else(|error| panic!("a host: {error}"))
    }

    /// The settings of such a host.
    pub(crate) fn settings(
        &self,
        model: model::ModelSettings,
        watch: Option<watch::ResourceLimits>,
    ) -> EngineConfig {
        let mut tools = tool::ToolSettings::over(self.work(), self.folder.0.join("index.db"));
        // Pages come from a server in this process.
        tools.http_private = true;
        tools.sandbox.helper = Some(crate::tool::sandbox_helper().into());
        EngineConfig { watch, ..EngineConfig::new(model, tools) }
    }

    pub(crate) fn start(attended: bool) -> StartOptions {
        let permissions = Permissions { otherwise: Level::Ask, rules: Vec::new(), attended };
        StartOptions {
            program: crate::program(CHART),
            source: CHART.into(),
            config: json!({ "goal": "hello" }).into(),
            words: Vec::new(),
            goal: "hello".into(),
            permissions,
            seed: Some(7),
        }
    }

    pub(crate) fn run(&self, approver: &mut dyn Approver) -> RunSummary {
        let ran = self.session.run(&self.executor(), Self::start(true), Vec::new(), approver);
        ran.unwrap_or_else(|error| panic!("it runs: {error}"))
    }

    /// Asks `research` something, with such a model.
    pub(crate) fn research(&self, model: model::ModelSettings, goal: &str) -> RunSummary {
        let source = pointsman_agents::all().chart("research").expect("the chart ships");
        let start = StartOptions {
            program: crate::program(source),
            source: source.into(),
            config: json!({ "goal": goal }).into(),
            words: Vec::new(),
            goal: goal.into(),
            permissions: Permissions::allow_all(),
            seed: Some(7),
        };
        let executor = self.host_of(model, None);
        let ran = self.session.run(&executor, start, Vec::new(), &mut Unattended);
        ran.unwrap_or_else(|error| panic!("it runs: {error}"))
    }

    pub(crate) fn resume(&self, id: &RunId, approver: &mut dyn Approver) -> RunSummary {
        let ran = self.session.resume(&self.executor(), id, Vec::new(), approver);
        ran.unwrap_or_else(|error| panic!("it goes on: {error}"))
    }
}

/// Says the same to every question, and counts them.
pub(crate) struct Says(pub(crate) bool, pub(crate) usize);

impl Approver for Says {
    fn decide(&mut self, _: &ApprovalRequest<'_>) -> ApproverReply {
        self.1 += 1;
        ApproverReply::Decided(ApprovalDecision {
            granted: self.0,
            reason: "as I said".into(),
            remember: None,
        })
    }
}

pub(crate) fn has_note(work: &Path) -> bool {
    work.join("note.txt").exists()
}

#[test]
fn call_runs_only_after_approval() {
    let desk = TestSession::new("session-yes");
    let mut yes = Says(true, 0);
    let outcome = desk.run(&mut yes);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert_eq!(yes.1, 2, "writing and reading were asked for");
    assert!(has_note(&desk.work()));
    let desk = TestSession::new("session-no");
    let outcome = desk.run(&mut Says(false, 0));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Denied));
    assert!(!has_note(&desk.work()));
}

#[test]
fn a_fork_shares_the_past_and_goes_its_own_way() {
    let desk = TestSession::new("session-fork");
    let outcome = desk.run(&mut Says(true, 0));
    let fork = desk.session.fork(&outcome.run, Some(Seq(1))).unwrap_or_else(|e| panic!("{e}"));
    let ended = desk.resume(&fork, &mut Says(false, 0));
    assert_eq!(ended.status, RunStatus::Ended(Disposition::Denied));
    let store = desk.session.store();
    let lines =
        |run| desk.session.block_on(store.lines(run, Seq(0))).expect("the store is readable");
    let (old, new) = (lines(&outcome.run), lines(&fork));
    assert_eq!(old.first(), new.first());
    assert!(fold(&crate::program(CHART), &fork, &new).is_ok());
    assert_eq!(
        desk.session.block_on(store.run(&fork)).expect("the run exists").forked,
        Some((outcome.run.clone(), Seq(1)))
    );
    let beyond = desk.session.fork(&outcome.run, Some(Seq(99)));
    assert!(matches!(beyond, Err(SessionError::NoSuchEntry { .. })));
    let end = desk.session.fork(&outcome.run, Some(Seq(outcome.steps)));
    let refused = matches!(&end, Err(SessionError::ForkOfTheEnd { last, .. }) if *last == Seq(4));
    assert!(refused, "{end:?}");
    let whole = desk.session.fork(&outcome.run, None).unwrap_or_else(|e| panic!("{e}"));
    let again = desk.resume(&whole, &mut Says(true, 0));
    assert_eq!(again.status, RunStatus::Ended(Disposition::Succeeded), "it can end again");
}

#[test]
fn owned_run_cannot_be_claimed() {
    let desk = TestSession::new("session-held");
    let outcome = desk.run(&mut Unattended);
    let lease = desk.session.block_on(desk.session.store().claim(&outcome.run));
    let lease = lease.expect("it can be claimed").expect("no other owner holds the run");
    let other = desk.session.resume(&desk.executor(), &outcome.run, Vec::new(), &mut Unattended);
    assert!(matches!(other, Err(SessionError::Held { .. })));
    drop(lease);
    assert_eq!(desk.resume(&outcome.run, &mut Unattended).status, RunStatus::Asking);
}

#[test]
fn refused_chart_is_reported_with_the_reason() {
    let desk = TestSession::new("session-refused");
    // As if a build had begun it that knew a job which this one does not.
    let source = CHART.replace("run     = \"tool.call\"", "run     = \"tool.cast\"");
    let start = StartOptions { source: source.into(), ..TestSession::start(true) };
    let ran = desk.session.run(&desk.executor(), start, Vec::new(), &mut Unattended);
    let run = ran.unwrap_or_else(|error| panic!("it runs: {error}")).run;
    let Err(error) = desk.session.recall(&run, None) else { panic!("the chart is not refused") };
    assert!(matches!(error, SessionError::Chart { .. }), "{error}");
    let (told, refuses) = (error.to_string(), format!("refuses the chart of run {run}: "));
    let (_, why) = told.split_once(&refuses).unwrap_or_else(|| panic!("{told}"));
    assert!(why.contains("`tool.cast`") && why.ends_with("(PM0202), and 1 more"), "{why}");
}

#[test]
fn observers_see_every_transition_question_and_end() {
    let desk = TestSession::new("session-watch");
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |_: &RunId, notice: &Notice| {
        let kind = match notice {
            Notice::Item(item) => &item.kind,
            Notice::Live(live) => {
                let word = match live {
                    LiveNotice::Ask(question) => {
                        format!("asked {}", question.call().map_or("", |call| &call.tool))
                    }
                    LiveNotice::Persisted { seq, .. } => format!("persisted {}", seq.0),
                    _ => return,
                };
                return told.lock().expect("no thread panicked while it held the lock").push(word);
            }
        };
        let word = match kind {
            TimelineKind::Transition { from, to, reason, .. } => {
                let name = |it: &Option<Box<str>>| it.as_deref().unwrap_or("-").to_owned();
                format!("{} -> {} ({reason})", name(from), name(to))
            }
            TimelineKind::Started { what, attempt, .. } => format!("{attempt}: {what}"),
            TimelineKind::Answered { ok, .. } => format!("answered {ok}"),
            TimelineKind::Ended { disposition } => format!("ended {disposition:?}"),
            TimelineKind::Verdict(verdict) => format!("{:?}", verdict.level),
            _ => return,
        };
        told.lock().expect("no thread panicked while it held the lock").push(word);
    });
    let start = TestSession::start(true);
    let ran = desk.session.run(&desk.executor(), start, vec![observer], &mut Says(true, 0));
    assert!(ran.is_ok());
    let seen = seen.lock().expect("no thread panicked while it held the lock").join("\n");
    assert_eq!(
        seen,
        "\
- -> writing (the run began)
Ask
persisted 1
asked write
persisted 2
1: calls write {\"content\":\"hello\",\"path\":\"note.txt\"}
answered true
writing -> reading (ok)
Ask
persisted 3
asked read
persisted 4
1: calls read {\"path\":\"note.txt\"}
answered true
reading -> done (ok)
persisted 5
ended Succeeded"
    );
}

/// Sends a message as another process would.
pub(crate) fn send(journal: &Path, run: &RunId, event: &impl Serialize) {
    let event = serde_json::to_string(event).expect("the value serialises");
    let store = SqliteStore::open(journal).expect("the journal opens");
    std::thread::scope(|threads| {
        let posting = threads.spawn(|| {
            let threads = tokio::runtime::Runtime::new().expect("the runtime starts");
            threads.block_on(store.send(run, &event))
        });
        posting.join().expect("the thread did not panic").expect("it is posted");
    });
}

#[test]
fn a_run_waits_for_another_writer_and_says_so() {
    let desk = TestSession::new("session-delayed");
    let journal = desk.session.journal().to_owned();
    let other = Mutex::new((0, None));
    let watch = move |_: &RunId, notice: &Notice| {
        let mut other = other.lock().expect("no thread panicked while it held the lock");
        match notice {
            // The finished call is there, and its entry cannot be written.
            Notice::Item(TimelineItem { kind: TimelineKind::Started { .. }, .. })
                if other.0 == 0 =>
            {
                let writer = rusqlite::Connection::open(&journal).expect("the database opens");
                writer.execute_batch("BEGIN IMMEDIATE").expect("the SQL runs");
                *other = (1, Some(writer));
            }
            // It releases the lock only after a notice, and then the run continues.
            Notice::Live(LiveNotice::Delayed(_)) => other.1 = None,
            _ => {}
        }
    };
    let start = TestSession::start(true);
    let ran = desk.session.run(&desk.executor(), start, vec![Arc::new(watch)], &mut Says(true, 0));
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded));
    assert!(has_note(&desk.work()));
}

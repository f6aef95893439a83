//! What happens after tools, in a real repository.

mod race;
mod resumed;
mod signed;
mod talk;

use std::{fs, path::Path, process::Command};

use pointsman_agents::chat::{ChatAgent, ChatReport};
use pointsman_kernel::{
    agent::{Agent, Answer},
    body::Body,
    governor::Permissions,
    id::{EffectId, Seq},
};
use pointsman_runtime::{
    effect::{EffectExecutor, EffectTask, Permit, ProgressSink},
    engine::EngineConfig,
    local_executor::{AfterTools, Hooks, LocalExecutor},
    model::{self, Spec},
    session::{Session, StartOptions, Unattended},
    store::RunId,
    tool,
};
use serde_json::{Value, json};

use crate::store::TempFolder;

/// A repository with a file in it, and a journal beside it.
struct TestSession {
    folder: TempFolder,
    session: Session,
}

impl TestSession {
    fn new(name: &str) -> Self {
        let folder = TempFolder::new(&format!("hook-{name}"));
        fs::create_dir_all(folder.0.join("work")).expect("the folder is created");
        let session =
            Session::open(pointsman_agents::all(), &folder.journal(), &folder.0.join("cache"))
                .expect("the session opens");
        let desk = Self { folder, session };
        desk.put("a.txt", "one\n");
        desk
    }

    fn with_git(name: &str) -> Self {
        let desk = Self::new(name);
        desk.put(".gitignore", "ignored\n");
        desk.git(&["init", "--quiet", "--initial-branch=main"]);
        desk.git(&["add", "-A"]);
        desk.git(&["commit", "--quiet", "-m", "first"]);
        desk
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.folder.0.join("work").join(path), text).expect("the file is written");
    }

    fn git(&self, arguments: &[&str]) -> String {
        let ran = Command::new("git")
            .args(["-c", "user.name=P", "-c", "user.email=p@example.org"])
            .args(arguments)
            .current_dir(self.folder.0.join("work"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("the program starts");
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("the output is UTF-8")
    }

    fn log(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(String::from).collect()
    }

    fn executor(&self, hooks: Hooks, model: Spec) -> LocalExecutor {
        let work = self.folder.0.join("work");
        let mut tools = tool::ToolSettings::over(work, self.folder.0.join("index.db"));
        tools.sandbox.helper = Some(super::helper().into());
        let settings =
            EngineConfig { hooks, ..EngineConfig::new(model::ModelSettings::new(model), tools) };
        self.session.executor(settings).expect("a host")
    }

    /// Runs calls, one after the other, in a new run.
    fn run(&self, calls: &[(&str, Value)]) -> RunId {
        let mut chart = String::from(
            "chart = \"calls\"\nversion = 1\nstart = \"s0\"\nauthority = \"propose\"\n\
             [any]\ncancel = \"stopped\"\n",
        );
        for (at, (tool, arguments)) in calls.iter().enumerate() {
            let next = if at + 1 == calls.len() { "done".into() } else { format!("s{}", at + 1) };
            chart.extend([format!(
                "[state.s{at}]\nrun = \"tool.call\"\ntimeout = \"30s\"\ntools = [\"{tool}\"]\n\
                 with = {{ tool = \"{tool}\", args = {}, into = \"x\" }}\non.ok = \"{next}\"\n\
                 on.failed = \"failed\"\non.denied = \"failed\"\non.stuck = \"failed\"\n",
                inline(arguments)
            )]);
        }
        chart.push_str(
            "[state.done]\nfinal = \"succeeded\"\n[state.failed]\nfinal = \"failed\"\n\
             [state.stopped]\nfinal = \"cancelled\"\n",
        );
        let start = StartOptions {
            program: crate::program(&chart),
            source: chart.into(),
            config: json!({ "goal": "x" }).into(),
            words: Vec::new(),
            goal: "x".into(),
            permissions: Permissions::allow_all(),
            seed: Some(7),
        };
        let executor = self.executor(committing(), Spec::quote());
        let ran = self.session.run(&executor, start, Vec::new(), &mut Unattended);
        ran.unwrap_or_else(|error| panic!("it runs: {error}")).run
    }

    /// Runs the hook after a run's calls, and returns its report.
    fn hook(executor: &LocalExecutor, run: &RunId, tools: &[&str]) -> (bool, String) {
        let tool = |name: &&str| json!({ "name": name, "succeeded": true });
        let completed: Vec<Value> = tools.iter().map(tool).collect();
        let task = json!({ "post_tools": { "completed_tools": completed } });
        let task = EffectTask::Own(Body::canonical(&task));
        let effect = EffectId { seq: Seq(1), index: 0 };
        let permit = Permit::unwritten(run.clone(), ChatAgent::DECL.name, effect, false);
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let doing = executor.perform(permit, task, ProgressSink::none());
        let done = threads.expect("the runtime starts").block_on(doing);
        let Answer::Own(report) = &done.answer else { panic!("no report: {done:?}") };
        let Ok(ChatReport::PostTools { action_taken, actions }) = report.read() else {
            panic!("another report: {}", report.get());
        };
        (action_taken, actions.join("\n"))
    }

    fn commit(&self, run: &RunId) -> (bool, String) {
        Self::hook(&self.executor(committing(), Spec::quote()), run, &["edit"])
    }
}

/// The usual hooks, with commits: a person has turned them on.
fn committing() -> Hooks {
    Hooks { commit: true, ..Hooks::default() }
}

/// Writes arguments as a table of TOML, in one line. Their texts are written alike.
fn inline(arguments: &Value) -> String {
    let members = arguments.as_object().expect("an object").iter();
    let members: Vec<String> = members.map(|(name, it)| format!("{name} = {it}")).collect();
    format!("{{ {} }}", members.join(", "))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({ "path": path, "old": old, "new": new }))
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": content }))
}

fn script(folder: &Path, answer: &Value) -> Spec {
    let file = folder.join("answers.jsonl");
    fs::write(&file, answer.to_string()).expect("the file is written");
    format!("script:{}", file.display()).parse().expect("the text names a model")
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn changes_are_committed_once() {
    let desk = TestSession::with_git("once");
    let run = desk.run(&[
        edit("a.txt", "one", "two"),
        write("sub/b [1].txt", "b\n"),
        write("ignored", "x"),
    ]);
    let (acted, said) = desk.commit(&run);
    assert!(acted && said.starts_with("committed 2 files as "), "{said}");
    assert!(said.ends_with(": Change 2 files"), "{said}");
    assert_eq!(desk.log(), ["Change 2 files", "first"]);
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
    // The same again, as after a stop: there is nothing left to do.
    assert_eq!(desk.commit(&run), (false, String::new()));
    assert_eq!(desk.log().len(), 2);
    // A stop between the two halves of a commit is made good.
    let run = desk.run(&[edit("a.txt", "two", "three")]);
    desk.git(&["add", "a.txt"]);
    assert!(desk.commit(&run).0);
    assert_eq!(desk.log(), ["Change a.txt", "Change 2 files", "first"]);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn nothing_of_a_persons_is_swept_in() {
    let desk = TestSession::with_git("sweep");
    desk.put("b.txt", "b\n");
    desk.git(&["add", "b.txt"]);
    desk.git(&["commit", "--quiet", "-m", "second"]);
    // One file was changed before the run, another only by a person, a third is new.
    desk.put("a.txt", "one\nmine\n");
    desk.put("new.txt", "mine\n");
    desk.put("c.txt", "mine\n");
    let run = desk.run(&[
        edit("a.txt", "one", "two"),
        edit("b.txt", "b", "B"),
        edit("new.txt", "m", "M"),
    ]);
    let (acted, said) = desk.commit(&run);
    assert!(acted && said.contains("a.txt, new.txt: not committed"), "{said}");
    assert!(said.contains("committed 1 file"), "{said}");
    assert_eq!(desk.git(&["show", "--format=", "--name-only"]), "b.txt\n");
    // Changed by a person after the run had changed it.
    let run = desk.run(&[edit("b.txt", "B", "C")]);
    desk.put("b.txt", "C\nmine\n");
    let (acted, said) = desk.commit(&run);
    assert!(!acted && said.contains("b.txt: not committed"), "{said}");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn staged_changes_are_left_to_the_person() {
    let desk = TestSession::with_git("staged");
    desk.put("c.txt", "mine\n");
    desk.git(&["add", "c.txt"]);
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    let (acted, said) = desk.commit(&run);
    assert!(!acted && said.contains("the git index has other changes"), "{said}");
    assert_eq!(desk.git(&["diff", "--cached", "--name-only"]), "c.txt\n");
    assert_eq!(desk.log(), ["first"]);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn files_changed_by_the_runs_commands_are_committed() {
    let desk = TestSession::with_git("commands");
    let command = ("shell", json!({ "command": "sed -i s/two/2/ a.txt" }));
    let run = desk.run(&[edit("a.txt", "one", "two"), command]);
    assert!(desk.commit(&run).0);
    assert_eq!(desk.git(&["show", "HEAD:a.txt"]), "2\n");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn outside_a_repository_and_turned_off_nothing_happens() {
    let desk = TestSession::new("outside");
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    assert_eq!(desk.commit(&run), (false, String::new()));
    let desk = TestSession::with_git("off");
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    let off = Hooks { commit: false, ..committing() };
    let executor = desk.executor(off, Spec::quote());
    assert_eq!(TestSession::hook(&executor, &run, &["edit"]), (false, String::new()));
    assert_eq!(desk.log(), ["first"]);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn commit_message_is_the_models_or_a_plain_one() {
    let long = "x".repeat(100);
    for (name, answer, wanted) in [
        ("words", json!({ "text": "\"Count to two\"\n\nBecause." }), "Count to two"),
        ("fault", json!({ "fault": { "class": "unavailable" } }), "Change a.txt"),
        ("nothing", json!({ "when": "no such words", "text": "Wrong" }), "Change a.txt"),
        ("slow", json!({ "text": "Late", "delay_ms": 60_000 }), "Change a.txt"),
        ("empty", json!({ "text": "\n" }), "Change a.txt"),
        ("long", json!({ "text": long }), &format!("{}…", "x".repeat(71))),
    ] {
        let desk = TestSession::with_git(&format!("message-{name}"));
        let run = desk.run(&[edit("a.txt", "one", "two")]);
        let model = script(&desk.folder.0, &answer);
        let message_ms = if name == "slow" { 300 } else { 20_000 };
        let hooks = Hooks { message_ms, ..committing() };
        let (acted, said) = TestSession::hook(&desk.executor(hooks, model), &run, &["edit"]);
        assert!(acted, "{name}: {said}");
        assert_eq!(desk.log(), [wanted, "first"], "{name}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn failed_commit_is_reported_and_unstaged() {
    let desk = TestSession::with_git("fails");
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    // This lock keeps the branch from moving.
    fs::write(desk.folder.0.join("work/.git/refs/heads/main.lock"), "")
        .expect("the file is written");
    let (acted, said) = desk.commit(&run);
    assert!(!acted && said.starts_with("the commit failed:"), "{said}");
    assert_eq!(desk.git(&["diff", "--cached", "--name-only"]), "");
    fs::remove_file(desk.folder.0.join("work/.git/refs/heads/main.lock"))
        .expect("the file existed and is removed");
    assert!(desk.commit(&run).0);
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn commands_run_after_the_tools_they_are_for() {
    let desk = TestSession::with_git("after");
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    let command = |run: &str, when: &[&str], timeout_ms| AfterTools {
        run: run.into(),
        when: when.iter().map(|it| (*it).into()).collect(),
        timeout_ms,
    };
    let after_tools = vec![
        command("sed -i s/two/2/ a.txt", &["edit", "write"], None),
        command("echo never > never.txt", &["shell"], None),
        command("printf %s \"$POINTSMAN_COMPLETED_TOOLS\" > told.json", &["ed*"], None),
        command("echo broken >&2; exit 3", &[], None),
        command("sleep 60", &[], Some(5_000)),
    ];
    let executor = desk.executor(Hooks { after_tools, ..committing() }, Spec::quote());
    let (acted, said) = TestSession::hook(&executor, &run, &["edit", "read"]);
    assert!(acted, "{said}");
    assert!(said.contains("`echo broken >&2; exit 3` failed: exit code 3:"), "{said}");
    assert!(said.contains("`sleep 60` failed: it was stopped after 5000 ms"), "{said}");
    let told = fs::read_to_string(desk.folder.0.join("work/told.json"))
        .expect("the file exists and is UTF-8");
    let wanted = json!([
        { "name": "edit", "succeeded": true }, { "name": "read", "succeeded": true },
    ]);
    assert_eq!(serde_json::from_str::<Value>(&told).expect("the text is valid JSON"), wanted);
    assert!(!desk.folder.0.join("work/never.txt").exists());
    // The formatted file is committed, and nothing else that commands wrote.
    assert_eq!(desk.git(&["show", "HEAD:a.txt"]), "2\n");
    assert_eq!(desk.git(&["status", "--porcelain"]), "?? told.json\n");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_file_is_the_same_however_its_path_is_written() {
    let desk = TestSession::with_git("paths");
    let run = desk.run(&[
        edit("./a.txt", "one", "two"),
        edit("a.txt", "two", "three"),
        write(".//b.txt", "b\n"),
        write("sub//c.txt", "c\n"),
    ]);
    let (acted, said) = desk.commit(&run);
    assert!(acted && said.starts_with("committed 3 files as "), "{said}");
    assert_eq!(desk.git(&["show", "HEAD:a.txt"]), "three\n");
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn unreadable_repository_is_reported() {
    for (file, why) in [("HEAD", "not a git repository"), ("index", "index file")] {
        let desk = TestSession::with_git(&format!("broken-{file}"));
        let run = desk.run(&[edit("a.txt", "one", "two")]);
        fs::write(desk.folder.0.join("work/.git").join(file), "nothing")
            .expect("the file is written");
        let (acted, said) = desk.commit(&run);
        let looked = said.starts_with("the search for changes to commit failed: ");
        let told = looked && said.contains(why);
        assert!(!acted && told, "{file}: {said}");
    }
}

#[test]
#[ignore = "needs bubblewrap: cargo xtask test --only sandbox"]
fn a_lock_that_a_stopped_git_left_behind_is_named() {
    let desk = TestSession::with_git("lock");
    let run = desk.run(&[edit("a.txt", "one", "two")]);
    let lock = desk.folder.0.join("work/.git/index.lock");
    fs::write(&lock, "").expect("the file is written");
    let (acted, said) = desk.commit(&run);
    let wanted = "index.lock exists: another git process is running or was interrupted";
    assert!(!acted && said.starts_with("the commit failed: ") && said.contains(wanted), "{said}");
    assert_eq!(desk.log(), ["first"]);
    // A lock is never removed: a person does that, and then it works.
    fs::remove_file(&lock).expect("it is still there");
    assert!(desk.commit(&run).0);
    assert_eq!(desk.log(), ["Change a.txt", "first"]);
}

//! A run of the form agent: its browser, its private files, and their removal.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pointsman_agents::form::{self, FormAgent};
use pointsman_kernel::{
    agent::Agent,
    body::Body,
    chart::Disposition,
    governor::{Grant, Level, Permissions},
    id::Seq,
};
use pointsman_runtime::{
    driver::RunStatus,
    effect::EffectExecutor as _,
    local_executor::LocalExecutor,
    session::{RunSummary, StartOptions, Unattended},
};
use pointsman_webdriver::profile;
use serde_json::{Value, json};

use super::{Site, life::until};
use crate::workspace::TestWorkspace;

const PAGE: &str = "<title>Join</title><form action=/sent>
<label for=n>Full name</label><input id=n name=n autocomplete=name required>
<label for=e>Email</label><input id=e name=e type=email autocomplete=email>
<button>Send</button></form>";

/// Runs the agent over a page with a profile of two values.
fn run(workspace: &TestWorkspace, url: &str, redact: bool) -> RunSummary {
    run_with(workspace, workspace.executor(), json!({ "url": url, "redact": redact }), Level::Allow)
}

/// Runs the agent with a host, more of a configuration, and a rule over sending.
fn run_with(
    workspace: &TestWorkspace,
    executor: LocalExecutor,
    mut config: Value,
    sends: Level,
) -> RunSummary {
    let file = workspace.work().join("me.toml");
    fs::write(&file, "name = \"Ada Lovelace\"\nemail = \"ada@example.org\"\n")
        .expect("file is writable");
    let held = profile::read(&file).expect("profile is valid").holds(&file.display().to_string());
    config["profile"] = json!(held);
    config["sends"] = json!(sends != Level::Refuse);
    let sends =
        Grant { tool: form::SUBMIT_TOOL.into(), arguments: Vec::new(), level: sends, until: None };
    let start = StartOptions {
        program: crate::program(form::CHART),
        source: form::CHART.into(),
        config: config.into(),
        words: vec![Body::canonical(&json!({}))],
        goal: "join".into(),
        permissions: Permissions { otherwise: Level::Refuse, rules: vec![sends], attended: false },
        seed: Some(1),
    };
    let ran = workspace.session.run(&executor, start, Vec::new(), &mut Unattended);
    ran.unwrap_or_else(|error| panic!("it runs: {error}"))
}

/// What lies beside the journal for forms.
fn left(workspace: &TestWorkspace) -> Vec<PathBuf> {
    let work = workspace.work();
    let folder = work.parent().map(|it| it.join("deep/forms")).unwrap_or_default();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn pictures(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let png = |path: PathBuf| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG"));
    entries.filter(|entry| png(entry.path())).count()
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn a_run_fills_sends_and_keeps_values_out_of_its_journal() {
    let workspace = TestWorkspace::new("browser-run");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runtime is built");
    let thanks = "<h1>Thank you, Ada Lovelace</h1>";
    let site = runtime.block_on(Site::of(&[("/", PAGE), ("/sent", thanks)]));
    for redact in [true, false] {
        let outcome = run(&workspace, &site.url("/"), redact);
        assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded), "{outcome:?}");
        let journal = workspace
            .session
            .block_on(workspace.session.store().lines(&outcome.run, Seq(0)))
            .expect("journal opens")
            .join("\n");
        for value in ["Ada Lovelace", "ada@example.org"] {
            assert_eq!(journal.contains(value), !redact, "{value} with redact = {redact}");
        }
        let folder = left(&workspace).into_iter().find(|path| path.ends_with(outcome.run.as_str()));
        assert!(pictures(&folder.expect("folder is UTF-8")) >= 2);
        let private = |path: &PathBuf| path.extension().is_some();
        assert!(!left(&workspace).iter().any(private), "{:?}", left(&workspace));
    }
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn a_run_that_cannot_open_its_page_fails_and_says_why() {
    let workspace = TestWorkspace::new("browser-nowhere");
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let outcome =
        run(&workspace, &format!("http://{}/", free.expect("loopback has a free port")), true);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Failed), "{outcome:?}");
    assert_eq!(&*outcome.state, "error");
    let told: Value = outcome.result.map(Value::String).unwrap_or_default();
    assert!(told.to_string().contains("ERR_CONNECTION_REFUSED"), "{told}");
    assert!(
        !left(&workspace).iter().any(|path| path.extension().is_some()),
        "{:?}",
        left(&workspace)
    );
}

#[test]
fn run_without_work_leaves_no_private_texts() {
    let workspace = TestWorkspace::new("browser-untouched");
    let folder = workspace.work().parent().map(|it| it.join("deep/forms")).unwrap_or_default();
    fs::create_dir_all(folder.join("r1.private")).expect("folder is writable");
    fs::create_dir_all(folder.join("r2.private")).expect("folder is writable");
    let ended = workspace.executor().ended(
        &FormAgent::DECL,
        &"r1".parse().expect("text is well-formed"),
        Disposition::Denied,
    );
    workspace.session.block_on(ended);
    assert!(!folder.join("r1.private").exists() && folder.join("r2.private").exists());
}

/// Processes whose command line names a folder.
fn of(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let runs = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(folder)
    };
    entries.filter_map(pid).filter(runs).collect()
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn visible_browser_stays_open_for_the_person() {
    let workspace = TestWorkspace::new("browser-stays");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runtime is built");
    let site = runtime.block_on(Site::of(&[("/", PAGE), ("/sent", "<p>Thank you")]));
    // Its window is invisible, and still counts as one.
    let mut settings = super::settings();
    settings.visible = true;
    let mark = format!("--window-name=pointsman-{}", std::process::id());
    settings.flags.extend(["--headless".into(), mark.clone()]);
    let config = |redact: bool| json!({ "url": site.url("/"), "redact": redact });

    let sent =
        run_with(&workspace, workspace.host_with(settings.clone()), config(true), Level::Allow);
    assert_eq!(sent.status, RunStatus::Ended(Disposition::Succeeded), "{sent:?}");
    assert!(until(|| of(&mark).is_empty()), "nothing is left to do in it");

    drop(run_with(&workspace, workspace.host_with(settings), config(true), Level::Refuse));
    let left = of(&mark);
    assert!(!left.is_empty(), "the browser went with the run");
    assert!(!self::left(&workspace).iter().any(|path| path.extension().is_some()));
    let line = fs::read(format!("/proc/{}/cmdline", left[0])).expect("file is readable");
    let line = String::from_utf8_lossy(&line).into_owned();
    let profile = line.split('\0').find_map(|it| it.strip_prefix("--user-data-dir="));
    let folder = Path::new(profile.expect("profile is valid"))
        .parent()
        .expect("folder is writable")
        .to_owned();
    assert!(folder.is_dir());
    // The person closes it.
    for pid in of(&mark) {
        let pid =
            rustix::process::Pid::from_raw(pid.cast_signed()).expect("record names a process");
        // One of them may have gone with another.
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    assert!(until(|| !folder.exists()), "what it lay in is left");
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn repeated_values_stay_out_of_the_journal() {
    let workspace = TestWorkspace::new("browser-repeats");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runtime is built");
    let first = "<form action=/two><label for=n>Full name</label>
        <input id=n name=n autocomplete=name required><button>Next</button></form>";
    let second = "<form action=/sent><fieldset><legend>Delivery to ADA LOVELACE</legend>
        <p id=h>Write to ada@example.org</p>
        <label for=e>Email</label><input id=e name=e data-for='Ada Lovelace' aria-describedby=h
          placeholder='like ada@example.org' autocomplete=email></fieldset>
        <button>Send</button></form>";
    let pages = [("/", first), ("/two", second), ("/sent", "<p>Thank you, Ada Lovelace")];
    let site = runtime.block_on(Site::of(&pages));
    let outcome = run(&workspace, &site.url("/"), true);
    assert_eq!(outcome.status, RunStatus::Ended(Disposition::Succeeded), "{outcome:?}");
    let journal = workspace
        .session
        .block_on(workspace.session.store().lines(&outcome.run, Seq(0)))
        .expect("journal opens")
        .join("\n");
    assert!(journal.contains("Delivery to [hidden]"), "{journal}");
    for value in ["ada lovelace", "ada@example.org"] {
        assert!(!journal.to_lowercase().contains(value), "{value} in {journal}");
    }
}

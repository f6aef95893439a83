//! Started, killed, taken over, ended: nothing is left, and nothing foreign is touched.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use pointsman_agents::form::FieldShape;
use pointsman_kernel::agent::FaultClass;
use pointsman_webdriver::browser::{
    Attach, Browser, BrowserError, BrowserExit, BrowserRecord, programs,
};
use serde_json::{Value, json};

use super::{OpenPage, Site, field, folder, settings};

/// Processes of a browser that was started for a record.
fn pids(record: &Path) -> Vec<u32> {
    let record: Value = serde_json::from_slice(&fs::read(record).expect("text is valid JSON"))
        .expect("text is valid JSON");
    let pid =
        |who: &str| u32::try_from(record[who]["pid"].as_u64().expect("JSON has the expected type"));
    ["driver", "browser", "keeper"].map(|who| pid(who).expect("record names a process")).into()
}

fn profile(record: &Path) -> PathBuf {
    let record: Value = serde_json::from_slice(&fs::read(record).expect("text is valid JSON"))
        .expect("text is valid JSON");
    record["folder"].as_str().expect("JSON has the expected type").into()
}

/// Returns how many sessions a driver has. It keeps connections open, so no more is read
/// than it says.
fn sessions(port: &Value) -> usize {
    let mut wire = TcpStream::connect(format!("127.0.0.1:{port}")).expect("server listens");
    wire.set_read_timeout(Some(Duration::from_secs(30))).expect("timeout is set");
    wire.write_all(b"GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").expect("request is sent");
    let mut wire = BufReader::new(wire);
    let mut length = 0;
    for line in wire.by_ref().lines().map(|line| line.expect("server answers")) {
        match line.to_lowercase().strip_prefix("content-length:") {
            Some(told) => length = told.trim().parse().expect("text is well-formed"),
            None if line.is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    wire.read_exact(&mut body).expect("server answers");
    let told: Value = serde_json::from_slice(&body).expect("text is valid JSON");
    told["value"].as_array().expect("JSON has the expected type").len()
}

fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Waits until something holds. Only a test that fails waits long.
pub(super) fn until(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    holds()
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_browser_opens_pages_and_leaves_nothing_behind() {
    let record = folder("life").join("forms/run.json");
    let site = Site::of(&[("/", "<title>Hello</title><p id=p>there")]).await;
    let browser = Browser::open_for(&settings(), Some(&record)).await.expect("browser starts");
    browser.goto(&site.url("/")).await.expect("page loads");
    let args = vec![json!("#p"), json!({ "deep": ["é"] })];
    let script = "return [document.querySelector(arguments[0]).innerText, arguments[1].deep[0]]";
    assert_eq!(browser.script(script, args).await.expect("script runs"), json!(["there", "é"]));
    assert!(browser.screenshot().await.expect("screenshot is taken").starts_with(b"\x89PNG"));

    let (pids, profile) = (pids(&record), profile(&record));
    assert!(pids.iter().all(|pid| runs(*pid)) && profile.is_dir());
    drop(browser);
    assert!(!pids.iter().any(|pid| runs(*pid)), "{pids:?}");
    assert!(!profile.exists() && !record.exists());
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn closing_ends_everything_too() {
    let record = folder("close").join("run.json");
    let browser = Browser::open_for(&settings(), Some(&record)).await.expect("browser starts");
    let (pids, profile) = (pids(&record), profile(&record));
    assert_eq!(browser.release().await, Some(BrowserExit::Closed), "it has no window");
    assert!(!pids.iter().any(|pid| runs(*pid)) && !profile.exists() && !record.exists());
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn killed_browser_is_reported_as_lost() {
    let record = folder("killed").join("run.json");
    let browser = Browser::open_for(&settings(), Some(&record)).await.expect("browser starts");
    let (pids, profile) = (pids(&record), profile(&record));
    let pid =
        rustix::process::Pid::from_raw(pids[1].cast_signed()).expect("record names a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL)
        .expect("test owns the process");
    let error = browser.script("return 1", Vec::new()).await.expect_err("browser is dead");
    assert_eq!(error.class(), FaultClass::Gone, "{error}");
    assert!(matches!(error, BrowserError::Gone { .. }) && !error.is_repeatable());
    drop(browser);
    assert!(!pids.iter().any(|pid| runs(*pid)) && !profile.exists());
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_driver_that_ends_at_once_is_started_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder("again");
    let (driver, starts) = (folder.join("driver"), folder.join("starts"));
    let script = |fails: &str| {
        let (log, real) = (starts.display(), "exec chromedriver \"$@\"");
        fs::write(&driver, format!("#!/bin/sh\necho >> {log}\n{fails}\n{real}\n"))
            .expect("file is writable");
        fs::set_permissions(&driver, fs::Permissions::from_mode(0o755))
            .expect("test owns the file");
        fs::write(&starts, "").expect("file is writable");
    };
    let mut settings = settings();
    settings.driver = Some(driver.clone());
    let count = || fs::read_to_string(&starts).expect("file is readable").lines().count();
    script(&format!("test $(wc -l < {}) -gt 1 || exit 1", starts.display()));
    let browser = Browser::open(&settings).await.expect("the second driver listens");
    assert_eq!(count(), 2);
    browser.close().await;
    script("echo no >&2; exit 1");
    let error = Browser::open(&settings).await.expect_err("none of them listens");
    assert_eq!(count(), 3);
    assert!(error.to_string().ends_with("it said: no"), "{error}");
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn unusable_addresses_are_reported() {
    let OpenPage { browser, .. } = OpenPage::page("<p>").await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let url = format!("http://{}/", free.expect("loopback has a free port"));
    for (url, word) in [(url.as_str(), "ERR_CONNECTION_REFUSED"), ("no address", "relative URL")] {
        let error = browser.goto(url).await.expect_err("nobody is there");
        assert!(error.to_string().contains(word), "{error}");
        assert!(matches!(error, BrowserError::Address { .. }), "{error:?}");
    }
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn foreign_driver_or_session_is_used_and_left_open() {
    let record = folder("attach").join("run.json");
    let executor = Browser::open_for(&settings(), Some(&record)).await.expect("browser starts");
    executor.script("document.title = 'mine'", Vec::new()).await.expect("script runs");
    let told: Value = serde_json::from_slice(&fs::read(&record).expect("text is valid JSON"))
        .expect("text is valid JSON");
    let url = format!("http://127.0.0.1:{}", told["port"]);
    let title = "return document.title";

    let mut settings = settings();
    let session = told["session"].as_str().map(str::to_owned);
    settings.attach = Some(Attach::Driver { url: url.clone(), session });
    let guest = Browser::open(&settings).await.expect("browser starts");
    assert_eq!(guest.script(title, Vec::new()).await.expect("script runs"), "mine");
    assert_eq!(guest.close().await, None, "it is not ours");
    assert_eq!(executor.script(title, Vec::new()).await.expect("script runs"), "mine");

    settings.attach = Some(Attach::Driver { url, session: None });
    let guest = Browser::open(&settings).await.expect("browser starts");
    assert_eq!(guest.script(title, Vec::new()).await.expect("script runs"), "");
    assert_eq!(sessions(&told["port"]), 2);
    assert_eq!(guest.release().await, None, "the browser is the driver's");
    assert!(until(|| sessions(&told["port"]) == 1), "our session there is gone");

    settings.attach = Some(Attach::Driver { url: "http://127.0.0.1:1".into(), session: None });
    let error = Browser::open(&settings).await.expect_err("nobody is there");
    assert!(matches!(error, BrowserError::NotReady { .. }), "{error:?}");
}

#[test]
fn missing_programs_are_named_with_a_hint() {
    let mut settings = settings();
    settings.driver = Some("/no/such/chromedriver".into());
    let [driver, _] = programs(&settings);
    let error = driver.found.expect_err("it is not there");
    assert_eq!(error.to_string(), "chromedriver was not found: looked for /no/such/chromedriver");
    assert!(
        error
            .hint()
            .expect("error has a hint")
            .contains("apt-get install chromium chromium-driver")
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let opened = runtime.expect("runtime is built").block_on(Browser::open(&settings));
    // Whichever is looked for first.
    assert!(matches!(opened, Err(BrowserError::Missing { .. })), "{opened:?}");
}

/// A process that opens a browser and is killed: this very test, run again by itself.
const CHILD: &str = "POINTSMAN_TEST_BROWSER";

/// Starts a process that opens a browser for a record, and kills it. Returns what it left.
fn child(record: &Path, keep: u64) -> (Vec<u32>, PathBuf) {
    let program = env::current_exe().expect("test binary has a path");
    let mut command = Command::new(program);
    command.args(["--exact", "browser::life::holds_a_browser_until_it_is_killed", "--ignored"]);
    command.arg("--nocapture").env(CHILD, record).env("POINTSMAN_TEST_KEEP", keep.to_string());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("program starts");
    let said = BufReader::new(child.stdout.take().expect("pipe is connected"));
    let ready = said.lines().map_while(Result::ok).any(|line| line.contains("open"));
    let told = ready.then(|| (pids(record), profile(record)));
    child.kill().expect("test owns the process");
    child.wait().expect("run ends");
    told.expect("browser started")
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn holds_a_browser_until_it_is_killed() {
    let Some(record) = env::var_os(CHILD).map(PathBuf::from) else { return };
    let mut settings = settings();
    let keep = env::var("POINTSMAN_TEST_KEEP")
        .expect("variable is a number")
        .parse()
        .expect("text is well-formed");
    settings.keep = Duration::from_secs(keep);
    let browser = Browser::open_for(&settings, Some(&record)).await.expect("browser starts");
    let page = "data:text/html,<iframe id=frame srcdoc='<input id=a>'></iframe>";
    browser.goto(page).await.expect("page loads");
    browser.script("document.title = 'typed'", Vec::new()).await.expect("script runs");
    // The next owner finds it in a frame.
    browser.insert(&field(FieldShape::Text, "#frame >>> #a"), "x").await.expect("field is filled");
    // Directly to the pipe, which the other half of this test reads.
    std::io::stdout().write_all(b"\nopen\n").expect("pipe is connected");
    tokio::time::sleep(Duration::from_mins(1)).await;
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn the_browser_of_a_killed_process_is_taken_over() {
    let record = folder("taken").join("run.json");
    let (old, _) = child(&record, 60);
    assert!(old.iter().all(|pid| runs(*pid)), "{old:?}");
    let found =
        BrowserRecord::read(&record).expect("text is readable").expect("element is present");
    let browser =
        Browser::take_over(&settings(), &found, &record).await.expect("session is taken over");
    let title = browser.script("return document.title", Vec::new()).await.expect("script runs");
    assert_eq!(title, "typed");
    let (new, profile) = (pids(&record), profile(&record));
    assert_eq!(new[..2], old[..2]);
    assert!(new[2] != old[2] && until(|| !runs(old[2])), "{old:?} {new:?}");
    drop(browser);
    assert!(!new.iter().any(|pid| runs(*pid)) && !profile.exists() && !record.exists());
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn watchdog_ends_an_abandoned_browser() {
    let record = folder("kept").join("run.json");
    let (pids, profile) = child(&record, 1);
    assert!(until(|| !pids.iter().any(|pid| runs(*pid))), "{pids:?}");
    assert!(until(|| !profile.exists() && !record.exists()));
}

#[tokio::test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
async fn a_number_that_was_given_out_again_is_not_signalled() {
    let path = folder("foreign").join("run.json");
    let mut stranger = Command::new("sleep").arg("60").spawn().expect("program starts");
    let who = json!({ "pid": stranger.id(), "started": "1" });
    let record = json!({
        "port": 1, "session": "s", "folder": "/no/such/folder", "owner": who,
        "driver": who, "browser": who, "keeper": who,
    });
    fs::write(&path, record.to_string()).expect("file is writable");
    let found = BrowserRecord::read(&path).expect("text is readable").expect("element is present");
    let error = Browser::take_over(&settings(), &found, &path).await.expect_err("target is gone");
    assert!(matches!(error, BrowserError::Gone { .. }), "{error:?}");
    assert!(runs(stranger.id()), "a stranger was ended");
    stranger.kill().expect("test owns the process");
    stranger.wait().expect("run ends");
}

//! A run of the form agent: its browser, its private things, and what is left of them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pointsman_agents::form;
use pointsman_kernel::{
    chart::{Disposition, verify},
    governor::{Grant, Level, Permissions},
    id::Seq,
};
use pointsman_runtime::{
    driver::Standing,
    profile,
    session::{Nobody, Outcome, Start},
};
use serde_json::{Value, json};

use super::Site;
use crate::session::Desk;

const PAGE: &str = "<title>Join</title><form action=/sent>
<label for=n>Full name</label><input id=n name=n autocomplete=name required>
<label for=e>Email</label><input id=e name=e type=email autocomplete=email>
<button>Send</button></form>";

/// Runs the agent over a page with a profile of two values.
fn run(desk: &Desk, url: &str, redact: bool) -> Outcome {
    let file = desk.work().join("me.toml");
    fs::write(&file, "name = \"Ada Lovelace\"\nemail = \"ada@example.org\"\n").expect("a profile");
    let held = profile::read(&file).expect("a profile").holds(&file.display().to_string());
    let chart = verify(form::CHART, &pointsman_agents::registry());
    let sends = Grant {
        tool: form::SUBMIT_TOOL.into(),
        arguments: Vec::new(),
        level: Level::Allow,
        until: None,
    };
    let start = Start {
        chart: chart.unwrap_or_else(|refused| panic!("{:#?}", refused.diagnostics)),
        source: form::CHART.into(),
        config: json!({ "url": url, "profile": held, "redact": redact }),
        words: vec![json!({})],
        goal: "join".into(),
        permissions: Permissions { otherwise: Level::Refuse, rules: vec![sends], attended: false },
        seed: Some(1),
    };
    let ran = desk.session.run(&desk.host(), start, Vec::new(), &mut Nobody);
    ran.unwrap_or_else(|error| panic!("it runs: {error}"))
}

/// What lies beside the journal for forms.
fn left(desk: &Desk) -> Vec<PathBuf> {
    let work = desk.work();
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
    let desk = Desk::new("browser-run");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("one");
    let thanks = "<h1>Thank you, Ada Lovelace</h1>";
    let site = runtime.block_on(Site::of(&[("/", PAGE), ("/sent", thanks)]));
    for redact in [true, false] {
        let outcome = run(&desk, &site.url("/"), redact);
        assert_eq!(outcome.standing, Standing::Ended(Disposition::Succeeded), "{outcome:?}");
        let journal =
            desk.session.store().lines(&outcome.run, Seq(0)).expect("a journal").join("\n");
        for value in ["Ada Lovelace", "ada@example.org"] {
            assert_eq!(journal.contains(value), !redact, "{value} with redact = {redact}");
        }
        let folder = left(&desk).into_iter().find(|path| path.ends_with(outcome.run.as_str()));
        assert!(pictures(&folder.expect("pictures")) >= 2);
        let private = |path: &PathBuf| path.extension().is_some();
        assert!(!left(&desk).iter().any(private), "{:?}", left(&desk));
    }
}

#[test]
#[ignore = "needs chromium and chromedriver: cargo xtask test --only browser"]
fn a_run_that_cannot_open_its_page_fails_and_says_why() {
    let desk = Desk::new("browser-nowhere");
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let outcome = run(&desk, &format!("http://{}/", free.expect("a port")), true);
    assert_eq!(outcome.standing, Standing::Ended(Disposition::Failed), "{outcome:?}");
    assert_eq!(&*outcome.state, "error");
    let told: Value = outcome.result.map(Value::String).unwrap_or_default();
    assert!(told.to_string().contains("ERR_CONNECTION_REFUSED"), "{told}");
    assert!(!left(&desk).iter().any(|path| path.extension().is_some()), "{:?}", left(&desk));
}

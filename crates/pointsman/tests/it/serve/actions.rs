//! Starting runs and acting on them.

use std::{fs, path::PathBuf};

use pointsman_runtime::store::SqliteStore;
use pointsman_testing::{
    folder,
    kept::{corpus, keep},
};
use serde_json::{Value, json};

use super::{Server, client::request, page::asking, waited};
use crate::home::{Home, NOTE};

/// A chart without a conversation that ends at once, by a model's reply.
pub(crate) const REPLY: &str = r#"
chart     = "reply"
version   = 1
start     = "replying"
authority = "text"

[any]
cancel = "cancelled"

[state.replying]
run      = "model.reply"
timeout  = "10m"
attempts = 3
with     = { prompt = "Answer: {goal}", into = "result" }
on.completed = "done"
on.failed    = "failed"

[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.cancelled]
final = "cancelled"
"#;

/// Writes a run into the journal that another run started and that no process drives, and returns it.
pub(crate) fn stopped_child(home: &Home) -> String {
    let mut exported = corpus("research-child-02").pop().expect("it is kept");
    let cancelled = exported.lines.pop().expect("it has entries");
    assert!(cancelled.contains("cancelled"), "{cancelled}");
    let path = home.path("state/pointsman/journal.db");
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("it is made");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(async {
        let store = SqliteStore::open(&path).expect("the journal opens");
        keep(&store, &pointsman_agents::all(), &exported).await;
    });
    exported.run.to_string()
}

/// Makes private texts for a run, as the process that filled a form leaves them if it is killed.
fn with_texts(home: &Home, run: &str) -> PathBuf {
    let folder = home.path(&format!("state/pointsman/forms/{run}.private"));
    fs::create_dir_all(&folder).expect("it is made");
    fs::write(folder.join("key"), "private").expect("it is written");
    folder
}

impl Server {
    /// Starts a run, and returns its id.
    pub(crate) fn run(&self, body: &Value) -> String {
        let reply = self.post("/api/v1/runs", body);
        assert_eq!(reply.status, 201, "{}", reply.text());
        let run = reply.json()["run"].as_str().expect("it names the run").to_owned();
        assert_eq!(reply.header("location"), Some(&*format!("/api/v1/runs/{run}")));
        run
    }

    /// Starts the chart that writes a note, and waits until it asks.
    pub(crate) fn asking(&self, goal: &str) -> String {
        let run = self.run(&json!({ "chart": NOTE, "goal": goal, "config": { "tone": "dry" } }));
        let path = format!("/api/v1/runs/{run}");
        waited("a question", || self.json(&path)["questions"] != json!([]));
        run
    }

    /// Waits until a run has ended, and returns it.
    pub(crate) fn end(&self, run: &str) -> Value {
        let path = format!("/api/v1/runs/{run}");
        let mut read = Value::Null;
        waited("the end of a run", || {
            read = self.json(&path);
            read["disposition"] != Value::Null
        });
        read
    }

    pub(crate) fn act(&self, run: &str, action: &str, body: &Value) -> super::Reply {
        self.post(&format!("/api/v1/runs/{run}/{action}"), body)
    }
}

#[test]
fn a_run_is_started_approved_and_read() {
    let home = Home::new("serve-start");
    let server = Server::start(&home, &[]);
    let run = server.asking("Hello");
    let read = server.json(&format!("/api/v1/runs/{run}"));
    assert_eq!(read["questions"][0]["arguments"]["content"], "Hello, dry");
    assert!(!home.path("note.txt").exists(), "it must not have been written");
    let wrong = server.act(&run, "approve", &json!({ "question": "99.0" }));
    assert_eq!(wrong.status, 404, "{}", wrong.text());
    let question = &read["questions"][0]["question"];
    let answer = server.act(&run, "approve", &json!({ "question": question, "reason": "fine" }));
    assert!(matches!(answer.status, 200 | 202), "{}", answer.text());
    assert_eq!(answer.json()["said"], "approved");
    assert_eq!(server.end(&run)["disposition"], "succeeded");
    assert_eq!(fs::read_to_string(home.path("note.txt")).expect("it is there"), "Hello, dry");
    // A run that has ended takes no more.
    for action in ["approve", "deny", "cancel", "pause", "resume", "input"] {
        let body = if action == "input" { json!({ "text": "Hello" }) } else { json!({}) };
        let late = server.act(&run, action, &body);
        assert_eq!(late.status, 409, "{action}: {}", late.text());
        assert!(
            late.json()["detail"].as_str().expect("a text").contains("has already ended"),
            "{action}"
        );
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn runs_are_denied_cancelled_paused_resumed_and_forked() {
    let home = Home::new("serve-actions");
    let server = Server::start(&home, &[]);
    let denied = server.asking("Denied");
    assert!(server.act(&denied, "deny", &json!({ "reason": "no" })).status < 300);
    assert_eq!(server.end(&denied)["disposition"], "denied");
    let cancelled = server.asking("Cancelled");
    assert!(server.act(&cancelled, "cancel", &json!({})).status < 300);
    assert_eq!(server.end(&cancelled)["disposition"], "cancelled");
    let paused = server.asking("Paused");
    assert!(server.act(&paused, "pause", &json!({ "reason": "lunch" })).status < 300);
    let path = format!("/api/v1/runs/{paused}");
    waited("the pause", || server.json(&path)["paused"] == true);
    assert!(server.act(&paused, "approve", &json!({})).status < 300);
    let resumed = server.act(&paused, "resume", &json!({}));
    assert!(resumed.status < 300, "{}", resumed.text());
    assert_eq!(server.end(&paused)["disposition"], "succeeded");
    // The fork goes back before the answer, and asks again.
    let fork = server.act(&denied, "fork", &json!({ "at": 1 }));
    assert_eq!(fork.status, 201, "{}", fork.text());
    assert_eq!(fork.json()["forked"], denied.as_str());
    let fork = fork.json()["run"].as_str().expect("it names the run").to_owned();
    let path = format!("/api/v1/runs/{fork}");
    waited("a question", || server.json(&path)["questions"] != json!([]));
    assert_eq!(server.json(&path)["forked"], json!({ "run": denied, "at": 1 }));
    assert!(server.act(&fork, "approve", &json!({ "always": "exact" })).status < 300);
    assert_eq!(server.end(&fork)["disposition"], "succeeded");
    let many = server.act(&denied, "fork", &json!({ "at": 99 }));
    assert_eq!(many.status, 404, "{}", many.text());
    let talk = server.asking("Talk");
    for body in [json!({ "event": "nothing" }), json!({}), json!({ "text": "a", "body": {} })] {
        let unheard = server.act(&talk, "input", &body);
        assert_eq!(unheard.status, 422, "{body}: {}", unheard.text());
    }
}

#[test]
fn a_key_starts_one_run() {
    let home = Home::new("serve-key");
    let server = Server::start(&home, &["--jobs", "0"]);
    let start = |key: &str, goal: &str| {
        let head = [("Content-Type", "application/json"), ("Idempotency-Key", key)];
        let body = json!({ "chart": NOTE, "goal": goal }).to_string();
        request(server.address, "POST", "/api/v1/runs", &head, &body).expect("it answers")
    };
    let first = start("one", "Hello");
    assert_eq!(first.status, 201, "{}", first.text());
    assert_eq!(start("one", "Hello").json(), first.json());
    let other = start("one", "Goodbye");
    assert_eq!(other.status, 422, "{}", other.text());
    assert_ne!(start("two", "Hello").json(), first.json());
    assert_eq!(start("", "Hello").status, 400);
    assert_eq!(start(&"x".repeat(256), "Hello").status, 400);
    drop(server);
    // Another process knows the key, too.
    let server = Server::start(&home, &["--jobs", "0"]);
    let head = [("Content-Type", "application/json"), ("Idempotency-Key", "one")];
    let body = json!({ "chart": NOTE, "goal": "Hello" }).to_string();
    let again = request(server.address, "POST", "/api/v1/runs", &head, &body).expect("it answers");
    assert_eq!(again.json(), first.json());
    assert_eq!(server.json("/api/v1/runs")["runs"].as_array().expect("a list").len(), 2);
}

#[test]
fn a_run_that_cannot_start_says_why() {
    let home = Home::new("serve-unfit");
    let server = Server::start(&home, &["--jobs", "0"]);
    for (body, status, says) in [
        (json!({}), 422, "either an agent or a chart"),
        (json!({ "agent": "research", "chart": NOTE }), 422, "either an agent or a chart"),
        (json!({ "agent": "reserach", "goal": "x" }), 422, "no chart is called `reserach`"),
        (json!({ "agent": "research" }), 422, "needs a goal"),
        (json!({ "chart": "chart = 1", "goal": "x" }), 422, "was refused"),
        (json!({ "chart": NOTE, "goal": "x", "config": { "tune": 1 } }), 422, "no slot `tune`"),
        (json!({ "chart": NOTE, "goal": "x", "model": "nobody:x" }), 422, "nobody"),
        (
            json!({ "agent": "research", "goal": "x", "dir": "/no/such/folder" }),
            422,
            "/no/such/folder",
        ),
        (json!({ "agent": "research", "gaol": "x" }), 422, "gaol"),
        (json!({ "agent": "research", "goal": "a\0b" }), 422, "the goal contains a NUL character"),
        (json!({ "chart": NOTE, "goal": "x", "key": "\0" }), 422, "key contains a NUL character"),
        (json!({ "agent": 7 }), 422, "agent"),
    ] {
        let reply = server.post("/api/v1/runs", &body);
        assert_eq!(reply.status, status, "{body}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{body}");
        let detail = reply.json()["detail"].as_str().expect("a text").to_owned();
        assert!(detail.contains(says), "{body}: {detail}");
    }
    let head = [("Content-Type", "application/json")];
    let cut = request(server.address, "POST", "/api/v1/runs", &head, "{").expect("it answers");
    assert_eq!(cut.status, 400);
    let plain = request(server.address, "POST", "/api/v1/runs", &[], "{}").expect("it answers");
    assert_eq!(plain.status, 415);
    assert_eq!(server.json("/api/v1/runs")["runs"], json!([]), "nothing was started");
}

#[test]
fn one_action_reaches_all_runs_that_a_filter_names() {
    let home = Home::new("serve-bulk");
    let server = Server::start(&home, &[]);
    let runs: Vec<String> = (0..3).map(|at| server.asking(&format!("Hello {at}"))).collect();
    let bulk = |body: &Value| server.post("/api/v1/runs/bulk", body);
    let empty = bulk(&json!({ "action": "cancel" }));
    assert_eq!(empty.status, 422, "{}", empty.text());
    let dry = json!({ "action": "deny", "filter": { "text": "hello", "status": "open" }, "dry_run": true });
    let dry = bulk(&dry);
    assert_eq!((dry.status, dry.json()["count"].as_u64()), (200, Some(3)), "{}", dry.text());
    let one = bulk(&json!({ "action": "approve", "filter": { "text": "hello 1" } }));
    assert_eq!(one.json()["runs"], json!([runs[1]]), "{}", one.text());
    assert_eq!(server.end(&runs[1])["disposition"], "succeeded");
    // Of some runs, those that still match.
    let named = json!([runs[0], runs[1]]);
    let some = bulk(&json!({ "action": "cancel", "filter": { "status": "open" }, "runs": named }));
    assert_eq!(some.json()["runs"], json!([runs[0]]), "{}", some.text());
    let none = bulk(&json!({ "action": "cancel", "runs": [] }));
    assert_eq!((none.status, none.json()["count"].as_u64()), (200, Some(0)), "{}", none.text());
    let wrong = bulk(&json!({ "action": "cancel", "runs": ["../journal"] }));
    assert_eq!(wrong.status, 422, "{}", wrong.text());
    let rest = bulk(&json!({ "action": "cancel", "filter": { "status": "open" } })).json();
    assert_eq!(rest["count"], 1, "{rest}");
    for run in [&runs[0], &runs[2]] {
        assert_eq!(server.end(run)["disposition"], "cancelled");
    }
    // A repeated fork tells which runs it leaves out.
    let fork = json!({ "action": "fork", "filter": { "status": "cancelled" } });
    let first = bulk(&fork).json();
    assert_eq!((&first["count"], &first["skipped"]), (&json!(2), &json!([])), "{first}");
    let again = bulk(&fork).json();
    let skipped = again["skipped"].as_array().map(Vec::len);
    assert_eq!((&again["forks"], skipped), (&json!([]), Some(2)), "{again}");
}

/// A bulk cancel leaves as little behind as the cancel of one run.
#[test]
fn bulk_cancel_removes_the_private_texts() {
    let home = Home::new("serve-private");
    let [one, two, kept] = ["over HTTP", "on the command line", "kept"].map(|goal| {
        let run = asking(&home, goal);
        let texts = with_texts(&home, &run);
        (run, texts)
    });
    let server = Server::start(&home, &["--jobs", "0"]);
    let cancel = |dry_run: bool| {
        let body = json!({ "action": "cancel", "filter": { "text": "http" }, "dry_run": dry_run });
        let done = server.post("/api/v1/runs/bulk", &body);
        assert_eq!(done.json()["runs"], json!([one.0]), "{}", done.text());
    };
    cancel(true);
    assert!(one.1.exists(), "counting does nothing");
    cancel(false);
    assert!(!one.1.exists(), "the texts of a cancelled run are removed");
    let command = ["cancel", "--text", "command line"];
    let (code, _, told) = home.pointsman(&[&command[..], &["--dry-run"]].concat());
    assert!(code == 0 && two.1.exists(), "{told}");
    let (code, _, told) = home.pointsman(&command);
    assert!(code == 0 && !two.1.exists(), "{told}");
    assert_eq!(server.json(&format!("/api/v1/runs/{}", two.0))["disposition"], "cancelled");
    assert!(kept.1.exists(), "an open run keeps its texts");
}

#[test]
fn a_child_is_resumed_with_its_parent() {
    let home = Home::new("serve-child");
    let child = stopped_child(&home);
    let server = Server::start(&home, &["--jobs", "0"]);
    let refused = server.act(&child, "resume", &json!({}));
    assert_eq!(refused.status, 409, "{}", refused.text());
    let refused = refused.json();
    let (parent, _) = child.split_once('-').expect("its name is made from its parent's");
    let detail = format!("run {child} is a child of run {parent}");
    assert!(refused["detail"].as_str().is_some_and(|it| it.contains(&detail)), "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|it| it.contains(parent)), "{refused}");
}

#[test]
fn a_fork_that_cannot_be_queued_is_named() {
    let home = Home::new("serve-unqueued");
    let run = asking(&home, "Hello");
    let server = Server::start(&home, &["--jobs", "0"]);
    let journal = folder::raw(home.path("state/pointsman/journal.db").as_ref());
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON queue BEGIN SELECT RAISE(ABORT, 'planted'); END";
    journal.execute_batch(full).expect("the SQL runs");
    let refused = server.act(&run, "fork", &json!({}));
    journal.execute_batch("DROP TRIGGER full").expect("the SQL runs");
    assert_eq!(refused.status, 500, "{}", refused.text());
    let runs = server.json("/api/v1/runs")["runs"].clone();
    let fork = runs[0]["run"].as_str().expect("a text");
    assert_eq!(runs[0]["forked"]["run"], json!(run), "{runs}");
    let detail = refused.json()["detail"].as_str().expect("a text").to_owned();
    let forked = format!("run {run} was forked as {fork}, but ");
    assert!(detail.starts_with(&forked), "{detail}");
}

/// What a profile or the environment holds must reach no client.
#[test]
fn planted_secrets_occur_in_no_answer() {
    let home = Home::new("serve-secrets");
    home.settings("[model]\nuse = \"openai:gpt\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    home.write(
        "profile.toml",
        "given_name = \"Planted-Name\"\nemail = \"planted@secret.example\"\n",
    );
    let planted = ["sk-planted-secret", "Planted-Name", "planted@secret.example"];
    let variables = [("OPENAI_API_KEY", "sk-planted-secret")];
    let log = home.path("server.log").display().to_string();
    let server = Server::start_with(&home, &variables, &["--log", "debug", "--log-file", &log]);
    let run = server.run(&json!({ "chart": REPLY, "goal": "Say the key" }));
    server.end(&run);
    let form = json!({ "agent": "form", "config": {
        "url": "http://127.0.0.1:9/form", "profile": home.path("profile.toml") } });
    let form = server.post("/api/v1/runs", &form);
    let mut texts = vec![form.text()];
    let mut runs = vec![run];
    if form.status == 201 {
        let form = form.json()["run"].as_str().expect("a run").to_owned();
        texts.push(server.act(&form, "cancel", &json!({})).text());
        server.end(&form);
        runs.push(form);
    }
    for run in &runs {
        for part in ["", "/timeline?limit=1000", "/events", "/why", "/prompts", "/export", "/chart"]
        {
            texts.push(server.get(&format!("/api/v1/runs/{run}{part}")).text());
        }
    }
    for path in ["/api/v1/runs", "/api/v1/stats", "/readyz", "/openapi.json"] {
        texts.push(server.get(path).text());
    }
    texts.push(fs::read_to_string(&log).expect("the server logs"));
    for secret in planted {
        assert!(texts.iter().all(|text| !text.contains(secret)), "{secret} occurs in an answer");
    }
}

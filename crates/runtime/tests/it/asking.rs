//! The builtin jobs that need the world: a person's yes or no, a program, a page.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    time::Duration,
};

use pointsman_kernel::{
    chart::Disposition,
    governor::{Grant, Level, Permissions},
    id::Seq,
};
use pointsman_runtime::{
    driver::{RunStatus, fold},
    observe::{LiveNotice, Notice, Observer, Question, QuestionKind},
    session::{ApprovalDecision, Approver, Delivery, RunSummary, StartOptions, Unattended},
    store::RunId,
    timeline::TimelineKind,
};
use serde_json::json;

use crate::session::{Says, TestSession};

/// Returns a chart of one state between the usual ends.
fn chart(state: &str) -> String {
    format!(
        r#"
chart     = "one"
version   = 1
start     = "first"
authority = "propose"
[any]
cancel = "cancelled"
[state.first]
{state}
on.failed = "failed"
[state.done]
final = "succeeded"
[state.failed]
final = "failed"
[state.refused]
final = "denied"
[state.cancelled]
final = "cancelled"
"#
    )
}

/// A question, with as long to answer it as given.
fn question(timeout: &str) -> String {
    chart(&format!(
        "run = \"ask.person\"\ntimeout = \"{timeout}\"\n\
         with = {{ question = \"Ship {{goal}}?\", into = \"result\" }}\n\
         on.yes = \"done\"\non.no = \"refused\""
    ))
}

/// A program, which prints its arguments in brackets and ends with 3.
fn program() -> String {
    let prints = r#"["sh", "-c", 'printf "[%s]" "$@"; exit 3', "sh", "{goal}", ""]"#;
    chart(&format!(
        "run = \"shell\"\ntimeout = \"60s\"\ntools = [\"shell\"]\n\
         with = {{ command = {prints}, into = \"result\" }}\n\
         on.ok = \"failed\"\non.nonzero = \"done\"\non.denied = \"refused\"\non.stuck = \"failed\""
    ))
}

fn page() -> String {
    chart(
        r#"run = "http"
timeout = "60s"
tools = ["http_get"]
with = { url = "{goal}", into = "result" }
on.ok = "done"
on.denied = "refused"
on.stuck = "failed""#,
    )
}

fn start(source: &str, goal: &str, permissions: Permissions) -> StartOptions {
    let program = crate::program(source);
    let config = json!({ "goal": goal });
    StartOptions {
        program,
        source: source.into(),
        config: config.into(),
        words: Vec::new(),
        goal: goal.into(),
        permissions,
        seed: Some(7),
    }
}

fn asks(attended: bool) -> Permissions {
    Permissions { otherwise: Level::Ask, rules: Vec::new(), attended }
}

fn run(desk: &TestSession, start: StartOptions, approver: &mut dyn Approver) -> RunSummary {
    let ran = desk.session.run(&desk.executor(), start, Vec::new(), approver);
    ran.unwrap_or_else(|error| panic!("it runs: {error}"))
}

fn text(question: &Question) -> &str {
    match &question.asks {
        QuestionKind::Plain(text) => text,
        QuestionKind::Call { call, .. } => panic!("it is about {}", call.tool),
    }
}

const ENDED: fn(Disposition) -> RunStatus = RunStatus::Ended;

#[test]
fn a_person_who_is_there_says_yes_or_no() {
    for (yes, ended) in [(true, Disposition::Succeeded), (false, Disposition::Denied)] {
        let desk = TestSession::new(if yes { "asking-yes" } else { "asking-no" });
        let mut person = Says(yes, 0);
        let outcome = run(&desk, start(&question("60s"), "it", asks(true)), &mut person);
        assert_eq!((outcome.status, person.1), (ENDED(ended), 1));
        assert_eq!(outcome.result.as_deref(), Some("as I said"));
    }
}

#[test]
fn open_question_is_answered_by_a_message() {
    let desk = TestSession::new("asking-letter");
    let source = question("1h");
    let outcome = run(&desk, start(&source, "it", asks(true)), &mut Unattended);
    assert_eq!(outcome.status, RunStatus::Asking);
    let [asked] = &outcome.questions[..] else { panic!("one question: {outcome:?}") };
    assert_eq!(text(asked), "Ship it?");
    let again = desk.resume(&outcome.run, &mut Unattended);
    assert_eq!((again.status, again.steps), (RunStatus::Asking, outcome.steps), "asked again");
    let recalled = desk.session.recall(&outcome.run, None).unwrap_or_else(|e| panic!("{e}"));
    let [kept] = &recalled.loaded.questions()[..] else { panic!("the journal knows it") };
    assert_eq!((text(kept), kept.effect), ("Ship it?", asked.effect));
    let yes = ApprovalDecision { granted: true, reason: "go".into(), remember: None };
    let delivery = desk.session.decide(&outcome.run, kept, &yes);
    assert!(matches!(delivery, Ok(Delivery::Waiting)));
    let ended = desk.resume(&outcome.run, &mut Unattended);
    assert_eq!(ended.status, ENDED(Disposition::Succeeded));
    assert_eq!((ended.result.as_deref(), ended.steps), (Some("go"), 2));
    let lines = desk
        .session
        .block_on(desk.session.store().lines(&outcome.run, Seq(0)))
        .expect("the store is readable");
    assert!(fold(&crate::program(&source), &outcome.run, &lines).is_ok(), "it can be replayed");
}

#[test]
fn unattended_question_is_denied_at_once() {
    let desk = TestSession::new("asking-unattended");
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&seen);
    let observer: Arc<dyn Observer> = Arc::new(move |_: &RunId, notice: &Notice| {
        let word = match (notice, notice.kind()) {
            (Notice::Live(LiveNotice::Ask(question)), _) => text(question).to_owned(),
            (_, Some(TimelineKind::Answered { ok, what, .. })) => format!("{what} {ok}"),
            (_, Some(TimelineKind::Started { what, .. })) => what.to_string(),
            _ => return,
        };
        told.lock().expect("no thread panicked while it held the lock").push(word);
    });
    let start = start(&question("1h"), "it", asks(false));
    let ran = desk.session.run(&desk.executor(), start, vec![observer], &mut Unattended);
    let outcome = ran.unwrap_or_else(|error| panic!("it runs: {error}"));
    assert_eq!(outcome.status, ENDED(Disposition::Denied));
    assert_eq!(outcome.result.as_deref(), Some("no one can be asked: the run is unattended"));
    assert_eq!(
        *seen.lock().expect("no thread panicked while it held the lock"),
        ["Ship it?", "no true"]
    );
}

#[test]
fn answers_after_the_deadline_are_rejected() {
    let desk = TestSession::new("asking-late");
    let call = program().replace("timeout = \"60s\"", "timeout = \"60s\"\nask_timeout = \"50ms\"");
    for (source, ended) in [(question("50ms"), Disposition::Failed), (call, Disposition::Denied)] {
        let outcome = run(&desk, start(&source, "it", asks(true)), &mut Unattended);
        std::thread::sleep(Duration::from_millis(60));
        let outcome = desk.resume(&outcome.run, &mut Says(true, 0));
        assert_eq!(outcome.status, ENDED(ended), "nobody is asked any more");
    }
}

#[test]
fn a_program_runs_as_it_is_written_if_it_may() {
    let desk = TestSession::new("asking-shell");
    let hostile = "it's; touch ran $(touch ran) `touch ran` \\ \"x\" > ran\n| touch ran";
    let grant = |tool: &str, with: &[(&str, &str)]| Grant {
        tool: tool.into(),
        arguments: with.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
        level: Level::Allow,
        until: None,
    };
    let may = |rule: Grant| Permissions { rules: vec![rule], ..asks(false) };
    let outcome = run(&desk, start(&program(), hostile, may(grant("shell", &[]))), &mut Unattended);
    assert_eq!(outcome.status, ENDED(Disposition::Succeeded), "{:?}", outcome.result);
    assert_eq!(outcome.result, Some(format!("[{hostile}][]")));
    assert!(!desk.work().join("ran").exists(), "a shell has read the words");

    // A rule matches the line as a person would write it.
    let plain = program().replace(r#"'printf "[%s]" "$@"; exit 3', "sh""#, r#""exit 3""#);
    for (rule, ended) in [
        (grant("shell", &[("command", "sh -c 'exit 3' it *")]), Disposition::Succeeded),
        (grant("shell", &[("command", "sh -c 'exit 4' *")]), Disposition::Denied),
        (grant("read", &[]), Disposition::Denied),
    ] {
        let outcome = run(&desk, start(&plain, "it", may(rule)), &mut Unattended);
        assert_eq!(outcome.status, ENDED(ended));
    }
    let outcome = run(&desk, start(&program(), "it", asks(true)), &mut Says(false, 0));
    assert_eq!(outcome.status, ENDED(Disposition::Denied));
    let outcome = run(&desk, start(&program(), "it", asks(true)), &mut Says(true, 0));
    assert_eq!(outcome.status, ENDED(Disposition::Succeeded));
}

#[test]
fn a_page_is_fetched_if_it_may_be() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
    let address =
        format!("http://{}/", server.local_addr().expect("a bound socket has an address"));
    let serving = std::thread::spawn(move || {
        for status in ["200 OK", "404 Not Found"] {
            let (mut stream, _) = server.accept().expect("somebody comes");
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).expect("it asks") > 0);
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n");
            let rest = "Content-Length: 5\r\nConnection: close\r\n\r\nhello";
            stream
                .write_all(format!("{head}{rest}").as_bytes())
                .expect("the process reads its stdin");
        }
    });
    let desk = TestSession::new("asking-http");
    for (ended, result) in [(Disposition::Succeeded, Some("hello")), (Disposition::Failed, None)] {
        let start = start(&page(), &address, Permissions::allow_all());
        let outcome = run(&desk, start, &mut Unattended);
        assert_eq!((outcome.status, outcome.result.as_deref()), (ENDED(ended), result));
    }
    serving.join().expect("both were served");
    let outcome = run(&desk, start(&page(), &address, asks(false)), &mut Unattended);
    assert_eq!(outcome.status, ENDED(Disposition::Denied));
}

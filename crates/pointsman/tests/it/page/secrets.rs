//! Planted values in a form and in the environment: no path of the HTTP API answers with one of them.

use std::{collections::BTreeSet, io::Read as _, path::Path, thread};

use pointsman_testing::site::{HttpReply, Site};
use serde_json::{Value, json};

use crate::{
    home::Home,
    serve::{Server, client::send, waited},
};

const KEYS: [(&str, &str); 2] =
    [("OPENAI_API_KEY", "planted-openai-key"), ("ANTHROPIC_API_KEY", "planted-anthropic-key")];

/// The whole texts of an entry, by their names; an entry has only some of them.
const TEXTS: [&str; 11] = [
    "data",
    "result",
    "item.0.0",
    "item.0.1",
    "item.1.0",
    "item.2.0",
    "change.0",
    "prompt.0.0",
    "prompt.0.1",
    "question.0",
    "question.1",
];

/// Fills a form by a profile and by a model that repeats what it was told, and returns the run.
fn filled(home: &Home) -> String {
    let site = Site::start(|_| {
        HttpReply::html(
            "<!doctype html><title>Form</title><form><label>First name <input name=given \
             autocomplete=given-name></label><label>Email <input type=email name=email></label>\
             <label>Why do you apply? <textarea name=why required></textarea></label>\
             <button>Send</button></form>",
        )
    });
    let site = site.expect("a port is free");
    home.write("profile.toml", "given-name = \"Plantedname\"\nemail = \"planted@example.org\"\n");
    home.write("replies.jsonl", &"{\"text\": \"planted reply to Plantedname\"}\n".repeat(9));
    let url = site.url("");
    let run = ["run", "form", "--url", &url, "--profile", "profile.toml", "--submit", "never"];
    let run = [&run[..], &["--model", "script:replies.jsonl", "--json"]].concat();
    let output = home.start(&KEYS, &run).wait_with_output().expect("the run ends");
    let out = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    let last = out.lines().last().unwrap_or_else(|| panic!("{told}"));
    let last: Value = serde_json::from_str(last).expect("it is JSON");
    last["run"].as_str().expect("it names the run").to_owned()
}

/// Returns the words in a text that a path of the API takes: names of files and digests.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || matches!(it, '.' | '-')));
    let named = |word: &&str| {
        let digest = word.len() == 64 && word.bytes().all(|it| it.is_ascii_hexdigit());
        let kind = Path::new(word).extension().and_then(|it| it.to_str());
        digest || matches!(kind, Some("png" | "txt" | "json"))
    };
    words.filter(named).map(Into::into).collect()
}

/// Asks every path of the API for a run, and checks that no answer has a planted value. Returns the paths that never
/// answered.
fn answers(server: &Server, run: &str, agent: &str) -> BTreeSet<String> {
    let head = server.json(&format!("/api/v1/runs/{run}"))["steps"].as_u64().expect("a number");
    let export = server.get(&format!("/api/v1/runs/{run}/export")).text();
    let tables = server.get(&format!("/api/v1/runs/{run}/entries/{head}/tables")).text();
    let names = names(&(export + &tables));
    let document = server.json("/openapi.json");
    let mut silent = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        if methods.get("get").is_none() {
            continue;
        }
        let mut asked =
            vec![path.replace("{id}", run).replace("/charts/{name}", &format!("/charts/{agent}"))];
        let each = |asked: Vec<String>, hole: &str, with: &[String]| -> Vec<String> {
            if !path.contains(hole) {
                return asked;
            }
            asked
                .iter()
                .flat_map(|it| with.iter().map(move |with| it.replace(hole, with)))
                .collect()
        };
        let entries: Vec<String> = (1..=head).map(|it| it.to_string()).collect();
        let kept: Vec<String> = names.iter().cloned().collect();
        asked = each(asked, "{entry}", &entries);
        asked = each(asked, "{digest}", &kept);
        asked = each(asked, "{name}", &kept);
        let query = match path.rsplit('/').next() {
            Some("text") => TEXTS.map(|of| format!("?of={of}")).to_vec(),
            // What was asked for is not repeated in the answer, only the places.
            Some("find") => vec!["?text=planted".to_owned()],
            Some("standings") => vec!["?runs=RUN".to_owned()],
            _ => vec![String::new(), "?limit=200".to_owned()],
        };
        let (mut answered, mut texts) = (false, BTreeSet::new());
        for path in
            asked.iter().flat_map(|it| query.iter().map(move |query| format!("{it}{query}")))
        {
            let reply = server.get(&path.replace("RUN", run));
            answered |= reply.status == 200;
            texts.extend(
                path.split_once("?of=").filter(|_| reply.status == 200).map(|it| it.1.to_owned()),
            );
            let text = reply.text().to_lowercase().replace("?text=planted", "");
            assert!(!text.contains("planted"), "{path}: {text}");
        }
        if path.ends_with("/text") {
            let read = ["data", "item.0.0", "prompt.0.0"].iter().all(|of| texts.contains(*of));
            assert!(read, "only {texts:?} were read");
        }
        if !answered {
            silent.insert(path.clone());
        }
    }
    silent
}

/// A command of the model prints the environment; returns the run, and its events as they came.
fn talking(home: &Home, server: &Server) -> (String, String) {
    let calls =
        json!([{ "tool": "shell", "arguments": { "command": "env; cat /proc/$PPID/environ" } }]);
    let turns =
        [json!({ "text": "I look.", "calls": calls }), json!({ "text": "I have seen it." })];
    home.write("script.jsonl", &turns.map(|it| format!("{it}\n")).concat());
    let model = format!("script:{}", home.path("script.jsonl").display());
    let run = server.run(&json!({ "agent": "chat", "model": model, "dir": home.path("docs") }));
    let path = format!("/api/v1/runs/{run}");
    let mut stream =
        send(server.address, "GET", &format!("{path}/events"), &[], "").expect("it answers");
    let events = thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("the stream ends with the run");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    assert_eq!(server.act(&run, "input", &json!({ "text": "Look around" })).status, 202);
    waited("a question", || server.json(&path)["questions"] != json!([]));
    assert_eq!(server.act(&run, "approve", &json!({})).status / 100, 2);
    let timeline = format!("{path}/timeline?limit=1000");
    waited("the answer", || server.get(&timeline).text().contains("I have seen it."));
    assert_eq!(server.act(&run, "input", &json!({ "event": "input_closed" })).status, 202);
    assert_eq!(server.end(&run)["disposition"], "succeeded");
    (run, events.join().expect("it read"))
}

/// The keys of models are in the environment of the server.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_command_that_prints_its_environment_finds_no_key() {
    let home = Home::new("page-environment");
    let server = Server::start_with(&home, &KEYS, &[]);
    let (run, events) = talking(&home, &server);
    assert!(events.contains("PATH=/") && events.contains("event: delta"), "{events}");
    assert!(!events.contains("planted"), "{events}");
    answers(&server, &run, "chat");
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn planted_values_of_a_filled_form_are_in_no_answer() {
    let home = Home::new("page-secrets");
    let run = filled(&home);
    let server = Server::start_with(&home, &KEYS, &["--jobs", "0"]);
    let silent = answers(&server, &run, "form");
    // A form has no map of an app, and its run keeps no blob; no code is `{diagnostic}`.
    let expected =
        ["/api/v1/codes/{diagnostic}", "/api/v1/runs/{id}/blobs/{digest}", "/api/v1/runs/{id}/map"];
    assert_eq!(silent, expected.map(Into::into).into());
}

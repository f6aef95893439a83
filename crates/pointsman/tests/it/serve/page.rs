//! The inspector's page as a browser receives it: addresses, types, policies; and what it reads.

use serde_json::{Value, json};

use super::{Server, client::bare};
use crate::home::Home;

/// Runs the chart that writes a note, and returns the run, which waits for an answer.
pub(crate) fn asking(home: &Home, goal: &str) -> String {
    let (code, out, told) = home.pointsman(&["run", "note.toml", goal, "--json"]);
    assert_eq!(code, 3, "{told}");
    let last: Value =
        serde_json::from_str(out.lines().last().expect("there is a result")).expect("it is JSON");
    last["run"].as_str().expect("it names the run").to_owned()
}

#[test]
fn every_answer_has_a_policy_without_inline_code() {
    let home = Home::new("page-policy");
    let run = asking(&home, "Hello");
    let server = Server::start(&home, &["--jobs", "0"]);
    let api = format!("/api/v1/runs/{run}");
    let (picture, story) = (format!("{api}/chart/picture"), format!("{api}/story"));
    let (page, entry) = (format!("/runs/{run}"), format!("/runs/{run}/entries/1"));
    let mut paths: Vec<String> =
        vec!["/".into(), "/stats".into(), page, entry, api, picture, story, "/openapi.json".into()];
    paths.extend(["/nothing", "/page/nothing.js", "/api/v1/runs/nothing"].map(Into::into));
    let document = server.get("/").text();
    let loaded = document.split('"').filter(|it| it.starts_with("/page/")).map(str::to_owned);
    paths.extend(loaded);
    assert!(paths.len() > 14, "{paths:?}");
    for path in &paths {
        let reply = server.get(path);
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.status == 404, path.contains("nothing"), "{path}: {}", reply.status);
    }
}

#[test]
fn page_loads_its_own_files_alone_and_all_of_them_are_there() {
    let home = Home::new("page-files");
    let server = Server::start(&home, &["--jobs", "0"]);
    let document = server.get("/");
    assert_eq!(document.header("content-type"), Some("text/html; charset=utf-8"));
    let mut left = vec![document.text()];
    let mut seen = Vec::new();
    while let Some(text) = left.pop() {
        assert!(!text.contains("http://") || text.contains("w3.org"), "{text}");
        assert!(!text.contains(" style=\"") && !text.contains("<script>"), "{text}");
        let modules = text.split('"').filter_map(|it| it.strip_prefix("./"));
        let modules = modules.map(|it| format!("/page/{it}"));
        let files = text.split('"').filter(|it| it.starts_with("/page/")).map(str::to_owned);
        for file in modules.chain(files).collect::<Vec<_>>() {
            if seen.contains(&file) {
                continue;
            }
            let reply = server.get(&file);
            assert_eq!(reply.status, 200, "{file}");
            let kind = reply.header("content-type").unwrap_or_default();
            let wanted = match file.rsplit('.').next() {
                Some("js") => "text/javascript; charset=utf-8",
                Some("css") => "text/css; charset=utf-8",
                _ => "image/svg+xml",
            };
            assert_eq!(kind, wanted, "{file}");
            left.push(reply.text());
            seen.push(file);
        }
    }
    assert!(seen.len() > 12, "{seen:?}");
}

/// The page has no data, so that it can ask for the token that reading needs.
#[test]
fn page_itself_needs_no_token_and_data_does() {
    let home = Home::new("page-token");
    home.settings("[serve]\nrequire_token = true\n");
    let server = Server::start(&home, &["--jobs", "0"]);
    let status =
        |path: &str| bare(server.address, "GET", path, &[], "").expect("the server answers").status;
    for path in ["/", "/stats", "/runs/01m7grje5w1xm5mmwk", "/page/app.js"] {
        assert_eq!(status(path), 200, "{path}");
    }
    for path in ["/api/v1/runs", "/openapi.json", "/metrics", "/runs", "/api/v1/standings?runs=x"] {
        assert_eq!(status(path), 401, "{path}");
    }
    let foreign = [("Host", "evil.example")];
    let foreign = bare(server.address, "GET", "/", &foreign, "").expect("the server answers");
    assert_eq!(foreign.status, 421);
}

#[test]
fn a_moment_has_the_story_the_question_and_the_rest_of_long_texts() {
    let home = Home::new("page-moment");
    let goal = format!("start {} end", "é".repeat(20_000));
    let run = asking(&home, &goal);
    let server = Server::start(&home, &["--jobs", "0"]);
    let shown = home.pointsman(&["show", &run, "--json"]).1;
    let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
    let timeline = shown["timeline"]["items"].as_array().expect("a list");
    let named = |item: &Value| (item["seq"].clone(), item["index"].clone(), item["kind"].clone());
    let story = server.json(&format!("/api/v1/runs/{run}/story"));
    let told = story["items"].as_array().expect("a list");
    assert_eq!(
        told.iter().map(named).collect::<Vec<_>>(),
        timeline.iter().map(named).collect::<Vec<_>>()
    );
    assert!(story.to_string().len() < 20_000, "previews are short");
    let head = story["head"].as_u64().expect("a number");
    let moment = server.json(&format!("/api/v1/runs/{run}/entries/{head}"));
    assert_eq!(moment["view"]["state"], "writing");
    let about = &moment["questions"][0]["about"];
    assert_eq!(moment["questions"][0]["asked"]["tool"], "write");
    // The rest is read where the preview ends.
    let mut text = about["text"].as_str().expect("a text").to_owned();
    let mut next = about["next"].as_u64();
    assert!(text.len() <= 16 << 10 && next.is_some(), "{}", text.len());
    while let Some(from) = next {
        let path = format!("/api/v1/runs/{run}/entries/{head}/text?of=question.0&from={from}");
        let part = server.json(&path);
        text.push_str(part["text"].as_str().expect("a text"));
        next = part["next"].as_u64();
    }
    assert!(text.contains(&"é".repeat(20_000)) && text.contains("end"), "{}", text.len());
    let status = |path: &str| server.get(&format!("/api/v1/runs/{run}/{path}")).status;
    assert_eq!(status("entries/0"), 404);
    assert_eq!(status(&format!("entries/{}", head + 1)), 404);
    assert_eq!(status(&format!("entries/{head}/text?of=item.9.9")), 404);
    assert_eq!(status("story?from=900"), 200, "a part past the end is empty");
    let found = server.json(&format!("/api/v1/runs/{run}/find?text=NOTE.txt"));
    assert!(!found["hits"].as_array().expect("a list").is_empty(), "{found}");
    assert_eq!(found["next"], head + 1);
    let standing = server.json(&format!("/api/v1/standings?runs={run},nothing"));
    assert_eq!(standing[0]["waits"], true);
    assert_eq!(standing.as_array().map(Vec::len), Some(1));
    let brief = server.get(&format!("/api/v1/runs/{run}/timeline?limit=1")).json();
    assert_eq!(brief["items"][0]["kind"], json!("begun"));
}

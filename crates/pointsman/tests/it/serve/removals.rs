//! Removing runs, a read-only server, and requests that are repeated.

use serde_json::json;

use super::{Server, client::request};
use crate::home::Home;

/// Runs a chart to its end, and returns the run.
fn ended(home: &Home) -> String {
    let (_, out, told) =
        home.pointsman(&["run", "note.toml", "Hello", "--allow", "write", "--json"]);
    let last = out.lines().last().unwrap_or_else(|| panic!("{told}"));
    let last: serde_json::Value = serde_json::from_str(last).expect("it is JSON");
    last["run"].as_str().expect("it names the run").to_owned()
}

#[test]
fn runs_are_removed_and_a_repeated_request_gets_the_same_answer() {
    let home = Home::new("serve-removals");
    let (one, two) = (ended(&home), ended(&home));
    let only_reads = Server::start(&home, &["--read-only"]);
    let path = format!("/api/v1/runs/{one}");
    let refused = request(only_reads.address, "DELETE", &path, &[], "").expect("it answers");
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert_eq!(refused.json()["detail"], "this server is read-only");
    assert_eq!(only_reads.json(&path)["run"], one.as_str());
    drop(only_reads);
    let server = Server::start(&home, &["--jobs", "0"]);
    let key = [("Idempotency-Key", "remove-one")];
    let delete =
        |path: &str| request(server.address, "DELETE", path, &key, "").expect("it answers");
    let removed = delete(&path);
    assert_eq!((removed.status, removed.json()), (200, json!({ "removed": [one] })));
    // The run was removed, and the request is known.
    assert_eq!(server.get(&path).status, 404);
    let again = delete(&path);
    assert_eq!((again.status, again.json()), (200, json!({ "removed": [one] })));
    let other = delete(&format!("/api/v1/runs/{two}"));
    assert_eq!(other.status, 422, "{}", other.text());
    let without = request(server.address, "DELETE", &path, &[], "").expect("it answers");
    assert_eq!(without.status, 404);
    let which = server.post("/api/v1/runs/prune", &json!({}));
    assert_eq!((which.status, which.json()["exit_code"].as_u64()), (422, Some(2)));
    let dry = server.post("/api/v1/runs/prune", &json!({ "keep": 0, "dry_run": true })).json();
    assert_eq!(dry["removed"], json!([two]));
    let pruned = server.post("/api/v1/runs/prune", &json!({ "keep": 0 })).json();
    assert_eq!(pruned["removed"], json!([two]));
    assert_eq!(server.json("/api/v1/runs")["runs"], json!([]));
}

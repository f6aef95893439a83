//! A server in a few lines of shell: what real servers seldom do is done on purpose.

use std::{fs, time::Duration};

use pointsman_kernel::{agent::FaultClass, tool::ToolDecl};
use pointsman_runtime::mcp::McpLimits;
use serde_json::{Value, json};

use super::{Project, call, fault, has_ended, mutated, said, until};

/// Two pages of tools; each tool fails in its own way.
const SERVER: &str = r#"
echo $$ > pid
echo started >> starts
sleep 1000 < /dev/null > /dev/null 2>&1 &
echo $! > grandchild
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
tool() { printf '{"name":"%s","inputSchema":{"type":"object"}}' "$1"; }
text() { printf '"result":{"isError":%s,"content":[{"type":"text","text":"%s"}]}' "$1" "$2"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"cursor":"more"'*) answer "\"result\":{\"tools\":[$(tool refuses),$(tool dies),$(tool 'odd name'),$(tool sees)]}" ;;
    *'"method":"tools/list"'*)
      if [ -e grown ]; then answer "\"result\":{\"tools\":[$(tool new)]}"
      else answer "\"result\":{\"nextCursor\":\"more\",\"tools\":[$(tool works),$(tool fails),$(tool hangs),$(tool grows)]}"; fi ;;
    *'"method":"notifications/cancelled"'*) echo "$line" > cancelled ;;
    *'"name":"works"'*) answer "$(text false done)" ;;
    *'"name":"fails"'*) answer "$(text true 'no such file')" ;;
    *'"name":"odd name"'*) answer "$(text false "a long answer")" ;;
    *'"name":"sees"'*) answer "$(text false "home ${HOME:-none}, given ${GIVEN:-none}, cargo ${CARGO_MANIFEST_DIR:-none}")" ;;
    *'"name":"grows"'*) touch grown; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; answer "$(text false grown)" ;;
    *'"name":"refuses"'*) answer '"error":{"code":-32602,"message":"not today"}' ;;
    *'"name":"hangs"'*) touch hanging ;;
    *'"name":"dies"'*) echo 'out of luck' >&2; exit 3 ;;
  esac
done
"#;

fn project(name: &str) -> Project {
    let given = json!({ "GIVEN": "${UNSET_HERE:-yes}" });
    let sh = json!({ "command": "sh", "args": ["server.sh"], "env": given });
    project_of(name, json!({ "sh": sh }), SERVER)
}

fn project_of(name: &str, servers: Value, script: &str) -> Project {
    let project = Project::new(name, servers);
    fs::write(project.path().join("server.sh"), script).expect("the script can be written");
    project
}

#[tokio::test]
async fn a_listed_server_is_not_started_until_it_is_approved() {
    let project = project("unapproved");
    let connected = project.connect(&["other"], &McpLimits::default()).await;
    assert!(connected.servers.specs().is_empty());
    let told: Vec<(&str, String, Option<String>)> = connected
        .refused
        .iter()
        .map(|(name, error)| (name.as_str(), error.to_string(), error.hint()))
        .collect();
    let [(other, unlisted, _), (sh, why, hint)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((*other, *sh), ("other", "sh"));
    assert!(unlisted.ends_with(".mcp.json lists no server `other`; it lists `sh`"), "{unlisted}");
    let would = "It would run `sh server.sh` with the variables UNSET_HERE";
    assert_eq!(why, &format!("not approved, so not started. {would}"));
    let hint = hint.as_deref().unwrap_or_default();
    let config = project.config();
    let line = format!("`approve = [\"{}\"]`", config.key("sh").expect("the server is listed"));
    assert!(hint.contains("`--mcp sh`") && hint.ends_with(&line), "{hint}");
    assert!(!project.path().join("pid").exists(), "it was started");
}

#[test]
fn approval_is_bound_to_the_file_and_its_entry() {
    let entry = json!({ "command": "sh", "args": ["server.sh"], "env": { "A": "b" } });
    let project = |name, entry: &Value| Project::new(name, json!({ "sh": entry, "x": entry }));
    let (here, elsewhere) = (project("key-here", &entry), project("key-elsewhere", &entry));
    let key = here.config().key("sh").expect("the server is listed").to_owned();
    let approved = |project: &Project, key: &str| project.config().approved(&[key.to_owned()]);
    assert_eq!(approved(&here, &key), ["sh"]);
    assert!(approved(&here, "sh").is_empty(), "a name alone approves nothing");
    assert!(approved(&elsewhere, &key).is_empty(), "another file has another server");
    let list = here.path().join(".mcp.json");
    let write = |text: &str| fs::write(&list, text).expect("the file is written");
    write(
        r#"{"mcpServers": {"sh": {"env": {"A": "b"}, "args":
        ["server.sh"],   "command": "sh"}}}"#,
    );
    assert_eq!(approved(&here, &key), ["sh"], "spaces and order do not count");
    write(r#"{"mcpServers": {"sh": {"command": "sh", "args": ["evil.sh"], "env": {"A": "b"}}}}"#);
    assert!(approved(&here, &key).is_empty(), "what it says has changed");
}

#[tokio::test]
async fn a_server_inherits_no_file_that_this_program_opens() {
    let script = format!("ls -l /proc/$$/fd > open\n{SERVER}");
    let sh = json!({ "command": "sh", "args": ["server.sh"] });
    let project = project_of("inherits", json!({ "sh": sh }), &script);
    let store = project.folder.store();
    let ours = fs::File::create(project.path().join("ours")).expect("the file is created");
    let left = fs::File::create(project.path().join("left-open")).expect("the file is created");
    // Shows what an inherited descriptor looks like.
    rustix::io::fcntl_setfd(&left, rustix::io::FdFlags::empty()).expect("it is set");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    drop(left);
    let open =
        fs::read_to_string(project.path().join("open")).expect("the file exists and is UTF-8");
    assert!(open.contains("left-open"), "{open}");
    assert!(!open.contains("journal.db") && !open.contains("/ours"), "{open}");
    drop((servers, store, ours));
}

#[tokio::test]
async fn all_pages_are_read_and_hints_reach_the_model() {
    let project = project("pages");
    let limits = McpLimits { output: 6, ..McpLimits::default() };
    let servers = project.servers(&["sh"], &limits).await;
    let names: Vec<String> = servers.specs().iter().map(|spec| spec.name.to_string()).collect();
    let tools = ["dies", "fails", "grows", "hangs", "odd_name", "refuses", "sees", "works"];
    assert_eq!(names, tools.map(|tool| format!("mcp.sh.{tool}")));
    let foreign = |tool| ToolDecl { foreign: true, ..ToolDecl::unknown(&format!("mcp.sh.{tool}")) };
    assert_eq!(servers.decls(), tools.map(foreign));

    assert_eq!(said(&call(&servers, "mcp.sh.works", json!({})).await), (true, "done"));
    let cut = "a long\n[cut: the first 6 of 13 bytes]";
    assert_eq!(said(&call(&servers, "mcp.sh.odd_name", json!({})).await), (true, cut));
    let refused = call(&servers, "mcp.sh.works", json!([])).await;
    assert_eq!(said(&refused), (false, "the arguments must be a JSON object"));
    let gone = call(&servers, "mcp.sh.gone", json!({})).await;
    assert_eq!(said(&gone), (false, "there is no tool `mcp.sh.gone`"));
    assert!(!mutated(&gone));
}

#[tokio::test]
async fn a_tool_that_says_no_has_answered() {
    let project = project("says-no");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    let failed = call(&servers, "mcp.sh.fails", json!({})).await;
    assert_eq!(said(&failed), (false, "no such file"));
    assert!(mutated(&failed), "an unknown tool may have changed things");
    let refused = call(&servers, "mcp.sh.refuses", json!({})).await;
    assert_eq!(said(&refused), (false, "the server rejected the call: not today"));
}

#[tokio::test]
async fn server_gets_only_the_variables_of_its_entry() {
    let project = project("environment");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    let home = std::env::var("HOME").unwrap_or_else(|_| "none".into());
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok(), "we have something to leak");
    let seen = call(&servers, "mcp.sh.sees", json!({})).await;
    assert_eq!(said(&seen), (true, &*format!("home {home}, given yes, cargo none")));
}

#[tokio::test]
async fn timed_out_call_is_a_fault_and_is_cancelled() {
    let project = project("slow");
    let limits = McpLimits { call: Duration::from_millis(300), ..McpLimits::default() };
    let servers = project.servers(&["sh"], &limits).await;
    let slow = call(&servers, "mcp.sh.hangs", json!({})).await;
    let message = "`mcp.sh.hangs` did not answer within 0.3 s and was cancelled";
    assert_eq!(fault(&slow), (FaultClass::Timeout, false, message));
    until("the server is told", || project.path().join("cancelled").exists()).await;
}

#[tokio::test]
async fn abandoned_call_is_cancelled() {
    let project = project("dropped");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    tokio::select! {
        done = call(&servers, "mcp.sh.hangs", json!({})) => panic!("{done:?}"),
        () = until("it hangs", || project.path().join("hanging").exists()) => (),
    }
    until("the server is told", || project.path().join("cancelled").exists()).await;
}

#[tokio::test]
async fn dead_server_is_a_fault_and_restarts_at_the_next_call() {
    let project = project("dies");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    let first = project.number("pid");
    let done = call(&servers, "mcp.sh.dies", json!({})).await;
    let (class, repeatable, message) = fault(&done);
    assert_eq!((class, repeatable), (FaultClass::Unavailable, false), "{message}");
    assert!(message.starts_with("lost the connection to the MCP server `sh`: "), "{message}");
    assert!(message.ends_with("its last output was:\nout of luck"), "{message}");
    assert_eq!(said(&call(&servers, "mcp.sh.works", json!({})).await), (true, "done"));
    assert_ne!(project.number("pid"), first);
    assert_eq!(
        fs::read_to_string(project.path().join("starts")).expect("starts").lines().count(),
        2
    );
}

#[tokio::test]
async fn a_server_that_does_not_come_back_is_a_fault_each_time() {
    let once = format!("[ -e pid ] && exit 1\n{SERVER}");
    let sh = json!({ "command": "sh", "args": ["server.sh"] });
    let project = project_of("once", json!({ "sh": sh }), &once);
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    assert_eq!(fault(&call(&servers, "mcp.sh.dies", json!({})).await).0, FaultClass::Unavailable);
    for _ in 0..2 {
        let done = call(&servers, "mcp.sh.works", json!({})).await;
        let (class, repeatable, message) = fault(&done);
        assert_eq!((class, repeatable), (FaultClass::Unavailable, true));
        assert!(message.starts_with("the MCP server `sh` is not available: the"), "{message}");
    }
}

#[tokio::test]
async fn a_changed_list_changes_no_tool_of_a_run() {
    let project = project("grows");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    assert_eq!(servers.specs().len(), 8);
    assert_eq!(said(&call(&servers, "mcp.sh.grows", json!({})).await), (true, "grown"));
    // The server says so before it answers the next call.
    assert!(said(&call(&servers, "mcp.sh.works", json!({})).await).0);
    assert_eq!(servers.specs().len(), 8, "a run's tools stay as they are");
}

#[tokio::test]
async fn more_tools_than_the_limit_are_left_out_and_said() {
    let project = project("many");
    let limits = McpLimits { tools: 3, ..McpLimits::default() };
    let connected = project.connect(&["sh"], &limits).await;
    assert_eq!(connected.servers.specs().len(), 3);
    let told: Vec<String> = connected.refused.iter().map(|(_, error)| error.to_string()).collect();
    assert_eq!(told, ["it lists more than 3 tools; the rest are left out"]);
}

#[tokio::test]
async fn failed_servers_are_reported_and_stop_no_other() {
    let project = project_of(
        "fail",
        json!({
            "absent": { "command": "no-such-program-here" },
            "broken": { "command": "sh", "args": ["-c", "echo 'no licence' >&2; exit 1"] },
            "mute": { "command": "sh", "args": ["-c", "echo waiting >&2; exec sleep 1000"] },
            "unset": { "command": "sh", "args": ["${NO_SUCH_VARIABLE}"] },
            "sh": { "command": "sh", "args": ["server.sh"] }
        }),
        SERVER,
    );
    let second = Duration::from_secs(1);
    let limits = McpLimits { start: second * 5, stop: second / 2, ..McpLimits::default() };
    let connected = project.connect(&["absent", "broken", "mute", "unset", "sh"], &limits).await;
    assert!(connected.servers.specs().iter().all(|spec| spec.name.starts_with("mcp.sh.")));
    assert_eq!(connected.servers.specs().len(), 8);
    let told: Vec<(&str, String)> =
        connected.refused.iter().map(|(name, why)| (name.as_str(), why.to_string())).collect();
    let [absent, broken, mute, unset] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((absent.0, &*absent.1), ("absent", "`no-such-program-here` cannot be started"));
    assert_eq!(broken.0, "broken");
    assert!(broken.1.ends_with("its last output was:\nno licence"), "{}", broken.1);
    assert_eq!(mute.1, "not ready after 5 s; its last output was:\nwaiting");
    assert!(
        unset.1.ends_with("`mcpServers.unset.args[0]`: the variable `NO_SUCH_VARIABLE` is not set")
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dropping_the_servers_kills_them_with_all_that_they_started() {
    let project = project("drop");
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    let (server, grandchild) = (project.number("pid"), project.number("grandchild"));
    assert!(!has_ended(server) && !has_ended(grandchild));
    drop(servers);
    until("both are gone", || has_ended(server) && has_ended(grandchild)).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn closing_lets_a_server_stop_by_itself_and_leaves_nothing() {
    let polite = format!("trap 'echo bye > bye' EXIT\n{SERVER}");
    let sh = json!({ "command": "sh", "args": ["server.sh"] });
    let project = project_of("close", json!({ "sh": sh }), &polite);
    let servers = project.servers(&["sh"], &McpLimits::default()).await;
    let (server, grandchild) = (project.number("pid"), project.number("grandchild"));
    servers.close().await;
    assert!(project.path().join("bye").exists(), "it had no time to say goodbye");
    until("both are gone", || has_ended(server) && has_ended(grandchild)).await;
}

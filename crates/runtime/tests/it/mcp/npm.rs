//! The protocol's own example servers. `POINTSMAN_NPM` names the folder that npm
//! installed them to.

use std::{
    env, fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use pointsman_kernel::{agent::FaultClass, tool::ToolEffect};
use pointsman_runtime::mcp::{McpLimits, Servers};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::{Project, call, fault, has_ended, said, until};

fn program(name: &str) -> String {
    let prefix = env::var("POINTSMAN_NPM").expect("POINTSMAN_NPM names the npm prefix");
    format!("{prefix}/node_modules/.bin/mcp-server-{name}")
}

fn everything(name: &str) -> Project {
    Project::new(name, json!({ "everything": { "command": program("everything") } }))
}

/// Returns the process of the only server, found by the folder that it runs in.
fn server_of(project: &Project) -> u32 {
    let folder = project.path().canonicalize().expect("the path exists");
    let mut found = fs::read_dir("/proc").expect("/proc").filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
        (cwd == folder && !has_ended(pid)).then_some(pid)
    });
    found.next().expect("it runs")
}

async fn ask(servers: &Servers, tool: &str, arguments: Value) -> (bool, String) {
    let done = call(servers, &format!("mcp.everything.{tool}"), arguments).await;
    let (ok, output) = said(&done);
    (ok, output.to_owned())
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn everything_over_stdio_lists_and_answers() {
    let project = everything("npm-stdio");
    let servers = project.servers(&["everything"], &McpLimits::default()).await;
    let specs = servers.specs();
    assert!(specs.len() >= 10, "{specs:?}");
    assert!(specs.iter().all(|spec| spec.parameters.is_object() && !spec.about.is_empty()));
    assert!(servers.decls().iter().all(|decl| decl.effect == ToolEffect::Write));

    let echo = ask(&servers, "echo", json!({ "message": "héllo" })).await;
    assert_eq!(echo, (true, "Echo: héllo".into()));
    let (ok, sum) = ask(&servers, "get-sum", json!({ "a": 2, "b": 40 })).await;
    assert!(ok && sum.contains("42"), "{sum}");
    let (ok, why) = ask(&servers, "get-sum", json!({ "a": "two" })).await;
    assert!(!ok && why.starts_with("invalid arguments: "), "{why}");
    let (ok, why) = ask(&servers, "no-such-tool", json!({})).await;
    assert!(!ok && why.contains("there is no tool"), "{why}");
    let (ok, image) = ask(&servers, "get-tiny-image", json!({})).await;
    assert!(ok && image.contains("[image/png, ") && image.contains(" bytes]"), "{image}");
    let place = json!({ "location": "New York" });
    let (ok, weather) = ask(&servers, "get-structured-content", place).await;
    assert!(ok && weather.contains("temperature"), "{weather}");
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn everything_is_believed_when_a_person_says_so() {
    let project = everything("npm-hints");
    let config = project.config();
    let key = config.key("everything").expect("the server is listed").to_owned();
    let config = config.believing(&[key]);
    let connected = Servers::connect(&config, &["everything".into()], &McpLimits::default()).await;
    let decls = connected.servers.decls();
    let echo = decls.iter().find(|decl| &*decl.name == "mcp.everything.echo").expect("echo");
    assert_eq!(echo.effect, ToolEffect::Read);
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn server_gets_no_environment_and_long_results_are_cut() {
    let project = everything("npm-env");
    let limits = McpLimits { output: 100_000, ..McpLimits::default() };
    let servers = project.servers(&["everything"], &limits).await;
    let (ok, seen) = ask(&servers, "get-env", json!({})).await;
    let seen: Value = serde_json::from_str(&seen).expect("an object");
    assert!(ok && seen["PATH"].is_string(), "{seen}");
    assert!(env::var("CARGO_MANIFEST_DIR").is_ok(), "we have something to leak");
    for name in ["CARGO_MANIFEST_DIR", "POINTSMAN_NPM"] {
        assert!(seen.get(name).is_none(), "{seen}");
    }
    let long = "x".repeat(200_000);
    let (ok, cut) = ask(&servers, "echo", json!({ "message": long })).await;
    assert!(ok && cut.ends_with("[cut: the first 100000 of 200006 bytes]"), "{}", cut.len());
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn everything_killed_in_a_call_is_a_fault_and_comes_back() {
    let project = everything("npm-killed");
    let servers = project.servers(&["everything"], &McpLimits::default()).await;
    let pid = server_of(&project);
    let long = json!({ "duration": 600, "steps": 1 });
    let calling = call(&servers, "mcp.everything.trigger-long-running-operation", long);
    let killing = async {
        let kill = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        assert!(kill.expect("kill runs").success());
    };
    let (done, ()) = tokio::join!(calling, killing);
    assert_eq!(fault(&done).0, FaultClass::Unavailable, "{done:?}");
    let echo = ask(&servers, "echo", json!({ "message": "again" })).await;
    assert_eq!(echo, (true, "Echo: again".into()));
    let again = server_of(&project);
    assert_ne!(again, pid);
    drop(servers);
    until("it is gone", || has_ended(again)).await;
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn everything_that_takes_too_long_is_given_up_and_still_answers() {
    let project = everything("npm-slow");
    let limits = McpLimits { call: Duration::from_secs(5), ..McpLimits::default() };
    let servers = project.servers(&["everything"], &limits).await;
    let long = json!({ "duration": 600, "steps": 1 });
    let slow = call(&servers, "mcp.everything.trigger-long-running-operation", long).await;
    assert_eq!(fault(&slow).0, FaultClass::Timeout);
    let echo = ask(&servers, "echo", json!({ "message": "still here" })).await;
    assert_eq!(echo, (true, "Echo: still here".into()));
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn filesystem_reads_and_its_refusal_is_a_result() {
    let project = Project::new(
        "npm-files",
        json!({
            "files": { "command": program("filesystem"), "args": ["allowed"] },
            "everything": { "command": program("everything") }
        }),
    );
    let allowed = project.path().join("allowed");
    fs::create_dir(&allowed).expect("the folder is created");
    fs::write(allowed.join("note.txt"), "kept here").expect("the file is written");
    let connected = project.connect(&["files"], &McpLimits::default()).await;
    assert_eq!(connected.refused.len(), 1, "everything was not approved");
    let servers = connected.servers;

    let path = |path: &str| json!({ "path": project.path().join(path).to_str() });
    let read = call(&servers, "mcp.files.read_text_file", path("allowed/note.txt")).await;
    assert_eq!(said(&read), (true, "kept here"));
    let denied = call(&servers, "mcp.files.read_text_file", path(".mcp.json")).await;
    let (ok, why) = said(&denied);
    assert!(!ok && why.to_lowercase().contains("access denied"), "{why}");
    let write = json!({ "path": allowed.join("new.txt").to_str(), "content": "made" });
    let written = call(&servers, "mcp.files.write_file", write).await;
    assert!(said(&written).0, "{written:?}");
    assert_eq!(
        fs::read_to_string(allowed.join("new.txt")).expect("the file exists and is UTF-8"),
        "made"
    );
    servers.close().await;
}

/// A server behind an address, killed when it is dropped.
struct Listening(Child);

impl Listening {
    async fn start(port: u16) -> Self {
        let mut command = Command::new(program("everything"));
        command.arg("streamableHttp").env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().expect("the program starts"));
        for _ in 0..1_000 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return server;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("it does not listen");
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.kill().expect("the process can be killed");
        self.0.wait().expect("the process ends");
    }
}

#[tokio::test]
#[ignore = "needs npm MCP servers: cargo xtask test --only mcp"]
async fn http_server_is_reconnected_after_a_restart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let project = Project::new("npm-http", json!({ "everything": { "type": "http", "url": url } }));
    let server = Listening::start(port).await;
    let servers = project.servers(&["everything"], &McpLimits::default()).await;
    let echo = ask(&servers, "echo", json!({ "message": "over http" })).await;
    assert_eq!(echo, (true, "Echo: over http".into()));

    drop(server);
    let lost = call(&servers, "mcp.everything.echo", json!({ "message": "anyone?" })).await;
    assert_eq!(fault(&lost).0, FaultClass::Unavailable, "{lost:?}");
    let _server = Listening::start(port).await;
    let echo = ask(&servers, "echo", json!({ "message": "back" })).await;
    assert_eq!(echo, (true, "Echo: back".into()));
}

//! What a host tells agents of itself.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use pointsman_agents::research::MAX_TOOLS;
use pointsman_kernel::{
    governor::{Grant, Level, Permissions},
    job::AgentDecl,
};
use serde_json::{Value, json};

use super::LocalExecutor;
use crate::{
    config::rule,
    engine::{ApprovedServers, EngineConfig},
    mcp::{self, McpLimits},
    model::{self, Spec},
    store::SqliteStore,
    tool,
};

/// A server with seventy tools.
const MANY: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"many","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result=
      for n in $(seq 10 79); do result="$result,{\"name\":\"t$n\",\"inputSchema\":{}}"; done
      result="{\"tools\":[${result#,}]}" ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

async fn executor(name: &str) -> (LocalExecutor, PathBuf) {
    hosting(name, |_| None).await
}

async fn hosting(
    name: &str,
    servers: impl FnOnce(&Path) -> Option<ApprovedServers>,
) -> (LocalExecutor, PathBuf) {
    let folder = std::env::temp_dir().join(format!("pointsman-host-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(folder.join("work")).expect("the folder is created");
    fs::write(folder.join("work/AGENTS.md"), "Be brief.").expect("the file is written");
    let settings = EngineConfig {
        mcp: servers(&folder),
        instructions: super::Instructions { off: ["code".into()].into() },
        ..EngineConfig::new(
            model::ModelSettings::new(Spec::quote()),
            tool::ToolSettings::over(folder.join("work"), folder.join("index.db")),
        )
    };
    let journal = folder.join("journal.db");
    let store = Arc::new(SqliteStore::open(&journal).expect("the journal opens"));
    (
        LocalExecutor::open(settings, Arc::new(pointsman_agents::all()), store, journal)
            .await
            .expect("it opens"),
        folder,
    )
}

fn decl(agent: &str) -> AgentDecl {
    *pointsman_agents::all().decl(agent)
}

fn tools(executor: &LocalExecutor, agent: &str, permissions: &Permissions) -> Vec<String> {
    let config =
        executor.configure(&decl(agent), &json!({}).into(), permissions).expect("it is fine");
    let config: Value = config.read().expect("the text is valid JSON");
    let name = |tool: &Value| tool.get("name").unwrap_or(tool).as_str().map(String::from);
    let tools = config.get("tools").and_then(Value::as_array).expect("the value is a list");
    tools.iter().map(|tool| name(tool).expect("a name")).collect()
}

#[tokio::test]
async fn agents_are_offered_callable_tools() {
    let (executor, folder) = executor("offer").await;
    let with =
        |attended: bool, rules: Vec<Grant>| Permissions { otherwise: Level::Ask, rules, attended };
    let exact =
        Grant { arguments: vec![("command".into(), "ls".into())], ..rule("shell", Level::Allow) };
    let rules = || vec![rule("read", Level::Allow), rule("git", Level::Refuse), exact.clone()];
    let all =
        ["context.fts_search", "edit", "http_get", "list", "read", "search", "shell", "write"];
    assert_eq!(tools(&executor, "chat", &with(true, rules())), all);
    let code = tools(&executor, "code", &with(true, rules()));
    assert!(code.contains(&"propose_plan".to_owned()) && code.len() == all.len() + 1, "{code:?}");
    assert_eq!(tools(&executor, "chat", &with(false, rules())), ["read", "shell"]);
    assert_eq!(tools(&executor, "research", &with(true, rules())), ["read", "shell"]);
    // A rule that asks offers the tool to an attended run; in an unattended one that is pointless.
    let asked = vec![rule("context.fts_search", Level::Ask), rule("git", Level::Refuse)];
    assert_eq!(tools(&executor, "research", &with(true, asked.clone())), ["context.fts_search"]);
    assert!(tools(&executor, "research", &with(false, asked)).is_empty());
    let research = tools(&executor, "research", &Permissions::allow_all());
    assert!(!research.contains(&"propose_plan".to_owned()), "{research:?}");
    drop(fs::remove_dir_all(&folder));
}

#[tokio::test]
async fn named_tools_are_described_and_unknown_ones_rejected() {
    let (executor, folder) = executor("named").await;
    let permissions = Permissions::allow_all();
    let configured = |tools: Value| {
        let config = json!({ "tools": tools }).into();
        let configured = executor.configure(&decl("research"), &config, &permissions);
        configured.map(|config| config.read::<Value>().expect("the text is valid JSON"))
    };
    let own = json!({ "name": "read", "about": "Mine." });
    let config = configured(json!(["write", own])).expect("both are there");
    let write = config.pointer("/tools/0").expect("it is kept");
    assert_eq!(write.get("name"), Some(&json!("write")));
    assert!(write.pointer("/parameters/properties/content").is_some(), "{write}");
    assert_eq!(config.pointer("/tools/1"), Some(&own));
    for tools in [json!(["nope"]), json!([{ "name": "nope" }])] {
        let error = configured(tools).expect_err("there is none").to_string();
        assert!(error.contains("`nope`") && error.contains("context.fts_search, "), "{error}");
    }
    // The agent rejects anything but a list of tools.
    assert!(configured(json!([17])).is_ok() && configured(json!(true)).is_ok());
    drop(fs::remove_dir_all(&folder));
}

#[tokio::test]
async fn more_tools_than_an_agent_takes_are_left_out_and_named() {
    let servers = |folder: &Path| {
        fs::write(folder.join("many.sh"), MANY).expect("the file is written");
        let list = json!({ "mcpServers": { "many": { "command": "sh", "args": ["many.sh"] } } });
        fs::write(folder.join(".mcp.json"), list.to_string()).expect("the file is written");
        let servers = mcp::McpServerList::read(&folder.join(".mcp.json")).expect("it can be read");
        Some(ApprovedServers { servers, names: vec!["many".into()], limits: McpLimits::default() })
    };
    let (executor, folder) = hosting("many", servers).await;
    let permissions = Permissions::allow_all();
    let (offered, left_out) = (
        tools(&executor, "research", &permissions),
        executor.left_out(&decl("research"), &permissions),
    );
    let own = executor.0.tools.specs().len() - 70 - 1;
    assert_eq!((offered.len(), left_out.len()), (MAX_TOOLS, own + 70 - MAX_TOOLS));
    assert!(offered.iter().take(own).all(|name| !name.starts_with("mcp.")), "{offered:?}");
    assert_eq!(left_out.last().map(|name| &**name), Some("mcp.many.t79"));
    assert_eq!(tools(&executor, "chat", &permissions).len(), own + 70);
    assert!(executor.left_out(&decl("chat"), &permissions).is_empty());
    drop(executor);
    drop(fs::remove_dir_all(&folder));
}

#[tokio::test]
async fn instructions_are_added_where_they_are_wanted_and_not_said() {
    let (executor, folder) = executor("instructions").await;
    let given = json!({ "tools": [], "instructions": [] });
    let permissions = Permissions::allow_all();
    let configured = |agent: &str, config: Value| {
        let config = executor.configure(&decl(agent), &config.into(), &permissions);
        config.expect("it is fine").read::<Value>().expect("the text is valid JSON")
    };
    assert_eq!(configured("chat", given.clone()), given);
    let chat = configured("chat", json!({}));
    let wanted = json!([{ "source": "AGENTS.md", "text": "Be brief." }]);
    assert_eq!(chat.get("instructions"), Some(&wanted));
    for agent in ["code", "research"] {
        let config = configured(agent, json!({}));
        assert_eq!(config.get("instructions"), None, "{agent}");
    }
    assert_eq!(configured("builtin", json!({})), json!({}));
    drop(fs::remove_dir_all(&folder));
}

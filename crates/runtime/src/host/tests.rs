//! What a host tells agents of itself.

use std::{fs, path::PathBuf, sync::Arc};

use pointsman_kernel::governor::{Grant, Level, Permissions};
use serde_json::{Value, json};

use super::{Host, Settings};
use crate::{
    config::rule,
    model::{self, Spec},
    store::Store,
    tool,
};

async fn host(name: &str) -> (Host, PathBuf) {
    let folder = std::env::temp_dir().join(format!("pointsman-host-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(folder.join("work")).expect("it is made");
    fs::write(folder.join("work/AGENTS.md"), "Be brief.").expect("it is written");
    let settings = Settings {
        model: model::Settings::new(Spec::quote()),
        tools: tool::Settings::over(folder.join("work"), folder.join("index.db")),
        mcp: None,
        watch: None,
        hooks: super::Hooks::default(),
        instructions: super::Instructions { chat: true, code: false },
    };
    let journal = folder.join("journal.db");
    let store = Arc::new(Store::open(&journal).expect("it opens"));
    (Host::open(settings, store, journal).await.expect("it opens"), folder)
}

fn tools(host: &Host, agent: &str, permissions: &Permissions) -> Vec<String> {
    let config = host.configure(agent, json!({}), permissions);
    let name = |tool: &Value| tool.get("name").unwrap_or(tool).as_str().map(String::from);
    let tools = config.get("tools").and_then(Value::as_array).expect("a list");
    tools.iter().map(|tool| name(tool).expect("a name")).collect()
}

#[tokio::test]
async fn agents_are_offered_what_they_may_call() {
    let (host, folder) = host("offer").await;
    let with =
        |attended: bool, rules: Vec<Grant>| Permissions { otherwise: Level::Ask, rules, attended };
    let exact =
        Grant { arguments: vec![("command".into(), "ls".into())], ..rule("shell", Level::Allow) };
    let rules = || vec![rule("read", Level::Allow), rule("git", Level::Refuse), exact.clone()];
    let all =
        ["context.fts_search", "edit", "http_get", "list", "read", "search", "shell", "write"];
    assert_eq!(tools(&host, "chat", &with(true, rules())), all);
    let code = tools(&host, "code", &with(true, rules()));
    assert!(code.contains(&"propose_plan".to_owned()) && code.len() == all.len() + 1, "{code:?}");
    assert_eq!(tools(&host, "chat", &with(false, rules())), ["read", "shell"]);
    assert_eq!(tools(&host, "research", &with(true, rules())), ["read", "shell"]);
    let research = tools(&host, "research", &Permissions::allow_all());
    assert!(!research.contains(&"propose_plan".to_owned()), "{research:?}");
    drop(fs::remove_dir_all(&folder));
}

#[tokio::test]
async fn instructions_are_added_where_they_are_wanted_and_not_said() {
    let (host, folder) = host("instructions").await;
    let given = json!({ "tools": [], "instructions": [] });
    let permissions = Permissions::allow_all();
    assert_eq!(host.configure("chat", given.clone(), &permissions), given);
    let chat = host.configure("chat", json!({}), &permissions);
    let wanted = json!([{ "source": "AGENTS.md", "text": "Be brief." }]);
    assert_eq!(chat.get("instructions"), Some(&wanted));
    for agent in ["code", "research"] {
        let config = host.configure(agent, json!({}), &permissions);
        assert_eq!(config.get("instructions"), None, "{agent}");
    }
    assert_eq!(host.configure("builtin", json!({}), &permissions), json!({}));
    drop(fs::remove_dir_all(&folder));
}

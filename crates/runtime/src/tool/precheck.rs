//! Whether a call could run at all, looked at before a person is asked for it.
//!
//! Nothing is changed and nothing is sent. A reason goes to the model, unlike a question: so
//! files are looked at only where the run may read them unasked. Of any other file even
//! whether a text is in it would be told.

use std::sync::Arc;

use pointsman_kernel::{
    agent::ToolCall,
    governor::{Level, Permissions},
    id::At,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::to_raw_value};

use super::{Tools, edit, git::Git, http::HttpGet, shared::Shared};

impl Tools {
    /// Returns why a call cannot run, as far as that is known beforehand.
    pub(crate) async fn precheck(&self, call: &ToolCall) -> Option<String> {
        let arguments = match self.0.schemas.check(&call.tool, call.arguments.get()) {
            Ok(arguments) => arguments,
            Err(why) => return Some(why),
        };
        let (on, permissions) = (Arc::clone(&self.0), Arc::clone(&self.1));
        let tool = call.tool.clone();
        let looking =
            tokio::task::spawn_blocking(move || on.cannot(&tool, &arguments, &permissions));
        // What takes too long to find out is left to the person who is asked.
        tokio::time::timeout(self.0.settings.limits.look(), looking).await.ok()?.ok()?
    }
}

impl Shared {
    fn cannot(&self, tool: &str, arguments: &Value, permissions: &Permissions) -> Option<String> {
        match tool {
            "git" => read::<Git>(arguments)?.refused(&self.folder),
            "http_get" => read::<HttpGet>(arguments)?.refused(self.settings.http_private),
            _ => self.cannot_reach(tool, arguments, permissions),
        }
    }

    /// Returns why a tool cannot work on the file or folder that its call names.
    fn cannot_reach(
        &self,
        tool: &str,
        arguments: &Value,
        permissions: &Permissions,
    ) -> Option<String> {
        let named = if tool == "shell" { "cwd" } else { "path" };
        let path = arguments.get(named)?.as_str()?;
        let path = match self.folder.inside(path) {
            Ok(path) => path,
            Err(error) => return Some(error.to_string()),
        };
        if tool != "edit" || !reads_unasked(permissions, path.to_str()?) {
            return None;
        }
        edit::planned(&self.folder, self.limits(), &read(arguments)?, true)
            .err()
            .map(|said| said.output)
    }
}

/// Returns whether a run may read a file without a person's yes. Whether a permission with an
/// end still holds is not known here, so it does not count.
pub(super) fn reads_unasked(permissions: &Permissions, path: &str) -> bool {
    let tools = pointsman_agents::tools();
    let decl = tools.iter().find(|decl| &*decl.name == "read");
    let Ok(arguments) = to_raw_value(&json!({ "path": path })) else { return false };
    let call = ToolCall { id: String::new(), tool: "read".into(), arguments };
    let runs = |level: Level| level < Level::Ask;
    let mut strict = permissions.clone();
    strict.rules.retain(|rule| !runs(rule.level) || rule.until.is_none());
    let rule = strict.deciding(&call, decl, At(0));
    runs(rule.map_or(strict.otherwise, |rule| rule.level))
}

fn read<A: DeserializeOwned>(arguments: &Value) -> Option<A> {
    serde_json::from_value(arguments.clone()).ok()
}

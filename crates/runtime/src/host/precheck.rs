//! Whether a call could run at all, looked at before a person is asked for it.

use pointsman_agents::form::SUBMIT_TOOL;
use pointsman_kernel::agent::ToolCall;

use super::Host;
use crate::store::RunId;

impl Host {
    /// Returns why a call cannot run, as far as that is known beforehand.
    pub(super) async fn cannot_run(&self, run: &RunId, call: &ToolCall) -> Option<String> {
        // What sends a form is looked at by the browser, right before it is pressed.
        if call.tool == SUBMIT_TOOL {
            return None;
        }
        if let Some(servers) = self.0.servers.as_ref().filter(|_| call.tool.starts_with("mcp.")) {
            return servers.refused(&call.tool, &call.arguments);
        }
        // Where nobody knows what the run may read, a person decides.
        let permissions = self.0.rules.of(&self.0.store, run).await.ok()?;
        self.0.tools.under(permissions).precheck(call).await
    }
}

//! Whether a call could run at all, looked at before a person is asked for it.

use pointsman_kernel::agent::ToolCall;

use super::LocalExecutor;
use crate::store::RunId;

impl LocalExecutor {
    /// Returns why a call cannot run, as far as that is known beforehand.
    pub(super) async fn cannot_run(&self, run: &RunId, call: &ToolCall) -> Option<String> {
        // If the permissions are unknown, a person decides.
        let permissions = self.0.rules.of(&*self.0.store, run).await.ok()?;
        self.0.tools.under(permissions).precheck(call).await
    }
}

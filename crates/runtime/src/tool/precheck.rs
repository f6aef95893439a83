//! Whether a call could run at all, looked at before a person is asked for it.
//!
//! Nothing is changed or sent. The reason goes to the model, unlike a question, so files are read
//! only if the run may read them without asking. For any other file, even whether it contains a
//! text is secret.

use std::sync::Arc;

use pointsman_kernel::{agent::ToolCall, tool::ToolDecl};
use serde_json::Value;

use super::WorkspaceTools;

impl WorkspaceTools {
    /// Returns why a call cannot run, as far as that is known beforehand.
    pub(crate) async fn precheck(&self, call: &ToolCall) -> Option<String> {
        let (tool, arguments) = match self.2.check(call) {
            Ok((tool, arguments)) => (Arc::clone(tool), arguments),
            Err(why) => return Some(why),
        };
        let tools = self.clone();
        let looking = tokio::task::spawn_blocking(move || {
            let outside = tools.cannot_reach(&tool.decl(), &arguments);
            outside.or_else(|| tool.refuses(&tools, &arguments))
        });
        // A check that takes too long is left to the person.
        tokio::time::timeout(self.limits().look(), looking).await.ok()?.ok()?
    }

    /// Returns why a tool cannot work on the files or folders that its call names. What the paths
    /// of a foreign tool mean is for its program to say.
    fn cannot_reach(&self, decl: &ToolDecl, arguments: &Value) -> Option<String> {
        let paths = decl.paths.iter().filter(|_| !decl.foreign);
        let mut named = paths.filter_map(|name| arguments.get(&**name)?.as_str());
        named.find_map(|path| self.folder().inside(path).err()).map(|error| error.to_string())
    }
}

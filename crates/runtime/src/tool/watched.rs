//! Commands with an eye on the repositories that they leave behind.

use std::sync::Arc;

use super::{
    NOTICE, ToolOutput, WorkspaceTools, repositories::RepositoryRecord, shared::SharedTools,
};

/// A running command; it counts as over once this is dropped.
struct Running(Arc<SharedTools>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.repositories.leave();
    }
}

impl WorkspaceTools {
    /// Does something that may make repositories, and says which are new.
    pub(super) async fn watched<T>(&self, work: impl Future<Output = T>) -> (T, Vec<String>) {
        self.look(|on| on.repositories.enter(&on.folder, on.limits())).await;
        let running = Running(Arc::clone(&self.0));
        let done = work.await;
        drop(running);
        let notes = self.look(|on| on.repositories.look(&on.folder, on.limits())).await;
        (done, notes.unwrap_or_default())
    }

    /// Looks at the workspace, on a thread for what blocks.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&SharedTools) -> T + Send + 'static,
    ) -> Option<T> {
        let on = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || look(&on)).await.ok()
    }

    /// Returns the repositories that are trusted, for the record of a run that begins. It
    /// blocks, though not for long.
    pub(crate) fn record(&self) -> RepositoryRecord {
        self.0.repositories.record(&self.0.folder, self.0.limits())
    }

    /// Takes the record of a run that was begun earlier.
    pub(crate) async fn compare(&self, recorded: RepositoryRecord) {
        self.look(move |on| on.repositories.compare(&on.folder, on.limits(), &recorded)).await;
    }
}

impl ToolOutput {
    /// Puts notices behind the first line, which says how a command ended.
    pub(super) fn with(mut self, notes: &[String]) -> Self {
        for note in notes {
            tracing::warn!(note, "a command changed something unexpected");
        }
        if notes.is_empty() {
            return self;
        }
        let notes: Vec<String> = notes.iter().map(|note| format!("{NOTICE}{note}\n")).collect();
        if !self.output.contains('\n') {
            self.output.push('\n');
        }
        let first = self.output.find('\n').map_or(self.output.len(), |at| at.saturating_add(1));
        self.output.insert_str(first, &notes.concat());
        self
    }
}

//! What runs found when they began: repositories that appear later are not trusted, not even
//! after a stop.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use pointsman_kernel::{agent::ToolCall, tool::ToolEffect};
use serde::Deserialize;

use super::{LocalExecutor, Workspace};
use crate::{entry::begun, store::RunId};

/// The runs whose records the tools know.
#[derive(Debug, Default)]
pub(super) struct Records(Mutex<BTreeSet<RunId>>);

impl Records {
    /// Returns whether a run was not known, and knows it from now on.
    pub(super) fn is_new(&self, run: &RunId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone())
    }

    /// Forgets a run that has ended.
    pub(super) fn forget(&self, run: &RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

impl LocalExecutor {
    /// Has the tools know what a run found, before a call that runs a command.
    pub(super) async fn load_record_before(&self, run: &RunId, call: &ToolCall) {
        let tool = self.0.tools.toolbox().find(&call.tool);
        if tool.is_some_and(|tool| tool.decl().effect == ToolEffect::Command) {
            self.load_record(run).await;
        }
    }

    /// Gives the tools the record of repositories of an earlier run. Runs of older versions have
    /// none, and record what exists now.
    pub(super) async fn load_record(&self, run: &RunId) {
        if !self.0.records.is_new(run) {
            return;
        }
        let begun = begun(&*self.0.store, run).await.ok().flatten();
        let place = begun.and_then(|begun| Workspace::deserialize(&*begun.place?).ok());
        if let Some(recorded) = place.and_then(|place| place.git) {
            self.0.tools.compare(recorded).await;
        }
    }
}

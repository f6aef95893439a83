//! What each run may do, as its first entry says: read once, and kept while the run lasts.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use pointsman_kernel::governor::Permissions;
use thiserror::Error;

use crate::{
    entry::begun,
    store::{RunId, Store, StoreError},
};

/// Why the permissions of a run are unknown.
#[derive(Debug, Error)]
pub(super) enum RulesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the permissions of run {0} cannot be read: another build wrote them")]
    Entry(RunId),
}

/// The permissions of the runs that this host has worked for.
#[derive(Debug, Default)]
pub(super) struct RunRules(Mutex<BTreeMap<RunId, Arc<Permissions>>>);

impl RunRules {
    /// Returns what a run was begun with.
    pub(super) async fn of(
        &self,
        store: &dyn Store,
        run: &RunId,
    ) -> Result<Arc<Permissions>, RulesError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(run) {
            return Ok(Arc::clone(known));
        }
        let begun = begun(store, run).await?.ok_or_else(|| RulesError::Entry(run.clone()))?;
        let permissions = Arc::new(begun.permissions);
        known().insert(run.clone(), Arc::clone(&permissions));
        Ok(permissions)
    }

    /// Forgets a run that has ended.
    pub(super) fn forget(&self, run: &RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }
}

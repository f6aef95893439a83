//! The explore agent's tasks, carried out on the device of its run: one for each run, opened
//! when it is first needed.

mod session;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pointsman_agents::explore::{ExploreAgent, ExploreConfig, ExploreReport, ExploreTask};
use pointsman_kernel::{
    agent::{Fault, FaultClass},
    chart::Disposition,
};
use pointsman_runtime::{
    effect::{CleanupFuture, Permit},
    entry::begun,
    executor::{Executor, TaskFuture, TaskReport},
    store::{RunId, Store},
};

use crate::device::DeviceSettings;
use session::DeviceSession;

/// The devices of runs, and their stored files: the executor of `explore`. Copies share them.
#[derive(Clone)]
pub struct Devices(Arc<Inner>);

struct Inner {
    settings: DeviceSettings,
    /// Where hierarchies, pictures and the places of recordings are kept.
    folder: PathBuf,
    store: Arc<dyn Store>,
    hands: Mutex<BTreeMap<RunId, Arc<DeviceSession>>>,
}

impl Devices {
    /// Explores apps on devices, for runs in these journals. A run's files are stored beside the
    /// journal's file.
    pub fn new(settings: DeviceSettings, journal: &Path, store: Arc<dyn Store>) -> Self {
        let (folder, hands) = (beside(journal), Mutex::default());
        Self(Arc::new(Inner { settings, folder, store, hands }))
    }

    async fn hand(&self, run: &RunId) -> Result<Arc<DeviceSession>, Fault> {
        let hands = || self.0.hands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hand) = hands().get(run) {
            return Ok(Arc::clone(hand));
        }
        let config = config(&*self.0.store, run).await?;
        let hand = DeviceSession::new(&self.0.settings, config, self.0.folder.join(run.as_str()))?;
        // Two tasks of one run may have come for it at once.
        Ok(Arc::clone(hands().entry(run.clone()).or_insert_with(|| Arc::new(hand))))
    }
}

impl Executor<ExploreAgent> for Devices {
    fn perform(&self, permit: Permit, task: ExploreTask) -> TaskFuture<ExploreReport> {
        let devices = self.clone();
        Box::pin(async move {
            let (report, usage) = devices.hand(&permit.run).await?.perform(task, &permit).await?;
            Ok(TaskReport { report, usage })
        })
    }

    /// Ends the session of a run that has ended. Pictures stay until the run is removed.
    fn ended(&self, run: &RunId, _: Disposition) -> CleanupFuture {
        let hand = self.0.hands.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
        Box::pin(async move {
            if let Some(hand) = hand {
                hand.end().await;
            }
        })
    }
}

/// Returns the folder beside a journal for a run's pictures and hierarchies.
pub fn blobs(journal: &Path, run: &RunId) -> PathBuf {
    beside(journal).join(run.as_str())
}

fn beside(journal: &Path) -> PathBuf {
    journal.parent().unwrap_or_else(|| Path::new(".")).join("explore")
}

/// Removes all that is kept for a run that is itself removed.
pub(crate) fn remove(journal: &Path, run: &RunId) {
    let folder = blobs(journal, run);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %folder.display(), "a run's screens could not be removed");
        }
        _ => {}
    }
}

/// Reads what the run was configured with, from its first entry.
async fn config(store: &dyn Store, run: &RunId) -> Result<ExploreConfig, Fault> {
    let fault = |message: String| Fault {
        class: FaultClass::Contract,
        repeatable: false,
        hint_ms: None,
        message,
    };
    let begun = begun(store, run).await.map_err(|error| fault(error.to_string()))?;
    let config = begun.map(|begun| serde_json::from_str(begun.config.get()));
    match config {
        Some(Ok(config)) => Ok(config),
        Some(Err(error)) => Err(fault(format!("the run's configuration cannot be read: {error}"))),
        None => Err(fault("the run has no configuration".into())),
    }
}

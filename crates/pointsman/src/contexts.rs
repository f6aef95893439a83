//! The contexts of runs that this program drives for others: each run works in its own folder, with
//! its own model and the settings of that folder.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use pointsman_runtime::{
    driver::DriverContext,
    engine::Engine,
    entry::begun,
    local_executor::Workspace,
    metrics::RunMetrics,
    observe::Observer,
    scheduler::{DriverContexts, SchedulerError},
    session::Session,
    store::{RunId, Store},
};
use tokio::task::spawn_blocking;

use crate::{
    agents::{self, AGENTS},
    drive::{Drive, others},
    report::{Error, whole},
};

/// How many engines are kept for the next run in the same folder with the same model.
const ENGINES: usize = 32;

/// What runs of one kind share: folder, model and the address of its server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RunPlace {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The model, as people write it; the settings' own if it is not given.
    pub(crate) model: Option<String>,
    /// The address of the model's server.
    pub(crate) base_url: Option<String>,
    /// Whether a journal says so. Then the settings name no other address.
    pub(crate) recorded: bool,
}

/// Sets the context of each run up. Settings are read once for each folder and model that is in use.
pub(crate) struct RunContexts {
    store: Arc<dyn Store>,
    journal: PathBuf,
    cache: PathBuf,
    observers: Vec<Arc<dyn Observer>>,
    metrics: Option<Arc<RunMetrics>>,
    /// The last used comes last.
    engines: Mutex<Vec<(RunPlace, Engine)>>,
}

impl RunContexts {
    /// Returns contexts over the store of a session, with observers of every run.
    pub(crate) fn new(session: &Session, observers: Vec<Arc<dyn Observer>>) -> Self {
        Self {
            store: Arc::clone(session.store()),
            journal: session.journal().into(),
            cache: session.cache().into(),
            observers,
            metrics: None,
            engines: Mutex::default(),
        }
    }

    /// Counts what the runs do.
    pub(crate) fn with_metrics(mut self, metrics: &Arc<RunMetrics>) -> Self {
        self.metrics = Some(Arc::clone(metrics));
        self
    }

    /// Returns the engine of a place.
    pub(crate) async fn engine(&self, place: RunPlace) -> Result<Engine, Error> {
        if let Some(engine) = self.kept(&place) {
            return Ok(engine);
        }
        let (store, asked) = (Arc::clone(&self.store), place.clone());
        let (journal, cache) = (self.journal.clone(), self.cache.clone());
        // Settings, the search index and the list of repositories are read from the disk.
        let config = spawn_blocking(move || set_up(&asked, &store, &journal, &cache)).await;
        let config =
            config.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()))?;
        let agents = Arc::new(AGENTS.clone());
        let engine = Engine::open(agents, Arc::clone(&self.store), config, self.journal.clone());
        let engine = engine.await.map_err(Error::Session)?;
        for (name, why) in engine.refused_servers() {
            tracing::warn!(dir = %place.dir.display(), server = name, %why, "MCP server skipped");
        }
        let mut engines = self.engines();
        engines.push((place, engine.clone()));
        if engines.len() > ENGINES {
            engines.remove(0);
        }
        Ok(engine)
    }

    fn kept(&self, place: &RunPlace) -> Option<Engine> {
        let mut engines = self.engines();
        let at = engines.iter().position(|(it, _)| it == place)?;
        let kept = engines.remove(at);
        let engine = kept.1.clone();
        engines.push(kept);
        Some(engine)
    }

    fn engines(&self) -> MutexGuard<'_, Vec<(RunPlace, Engine)>> {
        // A list of engines is whole at any time.
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DriverContexts for RunContexts {
    async fn context(&self, run: &RunId) -> Result<DriverContext, SchedulerError> {
        let cannot = |why: String| SchedulerError::Context { run: run.clone(), why };
        let place = begun(&*self.store, run).await?.and_then(|begun| begun.place);
        let place = place.and_then(|it| serde_json::from_str::<Workspace>(it.get()).ok());
        let place = place.ok_or_else(|| cannot("its journal names no folder".into()))?;
        let dir = place.dir.ok_or_else(|| cannot("its journal names no folder".into()))?;
        if !dir.is_dir() {
            return Err(cannot(format!("the folder {} is not on this machine", dir.display())));
        }
        let (model, base_url) = (Some(place.model.into()), place.base_url.map(Into::into));
        let engine = self.engine(RunPlace { dir, model, base_url, recorded: true }).await;
        let engine = engine.map_err(|error| cannot(whole(&error)))?;
        let mut context = engine.context(run).await?;
        context.observers.extend(self.observers.iter().cloned());
        context.observers.extend(others());
        if let Some(metrics) = &self.metrics {
            context.observers.push(metrics.observer(&self.store.run(run).await?.agent));
        }
        #[cfg(debug_assertions)]
        crate::effect_log::follow(&mut context).await;
        Ok(context)
    }
}

/// Reads the settings of a place.
fn set_up(
    place: &RunPlace,
    store: &Arc<dyn Store>,
    journal: &Path,
    cache: &Path,
) -> Result<pointsman_runtime::engine::EngineConfig, Error> {
    let drive = Drive::at(place);
    let config = drive.config()?;
    let mut engine = drive.engine(cache, &config)?;
    agents::register(&mut engine, journal, store, &config);
    Ok(engine)
}

//! Runs on this machine, for callers that do not await: begin, go on, replay, fork.

use std::{path::Path, path::PathBuf, sync::Arc};

use pointsman_kernel::{
    chart::{Chart, Disposition, verify},
    event::Begun,
    governor::{Grant, Level, Permissions},
    id::Seq,
    journal::body,
};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::mpsc;

use crate::{
    clock::{entropy, new_run_id},
    driver::{DriveError, Driver, Loaded, Notice, fold},
    host::Host,
    store::{RunId, Store, StoreError},
    tool::{Settings, ToolError, Tools},
};

/// Why a session cannot do what it was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be driven.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The tools cannot be used in the folder.
    #[error(transparent)]
    Tools(#[from] ToolError),
    /// The chart that the run was started with is refused by this build.
    #[error("this build refuses the chart of run {run}")]
    Chart {
        /// The run.
        run: RunId,
    },
    /// The configuration is no JSON.
    #[error("the configuration cannot be written down: {0}")]
    Config(#[from] serde_json::Error),
    /// The machine cannot run it.
    #[error("the program cannot start its threads: {0}")]
    Threads(#[from] std::io::Error),
    /// There is no such entry.
    #[error("run {run} has {has} entries, and entry {} was asked for", .asked.0)]
    NoSuchEntry {
        /// The run.
        run: RunId,
        /// Its entries.
        has: usize,
        /// The entry.
        asked: Seq,
    },
}

/// How a run stands when a session lets go of it.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The run.
    pub run: RunId,
    /// How it ended; nothing if it waits for a person.
    pub ended: Option<Disposition>,
    /// What it has come to.
    pub result: Option<String>,
}

/// A run as it was, with its chart.
pub struct Recalled {
    /// The chart.
    pub chart: Chart,
    /// Its lines, up to the entry that was asked for.
    pub lines: Vec<String>,
    /// The run after the last of them.
    pub loaded: Loaded,
}

/// The journals and tools of one machine.
#[derive(Debug)]
pub struct Session {
    store: Arc<Store>,
    cache: PathBuf,
    threads: tokio::runtime::Runtime,
}

impl Session {
    /// Opens the journals in one file, with a folder for what can be made anew.
    pub fn open(journal: &Path, cache: &Path) -> Result<Self, SessionError> {
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        Ok(Self { store: Arc::new(Store::open(journal)?), cache: cache.into(), threads })
    }

    /// Returns the store, to read from.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Begins a run over a folder and drives it until it ends or waits for a person.
    pub fn run(
        &self,
        (chart, source): (Chart, &str),
        config: &Value,
        goal: &str,
        folder: &Path,
        watch: impl FnMut(&Driver, Notice),
    ) -> Result<Standing, SessionError> {
        let host = self.host(folder)?;
        let begun = Begun {
            chart: chart.name().into(),
            version: chart.version(),
            digest: chart.digest(),
            seed: entropy(),
            permissions: reads_only(),
            tools: pointsman_agents::tools(),
            config: body(config)?,
        };
        self.threads.block_on(async {
            let store = Arc::clone(&self.store);
            let (sender, notices) = mpsc::unbounded_channel();
            let chart = (Arc::new(chart), source);
            let mut driver =
                Driver::begin(store, host, chart, new_run_id(), begun, goal, Some(sender)).await?;
            drive(&mut driver, notices, watch).await
        })
    }

    /// Goes on with a run that was interrupted.
    pub fn resume(
        &self,
        id: &RunId,
        folder: &Path,
        watch: impl FnMut(&Driver, Notice),
    ) -> Result<Standing, SessionError> {
        let host = self.host(folder)?;
        let chart = Arc::new(self.chart(id)?);
        let _guard = self.threads.enter();
        let (sender, notices) = mpsc::unbounded_channel();
        let store = Arc::clone(&self.store);
        let mut driver = Driver::resume(store, host, chart, id.clone(), Some(sender))?;
        self.threads.block_on(drive(&mut driver, notices, watch))
    }

    /// Replays a run up to an entry, or to its end, and checks every byte.
    pub fn recall(&self, id: &RunId, until: Option<Seq>) -> Result<Recalled, SessionError> {
        let chart = self.chart(id)?;
        let mut lines = self.store.lines(id, Seq(0))?;
        if let Some(until) = until {
            let wanted = usize::try_from(until.0).unwrap_or(usize::MAX);
            if wanted == 0 || wanted > lines.len() {
                let (run, has) = (id.clone(), lines.len());
                return Err(SessionError::NoSuchEntry { run, has, asked: until });
            }
            lines.truncate(wanted);
        }
        let loaded = fold(&chart, id, &lines)?;
        Ok(Recalled { chart, lines, loaded })
    }

    fn chart(&self, id: &RunId) -> Result<Chart, SessionError> {
        let source = self.store.chart_source(id)?;
        verify(&source, &pointsman_agents::registry())
            .map_err(|_| SessionError::Chart { run: id.clone() })
    }

    fn host(&self, folder: &Path) -> Result<Arc<Host>, SessionError> {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
        let digest = pointsman_kernel::id::Digest::of(name.as_os_str().as_encoded_bytes());
        let index = self.cache.join(format!("search-{}.db", &digest.to_string()[..16]));
        Ok(Arc::new(Host::new(Tools::open(Settings::over(folder, index))?)))
    }
}

/// What may run where nobody is asked: tools that only look.
fn reads_only() -> Permissions {
    let looks = ["context.fts_search", "list", "read", "search"];
    let allow = |tool: &&str| Grant {
        tool: (*tool).into(),
        arguments: Vec::new(),
        level: Level::Allow,
        until: None,
    };
    Permissions { rules: looks.iter().map(allow).collect(), ..Permissions::default() }
}

/// Drives a run and shows what happens; Ctrl-C cancels it in good order.
async fn drive(
    driver: &mut Driver,
    mut notices: mpsc::UnboundedReceiver<Notice>,
    mut watch: impl FnMut(&Driver, Notice),
) -> Result<Standing, SessionError> {
    let inbox = driver.inbox();
    let interrupted = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            drop(inbox.send(json!({ "cancelled": { "scope": "run" } })));
        }
    });
    let ended = loop {
        while let Ok(notice) = notices.try_recv() {
            watch(driver, notice);
        }
        if let Some(standing) = driver.turn().await? {
            break standing;
        }
    };
    interrupted.abort();
    while let Ok(notice) = notices.try_recv() {
        watch(driver, notice);
    }
    Ok(Standing { run: driver.id().clone(), ended: ended.0, result: driver.run().result() })
}

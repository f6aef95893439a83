//! Runs on this machine, for callers that do not await: begin, go on, replay, fork.

use std::{path::Path, path::PathBuf, sync::Arc};

use pointsman_kernel::{
    chart::{Chart, verify},
    event::Begun,
    governor::{Grant, Level, Permissions},
    id::Seq,
    journal::body,
};
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    clock::{entropy, new_run_id},
    driver::{Beginning, DriveError, Driver, Loaded, Site, Standing, fold},
    host::Host,
    observe::{Observer, Question},
    store::{RunId, Store, StoreError},
    tool::{Tools, fts::IndexError},
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
    /// The folder cannot be searched.
    #[error(transparent)]
    Index(#[from] IndexError),
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

/// A run that is to be started on this machine.
#[derive(Debug)]
pub struct Start {
    /// The chart.
    pub chart: Chart,
    /// The chart's text.
    pub source: Box<str>,
    /// The agent's configuration.
    pub config: Value,
    /// What it is for, for people.
    pub goal: Box<str>,
    /// What may run unasked.
    pub permissions: Permissions,
    /// Where the jitter between attempts comes from; drawn if it is not given.
    pub seed: Option<u64>,
}

/// How a run stands when a session lets go of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The run.
    pub run: RunId,
    /// Its state.
    pub state: Box<str>,
    /// Its entries.
    pub steps: u64,
    /// How it stands.
    pub standing: Standing,
    /// The calls that a person must decide over.
    pub questions: Vec<Question>,
    /// Milliseconds since it began.
    pub elapsed_ms: u64,
    /// What it has come to.
    pub result: Option<String>,
}

/// A person's answer to a question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    /// Whether the call may run.
    pub granted: bool,
    /// Why.
    pub reason: String,
    /// What to do with calls like it from now on.
    pub remember: Option<Grant>,
}

/// Somebody who is there while a run goes on. Both may block.
pub trait Attend: Send {
    /// Decides over a call; nothing means that it is left to somebody else, later.
    fn decide(&mut self, question: &Question) -> Option<Decision>;
}

/// Nobody is there: what needs a person waits for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Attend for Nobody {
    fn decide(&mut self, _: &Question) -> Option<Decision> {
        None
    }
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

    /// Begins a run and drives it until it ends or waits for somebody who is not there.
    pub fn run(
        &self,
        host: &Host,
        start: Start,
        observers: Vec<Arc<dyn Observer>>,
        attendant: &mut dyn Attend,
    ) -> Result<Outcome, SessionError> {
        let Start { chart, source, config, goal, permissions, seed } = start;
        let begun = Begun {
            chart: chart.name().into(),
            version: chart.version(),
            digest: chart.digest(),
            seed: seed.unwrap_or_else(entropy),
            permissions,
            tools: host.decls(),
            config: body(&config)?,
        };
        let chart = Arc::new(chart);
        let beginning = Beginning { id: new_run_id(), chart, source, goal, begun };
        let site = self.site(host, observers);
        self.threads.block_on(async {
            let mut driver = Driver::begin(site, beginning).await?;
            drive(&mut driver, attendant).await
        })
    }

    /// Goes on with a run that was interrupted, or that waited.
    pub fn resume(
        &self,
        host: &Host,
        id: &RunId,
        observers: Vec<Arc<dyn Observer>>,
        attendant: &mut dyn Attend,
    ) -> Result<Outcome, SessionError> {
        let chart = Arc::new(self.chart(id)?);
        let site = self.site(host, observers);
        self.threads.block_on(async {
            let mut driver = Driver::resume(site, chart, id.clone()).await?;
            drive(&mut driver, attendant).await
        })
    }

    fn site(&self, host: &Host, observers: Vec<Arc<dyn Observer>>) -> Site {
        let (store, performer) = (Arc::clone(&self.store), Arc::new(host.clone()));
        Site { store, performer, observers }
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

    /// Opens a folder to work in.
    pub fn host(&self, folder: &Path) -> Result<Host, SessionError> {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
        let digest = pointsman_kernel::id::Digest::of(name.as_os_str().as_encoded_bytes());
        let index = self.cache.join(format!("search-{}.db", &digest.to_string()[..16]));
        Ok(Host::new(Tools::over(folder, &index)?))
    }
}

/// What may run where nothing else is said: tools that only look.
pub fn reads_only(attended: bool) -> Permissions {
    let looks = ["context.fts_search", "list", "read", "search"];
    let allow = |tool: &&str| Grant {
        tool: (*tool).into(),
        arguments: Vec::new(),
        level: Level::Allow,
        until: None,
    };
    let otherwise = if attended { Level::Ask } else { Level::Refuse };
    Permissions { otherwise, rules: looks.iter().map(allow).collect(), attended }
}

/// Drives a run until it ends or waits for somebody who is not there; Ctrl-C cancels it
/// in good order, and a second one lets go of it.
async fn drive(driver: &mut Driver, attendant: &mut dyn Attend) -> Result<Outcome, SessionError> {
    let mut cancelled = false;
    loop {
        match driver.standing() {
            Standing::Ended(_) => break,
            Standing::Asking if driver.is_idle() => {
                if !ask(driver, attendant).await? {
                    break;
                }
                continue;
            }
            Standing::Waiting if driver.is_idle() => break,
            Standing::Moving | Standing::Asking | Standing::Waiting => {}
        }
        let event = tokio::select! {
            event = driver.next() => event,
            signal = tokio::signal::ctrl_c() => {
                if cancelled || signal.is_err() {
                    break;
                }
                cancelled = true;
                json!({ "cancelled": { "scope": "run" } })
            }
        };
        driver.give(&event).await?;
    }
    let core = driver.run().core();
    Ok(Outcome {
        run: driver.id().clone(),
        state: driver.chart().state_name(core.state).into(),
        steps: core.next.0.saturating_sub(1),
        standing: driver.standing(),
        questions: driver.questions(),
        elapsed_ms: core.now.0,
        result: driver.run().result(),
    })
}

/// Puts the open questions to who is there. Returns whether one was answered.
async fn ask(driver: &mut Driver, attendant: &mut dyn Attend) -> Result<bool, DriveError> {
    let mut answered = false;
    for question in driver.questions() {
        // Whoever is asked may take their time; nothing else is under way meanwhile.
        let decision = tokio::task::block_in_place(|| attendant.decide(&question));
        if let Some(decision) = decision {
            answered = true;
            driver.give(&approval(&question, &decision)).await?;
        }
    }
    Ok(answered)
}

/// Returns the event by which a decision reaches the run.
pub fn approval(question: &Question, decision: &Decision) -> Value {
    let Decision { granted, reason, remember } = decision;
    let (effect, call) = (question.effect, question.identity);
    json!({ "approval_answered": {
        "effect": effect, "call": call, "granted": granted, "reason": reason, "remember": remember,
    } })
}

//! Entries as a driver would write them.

use pointsman_kernel::{
    chart::{Chart, Disposition},
    event::RunConfig,
    governor::Permissions,
    id::{At, Digest, Seq},
    journal::{Entry, body},
};
use pointsman_runtime::store::{Append, EntryLine, Lease, NewRun, RunId, Store, StoreError};
use serde_json::{Value, json, value::to_raw_value};

/// Returns a run's id.
///
/// # Panics
///
/// Panics if the name is none.
pub fn id(name: &str) -> RunId {
    name.parse().expect("it is an id")
}

/// Returns the opening of a run.
pub fn new_run(created_ms: u64) -> NewRun {
    NewRun {
        agent: "research".into(),
        chart: "research".into(),
        source: "chart = \"research\"".into(),
        goal: "find it".into(),
        created_ms,
        messages: Vec::new(),
        forked: None,
        request: None,
        queue: None,
    }
}

/// Returns a run's first event, without tools.
///
/// # Panics
///
/// Never: a value is JSON.
pub fn begun(chart: &Chart, permissions: Permissions, config: &Value) -> RunConfig {
    RunConfig {
        chart: chart.name().into(),
        version: chart.version(),
        digest: chart.digest(),
        seed: 7,
        permissions,
        tools: Vec::new(),
        checks: false,
        queued: false,
        config: body(config).expect("the body is valid JSON"),
        place: None,
    }
}

/// Writes an entry under a lease that is claimed for it alone.
///
/// # Panics
///
/// Panics if another owner has the run.
pub async fn write(store: &dyn Store, append: Append) -> Result<(), StoreError> {
    let lease = store.claim(&append.run).await?.expect("nobody drives it");
    store.append(&lease, append.into()).await
}

/// A run's journal.
#[derive(Clone, Debug)]
pub struct Script {
    /// The run.
    pub run: RunId,
    /// Its last entry.
    pub seq: Seq,
    /// The digest of its last line.
    pub prev: Digest,
    /// Its lines.
    pub lines: Vec<String>,
}

impl Script {
    /// Begins a script without entries.
    pub fn new(name: &str) -> Self {
        Self { run: id(name), seq: Seq(0), prev: Digest::default(), lines: Vec::new() }
    }

    /// Returns the next entry, with a text in its event.
    ///
    /// # Panics
    ///
    /// Never: a text is JSON.
    pub fn next(&mut self, text: &str) -> Append {
        self.seq = self.seq.next();
        let event = to_raw_value(&json!({ "said": text })).expect("the value serialises");
        let line = EntryLine::of(&Entry {
            v: 1,
            seq: self.seq,
            at: At(self.seq.0 * 7),
            event: &event,
            hops: Vec::new(),
            effects: Digest::of(text.as_bytes()),
            prev: self.prev,
        });
        self.prev = line.digest();
        self.lines.push(line.to_string());
        Append {
            run: self.run.clone(),
            seq: self.seq,
            line,
            state: format!("state{}", self.seq.0).into(),
            ended: None,
            wake: Some(self.seq.0 * 10),
            snapshot: None,
            prompts: Vec::new(),
            message: None,
        }
    }

    /// Creates a run and keeps it.
    pub async fn create(
        name: &str,
        store: &dyn Store,
        created_ms: u64,
    ) -> Result<(Self, Lease), StoreError> {
        let mut script = Self::new(name);
        let first = script.next("it begins");
        let lease = store.create(first.into(), new_run(created_ms)).await?;
        Ok((script, lease))
    }

    /// Creates a run without an owner.
    ///
    /// # Panics
    ///
    /// Panics if the store refuses.
    pub async fn begin(name: &str, store: &dyn Store, created_ms: u64) -> Self {
        Self::create(name, store, created_ms).await.expect("it begins").0
    }

    /// Writes entries until the run has this many.
    ///
    /// # Panics
    ///
    /// Panics if the store refuses.
    pub async fn until(&mut self, store: &dyn Store, seq: u64) {
        while self.seq.0 < seq {
            let next = self.next("it goes on");
            write(store, next).await.expect("the entry is written");
        }
    }

    /// Writes the last entry.
    ///
    /// # Panics
    ///
    /// Panics if the store refuses.
    pub async fn end(&mut self, store: &dyn Store) {
        let mut last = self.next("it ends");
        last.ended = Some(Disposition::Succeeded);
        write(store, last).await.expect("the entry is written");
    }
}

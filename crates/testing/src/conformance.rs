//! What every store must do. A store's own tests call [`check`] with a [`Bench`] of theirs.

mod planted;
mod queue;
mod rules;

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use pointsman_runtime::store::{RunId, Store, StoreError};

pub use planted::{Planted, PlantedFault};

/// Journals that several owners open, and what can happen to an owner.
#[async_trait]
pub trait Bench: Send + Sync {
    /// Opens the journals once more, as another process would.
    async fn open(&self) -> Arc<dyn Store>;

    /// Has the owner of a run be lost without knowing it: its lease is in force no longer, as
    /// after an expiry.
    async fn kill(&self, run: &RunId);

    /// Has time pass, for the clock by which leases expire and runs are woken.
    async fn advance(&self, time: Duration);

    /// Returns how long a lease lasts unless it is renewed; nothing if it lasts as long as its
    /// owner.
    fn lasts(&self) -> Option<Duration> {
        None
    }

    /// Returns whether a gate that is closed in one of the stores is closed in all.
    fn shares_gates(&self) -> bool {
        true
    }

    /// Returns how long a hint may take. Nothing takes that long unless it is lost.
    fn limit(&self) -> Duration {
        Duration::from_secs(20)
    }
}

/// A rule that a store breaks.
#[derive(Debug, Eq, PartialEq)]
pub struct Broken {
    /// The rule.
    pub rule: &'static str,
    /// What was seen.
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.why)
    }
}

/// The result of a rule.
type Checked = Result<(), String>;
type Checking<'a> = Pin<Box<dyn Future<Output = Checked> + Send + 'a>>;
/// A rule, by name.
type Rule = (&'static str, for<'a> fn(&'a dyn Bench) -> Checking<'a>);

/// Checks every rule, each with runs of its own, and returns the first that is broken.
pub async fn check(bench: &dyn Bench) -> Result<(), Broken> {
    for (rule, checks) in rules::ALL {
        checks(bench).await.map_err(|why| Broken { rule, why })?;
    }
    Ok(())
}

/// Fails a rule with what was seen.
fn expect(holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(why()) }
}

/// Names an error of the store that no rule expects.
fn failed(error: StoreError) -> String {
    format!("the store failed: {error}")
}

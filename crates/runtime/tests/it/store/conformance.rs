//! Every store that ships keeps the rules of stores, and a store that breaks one is found out.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use pointsman_runtime::store::{MemoryStore, RunId, SqliteOptions, SqliteStore, Store};
use pointsman_testing::conformance::{Bench, Planted, PlantedFault, check};

use super::TempFolder;

struct Memory(MemoryStore, Option<Duration>);

#[async_trait]
impl Bench for Memory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn kill(&self, run: &RunId) {
        self.0.lose(run);
    }

    async fn advance(&self, time: Duration) {
        self.0.advance(time);
    }

    fn lasts(&self) -> Option<Duration> {
        self.1
    }
}

struct Sqlite {
    folder: TempFolder,
    inline_commit: bool,
    ahead_ms: Arc<AtomicU64>,
}

#[async_trait]
impl Bench for Sqlite {
    async fn open(&self) -> Arc<dyn Store> {
        let (inline_commit, poll) = (self.inline_commit, Duration::from_millis(5));
        let ahead_ms = Arc::clone(&self.ahead_ms);
        let options = SqliteOptions { inline_commit, poll, ahead_ms, ..SqliteOptions::default() };
        Arc::new(
            SqliteStore::open_with(&self.folder.journal(), &options).expect("the journal opens"),
        )
    }

    /// Removes the file that the owner has locked: the next owner locks another.
    async fn kill(&self, run: &RunId) {
        let lock = self.folder.0.join("deep/journal.db.holds").join(run.as_str());
        fs::remove_file(lock).expect("the owner has it");
    }

    async fn advance(&self, time: Duration) {
        let ms = time.as_millis().try_into().expect("it is not as long");
        self.ahead_ms.fetch_add(ms, Ordering::AcqRel);
    }

    /// A provider that refuses another process soon refuses this one, too.
    fn shares_gates(&self) -> bool {
        false
    }
}

/// A store with a fault, for every owner.
struct Faulty(MemoryStore, Arc<Planted>);

#[async_trait]
impl Bench for Faulty {
    async fn open(&self) -> Arc<dyn Store> {
        let Self(_, planted) = self;
        Arc::<Planted>::clone(planted)
    }

    async fn kill(&self, run: &RunId) {
        self.0.lose(run);
    }

    async fn advance(&self, time: Duration) {
        self.0.advance(time);
    }

    /// In memory a hint is there at once, or never.
    fn limit(&self) -> Duration {
        Duration::from_millis(50)
    }
}

#[tokio::test]
async fn journals_in_memory_keep_the_rules() {
    let minute = Duration::from_mins(1);
    for bench in
        [Memory(MemoryStore::new(), None), Memory(MemoryStore::expiring(minute), Some(minute))]
    {
        check(&bench).await.unwrap_or_else(|broken| panic!("{broken}"));
    }
}

#[tokio::test]
async fn journals_in_a_file_keep_the_rules() {
    for inline_commit in [false, true] {
        let (folder, ahead_ms) = (TempFolder::new("conformance"), Arc::default());
        let bench = Sqlite { folder, inline_commit, ahead_ms };
        check(&bench).await.unwrap_or_else(|broken| panic!("{broken}"));
    }
}

#[tokio::test]
async fn a_store_that_breaks_a_rule_is_found_out() {
    for (fault, rule) in [
        (PlantedFault::Unfenced, "an owner that was lost writes nothing"),
        (PlantedFault::UnfencedDiscard, "an owner that was lost discards no message"),
        (PlantedFault::SecondOwner, "one owner has a run at a time"),
        (PlantedFault::Silent, "a change is announced to other owners"),
        (PlantedFault::Blind, "entries follow each other along the chain"),
        (PlantedFault::NoBlob, "content is kept with its run"),
        (PlantedFault::LostDelay, "a run with an owner can be queued for later"),
        (PlantedFault::EarlyGate, "a gate is closed for all until its time"),
        (PlantedFault::LostDeferral, "a message that comes before a deferral is not lost"),
        (PlantedFault::LostWake, "a wake-up that comes with a release is not lost"),
        (PlantedFault::LostMessage, "a letter that comes between two owners is not lost"),
    ] {
        let store = MemoryStore::new();
        let planted = Planted::new(Arc::new(store.clone()), fault);
        let broken = check(&Faulty(store, Arc::new(planted))).await.expect_err("it is found");
        assert_eq!(broken.rule, rule, "{fault:?}: {broken}");
    }
}

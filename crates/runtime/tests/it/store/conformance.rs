//! Every store that ships keeps the rules of stores, and a store that breaks one is found out.

use std::{fs, sync::Arc, time::Duration};

use async_trait::async_trait;
use pointsman_runtime::store::{MemoryStore, Options, RunId, SqliteStore, Store};
use pointsman_testing::conformance::{Bench, Fault, Planted, check};

use super::Folder;

struct Memory(MemoryStore);

#[async_trait]
impl Bench for Memory {
    async fn open(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn lose(&self, run: &RunId) {
        self.0.lose(run);
    }
}

struct Sqlite {
    folder: Folder,
    inline_commit: bool,
}

#[async_trait]
impl Bench for Sqlite {
    async fn open(&self) -> Arc<dyn Store> {
        let (inline_commit, poll) = (self.inline_commit, Duration::from_millis(5));
        let options = Options { inline_commit, poll, ..Options::default() };
        Arc::new(SqliteStore::open_with(&self.folder.journal(), &options).expect("it opens"))
    }

    /// Removes the file that the owner has locked: the next owner locks another.
    async fn lose(&self, run: &RunId) {
        let hold = self.folder.0.join("deep/journal.db.holds").join(run.as_str());
        fs::remove_file(hold).expect("the owner has it");
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

    async fn lose(&self, run: &RunId) {
        self.0.lose(run);
    }

    /// In memory a hint is there at once, or never.
    fn limit(&self) -> Duration {
        Duration::from_millis(50)
    }
}

#[tokio::test]
async fn journals_in_memory_keep_the_rules() {
    check(&Memory(MemoryStore::new())).await.unwrap_or_else(|broken| panic!("{broken}"));
}

#[tokio::test]
async fn journals_in_a_file_keep_the_rules() {
    for inline_commit in [false, true] {
        let bench = Sqlite { folder: Folder::new("conformance"), inline_commit };
        check(&bench).await.unwrap_or_else(|broken| panic!("{broken}"));
    }
}

#[tokio::test]
async fn a_store_that_breaks_a_rule_is_found_out() {
    for (fault, rule) in [
        (Fault::Unfenced, "an owner that was lost writes nothing"),
        (Fault::SecondOwner, "one owner has a run at a time"),
        (Fault::Silent, "a change is announced to other owners"),
        (Fault::Blind, "entries follow each other along the chain"),
        (Fault::NoBlob, "content is kept with its run"),
        (Fault::LostLetter, "a letter that comes between two owners is not lost"),
    ] {
        let store = MemoryStore::new();
        let planted = Planted::new(Arc::new(store.clone()), fault);
        let broken = check(&Faulty(store, Arc::new(planted))).await.expect_err("it is found");
        assert_eq!(broken.rule, rule, "{fault:?}: {broken}");
    }
}

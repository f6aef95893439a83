//! The one writer of a store: entries of many runs go to the server in one statement, and are made
//! durable by one flush of its disk.

use std::{collections::BTreeSet, mem, sync::Arc};

use pointsman_runtime::store::{Append, Link, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::{
    append::{self, Waiting},
    checksum::signed,
    database::Database,
};

/// How many entries one statement has at most, and how many may wait.
const MOST: usize = 256;

/// An entry, and who waits for it: when its lease expires, or why it was not written.
pub(super) struct Job {
    pub(super) append: Arc<Append>,
    pub(super) link: Link,
    pub(super) epoch: u64,
    pub(super) answer: oneshot::Sender<Result<i64, StoreError>>,
}

/// Starts the writer. It ends with the last sender.
pub(super) fn start(database: Database, lease_ms: i64) -> mpsc::Sender<Job> {
    let (sender, jobs) = mpsc::channel(MOST);
    tokio::spawn(write(database, lease_ms, jobs));
    sender
}

async fn write(database: Database, lease_ms: i64, mut jobs: mpsc::Receiver<Job>) {
    let mut next: Vec<Job> = Vec::new();
    loop {
        let wanted = MOST.saturating_sub(next.len());
        if next.is_empty() {
            if jobs.recv_many(&mut next, wanted).await == 0 {
                return;
            }
        } else {
            while next.len() < MOST
                && let Ok(job) = jobs.try_recv()
            {
                next.push(job);
            }
        }
        // One entry of a run at a time: the second one needs the first.
        let mut runs = BTreeSet::new();
        let (batch, later): (Vec<Job>, Vec<Job>) =
            mem::take(&mut next).into_iter().partition(|job| runs.insert(job.append.run.clone()));
        next = later;
        let entries: Vec<Waiting<'_>> = batch
            .iter()
            .map(|Job { append, link, epoch, .. }| Waiting {
                append,
                link: *link,
                epoch: signed(*epoch),
            })
            .collect();
        let answers = append::append(&database, &entries, lease_ms).await;
        drop(entries);
        for (job, answer) in batch.into_iter().zip(answers) {
            // A caller that no longer waits reads the run instead.
            drop(job.answer.send(answer));
        }
    }
}

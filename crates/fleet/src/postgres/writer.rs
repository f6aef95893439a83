//! The writer of a store: entries of many runs go to the server in one statement, and are made
//! durable by one flush of its disk.

use std::{collections::BTreeSet, mem, sync::Arc, time::Duration};

use pointsman_runtime::{
    clock::boot_ms,
    store::{Append, Link, StoreError},
};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{
    append::{self, Waiting},
    checksum::signed,
    database::Database,
    rows::RowTypes,
};

/// How many entries one statement has at most, and how many may wait.
const MOST: usize = 256;

/// How many statements are in progress at a time: while the server executes the one, runs of the other
/// take their next step.
const LANES: usize = 2;

/// An entry, and who waits for it: when its lease expires, or why it was not written.
pub(super) struct Job {
    pub(super) append: Arc<Append>,
    pub(super) link: Link,
    pub(super) epoch: u64,
    /// Until when nobody else can have the run, by our own clock.
    pub(super) ends_ms: u64,
    pub(super) answer: oneshot::Sender<Result<i64, StoreError>>,
}

/// Starts the writer. It ends with the last sender.
pub(super) fn start(database: Database, types: RowTypes, lease_ms: i64) -> mpsc::Sender<Job> {
    let (sender, jobs) = mpsc::channel(MOST);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..LANES {
        tokio::spawn(write(database.clone(), types.clone(), lease_ms, Arc::clone(&jobs)));
    }
    sender
}

async fn write(
    database: Database,
    types: RowTypes,
    lease_ms: i64,
    jobs: Arc<Mutex<mpsc::Receiver<Job>>>,
) {
    let mut next: Vec<Job> = Vec::new();
    loop {
        let wanted = MOST.saturating_sub(next.len());
        if next.is_empty() {
            if jobs.lock().await.recv_many(&mut next, wanted).await == 0 {
                return;
            }
        } else if let Ok(mut jobs) = jobs.try_lock() {
            while next.len() < MOST
                && let Ok(job) = jobs.try_recv()
            {
                next.push(job);
            }
        }
        // Statements lock runs in the same order, so that they do not block each other.
        next.sort_by(|one, other| one.append.run.cmp(&other.append.run));
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
        // A server that restarts is waited for. An entry that is written late is fenced by its epoch,
        // and the next owner need not repeat what it says.
        let ends_ms = batch.iter().map(|job| job.ends_ms).max().unwrap_or_default();
        let left = Duration::from_millis(ends_ms.saturating_sub(boot_ms()));
        let answers = append::append(&database.patient(left), &types, &entries, lease_ms).await;
        drop(entries);
        for (job, answer) in batch.into_iter().zip(answers) {
            // A caller that no longer waits reads the run instead.
            drop(job.answer.send(answer));
        }
    }
}

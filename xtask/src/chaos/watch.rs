//! A watcher: a process that subscribes to the changes of a store, and writes down the entries that it
//! hears of.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, Result};
use pointsman_fleet::{PostgresOptions, PostgresStore};
use pointsman_runtime::store::{Change, Filter, Page, Store as _};
use tokio::runtime::Runtime;

use super::{LEASE, POLL};

/// How a watcher is started.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// The store.
    #[arg(long)]
    store: String,
    /// The list of entries.
    #[arg(long)]
    seen: PathBuf,
}

/// Opens a store, again and again until the server answers. Requests are given up long before a
/// lease ends.
pub(super) async fn open(url: &str, redis: Option<&str>) -> PostgresStore {
    let options = || PostgresOptions {
        lease: LEASE,
        deadline: LEASE / 2,
        poll: POLL,
        connections: 4,
        redis: redis.map(Into::into),
        ..PostgresOptions::default()
    };
    loop {
        match PostgresStore::open(url, options()).await {
            Ok(store) => return store,
            Err(_) => tokio::time::sleep(POLL).await,
        }
    }
}

/// Returns what tasks run on.
pub(super) fn threads() -> Result<Runtime> {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(2).enable_all().build().context("starting threads")
}

/// Watches until the standard input closes.
pub(crate) fn watch(options: &Options) -> Result<bool> {
    let threads = threads()?;
    let watching = threads.spawn(follow(options.store.clone(), options.seen.clone()));
    io::copy(&mut io::stdin(), &mut io::sink()).context("waiting for the end")?;
    watching.abort();
    threads.shutdown_timeout(Duration::ZERO);
    Ok(true)
}

async fn follow(url: String, seen: PathBuf) -> Result<()> {
    let seen = OpenOptions::new().append(true).open(seen).context("opening the list")?;
    let note = |run: &str, seq: u64| (&seen).write_all(format!("{run} {seq}\n").as_bytes());
    let store = open(&url, None).await;
    let mut changes = loop {
        match store.changes().await {
            Ok(changes) => break changes,
            Err(_) => tokio::time::sleep(POLL).await,
        }
    };
    // Nothing before the first change is known.
    let mut change = Change::Lagged;
    loop {
        match change {
            Change::Entry { run, seq } => note(run.as_str(), seq.0)?,
            Change::Lagged => loop {
                if let Ok(all) = store.list(&Filter::default(), &Page::first(usize::MAX)).await {
                    all.runs.iter().try_for_each(|row| note(row.id.as_str(), row.seq.0))?;
                    break;
                }
                tokio::time::sleep(POLL).await;
            },
            _ => {}
        }
        change = changes.next().await;
    }
}

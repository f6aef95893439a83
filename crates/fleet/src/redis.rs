//! Hints over Redis: that a run of the queue may have become ready.
//!
//! A hint says nothing but "look": the queue is in the database, and workers look there at intervals
//! anyway. So hints are acknowledged as soon as they are read, and those that are lost, with Redis
//! itself or with all it holds, cost no more than the time until the next look.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pointsman_runtime::store::{Change, Feed, StoreError};
use redis::{AsyncConnectionConfig, Client, RedisError, Value, aio::MultiplexedConnection, cmd};
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};

/// The stream, and the group of all workers: each hint goes to one of them.
const STREAM: &str = "pointsman:ready";
const GROUP: &str = "workers";
/// How many hints are kept for workers that are busy.
const KEPT: usize = 1_000;
/// How long one request waits for a hint, and how long any request may take.
const BLOCKS: Duration = Duration::from_secs(5);
const ANSWERS: Duration = Duration::from_secs(10);
/// The time between two tries to connect.
const RETRY: Duration = Duration::from_secs(1);
/// A process that has not looked for this long has ended, however it ended.
const ENDED_MS: i64 = 3_600_000;
/// At most one hint is given in this time.
const PAUSE: Duration = Duration::from_millis(20);

/// Gives hints to other processes, and takes theirs.
#[derive(Debug)]
pub(crate) struct Hints {
    client: Client,
    owner: String,
    given: mpsc::Sender<()>,
    listens: Arc<AtomicBool>,
    /// Whether a hint was taken since the last look.
    heard: Arc<AtomicBool>,
    /// Dropped with the store, which ends the taking of hints.
    ends: watch::Sender<()>,
}

impl Hints {
    /// Starts to give hints. Redis need not be there.
    pub(crate) fn start(url: &str, owner: &str) -> Result<Self, StoreError> {
        let client = Client::open(url).map_err(|error| StoreError::Other {
            run: None,
            seq: None,
            source: format!("the address of Redis cannot be used: {error}").into(),
        })?;
        let (given, hints) = mpsc::channel(1);
        tokio::spawn(give(client.clone(), hints));
        let (listens, heard) = (Arc::default(), Arc::default());
        let ends = watch::Sender::default();
        Ok(Self { client, owner: owner.to_owned(), given, listens, heard, ends })
    }

    /// Returns whether a hint has come since the last call: for the planted fault that waits for one.
    pub(crate) fn heard(&self) -> bool {
        self.heard.swap(false, Ordering::AcqRel)
    }

    /// Gives a hint. It never waits, and may come to nothing.
    pub(crate) fn give(&self) {
        // One that waits to be given stands for this one, too.
        let _: Result<(), _> = self.given.try_send(());
    }

    /// Takes hints from now on: for processes that claim runs.
    pub(crate) fn listen(&self, feed: &Feed) {
        if !self.listens.swap(true, Ordering::AcqRel) {
            let (feed, heard) = (feed.clone(), Arc::clone(&self.heard));
            let (client, owner, ended) =
                (self.client.clone(), self.owner.clone(), self.ends.subscribe());
            tokio::spawn(take(client, owner, feed, heard, ended));
        }
    }
}

async fn connect(client: &Client) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(ANSWERS))
        .set_response_timeout(Some(ANSWERS));
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Gives the hints of this process, until its store is dropped.
async fn give(client: Client, mut hints: mpsc::Receiver<()>) {
    let mut connection = None;
    while hints.recv().await.is_some() {
        if connection.is_none() {
            connection = connect(&client).await.ok();
        }
        if let Some(open) = &mut connection {
            let mut add = cmd("XADD");
            add.arg(STREAM).arg("MAXLEN").arg("~").arg(KEPT).arg("*").arg("ready").arg(1);
            if let Err(error) = add.query_async::<Value>(open).await {
                tracing::debug!(%error, "a notification was not sent");
                connection = None;
            }
        }
        sleep(PAUSE).await;
    }
}

/// Takes hints until the store is dropped.
async fn take(
    client: Client,
    owner: String,
    feed: Feed,
    heard: Arc<AtomicBool>,
    mut ended: watch::Receiver<()>,
) {
    let takes = async {
        loop {
            if let Err(error) = take_connected(&client, &owner, &feed, &heard).await {
                tracing::debug!(%error, "Redis is unavailable; workers poll the queue");
            }
            sleep(RETRY).await;
        }
    };
    tokio::select! {
        () = takes => {}
        // Nothing is ever sent: this is its sender's end.
        _ = ended.changed() => {}
    }
    if let Err(error) = leave(&client, &owner).await {
        tracing::debug!(%error, "a consumer was not removed; others remove it later");
    }
}

/// Removes the consumer of this process.
async fn leave(client: &Client, owner: &str) -> Result<(), RedisError> {
    let mut connection = connect(client).await?;
    remove(&mut connection, owner).await
}

/// Removes a consumer. A live one is made again when it takes the next hint: it has nothing to lose.
async fn remove(connection: &mut MultiplexedConnection, name: &str) -> Result<(), RedisError> {
    let mut remove = cmd("XGROUP");
    remove.arg("DELCONSUMER").arg(STREAM).arg(GROUP).arg(name);
    remove.query_async::<Value>(connection).await.map(drop)
}

/// Removes the consumers of processes that were killed.
async fn remove_ended(connection: &mut MultiplexedConnection) -> Result<(), RedisError> {
    let mut ask = cmd("XINFO");
    ask.arg("CONSUMERS").arg(STREAM).arg(GROUP);
    let consumers: Vec<HashMap<String, Value>> = ask.query_async(connection).await?;
    for consumer in consumers {
        let (name, idle) = (consumer.get("name"), consumer.get("idle"));
        if let (Some(Value::BulkString(name)), Some(Value::Int(ENDED_MS..))) = (name, idle) {
            remove(connection, &String::from_utf8_lossy(name)).await?;
        }
    }
    Ok(())
}

async fn take_connected(
    client: &Client,
    owner: &str,
    feed: &Feed,
    heard: &AtomicBool,
) -> Result<(), RedisError> {
    let mut connection = connect(client).await?;
    // There is no group yet in a stream that is new.
    if let Err(error) = remove_ended(&mut connection).await {
        tracing::debug!(%error, "consumers of ended processes could not be removed");
    }
    loop {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP").arg(GROUP).arg(owner).arg("COUNT").arg(16);
        read.arg("BLOCK").arg(u64::try_from(BLOCKS.as_millis()).unwrap_or(0)).arg("NOACK");
        read.arg("STREAMS").arg(STREAM).arg(">");
        match read.query_async::<Value>(&mut connection).await {
            Ok(Value::Nil) => {}
            Ok(_) => {
                heard.store(true, Ordering::Release);
                feed.send(Change::Queued);
            }
            // It is new, or was emptied.
            Err(error) if error.code() == Some("NOGROUP") => {
                let mut make = cmd("XGROUP");
                make.arg("CREATE").arg(STREAM).arg(GROUP).arg("$").arg("MKSTREAM");
                match make.query_async::<Value>(&mut connection).await {
                    Err(error) if error.code() != Some("BUSYGROUP") => return Err(error),
                    _ => feed.send(Change::Queued),
                }
            }
            Err(error) => return Err(error),
        }
    }
}

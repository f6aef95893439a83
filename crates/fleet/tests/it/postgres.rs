//! A separate database for each test, and the store in it.

mod changes;
mod children;
mod claims;
mod conformance;
mod deadlocks;
mod encryption;
mod hints;
mod leases;
mod opening;
mod outages;
mod protocol;
mod proxy;
mod removals;
mod unknown;

use std::{
    env,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use pointsman_fleet::{PostgresOptions, PostgresStore};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio_postgres::{Client, NoTls};

/// Tests run in parallel, except for one that measures: an open transaction delays vacuuming in
/// every database of the server.
static TURN: RwLock<()> = RwLock::const_new(());

#[expect(dead_code, reason = "a turn is only held")]
enum Turn {
    Beside(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

/// A database that is made for one test.
struct Fresh {
    /// Straight to the server.
    direct: String,
    name: String,
    _turn: Turn,
}

impl Fresh {
    /// Makes a database without tables.
    async fn empty() -> Self {
        Self::make(Turn::Beside(TURN.read().await)).await
    }

    async fn make(turn: Turn) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("t{}_{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        let server = server("POINTSMAN_POSTGRES_URL");
        let admin = connect(&format!("{server}/postgres")).await;
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("it is made");
        Self { direct: format!("{server}/{name}"), name, _turn: turn }
    }

    /// Makes a database with its tables.
    async fn new() -> Self {
        Self::empty().await.with_tables().await
    }

    /// Makes a database with its tables, while no other test has one.
    async fn alone() -> Self {
        Self::make(Turn::Alone(TURN.write().await)).await.with_tables().await
    }

    async fn with_tables(self) -> Self {
        PostgresStore::migrate(&self.direct).await.expect("the tables are made");
        self
    }

    /// Returns the way to it through the pooler.
    fn pooled(&self) -> String {
        format!("{}/{}", server("POINTSMAN_PGBOUNCER_URL"), self.name)
    }

    async fn client(&self) -> Client {
        connect(&self.direct).await
    }

    async fn open(&self, options: PostgresOptions) -> PostgresStore {
        PostgresStore::open(&self.direct, options).await.expect("it opens")
    }
}

/// Returns the beginning of URLs, as the tier says it.
fn server(variable: &str) -> String {
    env::var(variable).unwrap_or_else(|_| panic!("{variable} names no server"))
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it connects");
    tokio::spawn(connection);
    client
}

//! A database of its own for each test, and the store in it.

mod changes;
mod conformance;
mod leases;
mod opening;
mod proxy;
mod unknown;

use std::{
    env,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use pointsman_fleet::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};

/// A database that is made for one test.
struct Fresh {
    /// Straight to the server.
    direct: String,
    name: String,
}

impl Fresh {
    /// Makes a database without tables.
    async fn empty() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("t{}_{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        let server = server("POINTSMAN_POSTGRES_URL");
        let admin = connect(&format!("{server}/postgres")).await;
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("it is made");
        Self { direct: format!("{server}/{name}"), name }
    }

    /// Makes a database with its tables.
    async fn new() -> Self {
        let fresh = Self::empty().await;
        PostgresStore::migrate(&fresh.direct).await.expect("the tables are made");
        fresh
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

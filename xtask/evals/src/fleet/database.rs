//! Databases of the benchmark's server.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use pointsman_fleet::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};
use xtask::postgres::Postgres;

const REPORTED: Duration = Duration::from_secs(2);

/// Makes a database, and returns its address.
pub(super) async fn make(server: &Postgres, name: &str) -> Result<String> {
    let admin = connect(&format!("{}/postgres", server.url())).await?;
    admin.batch_execute(&format!("CREATE DATABASE {name}")).await.context("making a database")?;
    Ok(format!("{}/{name}", server.url()))
}

/// Makes a database with the tables of a fleet, and opens it as a worker does.
pub(super) async fn store(server: &Postgres, name: &str) -> Result<(String, Arc<PostgresStore>)> {
    let url = make(server, name).await?;
    PostgresStore::migrate(&url).await?;
    let store = PostgresStore::open(&url, PostgresOptions::default()).await?;
    Ok((url, Arc::new(store)))
}

/// Connects without the store.
pub(super) async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Updates of runs, and those that changed no index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Updates {
    all: i64,
    hot: i64,
}

impl Updates {
    /// Returns the share that changed no index since an earlier moment, in percent.
    #[expect(clippy::cast_precision_loss, reason = "figures of a few digits")]
    pub(super) fn hot_share(self, earlier: Self) -> f64 {
        100.0 * (self.hot - earlier.hot) as f64 / (self.all - earlier.all).max(1) as f64
    }
}

/// Returns the updates of runs until now.
pub(super) async fn updates(client: &Client) -> Result<Updates> {
    // Other connections report their counts within a second.
    tokio::time::sleep(REPORTED).await;
    let sql = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
               WHERE schemaname = 'pointsman' AND relname = 'run'";
    let row = client.query_one(sql, &[]).await?;
    Ok(Updates { all: row.get(0), hot: row.get(1) })
}

/// Inserts so many runs without a journal, all with this status, whose names begin with their key.
pub(super) async fn fill(client: &Client, key: &str, status: &str, runs: usize) -> Result<()> {
    let sql = "
        INSERT INTO pointsman.run (id, agent, chart, source, goal, created_ms, made_ms,
            fixed_checksum, seq, link, state, prompts, checksum, epoch, owner, expires_ms, wrote,
            key, rank, needs, status, back, claims, mail)
        SELECT $1::text || '-' || n, 'chat', 'chat', digest, 'wait', n, n, digest, 1, digest, 'waiting',
            0, digest, 1, '', 0, 0, $1, n, '', $2::text, $2, 0, 0
        FROM generate_series(1, $3::bigint) AS n, decode(repeat('07', 32), 'hex') AS digest";
    let runs = i64::try_from(runs)?;
    let filled = client.execute(sql, &[&key, &status, &runs]).await;
    filled.context("filling the table of runs")?;
    let key_row = "INSERT INTO pointsman.key (key, turns) VALUES ($1, 0) ON CONFLICT DO NOTHING";
    client.execute(key_row, &[&key]).await?;
    vacuum(client).await
}

/// Removes dead rows of the queue, and counts the others.
pub(super) async fn vacuum(client: &Client) -> Result<()> {
    client.batch_execute("VACUUM (ANALYZE) pointsman.run, pointsman.key").await?;
    Ok(())
}

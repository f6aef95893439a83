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

/// Returns the share of updates of runs that changed no index, in percent.
pub(super) async fn hot_share(client: &Client) -> Result<f64> {
    // Other connections report their counts within a second.
    tokio::time::sleep(REPORTED).await;
    let sql = "SELECT 100.0::float8 * n_tup_hot_upd / greatest(n_tup_upd, 1)
               FROM pg_stat_user_tables WHERE schemaname = 'pointsman' AND relname = 'run'";
    Ok(client.query_one(sql, &[]).await?.get(0))
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

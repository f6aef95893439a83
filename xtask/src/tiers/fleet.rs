//! The store of a fleet against a real PostgreSQL, straight and through a pooler, with Redis.

use anyhow::Result;

use super::ignored::{POSTGRES, run};
use crate::postgres::Postgres;

/// Runs the tests of the store.
pub(super) fn tier() -> Result<bool> {
    let postgres = Postgres::start()?;
    let (pooler, redis) = (postgres.pooler()?, postgres.redis()?);
    let hints = format!("redis://127.0.0.1:{}/", redis.port());
    let through = format!("postgres://postgres@127.0.0.1:{}", pooler.port());
    run(
        &[POSTGRES],
        &[
            ("POINTSMAN_POSTGRES_URL", postgres.url().as_ref()),
            ("POINTSMAN_PGBOUNCER_URL", through.as_ref()),
            ("POINTSMAN_REDIS_URL", hints.as_ref()),
        ],
    )
}

//! Shares runs between machines: journals and the queue in PostgreSQL, which does all the
//! coordination, and optional hints over Redis.
//!
//! ```no_run
//! # async fn open() -> Result<(), pointsman_runtime::store::StoreError> {
//! use pointsman_fleet::{PostgresOptions, PostgresStore};
//!
//! let url = "postgres://pointsman@db.example/pointsman";
//! PostgresStore::migrate(url).await?;
//! let store = PostgresStore::open(url, PostgresOptions::default()).await?;
//! # drop(store);
//! # Ok(())
//! # }
//! ```

mod postgres;
mod redis;

pub use postgres::{PostgresOptions, PostgresStore};

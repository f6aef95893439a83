//! The tables and their formats. A new format only adds, so workers of the previous one keep
//! running. A later format removes the old parts and raises `min_version`.

use pointsman_runtime::store::StoreError;
use tokio_postgres::types::Type;

use super::database::{Database, told};

/// The format that this build needs.
pub(super) const VERSION: i32 = 3;
/// The statements that lead to each format from the one before, and the oldest build that can use it.
const FORMATS: [(i32, i32, &str); 3] = [
    (1, 1, include_str!("tables.1.sql")),
    (2, 1, include_str!("tables.2.sql")),
    (3, 1, include_str!("tables.3.sql")),
];

/// The tables that say which format the others have.
const META: &str = "
CREATE SCHEMA IF NOT EXISTS pointsman;
CREATE TABLE IF NOT EXISTS pointsman.meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL,
    min_version integer NOT NULL
);
INSERT INTO pointsman.meta (version, min_version) VALUES (0, 0) ON CONFLICT DO NOTHING;
";

/// Creates missing tables in one transaction. A concurrent migration waits for it, and then has
/// nothing to do.
pub(super) async fn migrate(database: &Database) -> Result<i32, StoreError> {
    let mut connection =
        database.connection().await.map_err(|failure| database.unusable(failure.read(None)))?;
    let failed = |error: tokio_postgres::Error| database.unusable(told(&error));
    let transaction = connection.transaction().await.map_err(failed)?;
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('pointsman migrate', 0))";
    transaction.batch_execute(lock).await.map_err(failed)?;
    transaction.batch_execute(META).await.map_err(failed)?;
    let found = transaction.query_typed("SELECT version, min_version FROM pointsman.meta", &[]);
    let found = found.await.map_err(failed)?;
    let has = found.first().map_or((0, 0), |row| (row.get(0), row.get(1)));
    check_known(database, has)?;
    for (version, min_version, statements) in FORMATS {
        if version > has.0 {
            transaction.batch_execute(statements).await.map_err(failed)?;
            let set = "UPDATE pointsman.meta SET version = $1, min_version = $2";
            let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
                [(&version, Type::INT4), (&min_version, Type::INT4)];
            transaction.query_typed(set, &values).await.map_err(failed)?;
        }
    }
    transaction.commit().await.map_err(failed)?;
    Ok(VERSION.max(has.0))
}

/// Refuses tables that this build does not know, or that are not there yet.
pub(super) async fn check(database: &Database) -> Result<(), StoreError> {
    let there = database
        .read("SELECT to_regclass('pointsman.meta') IS NOT NULL", &[])
        .await
        .map_err(|failure| database.unusable(failure.read(None)))?;
    let unmade = || database.unusable("it has no tables yet: run `pointsman migrate`");
    if !there.first().is_some_and(|row| row.get(0)) {
        return Err(unmade());
    }
    let found = database.read("SELECT version, min_version FROM pointsman.meta", &[]).await;
    let found = found.map_err(|failure| database.unusable(failure.read(None)))?;
    let has = found.first().map_or((0, 0), |row| (row.get(0), row.get(1)));
    check_known(database, has)?;
    if has.0 < VERSION {
        let (found, needed) = (has.0, VERSION);
        let old = format!("its tables have format {found}, and this build needs {needed}");
        return Err(database.unusable(format!("{old}: run `pointsman migrate`")));
    }
    Ok(())
}

pub(super) fn check_known(database: &Database, has: (i32, i32)) -> Result<(), StoreError> {
    let (found, min) = has;
    if min > VERSION {
        let (found, known) = (found.into(), VERSION.into());
        return Err(StoreError::TooNew { path: database.path(), found, known });
    }
    Ok(())
}

/// Refuses a server that is too old, that isolates transactions in another way than the statements
/// need or, unless it may be `lossy`, one that may lose committed entries.
pub(super) async fn check_server(database: &Database, lossy: bool) -> Result<(), StoreError> {
    let asked = database
        .read(
            "SELECT current_setting('fsync'), current_setting('synchronous_commit'),
                    current_setting('server_version_num')::integer,
                    current_setting('default_transaction_isolation')",
            &[],
        )
        .await
        .map_err(|failure| database.unusable(failure.read(None)))?;
    let Some(row) = asked.first() else {
        return Err(database.unusable("the server does not report its settings"));
    };
    let (fsync, commit, version): (&str, &str, i32) = (row.get(0), row.get(1), row.get(2));
    if version < 130_000 {
        return Err(database.unusable("it is older than PostgreSQL 13"));
    }
    // A claim that finds a run changed by another one must read the row again, and not fail. Through a
    // pooler no session keeps a setting, so the role or the database must have it.
    let isolation: &str = row.get(3);
    if !matches!(isolation, "read committed" | "read uncommitted") {
        return Err(database.unusable(format!(
            "`default_transaction_isolation` is `{isolation}`: claims by several workers at once \
             would fail. Set it to `read committed` for the role or the database"
        )));
    }
    let unsafe_setting = match (fsync, commit) {
        _ if lossy => return Ok(()),
        ("off", _) => "`fsync` is off",
        (_, "off") => "`synchronous_commit` is off",
        (_, "local") => "`synchronous_commit` is local, so a standby may lack entries",
        _ => return Ok(()),
    };
    Err(database.unusable(format!(
        "{unsafe_setting}: the server can lose committed entries. Set it to `on`"
    )))
}

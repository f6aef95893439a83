//! Gates: providers of models that accept no requests for a while, for all workers of a database.

use std::time::Duration;

use pointsman_runtime::store::StoreError;
use tokio_postgres::types::Type;

use super::{
    checksum::{signed, unsigned},
    database::Database,
};

impl Database {
    /// Closes a gate for a time. One that is closed for longer stays so.
    pub(super) async fn close_gate(&self, name: &str, wait: Duration) -> Result<(), StoreError> {
        let sql = "INSERT INTO pointsman.gate (name, until_ms) VALUES ($1, pointsman.now_ms() + $2)
                   ON CONFLICT (name) DO UPDATE
                   SET until_ms = greatest(gate.until_ms, excluded.until_ms)";
        let wait = signed(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let closed = self.repeat(sql, &[(&name, Type::TEXT), (&wait, Type::INT8)]).await;
        closed.map(drop).map_err(|failure| failure.write(None, None))
    }

    /// Returns the gates that are closed, and for how long.
    pub(super) async fn gates(&self) -> Result<Vec<(Box<str>, Duration)>, StoreError> {
        let sql = "SELECT name, until_ms - pointsman.now_ms() FROM pointsman.gate
                   WHERE until_ms > pointsman.now_ms()";
        // Workers ask again soon.
        let closed = self.once().read(sql, &[]).await.map_err(|failure| failure.read(None))?;
        let gate = |row: &tokio_postgres::Row| {
            (row.get::<_, String>(0).into(), Duration::from_millis(unsigned(row.get(1))))
        };
        Ok(closed.iter().map(gate).collect())
    }
}

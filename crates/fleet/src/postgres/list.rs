//! Lists of runs, and a check of all of them.

use std::time::Duration;

use pointsman_runtime::store::{
    Cursor, Filter, Health, Page, QueueCounts, QueueStatus, RunList, RunRow, RunScope,
    StatusFilter, StoreDamage, StoreError,
};
use tokio_postgres::types::Type;

use super::{
    checksum::{signed, unsigned},
    database::{Database, Failure},
    read::{ROW, run_id, run_row},
};

/// The runs of the queue, counted. A run is ready as [`QueueCounts`] says, or since its owner was lost.
/// Ready and leased runs are found by their indexes; quarantined ones have none.
const COUNTS: &str = "
WITH now AS MATERIALIZED (
    SELECT pointsman.now_ms() AS ms
), ready AS (
    SELECT rank, wake_at, expires_ms, mail FROM pointsman.run WHERE status = 'ready'
    UNION ALL
    SELECT rank, wake_at, expires_ms, mail FROM pointsman.run
    WHERE status = 'timed' AND wake_at <= (SELECT ms FROM now)
    UNION ALL
    SELECT rank, wake_at, expires_ms, mail FROM pointsman.run
    WHERE status = 'leased' AND expires_ms <= (SELECT ms FROM now)
), since AS (
    SELECT greatest(ready.rank, ready.expires_ms, message.at_ms,
        CASE WHEN ready.wake_at <= (SELECT ms FROM now) THEN ready.wake_at END) AS since_ms
    FROM ready LEFT JOIN pointsman.message ON message.id = ready.mail
)
SELECT count(*), greatest((SELECT ms FROM now) - min(since_ms), 0),
    (SELECT count(*) FROM pointsman.run
        WHERE status = 'leased' AND expires_ms > (SELECT ms FROM now)),
    (SELECT count(*) FROM pointsman.run WHERE status = 'quarantined')
FROM since";

/// How many rows are asked for at a time.
const ROWS: usize = 1_000;

impl Database {
    /// Lists runs. The server filters as far as it can; the filter itself decides.
    pub(super) async fn list(&self, filter: &Filter, page: &Page) -> Result<RunList, StoreError> {
        let sql = format!(
            "SELECT {ROW}, made_ms FROM pointsman.run
             WHERE ($1::bigint IS NULL OR (made_ms, id) < ($1, $2))
                 AND ($3::text IS NULL OR agent = $3) AND ($4::text IS NULL OR chart = $4)
                 AND ($5::text IS NULL OR state = $5)
                 AND ($6::boolean IS NULL OR (ended IS NOT NULL) = $6)
                 AND ($7::text IS NULL OR ended = $7)
                 AND ($8::bigint IS NULL OR made_ms >= $8) AND ($9::bigint IS NULL OR made_ms < $9)
                 AND ($10::text IS NULL OR starts_with(id, $10))
                 AND ($12::text IS NULL OR key = $12)
                 AND ($13::text[] IS NULL OR status = ANY ($13))
                 AND ($14::bigint IS NULL OR ended IS NULL AND created_ms + (
                     SELECT (e.line::json ->> 'at')::bigint FROM pointsman.entry e
                     WHERE e.run = run.id AND e.seq = run.seq) < $14)
             ORDER BY made_ms DESC, id DESC LIMIT $11"
        );
        let (has_ended, ended) = match filter.status {
            None => (None, None),
            Some(StatusFilter::Open) => (Some(false), None),
            Some(StatusFilter::Ended) => (Some(true), None),
            Some(StatusFilter::EndedAs(how)) => (Some(true), Some(how.name())),
        };
        let prefix = match &filter.scope {
            RunScope::All | RunScope::Roots => None,
            RunScope::Descendants(run) => Some(format!("{run}-")),
            RunScope::Prefix(begin) => Some(begin.to_string()),
        };
        // The server would refuse such a text. No run has one.
        let texts =
            [&filter.agent, &filter.chart, &filter.state, &filter.key].map(Option::as_deref);
        if texts.into_iter().chain([prefix.as_deref()]).flatten().any(|it| it.contains('\0')) {
            return Ok(RunList::default());
        }
        let (from, before) = (filter.from_ms.map(signed), filter.before_ms.map(signed));
        let (idle, statuses) = (filter.idle_since_ms.map(signed), filter.queue.map(statuses));
        let mut list = RunList::default();
        let mut after = page.after.clone();
        // One more than asked for tells whether there is a next page.
        let rows = page.limit.saturating_add(1).min(ROWS);
        loop {
            let at = after.as_ref();
            let (made, id) = (at.map(|it| signed(it.made_ms)), at.map(|it| it.run.as_str()));
            let found = self
                .read(
                    &sql,
                    &[
                        (&made, Type::INT8),
                        (&id, Type::TEXT),
                        (&filter.agent.as_deref(), Type::TEXT),
                        (&filter.chart.as_deref(), Type::TEXT),
                        (&filter.state.as_deref(), Type::TEXT),
                        (&has_ended, Type::BOOL),
                        (&ended, Type::TEXT),
                        (&from, Type::INT8),
                        (&before, Type::INT8),
                        (&prefix, Type::TEXT),
                        (&signed(rows as u64), Type::INT8),
                        (&filter.key.as_deref(), Type::TEXT),
                        (&statuses, Type::TEXT_ARRAY),
                        (&idle, Type::INT8),
                    ],
                )
                .await
                .map_err(|failure| failure.read(None))?;
            for cells in &found {
                match run_row(cells) {
                    Ok(row) if filter.fits(&row) => {
                        if list.runs.len() == page.limit {
                            list.next = list.runs.last().map(RunRow::cursor);
                            return Ok(list);
                        }
                        list.runs.push(row);
                    }
                    Ok(_) => {}
                    Err(error) => list.damaged.push(error),
                }
            }
            let Some(end) = found.last().filter(|_| found.len() == rows) else { return Ok(list) };
            let made_ms = unsigned(end.get("made_ms"));
            after = Some(Cursor { made_ms, run: run_id(end.get("id"))? });
        }
    }

    /// Returns the damage: damaged rows, runs without their last entry, and rows without a run.
    pub(super) async fn check(&self) -> Result<Vec<StoreError>, StoreError> {
        let mut damaged = self.list(&Filter::default(), &Page::first(usize::MAX)).await?.damaged;
        let failed = |failure: Failure| failure.read(None);
        let torn = self
            .read(
                "SELECT r.id FROM pointsman.run r
                 LEFT JOIN pointsman.entry e ON e.run = r.id AND e.seq = r.seq
                 WHERE e.link IS DISTINCT FROM r.link OR e.checksum IS DISTINCT FROM r.checksum",
                &[],
            )
            .await
            .map_err(failed)?;
        let orphans = self
            .read(
                "SELECT DISTINCT e.run FROM pointsman.entry e
                 WHERE NOT EXISTS (SELECT FROM pointsman.run r WHERE r.id = e.run)",
                &[],
            )
            .await
            .map_err(failed)?;
        for (rows, damage) in [(torn, StoreDamage::Missing), (orphans, StoreDamage::Row)] {
            for row in rows {
                let run = Some(run_id(row.get(0))?);
                damaged.push(StoreError::Damaged { run, seq: None, damage: damage.clone() });
            }
        }
        Ok(damaged)
    }

    pub(super) async fn health(&self) -> Result<Health, StoreError> {
        let sql =
            "SELECT (SELECT count(*) FROM pointsman.run), (SELECT count(*) FROM pointsman.message),
                   pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";
        let found = self.once().read(sql, &[]).await.map_err(|failure| failure.read(None))?;
        let Some(row) = found.first() else { return Ok(Health::default()) };
        let only_read: bool = row.get(2);
        Ok(Health {
            runs: unsigned(row.get(0)),
            messages: unsigned(row.get(1)),
            unwritable: only_read.then(|| "the server is read-only".into()),
        })
    }

    /// Counts the runs of the queue by the status that lists show.
    pub(super) async fn queue_counts(&self) -> Result<QueueCounts, StoreError> {
        let found = self.once().read(COUNTS, &[]).await.map_err(|failure| failure.read(None))?;
        let Some(row) = found.first() else { return Ok(QueueCounts::default()) };
        Ok(QueueCounts {
            ready: unsigned(row.get(0)),
            lag: Duration::from_millis(unsigned(row.get(1))),
            leased: unsigned(row.get(2)),
            quarantined: unsigned(row.get(3)),
        })
    }
}

/// Returns the stored statuses of runs that may stand so: some change with time alone.
const fn statuses(status: QueueStatus) -> &'static [&'static str] {
    match status {
        QueueStatus::Ready => &["ready", "timed", "leased"],
        QueueStatus::Waiting => &["waiting", "timed"],
        QueueStatus::Leased => &["leased"],
        QueueStatus::Quarantined => &["quarantined"],
    }
}

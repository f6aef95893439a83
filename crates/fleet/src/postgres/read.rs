//! Reading runs, with their checksums checked.
//!
//! Entries are only ever added: a row that is read first, and then the entries that it counts,
//! show one moment.

use std::{collections::BTreeMap, sync::Arc};

use pointsman_kernel::id::{Digest, EffectId, Seq};
use pointsman_runtime::store::{
    EntryColumns, Link, PromptRow, QueuePlace, QueueStatus, RunId, RunRecord, RunRow, Snapshot,
    StoreDamage, StoreError,
};
use tokio_postgres::{Row, types::Type};

use super::{
    checksum::{self, Place, Tip, signed, unsigned},
    database::Database,
};

/// The columns of a run's row, for [`run_row`].
pub(super) const ROW: &str = "id, agent, chart, source, goal, created_ms, parent, parent_seq, request, \
    key, rank, needs, fixed_checksum, seq, link, state, ended, wake, prompts, checksum, fault, \
    CASE WHEN expires_ms > (SELECT pointsman.now_ms()) THEN nullif(owner, '') END AS owner, \
    CASE WHEN status = 'leased' AND expires_ms <= (SELECT pointsman.now_ms()) THEN 'ready' \
        WHEN status = 'timed' AND wake_at <= (SELECT pointsman.now_ms()) THEN 'ready' \
        WHEN status = 'timed' THEN 'waiting' ELSE status END AS status";

pub(super) fn damaged(run: &RunId, seq: Option<Seq>, damage: StoreDamage) -> StoreError {
    StoreError::Damaged { run: Some(run.clone()), seq, damage }
}

pub(super) fn run_id(text: &str) -> Result<RunId, StoreError> {
    text.parse().map_err(|_| StoreError::Damaged { run: None, seq: None, damage: StoreDamage::Row })
}

/// Returns a digest; one of another length is none that was ever written.
pub(super) fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().map_or_else(|_| Digest::default(), Digest)
}

/// Returns the row of a run, with the columns of [`ROW`].
pub(super) fn run_row(cells: &Row) -> Result<RunRow, StoreError> {
    let id = run_id(cells.get("id"))?;
    let torn = || damaged(&id, None, StoreDamage::Row);
    let parent: Option<&str> = cells.get("parent");
    let parent = parent.map(str::parse).transpose().map_err(|_| torn())?;
    let parent_seq: Option<i64> = cells.get("parent_seq");
    let (link, wake): (&[u8], Option<i64>) = (cells.get("link"), cells.get("wake"));
    let row = RunRow {
        id: id.clone(),
        agent: cells.get::<_, String>("agent").into(),
        chart: cells.get::<_, String>("chart").into(),
        source: digest(cells.get("source")),
        goal: cells.get::<_, String>("goal").into(),
        created_ms: unsigned(cells.get("created_ms")),
        forked: parent.zip(parent_seq.map(|seq| Seq(unsigned(seq)))),
        seq: Seq(unsigned(cells.get("seq"))),
        link: digest(link),
        state: cells.get::<_, String>("state").into(),
        ended: cells.get::<_, Option<String>>("ended").map(Into::into),
        wake: wake.map(unsigned),
        owner: cells.get::<_, Option<String>>("owner").map(Into::into),
        queue: queue_place(cells),
    };
    let place = Place {
        request: cells.get("request"),
        key: cells.get("key"),
        rank: cells.get("rank"),
        needs: cells.get("needs"),
    };
    let fixed = checksum::fixed(&row, &place)[..] == *cells.get::<_, &[u8]>("fixed_checksum");
    if fixed && tip(cells).checksum()[..] == *cells.get::<_, &[u8]>("checksum") {
        Ok(row)
    } else {
        Err(torn())
    }
}

fn queue_place(cells: &Row) -> Option<QueuePlace> {
    let key: Option<String> = cells.get("key");
    let (needs, status): (String, &str) = (cells.get("needs"), cells.get("status"));
    let status = QueueStatus::ALL.into_iter().find(|it| it.name() == status);
    let fault: Option<String> = cells.get("fault");
    Some(QueuePlace {
        key: key?.into(),
        needs: Some(needs).filter(|needs| !needs.is_empty()).map(Into::into),
        status,
        fault: fault.map(Into::into),
    })
}

fn tip(cells: &Row) -> Tip<'_> {
    Tip {
        seq: cells.get("seq"),
        state: cells.get("state"),
        ended: cells.get("ended"),
        wake: cells.get("wake"),
        prompts: cells.get("prompts"),
        link: cells.get("link"),
    }
}

/// An entry with its columns.
struct Entry {
    line: String,
    columns: EntryColumns,
}

impl Database {
    pub(super) async fn row(&self, run: &RunId) -> Result<RunRow, StoreError> {
        let sql = format!("SELECT {ROW} FROM pointsman.run WHERE id = $1");
        let found = self.read(&sql, &[(&run.as_str(), Type::TEXT)]).await;
        let found = found.map_err(|failure| failure.read(Some(run)))?;
        found.first().map_or_else(|| Err(StoreError::NoSuchRun { run: run.clone() }), run_row)
    }

    async fn about_run(&self, sql: &str, run: &RunId) -> Result<Vec<Row>, StoreError> {
        let found = self.read(sql, &[(&run.as_str(), Type::TEXT)]).await;
        found.map_err(|failure| failure.read(Some(run)))
    }

    /// Returns entries of a run whose row was read before.
    async fn entries(
        &self,
        row: &RunRow,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let run = &row.id;
        if after > row.seq {
            return Err(StoreError::NoSuchEntry { run: run.clone(), has: row.seq, asked: after });
        }
        let until = after.0.saturating_add(limit as u64).min(row.seq.0);
        let found = self
            .read(
                "SELECT seq, line, link, state, ended, wake, prompts, checksum
                 FROM pointsman.entry WHERE run = $1 AND seq > $2 AND seq <= $3 ORDER BY seq",
                &[
                    (&run.as_str(), Type::TEXT),
                    (&signed(after.0), Type::INT8),
                    (&signed(until), Type::INT8),
                ],
            )
            .await
            .map_err(|failure| failure.read(Some(run)))?;
        let mut entries = Vec::with_capacity(found.len());
        let mut prev = (after == Seq(0)).then(Digest::default);
        let mut found = found.iter();
        for number in after.0.saturating_add(1)..=until {
            let seq = Seq(number);
            let bad = |damage| Err(damaged(run, Some(seq), damage));
            let Some(cells) = found.next().filter(|it| it.get::<_, i64>(0) == signed(number))
            else {
                // A run that was removed meanwhile is not damaged.
                self.row(run).await?;
                return bad(StoreDamage::Missing);
            };
            let line: String = cells.get("line");
            let own = Digest::of(line.as_bytes());
            let follows = Link::of(&line)
                .is_some_and(|it| it.seq == seq && prev.is_none_or(|prev| prev == it.prev));
            let fits_row = seq != row.seq || own == row.link;
            if !follows || !fits_row || own != digest(cells.get("link")) {
                return bad(StoreDamage::Line);
            }
            prev = Some(own);
            let columns = EntryColumns {
                state: cells.get::<_, String>("state").into(),
                ended: cells.get::<_, Option<String>>("ended").map(Into::into),
                wake: cells.get::<_, Option<i64>>("wake").map(unsigned),
                prompts: unsigned(cells.get("prompts")),
                intact: tip(cells).checksum()[..] == *cells.get::<_, &[u8]>("checksum"),
            };
            entries.push(Entry { line, columns });
        }
        Ok(entries)
    }

    pub(super) async fn page(
        &self,
        run: &RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let row = self.row(run).await?;
        let entries = self.entries(&row, after, limit).await?;
        Ok(entries.into_iter().map(|entry| entry.line).collect())
    }

    pub(super) async fn journal(&self, run: &RunId) -> Result<(RunRow, Vec<String>), StoreError> {
        let row = self.row(run).await?;
        let entries = self.entries(&row, Seq(0), usize::MAX).await?;
        Ok((row, entries.into_iter().map(|entry| entry.line).collect()))
    }

    pub(super) async fn record(&self, run: &RunId, until: Seq) -> Result<RunRecord, StoreError> {
        let row = self.row(run).await?;
        let entries = self.entries(&row, Seq(0), usize::MAX).await?;
        let prompts = self.prompts(run, until.min(row.seq)).await;
        let (lines, columns) = entries.into_iter().map(|it| (it.line, it.columns)).unzip();
        Ok(RunRecord { row, lines, columns, prompts })
    }

    pub(super) async fn chart_source(&self, run: &RunId) -> Result<String, StoreError> {
        let sql =
            "SELECT chart.body FROM pointsman.run JOIN pointsman.chart ON chart.digest = run.source
                   WHERE run.id = $1";
        let row = self.row(run).await?;
        let found = self.about_run(sql, run).await?;
        let body = found.first().map(|it| it.get::<_, String>(0));
        body.filter(|body| Digest::of(body.as_bytes()) == row.source)
            .ok_or_else(|| damaged(run, None, StoreDamage::Artifact(row.source)))
    }

    pub(super) async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        let sql = "SELECT s.seq, s.link, s.body, s.checksum, e.link
                   FROM pointsman.snapshot s JOIN pointsman.entry e ON e.run = s.run AND e.seq = s.seq
                   WHERE s.run = $1";
        self.row(run).await?;
        let found = self.about_run(sql, run).await?;
        let Some(cells) = found.first() else { return Ok(None) };
        let (seq, link, body): (i64, &[u8], String) = (cells.get(0), cells.get(1), cells.get(2));
        let sum = checksum::snapshot(run.as_str(), seq, link, &body);
        let fits = sum[..] == *cells.get::<_, &[u8]>(3) && *link == *cells.get::<_, &[u8]>(4);
        let kept = || Snapshot { seq: Seq(unsigned(seq)), link: digest(link), body: body.into() };
        Ok(fits.then(kept))
    }

    pub(super) async fn prompts(
        &self,
        run: &RunId,
        until: Seq,
    ) -> Result<Vec<PromptRow>, StoreError> {
        let torn = || damaged(run, None, StoreDamage::Prompts);
        let found = self
            .read(
                "SELECT seq, idx, effect_seq, effect_index, parts, checksum,
                    (SELECT sum(e.prompts)::bigint FROM pointsman.entry e
                     WHERE e.run = $1 AND e.seq <= $2) AS wanted
                 FROM (SELECT) AS one LEFT JOIN pointsman.prompt ON run = $1 AND seq <= $2
                 ORDER BY seq, idx",
                &[(&run.as_str(), Type::TEXT), (&signed(until.0), Type::INT8)],
            )
            .await
            .map_err(|failure| failure.read(Some(run)))?;
        let wanted = found.first().and_then(|row| row.get::<_, Option<i64>>("wanted")).unwrap_or(0);
        let rows = found.iter().filter(|row| row.get::<_, Option<i64>>(0).is_some());
        let rows: Vec<&Row> = rows.collect();
        if signed(rows.len() as u64) != wanted {
            return Err(torn());
        }
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let kept = "SELECT digest, body FROM pointsman.part WHERE run = $1";
        let kept: BTreeMap<[u8; 32], Arc<str>> = self
            .about_run(kept, run)
            .await?
            .iter()
            .map(|row| (digest(row.get(0)).0, row.get::<_, String>(1).into()))
            .filter(|(digest, body): &(_, Arc<str>)| Digest::of(body.as_bytes()).0 == *digest)
            .collect();
        let prompt = |row: &Row| {
            let (seq, idx): (i64, i64) = (row.get(0), row.get(1));
            let (effect_seq, index): (i64, i64) = (row.get(2), row.get(3));
            let parts: &[u8] = row.get(4);
            let sum = checksum::prompt(seq, idx, (effect_seq, index), parts);
            if sum[..] != *row.get::<_, &[u8]>(5) {
                return Err(torn());
            }
            let part = |bytes: &[u8]| {
                let part = kept.get(&digest(bytes).0).cloned();
                part.ok_or_else(|| damaged(run, None, StoreDamage::Artifact(digest(bytes))))
            };
            let index = u16::try_from(index).map_err(|_| torn())?;
            let effect = EffectId { seq: Seq(unsigned(effect_seq)), index };
            let parts = parts.chunks(32).map(part).collect::<Result<_, _>>()?;
            Ok(PromptRow { seq: Seq(unsigned(seq)), effect, parts })
        };
        rows.into_iter().map(prompt).collect()
    }
}

//! Makes runs: new ones, and forks.

use std::sync::Arc;

use pointsman_kernel::id::{Digest, Seq};
use pointsman_runtime::{
    clock::boot_ms,
    store::{Append, Lease, NewRun, RunId, RunRow, StoreError},
};
use tokio_postgres::types::Type;

use super::{
    append::{Entries, Waiting},
    checksum::{self, Place, signed},
    database::{Database, Failure},
    lease::Keeper,
    read::run_id,
    rows::RowTypes,
};

/// The first entry of a run.
const INPUT: &str = "
WITH i AS (
    SELECT * FROM unnest($1)
), now AS MATERIALIZED (
    SELECT pointsman.now_ms() AS ms
)";

/// Stores that entry if its run is new, with its snapshot and prompts.
const TAIL: &str = "
, new_entry AS (
    INSERT INTO pointsman.entry
        (run, seq, epoch, line, link, state, ended, wake, prompts, checksum)
    SELECT run, seq, epoch, line, link, state, ended, wake, prompts, checksum FROM i JOIN ok USING (run)
), new_snapshot AS (
    INSERT INTO pointsman.snapshot (run, seq, link, body, checksum)
    SELECT run, seq, link, snapshot, snapshot_checksum FROM i JOIN ok USING (run)
    WHERE snapshot IS NOT NULL
    ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, link = excluded.link,
        body = excluded.body, checksum = excluded.checksum
), new_prompt AS (
    INSERT INTO pointsman.prompt (run, seq, idx, effect_seq, effect_index, parts, checksum)
    SELECT p.* FROM unnest($2) AS p JOIN ok USING (run)
), new_part AS (
    INSERT INTO pointsman.part (run, digest, body)
    SELECT b.* FROM unnest($3) AS b JOIN ok USING (run)
    ON CONFLICT DO NOTHING
)";

/// A run with its first entry, claimed by who makes it.
fn statement() -> String {
    format!(
        "{INPUT}, said AS MATERIALIZED (
    SELECT nextval('pointsman.message_id') AS id, t.body, t.checksum
    FROM unnest($18::text[], $19::bytea[]) AS t (body, checksum)
), ok AS (
    INSERT INTO pointsman.run (id, agent, chart, source, goal, created_ms, made_ms, parent,
        parent_seq, request, fixed_checksum, seq, link, state, ended, wake, prompts, checksum,
        epoch, owner, expires_ms, wrote, key, rank, needs, status, back, wake_at, claims, mail)
    SELECT run, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, seq, link, state, ended, wake,
        prompts, checksum, 1, $14, (SELECT ms FROM now) + $15, 0, $16, $17, $20,
        CASE WHEN ended IS NOT NULL THEN 'ended' WHEN $16 IS NULL THEN 'waiting' ELSE 'leased' END,
        CASE WHEN $16 IS NULL THEN 'waiting' WHEN $21 > (SELECT ms FROM now) THEN 'timed'
            ELSE 'ready' END,
        $21, 0, (SELECT coalesce(max(id), 0) FROM said)
    FROM i ON CONFLICT DO NOTHING
    RETURNING id AS run, expires_ms
), sent AS (
    INSERT INTO pointsman.message (id, run, body, at_ms, checksum)
    SELECT said.id, ok.run, said.body, $8, said.checksum FROM said, ok
), chart AS (
    INSERT INTO pointsman.chart (digest, body) SELECT $6, $22 FROM ok ON CONFLICT DO NOTHING
), key AS (
    INSERT INTO pointsman.key (key, turns) SELECT $16, 0 FROM ok WHERE $16 IS NOT NULL
    ON CONFLICT DO NOTHING
){TAIL}
SELECT run, expires_ms FROM ok"
    )
}

pub(super) async fn create(
    database: &Database,
    types: &RowTypes,
    keeper: &Arc<Keeper>,
    first: &Append,
    new: &NewRun,
) -> Result<Lease, StoreError> {
    let link = first.check_first(new)?;
    let mut entries = Entries::default();
    entries.add(&Waiting { append: first, link, epoch: 1 });
    let row = RunRow {
        id: first.run.clone(),
        agent: new.agent.clone(),
        chart: new.chart.clone(),
        source: Digest::of(new.source.as_bytes()),
        goal: new.goal.clone(),
        created_ms: new.created_ms,
        forked: new.forked.clone(),
        seq: first.seq,
        link: first.line.digest(),
        state: first.state.clone(),
        ended: None,
        wake: first.wake,
        owner: None,
        queue: None,
    };
    let queue = new.queue.as_ref();
    let place = Place {
        request: new.request.as_deref(),
        key: queue.map(|it| &*it.key),
        rank: queue.map_or(0, |it| it.rank(new.created_ms)),
        needs: queue.and_then(|it| it.needs.as_deref()).unwrap_or_default(),
    };
    let fixed = checksum::fixed(&row, &place).to_vec();
    let source = row.source.0.to_vec();
    let parent = row.forked.as_ref().map(|(run, _)| run.as_str());
    let parent_seq = row.forked.as_ref().map(|(_, seq)| signed(seq.0));
    let bodies: Vec<&str> = new.messages.iter().map(|body| &**body).collect();
    let sums = bodies.iter().map(|body| checksum::message(row.id.as_str(), body).to_vec());
    let sums: Vec<Vec<u8>> = sums.collect();
    let (created, made) = (signed(row.created_ms), signed(row.made_ms()));
    let not_before = queue.map(|it| signed(it.not_before_ms));
    let (asked, lasts) = (boot_ms(), keeper.lasts_ms());
    let (agent, chart, goal, text) = (&*new.agent, &*new.chart, &*new.goal, &*new.source);
    let owner = keeper.owner();
    let mut params = entries.params(types);
    params.extend_from_slice(&[
        (&agent, Type::TEXT),
        (&chart, Type::TEXT),
        (&source, Type::BYTEA),
        (&goal, Type::TEXT),
        (&created, Type::INT8),
        (&made, Type::INT8),
        (&parent, Type::TEXT),
        (&parent_seq, Type::INT8),
        (&place.request, Type::TEXT),
        (&fixed, Type::BYTEA),
        (&owner, Type::TEXT),
        (&lasts, Type::INT8),
        (&place.key, Type::TEXT),
        (&place.rank, Type::INT8),
        (&bodies, Type::TEXT_ARRAY),
        (&sums, Type::BYTEA_ARRAY),
        (&place.needs, Type::TEXT),
        (&not_before, Type::INT8),
        (&text, Type::TEXT),
    ]);
    let made = match database.write(&statement(), &params).await {
        Ok(made) => made,
        Err(failure) => {
            if matches!(failure, Failure::Unknown(_)) {
                keeper.unanswered(&row.id);
            }
            return Err(failure.write(Some(&row.id), Some(first.seq)));
        }
    };
    if let Some(cells) = made.first() {
        return Ok(keeper.grant(row.id, (1, cells.get(1), 0), asked));
    }
    let sql = "SELECT id FROM pointsman.run WHERE request = $1";
    let made = database.read(sql, &[(&place.request, Type::TEXT)]).await;
    let made = made.map_err(|failure| failure.read(Some(&row.id)))?;
    match made.first() {
        Some(found) => Err(StoreError::Repeated { run: run_id(found.get(0))? }),
        None => Err(StoreError::RunExists { run: row.id }),
    }
}

/// A fork copies the entries it shares, so its parent can be removed.
const FORK: &str = "
WITH made AS (
    INSERT INTO pointsman.run (id, agent, chart, source, goal, created_ms, made_ms, parent,
        parent_seq, request, fixed_checksum, seq, link, state, ended, wake, prompts, checksum,
        epoch, owner, expires_ms, wrote, key, rank, needs, status, back, wake_at, claims, mail)
    SELECT $3, r.agent, r.chart, r.source, r.goal, $4, $5, r.id, e.seq, NULL, $6, e.seq, e.link,
        e.state, e.ended, e.wake, e.prompts, e.checksum, 0, '', 0, 0, NULL, 0, '',
        CASE WHEN e.ended IS NULL THEN 'waiting' ELSE 'ended' END, 'waiting', NULL, 0, 0
    FROM pointsman.run r JOIN pointsman.entry e ON e.run = r.id AND e.seq = $2
    WHERE r.id = $1 ON CONFLICT DO NOTHING RETURNING id
), entries AS (
    INSERT INTO pointsman.entry (run, seq, epoch, line, link, state, ended, wake, prompts, checksum)
    SELECT made.id, seq, epoch, line, link, state, ended, wake, prompts, checksum
    FROM pointsman.entry, made WHERE run = $1 AND seq <= $2
), prompts AS (
    INSERT INTO pointsman.prompt (run, seq, idx, effect_seq, effect_index, parts, checksum)
    SELECT made.id, seq, idx, effect_seq, effect_index, parts, checksum
    FROM pointsman.prompt, made WHERE run = $1 AND seq <= $2
), parts AS (
    INSERT INTO pointsman.part (run, digest, body)
    SELECT made.id, digest, body FROM pointsman.part, made WHERE run = $1
), blobs AS (
    INSERT INTO pointsman.blob (run, digest, bytes)
    SELECT made.id, digest, bytes FROM pointsman.blob, made WHERE run = $1
)
SELECT id FROM made";

pub(super) async fn fork(
    database: &Database,
    parent: &RunId,
    at: Seq,
    child: RunId,
    created_ms: u64,
) -> Result<(), StoreError> {
    let row = database.row(parent).await?;
    if at == Seq(0) || at > row.seq {
        return Err(StoreError::NoSuchEntry { run: parent.clone(), has: row.seq, asked: at });
    }
    let forked = Some((parent.clone(), at));
    let row = RunRow { id: child, created_ms, forked, seq: at, ..row };
    let place = Place { request: None, key: None, rank: 0, needs: "" };
    let fixed = checksum::fixed(&row, &place).to_vec();
    let made = database
        .write(
            FORK,
            &[
                (&parent.as_str(), Type::TEXT),
                (&signed(at.0), Type::INT8),
                (&row.id.as_str(), Type::TEXT),
                (&signed(created_ms), Type::INT8),
                (&signed(row.made_ms()), Type::INT8),
                (&fixed, Type::BYTEA),
            ],
        )
        .await
        .map_err(|failure| failure.write(Some(&row.id), Some(at)))?;
    if made.is_empty() {
        database.row(parent).await?;
        return Err(StoreError::RunExists { run: row.id });
    }
    Ok(())
}

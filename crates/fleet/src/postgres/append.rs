//! Entries as columns, and the one statement that writes them.

use std::collections::BTreeSet;

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use pointsman_runtime::store::{Append, Link, MessageId, RunId, StoreError};
use tokio_postgres::types::{ToSql, Type};

use super::{
    checksum::{self, Tip, signed, unsigned},
    database::{Database, Failure},
};

/// The entries, at most one for each run; their prompts; and the parts of those.
pub(super) const INPUT: &str = "
WITH i AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[],
        $6::bytea[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bytea[],
        $12::bigint[], $13::boolean[], $14::text[], $15::bytea[])
    AS t (run, epoch, seq, line, prev, link, state, ended, wake, prompts, checksum, message,
        progress, snapshot, snapshot_checksum)
), now AS MATERIALIZED (
    SELECT pointsman.now_ms() AS ms
)";

/// Stores the entries of the runs in `ok`, with their snapshots and prompts.
pub(super) const TAIL: &str = "
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
    SELECT p.* FROM unnest($16::text[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[],
        $21::bytea[], $22::bytea[])
    AS p (run, seq, idx, effect_seq, effect_index, parts, checksum) JOIN ok USING (run)
), new_part AS (
    INSERT INTO pointsman.part (run, digest, body)
    SELECT b.* FROM unnest($23::text[], $24::bytea[], $25::text[]) AS b (run, digest, body)
    JOIN ok USING (run)
    ON CONFLICT DO NOTHING
)";

/// A message is locked before its run, and taken only if its entry is written. A lease lasts as long
/// again with every entry, so that a renewal can pass over runs that are being written to.
fn statement() -> String {
    format!(
        "{INPUT}, m AS (
    SELECT message.id FROM pointsman.message JOIN i ON message.id = i.message AND message.run = i.run
    FOR UPDATE OF message
), ok AS (
    UPDATE pointsman.run r SET
        seq = i.seq, link = i.link, state = i.state, ended = i.ended, wake = i.wake,
        prompts = i.prompts, checksum = i.checksum, wrote = i.epoch,
        expires_ms = (SELECT ms FROM now) + $26::bigint,
        claims = CASE WHEN i.progress THEN 0 ELSE r.claims END,
        status = CASE WHEN i.ended IS NULL THEN r.status ELSE 'ended' END
    FROM i
    WHERE r.id = i.run AND r.epoch = i.epoch AND r.seq = i.seq - 1 AND r.link = i.prev
        AND (i.message IS NULL OR i.message IN (SELECT id FROM m))
    RETURNING r.id AS run, r.expires_ms
), taken AS (
    DELETE FROM pointsman.message USING i JOIN ok USING (run)
    WHERE message.run = i.run AND (message.id = i.message OR i.ended IS NOT NULL)
){TAIL}
SELECT run, expires_ms FROM ok"
    )
}

/// One entry that waits to be written.
#[derive(Debug)]
pub(super) struct Waiting<'a> {
    pub(super) append: &'a Append,
    pub(super) link: Link,
    pub(super) epoch: i64,
}

/// Entries as the statement takes them.
#[derive(Default)]
pub(super) struct Entries<'a> {
    run: Vec<&'a str>,
    epoch: Vec<i64>,
    seq: Vec<i64>,
    line: Vec<&'a str>,
    prev: Vec<Vec<u8>>,
    link: Vec<Vec<u8>>,
    state: Vec<&'a str>,
    ended: Vec<Option<&'static str>>,
    wake: Vec<Option<i64>>,
    prompts: Vec<i64>,
    checksum: Vec<Vec<u8>>,
    message: Vec<Option<i64>>,
    progress: Vec<bool>,
    snapshot: Vec<Option<&'a str>>,
    snapshot_checksum: Vec<Option<Vec<u8>>>,
    prompt_run: Vec<&'a str>,
    prompt_seq: Vec<i64>,
    prompt_idx: Vec<i64>,
    prompt_effect_seq: Vec<i64>,
    prompt_effect_index: Vec<i64>,
    prompt_parts: Vec<Vec<u8>>,
    prompt_checksum: Vec<Vec<u8>>,
    part_run: Vec<&'a str>,
    part_digest: Vec<Vec<u8>>,
    part_body: Vec<&'a str>,
}

impl<'a> Entries<'a> {
    pub(super) fn add(&mut self, entry: &Waiting<'a>) {
        let Waiting { append, link, epoch } = entry;
        let (run, seq) = (append.run.as_str(), signed(append.seq.0));
        let digest = Digest::of(append.line.as_bytes()).0;
        let (ended, wake) = (append.ended.map(Disposition::name), append.wake.map(signed));
        let prompts = i64::try_from(append.prompts.len()).unwrap_or(i64::MAX);
        let tip = Tip { seq, state: &append.state, ended, wake, prompts, link: &digest };
        self.run.push(run);
        self.epoch.push(*epoch);
        self.seq.push(seq);
        self.line.push(&append.line);
        self.prev.push(link.prev.0.to_vec());
        self.link.push(digest.to_vec());
        self.state.push(&append.state);
        self.ended.push(ended);
        self.wake.push(wake);
        self.prompts.push(prompts);
        self.checksum.push(tip.checksum().to_vec());
        self.message.push(append.message.map(MessageId::number));
        self.progress.push(is_progress(&append.line));
        let snapshot = append.snapshot.as_deref();
        self.snapshot.push(snapshot);
        let sum = snapshot.map(|body| checksum::snapshot(run, seq, &digest, body).to_vec());
        self.snapshot_checksum.push(sum);
        let mut added = BTreeSet::new();
        for (idx, prompt) in (0..).zip(&append.prompts) {
            let mut parts = Vec::with_capacity(prompt.parts.len().saturating_mul(32));
            for part in &prompt.parts {
                let digest = Digest::of(part.as_bytes()).0;
                parts.extend_from_slice(&digest);
                if added.insert(digest) {
                    self.part_run.push(run);
                    self.part_digest.push(digest.to_vec());
                    self.part_body.push(part);
                }
            }
            let effect = (signed(prompt.effect.seq.0), i64::from(prompt.effect.index));
            self.prompt_run.push(run);
            self.prompt_seq.push(seq);
            self.prompt_idx.push(idx);
            self.prompt_effect_seq.push(effect.0);
            self.prompt_effect_index.push(effect.1);
            self.prompt_checksum.push(checksum::prompt(seq, idx, effect, &parts).to_vec());
            self.prompt_parts.push(parts);
        }
    }

    /// Returns the first parameters of a statement that begins with [`INPUT`].
    pub(super) fn params(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        vec![
            (&self.run, Type::TEXT_ARRAY),
            (&self.epoch, Type::INT8_ARRAY),
            (&self.seq, Type::INT8_ARRAY),
            (&self.line, Type::TEXT_ARRAY),
            (&self.prev, Type::BYTEA_ARRAY),
            (&self.link, Type::BYTEA_ARRAY),
            (&self.state, Type::TEXT_ARRAY),
            (&self.ended, Type::TEXT_ARRAY),
            (&self.wake, Type::INT8_ARRAY),
            (&self.prompts, Type::INT8_ARRAY),
            (&self.checksum, Type::BYTEA_ARRAY),
            (&self.message, Type::INT8_ARRAY),
            (&self.progress, Type::BOOL_ARRAY),
            (&self.snapshot, Type::TEXT_ARRAY),
            (&self.snapshot_checksum, Type::BYTEA_ARRAY),
            (&self.prompt_run, Type::TEXT_ARRAY),
            (&self.prompt_seq, Type::INT8_ARRAY),
            (&self.prompt_idx, Type::INT8_ARRAY),
            (&self.prompt_effect_seq, Type::INT8_ARRAY),
            (&self.prompt_effect_index, Type::INT8_ARRAY),
            (&self.prompt_parts, Type::BYTEA_ARRAY),
            (&self.prompt_checksum, Type::BYTEA_ARRAY),
            (&self.part_run, Type::TEXT_ARRAY),
            (&self.part_digest, Type::BYTEA_ARRAY),
            (&self.part_body, Type::TEXT_ARRAY),
        ]
    }
}

/// Writes entries, and returns for each when its lease now expires, or why it was not written. One
/// that is refused leaves the others alone.
pub(super) async fn append(
    database: &Database,
    entries: &[Waiting<'_>],
    lease_ms: i64,
) -> Vec<Result<i64, StoreError>> {
    let mut columns = Entries::default();
    for entry in entries {
        columns.add(entry);
    }
    let mut params = columns.params();
    params.push((&lease_ms, Type::INT8));
    let written = match database.write(&statement(), &params).await {
        Ok(rows) => rows,
        Err(Failure::Refused(source)) if entries.len() > 1 => {
            tracing::debug!(%source, "entries are written one by one");
            let mut answers = Vec::with_capacity(entries.len());
            for entry in entries.chunks(1) {
                answers.extend(Box::pin(append(database, entry, lease_ms)).await);
            }
            return answers;
        }
        Err(failure) => {
            let told = |entry: &Waiting<'_>| {
                Err(failure.again().write(Some(&entry.append.run), Some(entry.append.seq)))
            };
            return entries.iter().map(told).collect();
        }
    };
    let mut answers = Vec::with_capacity(entries.len());
    for entry in entries {
        let row = written.iter().find(|row| row.get::<_, &str>(0) == entry.append.run.as_str());
        answers.push(match row {
            Some(row) => Ok(row.get(1)),
            None => Err(why_not(database, entry).await),
        });
    }
    answers
}

/// Reads why an entry was not written.
async fn why_not(database: &Database, entry: &Waiting<'_>) -> StoreError {
    let Waiting { append, link, epoch } = entry;
    let run: &RunId = &append.run;
    let sql = "SELECT epoch, seq, link FROM pointsman.run WHERE id = $1";
    let found = match database.read(sql, &[(&run.as_str(), Type::TEXT)]).await {
        Ok(found) => found,
        Err(failure) => return failure.read(Some(run)),
    };
    let (run, seq) = (run.clone(), append.seq);
    let Some(row) = found.first() else { return StoreError::NoSuchRun { run } };
    let (has_epoch, at, has): (i64, i64, &[u8]) = (row.get(0), row.get(1), row.get(2));
    let at = Seq(unsigned(at));
    if has_epoch != *epoch {
        StoreError::Fenced { run }
    } else if at.next() != seq {
        StoreError::Conflict { run, at, wanted: seq }
    } else if *has != link.prev.0 {
        StoreError::Unfit { run, seq, why: "it does not follow the run's last entry".into() }
    } else if let Some(message) = append.message {
        StoreError::NoSuchMessage { message }
    } else {
        StoreError::Busy { run: Some(run), seq: Some(seq) }
    }
}

/// Returns whether an entry is progress. Interruptions and pauses are not: a run that is claimed five
/// times without any other entry is quarantined.
fn is_progress(line: &str) -> bool {
    let event = line.split_once("\"event\":{\"").map_or("", |(_, event)| event);
    !["interrupted\"", "paused\"", "lifted\""].iter().any(|stop| event.starts_with(stop))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_no_progress() {
        for (event, wants) in [
            (r#"{"begun":{"chart":"chat"}}"#, true),
            (r#"{"interrupted":{"effects":[]}}"#, false),
            (r#"{"paused":{"why":"\"event\":{\"begun\""}}"#, false),
            (r#"{"lifted":{"by":"parent"}}"#, false),
            (r#"{"answered":{"text":"\"event\":{\"paused\""}}"#, true),
        ] {
            let line = format!(r#"{{"v":1,"seq":2,"at":7,"event":{event},"prev":"0"}}"#);
            assert_eq!(is_progress(&line), wants, "{line}");
        }
    }
}

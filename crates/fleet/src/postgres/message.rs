//! Messages and content of runs.

use std::ops::Range;

use pointsman_kernel::id::Digest;
use pointsman_runtime::store::{Lease, MailboxMessage, MessageId, RunId, StoreDamage, StoreError};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use super::{
    checksum::{self, signed, unsigned},
    database::{Database, Params},
    read::{damaged, run_id},
};

/// The run's row is locked before the message gets its number, so that a higher number is never
/// committed before a lower one. It also records the mail, so a concurrent release does not park the run.
const SEND: &str = "
WITH r AS (
    UPDATE pointsman.run SET
        mail = nextval('pointsman.message_id'),
        status = CASE WHEN key IS NOT NULL AND status IN ('waiting', 'timed') THEN 'ready'
            ELSE status END,
        back = CASE WHEN status = 'leased' AND back <> 'quarantined' THEN 'ready' ELSE back END
    WHERE id = $1 RETURNING id, mail
)
INSERT INTO pointsman.message (id, run, body, at_ms, checksum)
SELECT mail, id, $2, pointsman.now_ms(), $3 FROM r RETURNING id";

/// A run that its owner still has: its lease is the last one, and was not given up.
const OWNED: &str = "
SELECT r.id FROM pointsman.run r WHERE r.id = $1 AND r.epoch = $2
    AND NOT (r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended'))";

/// Only the owner of a run can tell that no entry will take a message. Otherwise one that was suspended
/// past its lease would throw away what the next owner has yet to read. The message is locked before its
/// run, as by an entry.
const DISCARD: &str = "
WITH m AS (
    SELECT id FROM pointsman.message WHERE id = $3 AND run = $1 FOR UPDATE
), owned AS (
    SELECT r.id FROM pointsman.run r WHERE r.id = $1 AND r.epoch = $2
        AND NOT (r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended'))
        AND EXISTS (SELECT FROM m)
    FOR SHARE
)
DELETE FROM pointsman.message USING owned
WHERE message.id = $3 AND message.run = owned.id RETURNING message.id";

impl Database {
    pub(super) async fn send(&self, run: &RunId, body: &str) -> Result<MessageId, StoreError> {
        let sum = checksum::message(run.as_str(), body).to_vec();
        let sent = self
            .write(SEND, &[(&run.as_str(), Type::TEXT), (&body, Type::TEXT), (&sum, Type::BYTEA)])
            .await
            .map_err(|failure| failure.write(Some(run), None))?;
        let sent = sent.first().map(|row| MessageId::new(row.get(0)));
        sent.ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    pub(super) async fn discard(
        &self,
        lease: &Lease,
        message: MessageId,
    ) -> Result<(), StoreError> {
        let (run, epoch, number) = (lease.run(), signed(lease.epoch()), message.number());
        let owner = [(&run.as_str() as &(dyn ToSql + Sync), Type::TEXT), (&epoch, Type::INT8)];
        let both = [owner.as_slice(), &[(&number, Type::INT8)]].concat();
        let gone = self.write(DISCARD, &both).await;
        if !gone.map_err(|failure| failure.write(Some(run), None))?.is_empty() {
            return Ok(());
        }
        let found = self.read(OWNED, &owner).await;
        if found.map_err(|failure| failure.read(Some(run)))?.is_empty() {
            return Err(StoreError::Fenced { run: run.clone() });
        }
        Err(StoreError::NoSuchMessage { message })
    }

    /// Returns the messages that wait for a run, or for any.
    pub(super) async fn messages(
        &self,
        run: Option<&RunId>,
    ) -> Result<Vec<MailboxMessage>, StoreError> {
        let sql = "SELECT id, run, body, at_ms, checksum FROM pointsman.message
                   WHERE $1::text IS NULL OR run = $1 ORDER BY id";
        let found = self.read(sql, &[(&run.map(RunId::as_str), Type::TEXT)]).await;
        let found = found.map_err(|failure| failure.read(run))?;
        found.iter().map(message).collect()
    }

    pub(super) async fn put_blob(&self, run: &RunId, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        let sql = "WITH r AS (SELECT id FROM pointsman.run WHERE id = $1 FOR KEY SHARE), b AS (
                       INSERT INTO pointsman.blob (run, digest, bytes) SELECT id, $2, $3 FROM r
                       ON CONFLICT DO NOTHING)
                   SELECT id FROM r";
        let name = digest.0.to_vec();
        let params: Params<'_> =
            &[(&run.as_str(), Type::TEXT), (&name, Type::BYTEA), (&bytes, Type::BYTEA)];
        let kept = self.write(sql, params).await;
        let kept = kept.map_err(|failure| failure.write(Some(run), None))?;
        if kept.is_empty() {
            return Err(StoreError::NoSuchRun { run: run.clone() });
        }
        Ok(digest)
    }

    pub(super) async fn blob(
        &self,
        run: &RunId,
        digest: &Digest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, StoreError> {
        let found = self
            .read(
                "SELECT bytes FROM pointsman.blob WHERE run = $1 AND digest = $2",
                &[(&run.as_str(), Type::TEXT), (&digest.0.to_vec(), Type::BYTEA)],
            )
            .await
            .map_err(|failure| failure.read(Some(run)))?;
        let Some(row) = found.first() else {
            self.row(run).await?;
            return Err(StoreError::NoSuchBlob { run: run.clone(), digest: *digest });
        };
        let bytes: &[u8] = row.get(0);
        if Digest::of(bytes) != *digest {
            return Err(damaged(run, None, StoreDamage::Artifact(*digest)));
        }
        let at = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        Ok(bytes.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec())
    }
}

fn message(row: &Row) -> Result<MailboxMessage, StoreError> {
    let run = run_id(row.get(1))?;
    let (body, sum): (String, &[u8]) = (row.get(2), row.get(4));
    if checksum::message(run.as_str(), &body)[..] != *sum {
        return Err(damaged(&run, None, StoreDamage::Messages));
    }
    let at_ms = unsigned(row.get(3));
    Ok(MailboxMessage { id: MessageId::new(row.get(0)), run, body: body.into(), at_ms })
}

//! Entries as columns, and the call of the function that writes them.

use std::{borrow::Cow, collections::BTreeSet};

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use pointsman_runtime::{
    entry::event_name,
    plant,
    store::{
        Append, Link, MessageId, RunId, StoreError,
        protocol::{AppendCheck, JournalTip},
    },
};
use tokio_postgres::types::{ToSql, Type};

use super::{
    checksum::{self, Tip, signed, unsigned},
    database::{Database, Failure},
};

/// The function that writes entries, as `migrate` makes it.
const FUNCTION: &str = include_str!("tables.2.sql");
/// Its part that refuses an entry of an earlier owner.
const FENCE: &str =
    "r.epoch = i.epoch AND NOT (r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended'))";
/// The call of it.
const CALL: &str =
    "SELECT * FROM pointsman.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
    $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)";
/// A run of the queue that was given up, or whose lease was seen to expire.
const GIVEN_UP: &str = "r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended')";

fn statement() -> Cow<'static, str> {
    if plant::is("no-epoch") { unfenced().into() } else { CALL.into() }
}

/// Returns the statement of the function, without its fence.
fn unfenced() -> String {
    let (_, after) = FUNCTION.split_once("RETURN QUERY").unwrap_or_default();
    let (statement, _) = after.split_once(';').unwrap_or_default();
    statement.replace(FENCE, "true")
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

    /// Returns the parameters, in the order in which the function takes them.
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
            tracing::debug!(%source, "the batch was refused; writing the entries one by one");
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
    let sql = format!("SELECT epoch, seq, link, {GIVEN_UP} FROM pointsman.run r WHERE id = $1");
    let found = match database.read(&sql, &[(&run.as_str(), Type::TEXT)]).await {
        Ok(found) => found,
        // An earlier try may have written it.
        Err(failure) => {
            let (run, seq) = (Some(run.clone()), Some(append.seq));
            let why = format!("the reason cannot be read: {}", failure.read(None));
            return StoreError::Unknown { run, seq, why };
        }
    };
    let (run, seq) = (run.clone(), append.seq);
    let Some(row) = found.first() else { return StoreError::NoSuchRun { run } };
    let (epoch_of_row, at, link_of_row): (i64, i64, &[u8]) = (row.get(0), row.get(1), row.get(2));
    let (epoch_of_row, at) = (unsigned(epoch_of_row), unsigned(at));
    let tip = JournalTip { epoch: epoch_of_row, given_up: row.get(3), seq: at, link: link_of_row };
    match tip.judge(unsigned(*epoch), seq.0, &&link.prev.0[..]) {
        AppendCheck::Fenced => StoreError::Fenced { run },
        AppendCheck::Conflict => StoreError::Conflict { run, at: Seq(at), wanted: seq },
        AppendCheck::Unfit => {
            StoreError::Unfit { run, seq, why: "it does not follow the run's last entry".into() }
        }
        AppendCheck::Follows => match append.message {
            Some(message) => StoreError::NoSuchMessage { message },
            None => StoreError::Busy { run: Some(run), seq: Some(seq) },
        },
    }
}

/// Returns whether an entry is progress. Interruptions and pauses are not: a run that is claimed five
/// times without any other entry is quarantined.
fn is_progress(line: &str) -> bool {
    !matches!(event_name(line), Some("interrupted" | "paused" | "lifted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the tier that plants this fault would plant none.
    #[test]
    fn the_planted_fault_lacks_the_fence_alone() {
        assert_eq!(FUNCTION.matches(FENCE).count(), 1);
        let planted = unfenced();
        assert!(planted.trim_start().starts_with("WITH i AS"), "{planted}");
        assert!(planted.ends_with("SELECT run, expires_ms FROM ok"), "{planted}");
        assert!(!planted.contains("r.epoch"), "{planted}");
        assert!(FENCE.contains(GIVEN_UP));
    }

    #[test]
    fn stopping_is_not_progress() {
        for (event, wants) in [
            (r#"{"begun":{"chart":"chat"}}"#, true),
            (r#"{"interrupted":{"effects":[]}}"#, false),
            (r#" { "paused" : {"why":"\"event\":{\"begun\""}}"#, false),
            (r#"{"lifted":{"by":"parent"}}"#, false),
            (r#"{"answered":{"text":"\"event\":{\"paused\""}}"#, true),
            (r#""woke""#, true),
        ] {
            let zeros = "0".repeat(64);
            let line = format!(
                r#"{{"v":1,"seq":2,"at":7,"event":{event},"hops":[],"effects":"{zeros}","prev":"{zeros}"}}"#
            );
            assert!(event_name(&line).is_some(), "{line}");
            assert_eq!(is_progress(&line), wants, "{line}");
        }
    }
}

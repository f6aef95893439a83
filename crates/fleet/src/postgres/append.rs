//! Entries as rows, and the call of the function that writes them.

use std::collections::BTreeSet;

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use pointsman_runtime::{
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
    rows::{Cell, RowTypes, Rows},
};

/// The types and the function that writes entries, as `migrate` makes them.
const FUNCTION: &str = include_str!("tables.3.sql");
/// Its part that refuses an entry of an earlier owner.
const FENCE: &str =
    "r.epoch = i.epoch AND NOT (r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended'))";
/// The calls of it, and of the one without that part.
const CALL: &str = "SELECT * FROM pointsman.append($1, $2, $3, $4, $5)";
const CALL_UNFENCED: &str = "SELECT * FROM pointsman.append_unfenced($1, $2, $3, $4, $5)";
/// A run of the queue that was given up, or whose lease was seen to expire.
const GIVEN_UP: &str = "r.key IS NOT NULL AND r.status NOT IN ('leased', 'ended')";

/// Makes the function without its fence, where that fault is planted.
pub(super) async fn plant_unfenced(database: &Database) -> Result<(), StoreError> {
    if plant::is("no-epoch") {
        let made = database.write(&unfenced(), &[]).await;
        made.map_err(|failure| database.unusable(failure.write(None, None)))?;
    }
    Ok(())
}

/// Returns the statement that makes the function without its fence. Several workers make it at a time.
fn unfenced() -> String {
    let (_, function) =
        FUNCTION.split_once("CREATE FUNCTION pointsman.append(").unwrap_or_default();
    let function = function.replace(FENCE, "true");
    format!(
        "DO $do$ BEGIN PERFORM pg_advisory_xact_lock(1);
         CREATE OR REPLACE FUNCTION pointsman.append_unfenced({function} END $do$"
    )
}

/// One entry that waits to be written.
#[derive(Debug)]
pub(super) struct Waiting<'a> {
    pub(super) append: &'a Append,
    pub(super) link: Link,
    pub(super) epoch: i64,
}

/// Entries as statements take them.
#[derive(Default)]
pub(super) struct Entries {
    rows: Rows,
    prompts: Rows,
    parts: Rows,
}

impl Entries {
    pub(super) fn add(&mut self, entry: &Waiting<'_>) {
        let Waiting { append, link, epoch } = entry;
        let (run, seq) = (append.run.as_str(), signed(append.seq.0));
        let digest = append.line.digest().0;
        let (ended, wake) = (append.ended.map(Disposition::name), append.wake.map(signed));
        let prompts = i64::try_from(append.prompts.len()).unwrap_or(i64::MAX);
        let tip = Tip { seq, state: &append.state, ended, wake, prompts, link: &digest };
        let snapshot = append.snapshot.as_deref();
        let sum = snapshot.map(|body| checksum::snapshot(run, seq, &digest, body));
        self.rows.add(&[
            Cell::Text(Some(run)),
            Cell::Number(Some(*epoch)),
            Cell::Number(Some(seq)),
            Cell::Text(Some(&append.line)),
            Cell::Bytes(Some(&link.prev.0)),
            Cell::Bytes(Some(&digest)),
            Cell::Text(Some(&append.state)),
            Cell::Text(ended),
            Cell::Number(wake),
            Cell::Number(Some(prompts)),
            Cell::Bytes(Some(&tip.checksum())),
            Cell::Number(append.message.map(MessageId::number)),
            Cell::Flag(append.line.is_progress()),
            Cell::Text(snapshot),
            Cell::Bytes(sum.as_ref().map(<[u8; 16]>::as_slice)),
        ]);
        let mut added = BTreeSet::new();
        for (idx, prompt) in (0..).zip(&append.prompts) {
            let mut parts = Vec::with_capacity(prompt.parts.len().saturating_mul(32));
            for part in &prompt.parts {
                let digest = Digest::of(part.as_bytes()).0;
                parts.extend_from_slice(&digest);
                if added.insert(digest) {
                    self.parts.add(&[
                        Cell::Text(Some(run)),
                        Cell::Bytes(Some(&digest)),
                        Cell::Text(Some(part)),
                    ]);
                }
            }
            let effect = (signed(prompt.effect.seq.0), i64::from(prompt.effect.index));
            self.prompts.add(&[
                Cell::Text(Some(run)),
                Cell::Number(Some(seq)),
                Cell::Number(Some(idx)),
                Cell::Number(Some(effect.0)),
                Cell::Number(Some(effect.1)),
                Cell::Bytes(Some(&parts)),
                Cell::Bytes(Some(&checksum::prompt(seq, idx, effect, &parts))),
            ]);
        }
    }

    /// Returns the parameters, in the order in which statements take them.
    pub(super) fn params(&self, types: &RowTypes) -> Vec<(&(dyn ToSql + Sync), Type)> {
        vec![
            (&self.rows, types.entries.clone()),
            (&self.prompts, types.prompts.clone()),
            (&self.parts, types.parts.clone()),
        ]
    }
}

/// Writes entries, and returns for each when its lease now expires, or why it was not written. One
/// that is refused leaves the others alone.
pub(super) async fn append(
    database: &Database,
    types: &RowTypes,
    entries: &[Waiting<'_>],
    lease_ms: i64,
) -> Vec<Result<i64, StoreError>> {
    let mut batch = Entries::default();
    for entry in entries {
        batch.add(entry);
    }
    let takes = entries.iter().any(|entry| entry.append.message.is_some());
    let mut params = batch.params(types);
    params.extend_from_slice(&[(&lease_ms, Type::INT8), (&takes, Type::BOOL)]);
    let call = if plant::is("no-epoch") { CALL_UNFENCED } else { CALL };
    let written = match database.write(call, &params).await {
        Ok(rows) => rows,
        Err(Failure::Refused(source)) if entries.len() > 1 => {
            tracing::debug!(%source, "the batch was refused; writing the entries one by one");
            let mut answers = Vec::with_capacity(entries.len());
            for entry in entries.chunks(1) {
                answers.extend(Box::pin(append(database, types, entry, lease_ms)).await);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the tier that plants this fault would plant none.
    #[test]
    fn the_planted_fault_lacks_the_fence_alone() {
        assert_eq!(FUNCTION.matches(FENCE).count(), 1);
        let planted = unfenced();
        assert!(planted.contains("append_unfenced(\n    pointsman.new_entry[]"), "{planted}");
        assert!(planted.ends_with("$append$;\n END $do$"), "{planted}");
        assert!(!planted.contains("r.epoch"), "{planted}");
        assert!(FENCE.contains(GIVEN_UP));
    }
}

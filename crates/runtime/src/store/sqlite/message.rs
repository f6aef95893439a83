//! Messages, as their table keeps them.

use rusqlite::Connection;

use super::{
    MailboxMessage, MessageId, RunId, SqliteReader, StoreDamage, StoreError,
    checksum::{self, Checksum, unsigned},
    manifest::Manifest,
    read,
};

impl SqliteReader {
    /// Returns the messages that wait for a run, the oldest first.
    pub fn messages(&self, run: &RunId) -> Result<Vec<MailboxMessage>, StoreError> {
        let messages = self.read(|connection| all(connection, Some(run)))?;
        Ok(messages.into_iter().filter(|message| message.run == *run).collect())
    }

    /// Returns the last message that was sent to any run; none if that is damaged, which is reported
    /// where messages are read.
    pub(super) fn last_message(&self) -> MessageId {
        let manifest = self.read(Manifest::read);
        MessageId(manifest.map_or(0, |manifest| manifest.messages))
    }

    /// Returns the messages that wait, for any run, the oldest first.
    pub fn all_messages(&self) -> Result<Vec<MailboxMessage>, StoreError> {
        self.read(|connection| all(connection, None))
    }
}

/// Reads all waiting messages: they are few, and can only be verified together. A damaged one
/// affects only its run, if that is known.
fn all(connection: &Connection, asked: Option<&RunId>) -> Result<Vec<MailboxMessage>, StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let mut query = connection
        .prepare_cached("SELECT id, run, body, at_ms, seal FROM letter ORDER BY id")
        .map_err(fail)?;
    let mut found = query.query([]).map_err(fail)?;
    let (mut messages, mut damaged) = (Vec::new(), 0_usize);
    while let Some(row) = found.next().map_err(fail)? {
        let read = || -> rusqlite::Result<_> {
            let run: String = row.get(1)?;
            let body: String = row.get(2)?;
            Ok((row.get::<_, i64>(0)?, run, body, row.get::<_, i64>(3)?, Checksum(row.get(4)?)))
        };
        let (id, run, body, at_ms, intact) = read().map_err(fail)?;
        if checksum::message(id, &run, &body, at_ms) != intact {
            let run = RunId::from_row(run);
            let anothers = asked.is_some_and(|asked| run != *asked);
            if anothers && read::run(connection, &run).is_ok() {
                damaged = damaged.saturating_add(1);
                continue;
            }
            return Err(StoreError::damaged(Some(run), None, StoreDamage::Messages));
        }
        messages.push(MailboxMessage {
            id: MessageId(id),
            run: RunId::from_row(run),
            body: body.into(),
            at_ms: unsigned(at_ms),
        });
    }
    if i64::try_from(messages.len().saturating_add(damaged))
        == Ok(Manifest::read(connection)?.waiting)
    {
        Ok(messages)
    } else {
        Err(StoreError::damaged(None, None, StoreDamage::Messages))
    }
}

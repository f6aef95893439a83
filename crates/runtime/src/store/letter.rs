//! Letters: what another process has to say to a run, kept until the run takes it.

use pointsman_kernel::{body::Body, event::Event};
use rusqlite::{Connection, params};

use super::{
    Answer, Damage, LetterId, RunId, Store, StoreError, Work,
    book::Book,
    gone, read,
    seal::{self, Seal, unsigned},
};
use crate::clock::now_ms;

/// A letter that waits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Letter {
    /// Its number.
    pub id: LetterId,
    /// The run that it is for.
    pub run: RunId,
    /// What it says.
    pub body: Box<str>,
    /// When it was posted, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Letter {
    /// Reads the event that it brings.
    pub fn event(&self) -> Result<Event<Body>, serde_json::Error> {
        serde_json::from_str(&self.body)
    }
}

impl Store {
    /// Posts a letter to a run; it is on disk when this returns.
    pub async fn post(&self, run: &RunId, body: &str) -> Result<LetterId, StoreError> {
        let work = Work::Post { run: run.clone(), body: body.into(), at_ms: now_ms() };
        match self.ask(work).await? {
            Answer::Posted(letter) => Ok(letter),
            _ => Err(gone()),
        }
    }

    /// Removes a letter that no entry will take.
    pub async fn discard(&self, letter: LetterId) -> Result<(), StoreError> {
        self.ask(Work::Discard(letter)).await.map(drop)
    }

    /// Returns the letters that wait for a run, the oldest first.
    pub fn letters(&self, run: &RunId) -> Result<Vec<Letter>, StoreError> {
        let letters = self.readers.read(|connection| all(connection, Some(run)))?;
        Ok(letters.into_iter().filter(|letter| letter.run == *run).collect())
    }

    /// Returns the letters that wait, for whatever run, the oldest first.
    pub(crate) fn all_letters(&self) -> Result<Vec<Letter>, StoreError> {
        self.readers.read(|connection| all(connection, None))
    }

    /// Returns whether a letter still waits.
    pub fn has_letter(&self, letter: LetterId) -> Result<bool, StoreError> {
        Ok(self.all_letters()?.iter().any(|found| found.id == letter))
    }

    /// Returns something that tells whether the journal has changed, for next to nothing.
    pub fn watch(&self) -> Result<Watch, StoreError> {
        let mut watch = Watch { connection: self.readers.open()?, seen: 0 };
        watch.changed()?;
        Ok(watch)
    }
}

/// Reads all that wait: they are few, and only together can they be checked. One that is
/// damaged concerns its run alone, if it can be told whose it is.
fn all(connection: &Connection, asked: Option<&RunId>) -> Result<Vec<Letter>, StoreError> {
    let fail = |source| StoreError::reading(None, source);
    let mut query = connection
        .prepare_cached("SELECT id, run, body, at_ms, seal FROM letter ORDER BY id")
        .map_err(fail)?;
    let mut found = query.query([]).map_err(fail)?;
    let (mut letters, mut damaged) = (Vec::new(), 0_usize);
    while let Some(row) = found.next().map_err(fail)? {
        let read = || -> rusqlite::Result<_> {
            let run: String = row.get(1)?;
            let body: String = row.get(2)?;
            Ok((row.get::<_, i64>(0)?, run, body, row.get::<_, i64>(3)?, Seal(row.get(4)?)))
        };
        let (id, run, body, at_ms, sealed) = read().map_err(fail)?;
        if seal::letter(id, &run, &body, at_ms) != sealed {
            let run = RunId::from_row(run);
            let anothers = asked.is_some_and(|asked| run != *asked);
            if anothers && read::run(connection, &run).is_ok() {
                damaged = damaged.saturating_add(1);
                continue;
            }
            return Err(StoreError::damaged(Some(run), None, Damage::Letters));
        }
        letters.push(Letter {
            id: LetterId(id),
            run: RunId::from_row(run),
            body: body.into(),
            at_ms: unsigned(at_ms),
        });
    }
    if i64::try_from(letters.len().saturating_add(damaged)) == Ok(Book::read(connection)?.waiting) {
        Ok(letters)
    } else {
        Err(StoreError::damaged(None, None, Damage::Letters))
    }
}

/// Tells whether anybody has written to the journal, this process included.
#[derive(Debug)]
pub struct Watch {
    connection: Connection,
    seen: i64,
}

impl Watch {
    /// Returns whether the journal has changed since the last call.
    pub fn changed(&mut self) -> Result<bool, StoreError> {
        let version = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut query| query.query_row(params![], |row| row.get(0)))
            .map_err(|source| StoreError::reading(None, source))?;
        let changed = version != self.seen;
        self.seen = version;
        Ok(changed)
    }
}

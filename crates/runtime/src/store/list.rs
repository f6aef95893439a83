//! The list of runs: those that are whole, and what is damaged.

use rusqlite::Connection;

use super::{
    RunId, RunRow, Store, StoreError,
    book::Book,
    read::{COLUMNS, checked},
};

/// The runs of a journal.
#[derive(Debug, Default)]
pub struct Listed {
    /// Those that are whole, the newest first.
    pub runs: Vec<RunRow>,
    /// What is damaged: the rows of runs, or the list itself. The others are as they were
    /// written all the same.
    pub damaged: Vec<StoreError>,
}

impl Store {
    /// Returns every run, the newest first. A list that lacks a run is damage, too.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let Listed { runs, damaged } = self.list()?;
        damaged.into_iter().next().map_or(Ok(runs), Err)
    }

    /// Returns the runs that are whole, and what is damaged: one row must not hide all the
    /// others.
    pub fn list(&self) -> Result<Listed, StoreError> {
        self.readers.read(list)
    }
}

fn list(connection: &Connection) -> Result<Listed, StoreError> {
    let fail = |source| StoreError::reading(None, source);
    // They are put in order here, because SQLite would have to read them all for the first.
    let mut query =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM run")).map_err(fail)?;
    let mut found = query.query([]).map_err(fail)?;
    let (mut listed, mut ids) = (Listed::default(), Vec::new());
    loop {
        match found.next() {
            Ok(Some(row)) => match checked(row) {
                Ok(row) => {
                    ids.push(row.id.clone());
                    listed.runs.push(row);
                }
                Err(error) => {
                    ids.extend(error.run().cloned());
                    listed.damaged.push(damage(error)?);
                }
            },
            Ok(None) => {
                let checked = Book::read(connection).and_then(|book| book.check(&ids));
                if let Err(error) = checked {
                    listed.damaged.push(damage(error)?);
                }
                break;
            }
            Err(source) => {
                listed.damaged.push(damage(fail(source))?);
                break;
            }
        }
    }
    let newest = |row: &RunRow| std::cmp::Reverse((row.made_ms(), row.id.clone()));
    listed.runs.sort_by_cached_key(newest);
    Ok(listed)
}

/// Returns an error that tells of damage; any other ends the reading.
fn damage(error: StoreError) -> Result<StoreError, StoreError> {
    if matches!(error, StoreError::Damaged { .. }) { Ok(error) } else { Err(error) }
}

impl StoreError {
    /// Returns the run that is damaged, where this tells of damage and knows it.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Damaged { run, .. } => run.as_ref(),
            _ => None,
        }
    }
}

//! The list of runs: those that are whole, and what is damaged.

use rusqlite::Connection;

use super::{
    super::{Listed, StoreError},
    Reader,
    book::Book,
    read::{COLUMNS, checked},
};

impl Reader {
    /// Returns the runs that are whole, and what is damaged: one row must not hide all the
    /// others.
    pub fn list(&self) -> Result<Listed, StoreError> {
        self.read(list)
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
    listed.sort();
    Ok(listed)
}

/// Returns an error that tells of damage; any other ends the reading.
fn damage(error: StoreError) -> Result<StoreError, StoreError> {
    if matches!(error, StoreError::Damaged { .. }) { Ok(error) } else { Err(error) }
}

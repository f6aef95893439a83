//! Which run is meant: an id, a beginning that only one id has, or `last`.

use std::str::FromStr;

use pointsman_runtime::store::{NoRunId, RunId, RunRow, Store};

use crate::report::Error;

/// What people type for a run.
#[derive(Clone, Debug)]
pub(crate) struct Which(RunId);

impl FromStr for Which {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<Self, NoRunId> {
        text.parse().map(Self)
    }
}

impl Which {
    /// Finds the run.
    pub(crate) fn find(&self, store: &Store) -> Result<RunRow, Error> {
        let typed = self.0.as_str();
        let runs = store.runs().map_err(Error::Store)?;
        // A child is its parent's: nobody who says `last` means it.
        let newest = runs.iter().find(|row| !row.id.is_child()).filter(|_| typed == "last");
        let exact = || runs.iter().find(|row| row.id == self.0);
        if let Some(row) = newest.or_else(exact) {
            return Ok(row.clone());
        }
        let mut fits = runs.iter().filter(|row| row.id.as_str().starts_with(typed));
        match (fits.next(), fits.next()) {
            (Some(row), None) => Ok(row.clone()),
            (None, _) => Err(Error::NoSuchRun { typed: typed.into(), none: runs.is_empty() }),
            (Some(one), Some(two)) => {
                let mut ids = vec![one.id.to_string(), two.id.to_string()];
                ids.extend(fits.map(|row| row.id.to_string()));
                Err(Error::SeveralRuns { typed: typed.into(), ids })
            }
        }
    }
}

//! Which run is meant: an id, a beginning that only one id has, or `last`.

use std::str::FromStr;

use pointsman_runtime::{
    session::Session,
    store::{Filter, NoRunId, Page, RunId, RunList, RunRow, RunScope, StoreError},
};

use crate::{notify::note, report::Error};

/// What people type for a run.
#[derive(Clone, Debug)]
pub(crate) struct RunArgument(RunId);

impl FromStr for RunArgument {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<Self, NoRunId> {
        text.parse().map(Self)
    }
}

/// A run that was found.
enum Found {
    Whole(Box<RunRow>),
    Damaged(RunId, StoreError),
}

impl RunArgument {
    /// Finds the run.
    pub(crate) fn find(&self, session: &Session) -> Result<RunRow, Error> {
        match self.look(session)? {
            Found::Whole(row) => Ok(*row),
            Found::Damaged(_, error) => Err(Error::Store(error)),
        }
    }

    /// Finds the run's id, in any state.
    pub(crate) fn id(&self, session: &Session) -> Result<RunId, Error> {
        Ok(match self.look(session)? {
            Found::Whole(row) => row.id,
            Found::Damaged(id, _) => id,
        })
    }

    fn look(&self, session: &Session) -> Result<Found, Error> {
        let typed = self.0.as_str();
        if typed != "last" {
            // A run that is named by its full id is found, even if others are damaged.
            match session.block_on(session.store().run(&self.0)) {
                Ok(row) => return Ok(Found::Whole(Box::new(row))),
                Err(error) if error.run() == Some(&self.0) => {
                    return Ok(Found::Damaged(self.0.clone(), error));
                }
                Err(StoreError::NoSuchRun { .. } | StoreError::Damaged { .. }) => {}
                Err(error) => return Err(Error::Store(error)),
            }
        }
        let list = |scope, limit| {
            let filter = Filter { scope, ..Filter::default() };
            let page = Page::first(limit);
            session.block_on(session.store().list(&filter, &page)).map_err(Error::Store)
        };
        if typed == "last" {
            return newest(list(RunScope::Roots, 1)?);
        }
        let none = || Ok(list(RunScope::All, 1)?.runs.is_empty());
        self.beginning(list(RunScope::Prefix(typed.into()), usize::MAX)?, none)
    }

    /// Finds the run whose id begins so.
    fn beginning(
        &self,
        listed: RunList,
        none: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<Found, Error> {
        let typed = self.0.as_str();
        let damage = !listed.damaged.is_empty();
        let whole = listed.runs.into_iter().map(|row| Found::Whole(Box::new(row)));
        let damaged = listed
            .damaged
            .into_iter()
            .filter_map(|error| error.run().cloned().map(|id| Found::Damaged(id, error)));
        let id = |found: &Found| match found {
            Found::Whole(row) => row.id.to_string(),
            Found::Damaged(id, _) => id.to_string(),
        };
        let mut fits = whole.chain(damaged).filter(|it| id(it).starts_with(typed));
        match (fits.next(), fits.next()) {
            (Some(found), None) => Ok(found),
            (None, _) => Err(Error::NoSuchRun { typed: typed.into(), none: !damage && none()? }),
            (Some(one), Some(two)) => {
                let ids = [one, two].into_iter().chain(fits).map(|it| id(&it)).collect();
                Err(Error::SeveralRuns { typed: typed.into(), ids })
            }
        }
    }
}

/// Finds the newest run. A child belongs to its parent, so `last` never means one.
fn newest(listed: RunList) -> Result<Found, Error> {
    let newest = listed.runs.into_iter().find(|row| !row.id.is_child());
    let mut damaged = Vec::new();
    for error in listed.damaged {
        let parent = error.run().filter(|id| !id.is_child()).cloned();
        // Ids grow with time: a damaged run may be the one that is meant, so no other is used
        // instead.
        match parent {
            Some(id) if newest.as_ref().is_none_or(|row| row.id < id) => {
                return Ok(Found::Damaged(id, error));
            }
            _ => damaged.push(error),
        }
    }
    for error in damaged {
        note(&error.to_string());
    }
    let newest = newest.map(|row| Found::Whole(Box::new(row)));
    newest.ok_or_else(|| Error::NoSuchRun { typed: "last".into(), none: true })
}

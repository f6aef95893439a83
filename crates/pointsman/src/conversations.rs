//! Which conversation is meant if none is named: those of a folder, and a choice.

use std::{
    io::{self, BufRead as _},
    path::{Path, PathBuf},
};

use pointsman_runtime::{
    session::Session,
    store::{Filter, RunRow, RunScope, StatusFilter},
};

use crate::{agents::AGENTS, format, notify::note, report::Error};

/// Conversations that can be chosen from.
const OFFERED: usize = 9;

/// Which conversations to list.
pub(crate) struct ConversationFilter<'a> {
    /// The agent; any if it is none.
    pub(crate) agent: Option<&'a str>,
    /// The folder; any if it is none.
    pub(crate) folder: Option<&'a Path>,
}

/// A conversation, and where it is held.
pub(crate) struct FoundConversation {
    pub(crate) row: RunRow,
    /// Nothing where the run does not say, or cannot be read.
    pub(crate) dir: Option<PathBuf>,
}

/// Returns a folder by its whole name, as runs keep it.
pub(crate) fn whole(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.into())
}

impl ConversationFilter<'_> {
    /// Returns up to `most` of these conversations, newest first.
    pub(crate) fn find(
        &self,
        session: &Session,
        most: usize,
    ) -> Result<Vec<FoundConversation>, Error> {
        let filter = Filter {
            scope: RunScope::Roots,
            agent: self.agent.map(Into::into),
            ..Filter::default()
        };
        let rows = session.block_on(session.store().all(&filter)).map_err(Error::Store)?.runs;
        let talk = |row: &RunRow| AGENTS.decl(&row.agent).converses();
        let found = rows.into_iter().filter(talk).map(|row| {
            // One that is damaged must not hide the others.
            let place = session.place(&row.id).ok().flatten();
            FoundConversation { dir: place.and_then(|place| place.dir), row }
        });
        let here = |found: &FoundConversation| {
            self.folder.is_none_or(|folder| found.dir.as_deref() == Some(folder))
        };
        Ok(found.filter(here).take(most).collect())
    }

    /// Returns the newest of them; on a terminal the person chooses where there are several,
    /// and may choose none.
    pub(crate) fn choose(
        &self,
        session: &Session,
        asks: bool,
        but: Option<&str>,
    ) -> Result<Option<RunRow>, Error> {
        let most = if asks { OFFERED + 1 } else { 2 };
        let mut found = self.find(session, most)?;
        found.retain(|it| Some(it.row.id.as_str()) != but);
        found.truncate(OFFERED);
        if found.is_empty() {
            return Err(self.none());
        }
        let at = if asks && found.len() > 1 { ask(&found)? } else { Some(0) };
        Ok(at.map(|at| found.swap_remove(at).row))
    }

    fn none(&self) -> Error {
        match self.folder {
            Some(dir) => {
                let agent = self.agent.unwrap_or("any agent").to_owned();
                Error::NoTalksHere { agent, dir: dir.into() }
            }
            None => Error::NoTalks,
        }
    }
}

/// Returns the newest run of a folder that has not ended, of any agent.
pub(crate) fn open(session: &Session, folder: &Path) -> Result<RunRow, Error> {
    let dir = whole(folder);
    let (scope, status) = (RunScope::Roots, Some(StatusFilter::Open));
    let filter = Filter { scope, status, ..Filter::default() };
    let open = session.block_on(session.store().all(&filter)).map_err(Error::Store)?.runs;
    let here = |row: &RunRow| {
        let place = session.place(&row.id).ok().flatten();
        place.and_then(|place| place.dir).as_ref() == Some(&dir)
    };
    open.into_iter().find(here).ok_or(Error::NoneHere { dir })
}

/// Asks which one is meant, and returns its place in the list.
fn ask(found: &[FoundConversation]) -> Result<Option<usize>, Error> {
    let now = pointsman_runtime::clock::now_ms();
    let room = usize::from(console::Term::stderr().size().1).max(60);
    for (number, FoundConversation { row, .. }) in (1..).zip(found) {
        let (age, state) = (format::age(now, row.made_ms()), state(row));
        let head = format!("  [{number}] {:<8} {age:>6}  {state:<16} ", row.agent);
        let left = room.saturating_sub(head.chars().count() + 1);
        note(&format!("{head}{}", format::line(&row.goal, left)));
    }
    loop {
        note("Which conversation? Type its number and press Enter (default 1; Ctrl-D cancels).");
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        let read = read.map_err(|source| Error::Read { path: "the terminal".into(), source })?;
        let typed = line.trim();
        if read == 0 {
            return Ok(None);
        }
        if typed.is_empty() {
            return Ok(Some(0));
        }
        let at = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(at) = at.filter(|at| *at < found.len()) {
            return Ok(Some(at));
        }
        note(&format!("`{}` is not on the list", format::line(typed, 40)));
    }
}

/// Returns the status of a conversation, in a few words.
fn state(row: &RunRow) -> String {
    match &row.ended {
        Some(how) => how.to_string(),
        None if &*row.state == "waiting_for_user_input" => "waiting for you".into(),
        None => format!("in {}", row.state),
    }
}

/// Returns conversations as a table, with how they stand.
pub(crate) fn table(
    found: &[FoundConversation],
    now: u64,
    status: impl Fn(&RunRow) -> String,
) -> String {
    const HEAD: [&str; 5] = ["RUN", "AGENT", "STATE", "AGE", "FOLDER"];
    let cells = |it: &FoundConversation| {
        let dir = it.dir.as_ref().map_or_else(|| "?".into(), |dir| dir.display().to_string());
        let age = format::age(now, it.row.made_ms());
        let (id, agent) = (it.row.id.to_string(), it.row.agent.to_string());
        [id, agent, status(&it.row), age, format::visible(&dir)]
    };
    format::table(HEAD, "FIRST WORDS", found.iter().map(|it| (cells(it), &*it.row.goal)))
}

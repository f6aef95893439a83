//! A conversation on a terminal: a prompt while the run listens, and while it is busy
//! what it does, with keys that are not lost.

use std::{io, process::ExitCode, sync::atomic::Ordering};

use pointsman_runtime::{
    driver::RunStatus,
    exit::WAITING,
    session::{RunSummary, Session},
    store::RunRow,
};

use super::{
    busy::{After, Busy},
    editor::{Editor, EditorInput},
    history,
    session::{ChatSession, OpenConversation},
    slash::{HELP, Slash},
};
use crate::{
    agents::AGENTS,
    ending::{asked, conclude},
    format,
    line::{Ink, Line},
    notify::note,
    piped_input::FirstMessage,
    report::{Error, coloured},
    run_argument::RunArgument,
};

/// What the prompt decides on.
enum Next {
    Say(FirstMessage),
    Do(Slash),
    Leave,
    Look(String),
}

/// Holds conversations until the person leaves. The first one is resumed, or starts with the first
/// message.
pub(crate) fn talk(
    room: &ChatSession<'_>,
    resumed: Option<&RunRow>,
    message: Option<FirstMessage>,
) -> Result<ExitCode, Error> {
    let mut held = resumed.map(|row| join(room, row)).transpose()?;
    let mut message = message;
    let mut editor = Editor::new();
    let mut unfinished = String::new();
    loop {
        if held.is_none() {
            // Notices of the last run must not interrupt the prompt.
            room.stirred.store(false, Ordering::Release);
            // A run that is driven sees to itself; where there is none, the prompt must.
            if room.ending.load(Ordering::Acquire) {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let busy = held.as_ref().is_some_and(|talk| !talk.listens || !talk.unheard.is_empty());
        let next = if busy {
            Next::Look(std::mem::take(&mut unfinished))
        } else if let Some(message) = message.take() {
            say(&[Line::of(Ink::Accent, "› ").and(Ink::Plain, &message.goal)]);
            Next::Say(message)
        } else {
            let (same, typed) = editor.read(&std::mem::take(&mut unfinished), &room.stirred)?;
            editor = same;
            match typed {
                EditorInput::Leave => Next::Leave,
                EditorInput::Stirred(typed) => Next::Look(typed),
                EditorInput::Line(line) => match Slash::read(&line) {
                    Some(slash) => Next::Do(slash),
                    None if line.trim().is_empty() => continue,
                    None => Next::Say(FirstMessage { goal: line.clone(), text: line }),
                },
            }
        };
        let typed = match next {
            Next::Leave => return leave(room, held),
            Next::Do(slash) => {
                if slash == Slash::Quit {
                    return leave(room, held);
                }
                held = command(room, held, &slash)?;
                continue;
            }
            Next::Say(opening) => {
                match &mut held {
                    Some(talk) => talk.say(&opening.text, true),
                    None => held = Some(room.begin(&opening)?),
                }
                String::new()
            }
            Next::Look(typed) => typed,
        };
        let Some(talk) = &mut held else {
            unfinished = typed;
            continue;
        };
        match Busy::watch(room, talk, typed).map_err(terminal)? {
            After::Listens(typed) => unfinished = typed,
            After::Left => return leave(room, held),
            After::Over(typed) => return over(room, held, &typed),
        }
    }
}

fn terminal(source: io::Error) -> Error {
    Error::Write { path: "the terminal".into(), source }
}

/// Resumes a conversation, and shows its last messages.
fn join(room: &ChatSession<'_>, row: &RunRow) -> Result<OpenConversation, Error> {
    let (talk, recalled) = room.resume_conversation(row)?;
    let mut lines = match &row.ended {
        Some(how) => {
            let new = talk.run();
            vec![Line::of(
                Ink::Dim,
                &format!(
                    "run {} has ended ({how}); the conversation continues in run {new}",
                    row.id
                ),
            )]
        }
        None => vec![Line::of(Ink::Dim, &format!("resumed run {}", row.id))],
    };
    lines.extend(history::last(&recalled.messages()));
    lines.extend(recalled.plan().iter().flat_map(history::plan));
    lines.push(Line::default());
    say(&lines);
    Ok(talk)
}

/// Does what a command of the prompt says.
fn command(
    room: &ChatSession<'_>,
    held: Option<OpenConversation>,
    slash: &Slash,
) -> Result<Option<OpenConversation>, Error> {
    let lines = match slash {
        Slash::Help => {
            let about = |(name, about): (&str, &str)| {
                Line::of(Ink::Accent, &format!("  {name:<15}")).and(Ink::Plain, about)
            };
            let keys = "Alt-Enter or a `\\` at the end starts a new line. Messages that you send while the agent works are queued. Ctrl-C cancels the turn, or leaves; Ctrl-Z suspends.";
            let plans =
                AGENTS.decl(room.agent).plans() || held.as_ref().is_some_and(|talk| talk.reports);
            let fits = |(name, _): &(&str, &str)| *name != "/plan" || plans;
            HELP.into_iter().filter(fits).map(about).chain([Line::of(Ink::Dim, keys)]).collect()
        }
        Slash::Tools => {
            let tool = |spec: pointsman_runtime::tool::ToolSpec| {
                let name = Line::of(Ink::Accent, &format!("  {:<20}", spec.name));
                name.and(Ink::Plain, &format::line(&spec.about, 200))
            };
            let agent = held.as_ref().map_or(room.agent, |talk| &*talk.agent);
            room.executor
                .offered(AGENTS.decl(agent), &room.permissions)
                .into_iter()
                .map(tool)
                .collect()
        }
        Slash::Plan => match &held {
            Some(talk) => {
                let recalled = room.session.recall(talk.run(), None).map_err(Error::Session)?;
                let lines = recalled.plan().map(|plan| history::plan(&plan));
                lines.unwrap_or_else(|| vec![Line::of(Ink::Dim, "there is no plan")])
            }
            None => vec![Line::of(Ink::Dim, "there is no plan")],
        },
        Slash::New => {
            drop(end(held)?);
            say(&[Line::of(Ink::Dim, "the next message starts a new conversation")]);
            return Ok(None);
        }
        Slash::Resume(typed) => return resume(room, held, typed.as_deref()),
        Slash::Cancel => vec![Line::of(Ink::Dim, "nothing is in progress")],
        Slash::Unknown(name) => {
            vec![Line::of(Ink::Bad, &format!("unknown command /{name}; /help lists the commands"))]
        }
        Slash::Quit => Vec::new(),
    };
    say(&lines);
    Ok(held)
}

/// Leaves one conversation for another.
fn resume(
    room: &ChatSession<'_>,
    held: Option<OpenConversation>,
    typed: Option<&str>,
) -> Result<Option<OpenConversation>, Error> {
    let found = match typed {
        Some(typed) => match typed.parse::<RunArgument>() {
            Ok(which) => which.find(room.session),
            Err(_) => Err(Error::NoSuchRun { typed: typed.into(), none: false }),
        }
        .map(Some),
        None => room.another(held.as_ref().map(OpenConversation::run)),
    };
    let here = |row: Option<RunRow>| match row {
        Some(row) => room.here(&row).map(|()| Some(row)),
        None => Ok(None),
    };
    let row = match found.and_then(here) {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(held),
        Err(error) => {
            say(&trouble(&error));
            return Ok(held);
        }
    };
    if held.as_ref().is_some_and(|talk| *talk.run() == row.id) {
        say(&[Line::of(Ink::Dim, "you are in this conversation already")]);
        return Ok(held);
    }
    drop(end(held)?);
    match join(room, &row) {
        Ok(talk) => Ok(Some(talk)),
        Err(error) => {
            say(&trouble(&error));
            Ok(None)
        }
    }
}

fn trouble(error: &Error) -> Vec<Line> {
    let hint = error.hint().map(|hint| Line::of(Ink::Dim, &hint));
    std::iter::once(Line::of(Ink::Bad, &error.to_string())).chain(hint).collect()
}

/// Detaches from a conversation, and returns its status.
fn end(held: Option<OpenConversation>) -> Result<Option<RunSummary>, Error> {
    let Some(OpenConversation { conversation, commands, .. }) = held else { return Ok(None) };
    commands.leave();
    drop(commands);
    conversation.wait().map(Some).map_err(Error::Session)
}

/// Says how a run has ended, and which messages it did not receive; a detached run can be resumed.
fn over(
    room: &ChatSession<'_>,
    held: Option<OpenConversation>,
    typed: &str,
) -> Result<ExitCode, Error> {
    let Some(mut talk) = held else { return Ok(ExitCode::SUCCESS) };
    let (unheard, reports) = (std::mem::take(&mut talk.unheard), talk.reports);
    let Some(outcome) = end(Some(talk))? else { return Ok(ExitCode::SUCCESS) };
    if !typed.trim().is_empty() {
        say(&[Line::of(Ink::Warning, "not sent: ").and(Ink::Plain, typed)]);
    }
    if !matches!(outcome.status, RunStatus::Ended(_)) {
        return Ok(left(room.session, &outcome));
    }
    let code = conclude(room.session, &outcome, false, reports)?;
    say(&room.keep(&outcome.run, &unheard)?);
    Ok(code)
}

/// Leaves, and says how to come back.
fn leave(room: &ChatSession<'_>, held: Option<OpenConversation>) -> Result<ExitCode, Error> {
    let outcome = end(held)?;
    Ok(outcome.as_ref().map_or(ExitCode::SUCCESS, |outcome| left(room.session, outcome)))
}

/// Says how to come back to a run.
fn left(session: &Session, outcome: &RunSummary) -> ExitCode {
    let run = &outcome.run;
    if !outcome.questions.is_empty() {
        for question in asked(session, outcome) {
            note(&question);
        }
        note(&format!("next: pointsman approve {run}   or   pointsman deny {run}"));
    }
    say(&[Line::of(Ink::Dim, &format!("left; next: pointsman chat --resume {run}"))]);
    let waits = !outcome.questions.is_empty();
    ExitCode::from(if waits { WAITING } else { 0 })
}

/// Writes lines while nothing is redrawn.
fn say(lines: &[Line]) {
    for line in lines {
        for row in line.wrapped(crate::screen::TerminalScreen::columns()) {
            note(&row.painted(coloured()));
        }
    }
}

//! The last lines of a command that drives a run: its status, its result, and what to do next.

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    driver::RunStatus,
    exit::{Exit, WAITING},
    session::{RunSummary, Session},
};
use pointsman_webdriver::{browser::BrowserExit, exploration, form::Forms};
use serde_json::{Value, json};

use crate::{
    agents::AGENTS,
    drive::Audience,
    format, json_lines, live,
    notify::{note, open_question},
    report::{self, Error, coloured},
};

/// Prints the status of a run, and returns the exit code that says so.
pub(crate) fn finish(
    session: &Session,
    forms: &Forms,
    outcome: &RunSummary,
    audience: Audience,
    json: bool,
) -> Result<ExitCode, Error> {
    // The line of the live view must be gone before anything else is written.
    if let Some(live) = &audience.live {
        live.close();
    }
    let blame = audience.blame.take();
    drop(audience);
    let code = conclude(session, outcome, json, true);
    if !json
        && outcome.status == RunStatus::Ended(Disposition::Failed)
        && let Some(why) = blame
    {
        note(&format!("reason: {}", format::line(&why, 300)));
    }
    farewell(forms, outcome);
    code
}

/// Says what happened to the browser of a run that ended with values filled in and nothing sent.
fn farewell(forms: &Forms, outcome: &RunSummary) {
    let report: Option<Value> = outcome.report.as_ref().and_then(|report| report.read().ok());
    let filled = report.and_then(|report| report.get("filled")?.as_u64());
    match forms.left(&outcome.run).filter(|_| filled.is_some_and(|count| count > 0)) {
        Some(BrowserExit::Open) => {
            note("the browser stays open: continue there, and close it when you have finished");
        }
        Some(BrowserExit::Closed) => {
            note("the browser is closed, and the filled-in values are lost");
        }
        None => {}
    }
}

/// Prints the status of a run, with its result where that was not said before, and returns the
/// exit code that says so.
pub(crate) fn conclude(
    session: &Session,
    outcome: &RunSummary,
    json: bool,
    with_result: bool,
) -> Result<ExitCode, Error> {
    let ended = match outcome.status {
        RunStatus::Ended(ended) => Some(ended),
        _ => None,
    };
    let let_go = outcome.status == RunStatus::Moving;
    let unasked = match ended {
        Some(Disposition::Succeeded) => session.denied_unattended(&outcome.run),
        _ => Ok(Vec::new()),
    };
    // An existing result is printed first.
    let (unasked, unread) = match unasked {
        Ok(unasked) => (unasked, Ok(())),
        Err(error) => (Vec::new(), Err(Error::Session(error))),
    };
    let exit = ended.map(|ended| Exit::of(ended, outcome.error.as_ref(), !unasked.is_empty()));
    if json {
        let questions: Vec<_> = outcome.questions.iter().map(json_lines::asked).collect();
        let mut said = json!({
            "run": outcome.run.as_str(),
            "state": outcome.state,
            "steps": outcome.steps,
            "disposition": ended.map(Disposition::name),
            "paused": outcome.paused && ended.is_none(),
            "elapsed_ms": outcome.elapsed_ms,
            "result": outcome.result,
            "questions": questions,
            "error": outcome.error,
            "unasked": unasked,
        });
        let report: Option<Value> = outcome.report.as_ref().and_then(|it| it.read().ok());
        if let (Some(report), Some(fields)) = (&report, said.as_object_mut()) {
            fields.insert("report".into(), report.clone());
            // A run through a recording can be checked against it, step by step.
            let steps = exploration::steps(session, &outcome.run).map_err(Error::Session)?;
            if let (Some(summary), Some(first)) = (report.as_object(), steps.first()) {
                fields.extend(summary.clone());
                let after = steps.iter().map(|step| &*step.to);
                let visited: Vec<&str> = [&*first.from].into_iter().chain(after).collect();
                fields.insert("visited".into(), json!(visited));
                fields.insert("trace".into(), json!(steps));
            }
        }
        report::json(&said)?;
    } else {
        // An unfinished run has no result yet.
        let result = outcome.result.as_ref().filter(|_| with_result && ended.is_some());
        let written = result.map_or(Ok(()), |result| {
            // What a document holds must not steer the terminal that shows it.
            let steered = io::stdout().is_terminal();
            let result = if steered { format::prose(result) } else { result.clone() };
            report::data(&format!("{result}\n"))
        });
        let how = exit.map_or_else(|| open(session, outcome), |exit| exit.name);
        told(session, outcome, (ended, how));
        for reason in &unasked {
            note(&format!("left for a person: {reason}"));
        }
        // A person who has lost the result can still show the run.
        written?;
    }
    unread?;
    // A person who detaches with Ctrl-C wanted it cancelled.
    let cancelled = || Exit::of(Disposition::Cancelled, None, false);
    let exit = exit.or_else(|| let_go.then(cancelled));
    Ok(ExitCode::from(exit.map_or(WAITING, Exit::code)))
}

/// Returns the open questions of a run, for an answer later.
pub(crate) fn asked(session: &Session, outcome: &RunSummary) -> Vec<String> {
    // A run that can no longer be read cannot be answered either.
    let Ok(row) = session.block_on(session.store().run(&outcome.run)) else { return Vec::new() };
    outcome.questions.iter().map(|question| open_question(&row, question)).collect()
}

/// Returns whether a run ended so well that nothing but its answer need be said.
pub(crate) fn needs_no_word(session: &Session, outcome: &RunSummary) -> bool {
    let RunStatus::Ended(ended) = outcome.status else { return false };
    let denied = !session.denied_unattended(&outcome.run).is_ok_and(|unasked| unasked.is_empty());
    Exit::of(ended, outcome.error.as_ref(), denied).code() == 0
}

/// Returns the status of a run that has not ended.
fn open(session: &Session, outcome: &RunSummary) -> &'static str {
    match outcome.status {
        RunStatus::Moving => "detached, still in progress",
        _ if !outcome.questions.is_empty() => "waiting for you",
        _ if outcome.paused => "paused",
        _ if is_talk(session, outcome) => "waiting for your message",
        _ => "waiting for an event",
    }
}

/// Returns whether a run is a conversation: what it waits for is a message.
fn is_talk(session: &Session, outcome: &RunSummary) -> bool {
    session
        .block_on(session.store().run(&outcome.run))
        .is_ok_and(|row| AGENTS.decl(&row.agent).converses())
}

/// Prints the status of a run and what to do next.
fn told(session: &Session, outcome: &RunSummary, (ended, how): (Option<Disposition>, &str)) {
    let run = &outcome.run;
    let time = format::duration(outcome.elapsed_ms);
    let steps = format::counted(outcome.steps, "step");
    let line = format!("{how} in `{}` after {time} and {steps}: run {run}", outcome.state);
    note(&if coloured() { live::ending(ended, &line) } else { line });
    note(&format!("journal: {}", session.name()));
    for question in asked(session, outcome) {
        note(&question);
    }
    if !outcome.questions.is_empty() {
        note(&format!("next: pointsman approve {run}   or   pointsman deny {run}"));
        note(&format!("then: pointsman resume {run}"));
    } else if how == "waiting for your message" {
        note(&format!("next: pointsman chat --resume {run}   or   pointsman cancel {run}"));
    } else if ended.is_none() {
        note(&format!("next: pointsman resume {run}   or   pointsman cancel {run}"));
    } else {
        note(&format!("next: pointsman show {run}   or   pointsman why {run} {}", outcome.steps));
    }
}

//! `pointsman show` and `pointsman why`: what a run did, and why.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _},
    process::ExitCode,
    sync::Arc,
};

use clap::Args;
use pointsman_kernel::{
    agent::Answer,
    chart::Disposition,
    event::Event,
    governor::Level,
    id::Seq,
    view::{StepExplanation, view},
};
use pointsman_runtime::{
    entry::event,
    exit::Exit,
    local_executor::Workspace,
    session::Session,
    store::{QueueStatus, RunRow},
    timeline::{Projector, Spent, TIMELINE_VERSION, TimelineItem, TimelineKind},
};
use serde_json::{Value, json};

use super::run::json_line;
use crate::{
    format,
    notify::open_question,
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
};

/// Show what a run did, step by step.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman show last
  pointsman show RUN --json | jq .state_history
  pointsman show RUN --prompts")]
pub(crate) struct Show {
    /// The run: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// Print JSON: the run, its transitions and its journal's entries.
    #[arg(long)]
    json: bool,
    /// Print the exact prompts that the model received.
    #[arg(long)]
    prompts: bool,
}

/// Explain one step: why the run took this transition.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman why last
  pointsman why RUN 3
  pointsman why RUN 3 --json")]
pub(crate) struct Why {
    /// The run: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// The entry [default: the last one].
    entry: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        if self.prompts {
            let prompts =
                session.block_on(session.store().prompts(&row.id)).map_err(Error::Store)?;
            return self.print_prompts(&prompts);
        }
        if self.json {
            json_line(&as_json(&session, &row)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let (_, projector, items) = read(&session, &row)?;
        let run = &*projector.loaded().run;
        let view = view(projector.program(), run.core());
        let open_questions = projector.loaded().questions();
        // A damaged message is ignored here; its reader reports it.
        let answers = session.answers(&row.id).unwrap_or_default();
        let place = session.place(&row.id).map_err(Error::Session)?;
        let mut text = timeline(&row, place.as_ref(), &items);
        let open = if view.paused { "paused" } else { "not ended" };
        // As the exit code of the run counted it.
        let unasked = session.denied_unattended(&row.id).is_ok_and(|unasked| !unasked.is_empty());
        let error = run.turn_error();
        let how = view.ended.map_or(open, |ended| Exit::of(ended, error, unasked).name);
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(text, "{how}, in `{}`", view.seen_as);
        if let Some(place) = queued(&row) {
            let _: std::fmt::Result = writeln!(text, "{place}");
        }
        for question in &open_questions {
            let _: std::fmt::Result = writeln!(text, "{}", open_question(&row, question));
            if let Some(yes) = answers.get(&question.effect) {
                let (said, run) = (if *yes { "yes" } else { "no" }, &row.id);
                let _: std::fmt::Result =
                    writeln!(text, "  answered with {said}; next: pointsman resume {run}");
            }
        }
        if let Some(result) = run.result() {
            let _: std::fmt::Result = writeln!(text, "\n{}", format::prose(&result));
        }
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    fn print_prompts(
        &self,
        prompts: &[pointsman_runtime::store::PromptRow],
    ) -> Result<ExitCode, Error> {
        for prompt in prompts {
            let part = |part: &Arc<str>| {
                serde_json::from_str::<Value>(part).unwrap_or_else(|_| part.to_string().into())
            };
            let parts: Vec<Value> = prompt.parts.iter().map(part).collect();
            if self.json {
                let effect = prompt.effect.to_string();
                json_line(&json!({ "step": prompt.seq, "effect": effect, "parts": parts }))?;
                continue;
            }
            let mut text = format!("--- entry {}, effect {}\n", prompt.seq.0, prompt.effect);
            for part in &prompt.parts {
                // Writing to a string cannot fail.
                let _: std::fmt::Result = writeln!(text, "{part}");
            }
            // They are JSON, printed unchanged, except for terminal control characters.
            if io::stdout().is_terminal() {
                text = format::json(&text);
            }
            report::data(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads a run: its lines, folded, and their items.
fn read(
    session: &Session,
    row: &RunRow,
) -> Result<(Vec<String>, Projector, Vec<TimelineItem>), Error> {
    let lines = session.block_on(session.store().lines(&row.id, Seq(0)));
    let lines = lines.map_err(Error::Store)?;
    let program = Arc::new(session.program(&row.id).map_err(Error::Session)?);
    let mut projector = Projector::new(program, row.id.clone());
    let items = projector.fold_all(&lines).map_err(|error| Error::Session(error.into()))?;
    Ok((lines, projector, items))
}

/// Returns a run as JSON: its row, its status, its entries and its timeline.
pub(crate) fn as_json(session: &Session, row: &RunRow) -> Result<Value, Error> {
    let (lines, projector, items) = read(session, row)?;
    let run = &*projector.loaded().run;
    let view = view(projector.program(), run.core());
    let open_questions = projector.loaded().questions();
    let answers = session.answers(&row.id).unwrap_or_default();
    let entry = |line: &String| serde_json::from_str::<Value>(line).unwrap_or_default();
    let entries: Vec<Value> = lines.iter().map(entry).collect();
    let seed = lines.first().and_then(|line| match event(line)? {
        Event::Begun(begun) => Some(begun.seed),
        _ => None,
    });
    let questions = open_questions.iter().map(|question| {
        let mut asked = crate::json_lines::asked(question);
        if let (Some(yes), Some(fields)) = (answers.get(&question.effect), asked.as_object_mut()) {
            fields.insert("answered".into(), (*yes).into());
        }
        asked
    });
    let questions: Vec<Value> = questions.collect();
    let mut shown = json!({
        "id": row.id.as_str(),
        "agent": row.agent,
        "chart": row.chart,
        "chart_digest": projector.program().digest(),
        "goal": row.goal,
        "state": view.state,
        "disposition": view.ended.map(Disposition::name),
        "paused": view.paused && view.ended.is_none(),
        "budgets": view.budgets,
        "seed": seed,
        "forked": forked(row),
        "place": session.place(&row.id).map_err(Error::Session)?,
        "created_ms": row.made_ms(),
        "elapsed_ms": view.now,
        "steps": view.entries,
        "spent": Spent::of(&items),
        "questions": questions,
        "result": run.result(),
        "state_history": items.iter().filter_map(transition).collect::<Vec<_>>(),
        "entries": entries,
        "timeline": { "version": TIMELINE_VERSION, "items": items },
    });
    if let (Some(report), Some(fields)) = (run.report(), shown.as_object_mut()) {
        fields.insert("report".into(), report.read().unwrap_or_default());
    }
    Ok(shown)
}

/// Prints the status of a run in the queue, and why a worker could not drive it.
fn queued(row: &RunRow) -> Option<String> {
    let place = row.queue.as_ref()?;
    let status = place.status?.name();
    let owner = row.owner.as_ref().map_or_else(String::new, |owner| format!(" by {owner}"));
    let fault = place.fault.as_ref();
    let fault = fault.map_or_else(String::new, |why| format!(": {}", format::line(why, 300)));
    let next = match place.status {
        Some(QueueStatus::Quarantined) => format!("\nnext: pointsman resume {} --queue", row.id),
        _ => String::new(),
    };
    Some(format!("in the queue: {status}{owner}{fault}{next}"))
}

fn forked(row: &RunRow) -> Option<Value> {
    row.forked.as_ref().map(|(run, at)| json!({ "run": run.as_str(), "at": at }))
}

/// Returns a transition with the names that `state_history` has for its parts.
fn transition(item: &TimelineItem) -> Option<Value> {
    let TimelineKind::Transition { from, to, reason, ms, .. } = &item.kind else { return None };
    let (step, at) = (item.seq, item.at);
    Some(json!({ "step": step, "from": from, "to": to, "reason": reason, "ms": ms, "at": at }))
}

/// What an entry's event is about, in words.
struct About {
    /// The action, or the words from outside.
    did: String,
    /// Whether it succeeded.
    ok: bool,
    /// The result in a line; empty if there is none.
    came: String,
}

/// Describes an event, unless its name says everything.
fn about(kind: &TimelineKind) -> Option<About> {
    let plain = |did: &str| About { did: did.into(), ok: true, came: String::new() };
    Some(match kind {
        TimelineKind::Answered { did, ok, what, .. } => {
            About { did: did.to_string(), ok: *ok, came: what.to_string() }
        }
        TimelineKind::ApprovalAnswered { granted, reason, call, .. } => {
            let said = if *granted { "approved" } else { "denied" };
            let call = call.as_ref().map_or_else(
                || "a call".into(),
                |call| format!("{} {}", call.tool, call.arguments.get()),
            );
            About { did: format!("{said} {call}"), ok: *granted, came: reason.to_string() }
        }
        TimelineKind::Given { text: Some(text), .. } => plain(text),
        TimelineKind::Granted { charge, amount } => plain(&format::granted(*charge, *amount)),
        TimelineKind::Paused { why, .. } => plain(why),
        _ => return None,
    })
}

fn timeline(row: &RunRow, place: Option<&Workspace>, items: &[TimelineItem]) -> String {
    let mut text = format!("{} of {}: {}\n", row.id, row.chart, format::line(&row.goal, 200));
    if let Some((parent, at)) = &row.forked {
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(text, "forked from {parent} at entry {}", at.0);
    }
    if let Some(Workspace { dir, model, .. }) = place {
        let dir =
            dir.as_ref().map_or_else(String::new, |dir| format!("folder {}, ", dir.display()));
        let place = format::line(&format!("{dir}model {model}"), 400);
        let _: std::fmt::Result = writeln!(text, "{place}");
    }
    let mut stage: Option<&str> = None;
    for entry in items.chunk_by(|one, next| one.seq == next.seq) {
        write_entry(&mut text, entry, stage);
        stage = entry.iter().fold(stage, |stage, item| match &item.kind {
            TimelineKind::Stage { text } => text.as_deref(),
            _ => stage,
        });
    }
    let spent = Spent::of(items);
    let _: std::fmt::Result = write!(
        text,
        "{}, {}",
        format::counted(spent.model_calls, "model call"),
        format::counted(spent.tool_calls, "tool call")
    );
    if spent.tokens > 0 {
        let _: std::fmt::Result = write!(text, ", {}", format::counted(spent.tokens, "token"));
    }
    if spent.money > 0 {
        let _: std::fmt::Result = write!(text, ", cost: {}", format::money(spent.money));
    }
    text.push('\n');
    text
}

/// Writes what the items of one entry tell. `stage` is what the run was at before it.
fn write_entry(text: &mut String, entry: &[TimelineItem], stage: Option<&str>) {
    let Some((event, item)) = entry.iter().find_map(|it| Some((it.kind.event()?, it))) else {
        return;
    };
    let said = about(&item.kind);
    let at = format::duration(item.at.0);
    // Writing to a string cannot fail.
    let _: std::fmt::Result = write!(text, "{:>4} {at:>12}  {event}", item.seq.0);
    if let Some(said) = said.as_ref().filter(|said| !said.did.is_empty()) {
        let _: std::fmt::Result = write!(text, ": {}", format::line(&said.did, 100));
    }
    for item in entry {
        if let TimelineKind::Transition { to, reason, .. } = &item.kind {
            let to = to.as_deref().unwrap_or("the end");
            let _: std::fmt::Result = write!(text, "  → {to} ({reason})");
        }
    }
    text.push('\n');
    let mut more = |what: &str, said: &str| {
        let _: std::fmt::Result = writeln!(text, "{:19}{what} {}", "", format::line(said, 160));
    };
    if let Some(About { ok, came, .. }) = said.as_ref().filter(|it| !it.came.is_empty()) {
        let mark = if *ok { "✓" } else { "✗" };
        // What the agent did itself, it did at some stage.
        match stage.filter(|_| is_own(&item.kind)) {
            Some(stage) => more(mark, &format!("{came} ({stage})")),
            None => more(mark, came),
        }
    }
    for item in entry {
        match &item.kind {
            TimelineKind::Failed { why } => more("✗", why),
            // A question is shown as one, and a call that cannot run never prompted.
            TimelineKind::Verdict(verdict) if verdict.level != Level::Ask => {
                more("governor:", &verdict.reason);
            }
            _ => {}
        }
    }
}

fn is_own(kind: &TimelineKind) -> bool {
    matches!(kind, TimelineKind::Answered { answer, .. } if matches!(**answer, Answer::Own(_)))
}

impl Why {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        let until = self.entry.map(Seq);
        let recalled = session.recall(&row.id, until).map_err(Error::Session)?;
        let mut projector = Projector::new(Arc::new(recalled.program), row.id);
        let mut last = None;
        for line in &recalled.lines {
            last = Some(projector.fold(line).map_err(|error| Error::Session(error.into()))?);
        }
        let Some((step, items)) = last else { return Ok(ExitCode::SUCCESS) };
        if self.json {
            // A step is plain data.
            json_line(&serde_json::to_value(&step).unwrap_or_default())?;
            return Ok(ExitCode::SUCCESS);
        }
        report::data(&explained(&step, &items))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Explains a step in lines: the event, every transition with the ways that were not taken, what the
/// governor ruled, and what is left of the budgets.
pub(crate) fn explained(step: &StepExplanation, items: &[TimelineItem]) -> String {
    let mut text =
        format!("entry {} at {}: {}\n", step.seq.0, format::duration(step.at.0), step.event);
    if let Some(About { did, ok, came }) = items.iter().find_map(|item| about(&item.kind)) {
        let mark = if ok { "✓ " } else { "✗ " };
        for (mark, said) in [("", did), (mark, came)].iter().filter(|it| !it.1.is_empty()) {
            text.extend(["  ", *mark, &*format::line(said, 400), "\n"]);
        }
    }
    // Writing to a string cannot fail.
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if step.hops.is_empty() {
        line("  no transition".into());
    }
    for hop in &step.hops {
        let to = hop.to.as_deref().unwrap_or("the end");
        let spent = hop.spent.as_ref().map_or(String::new(), |it| format!(", spending `{it}`"));
        line(format!("  {} → {to}: {}{spent}", hop.from, hop.because));
        for (outcome, to) in &hop.not_taken {
            line(format!("      not taken: {outcome} → {to}"));
        }
    }
    for item in items {
        if let TimelineKind::Failed { why } = &item.kind {
            line(format!("  the attempt failed: {why}"));
        }
    }
    for verdict in &step.verdicts {
        let seen: Vec<String> = verdict.evidence.iter().map(|entry| entry.0.to_string()).collect();
        let seen = if seen.is_empty() {
            String::new()
        } else {
            format!(", seen in entries {}", seen.join(", "))
        };
        line(format!("  governor: {} ({}){seen}", verdict.reason, verdict.advice));
    }
    for budget in &step.budgets {
        line(format!("  `{}` left: {} of {}", budget.name, budget.left, budget.max));
    }
    format::visible(&text)
}

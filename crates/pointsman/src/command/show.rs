//! `pointsman show` and `pointsman why`: what a run did, and why.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use clap::Args;
use pointsman_kernel::{
    chart::Disposition,
    governor::Level,
    id::Seq,
    view::{Why, view},
};
use pointsman_runtime::{
    driver::Said,
    exit::Exit,
    host::Place,
    stats::{Story, story},
    store::RunRow,
};
use serde_json::{Value, json};

use super::run::json_line;
use crate::{
    lines,
    place::Globals,
    report::{self, Error},
    tell::open_question,
    which::Which,
    words,
};

/// Show what a run did, step by step.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman show last
  pointsman show RUN --json | jq .state_history
  pointsman show RUN --prompts")]
pub(crate) struct Show {
    /// The run: its id or the beginning of it, or `last`.
    run: Which,
    /// Print JSON: the run, its transitions and its journal's entries.
    #[arg(long)]
    json: bool,
    /// Print what the model was shown, as it was.
    #[arg(long)]
    prompts: bool,
}

/// Explain one step: why the run went where it went.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman why last
  pointsman why RUN 3
  pointsman why RUN 3 --json")]
pub(crate) struct Explain {
    /// The run: its id or the beginning of it, or `last`.
    run: Which,
    /// The entry; the last one if it is not given.
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
        let recalled = session.recall(&row.id, None).map_err(Error::Session)?;
        let told = story(&recalled.program, &row.id, &recalled.lines)
            .map_err(|error| Error::Session(error.into()))?;
        let view = view(&recalled.program, told.loaded.run.core());
        // A letter that is damaged says nothing; whoever takes the letters is told of it.
        let answers = session.answers(&row.id).unwrap_or_default();
        if self.json {
            let entry = |line: &String| serde_json::from_str::<Value>(line).unwrap_or_default();
            let entries: Vec<Value> = recalled.lines.iter().map(entry).collect();
            let seed = entries.first().and_then(|first| first.pointer("/event/begun/seed"));
            let questions = told.questions.iter().map(|question| {
                let mut asked = lines::asked(question);
                if let (Some(yes), Some(fields)) =
                    (answers.get(&question.effect), asked.as_object_mut())
                {
                    fields.insert("answered".into(), (*yes).into());
                }
                asked
            });
            let questions: Vec<Value> = questions.collect();
            let mut shown = json!({
                "id": row.id.as_str(),
                "agent": row.agent,
                "chart": row.chart,
                "chart_digest": recalled.program.digest(),
                "goal": row.goal,
                "state": view.state,
                "disposition": view.ended.map(Disposition::name),
                "paused": view.paused && view.ended.is_none(),
                "budgets": view.budgets,
                "seed": seed,
                "forked": forked(&row),
                "place": session.place(&row.id).map_err(Error::Session)?,
                "created_ms": row.made_ms(),
                "elapsed_ms": view.now,
                "steps": view.entries,
                "spent": told.spent,
                "questions": questions,
                "result": told.loaded.run.result(),
                "state_history": told.history,
                "entries": entries,
            });
            if let (Some(report), Some(fields)) = (told.loaded.run.report(), shown.as_object_mut())
            {
                fields.insert("report".into(), report.read().unwrap_or_default());
            }
            json_line(&shown)?;
            return Ok(ExitCode::SUCCESS);
        }
        let place = session.place(&row.id).map_err(Error::Session)?;
        let mut text = timeline(&row, place.as_ref(), &told);
        let open = if view.paused { "paused" } else { "not ended" };
        // As the exit code of the run counted it.
        let unasked = session.unasked(&row.id).is_ok_and(|unasked| !unasked.is_empty());
        let error = told.loaded.run.turn_error();
        let how = view.ended.map_or(open, |ended| Exit::of(ended, error, unasked).name);
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(text, "{how}, in `{}`", view.seen_as);
        for question in &told.questions {
            let _: std::fmt::Result = writeln!(text, "{}", open_question(&row, question));
            if let Some(yes) = answers.get(&question.effect) {
                let (said, run) = (if *yes { "yes" } else { "no" }, &row.id);
                let _: std::fmt::Result =
                    writeln!(text, "  answered with {said}; next: pointsman resume {run}");
            }
        }
        if let Some(result) = told.loaded.run.result() {
            let _: std::fmt::Result = writeln!(text, "\n{}", words::prose(&result));
        }
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    fn print_prompts(
        &self,
        prompts: &[pointsman_runtime::store::PromptRow],
    ) -> Result<ExitCode, Error> {
        for prompt in prompts {
            let part = |part: &std::sync::Arc<str>| {
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
            // They are JSON; as they were, but where they would steer the terminal.
            if io::stdout().is_terminal() {
                text = words::json(&text);
            }
            report::data(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn forked(row: &RunRow) -> Option<Value> {
    row.forked.as_ref().map(|(run, at)| json!({ "run": run.as_str(), "at": at }))
}

fn timeline(row: &RunRow, place: Option<&Place>, told: &Story) -> String {
    let mut text = format!("{} of {}: {}\n", row.id, row.chart, words::line(&row.goal, 200));
    if let Some((parent, at)) = &row.forked {
        // Writing to a string cannot fail.
        let _: std::fmt::Result = writeln!(text, "forked from {parent} at entry {}", at.0);
    }
    if let Some(Place { dir, model, .. }) = place {
        let dir = dir.as_ref().map_or_else(String::new, |dir| format!(" in {}", dir.display()));
        let place = words::line(&format!("works{dir} with {model}"), 400);
        let _: std::fmt::Result = writeln!(text, "{place}");
    }
    for (step, said) in told.steps.iter().zip(&told.said) {
        let at = words::duration(step.at.0);
        let _: std::fmt::Result = write!(text, "{:>4} {at:>12}  {}", step.seq.0, step.event);
        if let Some(said) = said.as_ref().filter(|said| !said.did.is_empty()) {
            let _: std::fmt::Result = write!(text, ": {}", words::line(&said.did, 100));
        }
        for hop in &step.hops {
            let to = hop.to.as_deref().unwrap_or("the end");
            let _: std::fmt::Result = write!(text, "  → {to} ({})", hop.because);
        }
        text.push('\n');
        let mut more = |what: &str, said: &str| {
            let _: std::fmt::Result = writeln!(text, "{:19}{what} {}", "", words::line(said, 160));
        };
        if let Some(Said { ok, came, .. }) = said.as_ref().filter(|it| !it.came.is_empty()) {
            more(if *ok { "✓" } else { "✗" }, came);
        }
        for why in unsaid(step, said.as_ref()) {
            more("✗", why);
        }
        // A question is told as one, and a call that cannot run was never asked about.
        for verdict in step.verdicts.iter().filter(|verdict| verdict.level != Level::Ask) {
            more("governor:", &verdict.reason);
        }
    }
    let spent = &told.spent;
    let _: std::fmt::Result = write!(
        text,
        "{}, {}",
        words::counted(spent.model_calls, "model call"),
        words::counted(spent.tool_calls, "tool call")
    );
    if spent.tokens > 0 {
        let _: std::fmt::Result = write!(text, ", {}", words::counted(spent.tokens, "token"));
    }
    if spent.money > 0 {
        let _: std::fmt::Result = write!(text, ", cost: {}", words::money(spent.money));
    }
    text.push('\n');
    text
}

/// Returns why attempts failed that did not end with a fault of their own.
fn unsaid<'a>(step: &'a Why, said: Option<&Said>) -> impl Iterator<Item = &'a String> {
    let fault = said.filter(|said| !said.ok).map(|said| said.came.clone()).unwrap_or_default();
    step.failed.iter().filter(move |why| fault.is_empty() || !why.starts_with(&fault))
}

impl Explain {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        let until = self.entry.map(Seq);
        let recalled = session.recall(&row.id, until).map_err(Error::Session)?;
        let told = story(&recalled.program, &row.id, &recalled.lines)
            .map_err(|error| Error::Session(error.into()))?;
        let Some(step) = told.steps.last() else { return Ok(ExitCode::SUCCESS) };
        if self.json {
            // A step is plain data.
            json_line(&serde_json::to_value(step).unwrap_or_default())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text =
            format!("entry {} at {}: {}\n", step.seq.0, words::duration(step.at.0), step.event);
        let said = told.said.last().and_then(Option::as_ref);
        if let Some(Said { did, ok, came }) = said {
            let mark = if *ok { "✓ " } else { "✗ " };
            for (mark, said) in [("", did), (mark, came)].iter().filter(|it| !it.1.is_empty()) {
                text.extend(["  ", *mark, &*words::line(said, 400), "\n"]);
            }
        }
        // Writing to a string cannot fail.
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        if step.hops.is_empty() {
            line("  it stayed where it was".into());
        }
        for hop in &step.hops {
            let to = hop.to.as_deref().unwrap_or("the end");
            let spent = hop.spent.as_ref().map_or(String::new(), |it| format!(", spending `{it}`"));
            line(format!("  {} → {to}: {}{spent}", hop.from, hop.because));
            for (outcome, to) in &hop.not_taken {
                line(format!("      not taken: {outcome} → {to}"));
            }
        }
        for why in unsaid(step, said) {
            line(format!("  the attempt failed: {why}"));
        }
        for verdict in &step.verdicts {
            let seen: Vec<String> =
                verdict.evidence.iter().map(|entry| entry.0.to_string()).collect();
            let seen = if seen.is_empty() {
                String::new()
            } else {
                format!(", seen in entries {}", seen.join(", "))
            };
            line(format!("  governor: {} ({}){seen}", verdict.reason, verdict.advice));
        }
        for budget in &step.budgets {
            line(format!("  left of `{}`: {} of {}", budget.name, budget.left, budget.max));
        }
        report::data(&words::visible(&text))?;
        Ok(ExitCode::SUCCESS)
    }
}

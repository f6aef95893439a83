//! `pointsman approve`, `deny`, `pause` and `cancel`: a person's word to a run.

use std::process::ExitCode;

use clap::Args;
use pointsman_kernel::governor::Grant;
use pointsman_runtime::{
    observe::Question,
    session::{ApprovalDecision, Delivery, Session, overdue},
    store::RunRow,
};
use serde_json::json;

use super::run::json_line;
use crate::{
    agents::{self, toolbox},
    calls::typed,
    format, json_lines,
    notify::{asked, note},
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
};

/// Approve a pending tool call, or answer a question with yes.
#[derive(Args, Debug)]
#[command(after_help = "\
Without QUESTION this answers every open question of the run. A process that owns the run takes the
answer at once. Otherwise the next `pointsman resume` takes it; until then a later answer replaces
an earlier one.

Examples:
  pointsman approve last
  pointsman approve RUN 5.0 --reason \"looked at the diff\"
  pointsman approve last --always              the same command, file or address from now on
  pointsman approve last --list-rules          the rules that `--always` can take for this call
  pointsman approve last --always='cargo test *'
  pointsman approve last --always=tool         every call of this tool")]
pub(crate) struct Approve {
    #[command(flatten)]
    answer: Answer,
    /// Allow calls like this one for the rest of this run (forks ask again):
    /// `exact` for the same command, file or address, one of the patterns that `--list-rules`
    /// lists, or `tool` for every call of the tool. Does not apply to questions, plans and
    /// sending a form.
    #[arg(
        long,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "exact"
    )]
    always: Option<String>,
    /// List the rules that `--always` can take for each open question, narrowest first; answer
    /// nothing.
    #[arg(long, conflicts_with = "always")]
    list_rules: bool,
}

/// Deny a pending tool call, or answer a question with no.
#[derive(Args, Debug)]
#[command(after_help = "\
Without QUESTION this answers every open question of the run.

Examples:
  pointsman deny last
  pointsman deny RUN 5.0 --reason \"not on this branch\"")]
pub(crate) struct Deny {
    #[command(flatten)]
    answer: Answer,
}

#[derive(Args, Debug)]
struct Answer {
    /// The run: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// The question's number, as `show` prints it, such as `5.0`.
    question: Option<String>,
    /// The reason; the journal keeps it, and a chart that asked a question receives it.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Cancel a run cleanly.
#[derive(Args, Debug)]
#[command(after_help = "\
The process that owns the run cancels it; without one, the run ends at once.

Examples:
  pointsman cancel last")]
pub(crate) struct Cancel {
    /// The run: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Pause a run: work in progress continues, nothing new starts.
#[derive(Args, Debug)]
#[command(after_help = "\
The process that owns the run pauses it; without one, the pause is recorded at once.
`pointsman resume` continues the run. Child runs are paused with it. Work in progress keeps its time
limit.

Examples:
  pointsman pause last
  pointsman pause RUN --reason \"the build needs the machine\"")]
pub(crate) struct Pause {
    /// The run: an id, a unique prefix of one, or `last`.
    run: RunArgument,
    /// The reason; the journal keeps it.
    #[arg(long, value_name = "TEXT", default_value = "a person paused it")]
    reason: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Approve {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        if self.list_rules {
            return self.answer.list_rules(globals);
        }
        self.answer.give(globals, true, self.always.as_deref())
    }
}

impl Deny {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        self.answer.give(globals, false, None)
    }
}

impl Answer {
    /// Returns the questions that are meant.
    fn open(&self, session: &Session, row: &RunRow) -> Result<Vec<Question>, Error> {
        let mut open = questions(session, row)?;
        if let Some(wanted) = &self.question {
            let listed: Vec<String> = open.iter().map(|it| it.effect.to_string()).collect();
            open.retain(|question| question.effect.to_string() == *wanted);
            if open.is_empty() {
                let (run, question) = (row.id.to_string(), wanted.clone());
                return Err(Error::NoSuchQuestion { run, question, open: listed });
            }
        }
        if open.is_empty() {
            return Err(Error::AsksNothing { run: row.id.to_string() });
        }
        in_time(row, open)
    }

    /// Says what `--always` can mean.
    fn list_rules(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let (row, tools) = (self.run.find(&session)?, toolbox());
        for question in self.open(&session, &row)? {
            if self.json {
                json_line(&json_lines::asked(&question))?;
                continue;
            }
            report::data(&format!("{}\n", asked(&question)))?;
            for rule in question.call().map(|call| tools.grants(call)).unwrap_or_default() {
                report::data(&format!("  --always='{}'\n", typed(&rule)))?;
            }
            if question.call().and_then(|call| tools.whole(call)).is_some() {
                report::data("  --always=tool\n")?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn give(
        self,
        globals: &Globals,
        granted: bool,
        always: Option<&str>,
    ) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        let open = self.open(&session, &row)?;
        // All of them are looked at before the first is answered.
        let rules = open.iter().map(|question| remembered(question, always));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        let word = if granted { "approved" } else { "denied" };
        let before = session.answers(&row.id).map_err(Error::Session)?;
        let mut delivery = Delivery::Taken;
        for (question, remember) in open.iter().zip(rules) {
            let call = question.call();
            // What goes with a yes or no is the person's own words, or nothing.
            let unsaid = || call.map_or(String::new(), |_| format!("{word} on the command line"));
            let reason = self.reason.clone().unwrap_or_else(unsaid);
            let decision = ApprovalDecision { granted, reason, remember };
            delivery = session.decide(&row.id, question, &decision).map_err(Error::Session)?;
            if !self.json && !matches!(delivery, Delivery::Ignored(_)) {
                report::data(&format!("{word}: {}\n", asked(question)))?;
            }
            if delivery == Delivery::Waiting && before.get(&question.effect) == Some(&!granted) {
                let was = if granted { "denied" } else { "approved" };
                note(&format!("replaces the earlier answer: {was}"));
            }
        }
        say(&row, delivery, word, self.json)
    }
}

/// Returns the rule that "always" means for a call: the narrowest, unless another is named.
fn remembered(question: &Question, always: Option<&str>) -> Result<Option<Grant>, Error> {
    let tools = toolbox();
    let call = question.call().filter(|call| !tools.is_once(call));
    let (Some(call), Some(wanted)) = (call, always) else { return Ok(None) };
    let offered = tools.grants(call);
    let rule = match wanted {
        "exact" => tools.exact(call),
        "tool" => tools.whole(call),
        wanted => offered.iter().find(|rule| is_called(rule, wanted)).cloned(),
    };
    let offered = || offered.iter().map(typed).collect();
    let none = || Error::NoRule {
        question: question.effect.to_string(),
        wanted: wanted.into(),
        offered: offered(),
    };
    rule.ok_or_else(none).map(Some)
}

/// Returns whether a rule is meant by what was typed: all of it, or its pattern.
fn is_called(rule: &Grant, wanted: &str) -> bool {
    typed(rule) == wanted || matches!(&*rule.arguments, [(_, pattern)] if pattern == wanted)
}

/// Returns what a run asks.
fn questions(session: &Session, row: &RunRow) -> Result<Vec<Question>, Error> {
    if row.ended.is_some() {
        return Ok(Vec::new());
    }
    Ok(session.recall(&row.id, None).map_err(Error::Session)?.loaded.questions())
}

/// Returns the questions that can still be answered, unless all of them are too old.
fn in_time(row: &RunRow, open: Vec<Question>) -> Result<Vec<Question>, Error> {
    let (mut fresh, mut too_late) = (Vec::new(), None);
    for question in open {
        match overdue(row, &question) {
            None => fresh.push(question),
            Some(ms) => {
                let (run, question) = (row.id.to_string(), question.effect.to_string());
                too_late = Some(Error::TooLate { run, question, late: format::duration(ms) });
            }
        }
    }
    too_late.filter(|_| fresh.is_empty()).map_or(Ok(fresh), Err)
}

impl Cancel {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        if let Some(ended) = row.ended {
            return Err(Error::HasEnded { run: row.id.to_string(), how: ended.into() });
        }
        let delivery = session.cancel(&row.id).map_err(Error::Session)?;
        if delivery == Delivery::Taken {
            agents::forget(&session, &row.id).map_err(Error::Session)?;
        }
        say(&row, delivery, "cancelled", self.json)
    }
}

impl Pause {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let row = self.run.find(&session)?;
        if let Some(ended) = row.ended {
            return Err(Error::HasEnded { run: row.id.to_string(), how: ended.into() });
        }
        let delivery = session.pause(&row.id, &self.reason).map_err(Error::Session)?;
        say(&row, delivery, "paused", self.json)
    }
}

/// Says what became of a word to a run.
pub(super) fn say(
    row: &RunRow,
    delivery: Delivery,
    word: &str,
    json: bool,
) -> Result<ExitCode, Error> {
    let run = &row.id;
    if let Delivery::Ignored(why) = delivery {
        return Err(Error::Ignored { run: run.to_string(), why });
    }
    let taken = delivery == Delivery::Taken;
    if json {
        json_line(&json!({ "run": run.as_str(), "said": word, "taken": taken }))?;
    } else if matches!(word, "cancelled" | "paused") && taken {
        report::data(&format!("{word}: run {run}\n"))?;
        if word == "paused" {
            note(&format!("next: pointsman resume {run}"));
        }
    } else if taken {
        report::data(&format!("run {run} continues\n"))?;
    } else if delivery == Delivery::Held {
        report::data(&format!("the process that owns run {run} has not taken it yet\n"))?;
    } else {
        report::data(&format!(
            "run {run} is not running; continue it with `pointsman resume {run}`\n"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

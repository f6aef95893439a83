//! `pointsman approve`, `deny`, `pause` and `cancel`: a person's word to a run.

use std::process::ExitCode;

use clap::Args;
use pointsman_kernel::{governor::Grant, id::EffectId};
use pointsman_runtime::{
    control::BulkAction,
    observe::Question,
    session::{ApprovalDecision, Delivery, Session},
    store::{RunId, RunRow},
};
use serde_json::json;

use super::run::json_line;
use crate::{
    agents::{self, toolbox},
    answers,
    calls::typed,
    json_lines,
    notify::{asked, note},
    paths::Globals,
    report::{self, Error},
    run_argument::RunArgument,
    run_filter::BulkArgs,
};

/// Approve a pending tool call, or answer a question with yes.
#[derive(Args, Debug)]
#[command(after_help = "\
Without QUESTION this answers every open question of the run. If a process owns the run, that
process takes the answer at once. Otherwise a free worker or the next `pointsman resume` takes it;
until then, a later answer replaces an earlier one.

Examples:
  pointsman approve last
  pointsman approve RUN 5.0 --reason \"looked at the diff\"
  pointsman approve last --always          the same command, file or address for the rest of the run
  pointsman approve last --list-rules      the rules that `--always` can take for this call
  pointsman approve last --always='cargo test *'
  pointsman approve last --always=tool     every call of this tool
  pointsman approve --chart release --idle 1h --dry-run")]
pub(crate) struct Approve {
    #[command(flatten)]
    answer: Answer,
    /// Allow calls like this one for the rest of this run (forks ask again). RULE is `exact`
    /// (the same command, file or address), a pattern from `--list-rules`, or `tool` (every call
    /// of the tool). Does not apply to questions, plans or sending a form.
    #[arg(
        long,
        value_name = "RULE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "exact",
        conflicts_with = "FilterArgs"
    )]
    always: Option<String>,
    /// List the rules that `--always` can take for each open question, narrowest first,
    /// without answering.
    #[arg(long, conflicts_with_all = ["always", "FilterArgs"])]
    list_rules: bool,
}

/// Deny a pending tool call, or answer a question with no.
#[derive(Args, Debug)]
#[command(after_help = "\
Without QUESTION this answers every open question of the run.

Examples:
  pointsman deny last
  pointsman deny RUN 5.0 --reason \"not on this branch\"
  pointsman deny --agent code --older-than 2d")]
pub(crate) struct Deny {
    #[command(flatten)]
    answer: Answer,
}

#[derive(Args, Debug)]
struct Answer {
    /// The run: an id, a unique prefix of one, or `last`.
    #[arg(required_unless_present = "FilterArgs", conflicts_with = "FilterArgs")]
    run: Option<RunArgument>,
    /// The question's number, as `show` prints it, such as `5.0`.
    question: Option<String>,
    #[command(flatten)]
    bulk: BulkArgs,
    /// The reason; the journal keeps it, and the chart that asked the question receives it.
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
  pointsman cancel last
  pointsman cancel --key team-a --status open --dry-run")]
pub(crate) struct Cancel {
    /// The run: an id, a unique prefix of one, or `last`.
    #[arg(required_unless_present = "FilterArgs", conflicts_with = "FilterArgs")]
    run: Option<RunArgument>,
    #[command(flatten)]
    bulk: BulkArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Pause a run: work in progress continues, nothing new starts.
#[derive(Args, Debug)]
#[command(after_help = "\
The process that owns the run pauses it; without one, the pause is recorded at once.
`pointsman resume` continues the run. Child runs are paused with their parent. Work in progress
keeps its time limit.

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
        if self.answer.run.is_none() {
            return self.answer.all(globals, true);
        }
        if self.list_rules {
            return self.answer.list_rules(globals);
        }
        self.answer.give(globals, true, self.always.as_deref())
    }
}

impl Deny {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        if self.answer.run.is_none() {
            return self.answer.all(globals, false);
        }
        self.answer.give(globals, false, None)
    }
}

impl Answer {
    /// Answers every open question of the runs that a filter names.
    fn all(self, globals: &Globals, granted: bool) -> Result<ExitCode, Error> {
        let word = word(granted);
        let reason = self.reason.unwrap_or_else(|| format!("{word} on the command line"));
        let session = globals.session()?;
        self.bulk.act(&session, &BulkAction::Decide { granted, reason }, self.json)
    }

    fn row(&self, session: &Session) -> Result<RunRow, Error> {
        match &self.run {
            Some(run) => run.find(session),
            None => Err(Error::NoSuchRun { typed: String::new(), none: false }),
        }
    }

    /// Returns the questions that are meant.
    fn open(&self, session: &Session, row: &RunRow) -> Result<Vec<Question>, Error> {
        let now_ms = session.store().now_ms();
        answers::meant(row, questions(session, row)?, self.question.as_deref(), now_ms)
    }

    /// Says what `--always` can mean.
    fn list_rules(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let (row, tools) = (self.row(&session)?, toolbox());
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
        let row = self.row(&session)?;
        let open = self.open(&session, &row)?;
        // All of them are checked before the first is answered.
        let rules = open.iter().map(|question| answers::remembered(question, always));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        let word = word(granted);
        let before = session.answers(&row.id).map_err(Error::Session)?;
        let mut delivery = Delivery::Taken;
        for (question, remember) in open.iter().zip(rules) {
            let reason = self.reason.clone();
            delivery = decide(&session, &row, question, granted, reason, remember)?;
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

/// Sends an answer to a question.
fn decide(
    session: &Session,
    row: &RunRow,
    question: &Question,
    granted: bool,
    reason: Option<String>,
    remember: Option<Grant>,
) -> Result<Delivery, Error> {
    // What goes with a yes or no is the person's own words, or nothing.
    let unsaid = || match question.call() {
        Some(_) => format!("{} on the command line", word(granted)),
        None => String::new(),
    };
    let reason = reason.unwrap_or_else(unsaid);
    let decision = ApprovalDecision { granted, reason, remember };
    session.decide(&row.id, question, &decision).map_err(Error::Session)
}

/// Answers one question of a run, and returns what became of it, in words.
pub(crate) fn give_one(
    session: &Session,
    run: &RunId,
    question: EffectId,
    granted: bool,
    reason: Option<String>,
) -> Result<String, Error> {
    let row = session.block_on(session.store().run(run)).map_err(Error::Store)?;
    let wanted = question.to_string();
    let open =
        answers::meant(&row, questions(session, &row)?, Some(&wanted), session.store().now_ms())?;
    let Some(question) = open.first() else {
        return Err(Error::AsksNothing { run: run.to_string() });
    };
    let delivery = decide(session, &row, question, granted, reason, None)?;
    let said = became(&row, delivery)?;
    Ok(format!("{}; {said}", word(granted)))
}

const fn word(granted: bool) -> &'static str {
    if granted { "approved" } else { "denied" }
}

/// Returns what a run asks.
fn questions(session: &Session, row: &RunRow) -> Result<Vec<Question>, Error> {
    if row.ended.is_some() {
        return Ok(Vec::new());
    }
    Ok(session.recall(&row.id, None).map_err(Error::Session)?.loaded.questions())
}

impl Cancel {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        let Some(run) = &self.run else {
            return self.bulk.act(&session, &BulkAction::Cancel, self.json);
        };
        let row = run.find(&session)?;
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

/// Says what happened to a message for a run.
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
    } else {
        report::data(&format!("{}\n", became(row, delivery)?))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what became of an answer.
fn became(row: &RunRow, delivery: Delivery) -> Result<String, Error> {
    let run = &row.id;
    Ok(match delivery {
        Delivery::Ignored(why) => return Err(Error::Ignored { run: run.to_string(), why }),
        Delivery::Taken => format!("run {run} continues"),
        Delivery::Queued => format!("the next free worker continues run {run}"),
        Delivery::Held => format!("the process that owns run {run} has not read the message yet"),
        Delivery::Waiting => {
            format!("run {run} is not running; continue it with `pointsman resume {run}`")
        }
    })
}

//! `pointsman run`: run an agent or a chart to its end.

use std::{process::ExitCode, sync::Arc};

use clap::Args;
use pointsman_kernel::{chart::Disposition, job::AgentDecl};
use pointsman_runtime::{config::Config, driver::RunStatus, session::Session};
use serde_json::Value;

use super::dry;
use crate::{
    chart::Source,
    commits,
    drive::{Drive, Waits},
    ending::finish,
    format,
    notify::note,
    paths::Globals,
    piped_input::{self, FirstMessage, PipedLimits},
    report::{self, Error},
    serve::{PageServer, ServeOptions},
    start::{Answers, PreparedStart, StartArgs, StartMode},
    terminal_approver,
};

/// Run an agent to its end. Progress goes to standard error, the result to standard output.
#[derive(Args, Debug)]
#[command(after_help = "\
AGENT is `chat`, `code`, `research`, `form`, `explore`, or a chart file: your own, or a changed copy
of a shipped one.
If neither `--model`, POINTSMAN_MODEL nor the settings name a model, `quote` answers: it is
built in, asks no model, and quotes matching passages.

`form` fills a web form in a real browser from a profile. If `--model`, POINTSMAN_MODEL
or the settings name a model, that model writes text that the profile lacks. `form` sends nothing
before you confirm, unless you give `--submit yes`.

`explore` tries every action of an app, on a device behind Appium or in a recording. The default
of 100 steps allows about twelve actions; `--budget actions=N` raises the other limits to what N
actions need.

`code` works in phases: those of `--plan`, or those that the model proposes and you approve. A plan
is a TOML file of `[[phase]] description = \"…\"`, or a list `1. …`, `2. …`, optionally with
`(10 min)`.

Read-only tools run without asking; everything else prompts at the terminal. Without a terminal
the run waits for `pointsman approve` or `pointsman deny`. Calls that cannot succeed fail without a
prompt.

`--open` serves the page of the run on a free port of this machine, and opens it with `BROWSER`,
`xdg-open` or `open`. The result is printed when the run ends. At a terminal the page then stays
open until Ctrl-C; without a terminal, or with `--json`, it closes with the run. Making changes from
the page needs a token, as for `pointsman serve`.

Ctrl-C cancels the run cleanly. A second Ctrl-C detaches: the run can be resumed. A third exits at
once.

Examples:
  pointsman run research \"Where is the loop rule proved?\"
  pointsman run research \"Which tests replay journals?\" --dir ~/src/project --json
  pointsman run my-agent.toml \"Write a haiku\" --model ollama:llama3.2
  pointsman run my-agent.toml --set tone=dry --allow 'shell:command=cargo *' --deny git
  pointsman run code \"Make the tests pass\" --plan plan.md --allow 'shell:command=cargo test*'
  pointsman run form --url https://example.org/apply --profile ~/profile.toml --visible
  pointsman run form --url https://example.org/apply --profile ~/profile.toml --submit never
  pointsman run explore --appium http://127.0.0.1:4723 --caps caps.json --budget actions=300
  pointsman run explore --app-graph app.jsonl.gz --policy max-coverage --budget actions=300
  pointsman run code \"Port the parser\" --budget model_calls=500 --budget time=8h
  pointsman run research \"…\" --dry-run
  pointsman run code \"Make the tests pass\" --open
  cat error.log | pointsman run chat \"Explain this log\"   the log is attached to the goal
  pointsman run code - < task.md                           the goal is read from standard input

Exit codes: 0 succeeded, 1 failed, 2 usage or configuration, 3 waiting for a person, 4 budget,
5 stuck, 6 cancelled, 7 denied, or a step is left to you, 8 chart refused, 10 store fault.")]
pub(crate) struct Run {
    /// A shipped agent, or a chart file.
    #[arg(value_name = "AGENT|CHART.toml")]
    agent: String,
    /// The goal; `-` reads it from standard input.
    goal: Option<String>,
    /// The rest of an unquoted goal.
    #[arg(hide = true, value_name = "WORD")]
    rest: Vec<String>,
    #[command(flatten)]
    drive: Drive,
    #[command(flatten)]
    start: StartArgs,
    /// Show the run in the browser, live. At a terminal the page stays until Ctrl-C.
    #[arg(long, conflicts_with = "only_plan")]
    open: bool,
    /// Print what would run, and do nothing.
    #[arg(long = "dry-run")]
    only_plan: bool,
}

impl Run {
    pub(crate) fn run(mut self, globals: &Globals) -> Result<ExitCode, Error> {
        if !self.rest.is_empty() {
            let words = self.goal.iter().chain(&self.rest).map(String::as_str);
            let goal = words.collect::<Vec<_>>().join(" ");
            return Err(Error::Unquoted { agent: self.agent, goal });
        }
        let source = Source::find(&self.agent)?;
        let mut config = self.drive.config()?;
        let said = self.piped(&source, &config)?.map(|opening| opening.text);
        let mode = StartMode {
            here: !self.only_plan,
            answers: Answers::Terminal(terminal_approver::is_there()),
        };
        let (agent, goal) = (&*self.agent, self.goal.as_deref());
        let prepared = self.start.prepare(agent, source, goal, said, &mut config, mode)?;
        let PreparedStart { options: start, phases, told, attended } = prepared;
        if self.only_plan {
            return dry::show(start, &self.drive, &config, (&phases, &told));
        }
        commits::settle(&self.drive, &mut config, start.program.agent(), attended);
        let session = Arc::new(if self.open {
            // The server reads while entries are written.
            globals.shared_session(&config)?
        } else {
            globals.session_with(&config)?
        });
        let (executor, forms) = self.drive.executor(&session, &config)?;
        self.start.rules.report_void(&config.permissions, &executor);
        let left_out = executor.left_out(start.program.agent(), &start.permissions);
        if !left_out.is_empty() && !self.start.settings.iter().any(|(key, _)| key == "tools") {
            let (count, names) = (left_out.len(), format::line(&left_out.join(", "), 400));
            let tools = if count == 1 { "tool is" } else { "tools are" };
            note(&format!("{count} {tools} over the agent's limit and not offered: {names}"));
        }
        let waits = Waits::of(start.program.agent());
        let mut audience = self.drive.audience(&session, self.start.rules.unattended, waits)?;
        let mut observers = audience.observers.clone();
        let page = if self.open { Some(serve_page(globals, &session, &config)?) } else { None };
        observers.extend(page.iter().flat_map(PageServer::observers));
        let outcome = session
            .run(&executor, start, observers, &mut *audience.approver)
            .map_err(Error::Session)?;
        let code = finish(&session, &forms, &outcome, audience, self.drive.json)?;
        // Without a terminal it could not be ended, and a person who cancels the run wants to leave.
        let stays = terminal_approver::is_there() && !self.drive.json;
        let stays = stays && outcome.status != RunStatus::Ended(Disposition::Cancelled);
        if let Some(page) = page.filter(|_| stays) {
            let address = page.page(&outcome.run);
            note(&format!("the page stays at {address} until you press Ctrl-C"));
            page.wait(&session)?;
        }
        Ok(code)
    }

    /// Returns the messages for a conversational agent: the goal, with piped input attached. If
    /// the goal is `-`, the piped input is the goal.
    fn piped(&mut self, source: &Source, config: &Config) -> Result<Option<FirstMessage>, Error> {
        // Verification reports a refused chart.
        let agent = source.verify().map_or(AgentDecl::NONE, |program| *program.agent());
        let limits = PipedLimits::of(config.talk(&agent));
        if self.goal.as_deref() == Some("-") {
            let opening =
                FirstMessage::of(None, piped_input::read(limits)?).ok_or(Error::NothingToSay)?;
            self.goal = Some(opening.text.clone());
            return Ok(Some(opening));
        }
        let attached = if agent.converses() && self.goal.is_some() {
            piped_input::read(limits)?
        } else {
            None
        };
        Ok(FirstMessage::of(self.goal.clone(), attached).filter(|_| self.goal.is_some()))
    }
}

/// Serves the page beside a run, and says where.
fn serve_page(
    globals: &Globals,
    session: &Arc<Session>,
    config: &Config,
) -> Result<PageServer, Error> {
    let options = ServeOptions::of(&config.serve)?;
    let page = PageServer::start(session, options, globals.tokens(config)?)?;
    note(&format!("page: {}", page.url()));
    Ok(page)
}

/// Prints JSON as a line.
pub(super) fn json_line(value: &Value) -> Result<(), Error> {
    report::json(value)
}

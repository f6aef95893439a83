//! `pointsman run`: run an agent or a chart to its end.

mod explore;
mod form;

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use pointsman_agents::{
    code::Phase,
    form::{CHART as FORM, SUBMIT_TOOL},
};
use pointsman_kernel::{
    agents::Program,
    body::Body,
    chart::{Budget, Chart},
    diagnostic::{did_you_mean, nearest},
    job::AgentDecl,
};
use pointsman_runtime::{config::Config, plan, session::StartOptions};
use pointsman_webdriver::exploration::explores;
use serde_json::{Map, Value, json};

use super::dry;
use crate::{
    budgets::Budgets,
    chart::Source,
    commits,
    drive::{Drive, Waits},
    ending::finish,
    error::ExploreError,
    format,
    notify::note,
    paths::Globals,
    piped_input::{self, FirstMessage, PipedLimits},
    report::{self, Error},
    rules::Rules,
    terminal_approver,
};
use explore::{ExplorationPlan, ExploreArgs};
use form::{FormArgs, FormPlan};

/// Run an agent to its end. Progress goes to standard error, the result to standard output.
#[derive(Args, Debug)]
#[command(after_help = "\
AGENT is `chat`, `code`, `research`, `form`, `explore`, or a chart file with built-in jobs. Without
`--model`, `quote` answers: it is built in, asks no model, and quotes the passages that match.

`form` fills a web form in a real browser from a profile. If `--model` or the settings name a model,
it writes text that the profile lacks. `form` sends nothing before you confirm.

`explore` tries every action of an app, on a device behind Appium or in a recording. The default of
100 steps allows about twelve actions; `--budget actions=N` raises all limits to what N actions need.

`code` works in phases, from `--plan` or proposed by the model and approved by you. A plan is a TOML
file of `[[phase]] description = \"…\"`, or a list `1. …`, `2. …`, optionally with `(10 min)`.

Read-only tools run without asking; everything else prompts at the terminal. Without a terminal the
run waits for `pointsman approve` or `pointsman deny`. Calls that cannot succeed fail without a prompt.

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
  cat error.log | pointsman run chat \"Explain this log\"   the log is attached to the goal
  pointsman run code - < task.md                           the goal is read from standard input

Exit codes: 0 succeeded, 1 failed, 2 usage or configuration, 3 waiting for a person, 4 budget,
5 stuck, 6 cancelled, 7 denied or left to you, 8 chart refused, 10 store fault.")]
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
    /// Set a slot of the chart or a key of the agent's configuration, as JSON or text.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    settings: Vec<(String, Value)>,
    /// The plan for `code`: a TOML file or a numbered list.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Seed for retry jitter [default: random].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print what would run, and do nothing.
    #[arg(long = "dry-run")]
    only_plan: bool,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    budgets: Budgets,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    explore: ExploreArgs,
}

/// Reads `KEY=VALUE`; a value that is no JSON is text.
fn pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    if key.is_empty() {
        return Err("the key is missing: write KEY=VALUE".into());
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
    Ok((key.into(), value))
}

impl Run {
    pub(crate) fn run(mut self, globals: &Globals) -> Result<ExitCode, Error> {
        if !self.rest.is_empty() {
            let words = self.goal.iter().chain(&self.rest).map(String::as_str);
            let goal = words.collect::<Vec<_>>().join(" ");
            return Err(Error::Unquoted { agent: self.agent, goal });
        }
        let mut source = Source::find(&self.agent)?;
        let mut config = self.drive.config()?;
        let piped = self.piped(&source, &config)?;
        let plan = self.form_plan(&source, &mut config)?;
        if let Some(plan) = plan.as_ref().filter(|_| source.text == FORM) {
            source.text.clone_from(&plan.chart);
        }
        self.budgets.over(&mut source, &config)?;
        let text = source.text.clone();
        let program = source.program()?;
        let phases = self.phases(&program)?;
        let trip = self.trip(&program, &config)?;
        let set = match (&plan, &trip) {
            (Some(plan), _) => plan.config.clone(),
            (_, Some(trip)) => trip.config.clone(),
            _ => self.config(&program, &phases)?,
        };
        // A browser does not wait for somebody to come by: nobody there means no.
        let there = plan.is_none() || terminal_approver::is_there();
        let attended = !self.rules.unattended && there;
        let mut grants = self.rules.grants();
        grants.extend(plan.iter().flat_map(|plan| plan.typed.iter().cloned()));
        let usual = plan.as_ref().map_or(&[][..], |plan| &plan.usual);
        let permissions = config.permissions.permissions_with(grants, usual, attended);
        // An agent that listens is told its goal, and that this is all.
        let words = match piped {
            Some(opening) if program.agent().converses() => {
                vec![Body::canonical(&json!({ "text": opening.text }))]
            }
            // Whoever types the command lets the agent act.
            _ if plan.is_some() => vec![Body::canonical(&json!({}))],
            _ => Vec::new(),
        };
        let goal = self.goal.clone().or_else(|| url(plan.as_ref())).unwrap_or_default().into();
        let (source, seed) = (text.into(), self.seed);
        let start =
            StartOptions { program, source, config: set.into(), words, goal, permissions, seed };
        if self.only_plan {
            let trip = trip.as_ref().map_or(&[][..], |trip| &trip.told);
            let told = plan.as_ref().map_or(trip, |plan| &plan.told);
            return dry::show(start, &self.drive, &config, (&phases, told));
        }
        commits::settle(&self.drive, &mut config, start.program.agent(), attended);
        let session = globals.session_with(&config)?;
        let (executor, forms) = self.drive.executor(&session, &config)?;
        self.rules.tell_void(&config.permissions, &executor);
        let left_out = executor.left_out(start.program.agent(), &start.permissions);
        if !left_out.is_empty() && !self.settings.iter().any(|(key, _)| key == "tools") {
            let (count, names) = (left_out.len(), format::line(&left_out.join(", "), 400));
            let tools = if count == 1 { "tool is" } else { "tools are" };
            note(&format!("{count} {tools} not offered, because the agent takes no more: {names}"));
        }
        let waits = Waits::of(start.program.agent());
        let mut audience = self.drive.audience(&session, self.rules.unattended, waits)?;
        let observers = audience.observers.clone();
        let outcome = session
            .run(&executor, start, observers, &mut *audience.approver)
            .map_err(Error::Session)?;
        finish(&session, &forms, &outcome, audience, self.drive.json)
    }

    /// Returns what is said to an agent that listens: the goal, with what is piped in
    /// attached to it. Where the goal is `-`, all that is piped in is the goal.
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

    /// Returns the form that is to be filled, if one is.
    fn form_plan(&self, source: &Source, config: &mut Config) -> Result<Option<FormPlan>, Error> {
        // Verification reports a refused chart.
        let fills = |program: Program| program.agent().own_tools.contains(&SUBMIT_TOOL);
        if !source.verify().is_ok_and(fills) {
            return match self.form.given() {
                Some(option) => Err(Error::OnlyForms { agent: self.agent.clone(), option }),
                None => Ok(None),
            };
        }
        self.form.over(config);
        let writes = config.model.writes();
        let (form, goal) = (&config.form, self.goal.as_deref());
        let mut plan = self.form.plan(form, goal, writes, !self.only_plan)?;
        if let Some(fields) = plan.config.as_object_mut() {
            fields.extend(self.settings.iter().cloned());
        }
        Ok(Some(plan))
    }

    /// Returns the exploration that is to be run, if the chart is one.
    fn trip(&self, program: &Program, config: &Config) -> Result<Option<ExplorationPlan>, Error> {
        if !explores(program.agent()) {
            return match self.explore.given() {
                Some(option) => {
                    let agent = self.agent.clone();
                    Err(Error::Explore(ExploreError::OnlyDevices { agent, option }))
                }
                None => Ok(None),
            };
        }
        let asks = config.model.writes();
        let (goal, seed) = (self.goal.as_deref(), self.seed.unwrap_or_default());
        let server = config.explore.appium.as_deref();
        let mut trip = self.explore.trip(goal, asks, seed, server).map_err(Error::Explore)?;
        if let Some(fields) = trip.config.as_object_mut() {
            fields.extend(self.settings.iter().cloned());
        }
        Ok(Some(trip))
    }

    /// Returns the phases of the plan that was given.
    fn phases(&self, program: &Program) -> Result<Vec<Phase>, Error> {
        let Some(path) = &self.plan else { return Ok(Vec::new()) };
        if !program.agent().plans() {
            return Err(Error::NoPlan { agent: self.agent.clone() });
        }
        let budget = program.budgets().iter().find(|budget| budget.name() == "phases");
        plan::read(path, budget.map_or(u64::MAX, Budget::max)).map_err(Error::Plan)
    }

    /// Returns the agent's configuration: the goal, the plan, and what `--set` says.
    fn config(&self, program: &Program, phases: &[Phase]) -> Result<Value, Error> {
        let set: Map<String, Value> = self.settings.iter().cloned().collect();
        if set.contains_key("goal") {
            return Err(Error::GoalSet { agent: self.agent.clone() });
        }
        if !program.agent().slots.is_empty() {
            return self.slots(program, set);
        }
        let Some(goal) = &self.goal else {
            return Err(Error::NoGoal { agent: self.agent.clone() });
        };
        let mut config = set;
        if !phases.is_empty() {
            config.insert("phases".into(), json!(phases));
        }
        if program.agent().converses() {
            return Ok(Value::Object(config));
        }
        config.insert("goal".into(), goal.as_str().into());
        Ok(Value::Object(config))
    }
}

impl Run {
    /// Returns the slots of a chart of one's own as the run starts with them.
    fn slots(&self, chart: &Chart, set: Map<String, Value>) -> Result<Value, Error> {
        let known = || chart.slots().iter().map(|slot| &**slot);
        if let Some(key) = set.keys().find(|key| known().all(|slot| slot != key.as_str())) {
            let others = known().filter(|slot| *slot != "goal");
            let hint = if nearest(key, others.clone()).is_none() {
                format!("declare it in the chart: `slots = {{ {key} = \"…\" }}`")
            } else {
                did_you_mean(key, others, "slot")
            };
            return Err(Error::NoSuchSlot { agent: self.agent.clone(), key: key.clone(), hint });
        }
        let needs = chart.needs().iter().any(|slot| &**slot == "goal");
        let goal = self.goal.as_deref().unwrap_or_default();
        if needs && goal.trim().is_empty() {
            return Err(Error::NoGoal { agent: self.agent.clone() });
        }
        let mut slots: Map<String, Value> =
            chart.filled().iter().map(|(slot, holds)| (slot.to_string(), holds.clone())).collect();
        slots.extend(set);
        Ok(json!({ "goal": goal, "slots": slots }))
    }
}

/// Returns the address of the form, which stands for a goal that nobody gave.
fn url(plan: Option<&FormPlan>) -> Option<String> {
    plan?.config.get("url")?.as_str().map(str::to_owned)
}

/// Prints JSON as a line.
pub(super) fn json_line(value: &Value) -> Result<(), Error> {
    report::json(value)
}

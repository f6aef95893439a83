//! What a run starts with: an agent or a chart, a goal, settings and permissions, made into what an
//! engine takes. `run`, `submit`, a file of many and the server all come through here.

mod explore;
mod form;
mod request;

use std::path::PathBuf;

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
    governor::Grant,
};
use pointsman_runtime::{config::Config, plan, session::StartOptions};
use pointsman_webdriver::exploration::explores;
use serde_json::{Map, Value, json};

use crate::{budgets::Budgets, chart::Source, error::ExploreError, report::Error, rules::Rules};
use explore::{ExplorationPlan, ExploreArgs};
use form::{FormArgs, FormPlan};
pub(crate) use request::{RunRequest, source};

/// The run to start, and its rules.
#[derive(Args, Debug, Default)]
pub(crate) struct StartArgs {
    /// Set a slot of the chart or a key of the agent's configuration, as JSON or text.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) settings: Vec<(String, Value)>,
    /// The plan for `code`: a TOML file or a numbered list.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Seed for retry jitter [default: random] and for the choices of `explore` [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten)]
    budgets: Budgets,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    explore: ExploreArgs,
}

/// Takes a text out of a configuration; a value of another type stays in it.
fn take_text(config: &mut Map<String, Value>, key: &str) -> Option<String> {
    match config.remove(key) {
        Some(Value::String(text)) => Some(text),
        other => {
            config.extend(other.map(|value| (key.to_owned(), value)));
            None
        }
    }
}

/// How a run starts here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartMode {
    /// Whether the browser or device must be on this machine.
    pub(crate) here: bool,
    /// Whether a person can answer the run's questions.
    pub(crate) answers: Answers,
}

/// Who answers what a run asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Answers {
    /// Somebody, later or elsewhere.
    Anyone,
    /// The person at this terminal, or `false` without one: the questions of a run that cannot wait
    /// are then denied.
    Terminal(bool),
}

/// A run that is ready to start.
#[derive(Debug)]
pub(crate) struct PreparedStart {
    /// What an engine takes.
    pub(crate) options: StartOptions,
    /// The phases of its plan.
    pub(crate) phases: Vec<Phase>,
    /// What is special about it, for people, as lines of a name and a text.
    pub(crate) told: Vec<(&'static str, String)>,
    /// Whether a person answers its questions.
    pub(crate) attended: bool,
}

/// Reads `KEY=VALUE`; a value that is not JSON is text.
fn pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    if key.is_empty() {
        return Err("the key is missing: write KEY=VALUE".into());
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
    Ok((key.into(), value))
}

impl StartArgs {
    /// Returns the arguments that a request names by keys of the agent's configuration. For an
    /// agent that fills forms, `url` and `profile` are what `--url` and `--profile` are.
    pub(crate) fn of(source: &Source, mut config: Map<String, Value>) -> Self {
        let form = if fills(source) { FormArgs::take(&mut config) } else { FormArgs::default() };
        let explore = source.verify().is_ok_and(|program| explores(program.agent()));
        let explore = if explore { ExploreArgs::take(&mut config) } else { ExploreArgs::default() };
        Self { settings: config.into_iter().collect(), form, explore, ..Self::default() }
    }

    /// Prepares a run: `agent` is its name for messages, `said` the first message of a conversation
    /// instead of the goal. `config` has the settings of the folder.
    pub(crate) fn prepare(
        &self,
        agent: &str,
        mut source: Source,
        goal: Option<&str>,
        said: Option<String>,
        config: &mut Config,
        mode: StartMode,
    ) -> Result<PreparedStart, Error> {
        let plan = self.form_plan(agent, &source, goal, config, mode.here)?;
        if let Some(plan) = plan.as_ref().filter(|_| source.text == FORM) {
            source.text.clone_from(&plan.chart);
        }
        self.budgets.over(&mut source, config)?;
        let text = source.text.clone();
        let program = source.program()?;
        let phases = self.phases(agent, &program)?;
        let trip = self.trip(agent, goal, &program, config)?;
        let set = match (&plan, &trip) {
            (Some(plan), _) => plan.config.clone(),
            (_, Some(trip)) => trip.config.clone(),
            _ => self.config(agent, goal, &program, &phases, mode)?,
        };
        let there = match mode.answers {
            Answers::Anyone => true,
            // A browser cannot wait for a person: without one the answer is no.
            Answers::Terminal(there) => plan.is_none() || there,
        };
        let attended = !self.rules.unattended && there;
        let mut grants: Vec<Grant> = self.rules.grants();
        grants.extend(plan.iter().flat_map(|plan| plan.typed.iter().cloned()));
        let usual = plan.as_ref().map_or(&[][..], |plan| &plan.usual);
        let permissions = config.permissions.permissions_with(grants, usual, attended);
        // A conversation gets its goal as the only message.
        let words = match said.or_else(|| goal.map(str::to_owned)) {
            Some(text) if program.agent().converses() => {
                vec![Body::canonical(&json!({ "text": text }))]
            }
            // The person who starts the run lets the agent act.
            _ if plan.is_some() => vec![Body::canonical(&json!({}))],
            _ => Vec::new(),
        };
        let goal = goal.map(str::to_owned).or_else(|| url(plan.as_ref())).unwrap_or_default();
        let told = plan.map(|plan| plan.told).or_else(|| trip.map(|trip| trip.told));
        let options = StartOptions {
            program,
            source: text.into(),
            config: set.into(),
            words,
            goal: goal.into(),
            permissions,
            seed: self.seed,
        };
        Ok(PreparedStart { options, phases, told: told.unwrap_or_default(), attended })
    }

    /// Returns the form that is to be filled, if one is.
    fn form_plan(
        &self,
        agent: &str,
        source: &Source,
        goal: Option<&str>,
        config: &mut Config,
        here: bool,
    ) -> Result<Option<FormPlan>, Error> {
        if !fills(source) {
            return match self.form.given() {
                Some(option) => Err(Error::OnlyForms { agent: agent.into(), option }),
                None => Ok(None),
            };
        }
        self.form.over(config);
        let writes = config.model.writes();
        let mut plan = self.form.plan(&config.form, goal, writes, here)?;
        if let Some(fields) = plan.config.as_object_mut() {
            fields.extend(self.settings.iter().cloned());
        }
        Ok(Some(plan))
    }

    /// Returns the exploration that is to be run, if the chart is one.
    fn trip(
        &self,
        agent: &str,
        goal: Option<&str>,
        program: &Program,
        config: &Config,
    ) -> Result<Option<ExplorationPlan>, Error> {
        if !explores(program.agent()) {
            return match self.explore.given() {
                Some(option) => {
                    let agent = agent.into();
                    Err(Error::Explore(ExploreError::OnlyDevices { agent, option }))
                }
                None => Ok(None),
            };
        }
        let asks = config.model.writes();
        let seed = self.seed.unwrap_or_default();
        let server = config.explore.appium.as_deref();
        let mut trip = self.explore.trip(goal, asks, seed, server).map_err(Error::Explore)?;
        if let Some(fields) = trip.config.as_object_mut() {
            fields.extend(self.settings.iter().cloned());
        }
        Ok(Some(trip))
    }

    /// Returns the phases of the plan that was given.
    fn phases(&self, agent: &str, program: &Program) -> Result<Vec<Phase>, Error> {
        let Some(path) = &self.plan else { return Ok(Vec::new()) };
        if !program.agent().plans() {
            return Err(Error::NoPlan { agent: agent.into() });
        }
        let budget = program.budgets().iter().find(|budget| budget.name() == "phases");
        plan::read(path, budget.map_or(u64::MAX, Budget::max)).map_err(Error::Plan)
    }

    /// Returns the agent's configuration: the goal, the plan, and what `--set` says.
    fn config(
        &self,
        agent: &str,
        goal: Option<&str>,
        program: &Program,
        phases: &[Phase],
        mode: StartMode,
    ) -> Result<Value, Error> {
        let set: Map<String, Value> = self.settings.iter().cloned().collect();
        if set.contains_key("goal") {
            return Err(Error::GoalSet { agent: agent.into() });
        }
        if !program.agent().slots.is_empty() {
            return slots(agent, goal, program, set);
        }
        // A conversation that others join later needs no first message.
        let joined = program.agent().converses() && mode.answers == Answers::Anyone;
        if goal.is_none() && !joined {
            return Err(Error::NoGoal { agent: agent.into() });
        }
        let mut config = set;
        if !phases.is_empty() {
            config.insert("phases".into(), json!(phases));
        }
        if program.agent().converses() {
            return Ok(Value::Object(config));
        }
        config.insert("goal".into(), goal.unwrap_or_default().into());
        Ok(Value::Object(config))
    }
}

/// Returns whether a chart's agent fills forms.
fn fills(source: &Source) -> bool {
    // Verification reports a refused chart.
    source.verify().is_ok_and(|program| program.agent().own_tools.contains(&SUBMIT_TOOL))
}

/// Returns the slots of a user's chart as the run starts with them.
fn slots(
    agent: &str,
    goal: Option<&str>,
    chart: &Chart,
    set: Map<String, Value>,
) -> Result<Value, Error> {
    let known = || chart.slots().iter().map(|slot| &**slot);
    if let Some(key) = set.keys().find(|key| known().all(|slot| slot != key.as_str())) {
        let others = known().filter(|slot| *slot != "goal");
        let hint = if nearest(key, others.clone()).is_none() {
            format!("declare it in the chart: `slots = {{ {key} = \"…\" }}`")
        } else {
            did_you_mean(key, others, "slot")
        };
        return Err(Error::NoSuchSlot { agent: agent.into(), key: key.clone(), hint });
    }
    let needs = chart.needs().iter().any(|slot| &**slot == "goal");
    let goal = goal.unwrap_or_default();
    if needs && goal.trim().is_empty() {
        return Err(Error::NoGoal { agent: agent.into() });
    }
    let mut slots: Map<String, Value> =
        chart.filled().iter().map(|(slot, holds)| (slot.to_string(), holds.clone())).collect();
    slots.extend(set);
    Ok(json!({ "goal": goal, "slots": slots }))
}

/// Returns the address of the form, the default goal.
fn url(plan: Option<&FormPlan>) -> Option<String> {
    plan?.config.get("url")?.as_str().map(str::to_owned)
}

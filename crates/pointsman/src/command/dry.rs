//! `pointsman run --dry-run`: what would run, with what, and under which permissions.

use std::{fs, process::ExitCode};

use pointsman_agents::code::Phase;
use pointsman_kernel::{
    chart::{AllowedTools, Certificate, CertificateScope},
    governor::{Grant, Level},
};
use pointsman_runtime::{
    config::Config,
    model::{self, Provider},
    session::{DryRun, StartOptions, dry_run},
    tool,
};
use serde_json::{Value, json};

use super::run::json_line;
use crate::{
    agents::AGENTS,
    calls,
    drive::Drive,
    format, paths,
    report::{self, Error},
};

/// Shows the plan. Nothing is asked, started or written.
pub(super) fn show(
    start: StartOptions,
    drive: &Drive,
    config: &Config,
    (phases, form): (&[Phase], &[(&str, String)]),
) -> Result<ExitCode, Error> {
    // The index is kept in memory: a plan leaves no file behind.
    let mut engine = drive.engine(&paths::cache()?, config)?;
    engine.tools.index = ":memory:".into();
    let model = engine.model.clone();
    let servers = engine.mcp.as_ref();
    let approved: Vec<String> = servers.map(|servers| servers.names.clone()).unwrap_or_default();
    let tools = tool::WorkspaceTools::open(engine.tools.clone()).map_err(Error::Tools)?;
    let DryRun { program, permissions, tools: offered } =
        dry_run(AGENTS.clone(), engine, start).map_err(Error::Session)?;
    let folder = fs::canonicalize(drive.dir()).unwrap_or_else(|_| drive.dir().into());
    let certificate = program.certificate();
    let rules: Vec<String> = permissions.rules.iter().map(rule).collect();
    let states: Vec<(&str, Vec<&str>)> = program
        .states()
        .iter()
        .filter_map(|state| match state.tools() {
            AllowedTools::Only(list) => {
                Some((state.name(), list.iter().map(AsRef::as_ref).collect()))
            }
            AllowedTools::All => Some((state.name(), vec!["*"])),
            _ => None,
        })
        .collect();
    if drive.json {
        let listed: serde_json::Map<String, Value> =
            states.iter().map(|(state, tools)| ((*state).to_owned(), json!(tools))).collect();
        let mut plan = json!({
            "chart": program.name(),
            "version": program.version(),
            "digest": program.digest(),
            "dir": folder,
            "model": model.spec.to_string(),
            "base_url": model.base_url,
            "sandbox": tools.tool_sandbox(),
            "mcp": approved,
            "certificate": certificate,
            "tools": listed,
            "offered": offered,
            "permissions": permissions,
            "phases": phases,
        });
        if let Some(fields) = plan.as_object_mut().filter(|_| !form.is_empty()) {
            let told = form.iter().map(|(name, text)| ((*name).to_owned(), json!(text)));
            fields.insert("form".into(), told.collect::<serde_json::Map<_, _>>().into());
        }
        json_line(&plan)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{} v{} would run.\n\n  folder   {}\n  model    {}\n  sandbox  {}\n",
        program.name(),
        program.version(),
        folder.display(),
        model.spec,
        tools.tool_sandbox(),
    );
    // Writing to a string cannot fail.
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    for (name, said) in form {
        line(format!("  {name:<8} {}", format::line(said, 200)));
    }
    if !approved.is_empty() {
        line(format!("  mcp      {}", approved.join(", ")));
    }
    line(worst(&program.certificate(), &model));
    if !phases.is_empty() {
        line("\nPhases:".into());
    }
    for (number, phase) in (1..).zip(phases) {
        let time = phase.expected_ms.map(format::duration);
        let time = time.map_or_else(String::new, |time| format!(" (about {time})"));
        line(format!("  {number}. {}{time}", format::line(&phase.description, 200)));
    }
    line("\nTools that each state may call:".into());
    if states.is_empty() {
        line("  none".into());
    }
    for (state, tools) in &states {
        let tools = if *tools == ["*"] { "all of them".into() } else { tools.join(", ") };
        line(format!("  {state}: {tools}"));
    }
    if let Some(offered) = &offered {
        let more = if approved.is_empty() { "" } else { ", and the tools of its MCP servers" };
        line(format!("  offered to the agent: {}{more}", offered.join(", ")));
    }
    line("\nPermissions, checked from the top; the first match decides:".into());
    for rule in &rules {
        line(format!("  {rule}"));
    }
    line(format!("  {} everything else", level(permissions.otherwise)));
    if !permissions.attended {
        line("  unattended: calls that would prompt are denied".into());
    }
    report::data(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what a run can cost at most.
fn worst(certificate: &Certificate, model: &model::ModelSettings) -> String {
    let tokens = certificate
        .tokens
        .map_or_else(|| "tokens without limit".into(), |tokens| format::counted(tokens, "token"));
    format!(
        "\nWorst case per {}: {}, {}, {tokens}, {}, {}, {}.",
        if certificate.per == CertificateScope::Turn { "turn" } else { "run" },
        format::counted(certificate.model_calls, "model call"),
        format::counted(certificate.tool_calls, "tool call"),
        cost(certificate.money, model),
        format::duration(certificate.time_ms),
        format::counted(certificate.steps, "state visit"),
    )
}

/// Says what a run can cost, as far as the model's price is known.
fn cost(limit: Option<u64>, model: &model::ModelSettings) -> String {
    let asks_nobody = model.spec.provider() == Provider::Quote;
    match (limit, model.prices) {
        _ if asks_nobody => "no cost".into(),
        (_, None) => "cost unknown (`[model] prices` is not set)".into(),
        (Some(limit), Some(_)) => format!("cost {}", format::money(limit)),
        (None, Some(_)) => "cost without limit".into(),
    }
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Allow | Level::Warn => "allow",
        Level::Ask => "ask  ",
        _ => "deny ",
    }
}

fn rule(grant: &Grant) -> String {
    format!("{} {}", level(grant.level), calls::rule(grant))
}

//! `pointsman acp`: serve an agent to an editor.

use std::{path::Path, process::ExitCode, sync::Arc};

use clap::Args;
use pointsman_kernel::governor::Grant;
use pointsman_runtime::session::Session;
use serde_json::json;

use super::chat::{talker, talkers};
use crate::{
    acp::{AcpLimits, AcpSetupError, Service, SessionSetup},
    budgets::Budgets,
    chart::Source,
    drive::Drive,
    paths::Globals,
    report::Error,
    rules::Rules,
};

/// Serve an agent to an editor, over the Agent Client Protocol.
#[derive(Args, Debug)]
#[command(
    mut_arg("dir", |arg| arg.hide(true)),
    mut_arg("json", |arg| arg.hide(true)),
    mut_arg("unattended", |arg| arg.hide(true)),
    after_help = "\
An editor starts this command and talks to it over standard input and output; in a terminal it
shows nothing. The agent works in the folder that the editor names, with the same model, settings
and journal as `pointsman run`. The editor asks you before a tool call that needs your approval.

Every session is a run: `pointsman runs` lists it, and the editor can load it again.

In an editor's settings (docs/editors.md has more):
  { \"command\": \"pointsman\", \"args\": [\"acp\", \"--model\", \"anthropic:claude-sonnet-4-5\"] }

Examples:
  pointsman acp --model ollama:llama3.2
  pointsman acp --agent code --allow 'shell:command=cargo test*' --log info --log-file acp.log"
)]
pub(crate) struct Acp {
    /// The agent to serve.
    #[arg(long, value_parser = talkers(), default_value = talker())]
    agent: String,
    #[command(flatten)]
    drive: Drive,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    budgets: Budgets,
}

impl Acp {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let chart = Source::find(&self.agent)?.text;
        let session = Arc::new(globals.session()?);
        let (drive, grants, budgets) = (self.drive, self.rules.grants(), self.budgets);
        let agent = self.agent;
        let furnishing = Arc::clone(&session);
        let set_up = move |folder: &Path| {
            set_up(&drive, (&grants, &budgets, &agent), &furnishing, folder)
                .map_err(|error| AcpSetupError { why: error.to_string(), hint: error.hint() })
        };
        let service = Service::new(session, set_up, &chart, AcpLimits::default());
        service.stdio().map_err(Error::Acp)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the configuration of a session in a folder: that of `run`, attended.
fn set_up(
    drive: &Drive,
    (grants, budgets, agent): (&[Grant], &Budgets, &str),
    session: &Session,
    folder: &Path,
) -> Result<SessionSetup, Error> {
    let mut drive = drive.clone();
    drive.dir = Some(folder.into());
    let config = &drive.config()?;
    let (engine, _) = drive.set_up(session, config)?;
    let permissions = config.permissions.permissions(grants.to_vec(), true);
    let mut chart = Source::find(agent)?;
    budgets.over(&mut chart, config)?;
    Ok(SessionSetup {
        engine,
        permissions,
        config: json!({}).into(),
        chart: Some(chart.text.into()),
    })
}

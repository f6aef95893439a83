//! `pointsman profile`: what a profile holds, what follows from it, and what looks wrong.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use pointsman_agents::form::{FieldKind, Profile};
use pointsman_webdriver::profile;
use serde_json::json;

use super::run::json_line;
use crate::{
    format,
    report::{self, Error},
};

/// Check a profile for `form`, or print an example.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman profile example > profile.toml
  chmod 600 profile.toml
  pointsman profile check profile.toml
  pointsman profile check profile.toml --json

Exit codes: 0 no problems, 1 something looks wrong, 2 not a profile.")]
pub(crate) struct ProfileCommand {
    #[command(subcommand)]
    what: ProfileAction,
}

#[derive(Debug, Subcommand)]
enum ProfileAction {
    /// List a profile's keys, the keys derived from them, and likely mistakes.
    #[command(after_help = "\
The command prints no values.

Examples:
  pointsman profile check profile.toml
  pointsman profile check profile.toml --json | jq -r '.doubts[].message'

Exit codes: 0 no problems, 1 something looks wrong, 2 not a profile.")]
    Check {
        /// The profile.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a complete example profile.
    #[command(after_help = "\
Examples:
  pointsman profile example > profile.toml && chmod 600 profile.toml
  pointsman profile example | less")]
    Example,
}

impl ProfileCommand {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        match self.what {
            ProfileAction::Example => {
                report::data(profile::EXAMPLE)?;
                Ok(ExitCode::SUCCESS)
            }
            ProfileAction::Check { file, json } => check(&file, json),
        }
    }
}

fn check(file: &std::path::Path, json: bool) -> Result<ExitCode, Error> {
    let (written, text) = profile::written(file).map_err(Error::Profile)?;
    let profile = &written.profile;
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let mut doubts: Vec<(usize, String)> =
        written.doubts().into_iter().map(|it| (line(it.span.start), it.message)).collect();
    if profile::is_open(file) && holds_secrets(profile) {
        let file = file.display();
        doubts.push((
            1,
            format!("it contains secrets, and other users can read it: chmod 600 {file}"),
        ));
    }
    let given: Vec<FieldKind> = profile.values.keys().copied().collect();
    let derived: Vec<FieldKind> = FieldKind::all().filter(|kind| profile.derives(*kind)).collect();
    let code = if doubts.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
    if json {
        let doubts: Vec<_> =
            doubts.iter().map(|(line, why)| json!({ "line": line, "message": why })).collect();
        json_line(&json!({
            "file": file,
            "values": given,
            "derived": derived,
            "answers": profile.answers.keys().collect::<Vec<_>>(),
            "facts": profile.facts.keys().collect::<Vec<_>>(),
            "allow": profile.allow,
            "doubts": doubts,
        }))?;
        return Ok(code);
    }
    let mut said = String::new();
    let tokens = |kinds: &[FieldKind]| kinds.iter().map(|kind| kind.token()).collect::<Vec<_>>();
    let names = |names: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        names.map(|name| format::line(name, 60)).collect()
    };
    let allow: Vec<&str> = profile.allow.iter().map(|class| class.token()).collect();
    for (title, list) in [
        ("values", tokens(&given).join(", ")),
        ("derived", tokens(&derived).join(", ")),
        ("answers", names(&mut profile.answers.keys()).join(", ")),
        ("facts", names(&mut profile.facts.keys()).join(", ")),
        ("allowed", allow.join(", ")),
    ] {
        let list = if list.is_empty() { "none".into() } else { list };
        said.extend([&*format!("{title:<8} {list}"), "\n"]);
    }
    for (line, why) in &doubts {
        said.extend([&*format!("{}:{line}: {why}", file.display()), "\n"]);
    }
    report::data(&said)?;
    Ok(code)
}

fn holds_secrets(profile: &Profile) -> bool {
    profile.values.keys().any(|kind| kind.class().is_some())
}

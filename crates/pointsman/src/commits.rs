//! Whether changes are committed to git: asked once, before the first conversation or coding
//! run in a repository, and kept in the person's own settings.

use std::{
    io::{self, Write as _},
    path::Path,
};

use pointsman_kernel::job::AgentDecl;
use pointsman_runtime::{
    config::{self, Config},
    tool::Author,
};

use crate::{drive::Drive, format, notify::note, paths::user_file, report, terminal_approver};

/// Asks whether to commit changes, if that is not set, a person is present, and there is a
/// repository. Without an answer nothing is committed, and the next run asks again.
pub(crate) fn settle(drive: &Drive, config: &mut Config, agent: &AgentDecl, attended: bool) {
    let settled = &mut config.hooks.commit;
    let open = settled.is_none() && !drive.json;
    if !open || !attended || !agent.converses() || !terminal_approver::is_there() {
        return;
    }
    if drive.dir().join(".git").symlink_metadata().is_err() {
        return;
    }
    let Some(file) = user_file() else { return };
    for line in question(&Author::of_person(drive.dir()), &file) {
        note(&line);
    }
    // Without a person to ask, nothing is committed.
    let Some(answer) = answer() else { return };
    *settled = Some(answer);
    match config::remember_commit(&file, answer) {
        Ok(()) => note(&format!("  written to {}", file.display())),
        Err(error) => {
            let why = report::whole(&report::Error::Config(error));
            note(&format!("  applies to this run only: {why}"));
        }
    }
}

fn question(author: &Author, file: &Path) -> [String; 4] {
    let who = match (&author.name, &author.email) {
        (Some(name), Some(email)) => format::line(&format!("{name} <{email}>"), 120),
        _ => "Pointsman <pointsman@localhost>, because git does not know your name".into(),
    };
    [
        "Commit the agent's changes to git after each step?".into(),
        format!("  as {who}, with the line `Assisted-by: Pointsman`;"),
        "  files with your own changes are left out".into(),
        format!("Type yes or no and press Enter. The answer is saved in {}.", file.display()),
    ]
}

/// Returns the person's yes or no; nothing where the line is neither.
fn answer() -> Option<bool> {
    drop(write!(io::stderr(), "commit? "));
    let mut line = String::new();
    io::stdin().read_line(&mut line).ok()?;
    let said = match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    };
    if said.is_none() {
        note("  neither yes nor no: nothing is committed, and the next run asks again");
    }
    said
}

//! The tests to run and kill: commands in each sandbox, and the research agent.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::place;

const ERRANDS: &str = "\
[permissions]
otherwise = \"deny\"
rules = [{ allow = \"http_get\" }, { allow = \"shell\" }]

[sandbox]
private_addresses = true
";
/// Where bubblewrap is not found, landlock is used.
const LANDLOCK: &str = "bubblewrap = \"/nonexistent\"\n";
const RESEARCH: &str = "\
[permissions]
otherwise = \"deny\"
rules = [{ allow = \"context.fts_search\" }, { allow = \"read\" }]
";
const QUESTION: &str = "Who sets the points, and what holds them?";

/// Of how many random moments one is given to each kind but the first.
const SHARE: usize = 6;

/// A test to run and kill.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A chart that asks a model, a server and a command.
    Errands,
    /// The same, whose commands run under landlock.
    Landlock,
    /// The research agent, in documents of its own.
    Research,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Errands, Self::Landlock, Self::Research];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Errands => "errands in bubblewrap",
            Self::Landlock => "errands under landlock",
            Self::Research => "research",
        }
    }

    /// Returns how many random moments it is given, of so many.
    pub(super) const fn moments(self, of: usize) -> usize {
        match self {
            Self::Errands => of,
            Self::Landlock | Self::Research => of / SHARE,
        }
    }

    /// Returns whether it asks a server for something, and runs a command that cannot be
    /// repeated.
    pub(super) const fn runs_errands(self) -> bool {
        !matches!(self, Self::Research)
    }

    /// Returns whether its commands have processes of their own alone to look at.
    pub(super) const fn hides_processes(self) -> bool {
        matches!(self, Self::Errands)
    }

    pub(super) fn config(self) -> String {
        match self {
            Self::Errands => ERRANDS.into(),
            Self::Landlock => format!("{ERRANDS}{LANDLOCK}"),
            Self::Research => RESEARCH.into(),
        }
    }

    /// Returns the arguments of the run; `address` is that of the counting server.
    pub(super) fn words(self, address: String) -> Vec<String> {
        match self {
            Self::Errands | Self::Landlock => {
                vec![place::script("kill/chart.toml").display().to_string(), address]
            }
            Self::Research => {
                let tools = "tools=[\"context.fts_search\",\"read\"]";
                ["research", QUESTION, "--set", tools].map(Into::into).into()
            }
        }
    }

    /// Returns what the model says, in order.
    pub(super) fn replies(self) -> Result<Vec<String>> {
        let script = match self {
            Self::Errands | Self::Landlock => "kill/script.jsonl",
            Self::Research => "kill/research.jsonl",
        };
        let script = fs::read_to_string(place::script(script)).context("reading the script")?;
        Ok(script.lines().map(ToOwned::to_owned).collect())
    }

    /// Puts the documents into a workspace.
    pub(super) fn fill(self, workspace: &Path) -> Result<()> {
        if self != Self::Research {
            return Ok(());
        }
        let documents = fs::read_dir(place::script("kill/docs")).context("finding documents")?;
        for document in documents {
            let document = document?;
            fs::copy(document.path(), workspace.join(document.file_name()))?;
        }
        Ok(())
    }
}

//! One whole run against a served model, and all that can be asked about it afterwards.

use std::{ffi::OsString, fs, time::Duration};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{
    place,
    program::{Home, Told},
    server::Server,
};

/// A run has five minutes by its chart's own budget. What takes longer hangs.
const RUN_CAP: Duration = Duration::from_mins(6);
const ASK_CAP: Duration = Duration::from_mins(1);

/// How a model is asked for a proposal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Proposals {
    /// As JSON that fits a schema.
    Schema,
    /// As a call of a tool.
    Tools,
}

/// A run that is over.
pub(super) struct Ride {
    pub(super) told: Told,
    /// What `show` says of it.
    pub(super) shown: Value,
    /// What `replay` came to.
    pub(super) replayed: Told,
}

impl Ride {
    /// Runs `research` with a model until it ends.
    pub(super) fn go(
        home: &Home,
        server: &Server,
        name: &str,
        proposals: Proposals,
        question: &str,
    ) -> Result<Self> {
        let way = match proposals {
            Proposals::Schema => "schema",
            Proposals::Tools => "tools",
        };
        let folder = home.file("config").join("pointsman");
        fs::create_dir_all(&folder)?;
        let config = format!("[model]\nproposals = \"{way}\"\nmax_tokens = 200\n");
        fs::write(folder.join("pointsman.toml"), config)?;
        let url = format!("{}/v1", server.url());
        let model = format!("openai-compatible:{name}");
        let words = ["run", "research", question, "--json", "--model", &model, "--base-url", &url];
        let words = words.map(OsString::from).into_iter();
        let root = ["--dir".into(), place::root().into_os_string()];
        let told = home.run(words.chain(root), RUN_CAP)?;
        let run = told.last()?;
        let run = run.get("run").and_then(Value::as_str).context("the last line names no run")?;
        let shown = home.run(["show", run, "--json"], ASK_CAP)?.last()?;
        let replayed = home.run(["replay", run], ASK_CAP)?;
        Ok(Self { told, shown, replayed })
    }
}

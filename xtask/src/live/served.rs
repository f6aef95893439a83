//! The two bad models, and the server that speaks for them.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};

use crate::{
    components::Python,
    place::{self, Scratch},
    process,
    server::{Ready, Server, free_port},
};

const MAKE_CAP: Duration = Duration::from_mins(1);
/// How long a model may take to be loaded.
const LISTENS: Duration = Duration::from_mins(1);

/// One question at a time, with all that the machine has: it is slow.
const WEAK: [&str; 6] = ["--threads", "2", "--slots", "1", "--context", "8192"];
/// Each byte of a prompt is a token of it, so it needs much room.
const CHAOS: [&str; 6] = ["--threads", "1", "--slots", "2", "--context", "65536"];

/// A model that can be served.
pub(super) struct ServedModel {
    python: PathBuf,
    model: PathBuf,
    options: &'static [&'static str],
    /// Where a model lies that was made for this occasion.
    _made: Option<Scratch>,
}

impl ServedModel {
    /// A small instruct model.
    pub(super) fn weak(python: &Python) -> Self {
        let (python, model) = (python.program(), python.weak_model());
        Self { python, model, options: &WEAK, _made: None }
    }

    /// A model of random weights.
    pub(super) fn chaos(python: &Python, seed: u64) -> Result<Self> {
        let scratch = Scratch::new()?;
        let model = scratch.file("chaos.gguf");
        let mut make = process::command(python.program());
        make.arg(place::script("py/chaos_model.py")).arg(&model);
        make.args(["--seed", &seed.to_string()]);
        let ended = process::run(make, MAKE_CAP).context("starting Python")?;
        ensure!(ended.well(), "the chaos model cannot be made ({ended:?})");
        Ok(Self { python: python.program(), model, options: &CHAOS, _made: Some(scratch) })
    }

    /// Serves it for as long as the server is kept.
    pub(super) fn start(&self) -> Result<Server> {
        let port = free_port()?;
        let mut serve = Command::new(&self.python);
        serve.arg(place::script("py/serve_model.py")).arg(&self.model).arg(port.to_string());
        serve.args(self.options);
        // It logs every request; errors go to the client.
        serve.stdout(Stdio::null()).stderr(Stdio::null());
        Server::start(serve, port, Ready::Answers("/health"), LISTENS).context("serving a model")
    }
}

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
    server::{Server, free_port},
};

const MAKE_CAP: Duration = Duration::from_mins(1);
/// How long a model may take to be loaded.
const LISTENS: Duration = Duration::from_mins(1);

/// A model that can be served.
pub(super) struct Served {
    python: PathBuf,
    model: PathBuf,
    /// Where a model lies that was made for this occasion.
    _made: Option<Scratch>,
}

impl Served {
    /// A small instruct model.
    pub(super) fn weak(python: &Python) -> Self {
        Self { python: python.program(), model: python.weak_model(), _made: None }
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
        Ok(Self { python: python.program(), model, _made: Some(scratch) })
    }

    /// Serves it for as long as the server is kept.
    pub(super) fn start(&self) -> Result<Server> {
        let port = free_port()?;
        let mut serve = Command::new(&self.python);
        serve.arg(place::script("py/serve_model.py")).arg(&self.model).arg(port.to_string());
        // It tells of every request; what goes wrong is told to whoever asked.
        serve.stdout(Stdio::null()).stderr(Stdio::null());
        Server::start(serve, port, LISTENS).context("serving a model")
    }
}

//! `bench`, `eval` and `train`: commands of another program, which is compiled for them alone.

use std::{convert::Infallible, ffi::OsString, os::unix::process::CommandExt, process::Command};

use anyhow::{Context, Result};

use crate::{place, process};

/// What follows the command's name. The other program reads it, and has the help too.
#[derive(clap::Args)]
pub(crate) struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Becomes that program, so that its end is ours, and so are its folder and its terminal.
pub(crate) fn run(command: &str, words: &Words) -> Result<bool> {
    let mut cargo = Command::new(place::cargo());
    process::forget_ourselves(&mut cargo);
    cargo.args(["run", "--quiet", "--locked", "--package", "xtask-evals", "--manifest-path"]);
    cargo.arg(place::root().join("Cargo.toml")).args(["--", command]).args(&words.words);
    Err::<Infallible, _>(cargo.exec()).context("starting cargo").map(|never| match never {})
}

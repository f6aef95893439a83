//! `cargo xtask eval forms`: the form agent over pages of others.

mod govuk;
mod labels;
mod miniwob;
pub(crate) mod pages;

use std::path::PathBuf;

use anyhow::Result;

use self::pages::Pages;
use crate::program;

/// A part of the data.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Saved pages whose fields were labelled by hand.
    Labels,
    /// Components of a design system, error states included.
    Govuk,
    /// Small tasks with a reward.
    Miniwob,
}

/// How the parts are judged.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the pages are, with their `index.json`.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Judge this part alone; may be given more than once.
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,
    /// Problems of each task with a reward.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Judge the labelled pages alone, each by a model trained without its fold of the sites.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=100), conflicts_with = "only")]
    folds: Option<u16>,
    /// Keep what the browser saw in this file, and take it from there the next time.
    #[arg(long, value_name = "FILE")]
    sightings: Option<PathBuf>,
}

/// Evaluates all parts, or the named ones, and returns whether they passed.
pub(crate) fn forms(options: &Options) -> Result<bool> {
    let Options { data, only, seeds, folds, sightings } = options;
    if let Some(folds) = folds {
        return labels::run(data, sightings.as_deref(), Some(usize::from(*folds)));
    }
    let wanted = |part: Part| only.is_empty() || only.contains(&part);
    if wanted(Part::Miniwob) {
        // The tasks start the program itself, so it is built from the current sources.
        program::build(false)?;
    }
    let mut passed = true;
    if wanted(Part::Labels) {
        passed &= labels::run(data, sightings.as_deref(), None)?;
    }
    if wanted(Part::Govuk) {
        passed &= govuk::run(&Pages::open(data)?)?;
    }
    if wanted(Part::Miniwob) {
        passed &= miniwob::run(data, *seeds)?;
    }
    Ok(passed)
}

//! `cargo xtask eval forms`: the form agent over pages of others.

mod govuk;
mod labels;
mod miniwob;
mod pages;

use std::path::Path;

use anyhow::{Result, ensure};

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

/// Judges every part, or those that are named, with so many problems of each task, and
/// returns whether all of them passed.
pub(crate) fn forms(data: &Path, only: &[Part], seeds: u64) -> Result<bool> {
    let wanted = |part: Part| only.is_empty() || only.contains(&part);
    if wanted(Part::Miniwob) {
        // The tasks start the program itself, which is to be the one that is written here.
        program::build(false)?;
    }
    let mut passed = true;
    if wanted(Part::Labels) || wanted(Part::Govuk) {
        let pages = Pages::open(data)?;
        let unknown = labels::unknown(&pages.index);
        ensure!(unknown.is_empty(), "the index has labels without a kind: {}", unknown.join(", "));
        if wanted(Part::Labels) {
            passed &= labels::run(&pages)?;
        }
        if wanted(Part::Govuk) {
            passed &= govuk::run(&pages)?;
        }
    }
    if wanted(Part::Miniwob) {
        passed &= miniwob::run(data, seeds)?;
    }
    Ok(passed)
}

//! The statistics of many ended runs, looked at twice.

use std::path::Path;

use anyhow::{Context, Result};
use pointsman_runtime::store::SqliteStore;
use pointsman_testing::kept::{corpus, keep};

use super::{OpenPage, TIMES, figures::StatisticsFigures, serve};
use crate::{
    bench::median,
    place::{self, Scratch},
    program::Home,
};

const RUNS: usize = 10_000;

/// Measures the first view once, and the second several times.
pub(super) fn measure(program: &Path) -> Result<StatisticsFigures> {
    eprintln!("writing {RUNS} ended runs");
    let scratch = Scratch::new()?;
    let home = Home::of(program, &scratch.file(""), &place::cache()?)?;
    write(&home)?;
    let server = serve(&home)?;
    let view = || -> Result<f64> {
        let mut page = OpenPage::open(&format!("{}/stats", server.url()))?;
        page.until("document.querySelector('.stats-body table')")
    };
    let first = view()?;
    let second = (0..TIMES).map(|_| view()).collect::<Result<Vec<_>>>()?;
    Ok(StatisticsFigures { runs: RUNS, first, second: median(&second) })
}

/// Writes ended runs of several kinds, each again and again, into the journal of a home.
fn write(home: &Home) -> Result<()> {
    let store = SqliteStore::open(&home.file("journal.db"))?;
    let agents = pointsman_agents::all();
    let mut kinds = corpus("research");
    kinds.extend(corpus("code-"));
    let runtime = tokio::runtime::Runtime::new().context("starting a runtime")?;
    runtime.block_on(async {
        for at in 0..RUNS {
            let mut run = kinds[at % kinds.len()].clone();
            run.run = format!("{at:012}").parse().expect("digits are an id");
            keep(&store, &agents, &run).await;
        }
    });
    Ok(())
}

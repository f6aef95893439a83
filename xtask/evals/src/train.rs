//! `cargo xtask train`: training from data.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use pointsman_agents::form::learnt::FieldModel;
use xtask_fields::{
    Settings,
    cost::{self, Cost},
    data::{self, Page},
    judge::calibrate,
    surprise::surprises,
    train::{learn, lessons},
};

use crate::{bench, eval_forms::pages::Pages, process};

/// Where the model lies.
const WEIGHTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/agents/src/form/classify/learnt/weights.bin"
);
/// The size that the model may have, in bytes.
const MOST: usize = 1_000_000;
/// Parts of the pages that are held out in turn to choose the margin.
const FOLDS: usize = 5;
/// What a field may cost.
const FIELD: Duration = Duration::from_micros(50);
const CAP: Duration = Duration::from_mins(30);
/// Labels that are printed as the most surprising.
const LISTED: usize = 40;

/// Opens every labelled page in a browser. With a file, what the browser saw is kept in it
/// and taken from it the next time.
pub(crate) fn pages(data: &Path, sightings: Option<&Path>) -> Result<Vec<Page>> {
    if let Some(file) = sightings.filter(|file| file.exists()) {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        return serde_json::from_str(&text).with_context(|| file.display().to_string());
    }
    let browser = Pages::open(data)?;
    let pages = data::load(data, |file| browser.look(file))?;
    if let Some(file) = sightings {
        fs::write(file, serde_json::to_string(&pages)?)
            .with_context(|| file.display().to_string())?;
    }
    Ok(pages)
}

/// Learns what form fields ask for, writes the model, and prints the labels that surprise it
/// most.
pub(crate) fn fields(data: &Path, sightings: Option<&Path>, out: Option<&Path>) -> Result<bool> {
    let pages = pages(data, sightings)?;
    let settings = Settings::default();
    let lessons = lessons(&pages);
    let all: Vec<_> = lessons.iter().collect();
    let margin = calibrate(&all, FOLDS, &settings);
    let bytes = learn(&all, &settings).bytes(&settings, margin);
    ensure!(bytes.len() <= MOST, "the model has {} bytes, more than {MOST}", bytes.len());
    ensure!(FieldModel::new(&bytes).is_some(), "the model cannot be read back");
    let out = out.unwrap_or_else(|| Path::new(WEIGHTS));
    fs::write(out, &bytes).with_context(|| out.display().to_string())?;
    let (count, size, digest) = (pages.len(), bytes.len(), digest(&bytes));
    println!("{count} pages, {size} bytes, margin {margin} %, digest {digest}");
    println!("\nthe labels that a model without their sites finds least likely");
    for surprise in surprises(&lessons, &settings).iter().take(LISTED) {
        let (field, label) = (&surprise.field, &surprise.label);
        println!("  {:6.2}  {field}: {label}, taken for {}", surprise.loss, surprise.best);
    }
    Ok(true)
}

/// Measures what it costs to type a field, and returns whether that is little enough.
pub(crate) fn bench(development: bool) -> Result<bool> {
    if cfg!(debug_assertions) && !development {
        let mut cargo = bench::released();
        cargo.args(["--", "bench", "fields"]);
        return Ok(process::run(cargo, CAP).context("starting cargo")?.well());
    }
    let Cost { model, rules } = cost::measure();
    let ratio = model.as_secs_f64() / rules.as_secs_f64();
    println!(
        "a field: {model:.1?} with the model, {rules:.1?} by the rules alone, {ratio:.2} times"
    );
    let reached = model <= FIELD;
    println!("{}  a field <= {FIELD:?}: {model:.1?}", if reached { "pass" } else { "FAIL" });
    Ok(reached)
}

/// Returns the digest that a test of the agents pins.
fn digest(bytes: &[u8]) -> String {
    pointsman_kernel::id::Digest::of(bytes).to_string()
}

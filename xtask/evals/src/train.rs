//! `cargo xtask train`: what is learnt from data.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use pointsman_agents::form::learnt::Model;
use xtask_fields::{
    Settings,
    data::{self, Page},
    surprise::surprises,
    train::{learn, lessons},
};

use crate::eval_forms::pages::Pages;

/// Where the model lies.
const WEIGHTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/agents/src/form/classify/learnt/weights.bin"
);
/// The size that the model may have, in bytes.
const MOST: usize = 1_000_000;
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
    let bytes = learn(&all, &settings).bytes(&settings);
    ensure!(bytes.len() <= MOST, "the model has {} bytes, more than {MOST}", bytes.len());
    ensure!(Model::new(&bytes).is_some(), "the model cannot be read back");
    let out = out.unwrap_or_else(|| Path::new(WEIGHTS));
    fs::write(out, &bytes).with_context(|| out.display().to_string())?;
    println!("{} pages, {} bytes, digest {}", pages.len(), bytes.len(), digest(&bytes));
    println!("\nthe labels that a model without their sites finds least likely");
    for surprise in surprises(&lessons, &settings).iter().take(LISTED) {
        let (field, label) = (&surprise.field, &surprise.label);
        println!("  {:6.2}  {field}: {label}, taken for {}", surprise.loss, surprise.best);
    }
    Ok(true)
}

/// Returns the digest that a test of the agents pins.
fn digest(bytes: &[u8]) -> String {
    pointsman_kernel::id::Digest::of(bytes).to_string()
}

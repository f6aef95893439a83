//! `cargo xtask bench form`: what a filled field costs, beside bare WebDriver calls that
//! send the same keys.
//!
//! The page measures the time itself, from the first touch of a field to the last value, so that
//! both are measured alike and exclude the browser's start. Each filling has its own browser, of
//! the same size and with the same flags, and presses the same keys; the page reports how many,
//! and all final values.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use pointsman_testing::site::Site;
use serde_json::{Value, json};

use crate::{
    bench::median,
    pages,
    place::{self, Scratch},
    program::{self, Home},
    webdriver::Browser,
};

/// Pairs of the agent and bare calls, after one to warm up.
const PAIRS: usize = 5;
const FIELDS: usize = 100;
const LIMIT: Duration = Duration::from_mins(3);
/// How long the page's own time may be on its way.
const ARRIVES: Duration = Duration::from_secs(5);
const RATIO: f64 = 1.5;
/// The window of the agent's browser.
const WINDOW: (u32, u32) = (1280, 1400);

/// What the page said of one filling.
struct Filling {
    ms: f64,
    keys: u64,
}

/// Fills a page of a hundred fields in both ways, and returns whether the target was
/// reached.
pub(crate) fn bench(development: bool, json: Option<&Path>) -> Result<bool> {
    let program = program::build(!development)?;
    let scratch = Scratch::new()?;
    let site = pages::serve().context("serving the page")?;
    let url = site.url("hundred");
    let (mut ours, mut raws, mut ratios, mut wholes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut keys = 0;
    for pair in 0..=PAIRS {
        let raw = || filled(&site, || by_hand(&url));
        let started = Instant::now();
        let mut whole = Duration::ZERO;
        let mut own = || {
            filled(&site, || {
                let before = started.elapsed();
                by_agent(&program, &scratch, &url)?;
                whole = started.elapsed().saturating_sub(before);
                Ok(())
            })
        };
        // The first may pay for the remains of the other.
        let (ours_now, raw_now) = if pair % 2 == 0 {
            let raw_now = raw()?;
            (own()?, raw_now)
        } else {
            (own()?, raw()?)
        };
        ensure!(
            ours_now.keys == raw_now.keys,
            "they did not press the same keys: {} by the agent, {} by bare calls",
            ours_now.keys,
            raw_now.keys
        );
        eprintln!("{:.0} ms by the agent, {:.0} ms by bare calls", ours_now.ms, raw_now.ms);
        if pair > 0 {
            ratios.push(ours_now.ms / raw_now.ms);
            ours.push(ours_now.ms);
            raws.push(raw_now.ms);
            wholes.push(whole.as_secs_f64());
            keys = ours_now.keys;
        }
    }
    let (ours, raw, ratio, whole) =
        (median(&ours), median(&raws), median(&ratios), median(&wholes));
    #[expect(clippy::cast_precision_loss, reason = "a hundred")]
    let each = |ms: f64| ms / FIELDS as f64;
    println!("{FIELDS} fields, {PAIRS} fillings of each in turns, medians:");
    println!("{:<34}{:>12}{:>10}{:>8}", "", "ms a field", "s in all", "keys");
    for (name, ms) in [("the agent, journal included", ours), ("bare WebDriver calls", raw)] {
        println!("{name:<34}{:>12.1}{:>10.2}{keys:>8}", each(ms), ms / 1_000.0);
    }
    println!("{:<34}{:>12}{whole:>10.2}", "the whole command, browser included", "");
    let reached = ratio <= RATIO;
    let word = if reached { "pass" } else { "FAIL" };
    println!("{word}  a field <= {RATIO} times the bare calls: {ratio:.2}");
    if let Some(file) = json {
        let figures = json!({
            "fields": FIELDS,
            "agent": { "ms_per_field": each(ours), "keys": keys, "command_s": whole },
            "raw": { "ms_per_field": each(raw), "keys": keys },
            "ratio": ratio,
        });
        fs::write(file, figures.to_string()).context("writing the figures")?;
    }
    Ok(reached)
}

/// Fills the page by a function, and returns the page's report.
fn filled(site: &Site, fill: impl FnOnce() -> Result<()>) -> Result<Filling> {
    let before = site.delivery("/filled").len();
    fill()?;
    let waiting = Instant::now();
    while waiting.elapsed() < ARRIVES {
        if let Some(told) = site.delivery("/filled").get(before) {
            let ms = told["ms"].as_f64().context("the page tells its time")?;
            let keys = told["keys"].as_u64().context("the page counts keys")?;
            let held = told["values"].as_array().context("the page tells its values")?;
            let wanted: Vec<Value> = (1..=FIELDS).map(|at| value(at).into()).collect();
            ensure!(*held == wanted, "the page holds something else: {held:?}");
            return Ok(Filling { ms, keys });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("the page was not filled");
}

fn by_agent(program: &Path, scratch: &Scratch, url: &str) -> Result<()> {
    let home = Home::of(program, &scratch.file(""), &place::cache()?)?;
    let answers = (1..=FIELDS).map(|at| {
        format!("{} = {}\n", Value::from(format!("Answer number {at}")), Value::from(value(at)))
    });
    let profile = format!("[answers]\n{}", answers.collect::<Vec<_>>().concat());
    fs::write(home.file("profile.toml"), profile)?;
    let told = home.run(
        ["run", "form", "--url", url, "--profile", "profile.toml", "--submit", "never"],
        LIMIT,
    )?;
    ensure!(told.code() == Some(0), "the agent failed: {}", told.words());
    Ok(())
}

/// Finds each field and types: the minimum with a driver. Going to a field leaves the one before,
/// and the last is left at the end.
fn by_hand(url: &str) -> Result<()> {
    let (width, height) = WINDOW;
    let mut browser = Browser::start(width, height)?;
    browser.open(url)?;
    for at in 1..=FIELDS {
        let field = browser.find(&format!("#f{at}"))?;
        browser.keys(&field, &value(at))?;
    }
    browser.script("document.activeElement.blur()").map(drop)
}

fn value(at: usize) -> String {
    format!("value {at}")
}

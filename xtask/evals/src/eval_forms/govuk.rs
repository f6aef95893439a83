//! Components of a design system with what they were made from: labels, hints, options,
//! limits, values and error messages must come back, and what can be filled must take and
//! keep a value.

mod checks;
mod filled;
mod read;

use anyhow::{Context, Result};
use pointsman_agents::form::{Field, Fill};

use self::checks::Checks;
use super::pages::Pages;

/// Opens and fills every component, prints how it went, and returns whether all came back
/// and all was kept.
pub(super) fn run(pages: &Pages<'_>) -> Result<bool> {
    let mut checks = Checks::default();
    let mut left = Vec::new();
    let listed = pages.part("govuk")?;
    println!("components, error states included: what did not come back or was not kept");
    for page in listed {
        let file = page["file"].as_str().context("a page has no file")?;
        let reading = pages.read(file)?;
        checks.open();
        read::check(&mut checks, page, &reading);
        for field in &reading.fields {
            match left_alone(field) {
                Some(why) => left.push(format!("{file}: {:?}, {why}", field.label)),
                None => filled::check(&mut checks, field, |value| pages.fill(field, value)),
            }
        }
        for miss in checks.close() {
            println!("  {file}: {miss}");
        }
    }
    println!();
    checks.print();
    println!("  {} pages, each with a check of its own", listed.len());
    println!("\n{} fields that are not filled, and why", left.len());
    for field in left {
        println!("  {field}");
    }
    println!();
    Ok(checks.all_hold())
}

/// Returns why a field is not filled, or `None` if it is.
fn left_alone(field: &Field) -> Option<String> {
    match field.fill {
        Fill::Never => Some(match field.class() {
            Some(class) => format!("{class}: never filled unless the profile allows it"),
            None => "never filled".into(),
        }),
        Fill::Hidden => Some("nobody sees it".into()),
        Fill::Yes if field.disabled => Some("switched off".into()),
        Fill::Yes => None,
    }
}

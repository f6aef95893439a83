//! Components of a design system with what they were made from: labels, hints, options,
//! limits, values and error messages must come back, and what can be filled must take and
//! keep a value.

mod checks;
mod filled;
mod read;

use anyhow::{Context, Result};
use pointsman_agents::form::Fill;

use self::checks::Checks;
use super::pages::Pages;

/// Opens and fills every component, prints how it went, and returns whether all came back
/// and all was kept.
pub(super) fn run(pages: &Pages<'_>) -> Result<bool> {
    let mut checks = Checks::default();
    let (mut never, mut hidden, mut off) = (0, 0, 0);
    let listed = pages.part("govuk")?;
    println!("components, error states included: what did not come back or was not kept");
    for page in listed {
        let file = page["file"].as_str().context("a page has no file")?;
        let reading = pages.read(file)?;
        checks.open();
        read::check(&mut checks, page, &reading);
        for field in &reading.fields {
            match field.fill {
                Fill::Never => never += 1,
                Fill::Hidden => hidden += 1,
                Fill::Yes if field.disabled => off += 1,
                Fill::Yes => filled::check(&mut checks, field, |value| pages.fill(field, value)),
            }
        }
        for miss in checks.close() {
            println!("  {file}: {miss}");
        }
    }
    println!();
    checks.print();
    println!("  {} pages, each with a check of its own", listed.len());
    println!(
        "  not filled: {never} of a class that is never filled unless the profile allows it, \
         {off} switched off, {hidden} that nobody sees\n"
    );
    Ok(checks.all_hold())
}

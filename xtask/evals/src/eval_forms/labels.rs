//! Saved pages with labels by hand: how many fields get the right kind, how many would be
//! filled with the wrong thing, and on how many pages the control is found that sends.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use pointsman_agents::form::learnt::{FieldModel, WEIGHTS};
use xtask_fields::{
    Settings,
    data::Page,
    judge::{Judgement, Outcome, Verdict, by_folds},
    train::lessons,
};

use crate::train;

/// The shares that must be right: of pages and of fields on the first set, and of fields elsewhere.
const MOST: f64 = 97.0;
const MANY: f64 = 95.0;
/// The share that may be filled with the wrong thing.
const WRONG: f64 = 2.0;

/// Judges every labelled page, prints how it went, and returns whether enough was right.
pub(super) fn run(data: &Path, sightings: Option<&Path>, folds: Option<usize>) -> Result<bool> {
    let pages = train::pages(data, sightings)?;
    let lessons = folds.map(|_| lessons(&pages)).unwrap_or_default();
    let judged = match folds {
        Some(folds) => by_folds(&lessons.iter().collect::<Vec<_>>(), folds, &Settings::default()),
        None => shipped(&pages),
    };
    match folds {
        Some(folds) => println!("{folds} folds by site, each judged by a model without it"),
        None => println!("the model that ships, which may have learnt from these very pages"),
    }
    println!("\nfields of the wrong kind, and submit controls not found");
    for verdict in judged.fields.iter().filter(|verdict| !verdict.model.right) {
        print_wrong(verdict);
    }
    for (page, _) in judged.submits.iter().filter(|(_, found)| !found) {
        println!("  {}: sent by {}", page.file, page.submits.join(" or "));
    }
    table("source", &judged, |it| it.page.source.clone());
    table("language", &judged, |it| match it.page.language.as_str() {
        "" => "not given".into(),
        other => other.into(),
    });
    table("kind", &judged, |it| it.label.first().to_string());
    let part = |it: &Verdict<'_>| if it.page.source == "ddg" { "DuckDuckGo" } else { "more" };
    table("set", &judged, |it| part(it).into());
    let found = judged.submits.iter().filter(|(_, found)| *found).count();
    let pressed = share(found, judged.submits.len());
    let first: Vec<&Verdict<'_>> =
        judged.fields.iter().filter(|it| part(it) == "DuckDuckGo").collect();
    let more: Vec<&Verdict<'_>> = judged.fields.iter().filter(|it| part(it) == "more").collect();
    let right =
        |of: &[&Verdict<'_>]| share(of.iter().filter(|it| it.model.right).count(), of.len());
    let wrong = |of: &[&Verdict<'_>]| {
        share(of.iter().filter(|it| it.model.wrongly_filled).count(), of.len())
    };
    println!("submit: {found} of {} pages = {pressed:.2} %\n", judged.submits.len());
    let mut passed = true;
    let mut limit = |holds: bool, what: String| {
        passed &= holds;
        println!("{}  {what}", if holds { "pass" } else { "FAIL" });
    };
    limit(pressed >= MOST, format!("submit >= {MOST:.0} %: {pressed:.2} %"));
    for (name, fields, enough) in [("DuckDuckGo", &first, MOST), ("more", &more, MANY)] {
        if !fields.is_empty() {
            let (right, wrong) = (right(fields), wrong(fields));
            limit(right >= enough, format!("{name} fields >= {enough:.0} %: {right:.2} %"));
            limit(wrong <= WRONG, format!("{name} wrongly filled <= {WRONG:.0} %: {wrong:.2} %"));
        }
    }
    println!();
    Ok(passed)
}

fn shipped(pages: &[Page]) -> Judgement<'_> {
    let model = FieldModel::new(WEIGHTS);
    let mut judged = Judgement::default();
    for page in pages {
        judged.page(page, model.as_ref());
    }
    judged
}

fn print_wrong(verdict: &Verdict<'_>) {
    let named = |outcome: &Outcome| {
        outcome.kind.map_or_else(|| "not found".into(), |kind| kind.to_string())
    };
    let filled = if verdict.model.wrongly_filled { ", and filled" } else { "" };
    println!(
        "  {}#{}: {}, taken for {} ({} %){filled}; by the rules {}",
        verdict.page.file,
        verdict.label.mark,
        verdict.label.written,
        named(&verdict.model),
        verdict.confidence,
        named(&verdict.rules),
    );
}

#[expect(clippy::cast_precision_loss, reason = "these are counts of fields")]
fn share(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// Prints a table with a row for each group of fields.
fn table(title: &str, judged: &Judgement<'_>, group: impl Fn(&Verdict<'_>) -> String) {
    let mut rows: BTreeMap<String, Vec<&Verdict<'_>>> = BTreeMap::new();
    for verdict in &judged.fields {
        rows.entry(group(verdict)).or_default().push(verdict);
    }
    println!("\nright, and wrongly filled, in percent");
    println!("{title:20} fields   model        rules alone  trivial");
    for (name, verdicts) in rows {
        let both = |of: fn(&Verdict<'_>) -> Outcome| {
            let right = verdicts.iter().filter(|it| of(it).right).count();
            let wrong = verdicts.iter().filter(|it| of(it).wrongly_filled).count();
            let all = verdicts.len();
            format!("{:5.1} {:5.1}", share(right, all), share(wrong, all))
        };
        println!(
            "{name:20} {:>6}   {}  {}  {}",
            verdicts.len(),
            both(|it| it.model),
            both(|it| it.rules),
            both(|it| it.trivial),
        );
    }
}

//! Small tasks with an instruction and a reward, filled by the real agent: the harness
//! reads the instruction and writes a profile, the agent does the rest.

mod episode;
mod profile;
mod tasks;

use std::{collections::BTreeMap, fs, iter, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use self::episode::{Episode, TaskServer};
use self::profile::Task;
use self::tasks::TaskList;
use crate::{place, place::Scratch, program::Home, webdriver::Browser};

/// How long one run may take.
const LIMIT: Duration = Duration::from_mins(2);

/// What became of one problem.
struct Row {
    task: String,
    seed: u64,
    /// Why it does not count as done.
    lost: Option<String>,
    seconds: f64,
    words: String,
}

/// Runs so many problems of every task of the folder that fills a form, and returns
/// whether all of them were rewarded.
pub(super) fn run(data: &Path, seeds: u64) -> Result<bool> {
    let folder = data.join("miniwob");
    let names = names(&folder.join("miniwob"))?;
    let TaskList { forms, others } = tasks::sorted(&names)?;
    let stand = TaskServer::open(&folder)?;
    let mut browser = Browser::start(800, 600)?;
    let scratch = Scratch::new()?;
    let mut rows = Vec::new();
    println!("the pages' clock is off: nothing here says how fast the agent must be");
    for (name, task) in &forms {
        let kept = tasks::WITH_TEST_MODE.contains(name).then_some(Some("test"));
        for mode in iter::once(None).chain(kept) {
            for seed in 1..=seeds {
                let episode = stand.episode(&mut browser, name, mode, seed)?;
                let row = fill(&stand, &episode, *task, &scratch)
                    .with_context(|| format!("{name}, seed {seed}: {}", episode.instruction))?;
                let end = row.lost.as_deref().unwrap_or("reward 1");
                println!("{:<34}{seed:>3}  {:>5.1} s  {end}", row.task, row.seconds);
                if row.lost.is_some() {
                    println!("  {}\n  {}", episode.instruction, row.words.replace('\n', "\n  "));
                }
                rows.push(row);
            }
        }
    }
    println!("\n{} of {} tasks fill a form; these do not:", forms.len(), names.len());
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, why) in others {
        by_reason.entry(why).or_default().push(name);
    }
    for (why, names) in by_reason {
        println!("  {why}:\n    {}", names.join(", "));
    }
    let absent: Vec<&str> = tasks::FORMS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !forms.iter().any(|(it, _)| it == name))
        .collect();
    if !absent.is_empty() {
        println!("not in this folder, and so not judged: {}", absent.join(", "));
    }
    let told: Vec<&str> =
        forms.iter().filter(|(_, task)| task.asks_the_source()).map(|(name, _)| *name).collect();
    if !told.is_empty() {
        println!(
            "the instruction alone does not say what to fill in {}: the answers are taken from \
             the page's source",
            told.join(", ")
        );
    }
    report(&rows)
}

fn report(rows: &[Row]) -> Result<bool> {
    if rows.is_empty() {
        bail!("none of the tasks fills a form");
    }
    println!("\n{:<34}{:>9}{:>9}{:>11}", "task", "problems", "reward 1", "s each");
    let mut tasks: Vec<&str> = rows.iter().map(|row| row.task.as_str()).collect();
    tasks.dedup();
    for task in tasks {
        let own = || rows.iter().filter(|row| row.task == task);
        let (all, won) = (own().count(), own().filter(|row| row.lost.is_none()).count());
        let seconds: f64 = own().map(|row| row.seconds).sum();
        #[expect(clippy::cast_precision_loss, reason = "a handful of problems")]
        let each = seconds / all as f64;
        println!("{task:<34}{all:>9}{won:>9}{each:>11.1}");
    }
    let lost: Vec<String> = rows
        .iter()
        .filter(|row| row.lost.is_some())
        .map(|row| format!("{} {}", row.task, row.seed))
        .collect();
    let word = if lost.is_empty() { "pass" } else { "FAIL" };
    println!(
        "{word}  every problem that fills a form is rewarded once, with 1, by a run that ends \
         well: {} of {}",
        rows.len() - lost.len(),
        rows.len()
    );
    if !lost.is_empty() {
        println!("      not: {}", lost.join(", "));
    }
    Ok(lost.is_empty())
}

/// Lets the agent fill one problem.
fn fill(stand: &TaskServer, episode: &Episode, task: Task, scratch: &Scratch) -> Result<Row> {
    let home = Home::sharing(&scratch.file(""), &place::cache()?)?;
    let fields = if task.asks_for_fields() { fields(&home, &episode.url)? } else { Vec::new() };
    let profile = profile::write(task, episode, &fields)?;
    fs::write(home.file("profile.toml"), profile)?;
    let before = stand.rewards(episode).len();
    // Some pages show a preselected value, and ask for another.
    let how = ["--submit", "yes", "--overwrite"];
    let run = ["run", "form", "--url", &episode.url, "--profile", "profile.toml"];
    let told = home.run(run.into_iter().chain(how), LIMIT)?;
    let rewards = stand.rewards(episode);
    Ok(Row {
        task: episode.name(),
        seed: episode.seed,
        lost: lost(rewards.get(before..).unwrap_or_default(), told.code()),
        seconds: told.took.as_secs_f64(),
        words: format!("{}\n{}", told.words(), told.stdout),
    })
}

/// Returns why a run does not count: it must end well by itself, and the page must have
/// given its full reward, once.
fn lost(rewards: &[f64], code: Option<i32>) -> Option<String> {
    let page = match rewards {
        [] => Some("no reward".to_owned()),
        [one] if (one - 1.0).abs() < f64::EPSILON => None,
        [one] => Some(format!("reward {one:.2}")),
        several => Some(format!("{} rewards: {several:?}", several.len())),
    };
    let run = match code {
        Some(0) => None,
        Some(code) => Some(format!("exit code {code}")),
        None => Some("stopped from outside, or out of time".to_owned()),
    };
    let both: Vec<String> = [page, run].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join(", "))
}

/// Returns the fields of a page as the agent lists them.
fn fields(home: &Home, url: &str) -> Result<Vec<Value>> {
    let told = home.run(["fields", url, "--json"], LIMIT)?;
    let said = told.last()?;
    Ok(said["fields"].as_array().context("`fields` lists fields")?.clone())
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let listed = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in listed {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".html").map(ToOwned::to_owned));
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_full_reward_and_a_good_end_are_wanted() {
        assert_eq!(lost(&[1.0], Some(0)), None);
        for (rewards, code) in [
            (&[][..], Some(0)),
            (&[0.5], Some(0)),
            (&[-1.0], Some(0)),
            (&[1.0, 1.0], Some(0)),
            (&[1.0, -1.0], Some(0)),
            (&[1.0], Some(1)),
            (&[1.0], None),
        ] {
            assert!(lost(rewards, code).is_some(), "{rewards:?} {code:?}");
        }
    }
}

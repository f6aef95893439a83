//! Small tasks with an instruction and a reward, filled by the real agent: the harness
//! reads the instruction and writes a profile, the agent does the rest.

mod episode;
mod profile;

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use anyhow::{Context, Result, bail};

use self::episode::{Episode, Stand};
use self::profile::Task;
use crate::{place, place::Scratch, program::Home, webdriver::Browser};

/// Problems of each task.
const SEEDS: u64 = 5;
/// How long one run may take.
const LIMIT: Duration = Duration::from_mins(2);

/// The tasks that fill a form, and how their instruction is read.
const FORMS: [(&str, Task); 8] = [
    ("choose-list", Task::Choose),
    ("click-checkboxes", Task::Boxes),
    ("click-checkboxes-large", Task::Boxes),
    ("click-checkboxes-soft", Task::Synonyms),
    ("click-checkboxes-transfer", Task::Boxes),
    ("login-user", Task::Login),
    ("multi-layouts", Task::Search),
    ("use-spinner", Task::Spin),
];

/// The others, by how their names begin, and why they fill no form.
const OTHERS: [(&str, &str); 13] = [
    ("button-delay", "buttons alone: there is no field"),
    ("click-", "clicks alone: there is no field to fill"),
    ("email-inbox", "a program for mail: which message to open is what it asks"),
    ("focus-text", "a field must be focused and nothing written into it"),
    ("login-user-popup", "a question of the page's own comes in between: it is the person's"),
    ("number-checkboxes", "a picture to draw with boxes that have no names"),
    ("order-food", "there is no field: quantities are changed by clicks on plus signs"),
    ("search-engine", "a result must be looked for and its link followed"),
    ("sign-agreement", "agreeing and cancelling are what it asks: both are the person's"),
    ("social-media", "icons are clicked: there is no field"),
    ("use-slider", "sliders of bare boxes: no role, no name and no value say what they are"),
    ("use-slider-2", "sliders of bare boxes: no role, no name and no value say what they are"),
    ("enter-", "not among the tasks that this harness was written for"),
];

/// What became of one problem.
struct Row {
    task: String,
    seed: u64,
    reward: Option<f64>,
    seconds: f64,
    words: String,
}

/// Runs every task of the folder, and returns whether all that fill a form were rewarded.
pub(super) fn run(data: &Path) -> Result<bool> {
    let folder = data.join("miniwob");
    let names = names(&folder.join("miniwob"))?;
    let stand = Stand::open(&folder)?;
    let mut browser = Browser::start(800, 600)?;
    let scratch = Scratch::new()?;
    let mut rows = Vec::new();
    let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in &names {
        let Some((_, task)) = FORMS.iter().find(|(form, _)| form == name) else {
            others.entry(why_not(name)).or_default().push(name);
            continue;
        };
        for seed in 1..=SEEDS {
            let episode = stand.episode(&mut browser, name, seed)?;
            let row = fill(&stand, &episode, *task, &scratch)
                .with_context(|| format!("{name}, seed {seed}: {}", episode.instruction))?;
            let reward = row.reward.map_or_else(|| "none".into(), |it| format!("{it:.2}"));
            println!("{name:<28}{seed:>3}  reward {reward:>5}  {:>5.1} s", row.seconds);
            if row.reward != Some(1.0) {
                println!("  {}\n  {}", episode.instruction, row.words.replace('\n', "\n  "));
            }
            rows.push(row);
        }
    }
    println!("\n{} of {} tasks fill no form:", names.len() - forms(&names), names.len());
    for (why, names) in &others {
        println!("  {why}:\n    {}", names.join(", "));
    }
    report(&rows)
}

fn report(rows: &[Row]) -> Result<bool> {
    if rows.is_empty() {
        bail!("none of the tasks fills a form");
    }
    println!("\n{:<28}{:>9}{:>9}{:>11}", "task", "problems", "reward 1", "s each");
    let mut tasks: Vec<&str> = rows.iter().map(|row| row.task.as_str()).collect();
    tasks.dedup();
    for task in tasks {
        let own = || rows.iter().filter(|row| row.task == task);
        let (all, won) = (own().count(), own().filter(|row| row.reward == Some(1.0)).count());
        let seconds: f64 = own().map(|row| row.seconds).sum();
        #[expect(clippy::cast_precision_loss, reason = "a handful of problems")]
        let each = seconds / all as f64;
        println!("{task:<28}{all:>9}{won:>9}{each:>11.1}");
    }
    let lost: Vec<String> = rows
        .iter()
        .filter(|row| row.reward != Some(1.0))
        .map(|row| format!("{} {}", row.task, row.seed))
        .collect();
    let word = if lost.is_empty() { "pass" } else { "FAIL" };
    println!(
        "{word}  every problem that fills a form is rewarded: {} of {}",
        rows.len() - lost.len(),
        rows.len()
    );
    if !lost.is_empty() {
        println!("      not: {}", lost.join(", "));
    }
    Ok(lost.is_empty())
}

/// Lets the agent fill one problem.
fn fill(stand: &Stand, episode: &Episode, task: Task, scratch: &Scratch) -> Result<Row> {
    let home = Home::sharing(&scratch.file(""), &place::cache()?)?;
    let labels = if task.is_unlabelled() { labels(&home, &episode.url)? } else { Vec::new() };
    let profile = profile::write(task, episode, &labels)?;
    fs::write(home.file("profile.toml"), profile)?;
    let before = stand.rewards(episode);
    // Some pages show a value that nobody chose, and ask for another.
    let how = ["--submit", "yes", "--overwrite"];
    let run = ["run", "form", "--url", &episode.url, "--profile", "profile.toml"];
    let told = home.run(run.into_iter().chain(how), LIMIT)?;
    let reward = stand.rewards(episode).get(before.len()).copied();
    Ok(Row {
        task: episode.task.clone(),
        seed: episode.seed,
        reward,
        seconds: told.took.as_secs_f64(),
        words: format!("{}\n{}", told.words(), told.stdout),
    })
}

/// Returns what the agent calls the fields of a page that gives them no name.
fn labels(home: &Home, url: &str) -> Result<Vec<String>> {
    let told = home.run(["fields", url, "--json"], LIMIT)?;
    let said = told.last()?;
    let fields = said["fields"].as_array().context("`fields` lists fields")?;
    Ok(fields.iter().filter_map(|field| field["label"].as_str().map(ToOwned::to_owned)).collect())
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

fn forms(names: &[String]) -> usize {
    names.iter().filter(|name| FORMS.iter().any(|(form, _)| form == name)).count()
}

fn why_not(name: &str) -> &'static str {
    let longest = OTHERS.iter().filter(|(start, _)| name.starts_with(start));
    let found = longest.max_by_key(|(start, _)| start.len());
    found.map_or("not among the tasks that this harness was written for", |(_, why)| why)
}

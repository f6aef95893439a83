//! `cargo xtask eval explore`: how much of recorded and of made-up apps the explore agent
//! reaches, beside chance, the nearest untried action, and one that knows the graph.

mod exploration;
mod reproducers;
mod rivals;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use pointsman_webdriver::device::{GroundTruth, Recording};

pub(crate) use reproducers::reproducers;

/// Actions after which coverage is taken.
const MARKS: [usize; 4] = [50, 100, 300, 1_000];
/// Shares of the screens in reach that must be covered, in percent: recorded, made up.
const TARGETS: [[f64; 4]; 2] = [[49.0, 62.0, 74.0, 82.0], [45.0, 62.0, 85.0, 95.0]];
const KINDS: [&str; 2] = ["recorded", "synthetic"];

/// Shares by seed, for every app of a kind.
type Shares = Vec<Vec<[f64; 4]>>;

/// Prints the tables, and returns whether the targets are reached.
pub(crate) fn explore(data: &Path, seeds: u64, verbose: bool) -> Result<bool> {
    let files = files(data)?;
    ensure!(!files.is_empty(), "there is no `*.jsonl.gz` in {}", data.display());
    let last = MARKS.last().copied().unwrap_or_default();
    let chart = exploration::chart(u64::try_from(last)?)?;
    let mut tables: BTreeMap<&str, [Shares; 2]> = BTreeMap::new();
    let mut identity = Identity::default();
    for file in &files {
        let recording = Recording::open(file, 0, None)?;
        let truth = recording.truth();
        let kind = usize::from(truth.complete);
        let (mut screens, mut few) = (HashMap::new(), HashMap::new());
        let mut rows: BTreeMap<&str, Vec<[f64; 4]>> = BTreeMap::new();
        let last = u64::try_from(last)?;
        for seed in 0..seeds {
            let device = recording.again(seed);
            let ride = exploration::explore(&chart, &device, &mut screens, None, seed)?;
            rows.entry("agent").or_default().push(shares(&truth, &ride.visited));
            identity.after(&truth, &ride.ids);
            let device = recording.again(seed);
            let ride = exploration::explore(&chart, &device, &mut few, Some(&truth), seed)?;
            rows.entry("recorded actions only").or_default().push(shares(&truth, &ride.visited));
            let visited = rivals::monkey(&recording.again(seed), &mut screens, last, seed)?;
            rows.entry("monkey").or_default().push(shares(&truth, &visited));
            let visited = rivals::nearest(&recording.again(seed), &mut screens, last, seed)?;
            rows.entry("nearest untried").or_default().push(shares(&truth, &visited));
            let visited = rivals::oracle(&recording.again(seed), &truth, last)?;
            rows.entry("oracle").or_default().push(shares(&truth, &visited));
        }
        if verbose {
            let (mean, _) = summary(&[rows["agent"].clone()]);
            println!("{:<24}{}", recording.app(), row(&mean, None));
        }
        for (name, shares) in rows {
            tables.entry(name).or_default()[kind].push(shares);
        }
        identity.before(&truth, &recording)?;
    }
    let mut passed = true;
    for (kind, name) in KINDS.iter().enumerate() {
        println!("{name}: share of the screens in reach after 50, 100, 300 and 1000 actions, in %");
        for (who, shares) in &tables {
            let (mean, error) = summary(&shares[kind]);
            println!("  {who:<24}{}", row(&mean, Some(&error)));
            if *who == "agent" && !shares[kind].is_empty() {
                println!("  {:<24}{}", "at least", row(&TARGETS[kind], None));
                let enough = |at: usize| mean[at] + error[at] >= TARGETS[kind][at];
                passed &= (0..MARKS.len()).all(enough);
            }
        }
    }
    passed &= identity.print();
    Ok(passed)
}

fn files(data: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in [data.to_path_buf(), data.join("synthetic")] {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.to_string_lossy().ends_with(".jsonl.gz") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn shares(truth: &GroundTruth, visited: &[String]) -> [f64; 4] {
    MARKS.map(|mark| {
        let seen = visited.iter().take(mark + 1).filter_map(|state| truth.screens.get(state));
        let seen: BTreeSet<&String> = seen.filter(|it| truth.reachable.contains(*it)).collect();
        percent(seen.len(), truth.reachable.len())
    })
}

/// Returns the mean over apps of the means over seeds, and its standard error over seeds.
fn summary(apps: &[Vec<[f64; 4]>]) -> ([f64; 4], [f64; 4]) {
    let mut result = ([0.0; 4], [0.0; 4]);
    for at in 0..MARKS.len() {
        let seeds = apps.first().map_or(0, Vec::len);
        let by_seed: Vec<f64> = (0..seeds)
            .map(|seed| mean(&apps.iter().map(|app| app[seed][at]).collect::<Vec<_>>()))
            .collect();
        let middle = mean(&by_seed);
        let squares: Vec<f64> = by_seed.iter().map(|it| (it - middle).powi(2)).collect();
        let spread = (mean(&squares) * count(seeds) / count(seeds.saturating_sub(1).max(1))).sqrt();
        result.0[at] = middle;
        result.1[at] = spread / count(seeds.max(1)).sqrt();
    }
    result
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len().max(1))
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * count(part) / count(whole.max(1))
}

fn row(mean: &[f64; 4], error: Option<&[f64; 4]>) -> String {
    let cell = |at: usize| match error {
        Some(error) => format!("{:>7.1} ±{:<4.1}", mean[at], error[at]),
        None => format!("{:>7.1}      ", mean[at]),
    };
    (0..MARKS.len()).map(cell).collect()
}

/// How well screens are distinguished, where it is known what they are.
#[derive(Default)]
struct Identity {
    screens: usize,
    split: usize,
    ids: [usize; 2],
    several: [usize; 2],
}

impl Identity {
    /// Takes the identities of all screens of an app, without having explored it.
    fn before(&mut self, truth: &GroundTruth, recording: &Recording) -> Result<()> {
        if !truth.complete {
            return Ok(());
        }
        let mut ids: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
        let mut screens: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
        for (state, screen) in &truth.screens {
            let id = recording.screen(state).context("the state is there")?.coarse;
            ids.entry(id.as_str().to_owned()).or_default().insert(screen);
            screens.entry(screen).or_default().insert(id.as_str().to_owned());
        }
        self.screens += screens.len();
        self.split += screens.values().filter(|ids| ids.len() > 1).count();
        self.ids[0] += ids.len();
        self.several[0] += ids.values().filter(|screens| screens.len() > 1).count();
        Ok(())
    }

    /// Takes what the agent took the states for that it has seen.
    fn after(&mut self, truth: &GroundTruth, ids: &HashMap<String, String>) {
        if !truth.complete {
            return;
        }
        let mut held: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (state, id) in ids {
            if let Some(screen) = truth.screens.get(state) {
                held.entry(id).or_default().insert(screen);
            }
        }
        self.ids[1] += held.len();
        self.several[1] += held.values().filter(|screens| screens.len() > 1).count();
    }

    fn print(&self) -> bool {
        let split = percent(self.split, self.screens);
        let several = [0, 1].map(|at| percent(self.several[at], self.ids[at]));
        println!("identity, synthetic: {split:.1} % of {} screens split (at most 3)", self.screens);
        println!(
            "  ids that hold several screens: {:.1} % of {} before (at most 4), {:.1} % after 1000 \
             actions (at most 2)",
            several[0], self.ids[0], several[1]
        );
        self.screens == 0 || split <= 3.0 && several[0] <= 4.0 && several[1] <= 2.0
    }
}

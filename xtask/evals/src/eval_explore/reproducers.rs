//! `cargo xtask eval reproducers`: how short and how sure the ways are that are found to the
//! crashes of made-up apps, beside the shortest that their graphs allow.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
};

use anyhow::{Context as _, Result, ensure};
use pointsman_agents::explore::{
    DeviceAction, DeviceLocation, ExploreConfig,
    map::{AppMap, MapReader, Mishap, MishapKind},
};
use pointsman_webdriver::{
    device::{GroundTruth, Recording},
    reproduce::{ReproduceOptions, Reproducer, reproduce},
};

use super::{exploration, files, percent};

/// Shares that must be reached, in percent.
const SHORT: f64 = 90.0;
const SURE: f64 = 95.0;
/// Tries over which a way is judged that depends on chance.
const MANY: u32 = 20;

/// What came of all crashes.
#[derive(Default)]
struct Tally {
    crashes: usize,
    /// At most one action longer than the shortest way.
    short: usize,
    shortest: usize,
    /// Tries of deterministic crashes, and successful ones.
    tries: [usize; 2],
    /// Deterministic crashes, and reproduced ones.
    certain: [usize; 2],
    /// Crashes by chance, and those with a rate over enough tries.
    chance: [usize; 2],
    actions: u64,
}

/// Prints the figures, and returns whether the targets are reached.
pub(crate) fn reproducers(data: &Path, seeds: u64, actions: u64, verbose: bool) -> Result<bool> {
    let chart = exploration::chart(actions)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut tally = Tally::default();
    for file in files(data)? {
        let recording = Recording::open(&file, 0, None)?;
        let truth = recording.truth();
        if !truth.complete {
            continue;
        }
        let judge = Judge::new(&recording, &truth);
        let mut screens = HashMap::new();
        for seed in 0..seeds {
            let config = config(&file, &recording, seed);
            let mut reader = MapReader::new(&config);
            let device = recording.again(seed);
            exploration::watched(&chart, &device, &mut screens, None, seed, |task, report| {
                reader.take(0, task, report);
            })?;
            let map = reader.map();
            let found = runtime.block_on(reproduce(&config, &map, &ReproduceOptions::default()))?;
            for it in found.iter().filter(|it| it.mishap.kind == MishapKind::Crash) {
                let told = tally.add(&judge, &map, it)?;
                if verbose {
                    println!("{} {seed} {told}", recording.app());
                }
            }
        }
    }
    ensure!(tally.crashes > 0, "no app in {} crashed", data.display());
    Ok(tally.print())
}

fn config(file: &Path, recording: &Recording, seed: u64) -> ExploreConfig {
    let mut config = ExploreConfig::default();
    config.app.package = recording.package().into();
    config.device =
        DeviceLocation { recording: Some(file.display().to_string()), ..DeviceLocation::default() };
    config.seed = seed;
    config
}

impl Tally {
    fn add(&mut self, judge: &Judge<'_>, map: &AppMap, found: &Reproducer) -> Result<String> {
        let (least, certain) = judge.crash(map, &found.mishap).context("the crash is known")?;
        // An app that was in front already was not started; it is, to make it crash again.
        let moves = || found.path.iter().filter_map(|at| map.moves.get(*at));
        let length = moves().filter(|it| !it.action.starts()).count();
        let (held, tries) = (usize::try_from(found.held)?, usize::try_from(found.tries)?);
        self.crashes += 1;
        self.actions += found.actions;
        self.short += usize::from(found.held > 0 && length <= least + 1);
        self.shortest += usize::from(found.held > 0 && length <= least);
        if certain {
            self.tries[0] += tries;
            self.tries[1] += held;
            self.certain[0] += 1;
            self.certain[1] += usize::from(held > 0);
        } else {
            self.chance[0] += 1;
            self.chance[1] += usize::from(found.tries >= MANY);
        }
        let how = if certain { "always" } else { "by chance" };
        let names: Vec<String> = moves().map(|it| it.action.name()).collect();
        Ok(format!(
            "{how}: {length} actions (first {}, shortest {least}), {held} of {tries}, {} spent{}: {}",
            found.seen_after,
            found.actions,
            if found.cut_short { ", cut short" } else { "" },
            names.join(", ")
        ))
    }

    fn print(&self) -> bool {
        let short = percent(self.short, self.crashes);
        let sure = percent(self.tries[1], self.tries[0]);
        println!("{} crashes, {} actions spent on them", self.crashes, self.actions);
        println!(
            "  {short:.1} % at most one action longer than the shortest way of the graph (at \
             least {SHORT}), {:.1} % no longer",
            percent(self.shortest, self.crashes)
        );
        println!(
            "  {} always happen: {} reproduced, in {sure:.1} % of {} tries (at least {SURE})",
            self.certain[0], self.certain[1], self.tries[0]
        );
        let [all, judged] = self.chance;
        println!("  {all} happen by chance: {judged} have a rate over {MANY} tries (all)");
        short >= SHORT && sure >= SURE && judged == all
    }
}

/// What a recording knows of its crashes.
struct Judge<'a> {
    truth: &'a GroundTruth,
    recording: &'a Recording,
    /// Actions from the start to each state, by whatever may happen.
    far: HashMap<&'a str, usize>,
}

impl<'a> Judge<'a> {
    fn new(recording: &'a Recording, truth: &'a GroundTruth) -> Self {
        let start = truth.initial.as_str();
        let mut far = HashMap::from([(start, 0)]);
        let mut next = VecDeque::from([start]);
        while let Some(at) = next.pop_front() {
            let here = far[at];
            let outside = !truth.screens.contains_key(at);
            let ways = truth.known.get(at).into_iter().flatten();
            for known in ways.filter(|it| !outside || it.gesture.act != DeviceAction::Launch) {
                for to in known.to.keys() {
                    if !far.contains_key(to.as_str()) {
                        far.insert(to, here + 1);
                        next.push_back(to);
                    }
                }
            }
        }
        Self { truth, recording, far }
    }

    /// Returns the fewest actions from the start to a crash, and whether it always happens.
    fn crash(&self, map: &AppMap, mishap: &Mishap) -> Option<(usize, bool)> {
        let done = &map.moves.get(*mishap.path.last()?)?.action;
        let key = done.widget.as_ref().map(|it| it.key.as_str());
        let (mut least, mut certain) = (None, true);
        for (state, ways) in &self.truth.known {
            let (Some(far), Some(screen)) =
                (self.far.get(state.as_str()), self.recording.screen(state))
            else {
                continue;
            };
            if Some(&screen.coarse) != mishap.screen.as_ref() {
                continue;
            }
            for known in ways.iter().filter(|it| it.gesture.act == done.act) {
                let down = known.to.keys().filter(|to| self.is_down(to)).count();
                let fits = screen.widgets.iter().any(|it| {
                    usize::try_from(it.ordinal).ok() == known.gesture.target
                        && Some(it.key.as_str()) == key
                });
                if down > 0 && (fits || key.is_none()) {
                    certain &= down == known.to.len();
                    least = Some(least.unwrap_or(usize::MAX).min(far + 1));
                }
            }
        }
        Some((least?, certain))
    }

    fn is_down(&self, state: &str) -> bool {
        self.recording
            .screen(state)
            .is_some_and(|it| it.dialog.is_some() && it.package == "android")
    }
}

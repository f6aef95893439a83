//! Reads an exploration back: one task and its report after the other.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    super::{
        actions::{self, DeviceAction},
        config::ExploreConfig,
        screen::{Foreground, Screen, ScreenId},
        task::{ExploreReport, ExploreTask},
    },
    ActionResult, AppMap, MapAction, MapEdge, MapScreen, Mishap, MishapKind, PerformedAction,
};

/// An exploration that is being read.
#[derive(Clone, Debug, Default)]
pub struct MapReader {
    map: AppMap,
    /// What was captured last, for the action that follows.
    looked: Option<Screen>,
    /// The place where that was.
    spot: Option<usize>,
    /// The move whose outcome was not seen yet.
    pending: Option<usize>,
}

impl MapReader {
    /// Begins to read a run with this configuration.
    pub fn new(config: &ExploreConfig) -> Self {
        let map = AppMap {
            app: config.app.package.clone(),
            recording: config.device.recording.clone(),
            setup: config.setup.len(),
            ..AppMap::default()
        };
        Self { map, ..Self::default() }
    }

    /// Takes an order and its result.
    pub fn take(&mut self, at: u64, task: &ExploreTask, report: &ExploreReport) {
        match (task, report) {
            (_, ExploreReport::Captured { screen, running }) => self.captured(screen, *running),
            (_, ExploreReport::Performed { .. } | ExploreReport::Done) => {
                let Some(action) = self.action(task) else { return };
                let from = self.looked.as_ref().map(|it| it.coarse.clone());
                let step = if let ExploreReport::Performed { step } = report {
                    step.clone()
                } else {
                    None
                };
                let to = ActionResult::Unknown;
                self.pending = Some(self.map.moves.len());
                let spots = (self.spot, None);
                self.map.moves.push(PerformedAction { at, from, action, to, step, spots });
            }
            _ => {}
        }
    }

    /// Returns what was read.
    pub fn map(mut self) -> AppMap {
        for screen in &mut self.map.screens {
            screen.seen = screen.offered.len();
            screen.tried = screen.taken.len();
            screen.idle = screen.taken.values().filter(|led| !**led).count();
        }
        let otherwise: Vec<u32> =
            self.map.mishaps.iter().map(|it| self.map.otherwise(it)).collect();
        for (mishap, count) in self.map.mishaps.iter_mut().zip(otherwise) {
            mishap.otherwise = count;
        }
        self.map.mishaps.extend(dead_ends(&self.map));
        self.map
    }

    fn action(&self, task: &ExploreTask) -> Option<MapAction> {
        let (act, target, direction, text) = match task {
            ExploreTask::Perform { act, target, direction, text } => {
                (*act, *target, *direction, text.clone())
            }
            ExploreTask::Wait => (DeviceAction::Wait, None, None, None),
            ExploreTask::Launch(_) => (DeviceAction::Launch, None, None, None),
            ExploreTask::Restart(_) => (DeviceAction::Restart, None, None, None),
            ExploreTask::Session
            | ExploreTask::Inspect(_)
            | ExploreTask::Install(_)
            | ExploreTask::Settle
            | ExploreTask::Capture
            | ExploreTask::Verify
            | ExploreTask::Check => return None,
        };
        let screen = self.looked.as_ref();
        let ordinal = target.map(|it| it.ordinal);
        let fits = |it: &actions::CandidateAction| {
            it.act == act && it.direction == direction && it.target.map(|it| it.ordinal) == ordinal
        };
        let known = screen
            .filter(|_| ordinal.is_some())
            .and_then(|screen| actions::offers(screen).into_iter().find(fits));
        let widget = screen.and_then(|screen| {
            screen.widgets.iter().find(|it| Some(it.ordinal) == ordinal).cloned()
        });
        let key = known.as_ref().map_or_else(|| act.name().to_string(), |it| it.key.clone());
        let label = known.map(|it| it.label).unwrap_or_default();
        Some(MapAction { key, act, direction, label, text, widget })
    }

    fn captured(&mut self, screen: &Screen, running: bool) {
        // Going back out of an app may end it; anything else that does is a crash.
        let done = self.pending.and_then(|place| self.map.moves.get(place));
        let left = done.is_some_and(|it| it.action.act == DeviceAction::Back);
        let landing = ActionResult::of(screen, &self.map.app, running || left);
        let is_screen = matches!(landing, ActionResult::Screen(_));
        self.spot = None;
        if is_screen {
            self.see(screen);
            self.spot = Some(self.map.spots.see(screen));
        }
        if let Some(place) = self.pending.take() {
            self.land(place, landing);
        }
        self.looked = is_screen.then(|| screen.clone());
    }

    fn see(&mut self, screen: &Screen) {
        let id = screen.coarse.clone();
        let first = self.map.moves.len();
        let place = self.map.screens.iter().position(|it| it.id == id);
        if place.is_none() {
            self.map.screens.push(MapScreen {
                id,
                title: title(screen),
                activity: screen.activity.clone(),
                dialog: screen.front(&self.map.app) == Foreground::SystemDialog,
                first,
                source: screen.source.clone(),
                picture: screen.picture.clone(),
                widgets: screen.widgets.clone(),
                ..MapScreen::default()
            });
        }
        let last = self.map.screens.len().saturating_sub(1);
        if let Some(sight) = self.map.screens.get_mut(place.unwrap_or(last)) {
            sight.offered.extend(actions::offers(screen).into_iter().map(|it| it.key));
        }
    }

    /// Takes note of where a move led.
    fn land(&mut self, place: usize, to: ActionResult) {
        let Some(done) = self.map.moves.get_mut(place) else { return };
        done.to = to.clone();
        done.spots.1 = self.spot;
        let (from, action) = (done.from.clone(), done.action.clone());
        if let ActionResult::Screen(id) = &to
            && let Some(sight) = self.map.screens.iter_mut().find(|it| it.id == *id)
        {
            sight.visits = sight.visits.saturating_add(1);
        }
        if let Some(kind) = to.kind() {
            self.mishap(kind, from.as_ref(), &action.kind_key(), place);
        }
        // A start leads from anywhere to the same place: it says nothing of the app.
        let Some(from) = from.filter(|_| !action.starts()) else { return };
        let led = to != ActionResult::Screen(from.clone());
        if let Some(sight) = self.map.screens.iter_mut().find(|it| it.id == from) {
            sight.offered.insert(action.key.clone());
            let slot = sight.taken.entry(action.key.clone()).or_default();
            *slot |= led;
        }
        if !led {
            return;
        }
        let same =
            |it: &&mut MapEdge| it.from == from && it.action.key == action.key && it.to == to;
        match self.map.edges.iter_mut().find(same) {
            Some(edge) => edge.times = edge.times.saturating_add(1),
            None => self.map.edges.push(MapEdge { from, action, to, times: 1, first: place }),
        }
    }

    fn mishap(&mut self, kind: MishapKind, screen: Option<&ScreenId>, key: &str, place: usize) {
        let same =
            |it: &&mut Mishap| it.kind == kind && it.screen.as_ref() == screen && it.key == key;
        if let Some(known) = self.map.mishaps.iter_mut().find(same) {
            known.times = known.times.saturating_add(1);
            return;
        }
        let path = self.path(place);
        let (screen, key) = (screen.cloned(), key.to_owned());
        self.map.mishaps.push(Mishap { kind, screen, key, times: 1, otherwise: 0, path });
    }

    /// Returns the moves from the last start of the app to this one.
    fn path(&self, place: usize) -> Vec<usize> {
        let starts = |at: &usize| self.map.moves.get(*at).is_some_and(|it| it.action.starts());
        let from = (0..=place).rev().find(starts).unwrap_or(0);
        (from..=place).collect()
    }
}

/// Finds the screens that were left by nothing but a start of the app: everything there was
/// tried, and nothing led away.
fn dead_ends(map: &AppMap) -> Vec<Mishap> {
    let dead = |it: &&MapScreen| it.seen > 0 && it.is_done() && it.idle == it.seen;
    let arrived = |id: &ScreenId| {
        map.moves.iter().position(|it| it.to == ActionResult::Screen(id.clone())).unwrap_or(0)
    };
    let reader = MapReader { map: map.clone(), ..MapReader::default() };
    let dead = map.screens.iter().filter(dead).map(|it| Mishap {
        kind: MishapKind::DeadEnd,
        screen: Some(it.id.clone()),
        key: String::new(),
        times: it.visits,
        otherwise: 0,
        path: reader.path(arrived(&it.id)),
    });
    dead.collect()
}

/// Returns the text at the top of a screen.
fn title(screen: &Screen) -> String {
    let named = screen.widgets.iter().filter(|it| !it.label.trim().is_empty());
    let named: Vec<_> = named.collect();
    let titled = named.iter().find(|it| it.key.to_lowercase().contains("title"));
    let plain = named.iter().find(|it| it.weak && !it.listed);
    let found = titled.or(plain).or_else(|| named.first());
    found.map(|it| it.label.trim().chars().take(40).collect()).unwrap_or_default()
}

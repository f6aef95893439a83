//! A recording of an app: a graph of its screens, played back as if it were a device.
//!
//! A player is given what a device shows, and nothing of what the recording knows: neither
//! which actions have an edge, nor what kind of screen it is.

mod graph;
mod structure;
#[cfg(test)]
mod tests;
mod truth;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pointsman_agents::explore::{DeviceAction, Direction, RecordingStep};
use pointsman_kernel::id::Digest;
use serde::{Deserialize, Serialize};

pub use graph::RecordingError;
pub use truth::{GroundTruth, KnownAction};

use super::{
    AppState, Device, DeviceClass, DeviceError, DeviceResult, Gesture, InstalledApp, ScreenCapture,
};
use graph::{RecordedAction, RecordedActionKind, RecordingGraph};

/// A recorded app that is played back from a seed.
#[derive(Debug)]
pub struct Recording {
    graph: Arc<RecordingGraph>,
    seed: u64,
    /// Where it is kept how far the player has come; nothing where it need not outlive us.
    kept: Option<PathBuf>,
    stand: Mutex<PlaybackState>,
}

/// How far a player has come.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct PlaybackState {
    at: String,
    /// How often an action with several successors was taken, by state and action.
    taken: BTreeMap<String, u64>,
    /// The last action, by the key of the effect that asked for it.
    last: Option<(String, RecordingStep)>,
}

impl Recording {
    /// Opens a recording: JSON Lines, gzipped or plain. If `kept` names a file, an interrupted
    /// player continues from there.
    pub fn open(file: &Path, seed: u64, kept: Option<PathBuf>) -> Result<Self, RecordingError> {
        Self::of(Arc::new(RecordingGraph::read(file)?), seed, kept)
    }

    /// Returns another player of the same recording, from its start.
    #[must_use]
    pub fn again(&self, seed: u64) -> Self {
        let at = self.graph.initial.clone();
        let stand = Mutex::new(PlaybackState { at, ..PlaybackState::default() });
        Self { graph: Arc::clone(&self.graph), seed, kept: None, stand }
    }

    fn of(
        graph: Arc<RecordingGraph>,
        seed: u64,
        kept: Option<PathBuf>,
    ) -> Result<Self, RecordingError> {
        let start = PlaybackState { at: graph.initial.clone(), ..PlaybackState::default() };
        let stand = match kept.as_ref().map(fs::read) {
            None => start,
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => start,
            Some(Err(source)) => return Err(RecordingError::Kept { source }),
            Some(Ok(bytes)) => serde_json::from_slice(&bytes)
                .ok()
                .filter(|stand: &PlaybackState| graph.states.contains_key(&stand.at))
                .ok_or(RecordingError::OtherGraph)?,
        };
        Ok(Self { graph, seed, kept, stand: Mutex::new(stand) })
    }

    /// Returns the package of the app that was recorded.
    pub fn package(&self) -> &str {
        &self.graph.package
    }

    /// Returns the name of the app that was recorded.
    pub fn app(&self) -> &str {
        &self.graph.app
    }

    /// Returns the state that the player is in.
    pub fn at(&self) -> String {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner).at.clone()
    }

    /// Takes an action, and returns the step that it was.
    fn take(&self, action: RecordedAction, key: &str) -> Result<RecordingStep, DeviceError> {
        let mut stand = self.stand.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, step)) = stand.last.as_ref().filter(|(last, _)| last == key) {
            return Ok(step.clone());
        }
        let from = stand.at.clone();
        let action = self.graph.effective(&from, action);
        let to = self.successor(&mut stand, &from, &action);
        let step = RecordingStep {
            from,
            kind: action.kind.name().into(),
            node: action.node,
            direction: action.direction.map(|it| it.name().into()),
            to: to.clone(),
        };
        stand.at = to;
        stand.last = Some((key.to_owned(), step.clone()));
        self.keep(&stand)?;
        Ok(step)
    }

    fn successor(&self, stand: &mut PlaybackState, from: &str, action: &RecordedAction) -> String {
        let initial = || self.graph.initial.clone();
        if action.kind == RecordedActionKind::Restart {
            return initial();
        }
        let Some(successors) = self.graph.successors(from, action) else {
            return if action.kind == RecordedActionKind::Launch {
                initial()
            } else {
                from.to_owned()
            };
        };
        let mut states = successors.iter();
        if let (Some((only, _)), None) = (states.next(), states.next()) {
            return only.clone();
        }
        let name = format!("{from} {action}");
        let times = stand.taken.entry(name.clone()).or_default();
        *times = times.saturating_add(1);
        let text = format!("{} {name} {times}", self.seed);
        draw(successors, &Digest::of(text.as_bytes())).unwrap_or_else(|| from.to_owned())
    }

    fn keep(&self, stand: &PlaybackState) -> Result<(), DeviceError> {
        let Some(path) = &self.kept else { return Ok(()) };
        let written = (|| {
            if let Some(folder) = path.parent() {
                pointsman_runtime::private::folder(folder)?;
            }
            let beside = path.with_extension("new");
            fs::write(&beside, serde_json::to_vec(stand)?)?;
            fs::rename(&beside, path)
        })();
        written.map_err(|error: io::Error| {
            let message = format!("cannot write {}: {error}", path.display());
            DeviceError::new(DeviceClass::Internal, message)
        })
    }
}

/// Draws a successor by weight.
fn draw(successors: &BTreeMap<String, u64>, chance: &Digest) -> Option<String> {
    let total = successors.values().fold(0_u64, |sum, weight| sum.saturating_add(*weight));
    let bytes = chance.0.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    let mut left = bytes.checked_rem(total)?;
    successors.iter().find_map(|(state, weight)| match left.checked_sub(*weight) {
        Some(rest) => {
            left = rest;
            None
        }
        None => Some(state.clone()),
    })
}

impl Device for Recording {
    fn name(&self) -> String {
        format!("a recording of {}", self.graph.app)
    }

    fn open(&self) -> DeviceResult<'_, ()> {
        now(Ok(()))
    }

    fn installed<'a>(&'a self, package: &'a str) -> DeviceResult<'a, Option<InstalledApp>> {
        now(Ok((package == self.graph.package).then(InstalledApp::default)))
    }

    fn install<'a>(&'a self, package: &'a str, _file: &'a str) -> DeviceResult<'a, ()> {
        let message = format!("a recording of {} cannot install {package}", self.graph.package);
        now(Err(DeviceError::new(DeviceClass::InvalidArgument, message)))
    }

    fn launch<'a>(
        &'a self,
        _package: &'a str,
        key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>> {
        now(self.take(RecordedAction::plain(RecordedActionKind::Launch), key).map(Some))
    }

    fn restart<'a>(
        &'a self,
        _package: &'a str,
        key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>> {
        now(self.take(RecordedAction::plain(RecordedActionKind::Restart), key).map(Some))
    }

    fn look(&self) -> DeviceResult<'_, ScreenCapture> {
        let at = self.at();
        let look = self.graph.states.get(&at).map(|state| ScreenCapture {
            tree: Arc::clone(&state.tree),
            source: Arc::clone(&state.source),
            package: state.package.clone(),
            activity: state.activity.clone(),
        });
        let missing = || DeviceError::new(DeviceClass::Internal, format!("no state {at}"));
        now(look.ok_or_else(missing))
    }

    fn picture(&self) -> DeviceResult<'_, Option<Vec<u8>>> {
        now(Ok(None))
    }

    fn act<'a>(
        &'a self,
        gesture: &'a Gesture,
        key: &'a str,
    ) -> DeviceResult<'a, Option<RecordingStep>> {
        let kind = match gesture.act {
            DeviceAction::Tap => RecordedActionKind::Tap,
            DeviceAction::LongPress => RecordedActionKind::LongPress,
            DeviceAction::Swipe => RecordedActionKind::Swipe,
            DeviceAction::Text => RecordedActionKind::Text,
            DeviceAction::Back => RecordedActionKind::Back,
            DeviceAction::Wait => RecordedActionKind::Wait,
            _ => {
                let message = "a recording does not support this gesture";
                return now(Err(DeviceError::new(DeviceClass::InvalidArgument, message)));
            }
        };
        let direction = gesture.direction.filter(|_| kind == RecordedActionKind::Swipe);
        let node = gesture.target.filter(|_| kind.is_on_node());
        now(self.take(RecordedAction { kind, node, direction, name: None }, key).map(Some))
    }

    fn remembers(&self) -> bool {
        true
    }

    fn stands_still(&self) -> bool {
        true
    }

    fn state<'a>(&'a self, package: &'a str) -> DeviceResult<'a, AppState> {
        let here = self.graph.states.get(&self.at());
        let front = here.is_some_and(|state| state.package == package);
        now(Ok(if front { AppState::Front } else { AppState::Background }))
    }

    fn close(&self) -> DeviceResult<'_, ()> {
        now(Ok(()))
    }
}

fn now<'a, T: Send + 'a>(value: Result<T, DeviceError>) -> DeviceResult<'a, T> {
    Box::pin(std::future::ready(value))
}

/// Returns the direction that a recording names.
fn direction(name: &str) -> Option<Direction> {
    [Direction::Up, Direction::Down, Direction::Left, Direction::Right]
        .into_iter()
        .find(|it| it.name() == name)
}

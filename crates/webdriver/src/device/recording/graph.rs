//! The graph that a recording holds: screens, and where actions led.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use flate2::read::MultiGzDecoder;
use pointsman_agents::explore::{Direction, Tree};
use serde::Deserialize;
use thiserror::Error;

use super::{direction, structure};
use crate::device::hierarchy::{self, HierarchyError};

/// Bytes of a recording at most, once unpacked.
const MAX_BYTES: u64 = 1 << 30;

/// Why a recording cannot be played.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line is invalid.
    #[error("{}, line {line}: {why}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// Something is missing from the whole.
    #[error("{}: {why}", path.display())]
    Incomplete {
        /// Which file.
        path: PathBuf,
        /// What.
        why: String,
    },
    /// It cannot be read how far the player had come.
    #[error("cannot read the position in the recording")]
    Kept {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The saved position belongs to another recording.
    #[error("the position file belongs to another recording")]
    OtherGraph,
}

/// A recorded app.
#[derive(Debug, Default)]
pub(super) struct RecordingGraph {
    pub(super) app: String,
    pub(super) package: String,
    pub(super) initial: String,
    pub(super) states: HashMap<String, RecordedScreen>,
    /// Where actions led, by state.
    edges: HashMap<String, HashMap<RecordedAction, Weights>>,
    /// Where actions led, by structure and by what an action does there.
    alike: HashMap<(Arc<str>, String), Weights>,
    /// Where screens went on to on which there is nothing to press, by structure.
    onward: HashMap<Arc<str>, Weights>,
}

type Weights = BTreeMap<String, u64>;

/// A screen of a recording.
#[derive(Debug)]
pub(super) struct RecordedScreen {
    pub(super) package: String,
    pub(super) activity: String,
    pub(super) source: Arc<str>,
    pub(super) tree: Arc<Tree>,
    pub(super) structure: Arc<str>,
    is_passive: bool,
    /// Whether another app is in front.
    pub(super) is_outside: bool,
    /// The screen that it is, where the graph names it.
    pub(super) label: Option<String>,
}

/// What was done on a screen.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct RecordedAction {
    pub(super) kind: RecordedActionKind,
    pub(super) node: Option<usize>,
    pub(super) direction: Option<Direction>,
    /// Which key was pressed.
    pub(super) name: Option<String>,
}

/// Kinds of actions, in the words of a recording.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum RecordedActionKind {
    Tap,
    LongPress,
    Swipe,
    Text,
    Back,
    Key,
    Launch,
    Kill,
    Intent,
    Restart,
    Wait,
}

impl RecordedActionKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tap => "tap",
            Self::LongPress => "long_press",
            Self::Swipe => "swipe",
            Self::Text => "text",
            Self::Back => "back",
            Self::Key => "key",
            Self::Launch => "launch",
            Self::Kill => "kill",
            Self::Intent => "intent",
            Self::Restart => "restart",
            Self::Wait => "wait",
        }
    }

    pub(super) const fn is_on_node(self) -> bool {
        matches!(self, Self::Tap | Self::LongPress | Self::Swipe | Self::Text)
    }
}

impl RecordedAction {
    pub(super) const fn plain(kind: RecordedActionKind) -> Self {
        Self { kind, node: None, direction: None, name: None }
    }
}

impl fmt::Display for RecordedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        if let Some(node) = self.node {
            write!(f, " {node}")?;
        }
        match self.direction {
            Some(direction) => write!(f, " {}", direction.name()),
            None => Ok(()),
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Header {
        app: String,
        package: String,
        kind: String,
        initial: String,
    },
    State {
        id: String,
        #[serde(default)]
        activity: Option<String>,
        #[serde(default)]
        package: Option<String>,
        #[serde(default)]
        flags: Vec<String>,
        hierarchy: String,
        screen: Option<String>,
    },
    Event {
        from: String,
        to: String,
        kind: RecordedActionKind,
        target: Option<Target>,
        raw: Raw,
        p: Option<f64>,
    },
}

#[derive(Deserialize)]
struct Target {
    node: Option<usize>,
}

#[derive(Default, Deserialize)]
struct Raw {
    direction: Option<String>,
    name: Option<String>,
}

impl RecordingGraph {
    /// Reads a recording.
    pub(super) fn read(path: &Path) -> Result<Self, RecordingError> {
        let unread = |source| RecordingError::Read { path: path.into(), source };
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let packed = file.fill_buf().map_err(unread)?.starts_with(&[0x1f, 0x8b]);
        let lines: Box<dyn Read> =
            if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let (mut graph, mut events, mut complete) = (Self::default(), Vec::new(), false);
        for (number, line) in (1_usize..).zip(BufReader::new(lines.take(MAX_BYTES)).lines()) {
            let line = line.map_err(unread)?;
            if line.trim().is_empty() {
                continue;
            }
            let bad = |why: String| RecordingError::Line { path: path.into(), line: number, why };
            match serde_json::from_str(&line).map_err(|error| bad(error.to_string()))? {
                Line::Header { app, package, kind, initial } => {
                    complete = kind == "synthetic";
                    (graph.app, graph.package, graph.initial) = (app, package, initial);
                }
                Line::State { id, activity, package, flags, hierarchy, screen } => {
                    let state = state(activity, package, &flags, &hierarchy);
                    let mut state = state.map_err(|error| bad(error.to_string()))?;
                    state.label = screen;
                    graph.states.insert(id, state);
                }
                Line::Event { from, to, kind, target, raw, p } => {
                    events.push((number, from, to, action(kind, target.as_ref(), raw), p));
                }
            }
        }
        if !graph.states.contains_key(&graph.initial) {
            let why = "it has no header, or its `initial` names no state".into();
            return Err(RecordingError::Incomplete { path: path.into(), why });
        }
        for (line, from, to, action, p) in events {
            let missing = |id: &&String| !graph.states.contains_key(*id);
            if let Some(state) = [&from, &to].into_iter().find(missing) {
                let why = format!("no state {state}");
                return Err(RecordingError::Line { path: path.into(), line, why });
            }
            if let Some(action) = action {
                let action = graph.effective(&from, action);
                let weights = graph.edges.entry(from).or_default().entry(action).or_default();
                add(weights, to, weight(p));
            }
        }
        graph.group(complete);
        Ok(graph)
    }

    /// Groups edges by structure. A complete graph has an edge for every action already.
    fn group(&mut self, complete: bool) {
        for (from, actions) in &self.edges {
            let Some(state) = self.states.get(from) else { continue };
            for (action, weights) in actions {
                for (to, weight) in weights {
                    if state.is_passive
                        && matches!(
                            action.kind,
                            RecordedActionKind::Tap
                                | RecordedActionKind::LongPress
                                | RecordedActionKind::Swipe
                        )
                    {
                        let onward = self.onward.entry(Arc::clone(&state.structure)).or_default();
                        add(onward, to.clone(), *weight);
                    }
                    if !complete {
                        let name = structure::name(&state.tree, action);
                        let key = (Arc::clone(&state.structure), name);
                        add(self.alike.entry(key).or_default(), to.clone(), *weight);
                    }
                }
            }
        }
    }

    /// Returns the edges that are in the file, by the state that they leave.
    pub(super) fn edges(&self, from: &str) -> impl Iterator<Item = (&RecordedAction, &Weights)> {
        self.edges.get(from).into_iter().flatten()
    }

    /// Returns the action on the element that a tap or a long press reaches.
    pub(super) fn effective(&self, state: &str, mut action: RecordedAction) -> RecordedAction {
        if let (Some(state), Some(node)) = (self.states.get(state), action.node) {
            let mut around = state.tree.around(node);
            let reached = match action.kind {
                RecordedActionKind::Tap => around.find(|(_, element)| element.clickable),
                RecordedActionKind::LongPress => around.find(|(_, element)| element.long_clickable),
                _ => None,
            };
            action.node = Some(reached.map_or(node, |(ordinal, _)| ordinal));
        }
        action
    }

    /// Returns where an action leads, by weight; nothing where it leaves the screen as it is.
    pub(super) fn successors(&self, from: &str, action: &RecordedAction) -> Option<&Weights> {
        if let Some(weights) = self.edges.get(from).and_then(|actions| actions.get(action)) {
            return Some(weights);
        }
        let state = self.states.get(from)?;
        let name = || structure::name(&state.tree, action);
        let alike = (!self.alike.is_empty()).then(|| (Arc::clone(&state.structure), name()));
        if let Some(weights) = alike.and_then(|key| self.alike.get(&key)) {
            return Some(weights);
        }
        let moves = matches!(
            action.kind,
            RecordedActionKind::Wait
                | RecordedActionKind::Tap
                | RecordedActionKind::LongPress
                | RecordedActionKind::Swipe
        );
        self.onward.get(&state.structure).filter(|_| moves && state.is_passive)
    }
}

fn state(
    activity: Option<String>,
    package: Option<String>,
    flags: &[String],
    source: &str,
) -> Result<RecordedScreen, HierarchyError> {
    let tree = hierarchy::parse(source)?;
    let (package, activity) = (package.unwrap_or_default(), activity.unwrap_or_default());
    let structure = format!("{package}/{activity}#{}", structure::of(&tree)).into();
    let is_passive = flags.iter().any(|flag| flag == "passive");
    let (tree, source) = (Arc::new(tree), source.into());
    let is_outside = flags.iter().any(|flag| flag == "out_of_app" || flag == "launcher");
    let label = None;
    Ok(RecordedScreen { package, activity, source, tree, structure, is_passive, is_outside, label })
}

/// Returns the action of an event; nothing where its target was not on the screen.
fn action(kind: RecordedActionKind, target: Option<&Target>, raw: Raw) -> Option<RecordedAction> {
    if !kind.is_on_node() {
        let name = raw.name.filter(|_| kind == RecordedActionKind::Key);
        return Some(RecordedAction { name, ..RecordedAction::plain(kind) });
    }
    let node = Some(target?.node?);
    let direction = raw.direction.filter(|_| kind == RecordedActionKind::Swipe);
    Some(RecordedAction {
        kind,
        node,
        direction: direction.and_then(|it| self::direction(&it)),
        name: None,
    })
}

fn add(weights: &mut Weights, to: String, weight: u64) {
    let sum = weights.entry(to).or_default();
    *sum = sum.saturating_add(weight);
}

/// Returns a weight as a whole number of billionths, which add up the same everywhere.
fn weight(p: Option<f64>) -> u64 {
    let seconds = Duration::try_from_secs_f64(p.unwrap_or(1.0)).unwrap_or_default();
    u64::try_from(seconds.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX >> 20)
}

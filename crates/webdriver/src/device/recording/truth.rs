//! What a judge of explorers may know of a recording. No explorer is given it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use pointsman_agents::explore::{DeviceAction, Direction, Screen};

use super::{
    Recording,
    graph::{RecordedAction, RecordedActionKind, RecordedScreen, RecordingGraph},
};
use crate::device::Gesture;

/// A recording with everything that it knows.
#[derive(Debug)]
pub struct GroundTruth {
    /// Whether every edge of the app is in the file, and every state says which screen it is.
    pub complete: bool,
    /// The state that it starts in.
    pub initial: String,
    /// The screen of a state; only states of the app itself have one.
    pub screens: HashMap<String, String>,
    /// The screens in reach from the start.
    pub reachable: BTreeSet<String>,
    /// Actions that are known to do something, by state.
    pub known: HashMap<String, Vec<KnownAction>>,
}

/// An action that is known to do something.
#[derive(Clone, Debug)]
pub struct KnownAction {
    /// What to do.
    pub gesture: Gesture,
    /// Where it leads, by weight.
    pub to: BTreeMap<String, u64>,
}

impl Recording {
    /// Returns what the agent sees of a state.
    pub fn screen(&self, state: &str) -> Option<Screen> {
        let state = self.graph.states.get(state)?;
        Some(Screen::read(&state.tree, &state.package, &state.activity))
    }

    /// Returns everything that the recording knows.
    pub fn truth(&self) -> GroundTruth {
        let graph = &*self.graph;
        let complete = graph.states.values().all(|state| state.label.is_some());
        let screens =
            graph.states.iter().filter_map(|(id, state)| Some((id.clone(), screen(graph, state)?)));
        let screens: HashMap<String, String> = screens.collect();
        let ids = graph.states.keys();
        let known: HashMap<String, Vec<KnownAction>> =
            ids.map(|id| (id.clone(), known(graph, id))).collect();
        let reachable = reach(graph, &known);
        let reachable = reachable.iter().filter_map(|id| screens.get(*id).cloned()).collect();
        GroundTruth { complete, initial: graph.initial.clone(), screens, reachable, known }
    }
}

fn screen(graph: &RecordingGraph, state: &RecordedScreen) -> Option<String> {
    if state.package != graph.package {
        return None;
    }
    match &state.label {
        Some(label) => (!label.starts_with('!')).then(|| label.clone()),
        None => Some(state.structure.to_string()),
    }
}

/// Returns the actions on a state that lead anywhere, each once.
fn known(graph: &RecordingGraph, id: &str) -> Vec<KnownAction> {
    let Some(state) = graph.states.get(id) else { return Vec::new() };
    let mut known = Vec::new();
    let mut seen: HashSet<RecordedAction> = HashSet::new();
    let mut add = |act: DeviceAction, action: RecordedAction| {
        let action = graph.effective(id, action);
        if !seen.insert(action.clone()) {
            return;
        }
        if let Some(to) = graph.successors(id, &action) {
            let (target, direction) = (action.node, action.direction);
            let gesture = Gesture { act, target, direction, ..Gesture::default() };
            known.push(KnownAction { gesture, to: to.clone() });
        }
    };
    add(DeviceAction::Back, RecordedAction::plain(RecordedActionKind::Back));
    add(DeviceAction::Launch, RecordedAction::plain(RecordedActionKind::Launch));
    add(DeviceAction::Wait, RecordedAction::plain(RecordedActionKind::Wait));
    for (node, element) in state.tree.elements.iter().enumerate() {
        let on = |kind, direction| RecordedAction { kind, node: Some(node), direction, name: None };
        add(DeviceAction::Tap, on(RecordedActionKind::Tap, None));
        if element.long_clickable {
            add(DeviceAction::LongPress, on(RecordedActionKind::LongPress, None));
        }
        if element.editable {
            add(DeviceAction::Text, on(RecordedActionKind::Text, None));
        }
        if element.scrollable {
            for way in [Direction::Up, Direction::Down, Direction::Left, Direction::Right] {
                add(DeviceAction::Swipe, on(RecordedActionKind::Swipe, Some(way)));
            }
        }
    }
    known
}

/// Returns the states in reach: by all that is known inside the app and on dialogs of the
/// system, by going back or launching elsewhere.
fn reach<'a>(
    graph: &'a RecordingGraph,
    known: &'a HashMap<String, Vec<KnownAction>>,
) -> HashSet<&'a str> {
    let mut seen = HashSet::from([graph.initial.as_str()]);
    let mut open = vec![graph.initial.as_str()];
    while let Some(at) = open.pop() {
        let outside = graph.states.get(at).is_some_and(|state| state.is_outside);
        let ways = known.get(at).into_iter().flatten();
        let ways = ways.filter(|it| {
            !outside || matches!(it.gesture.act, DeviceAction::Back | DeviceAction::Launch)
        });
        let there = ways.flat_map(|it| it.to.keys().map(String::as_str));
        // What was recorded on an element that no rule reaches counts as well.
        let recorded = graph.edges(at).filter(|(action, _)| {
            !outside
                && !matches!(
                    action.kind,
                    RecordedActionKind::Kill | RecordedActionKind::Key | RecordedActionKind::Intent
                )
        });
        let recorded = recorded.flat_map(|(_, to)| to.keys().map(String::as_str));
        for to in there.chain(recorded) {
            if seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

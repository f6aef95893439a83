//! What the agent is compared with: chance, the nearest untried action, and one that knows
//! the graph.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use anyhow::Result;
use pointsman_agents::explore::{CandidateAction, DeviceAction, Foreground, Screen, offers};
use pointsman_webdriver::device::{Device as _, Gesture, GroundTruth, Recording};

use super::exploration::{Screens, look, ready};

/// One action in so many of the rival that does anything is a restart.
const RESTARTS: usize = 50;

/// A generator that is good enough for a rival.
pub(super) struct RivalRng(u64);

impl RivalRng {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(count.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

/// Does anything that is offered, each as likely as any other.
pub(super) fn monkey(
    device: &Recording,
    screens: &mut Screens,
    steps: u64,
    seed: u64,
) -> Result<Vec<String>> {
    let (mut visited, mut dice) = (vec![device.at()], RivalRng::new(seed));
    for now in 0..steps {
        let screen = look(device, screens, None)?;
        if screen.front(device.package()) == Foreground::Elsewhere {
            act(device, &way_back(dice.below(3)), now)?;
        } else {
            // Starting again now and then, or a dead end would be the end.
            let offers = offers(&screen);
            let next = match dice.below(RESTARTS) {
                0 => Gesture { act: DeviceAction::Restart, ..Gesture::default() },
                _ => gesture(&offers[dice.below(offers.len())]),
            };
            act(device, &next, now)?;
        }
        visited.push(device.at());
    }
    Ok(visited)
}

/// Returns a way back from another app: launching, going back, or starting again.
fn way_back(which: usize) -> Gesture {
    let act = [DeviceAction::Launch, DeviceAction::Back]
        .get(which)
        .copied()
        .unwrap_or(DeviceAction::Restart);
    Gesture { act, ..Gesture::default() }
}

/// Goes to the nearest action that was never tried, over edges that it has seen. Of a screen
/// it tries taps and texts first, then swipes and long presses, then `back`, and last what
/// nothing says can be tapped.
pub(super) fn nearest(
    device: &Recording,
    screens: &mut Screens,
    steps: u64,
    seed: u64,
) -> Result<Vec<String>> {
    type Edges = BTreeMap<String, String>;
    let (mut visited, mut dice) = (vec![device.at()], RivalRng::new(seed));
    let mut edges: HashMap<String, Edges> = HashMap::new();
    let mut offered: HashMap<String, Vec<String>> = HashMap::new();
    let mut root: Option<String> = None;
    // Steps in another app, one after the other.
    let mut away = 0_usize;
    for now in 0..steps {
        let screen = look(device, screens, None)?;
        let here = known_by(&screen);
        root.get_or_insert_with(|| here.clone());
        let outside = screen.front(device.package()) == Foreground::Elsewhere;
        away = if outside { away + 1 } else { 0 };
        let list = if outside { Vec::new() } else { offers(&screen) };
        let keys: Vec<String> = list.iter().map(|it| it.key.clone()).collect();
        let untried = |edges: &HashMap<String, Edges>, at: &String, keys: &[String]| {
            let tried = edges.get(at);
            keys.iter().filter(|key| !tried.is_some_and(|it| it.contains_key(*key))).count()
        };
        let fresh: Vec<&CandidateAction> = list
            .iter()
            .filter(|it| !edges.get(&here).is_some_and(|tried| tried.contains_key(&it.key)))
            .collect();
        offered.entry(here.clone()).or_insert_with(|| keys.clone());
        let chosen = if outside {
            None
        } else if fresh.is_empty() {
            // Breadth first; a restart is an edge like any other.
            let mut queue: VecDeque<(String, Option<String>)> =
                VecDeque::from([(here.clone(), None)]);
            let mut known = HashSet::from([here.clone()]);
            let mut way = None;
            while let Some((at, first)) = queue.pop_front() {
                let rest = offered.get(&at).map(|keys| untried(&edges, &at, keys));
                if at != here && rest.unwrap_or(1) > 0 {
                    way = first;
                    break;
                }
                for (key, to) in edges.get(&at).into_iter().flatten() {
                    let usable = at != here || keys.contains(key);
                    if usable && known.insert(to.clone()) {
                        queue.push_back((to.clone(), first.clone().or_else(|| Some(key.clone()))));
                    }
                }
                if at == here && root.as_ref().is_some_and(|root| known.insert(root.clone())) {
                    queue.push_back((root.clone().unwrap_or_default(), Some(String::new())));
                }
            }
            way.and_then(|key| list.iter().find(|it| it.key == key))
        } else {
            let first = fresh.iter().map(|it| turn(it)).min();
            let fresh: Vec<_> = fresh.into_iter().filter(|it| Some(turn(it)) == first).collect();
            Some(fresh[dice.below(fresh.len())])
        };
        let key = match chosen {
            Some(chosen) => {
                act(device, &gesture(chosen), now)?;
                Some(chosen.key.clone())
            }
            None if outside => {
                act(device, &way_back(away - 1), now)?;
                None
            }
            None => {
                act(device, &Gesture { act: DeviceAction::Restart, ..Gesture::default() }, now)?;
                None
            }
        };
        visited.push(device.at());
        if let Some(key) = key {
            let after = look(device, screens, None)?;
            let to = known_by(&after);
            edges.entry(here).or_default().insert(key, to);
        }
    }
    Ok(visited)
}

/// Returns when it is the turn of an action among others of its screen.
const fn turn(candidate: &CandidateAction) -> u8 {
    match candidate.act {
        _ if candidate.weak => 3,
        DeviceAction::Tap | DeviceAction::Text => 0,
        DeviceAction::Back => 2,
        _ => 1,
    }
}

/// Returns what a rival takes a screen for: another one once a field is filled.
fn known_by(screen: &Screen) -> String {
    let fields = screen.widgets.iter().filter(|it| it.field.is_some());
    let filled = fields.map(|it| if it.holds.is_empty() { '0' } else { '1' });
    screen.coarse.as_str().chars().chain(filled).collect()
}

/// Knows the graph, and goes to the nearest screen that was not seen.
pub(super) fn oracle(device: &Recording, truth: &GroundTruth, steps: u64) -> Result<Vec<String>> {
    let mut visited = vec![device.at()];
    let mut covered: HashSet<&String> = truth.screens.get(&device.at()).into_iter().collect();
    for now in 0..steps {
        let at = device.at();
        let mut queue: VecDeque<(String, Option<Gesture>)> = VecDeque::from([(at.clone(), None)]);
        let mut seen = HashSet::from([at.clone()]);
        let mut way = None;
        while let Some((state, first)) = queue.pop_front() {
            if truth.screens.get(&state).is_some_and(|screen| !covered.contains(screen)) {
                way = first;
                break;
            }
            for known in truth.known.get(&state).into_iter().flatten() {
                for to in known.to.keys() {
                    if seen.insert(to.clone()) {
                        let first = first.clone().or_else(|| Some(known.gesture.clone()));
                        queue.push_back((to.clone(), first));
                    }
                }
            }
            if state == at && seen.insert(truth.initial.clone()) {
                let restart = Gesture { act: DeviceAction::Restart, ..Gesture::default() };
                queue.push_back((truth.initial.clone(), Some(restart)));
            }
        }
        act(
            device,
            &way.unwrap_or_else(|| Gesture { act: DeviceAction::Restart, ..Gesture::default() }),
            now,
        )?;
        covered.extend(truth.screens.get(&device.at()));
        visited.push(device.at());
    }
    Ok(visited)
}

fn gesture(candidate: &CandidateAction) -> Gesture {
    Gesture {
        act: candidate.act,
        target: candidate.target.and_then(|it| usize::try_from(it.ordinal).ok()),
        direction: candidate.direction,
        ..Gesture::default()
    }
}

fn act(device: &Recording, gesture: &Gesture, now: u64) -> Result<()> {
    let (package, key) = (device.package(), now.to_string());
    match gesture.act {
        DeviceAction::Launch => ready(device.launch(package, &key))?,
        DeviceAction::Restart => ready(device.restart(package, &key))?,
        _ => ready(device.act(gesture, &key))?,
    };
    Ok(())
}

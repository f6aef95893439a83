//! The search: the kernel's own step as the model that `stateright` explores.
//!
//! An action is one event with everything the agent draws during it. A step starts
//! by restoring the run from its snapshot, so every place is also a crash.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use pointsman_kernel::{
    Rejected, StepResult,
    chart::{CertificateScope, Chart, Disposition},
    effect::{Cause, StepOutput},
    event::{Event, Observed},
    id::{Outcome, Seq, StateId},
    run::{Core, ItemStatus, Run},
};
use stateright::{Model, Property};

use super::{
    agent::{DrawingAgent, drawing, following},
    inspect,
    key::Canon,
    node::{BrokenProperty, Link, Node},
    plant::{PlantedBug, planted},
    walks::{Cost, Walks},
    world,
};

/// One place in so many is compared with the replay of its journal.
const REPLAYED: u64 = 64;

/// Where a search ends, if nothing is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    pub(crate) until: Instant,
    pub(crate) states: usize,
    pub(crate) depth: u32,
}

/// The search through all runs of a chart.
pub(crate) struct Search<const N: usize> {
    pub(crate) chart: Arc<Chart>,
    canon: Canon,
    plant: Option<PlantedBug>,
    caps: Caps,
    pub(crate) seen: Arc<SearchRecord>,
}

/// What the search has seen so far; it outlives the search.
#[derive(Default)]
pub(crate) struct SearchRecord {
    pub(crate) edges: Mutex<BTreeSet<(StateId, Outcome)>>,
    pub(crate) ends: Mutex<BTreeSet<Disposition>>,
    pub(crate) walks: Mutex<Walks>,
    /// The first violation.
    pub(crate) found: Mutex<Option<Node>>,
    pub(crate) cut: AtomicBool,
    pub(crate) misfits: AtomicUsize,
    pub(crate) replays: AtomicUsize,
    expanded: AtomicUsize,
}

/// One step, taken: what became of it is known already.
#[derive(Clone, PartialEq)]
pub(crate) struct TakenStep(Node);

impl<const N: usize> Search<N> {
    pub(crate) fn new(chart: Chart, plant: Option<PlantedBug>, caps: Caps) -> Self {
        let (canon, chart) = (Canon::of(&chart), Arc::new(chart));
        Self { chart, canon, plant, caps, seen: Arc::default() }
    }

    /// Takes every possible step of a run, and tries impossible ones.
    fn steps(&self, from: &Node) -> Vec<Node> {
        let Some(run) = restored::<N>(&from.snapshot) else {
            return vec![self.breach(from, BrokenProperty::Lost)];
        };
        if let Some(broken) = self.unmoved(from, run) {
            return vec![self.breach(from, broken)];
        }
        if from.key.is_multiple_of(REPLAYED) {
            self.seen.replays.fetch_add(1, Relaxed);
            if self.plant.is_none() && !inspect::replays::<N>(&self.chart, from) {
                return vec![self.breach(from, BrokenProperty::Lost)];
            }
        }
        let Some(run) = restored::<N>(&from.snapshot) else { return Vec::new() };
        let mut nodes = Vec::new();
        for seen in world::offers(&self.chart, &run.core) {
            let mut laid = Some(Vec::new());
            while let Some(draws) = laid {
                let (node, drawn) = drawing(&draws, || self.step(from, &seen, &draws));
                nodes.push(node);
                laid = following(drawn);
            }
        }
        nodes
    }

    /// Tries everything that must come to nothing, and returns what went wrong.
    fn unmoved(&self, from: &Node, mut run: Run<DrawingAgent<N>>) -> Option<BrokenProperty> {
        let misfits = world::misfits(&self.chart, &run.core, &from.closed);
        self.seen.misfits.fetch_add(misfits.len(), Relaxed);
        let ended = run.core.ended.is_some();
        let mut out = StepOutput::default();
        for misfit in misfits {
            let (took, _) = drawing(&[], || self.guarded(&mut run, misfit, &mut out));
            match took {
                Err(_) => return Some(BrokenProperty::Panicked),
                Ok(Ok(StepResult::Applied)) if ended => return Some(BrokenProperty::AfterTheEnd),
                Ok(Ok(StepResult::Applied)) => return Some(BrokenProperty::Changed),
                Ok(_) => {}
            }
        }
        // Restoring and rejecting leave every byte unchanged.
        (snapshot(&run) != *from.snapshot).then_some(BrokenProperty::Changed)
    }

    /// Takes one step from a restored run.
    fn step(&self, from: &Node, seen: &Observed<()>, laid: &[u8]) -> Node {
        let Some(mut run) = restored::<N>(&from.snapshot) else {
            return self.breach(from, BrokenProperty::Lost);
        };
        let before = CostBefore::of(&run.core, seen);
        let mut out = StepOutput::default();
        let entry = (run.core.next, seen.clone());
        let took = self.guarded(&mut run, entry, &mut out);
        let link = Link {
            before: from.link.clone(),
            seen: seen.clone(),
            laid: laid.into(),
            state: run.core.state,
        };
        let snapshot = snapshot(&run);
        let mut node = Node {
            key: self.canon.key(&snapshot, run.core.now.0),
            snapshot: snapshot.into(),
            link: Some(Arc::new(link)),
            entries: from.entries + 1,
            ..from.clone()
        };
        let broken = match took {
            Err(_) => Some(BrokenProperty::Panicked),
            Ok(Ok(StepResult::Applied)) => {
                inspect::broken(&self.chart, &run.core, &mut node, seen, &out)
            }
            Ok(_) => Some(BrokenProperty::NotTaken),
        };
        if let Some(broken) = broken {
            return self.breach(&node, broken);
        }
        self.cover(&run.core, &out);
        let cost = before.cost(&run.core, &out);
        let turns = matches!(seen.event, Event::Given { .. } | Event::Cancelled { .. });
        let turns = turns && self.chart.certificate().per == CertificateScope::Turn;
        lock(&self.seen.walks).add(from.key, node.key, cost, turns);
        node
    }

    /// Steps, and survives a panic.
    fn guarded(
        &self,
        run: &mut Run<DrawingAgent<N>>,
        entry: (Seq, Observed<()>),
        out: &mut StepOutput<()>,
    ) -> std::thread::Result<Result<StepResult, Rejected>> {
        catch_unwind(AssertUnwindSafe(|| planted(self.plant, &self.chart, run, entry, out)))
    }

    fn cover(&self, core: &Core, out: &StepOutput<()>) {
        let mut edges = lock(&self.seen.edges);
        for hop in &out.hops {
            if let Cause::Outcome(outcome) = hop.by {
                edges.insert((hop.from, outcome));
            }
        }
        drop(edges);
        if let Some(ended) = core.ended {
            lock(&self.seen.ends).insert(ended);
        }
    }

    /// Notes a violation; the first one ends the search.
    fn breach(&self, at: &Node, broken: BrokenProperty) -> Node {
        let node = Node { broken: Some(broken), ..at.clone() };
        lock(&self.seen.found).get_or_insert_with(|| node.clone());
        node
    }

    /// Returns whether the search is to go no further, which cuts it.
    fn is_over(&self, node: &Node) -> bool {
        let expanded = self.seen.expanded.fetch_add(1, Relaxed);
        let over = expanded >= self.caps.states
            || node.entries >= self.caps.depth
            || Instant::now() >= self.caps.until;
        if over {
            self.seen.cut.store(true, Relaxed);
        }
        over
    }
}

impl<const N: usize> Model for Search<N> {
    type State = Node;
    type Action = TakenStep;

    fn init_states(&self) -> Vec<Node> {
        let snapshot = snapshot(&Run::<DrawingAgent<N>>::new(&self.chart));
        vec![Node {
            key: self.canon.key(&snapshot, 0),
            snapshot: snapshot.into(),
            link: None,
            entries: 0,
            open: Vec::new(),
            closed: Vec::new(),
            granted: 0,
            broken: None,
        }]
    }

    fn actions(&self, node: &Node, actions: &mut Vec<TakenStep>) {
        let found = lock(&self.seen.found).is_some();
        if !found && !self.is_over(node) {
            actions.extend(self.steps(node).into_iter().map(TakenStep));
        }
    }

    fn next_state(&self, _: &Node, TakenStep(node): TakenStep) -> Option<Node> {
        Some(node)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! never {
            ($broken:ident) => {
                Property::always(BrokenProperty::$broken.property(), |_, node: &Node| {
                    node.broken != Some(BrokenProperty::$broken)
                })
            };
        }
        vec![
            never!(Panicked),
            never!(DeadEnd),
            never!(AfterTheEnd),
            never!(BeforeVerdict),
            never!(Changed),
            never!(NotTaken),
            never!(OverMax),
            never!(Orphaned),
            never!(Lost),
        ]
    }
}

/// What a run was before a step, as far as its cost goes.
struct CostBefore {
    visits: u64,
    passed: u64,
}

impl CostBefore {
    /// Time passes while a job is in progress and no question is open.
    fn of(core: &Core, seen: &Observed<()>) -> Self {
        let asking = core.items.iter().any(|item| matches!(item.doing, ItemStatus::Asking { .. }));
        let works = !asking && !core.paused && !core.items.is_empty();
        let passed = if works { seen.at.since(core.now) } else { 0 };
        Self { visits: core.visits, passed }
    }

    fn cost(&self, core: &Core, out: &StepOutput<()>) -> Cost {
        let (models, tools) = inspect::calls(out);
        [core.visits - self.visits, models, tools, self.passed]
    }
}

/// Returns the run of a snapshot, as after a crash.
pub(crate) fn restored<const N: usize>(snapshot: &[u8]) -> Option<Run<DrawingAgent<N>>> {
    serde_json::from_slice(snapshot).ok()
}

/// Returns a run as bytes.
pub(crate) fn snapshot<const N: usize>(run: &Run<DrawingAgent<N>>) -> Vec<u8> {
    serde_json::to_vec(run).unwrap_or_default()
}

/// Locks; a panic elsewhere is reported as such, and not here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! What a run of the explore agent knows, and what it decides from it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use pointsman_kernel::{
    agent::{BadBody, Forgone},
    chart::ScreenStall,
};
use serde::{Deserialize, Serialize};

use super::{
    actions::{self, Act, Candidate},
    config::Config,
    field,
    graph::{Graph, MAX_SCREENS},
    policy::Policy,
    report::Tally,
    screen::{Front, Screen, ScreenId},
    task::App,
};
use crate::answer;

/// The rounds without a new screen after which something is done about it.
pub(super) const LADDER: ScreenStall = ScreenStall { warn: 3, switch: 5, restart: 10 };

/// What a run knows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Data {
    /// What a person set.
    pub config: Config,
    /// How candidates are chosen.
    pub policy: Policy,
    /// What was seen and tried.
    pub graph: Graph,
    /// What the present screen offers.
    pub candidates: Vec<Candidate>,
    /// The candidate that was chosen, by its place.
    pub pick: u16,
    /// Rounds since a new screen was seen.
    pub stall: u32,
    /// How often the app went down.
    pub crashes: u32,
    /// What went wrong last.
    pub trouble: Option<String>,
    /// What is counted for the report.
    pub tally: Tally,
    /// The screen to enumerate; empty once that is done.
    screen: Screen,
    here: Option<ScreenId>,
    root: Option<ScreenId>,
    fresh: u32,
}

/// How far a run has come since the last look.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Progress {
    Some,
    Stall,
    Loop,
}

/// What came of choosing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Choice {
    /// One candidate is chosen.
    Settled,
    /// One is chosen, and a model may pick another.
    Open,
    /// Starting again is the shortest way.
    #[expect(dead_code, reason = "no policy chooses it yet")]
    Restart,
    /// A step of the set-up finds nothing to act upon.
    #[expect(dead_code, reason = "no set-up is run yet")]
    Lost,
}

/// Where exploring goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Onward {
    GoOn,
    Switch,
    Restart,
    Explored,
}

impl Data {
    pub(super) fn new(config: Config) -> Result<Self, BadBody> {
        if config.app.package.is_empty() {
            return Err(BadBody("the app has no package".into()));
        }
        let policy = config.policy.unwrap_or_default();
        Ok(Self { config, policy, ..Self::default() })
    }

    /// Returns the app that is explored.
    pub const fn app(&self) -> &App {
        &self.config.app
    }

    /// Returns whether the app is there already and need not be launched.
    pub(super) fn attaches(&self, screen: &Screen, running: bool) -> bool {
        let front = screen.front(&self.app().package);
        running && self.config.setup.is_empty() && matches!(front, Front::App | Front::SystemDialog)
    }

    /// Returns whether the app must be installed, or installed anew.
    pub(super) fn wants_install(&self, installed: Option<u64>) -> bool {
        installed.is_none_or(|version| self.config.app.version.is_some_and(|least| version < least))
    }

    /// Forgets where it was: the app was started.
    pub(super) fn start_over(&mut self) {
        self.here = None;
        self.candidates.clear();
        self.stall = 0;
    }

    /// Takes a look at the present screen.
    pub(super) fn look(&mut self, screen: Screen) {
        let depth = self.depth();
        self.here = Some(self.see(&screen, depth));
        self.screen = screen;
    }

    /// Takes the screen after an action, and returns whether it is another one.
    pub(super) fn compare(&mut self, screen: &Screen) -> bool {
        let depth = self.depth().saturating_add(1);
        let to = self.see(screen, depth);
        self.note(Some(to.clone()));
        self.here.as_ref() != Some(&to)
    }

    /// Takes note that the chosen action led nowhere that can be used again.
    pub(super) fn bar(&mut self) {
        self.note(None);
    }

    fn see(&mut self, screen: &Screen, depth: u16) -> ScreenId {
        let id = screen.coarse.clone();
        if self.graph.see(&id, &screen.activity, depth) {
            self.fresh = self.fresh.saturating_add(1);
            self.root.get_or_insert_with(|| id.clone());
        }
        id
    }

    fn note(&mut self, to: Option<ScreenId>) {
        let key = self.candidates.get(usize::from(self.pick)).map(|it| it.key.clone());
        if let (Some(from), Some(key)) = (&self.here, key) {
            self.graph.tried(from, &key, to);
        }
    }

    fn depth(&self) -> u16 {
        let node = self.here.as_ref().and_then(|id| self.graph.node(id));
        node.map_or(0, |node| node.depth)
    }

    /// Enumerates what the present screen offers, and returns whether it is anything.
    pub(super) fn enumerate(&mut self) -> bool {
        let Some(id) = self.here.clone() else { return false };
        let screen = core::mem::take(&mut self.screen);
        let times = |key: &str| match self.graph.action(&id, key) {
            Some(tried) if tried.barred => None,
            Some(tried) => Some(tried.times),
            None => Some(0),
        };
        self.candidates = actions::enumerate(&screen, times);
        self.graph.offer(&id, &self.candidates);
        !self.candidates.is_empty()
    }

    /// Chooses by policy, and returns whether a model is to be asked as well.
    pub(super) fn choose(&mut self) -> Choice {
        let here = self.here.clone().unwrap_or_default();
        let pick = self.policy.choose(&self.graph, &here, &self.config.goal, &self.candidates);
        self.pick = pick.and_then(|at| u16::try_from(at).ok()).unwrap_or_default();
        if self.config.ask_model && self.candidates.len() > 1 {
            Choice::Open
        } else {
            Choice::Settled
        }
    }

    /// Takes a model's pick, and returns whether it names a candidate.
    pub(super) fn take_pick(&mut self, text: &str) -> bool {
        let named = actions::named(&self.candidates, text).and_then(|at| u16::try_from(at).ok());
        self.pick = named.unwrap_or(self.pick);
        named.is_some()
    }

    /// Returns the candidate that was chosen, and what to type if it takes text.
    pub(super) fn chosen(&self) -> (Candidate, Option<String>) {
        let chosen = self.candidates.get(usize::from(self.pick)).cloned().unwrap_or_default();
        let types = chosen.act == Act::Text;
        let text = types.then(|| field::text(&self.config.inputs, &[&chosen.label], None));
        (chosen, text)
    }

    /// Takes stock: only a screen of a structure not seen before is progress.
    pub(super) fn assess(&mut self) -> Progress {
        if core::mem::take(&mut self.fresh) > 0 {
            self.stall = 0;
            return Progress::Some;
        }
        self.stall = self.stall.saturating_add(1);
        if self.stall < LADDER.switch { Progress::Stall } else { Progress::Loop }
    }

    /// Decides where exploring goes on.
    pub(super) fn route(&self) -> Onward {
        let from: Vec<&ScreenId> = self.here.iter().chain(&self.root).collect();
        let seen = self.graph.screens();
        if seen >= MAX_SCREENS || (seen > 0 && self.graph.is_exhausted(&from)) {
            return Onward::Explored;
        }
        match self.stall {
            stall if stall >= LADDER.restart => Onward::Restart,
            // The new policy has until the restart to show what it can do.
            stall if stall == LADDER.switch => Onward::Switch,
            _ => Onward::GoOn,
        }
    }

    pub(super) fn switch(&mut self) {
        self.policy = self.policy.next();
    }

    /// Returns what to say about a run that gets nowhere.
    pub fn warning(&self) -> Option<String> {
        let stalled = self.stall >= LADDER.warn;
        stalled.then(|| format!("No new screen in {} rounds. Try something else.", self.stall))
    }

    pub(super) fn give_up(&mut self, why: &Forgone) {
        self.trouble = Some(answer::reason(why).chars().take(1_000).collect());
    }

    /// Renders the question to the model: the list to pick from, by number.
    pub fn prompt(&self) -> String {
        let mut lines = Vec::new();
        lines.push("Pick the next action in an app that is explored.".to_string());
        lines.push(format!("What is looked for: {}", self.config.goal));
        lines.extend(self.warning());
        for (number, candidate) in (1_u32..).zip(&self.candidates) {
            lines.push(format!("{number}. {} {:?}", candidate.act.name(), candidate.label));
        }
        lines.push("Answer with one number from the list and nothing else.".to_string());
        lines.join("\n")
    }
}

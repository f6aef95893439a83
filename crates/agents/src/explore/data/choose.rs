//! What to do on the screen that was captured: the list, and the choice from it.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use super::{ActionChoice, ExploreData, LADDER, PlannedAction};
use crate::explore::{
    actions::{self, CandidateAction, DeviceAction},
    field,
    plan::{ExplorePlan, FirstAction, PlanContext, mix},
    policy,
    screen::{Foreground, Screen},
    setup,
    worth::{self, ActionTraits},
};

impl ExploreData {
    /// Enumerates what the present screen offers, and returns whether there is anything to do.
    pub(in crate::explore) fn enumerate(&mut self) -> bool {
        let screen = core::mem::take(&mut self.screen);
        let mut offers = actions::offers(&screen);
        self.register(self.here, &screen, &offers);
        (self.plan, self.pick) = (PlannedAction::Pick, 0);
        let front = screen.front(&self.app().package);
        let button = Some(self.config.permissions).filter(|_| front == Foreground::SystemDialog);
        let button = button.and_then(|permissions| setup::button(permissions, &offers));
        let wanted = if button.is_some() {
            // The dialog is in the way of the step that is due, and is not that step.
            (self.waits, self.plan) = (1, PlannedAction::Fixed);
            button
        } else if self.is_set_up() {
            self.planned(&offers)
        } else {
            self.preset(&offers)
        };
        self.screen = screen;
        if self.explored {
            self.candidates.clear();
            return false;
        }
        self.sort(&mut offers, wanted);
        self.candidates = offers;
        !self.candidates.is_empty()
    }

    /// Keeps at most twenty: the wanted one first, then those tried least, `back` included.
    fn sort(&mut self, offers: &mut Vec<CandidateAction>, wanted: Option<usize>) {
        let node = self.here.and_then(|at| self.graph.node(at));
        let times = |it: &CandidateAction| {
            node.and_then(|node| node.action(&it.key)).map_or(0, |tried| tried.times)
        };
        let key = wanted.and_then(|at| offers.get(at)).map(|it| it.key.clone());
        let back =
            offers.iter().position(|it| it.act == DeviceAction::Back).map(|at| offers.remove(at));
        offers.sort_by_key(|it| (key.as_ref() != Some(&it.key), times(it), it.weak));
        offers.truncate(actions::MAX_CANDIDATES.saturating_sub(1));
        offers.extend(back);
        let wanted = key.and_then(|key| offers.iter().position(|it| it.key == key));
        self.pick = wanted.and_then(|at| u16::try_from(at).ok()).unwrap_or_default();
    }

    /// Records all that a screen offers.
    pub(super) fn register(
        &mut self,
        at: Option<u32>,
        screen: &Screen,
        offers: &[CandidateAction],
    ) {
        let fields = screen.widgets.iter().any(|it| it.field.is_some());
        let count = offers.len().max(1);
        let groups: Vec<u32> = offers.iter().map(|it| self.learned.group(&it.group)).collect();
        let Some(node) = at.and_then(|at| self.graph.node_mut(at)) else { return };
        for (at, (offer, group)) in offers.iter().zip(groups).enumerate() {
            let rank = at.saturating_mul(1_000).checked_div(count).unwrap_or(0);
            let rank = u32::try_from(rank).unwrap_or(1_000);
            let kind = worth::kind(offer, fields);
            let place = screen.place(offer);
            node.offer(offer, ActionTraits { kind, group, row: offer.row, rank, place });
        }
    }

    /// Returns what the step of the set-up that is due acts upon.
    fn preset(&mut self, offers: &[CandidateAction]) -> Option<usize> {
        let preset = self.config.setup.get(usize::try_from(self.preset).ok()?)?;
        let found = offers.iter().position(|it| setup::fits(preset, it));
        if found.is_some() {
            self.waits = 0;
            return found;
        }
        self.waits = self.waits.saturating_add(1);
        if self.waits > setup::MAX_WAITS {
            self.plan = PlannedAction::Lost;
            let number = self.preset.saturating_add(1);
            self.trouble = Some(format!(
                "step {number} of the set-up found nothing to {}: look at the last screen, and \
                 correct the step or the app's state",
                preset.act.name()
            ));
        }
        offers.iter().position(|it| it.act == DeviceAction::Wait)
    }

    /// Returns what the policy wants to do here.
    fn planned(&mut self, offers: &[CandidateAction]) -> Option<usize> {
        let offered: BTreeSet<&str> = offers.iter().map(|it| it.key.as_str()).collect();
        let plan = self.way(&offered);
        self.turns = self.turns.saturating_add(1);
        match plan {
            Some(ExplorePlan { first: FirstAction::Act(key), undecided }) => {
                self.plan = if undecided { PlannedAction::Undecided } else { PlannedAction::Pick };
                return offers.iter().position(|it| it.key == key);
            }
            Some(ExplorePlan { first: FirstAction::Restart, .. }) => {
                self.plan = PlannedAction::Restart;
            }
            None if self.config.exhaust => return self.stray(offers),
            // A restart may show something new; if it does not, nothing is left.
            None if self.vain == 0 => {
                self.vain = 1;
                self.plan = PlannedAction::Restart;
            }
            None => self.explored = true,
        }
        None
    }

    fn way(&self, offered: &BTreeSet<&str>) -> Option<ExplorePlan> {
        let goal = policy::words(&self.config.goal);
        let map = PlanContext {
            graph: &self.graph,
            learned: &self.learned,
            root: self.root,
            here: self.here?,
            offered,
            goal: &goal,
            exhaust: self.config.exhaust,
            seed: self.config.seed,
        };
        map.plan(self.policy)
    }

    /// Tries again what was tried least, where nothing promises anything.
    fn stray(&mut self, offers: &[CandidateAction]) -> Option<usize> {
        let draw = mix(self.config.seed, self.turns, u64::MAX);
        let count = u64::try_from(offers.len()).unwrap_or(u64::MAX).saturating_add(1);
        let at = draw.checked_rem(count).and_then(|at| usize::try_from(at).ok())?;
        if at >= offers.len() {
            self.plan = PlannedAction::Restart;
        }
        Some(at)
    }

    /// Chooses, and returns whether a model is to be asked as well: only where the policy is
    /// undecided, or nothing new was seen for a while.
    pub(in crate::explore) fn choose(&mut self) -> ActionChoice {
        let asks = self.config.ask_model && self.candidates.len() > 1 && self.is_set_up();
        match self.plan {
            PlannedAction::Restart => ActionChoice::Restart,
            PlannedAction::Lost => ActionChoice::Lost,
            PlannedAction::Undecided if asks => ActionChoice::Open,
            PlannedAction::Pick if asks && self.stall >= LADDER.warn => ActionChoice::Open,
            PlannedAction::Pick | PlannedAction::Undecided | PlannedAction::Fixed => {
                ActionChoice::Settled
            }
        }
    }

    /// Chooses how to come back from another app: by an act, or by starting again.
    pub(in crate::explore) fn way_back(&mut self) -> DeviceAction {
        let keys = ["back", "launch"];
        let offers = actions::outside();
        self.register(self.here, &Screen::default(), &offers);
        let plan = self.way(&keys.into_iter().collect());
        self.turns = self.turns.saturating_add(1);
        let outside = self.here.and_then(|at| self.graph.node(at));
        let act = match plan.map(|plan| plan.first) {
            _ if outside.is_none_or(|node| node.front != Foreground::Elsewhere) => {
                DeviceAction::Launch
            }
            Some(FirstAction::Act(key)) if key == "back" => DeviceAction::Back,
            Some(FirstAction::Restart) => DeviceAction::Restart,
            Some(FirstAction::Act(_)) | None => DeviceAction::Launch,
        };
        self.candidates = offers;
        self.pick = u16::from(act != DeviceAction::Back);
        act
    }

    /// Takes a model's pick, and returns whether it names a candidate.
    pub(in crate::explore) fn take_pick(&mut self, text: &str) -> bool {
        let named = actions::named(&self.candidates, text).and_then(|at| u16::try_from(at).ok());
        self.pick = named.unwrap_or(self.pick);
        named.is_some()
    }

    /// Returns the candidate that was chosen, and what to type if it takes text.
    pub(in crate::explore) fn chosen(&self) -> (CandidateAction, Option<String>) {
        let chosen = self.candidates.get(usize::from(self.pick)).cloned().unwrap_or_default();
        let types = chosen.act == DeviceAction::Text;
        let preset = usize::try_from(self.preset).ok().and_then(|at| self.config.setup.get(at));
        let given = preset.filter(|it| setup::fits(it, &chosen)).and_then(|it| it.text.clone());
        let text = || {
            let names = [chosen.label.as_str(), chosen.resource()];
            given.unwrap_or_else(|| field::text(&self.config.inputs, &names, chosen.field))
        };
        let text = types.then(text);
        (chosen, text)
    }
}

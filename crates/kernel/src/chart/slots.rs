//! Slots: what fills them, what reads them, and which of them can hold a model's words.
//!
//! Slots are judged for the chart as a whole, not for each path: a slot that a model's words can
//! reach at all counts as the model's everywhere. That is coarse but never misses one.

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeSet, format, string::String, vec::Vec};

use serde_json::{Map, Value};

use super::draft::{ChartDraft, Spanned, StateDraft, StateKindDraft};
use crate::{
    code::Code,
    diagnostic::{Findings, nearest},
    job::{AgentDecl, JobDecl, ParamShape, SlotSource, TextOrigin},
    template,
};

pub(super) struct Slots<'a> {
    draft: &'a ChartDraft,
    agent: Option<&'a AgentDecl>,
    /// The slots that each state reads and fills, in file order.
    states: Vec<Uses>,
    /// Every slot that something fills.
    known: BTreeSet<String>,
    /// Those that can contain a model's words.
    models: BTreeSet<String>,
}

#[derive(Default)]
struct Uses {
    words: TextOrigin,
    reads: Vec<Spanned<String>>,
    fills: Option<Spanned<String>>,
}

impl<'a> Slots<'a> {
    pub(super) fn of(draft: &'a ChartDraft, agent: Option<&'a AgentDecl>) -> Self {
        let states: Vec<Uses> = draft.states.iter().map(|state| uses(state, agent)).collect();
        let always = agent.map_or(&[][..], |agent| agent.slots);
        let mut known: BTreeSet<String> = always.iter().map(|it| it.name.to_owned()).collect();
        known.extend(draft.slots.iter().map(|(slot, _)| slot.value.clone()));
        known.extend(states.iter().filter_map(|uses| Some(uses.fills.as_ref()?.value.clone())));
        let errors = always.iter().filter(|slot| slot.filled == SlotSource::Error);
        let mut models: BTreeSet<String> = errors.map(|slot| slot.name.to_owned()).collect();
        // A call with a model's words can return them, so its result may contain them too: repeat
        // until no slot is added.
        loop {
            let before = models.len();
            for uses in &states {
                if uses.is_models(&models) {
                    models.extend(uses.fills.as_ref().map(|slot| slot.value.clone()));
                }
            }
            if models.len() == before {
                break;
            }
        }
        Self { draft, agent, states, known, models }
    }

    /// Returns whether a state's job gets nothing that a model wrote.
    pub(super) fn is_fixed(&self, state: &StateDraft) -> bool {
        let at = self.draft.states.iter().position(|it| core::ptr::eq(it, state));
        let uses = at.and_then(|at| self.states.get(at));
        uses.is_some_and(|uses| uses.words != TextOrigin::Model && !uses.is_models(&self.models))
    }

    /// Returns the slots that a run cannot start without.
    pub(super) fn needed(&self) -> Box<[Box<str>]> {
        let always = self.agent.map_or(&[][..], |agent| agent.slots);
        let read = |name: &str| self.reads().any(|slot| slot.value == name);
        let filled = |name: &str| {
            self.states.iter().any(|uses| uses.fills.as_ref().is_some_and(|it| it.value == name))
        };
        let first = always.iter().filter(|slot| slot.filled == SlotSource::Start);
        let needed = first.map(|slot| slot.name).filter(|name| read(name) && !filled(name));
        needed.map(Into::into).collect()
    }

    /// Returns every slot.
    pub(super) fn all(&self) -> Box<[Box<str>]> {
        self.known.iter().map(|name| name.as_str().into()).collect()
    }

    fn reads(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.states.iter().flat_map(|uses| &uses.reads)
    }

    /// Refuses slots that nothing fills, and names that no template could write.
    pub(super) fn check(&self, found: &mut Findings) {
        // Without the agent it is unknown which parameters name slots.
        let Some(agent) = self.agent else { return };
        for (slot, _) in &self.draft.slots {
            if agent.slots.is_empty() {
                let message = format!("agent `{}` has no slots", agent.name);
                found.add(Code::Misplaced, slot.span, message, "remove `slots`");
            } else if let Some(always) = agent.slots.iter().find(|it| it.name == slot.as_str()) {
                let message = format!("every run has the slot `{}`", always.name);
                found.add(Code::BadValue, slot.span, message, "remove it from `slots`");
            }
        }
        let fills = self.states.iter().filter_map(|uses| uses.fills.as_ref());
        for slot in self.draft.slots.iter().map(|(slot, _)| slot).chain(fills) {
            if !template::is_name(slot) {
                let message = format!("`{}` is not a valid name for a slot", **slot);
                let hint = "use lower-case letters, digits and underscores";
                found.add(Code::BadValue, slot.span, message, hint);
            }
        }
        for slot in self.reads().filter(|slot| !self.known.contains(slot.as_str())) {
            let known = self.known.iter().map(String::as_str);
            let hint = match nearest(slot, known) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!(
                    "fill it with `into`, or declare it for `--set {0}=…`: `slots = {{ {0} = \"…\" }}`; \
                     for literal braces, write `{{{{{0}}}}}`",
                    **slot
                ),
            };
            let message = format!("nothing fills the slot `{}`", **slot);
            found.add(Code::UnknownSlot, slot.span, message, hint);
        }
    }
}

impl Uses {
    /// Returns whether the state's result can contain a model's words.
    fn is_models(&self, models: &BTreeSet<String>) -> bool {
        match self.words {
            TextOrigin::Model => true,
            TextOrigin::Parameters => self.reads.iter().any(|slot| models.contains(slot.as_str())),
            TextOrigin::Others => false,
        }
    }
}

fn uses(state: &StateDraft, agent: Option<&AgentDecl>) -> Uses {
    let name = match state.kind.as_deref() {
        Some(StateKindDraft::Run(job) | StateKindDraft::Decide(job)) => job.as_str(),
        Some(StateKindDraft::FanOut { run, .. }) => run.as_str(),
        _ => return Uses::default(),
    };
    let given = given(state);
    let Some(job) = agent.and_then(|agent| agent.job(name)) else {
        // A job that is misspelt still fills its slot.
        let fills = given.get("into").and_then(Value::as_str);
        let fills = fills.map(|name| place(state, "/into", name));
        return Uses { fills, ..Uses::default() };
    };
    let mut uses = Uses { words: job.words, ..Uses::default() };
    for (param, value) in job.with.iter().filter_map(|it| Some((it, given.get(it.name)?))) {
        let pointer = format!("/{}", param.name);
        match (param.shape, value) {
            (ParamShape::Slot, Value::String(name)) => {
                uses.reads.push(place(state, &pointer, name));
            }
            (ParamShape::Into, Value::String(name)) => {
                uses.fills = Some(place(state, &pointer, name));
            }
            (ParamShape::Template | ParamShape::Arguments, _) => {
                read(state, &pointer, value, &mut uses);
            }
            (ParamShape::Command, Value::Array(words)) => {
                // The program's name is the chart's alone.
                for (at, word) in words.iter().enumerate().skip(1) {
                    read(state, &format!("{pointer}/{at}"), word, &mut uses);
                }
            }
            _ => {}
        }
    }
    uses
}

/// Collects the slots that the texts of a value read.
fn read(state: &StateDraft, pointer: &str, value: &Value, uses: &mut Uses) {
    match value {
        Value::String(text) => {
            uses.reads.extend(template::slots(text).map(|name| place(state, pointer, name)));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                read(state, &format!("{pointer}/{at}"), item, uses);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                read(state, &format!("{pointer}/{key}"), item, uses);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the parameters that a state gives its job.
pub(super) fn given(state: &StateDraft) -> Map<String, Value> {
    let with = state.with.as_ref().and_then(|with| serde_json::from_str(with.get()).ok());
    with.unwrap_or_default()
}

/// Returns a text with the place of the value that it is from.
pub(super) fn place(state: &StateDraft, pointer: &str, text: &str) -> Spanned<String> {
    let with = state.with.as_ref().map_or(state.name.span, |with| with.span);
    Spanned::new(text.to_owned(), state.places.get(pointer).copied().unwrap_or(with))
}

/// Returns how far model output can bring about an outcome of a state's job.
pub(super) fn influence(
    declared: crate::job::Influence,
    job: &JobDecl,
    fixed: bool,
) -> crate::job::Influence {
    if fixed && job.words == TextOrigin::Parameters {
        crate::job::Influence::None
    } else {
        declared
    }
}

//! The governor's memory: bounded, the same on replay, and only numbers.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{
    arguments,
    content::Content,
    key::{self, Hash},
};
use crate::{
    agent::ToolCall,
    id::{Seq, StateId},
    tool::{ToolDecl, ToolEffect},
};

/// Results that are remembered.
pub(super) const SEEN: usize = 64;
/// Calls that a warning was given for, remembered for the whole run.
const WARNED: usize = 64;
/// Messages that are remembered at most.
const MESSAGES: usize = 16;

/// The compared parts of a call.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct CallKey {
    /// The tool and its arguments, never the id that a model gave it.
    pub(crate) call: u64,
    pub(crate) tool: u64,
    /// Its target; the whole call if none is declared.
    pub(crate) target: u64,
    /// The tool, its query by its words, and its other arguments: the next page of results is
    /// another query.
    pub(crate) query: Option<u64>,
    pub(crate) effect: ToolEffect,
}

impl CallKey {
    pub(super) fn of(call: &ToolCall, decl: Option<&ToolDecl>) -> Self {
        let tool = key::name(&call.tool);
        let targets = decl.map_or(&[][..], |decl| &decl.targets);
        let asks = decl.and_then(|decl| decl.query.as_deref());
        let (mut target, mut query): (Option<u64>, Option<(u64, u64)>) = (None, None);
        let mut sum: u64 = 0;
        let arguments = arguments::json(call.arguments.get(), |member| {
            sum = sum.wrapping_add(member.key);
            if targets.iter().any(|name| name.as_bytes() == member.name) {
                target = Some(target.unwrap_or(0).wrapping_add(member.key));
            }
            if asks.is_some_and(|name| name.as_bytes() == member.name) {
                let text = core::str::from_utf8(member.value).ok().and_then(arguments::quoted);
                query = text.map(|text| (member.key, key::query(text)));
            }
        });
        let whole = Hash::new(b'c').word(tool).word(arguments).end();
        Self {
            call: whole,
            tool,
            target: target.map_or(whole, |target| Hash::new(b't').word(target).end()),
            query: query.map(|(member, text)| {
                let others = sum.wrapping_sub(member);
                Hash::new(b'q').word(tool).word(others).word(text).end()
            }),
            effect: decl.map_or_else(ToolEffect::default, |decl| decl.effect),
        }
    }

    /// Returns the key of a result, or nothing for tools whose results say nothing.
    pub(super) fn result(&self, output: u64) -> Option<u64> {
        match self.effect {
            ToolEffect::Read | ToolEffect::Command => {
                Some(Hash::new(b'k').word(self.call).word(output).end())
            }
            ToolEffect::Write => Some(self.call),
            ToolEffect::Poll | ToolEffect::Opaque => None,
        }
    }
}

/// One result.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct ResultRecord {
    pub(super) key: u64,
    pub(super) call: u64,
    pub(super) seq: Seq,
    /// Whether it changed something.
    pub(super) changed: bool,
    /// What its target held and holds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Content>,
}

/// One failure: the same tool, on the same target, with the same words.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct FailureRecord {
    pub(super) tool: u64,
    pub(super) target: u64,
    pub(super) error: u64,
    pub(super) seq: Seq,
}

/// Something that came several times in a row, and when.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Streak {
    of: u64,
    pub(super) times: u32,
    /// The last few entries; a verdict names them.
    at: [Seq; 4],
}

impl Streak {
    /// Counts one more, or the first of another kind.
    pub(super) fn count(&mut self, of: u64, seq: Seq) -> u32 {
        if self.times == 0 || self.of != of {
            *self = Self { of, times: 0, at: [Seq(0); 4] };
        }
        self.times = self.times.saturating_add(1);
        // Calls side by side are in one entry.
        if self.last() != seq {
            self.at.rotate_left(1);
            let [.., last] = &mut self.at;
            *last = seq;
        }
        self.times
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Counts from one again: what came was the same, and yet something moved.
    pub(super) fn restart(&mut self) {
        self.times = self.times.min(1);
        self.at = [Seq(0), Seq(0), Seq(0), self.last()];
    }

    /// Takes back the last one, if it was of this kind: it came to nothing.
    pub(super) fn take_back(&mut self, of: u64) {
        if self.is_of(of) {
            self.times = self.times.saturating_sub(1);
            self.at.rotate_right(1);
            let [first, ..] = &mut self.at;
            *first = Seq(0);
        }
    }

    const fn last(&self) -> Seq {
        let [.., last] = self.at;
        last
    }

    pub(super) fn is_of(&self, of: u64) -> bool {
        self.times > 0 && self.of == of
    }

    pub(super) fn evidence(&self) -> Vec<Seq> {
        self.at.iter().copied().filter(|seq| seq.0 > 0).collect()
    }
}

/// Everything that is remembered of a run's calls, results and messages.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Memory {
    /// The last results, oldest first.
    pub(super) seen: Vec<ResultRecord>,
    /// The last failures, oldest first.
    pub(super) failures: Vec<FailureRecord>,
    /// Keys of the last messages, oldest first.
    pub(super) messages: Vec<(u64, Seq)>,
    /// Calls that were warned of, oldest first. A reset does not forget them.
    pub(super) warned: Vec<u64>,
    pub(super) calls: Streak,
    pub(super) queries: Streak,
    pub(super) failing: Streak,
    pub(super) unreadable: Streak,
    pub(super) monologue: Streak,
    /// Visits and attempts of states since the last new information.
    pub(super) visits: Vec<(StateId, u32)>,
    /// The last result of a detected alternation.
    pub(super) oscillated: Seq,
    /// Results since the last new information.
    pub(super) fruitless: u32,
    pub(super) score: u32,
    /// Whether the run was halted, and has learnt nothing since.
    pub(super) halted: bool,
}

impl Memory {
    /// Forgets everything, but keeps its rooms.
    pub(super) fn forget(&mut self) {
        self.reset();
        self.warned.clear();
        self.oscillated = Seq(0);
    }

    /// Forgets everything but the warnings.
    pub(super) fn reset(&mut self) {
        let Self { seen, failures, messages, visits, .. } = self;
        seen.clear();
        failures.clear();
        messages.clear();
        visits.clear();
        for streak in [
            &mut self.calls,
            &mut self.queries,
            &mut self.failing,
            &mut self.unreadable,
            &mut self.monologue,
        ] {
            streak.clear();
        }
        self.fruitless = 0;
        self.score = 0;
        self.halted = false;
    }

    pub(super) fn see(&mut self, seen: ResultRecord) {
        push(&mut self.seen, seen, SEEN);
    }

    pub(super) fn fail(&mut self, failure: FailureRecord, remembered: usize) {
        push(&mut self.failures, failure, remembered);
    }

    pub(super) fn remember_message(&mut self, message: u64, seq: Seq) {
        push(&mut self.messages, (message, seq), MESSAGES);
    }

    pub(super) fn warn(&mut self, call: u64) {
        if !self.warned.contains(&call) {
            push(&mut self.warned, call, WARNED);
        }
    }

    /// Counts one more visit or attempt of a state.
    pub(super) fn visit(&mut self, state: StateId) -> u32 {
        if let Some((_, times)) = self.visits.iter_mut().find(|(known, _)| *known == state) {
            *times = times.saturating_add(1);
            return *times;
        }
        self.visits.push((state, 1));
        1
    }

    /// Forgets the visits of a state.
    pub(super) fn leave(&mut self, state: StateId) {
        self.visits.retain(|(known, _)| *known != state);
    }

    /// Undoes the effect of an infrastructure fault: forgets the call, and the round that led to
    /// it.
    pub(super) fn excuse(&mut self, call: Option<&CallKey>) {
        for (_, times) in &mut self.visits {
            *times = times.saturating_sub(1);
        }
        if let Some(call) = call {
            self.calls.take_back(call.call);
            if let Some(query) = call.query {
                self.queries.take_back(query);
            }
        }
    }
}

/// Appends, and drops the oldest beyond the bound.
fn push<T>(list: &mut Vec<T>, item: T, bound: usize) {
    while list.len() >= bound.max(1) {
        list.remove(0);
    }
    list.push(item);
}

//! The content of a target before and after a change, if the tool reports it. This detects
//! differently worded calls that undo and redo each other.

use alloc::{format, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    Level, Rule, Verdict,
    key::Hash,
    memory::{CallKey, Memory, ResultRecord},
};
use crate::{
    agent::ToolResult,
    chart::StuckThresholds,
    id::Seq,
    tool::{CONTENT, ToolEffect},
};

/// One change: keys of the target, and of its content with the target.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Content {
    target: u64,
    before: u64,
    after: u64,
    /// Whether the target is not remembered to have held this before.
    new: bool,
}

impl Content {
    /// Reads the last line of a change; nothing if it does not say.
    pub(super) fn of(key: &CallKey, result: &ToolResult, seen: &[ResultRecord]) -> Option<Self> {
        if !result.ok || key.effect != ToolEffect::Write {
            return None;
        }
        let line = result.output.trim_end().rsplit('\n').next()?;
        let (before, after) = line.strip_prefix(CONTENT)?.strip_suffix(']')?.split_once(" -> ")?;
        let held = |text: &str| Hash::new(b'f').word(key.target).bytes(text.as_bytes()).end();
        let (before, after) = (held(before), held(after));
        let mut known = seen.iter().filter_map(|it| it.content);
        let new = after != before && !known.any(|it| it.before == after || it.after == after);
        Some(Self { target: key.target, before, after, new })
    }
}

impl Memory {
    /// Two contents of one target in turn, with nothing new in any target between them.
    pub(super) fn goes_back_and_forth(&mut self, stuck: &StuckThresholds) -> Option<Verdict> {
        let window = usize::try_from(stuck.oscillation?).unwrap_or(usize::MAX).max(4);
        let target = self.seen.last()?.content?.target;
        let of_target =
            |seen: &ResultRecord| Some((seen.seq, seen.content.filter(|it| it.target == target)?));
        let (mut later, mut last, mut turns, mut first) = (None, None, 0, Seq(0));
        for (seq, content) in self.seen.iter().rev().filter_map(of_target).take(window) {
            if last == Some(content.after) || later.is_some_and(|it| it != content.after) {
                return None;
            }
            (later, last, first) = (last, Some(content.after), seq);
            turns = usize::saturating_add(turns, 1);
        }
        let new = |it: &ResultRecord| it.content.is_some_and(|content| content.new);
        let since = self.seen.iter().rev().take_while(|it| it.seq > first);
        if turns < window || first <= self.oscillated || since.clone().any(new) {
            return None;
        }
        let evidence: Vec<Seq> =
            self.seen.iter().filter_map(of_target).map(|(seq, _)| seq).collect();
        let evidence: Vec<Seq> = evidence.into_iter().rev().take(window).rev().collect();
        self.oscillated = evidence.last().copied().unwrap_or_default();
        let reason =
            format!("the last {window} changes of the same target undo and redo each other");
        let verdict = Verdict::new(Level::Halt, Rule::Oscillation, reason);
        Some(verdict.advising("settle for one of the two, and say why").seen_at(evidence))
    }
}

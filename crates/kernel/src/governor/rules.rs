//! The rules over repetition. Progress is information not seen before; steps alone
//! are never counted.
//!
//! Two mechanisms work side by side. The *score* rises with every repeated result and falls with
//! every new one; its levels warn, refuse the repeated call, and halt. The *named rules* of the
//! chart's `[stuck]` table report `stuck` at their thresholds, whatever the score.

use alloc::{format, vec::Vec};

use super::{
    Level, Rule, Verdict,
    content::Content,
    key,
    memory::{CallKey, FailureRecord, Memory, ResultRecord},
};
use crate::{
    agent::ToolResult,
    chart::StuckThresholds,
    id::{Seq, StateId},
    tool::ToolEffect,
};

/// The rungs of the score.
const WARN: u32 = 4;
const REFUSE: u32 = 6;
const HALT: u32 = 12;

impl Memory {
    /// Judges a call that is proposed.
    pub(super) fn propose(
        &mut self,
        stuck: &StuckThresholds,
        key: &CallKey,
        tool: &str,
        seq: Seq,
    ) -> Option<Verdict> {
        // Waiting and paging are not repetition; time and budgets limit them.
        if matches!(key.effect, ToolEffect::Poll | ToolEffect::Opaque) {
            return None;
        }
        let times = self.calls.count(key.call, seq);
        if stuck.identical_call.is_some_and(|limit| times >= limit) {
            let reason = format!("`{tool}` was called {times} times with the same arguments");
            let advice = "use what it gave before, or change the arguments";
            let verdict = Verdict::new(Level::Halt, Rule::IdenticalCall, reason)
                .advising(advice)
                .seen_at(self.calls.evidence());
            self.calls.clear();
            return Some(verdict);
        }
        if let Some(query) = key.query {
            let times = self.queries.count(query, seq);
            if stuck.identical_query.is_some_and(|limit| times >= limit) {
                let reason = format!("`{tool}` was asked the same query {times} times");
                let advice = "you already searched for this; finish with what was found";
                let verdict = Verdict::new(Level::Halt, Rule::IdenticalQuery, reason)
                    .advising(advice)
                    .seen_at(self.queries.evidence());
                self.queries.clear();
                return Some(verdict);
            }
        }
        self.climb(key, tool)
    }

    /// Returns the score's verdict on a proposed call.
    fn climb(&mut self, key: &CallKey, tool: &str) -> Option<Verdict> {
        if self.score < WARN {
            return None;
        }
        let before: Vec<Seq> =
            self.seen.iter().filter(|seen| seen.call == key.call).map(|seen| seen.seq).collect();
        let verdict = |level, reason, advice: &str| {
            let evidence = before.iter().copied().rev().take(4).rev().collect();
            Some(Verdict::new(level, Rule::NothingNew, reason).advising(advice).seen_at(evidence))
        };
        if self.score >= HALT {
            let reason = format!("nothing new was learnt, and `{tool}` was proposed once more");
            return verdict(Level::Halt, reason, "stop, and say what was found so far");
        }
        let repeated = before.len() > 1 || self.warned.contains(&key.call);
        if self.score >= REFUSE && repeated {
            // A refused call that comes again climbs to the halt.
            self.score = self.score.saturating_add(2);
            self.warn(key.call);
            let times = before.len();
            let reason =
                format!("`{tool}` was called {times} times in this way and gave nothing new");
            return verdict(
                Level::Refuse,
                reason,
                "do something else: other arguments or another tool",
            );
        }
        if !before.is_empty() && !self.warned.contains(&key.call) {
            self.warn(key.call);
            let reason = format!("`{tool}` was called in this way before");
            return verdict(Level::Warn, reason, "its result is known; another call may help more");
        }
        None
    }

    /// Takes in a tool's result.
    pub(super) fn observe(
        &mut self,
        stuck: &StuckThresholds,
        key: &CallKey,
        result: &ToolResult,
        seq: Seq,
    ) -> Option<Verdict> {
        let output = key::masked(&result.output);
        let known_failure = !result.ok
            && self
                .failures
                .iter()
                .any(|it| (it.tool, it.target, it.error) == (key.tool, key.target, output));
        let failed = self.count_failure(stuck, key, result.ok, output, seq);
        let Some(seen) = key.result(output) else {
            if result.ok {
                // Waiting and acting unseen do not count as stalling either.
                self.visits.clear();
            }
            return failed;
        };
        let before = self.seen.iter().filter(|it| it.key == seen).count();
        let adjacent = self.seen.last().is_some_and(|last| last.key == seen);
        if before == 0 && self.seen.iter().any(|it| it.call == key.call) {
            self.calls.restart();
        }
        let changed = result.ok && (result.mutated || key.effect == ToolEffect::Write);
        if before == 0 && !known_failure {
            self.learn(changed);
        } else {
            self.fruitless = self.fruitless.saturating_add(1);
            let rise = if adjacent || known_failure || before > 1 { 2 } else { 1 };
            self.score = self.score.saturating_add(rise);
            if self.warned.contains(&key.call) {
                // A repeated warning starts at the next level.
                self.score = self.score.max(REFUSE);
            }
        }
        let content = Content::of(key, result, &self.seen);
        self.see(ResultRecord { key: seen, call: key.call, seq, changed, content });
        failed
            .or_else(|| self.oscillates(stuck))
            .or_else(|| self.goes_back_and_forth(stuck))
            .or_else(|| self.makes_no_progress(stuck))
    }

    /// Something new was learnt; a change that worked clears the score.
    fn learn(&mut self, changed: bool) {
        self.fruitless = 0;
        self.halted = false;
        self.visits.clear();
        self.score = self.score.saturating_sub(1);
        if changed {
            self.score = 0;
            // Earlier reads are worth repeating after a change.
            self.seen.retain(|seen| seen.changed);
            self.queries.clear();
            self.failing.clear();
            // It may have removed the cause of what failed before, such as a red test.
            self.failures.clear();
        }
    }

    fn count_failure(
        &mut self,
        stuck: &StuckThresholds,
        key: &CallKey,
        ok: bool,
        error: u64,
        seq: Seq,
    ) -> Option<Verdict> {
        if ok {
            if self.failing.is_of(key.tool) {
                self.failing.clear();
            }
            // Reading the target with another tool has not removed the cause.
            let looks = key.effect == ToolEffect::Read;
            self.failures.retain(|it| it.target != key.target || (looks && it.tool != key.tool));
            return None;
        }
        let (tool, target) = (key.tool, key.target);
        let remembered = usize::try_from(stuck.max_recent_errors).unwrap_or(usize::MAX);
        self.fail(FailureRecord { tool, target, error, seq }, remembered);
        let same = |it: &&FailureRecord| it.target == target && it.error == error;
        let times = u32::try_from(self.failures.iter().filter(same).count()).unwrap_or(u32::MAX);
        if stuck.same_error.is_some_and(|limit| times >= limit) {
            let evidence = self.failures.iter().filter(same).map(|it| it.seq).collect();
            let reason = format!("the same error came {times} times from the same target");
            let advice = "look at the target again, or reach it in another way";
            // Counts restart after a recovery.
            self.failures.retain(|it| it.target != target || it.error != error);
            let verdict = Verdict::new(Level::Halt, Rule::SameError, reason);
            return Some(verdict.advising(advice).seen_at(evidence));
        }
        let times = self.failing.count(tool, seq);
        if stuck.failing_tool.is_some_and(|limit| times >= limit) {
            let reason = format!("the same tool failed {times} times, whatever it was given");
            let verdict = Verdict::new(Level::Halt, Rule::FailingTool, reason);
            let evidence = self.failing.evidence();
            self.failing.clear();
            return Some(verdict.advising("use another tool").seen_at(evidence));
        }
        None
    }

    /// Two results in turn, over the whole window: undoing and redoing.
    fn oscillates(&mut self, stuck: &StuckThresholds) -> Option<Verdict> {
        let window = usize::try_from(stuck.oscillation?).unwrap_or(usize::MAX).max(4);
        let last = self.seen.len().checked_sub(window).and_then(|from| self.seen.get(from..))?;
        let alternate = last.windows(3).all(|three| match three {
            [first, second, third] => first.key == third.key && first.key != second.key,
            _ => false,
        });
        let since = last.first().is_some_and(|first| first.seq > self.oscillated);
        if !alternate || !since {
            return None;
        }
        let reason = format!("the last {window} actions undo and redo each other");
        let evidence: Vec<Seq> = last.iter().map(|seen| seen.seq).collect();
        // Choosing one of the two does not count as another turn.
        self.oscillated = evidence.last().copied().unwrap_or_default();
        let verdict = Verdict::new(Level::Halt, Rule::Oscillation, reason);
        Some(verdict.advising("settle for one of the two, and say why").seen_at(evidence))
    }

    fn makes_no_progress(&self, stuck: &StuckThresholds) -> Option<Verdict> {
        let limit = stuck.no_progress?;
        (self.fruitless > 0 && self.fruitless.is_multiple_of(limit)).then(|| {
            let reason = format!("the last {} results held nothing new", self.fruitless);
            let old = usize::try_from(self.fruitless).map_or(4, |old| old.min(4));
            Verdict::new(Level::Warn, Rule::NoProgress, reason)
                .advising("change the approach, or finish with what is known")
                .seen_at(self.seen.iter().rev().take(old).rev().map(|seen| seen.seq).collect())
        })
    }

    /// Takes in a model's text.
    pub(super) fn observe_turn(
        &mut self,
        stuck: &StuckThresholds,
        text: &str,
        calls: usize,
        seq: Seq,
    ) -> Option<Verdict> {
        if calls > 0 {
            // Text next to an action is a thought, and thoughts are not compared.
            self.monologue.clear();
            return None;
        }
        let message = key::query(text);
        let among = usize::try_from(stuck.duplicate_message.unwrap_or(0)).unwrap_or(usize::MAX);
        let mut last = self.messages.iter().rev().take(among);
        let said = last.find(|(known, _)| *known == message).map(|(_, at)| *at);
        self.remember_message(message, seq);
        let monologue = self.monologue.count(1, seq);
        if let Some(before) = said.filter(|_| !text.trim().is_empty()) {
            let reason = format!("the same message came before, among the last {among}");
            let verdict = Verdict::new(Level::Halt, Rule::DuplicateMessage, reason);
            let advice = "say something new, act, or finish";
            return Some(verdict.advising(advice).seen_at(alloc::vec![before, seq]));
        }
        if stuck.monologue.is_some_and(|limit| monologue >= limit) {
            let reason = format!("{monologue} messages came without an action between them");
            let verdict = Verdict::new(Level::Halt, Rule::Monologue, reason);
            let evidence = self.monologue.evidence();
            self.monologue.clear();
            return Some(verdict.advising("act, or finish").seen_at(evidence));
        }
        None
    }

    /// Takes in whether a model's turn could be read.
    pub(super) fn read_turn(
        &mut self,
        stuck: &StuckThresholds,
        read: bool,
        seq: Seq,
    ) -> Option<Verdict> {
        if read {
            self.unreadable.clear();
            return None;
        }
        let times = self.unreadable.count(1, seq);
        if stuck.unparsable.is_none_or(|limit| times < limit) {
            return None;
        }
        let reason = format!("{times} turns in a row could not be read");
        let verdict = Verdict::new(Level::Halt, Rule::Unparsable, reason)
            .advising("answer in the form that was asked for")
            .seen_at(self.unreadable.evidence());
        self.unreadable.clear();
        Some(verdict)
    }

    /// Takes in that a governed job starts an attempt in a state.
    pub(super) fn enter(
        &mut self,
        stuck: &StuckThresholds,
        state: StateId,
        seq: Seq,
    ) -> Option<Verdict> {
        let times = self.visit(state);
        let limit = stuck.steps_in_state.filter(|limit| times >= *limit)?;
        // A chart may come back here on its way out: that must not go round and round.
        self.leave(state);
        let reason = format!("{limit} steps in this state brought nothing new");
        let verdict = Verdict::new(Level::Halt, Rule::StepsInState, reason);
        Some(verdict.advising("finish with what is known").seen_at(alloc::vec![seq]))
    }
}

//! The calls of a batch while they run: shown in request order, whichever ends first.

use pointsman_kernel::{agent::ToolCall, id::EffectId};
use pointsman_runtime::clock::Stopwatch;

use crate::{
    calls, format,
    line::{Ink, Line},
};

/// Characters of what a call gave back that are shown.
const MOST: usize = 120;
/// Characters of progress that are kept: more than a screen is wide.
const TAIL: usize = 400;

/// The calls of a batch.
#[derive(Debug, Default)]
pub(super) struct CallList(Vec<ListedCall>);

#[derive(Debug)]
struct ListedCall {
    call: ToolCall,
    effect: Option<EffectId>,
    /// Whether a person was shown what it would do.
    asked: bool,
    at: At,
}

#[derive(Debug)]
enum At {
    /// A person is asked.
    Asked,
    /// It runs; the end of what it said.
    Running(Stopwatch, String),
    /// It has ended.
    Ended(Mark, String),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    Good,
    Bad,
    Stopped,
}

impl CallList {
    /// Returns how many calls run.
    pub(super) fn running(&self) -> usize {
        self.0.iter().filter(|it| matches!(it.at, At::Running(..))).count()
    }

    /// A person is asked whether a call may run.
    pub(super) fn asked(&mut self, call: &ToolCall) {
        self.0.push(ListedCall { call: call.clone(), effect: None, asked: true, at: At::Asked });
    }

    /// A call was started: a new one, or one that a person was asked about.
    pub(super) fn started(&mut self, effect: EffectId, call: &ToolCall) {
        let at = At::Running(Stopwatch::start(), String::new());
        let ended = |it: &ListedCall| matches!(it.at, At::Ended(..));
        let known = self.0.iter_mut().find(|it| it.call.id == call.id && !ended(it));
        if let Some(called) = known {
            (called.effect, called.at) = (Some(effect), at);
            return;
        }
        let (call, effect) = (call.clone(), Some(effect));
        self.0.push(ListedCall { call, effect, asked: false, at });
    }

    /// A call has said something. Returns whether there is such a call.
    pub(super) fn said(&mut self, effect: EffectId, text: &str) -> bool {
        let Some(called) = self.0.iter_mut().find(|it| it.effect == Some(effect)) else {
            return false;
        };
        if let At::Running(_, tail) = &mut called.at {
            tail.push_str(text);
            let over = tail.chars().count().saturating_sub(TAIL);
            *tail = tail.chars().skip(over).collect();
        }
        true
    }

    /// A call has ended. Returns whether there is such a call.
    pub(super) fn ended(&mut self, effect: EffectId, ok: bool, what: &str) -> bool {
        let mark = if ok { Mark::Good } else { Mark::Bad };
        self.end(|it| it.effect == Some(effect), mark, what)
    }

    /// A call was stopped. Returns whether there is such a call.
    pub(super) fn stopped(&mut self, effect: EffectId) -> bool {
        self.end(|it| it.effect == Some(effect), Mark::Stopped, "stopped")
    }

    /// A person has said no.
    pub(super) fn denied(&mut self, call: &ToolCall, why: &str) {
        self.end(|it| it.call.id == call.id, Mark::Bad, &format!("denied: {why}"));
    }

    fn end(&mut self, is: impl Fn(&ListedCall) -> bool, mark: Mark, what: &str) -> bool {
        let open = |it: &&mut ListedCall| !matches!(it.at, At::Ended(..)) && is(it);
        let Some(called) = self.0.iter_mut().find(open) else { return false };
        called.at = At::Ended(mark, what.into());
        true
    }

    /// Takes those away that have ended before any that has not.
    pub(super) fn finished(&mut self) -> Vec<Line> {
        let ended = self.0.iter().take_while(|it| matches!(it.at, At::Ended(..))).count();
        self.0.drain(..ended).flat_map(|called| called.lines(true)).collect()
    }

    /// Takes all of them away: the batch is over.
    pub(super) fn over(&mut self) -> Vec<Line> {
        for called in &mut self.0 {
            if !matches!(called.at, At::Ended(..)) {
                called.at = At::Ended(Mark::Stopped, "not done".into());
            }
        }
        self.finished()
    }

    /// Returns their current state; a call that needs approval is shown by its question.
    pub(super) fn live(&self) -> Vec<Line> {
        let begun = self.0.iter().filter(|it| !matches!(it.at, At::Asked));
        begun.flat_map(|called| called.lines(false)).collect()
    }
}

impl ListedCall {
    fn lines(&self, for_good: bool) -> Vec<Line> {
        let title = calls::title(&self.call);
        match &self.at {
            At::Asked => vec![Line::of(Ink::Warning, &format!("  ? {title}"))],
            At::Running(since, tail) => {
                let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
                let line = Line::of(Ink::Accent, "  ▸ ").and(Ink::Plain, &title);
                let line = line.and(Ink::Dim, &format!(" {}", format::stopwatch(ms)));
                let last = tail.lines().rfind(|line| !line.trim().is_empty());
                let last = last
                    .map(|last| Line::of(Ink::Dim, &format!("    {}", format::line(last, MOST))));
                std::iter::once(line).chain(last).collect()
            }
            At::Ended(mark, what) => {
                let (ink, sign) = match mark {
                    Mark::Good => (Ink::Good, "  ✓ "),
                    Mark::Bad => (Ink::Bad, "  ✗ "),
                    Mark::Stopped => (Ink::Warning, "  ■ "),
                };
                let line = Line::of(ink, sign).and(Ink::Plain, &title);
                let ink = if *mark == Mark::Bad { Ink::Bad } else { Ink::Dim };
                let what = format::line(what, MOST);
                let line =
                    if what.is_empty() { line } else { line.and(ink, &format!(" · {what}")) };
                let changed = if for_good && !self.asked && *mark == Mark::Good {
                    calls::change(&self.call)
                } else {
                    Vec::new()
                };
                let changed = changed.into_iter().map(|line| line.indented(4));
                std::iter::once(line).chain(changed).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pointsman_kernel::id::Seq;
    use serde_json::value::to_raw_value;

    use super::*;

    fn call(id: &str, path: &str) -> ToolCall {
        let arguments =
            to_raw_value(&serde_json::json!({ "path": path })).expect("the value serialises");
        ToolCall { id: id.into(), tool: "read".into(), arguments }
    }

    #[test]
    fn results_are_in_request_order() {
        let effect = |index| EffectId { seq: Seq(3), index };
        let mut calling = CallList::default();
        calling.asked(&call("1", "a"));
        calling.started(effect(2), &call("2", "b"));
        assert!(calling.ended(effect(2), true, "b is here"));
        assert!(calling.finished().is_empty(), "the first one is not done");
        calling.started(effect(1), &call("1", "a"));
        assert_eq!(calling.running(), 1);
        assert!(calling.said(effect(1), "half\n"));
        assert!(calling.live()[1].text().contains("half"));
        assert!(calling.ended(effect(1), false, "no such file"));
        let lines: Vec<String> = calling.finished().iter().map(Line::text).collect();
        assert_eq!(lines, ["  ✗ read a · no such file", "  ✓ read b · b is here"]);
        assert!(!calling.ended(effect(1), true, ""));
    }
}

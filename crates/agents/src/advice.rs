//! The governor's advice to a model, kept until a reply has seen it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use pointsman_kernel::governor::{Level, Rule, Verdict};
use serde::{Deserialize, Serialize};

/// Lines that are kept; the oldest go first.
const MAX_LINES: usize = 8;
/// Bytes of a line that are kept.
const MAX_LINE: usize = 500;

/// Advice for the next prompt.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Advice {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<Line>,
    /// Why the run was halted, until a person speaks or it is recovered from.
    #[serde(skip_serializing_if = "Option::is_none")]
    halted: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Line {
    text: String,
    /// Whether it is about repetition.
    repeats: bool,
    /// Whether it is about the reply that is just being taken: that one cannot have
    /// seen it, and only the next one can.
    fresh: bool,
}

impl Advice {
    /// Returns what to tell the model, the oldest first.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| line.text.as_str())
    }

    /// Returns whether the run repeats itself: the prompt's status is then `STUCK`.
    pub fn is_stuck(&self) -> bool {
        self.halted.is_some() || self.lines.iter().any(|line| line.repeats)
    }

    /// Returns why the run was halted.
    pub fn halted(&self) -> Option<&str> {
        self.halted.as_deref()
    }

    /// Returns whether there is nothing to say.
    pub const fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.halted.is_none()
    }

    /// Takes in a verdict.
    pub(crate) fn hear(&mut self, verdict: &Verdict) {
        // What a person is asked about, the model learns from their answer.
        if verdict.level == Level::Ask {
            return;
        }
        if verdict.level == Level::Halt {
            self.halted = Some(verdict.reason.clone());
        }
        let text = match &*verdict.advice {
            "" => verdict.reason.clone(),
            advice => format!("{}: {advice}", verdict.reason),
        };
        let fresh = matches!(verdict.rule, Rule::DuplicateMessage | Rule::Monologue);
        self.push(Line { text, repeats: !verdict.rule.is_permission(), fresh });
    }

    /// Takes in a word of the agent's own.
    pub(crate) fn say(&mut self, text: &str) {
        self.push(Line { text: text.to_string(), repeats: false, fresh: false });
    }

    /// A reply has come: what it could see was used.
    pub(crate) fn used(&mut self) {
        self.lines.retain(|line| line.fresh);
        for line in &mut self.lines {
            line.fresh = false;
        }
    }

    /// Forgets everything: a person speaks, or the work begins afresh.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn push(&mut self, mut line: Line) {
        line.text.truncate(line.text.floor_char_boundary(MAX_LINE));
        self.lines.retain(|known| known.text != line.text);
        if self.lines.len() >= MAX_LINES {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn verdict(level: Level, rule: Rule, reason: &str) -> Verdict {
        Verdict { level, rule, reason: reason.into(), advice: "stop".into(), evidence: vec![] }
    }

    #[test]
    fn a_line_stays_until_a_reply_could_see_it() {
        let mut advice = Advice::default();
        advice.hear(&verdict(Level::Warn, Rule::NothingNew, "again"));
        assert!(advice.is_stuck() && advice.lines().eq(["again: stop"]));
        // This one is about the reply that is being taken.
        advice.hear(&verdict(Level::Warn, Rule::Monologue, "talk"));
        advice.used();
        assert!(advice.lines().eq(["talk: stop"]));
        advice.used();
        assert!(advice.is_empty());
    }

    #[test]
    fn halt_outlives_its_advice_and_questions_give_none() {
        let mut advice = Advice::default();
        advice.hear(&verdict(Level::Ask, Rule::Permission, "may it"));
        assert!(advice.is_empty());
        advice.hear(&verdict(Level::Refuse, Rule::ToolsOfState, "not here"));
        assert!(!advice.is_stuck());
        advice.hear(&verdict(Level::Halt, Rule::SameError, "again"));
        advice.used();
        assert_eq!((advice.lines().count(), advice.halted()), (0, Some("again")));
        assert!(advice.is_stuck());
        advice.clear();
        assert!(advice.is_empty());
    }

    #[test]
    fn it_is_bounded() {
        let mut advice = Advice::default();
        for n in 0..100 {
            advice.say(&format!("{n} {}", "é".repeat(1000)));
            advice.say("the same");
        }
        assert_eq!(advice.lines().count(), MAX_LINES);
        assert!(advice.lines().all(|line| line.len() <= MAX_LINE));
        assert_eq!(advice.lines().filter(|line| *line == "the same").count(), 1);
    }
}

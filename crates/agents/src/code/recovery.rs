//! Recovery: what to try, by the class of the error. Each rule helps once.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, FaultClass},
    governor::{Rule, Verdict},
    turn::{TurnError, TurnErrorKind},
};
use serde::{Deserialize, Serialize};

use super::progress::CallFailure;
use crate::answer;

/// What to recover from.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trouble {
    /// The governor halted the work.
    Stuck {
        /// The rule that said so.
        rule: Rule,
        /// What it saw.
        reason: String,
        /// What it says to do instead.
        advice: String,
        /// The failure that it is about, where it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<CallFailure>,
    },
    /// The model gave no reply.
    NoReply {
        /// What went wrong.
        class: FaultClass,
        /// What to tell a person.
        message: String,
    },
    /// The model's replies could not be read or used.
    Unusable {
        /// What was wrong with them.
        message: String,
    },
}

/// A way to recover.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecoveryAction {
    /// Read the file again: it has changed.
    ReRead,
    /// Write the whole file where an edit does not fit.
    WriteInstead,
    /// Split the work, or ask for a longer time.
    LongerTime,
    /// Try again after the waiting times of another visit.
    Wait,
    /// Do something else.
    OtherWay,
}

/// The result of recovery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RecoveryChoice {
    Recover(RecoveryAction),
    GiveUp,
    Broken,
}

impl Trouble {
    /// Returns the trouble that the governor sees.
    pub(super) fn stuck(verdict: &Verdict) -> Self {
        let Verdict { rule, reason, advice, .. } = verdict;
        let (reason, advice) = (reason.clone(), advice.as_ref().into());
        Self::Stuck { rule: *rule, reason, advice, failure: None }
    }

    /// Returns the trouble of a model that gave no reply; a person's cancel is none.
    pub(super) fn no_reply(why: &Abandoned) -> Option<Self> {
        match why {
            // Repeating an invalid request is useless; another reply may be better.
            Abandoned::Failed(fault) if fault.class == FaultClass::Invalid && fault.repeatable => {
                Some(Self::Unusable { message: fault.message.clone() })
            }
            Abandoned::Failed(fault) => {
                Some(Self::NoReply { class: fault.class, message: fault.message.clone() })
            }
            Abandoned::TimedOut { .. } => {
                Some(Self::NoReply { class: FaultClass::Timeout, message: answer::reason(why) })
            }
            Abandoned::Denied { .. }
            | Abandoned::Stuck { .. }
            | Abandoned::Budget
            | Abandoned::Cancelled
            | _ => None,
        }
    }

    /// Returns the matching rules, best first; none if a retry is useless.
    fn rules(&self) -> &'static [RecoveryAction] {
        match self {
            Self::Stuck { failure: Some(failure), .. } => failure.rules(),
            Self::Stuck { failure: None, .. } | Self::Unusable { .. } => {
                &[RecoveryAction::OtherWay]
            }
            Self::NoReply { class, .. } => match class {
                FaultClass::Timeout => &[RecoveryAction::LongerTime],
                FaultClass::RateLimited | FaultClass::Unavailable | FaultClass::Resource => {
                    &[RecoveryAction::Wait]
                }
                FaultClass::Gone => &[RecoveryAction::ReRead],
                FaultClass::Other => &[RecoveryAction::OtherWay],
                FaultClass::Forbidden
                | FaultClass::Invalid
                | FaultClass::TooLong
                | FaultClass::Limit
                | FaultClass::Contract
                | _ => &[],
            },
        }
    }

    /// Chooses the first rule that was not used yet.
    pub(super) fn choose(&self, used: &[RecoveryAction]) -> RecoveryChoice {
        let rules = self.rules();
        match rules.iter().find(|rule| !used.contains(rule)) {
            Some(rule) => RecoveryChoice::Recover(*rule),
            None if rules.is_empty() => RecoveryChoice::Broken,
            None => RecoveryChoice::GiveUp,
        }
    }

    /// Returns what to tell a person, when nothing is left to try.
    pub(super) fn turn_error(&self) -> TurnError {
        let kind = match self {
            Self::Stuck { .. } | Self::Unusable { .. } => TurnErrorKind::Stuck,
            Self::NoReply { .. } => TurnErrorKind::Failed,
        };
        TurnError { kind, message: self.what() }
    }

    /// Says what went wrong.
    fn what(&self) -> String {
        match self {
            Self::Stuck { failure: Some(it), reason, .. } => {
                format!("`{}` on {}: {} ({reason})", it.tool, it.target, it.error)
            }
            Self::Stuck { failure: None, reason, .. } => reason.clone(),
            Self::NoReply { message, .. } | Self::Unusable { message } => message.clone(),
        }
    }

    /// Returns what to tell the model.
    pub(super) fn advice(&self, rule: RecoveryAction) -> String {
        let what = self.what();
        if let (RecoveryAction::OtherWay, Self::Stuck { advice, .. }) = (rule, self)
            && !advice.is_empty()
        {
            return format!("This did not work: {what}. Do not repeat it: {advice}.");
        }
        let instead = match rule {
            RecoveryAction::ReRead => "Read it again before you change it.",
            RecoveryAction::WriteInstead => "Do not edit it again: write the whole file.",
            RecoveryAction::LongerTime => "Do it in smaller pieces, or allow a longer time.",
            RecoveryAction::Wait if matches!(self, Self::Stuck { .. }) => {
                "Wait before you try it again: do first what needs less, or free what you used."
            }
            RecoveryAction::Wait => "Go on where you were.",
            RecoveryAction::OtherWay => "Do not repeat it: go another way.",
        };
        format!("This did not work: {what}. {instead}")
    }
}

/// How a tool says that a file has changed.
const STALE: &[&str] = &[
    "changed since",
    "has changed",
    "was changed",
    "modified since",
    "no longer",
    "is stale",
    "out of date",
    "outdated",
];
/// How a tool says that it was given too little time.
const SLOW: &[&str] = &[
    "it took too long",
    "its time limit",
    "timed out",
    "time-out",
    "timeout",
    "deadline exceeded",
];
/// How a tool says that something is used up.
const USED_UP: &[&str] = &[
    "no space left",
    "disk full",
    "disk quota",
    "out of memory",
    "cannot allocate memory",
    "too many open files",
    "resource temporarily unavailable",
    "resource limit",
];
/// How the host says that a tool broke down, and how programs say it themselves.
const BROKE: &[&str] = &["internal error (panic)", "the program broke off", "panicked at"];

impl CallFailure {
    /// Returns the rules that fit what the tool said, the best first.
    fn rules(&self) -> &'static [RecoveryAction] {
        let error = self.own_words().to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
        if says(BROKE) {
            return &[RecoveryAction::OtherWay];
        }
        if says(USED_UP) {
            return &[RecoveryAction::Wait];
        }
        if says(SLOW) {
            return &[RecoveryAction::LongerTime];
        }
        if says(STALE) {
            return &[RecoveryAction::ReRead, RecoveryAction::WriteInstead];
        }
        // What an edit says holds the nearest lines already.
        if self.tool.contains("edit") {
            return &[RecoveryAction::WriteInstead, RecoveryAction::ReRead];
        }
        &[RecoveryAction::OtherWay]
    }

    /// Returns what the tool said itself: neither the numbered lines that it quotes from a
    /// file, nor the name of what the call was about.
    fn own_words(&self) -> String {
        let own = |line: &&str| match line.trim_start().split_once('\t') {
            Some((number, _)) => {
                number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit())
            }
            None => true,
        };
        let words = self.error.lines().filter(own).collect::<Vec<_>>().join("\n");
        if self.target.is_empty() { words } else { words.replace(&self.target, "") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, target: &str, error: &str, first: RecoveryAction) {
        let failure = CallFailure { tool: tool.into(), target: target.into(), error: error.into() };
        assert_eq!(failure.rules().first(), Some(&first), "{error}");
    }

    #[test]
    fn only_the_tools_own_message_classifies_an_error() {
        let missing = "`old` was not found in `a.rs`: it must match to the letter, spaces too";
        for quoted in ["let timeout = 5;", "// has changed", "panicked at", "no space left"] {
            let error = format!("{missing}\nthe nearest lines are 7 to 7:\n     7\t{quoted}");
            check("edit", "a.rs", &error, RecoveryAction::WriteInstead);
        }
        let named = missing.replace("a.rs", "src/timeout.rs");
        check("edit", "src/timeout.rs", &named, RecoveryAction::WriteInstead);
        check("edit", "a.rs", "`a.rs` has changed since", RecoveryAction::ReRead);
        let stopped = "     1\tone\n[it was stopped after 100 ms, its time limit]";
        check("shell", "cat -n a.rs", stopped, RecoveryAction::LongerTime);
        check("shell", "make", "exit code 2:\nerror: timed out", RecoveryAction::LongerTime);
    }
}

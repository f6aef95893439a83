//! The exit of an ended run: one mapping for exit codes, `show` and editors.
//!
//! The journal keeps how a run ended. A success that was denied something, or owes an answer, is
//! one of the journal's and none of the person's.

use pointsman_kernel::{
    chart::Disposition,
    turn::{TurnError, TurnErrorKind},
};

/// How a run counts that has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Exit {
    /// As which disposition it counts.
    pub counts: Disposition,
    /// The words for it.
    pub name: &'static str,
}

/// The exit code of a run that waits for a person.
pub const WAITING: u8 = 3;

impl Exit {
    /// Returns how a run counts. A call that needed approval in an unattended run was denied, and
    /// a conversation without its last answer has not succeeded.
    pub fn of(ended: Disposition, error: Option<&TurnError>, denied: bool) -> Self {
        let owes = error.map(|error| error.kind).filter(|kind| *kind != TurnErrorKind::Cancelled);
        let (counts, name) = match (ended, owes) {
            (Disposition::Succeeded, _) if denied => (Disposition::Denied, "denied"),
            (Disposition::Succeeded, Some(TurnErrorKind::Budget)) => {
                (Disposition::Budget, "ended without an answer")
            }
            (Disposition::Succeeded, Some(_)) => (Disposition::Failed, "ended without an answer"),
            (ended, _) => (ended, ended.name()),
        };
        Self { counts, name }
    }

    /// Returns the exit code that says so.
    pub const fn code(self) -> u8 {
        match self.counts {
            Disposition::Succeeded => 0,
            Disposition::Budget => 4,
            Disposition::Stuck => 5,
            Disposition::Cancelled => 6,
            Disposition::Denied => 7,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_that_lacks_nothing_counts_as_one() {
        let error = |kind| TurnError { kind, message: String::new() };
        let (cancelled, budget, stuck) = (
            error(TurnErrorKind::Cancelled),
            error(TurnErrorKind::Budget),
            error(TurnErrorKind::Stuck),
        );
        let exit = |ended, error: Option<&TurnError>, denied| {
            let exit = Exit::of(ended, error, denied);
            (exit.name, exit.code())
        };
        assert_eq!(exit(Disposition::Succeeded, None, false), ("succeeded", 0));
        assert_eq!(exit(Disposition::Succeeded, Some(&cancelled), false), ("succeeded", 0));
        assert_eq!(exit(Disposition::Succeeded, None, true), ("denied", 7));
        assert_eq!(exit(Disposition::Succeeded, Some(&stuck), true), ("denied", 7));
        let unanswered = "ended without an answer";
        assert_eq!(exit(Disposition::Succeeded, Some(&stuck), false), (unanswered, 1));
        assert_eq!(exit(Disposition::Succeeded, Some(&budget), false), (unanswered, 4));
        // How else a run ended stands.
        for (ended, name, code) in [
            (Disposition::Failed, "failed", 1),
            (Disposition::Budget, "budget", 4),
            (Disposition::Stuck, "stuck", 5),
            (Disposition::Cancelled, "cancelled", 6),
            (Disposition::Denied, "denied", 7),
        ] {
            for denied in [false, true] {
                assert_eq!(exit(ended, Some(&budget), denied), (name, code));
            }
        }
    }
}

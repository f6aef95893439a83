//! Answers to a run's questions: which questions are meant, and what "always" means. The same for
//! the command line and over HTTP.

use pointsman_kernel::governor::Grant;
use pointsman_runtime::{observe::Question, session::overdue, store::RunRow};

use crate::{agents::toolbox, calls::typed, format, report::Error};

/// Returns the open questions that are meant: one by its number, or all. Those that have expired
/// are left out, unless all have, at a time of the store's clock.
pub(crate) fn meant(
    row: &RunRow,
    mut open: Vec<Question>,
    wanted: Option<&str>,
    now_ms: u64,
) -> Result<Vec<Question>, Error> {
    if let Some(wanted) = wanted {
        let listed: Vec<String> = open.iter().map(|it| it.effect.to_string()).collect();
        open.retain(|question| question.effect.to_string() == wanted);
        if open.is_empty() {
            let (run, question) = (row.id.to_string(), wanted.to_owned());
            return Err(Error::NoSuchQuestion { run, question, open: listed });
        }
    }
    if open.is_empty() {
        return Err(Error::AsksNothing { run: row.id.to_string() });
    }
    in_time(row, open, now_ms)
}

/// Returns the questions that can still be answered, unless all of them are too old.
fn in_time(row: &RunRow, open: Vec<Question>, now_ms: u64) -> Result<Vec<Question>, Error> {
    let (mut fresh, mut too_late) = (Vec::new(), None);
    for question in open {
        match overdue(row, &question, now_ms) {
            None => fresh.push(question),
            Some(ms) => {
                let (run, question) = (row.id.to_string(), question.effect.to_string());
                too_late = Some(Error::TooLate { run, question, late: format::duration(ms) });
            }
        }
    }
    too_late.filter(|_| fresh.is_empty()).map_or(Ok(fresh), Err)
}

/// Returns the rule that "always" means for a call: the narrowest, unless another is named.
pub(crate) fn remembered(
    question: &Question,
    always: Option<&str>,
) -> Result<Option<Grant>, Error> {
    let tools = toolbox();
    let call = question.call().filter(|call| !tools.is_once(call));
    let (Some(call), Some(wanted)) = (call, always) else { return Ok(None) };
    let offered = tools.grants(call);
    let rule = match wanted {
        "exact" => tools.exact(call),
        "tool" => tools.whole(call),
        wanted => offered.iter().find(|rule| is_called(rule, wanted)).cloned(),
    };
    let offered = || offered.iter().map(typed).collect();
    let none = || Error::NoRule {
        question: question.effect.to_string(),
        wanted: wanted.into(),
        offered: offered(),
    };
    rule.ok_or_else(none).map(Some)
}

/// Returns whether a rule is meant by what was typed: all of it, or its pattern.
fn is_called(rule: &Grant, wanted: &str) -> bool {
    typed(rule) == wanted || matches!(&*rule.arguments, [(_, pattern)] if pattern == wanted)
}

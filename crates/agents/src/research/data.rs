//! What a run of `research` knows: its goal, what was found, how it ends.

use alloc::{boxed::Box, collections::BTreeSet, format, string::String, vec::Vec};

use pointsman_kernel::{
    agent::{Abandoned, BadBody, FaultClass, ToolCall, ToolResult, Visit},
    governor::{Level, Verdict},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use super::{
    config::{self, PromptLimits},
    decision::{Decision, UnusableReply},
    offer::{SEARCH, ToolList, one_line},
    passage::{DocumentLine, passages},
    recount,
};
use crate::{advice::Advice, answer, transcript};

/// Bytes of an output that are kept.
const MAX_OUTPUT: usize = 16 * 1024;
/// Bytes of an analysis that are kept.
const MAX_ANALYSIS: usize = 4 * 1024;
/// Bytes of the goal that are searched for at first.
const MAX_QUERY: usize = 1024;
/// Findings that are kept, the last ones; the chart's `decisions` is well below.
const MAX_FINDINGS: usize = 100;
/// Refusals that are kept, and the bytes of each.
const MAX_REFUSED: usize = 10;
const MAX_REASON: usize = 300;
/// Searches in a row without a new passage after which the model is warned, and after which
/// another one is rejected.
const FRUITLESS_WARN: usize = 3;
const FRUITLESS_REFUSE: usize = 6;

/// The data of a run of `research`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ResearchData {
    /// The question.
    pub goal: String,
    /// The tools that may be used.
    pub tools: ToolList,
    /// How much a prompt shows.
    pub limits: PromptLimits,
    /// The call that the last decision asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCall>,
    /// The words of the goal that turned the search or all tools off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// What the last calls came to, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// How many earlier calls are no longer kept.
    #[serde(default, skip_serializing_if = "is_none")]
    pub forgotten: usize,
    /// What the next prompt should say: why the last decision was not taken, what was
    /// repeated, and whether the run is stuck.
    #[serde(default, skip_serializing_if = "Advice::is_empty")]
    pub advice: Advice,
    /// What was rejected during the run, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// The model's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why the last job came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<JobFailure>,
    /// How far a run came that got stuck. With it, no answer is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What the run has to show in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A call and its result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Finding {
    /// The call.
    pub call: ToolCall,
    /// Its result.
    pub result: ToolResult,
    /// What the model made of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub analysis: String,
}

/// Where and why a job came to nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct JobFailure {
    /// The state.
    pub state: String,
    /// What kind of reason it was.
    pub cause: FailureCause,
    /// The reason, in words.
    pub reason: String,
}

/// What kind of reason stopped a job.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureCause {
    /// No decision of the model could be used.
    Unusable,
    /// A model or a tool failed, or took too long.
    Failed,
    /// A rule or a person said no.
    Denied,
    /// Nothing new was learnt.
    Stuck,
    /// A limit was reached.
    Limit,
}

impl ResearchData {
    pub(super) fn configure(&mut self, config: &RawValue) -> Result<(), BadBody> {
        *self = config::read(config)?;
        Ok(())
    }

    /// Turns away a search where searching has brought nothing for too long.
    pub(super) fn admit(&self, decision: Decision) -> Result<Decision, UnusableReply> {
        let searches = self.fruitless();
        if matches!(decision, Decision::Search { .. }) && searches >= FRUITLESS_REFUSE {
            return Err(UnusableReply::Fruitless { searches });
        }
        Ok(decision)
    }

    /// Keeps why a decision was not taken, for the next prompt and for the summary.
    pub(super) fn turn_away(&mut self, why: &UnusableReply) {
        let why = format!("{why}");
        self.advice.say(&why);
        self.note_refusal(&why);
    }

    /// Takes the governor's advice.
    pub(super) fn hear(&mut self, verdict: &Verdict) {
        self.advice.hear(verdict);
        if verdict.level >= Level::Refuse {
            self.note_refusal(&verdict.reason);
        }
    }

    /// Returns how many searches in a row, up to the last, found no passage that was
    /// not known before them.
    pub(super) fn fruitless(&self) -> usize {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut fruitless: usize = 0;
        for finding in &self.findings {
            let before = known.len();
            known.extend(finding.passages().map(|passage| passage.place));
            let looked = finding.call.tool == SEARCH && finding.result.ok;
            fruitless = match (known.len() > before, looked) {
                (true, _) => 0,
                (false, true) => fruitless.saturating_add(1),
                // Another tool, or a failure, says nothing about the search.
                (false, false) => fruitless,
            };
        }
        fruitless
    }

    /// Returns the advice for a model that keeps searching in vain.
    pub(super) fn vain(&self) -> Option<String> {
        let searches = self.fruitless();
        (searches >= FRUITLESS_WARN).then(|| {
            format!(
                "the last {searches} searches found nothing new; \
                 try finishing with what was found"
            )
        })
    }

    /// Plans a search. White space does not make another query of it.
    pub(super) fn plan_search(&mut self, query: &str) {
        let words: Vec<&str> = query.split_whitespace().collect();
        let arguments = json!({ "query": words.join(" ") });
        if let Ok(arguments) = RawValue::from_string(format!("{arguments}")) {
            self.plan_call(SEARCH.into(), arguments);
        }
    }

    /// Plans to search for the goal itself.
    pub(super) fn plan_first_search(&mut self) {
        let query = self.goal.get(..self.goal.floor_char_boundary(MAX_QUERY));
        let query: String = query.unwrap_or_default().into();
        self.plan_search(&query);
    }

    pub(super) fn plan_call(&mut self, tool: String, arguments: Box<RawValue>) {
        let before = self.forgotten.saturating_add(self.findings.len());
        let id = format!("call-{}", before.saturating_add(1));
        self.call = Some(ToolCall { id, tool, arguments });
        self.stopped = None;
    }

    pub(super) fn next_call(&self) -> ToolCall {
        self.call.clone().unwrap_or_else(transcript::no_call)
    }

    pub(super) fn found(&mut self, mut result: ToolResult) {
        cut(&mut result.output, MAX_OUTPUT);
        let Some(call) = self.call.take() else { return };
        if self.findings.len() >= MAX_FINDINGS {
            self.findings.remove(0);
            self.forgotten = self.forgotten.saturating_add(1);
        }
        self.findings.push(Finding { call, result, analysis: String::new() });
    }

    pub(super) fn not_found(&mut self, visit: &Visit<'_>, why: &Abandoned) {
        if let Abandoned::Denied { reason } = why {
            self.note_refusal(reason);
        }
        self.found(transcript::forgone(why));
        self.stopped_by(visit, why);
    }

    pub(super) fn analysed(&mut self, mut text: String) {
        cut(&mut text, MAX_ANALYSIS);
        self.stopped = None;
        if let Some(finding) = self.findings.last_mut() {
            finding.analysis = text;
        }
    }

    pub(super) fn stopped_by(&mut self, visit: &Visit<'_>, why: &Abandoned) {
        let cause = match why {
            Abandoned::Failed(fault) if fault.class == FaultClass::Invalid => {
                FailureCause::Unusable
            }
            Abandoned::Failed(_) | Abandoned::TimedOut { .. } => FailureCause::Failed,
            Abandoned::Denied { .. } => FailureCause::Denied,
            Abandoned::Stuck { .. } => FailureCause::Stuck,
            Abandoned::Budget | Abandoned::Cancelled | _ => FailureCause::Limit,
        };
        let reason = one_line(&answer::reason(why), MAX_REASON);
        self.stopped = Some(JobFailure { state: visit.state.name().into(), cause, reason });
    }

    /// Ends without an answer, whatever is said from here on.
    pub(super) fn give_up(&mut self, summary: String) {
        self.summary = Some(summary);
    }

    /// Returns what the run has to show, and whether it is an answer. A run that got
    /// stuck has none, whatever the model wrote before.
    pub(super) fn outcome(&self) -> (String, bool) {
        match (&self.summary, &self.answer) {
            (Some(summary), _) => (summary.clone(), false),
            (None, Some(answer)) => (recount::answer(answer, self), true),
            (None, None) => (recount::summary(self), false),
        }
    }

    fn note_refusal(&mut self, reason: &str) {
        let reason = one_line(reason, MAX_REASON);
        if self.refused.len() < MAX_REFUSED && !self.refused.contains(&reason) {
            self.refused.push(reason);
        }
    }
}

impl Finding {
    /// Returns the passages that it holds.
    pub(super) fn passages(&self) -> impl Iterator<Item = DocumentLine<'_>> {
        let output = if self.result.ok { self.result.output.as_str() } else { "" };
        passages(output)
    }

    /// Returns an argument of its call, if it is a text.
    pub(super) fn argument(&self, name: &str) -> Option<String> {
        let arguments: Value = serde_json::from_str(self.call.arguments.get()).ok()?;
        arguments.get(name)?.as_str().map(Into::into)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push_str("\n[cut]");
    }
}

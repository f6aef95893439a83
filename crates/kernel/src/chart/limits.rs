//! The keys other than `on`: limits of attempts, tools, parameters, labels.

use alloc::format;

use super::{
    AllowedTools, Attempts,
    draft::{AttemptLimits, ChartDraft, Name, Spanned, StateDraft, StateKindDraft, ToolsDraft},
    resolve::NameTable,
};
use crate::{code::Code, diagnostic::Findings, id::StateId, job::JobDecl};

pub(super) fn attempts(
    written: &StateDraft,
    draft: &ChartDraft,
    job: &JobDecl,
    found: &mut Findings,
) -> Attempts {
    let own = &written.limits;
    let all = &draft.defaults;
    // A person's time is another than a program's, so the chart's default is not for them.
    let usual = job.usual_timeout.or_else(|| all.timeout.as_ref().map(|timeout| timeout.value));
    let timeout = own.timeout.as_ref().map(|timeout| timeout.value).or(usual);
    if timeout.is_none() {
        let message = format!("state `{}` has no `timeout`", *written.name);
        let hint = "add `timeout = \"30s\"` here or in `[defaults]`";
        found.add(Code::NoTimeout, written.name.span, message, hint);
    }
    if job.fails.is_none()
        && let Some(attempts) = own.attempts.as_ref().filter(|attempts| attempts.value > 1)
    {
        let message = format!("`{}` cannot fail, so it is never retried", job.name);
        found.add(Code::Misplaced, attempts.span, message, "remove `attempts`");
    }
    if let Some(attempts) = own.attempts.as_ref().filter(|attempts| attempts.value == 0) {
        let hint = "write 1 or more, including the first attempt";
        found.add(Code::BadValue, attempts.span, "zero is not allowed here", hint);
    }
    // A question is put once, unless its own state says otherwise.
    let usual = all.attempts.as_ref().filter(|_| !job.person);
    let backoff = own.backoff.as_ref().or(all.backoff.as_ref());
    let backoff = backoff.map(|backoff| backoff.value).unwrap_or_default();
    let ms = |own: &Option<Spanned<u64>>, all: &Option<Spanned<u64>>, default| {
        own.as_ref().or(all.as_ref()).map_or(default, |value| value.value)
    };
    Attempts {
        max: own.attempts.as_ref().or(usual).map_or(1, |attempts| attempts.value),
        timeout: timeout.unwrap_or(1),
        base: backoff.base,
        cap: backoff.cap,
        hint_cap: ms(&own.hint_cap, &all.hint_cap, 60_000),
        ask_timeout: ms(&own.ask_timeout, &all.ask_timeout, 86_400_000),
    }
}

pub(super) fn tools(
    written: &StateDraft,
    names: &NameTable<'_>,
    found: &mut Findings,
) -> AllowedTools {
    let Some(tools) = &written.tools else { return AllowedTools::None };
    if !matches!(
        written.kind.as_deref(),
        Some(StateKindDraft::Run(_) | StateKindDraft::FanOut { .. }) | None
    ) {
        let message = format!("state `{}` calls no tools", *written.name);
        found.add(Code::Misplaced, tools.span, message, "remove `tools`");
    }
    match &tools.value {
        ToolsDraft::None => AllowedTools::None,
        ToolsDraft::All => AllowedTools::All,
        ToolsDraft::Only(list) => {
            for tool in list {
                names.tool(tool, found);
            }
            AllowedTools::Only(list.iter().map(|tool| tool.as_str().into()).collect())
        }
    }
}

pub(super) fn governed_tools(written: &StateDraft, job: &JobDecl, found: &mut Findings) {
    if job.governed.calls() && written.tools.is_none() {
        let message = format!("state `{}` calls tools but does not list them", *written.name);
        let hint = "add `tools = \"all\"`, `\"none\"` or a list";
        found.add(Code::NoTools, written.name.span, message, hint);
    }
}

pub(super) fn no_limits(limits: &AttemptLimits, timeout: bool, what: &str, found: &mut Findings) {
    let mut misplaced = |key: &str, span| {
        let message = format!("{what} has no `{key}`");
        found.add(Code::Misplaced, span, message, format!("remove `{key}`"));
    };
    if let Some(limit) = limits.timeout.as_ref().filter(|_| !timeout) {
        misplaced("timeout", limit.span);
    }
    if let Some(limit) = &limits.attempts {
        misplaced("attempts", limit.span);
    }
    if let Some(limit) = &limits.backoff {
        misplaced("backoff", limit.span);
    }
    if let Some(limit) = &limits.hint_cap {
        misplaced("hint_cap", limit.span);
    }
    if let Some(limit) = &limits.ask_timeout {
        misplaced("ask_timeout", limit.span);
    }
}

/// Resolves a label and checks that the state it describes can look so.
pub(super) fn label(
    of: &Name,
    draft: &ChartDraft,
    names: &NameTable<'_>,
    found: &mut Findings,
    asking: bool,
) -> StateId {
    let Some(id) = names.state(of, found) else { return StateId::default() };
    let written = draft.states.get(id.index());
    let fits = written.and_then(|state| Some((state, state.kind.as_ref()?))).is_none_or(
        |(state, does)| match &does.value {
            StateKindDraft::Run(_) | StateKindDraft::FanOut { .. } if !asking => {
                let person = names.agent.is_some_and(|agent| {
                    let mut asks = agent.jobs.iter().filter(|job| job.person);
                    asks.any(|it| matches!(&does.value, StateKindDraft::Run(job) if it.name == job))
                });
                let usual = draft.defaults.attempts.as_ref().filter(|_| !person);
                let attempts = state.limits.attempts.as_ref().or(usual);
                attempts.is_some_and(|attempts| attempts.value > 1)
            }
            StateKindDraft::Run(job) => names.agent.is_none_or(|agent| {
                agent.jobs.iter().any(|it| it.name == job && it.governed.calls())
            }),
            StateKindDraft::FanOut { run, .. } => names.agent.is_none_or(|agent| {
                agent.jobs.iter().any(|it| it.name == run.as_str() && it.governed.calls())
            }),
            StateKindDraft::Decide(_)
            | StateKindDraft::Await(_)
            | StateKindDraft::Final(_)
            | StateKindDraft::BetweenAttemptsOf(_)
            | StateKindDraft::WhileAsking(_) => false,
        },
    );
    if !fits {
        let (what, hint) = if asking {
            ("never asks a person", "name a state that starts tool calls")
        } else {
            ("has a single attempt", "name a state with `attempts` above 1")
        };
        found.add(Code::LabelOf, of.span, format!("state `{}` {what}", **of), hint);
    }
    id
}

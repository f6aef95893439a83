//! Reading one `[state.NAME]` table.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use toml::de::DeValue;

use super::{
    super::draft::{
        AttemptLimits, EdgeDraft, Name, Spanned, StateDraft, StateKindDraft, ToolsDraft,
    },
    keys::{self, Keys},
    limits, one_of,
};
use crate::{code::Code, diagnostic::Findings};

pub(super) fn read(name: Name, value: Spanned<&DeValue<'_>>, found: &mut Findings) -> StateDraft {
    keys::well_named(&name, "a state", found);
    let mut state = StateDraft {
        kind: None,
        limits: AttemptLimits::default(),
        tools: None,
        with: None,
        places: BTreeMap::new(),
        on: Vec::new(),
        name,
    };
    let Some(table) = keys::table(&value, found) else { return state };
    let title = format!("state `{}`", *state.name);
    let mut keys = Keys::new(table.value, state.name.span, &title);
    state.kind = does(&mut keys, &state.name, found);
    state.limits = limits(&mut keys, found);
    state.tools = keys.optional(found, "tools", tools);
    if let Some((with, places)) = keys.optional(found, "with", keys::json) {
        (state.with, state.places) = (Some(with), places);
    }
    if let Some(on) = keys.optional(found, "on", keys::table) {
        state.on =
            Keys::in_order(&on).map(|(outcome, value)| edge(outcome, &value, found)).collect();
    }
    keys.finish(found);
    state
}

/// Reads the one thing that the state does.
fn does(
    keys: &mut Keys<'_, '_>,
    name: &Name,
    found: &mut Findings,
) -> Option<Spanned<StateKindDraft>> {
    let job =
        |name: Name, make: fn(String) -> StateKindDraft| Spanned::new(make(name.value), name.span);
    let mut given: Vec<(&str, Option<Spanned<StateKindDraft>>)> = Vec::new();
    for (key, make) in [
        ("run", StateKindDraft::Run as fn(String) -> StateKindDraft),
        ("decide", StateKindDraft::Decide),
        ("between_attempts_of", StateKindDraft::BetweenAttemptsOf),
        ("while_asking", StateKindDraft::WhileAsking),
    ] {
        let read = keys.optional(found, key, |value, found| Some(keys::name(value, found)));
        given.extend(read.map(|read| (key, read.map(|name| job(name, make)))));
    }
    let read = keys.optional(found, "await", |value, found| {
        Some(
            keys::names(value, found)
                .map(|names| Spanned::new(StateKindDraft::Await(names), value.span)),
        )
    });
    given.extend(read.map(|read| ("await", read)));
    let read = keys.optional(found, "fan_out", |value, found| Some(fan_out(value, found)));
    given.extend(read.map(|read| ("fan_out", read)));
    let read = keys.optional(found, "final", |value, found| {
        Some(
            one_of(value, found)
                .map(|end| Spanned::new(StateKindDraft::Final(end.value), end.span)),
        )
    });
    given.extend(read.map(|read| ("final", read)));

    if given.len() == 1 {
        return given.pop().and_then(|(_, does)| does);
    }
    let message = if given.is_empty() {
        format!("state `{}` does nothing", **name)
    } else {
        let names: Vec<String> = given.iter().map(|(key, _)| format!("`{key}`")).collect();
        format!("state `{}` does several things: {}", **name, names.join(", "))
    };
    let hint = "give it exactly one of `run`, `decide`, `await`, `fan_out`, `final`";
    found.add(Code::NotOneThing, name.span, message, hint);
    None
}

fn fan_out(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Spanned<StateKindDraft>> {
    let table = keys::table(value, found)?;
    let mut keys = Keys::new(table.value, table.span, "`fan_out`");
    let over = keys.required(found, "over", keys::name);
    let run = keys.required(found, "run", keys::name);
    let join = keys.required(found, "join", keys::name);
    let max_parallel = keys.required(found, "max_parallel", keys::small);
    let max_items = keys.required(found, "max_items", keys::small);
    keys.finish(found);
    let (max_parallel, max_items) = (max_parallel?, max_items?);
    if max_parallel.value > max_items.value {
        let hint = "lower `max_parallel` to `max_items`";
        found.add(Code::BadValue, max_parallel.span, "`max_parallel` is above `max_items`", hint);
    }
    let fan_out = StateKindDraft::FanOut {
        over: over?,
        run: run?,
        join: join?,
        max_parallel: max_parallel.value,
        max_items: max_items.value,
    };
    Some(Spanned::new(fan_out, value.span))
}

fn tools(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Spanned<ToolsDraft>> {
    let tools = match value.as_str() {
        Some("all") => ToolsDraft::All,
        Some("none") => ToolsDraft::None,
        Some(text) => {
            let message = format!("`{text}` is not known here");
            let hint = "write `\"all\"`, `\"none\"` or a list of tools";
            found.add(Code::BadValue, value.span, message, hint);
            return None;
        }
        None => ToolsDraft::Only(keys::names(value, found)?),
    };
    Some(Spanned::new(tools, value.span))
}

/// Reads `on.X = "state"` or `on.X = { to = "state", spend = "budget" }`.
fn edge(outcome: Name, value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> EdgeDraft {
    if value.as_str().is_some() {
        return EdgeDraft { outcome, to: keys::name(value, found), spend: None };
    }
    let Some(table) = value.as_table() else {
        let message = format!("expected a state, found {}", value.type_str());
        let hint = "write `\"state\"` or `{ to = \"state\", spend = \"budget\" }`";
        found.add(Code::WrongType, value.span, message, hint);
        return EdgeDraft { outcome, to: None, spend: None };
    };
    let title = format!("`on.{}`", *outcome);
    let mut keys = Keys::new(table, value.span, &title);
    let to = keys.required(found, "to", keys::name);
    let spend = keys.optional(found, "spend", keys::name);
    keys.finish(found);
    EdgeDraft { outcome, to, spend }
}

//! From TOML to a draft: shape and types only, every complaint with its place.

mod keys;
mod state;

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use keys::{Keys, duration, money};
use serde::de::{DeserializeOwned, IntoDeserializer, value::StrDeserializer};
use toml::de::{DeTable, DeValue};

use super::{
    Charge, ScreenStall, StuckThresholds,
    draft::{AnyDraft, AttemptLimits, Backoff, BudgetDraft, ChartDraft, Name, Spanned},
};
use crate::{
    code::Code,
    diagnostic::{Findings, Span},
};

/// Reads a chart file. The draft is complete only if nothing was found.
pub(crate) fn read(source: &str, found: &mut Findings) -> ChartDraft {
    let (document, errors) = DeTable::parse_recoverable(source);
    for error in &errors {
        let span = error.span().unwrap_or_default();
        let span = Span { start: span.start, end: span.end };
        let message = format!("invalid TOML: {}", error.message());
        found.add(Code::Syntax, span, message, "see https://toml.io for the format");
    }
    if !errors.is_empty() {
        return ChartDraft::default();
    }
    let mut keys = Keys::new(document.get_ref(), Span::default(), "the chart");
    let mut draft = ChartDraft {
        chart: keys.required(found, "chart", keys::name).unwrap_or_default(),
        version: keys.required(found, "version", keys::count).map_or(1, |version| version.value),
        jobs: keys
            .optional(found, "jobs", keys::name)
            .unwrap_or_else(|| Spanned::new("builtin".to_owned(), Span::default())),
        start: keys.required(found, "start", keys::name),
        authority: keys.required(found, "authority", one_of).map(|it| it.value),
        ..ChartDraft::default()
    };
    if let Some(table) = keys.optional(found, "slots", keys::table) {
        let slots = Keys::in_order(&table);
        let slot = |(name, value)| Some((name, keys::value(&value, found)?));
        draft.slots = slots.filter_map(slot).collect();
    }
    let hint = "add a table that says where `cancel` leads:\n[any]\ncancel = \"STATE\"";
    let any = keys.required_so(found, "any", hint, keys::table);
    if let Some(table) = keys.optional(found, "budget", keys::table) {
        draft.budgets =
            Keys::in_order(&table).filter_map(|(name, value)| budget(name, value, found)).collect();
    }
    if let Some(table) = keys.optional(found, "stuck", keys::table) {
        draft.stuck = stuck(Keys::new(table.value, table.span, "`[stuck]`"), found);
    }
    if let Some(table) = keys.optional(found, "defaults", keys::table) {
        let mut keys = Keys::new(table.value, table.span, "`[defaults]`");
        draft.defaults = limits(&mut keys, found);
        keys.finish(found);
    }
    if let Some(table) = any {
        let mut keys = Keys::new(table.value, table.span, "`[any]`");
        draft.any = AnyDraft {
            cancel: keys.required(found, "cancel", keys::name),
            cancel_turn: keys.optional(found, "cancel_turn", keys::name),
            shutdown: keys.optional(found, "shutdown", keys::name),
        };
        keys.finish(found);
    }
    let hint = "add a table `[state.NAME]` for each state, in the order in which a run enters them";
    if let Some(table) = keys.required_so(found, "state", hint, keys::table) {
        draft.states =
            Keys::in_order(&table).map(|(name, value)| state::read(name, value, found)).collect();
    }
    keys.finish(found);
    draft
}

fn budget(name: Name, value: Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<BudgetDraft> {
    let table = keys::table(&value, found)?;
    keys::well_named(&name, "a budget", found);
    let title = format!("budget `{}`", *name);
    let mut keys = Keys::new(table.value, name.span, &title);
    let charge = keys.optional(found, "charge", one_of::<Charge>).map(|charge| charge.value);
    let max = match charge {
        Some(Charge::Time) => keys.required(found, "max", duration),
        Some(Charge::Money) => keys.required(found, "max", money),
        _ => keys.required(found, "max", keys::count),
    };
    if charge == Some(Charge::Time)
        && let Some(max) = &max
        && max.value == 0
    {
        let hint = "remove the budget, or allow some time";
        found.add(Code::BadValue, max.span, "a run without any time could not start", hint);
    }
    let budget = BudgetDraft {
        max: max.map(|max| max.value).unwrap_or_default(),
        charge,
        reset: keys.optional(found, "reset", keys::name),
        otherwise: keys.required(found, "else", keys::name),
        name,
    };
    keys.finish(found);
    Some(budget)
}

fn stuck(mut keys: Keys<'_, '_>, found: &mut Findings) -> StuckThresholds {
    let mut stuck = StuckThresholds::default();
    if let Some(enable) = keys.optional(found, "enable", keys::flag) {
        stuck.enable = enable.value;
    }
    if let Some(reset) = keys.optional(found, "reset_on_phase", keys::flag) {
        stuck.reset_on_phase = reset.value;
    }
    let thresholds: [(&str, &mut Option<u32>); 10] = [
        ("identical_call", &mut stuck.identical_call),
        ("identical_query", &mut stuck.identical_query),
        ("same_error", &mut stuck.same_error),
        ("failing_tool", &mut stuck.failing_tool),
        ("oscillation", &mut stuck.oscillation),
        ("no_progress", &mut stuck.no_progress),
        ("steps_in_state", &mut stuck.steps_in_state),
        ("duplicate_message", &mut stuck.duplicate_message),
        ("monologue", &mut stuck.monologue),
        ("unparsable", &mut stuck.unparsable),
    ];
    for (key, slot) in thresholds {
        *slot = keys.optional(found, key, keys::positive).map(|it| it.value);
    }
    let sizes: [(&str, &mut u32); 3] = [
        ("progress_check_interval", &mut stuck.progress_check_interval),
        ("max_recent_actions", &mut stuck.max_recent_actions),
        ("max_recent_errors", &mut stuck.max_recent_errors),
    ];
    for (key, slot) in sizes {
        if let Some(size) = keys.optional(found, key, keys::positive) {
            *slot = size.value;
        }
    }
    if let Some(table) = keys.optional(found, "screen_stall", keys::table) {
        let mut ladder = Keys::new(table.value, table.span, "`screen_stall`");
        let mut rung = |key| ladder.required(found, key, keys::positive).map(|it| it.value);
        if let (Some(warn), Some(switch), Some(restart)) =
            (rung("warn"), rung("switch"), rung("restart"))
        {
            stuck.screen_stall = Some(ScreenStall { warn, switch, restart });
        }
        ladder.finish(found);
    }
    keys.finish(found);
    stuck
}

/// Reads the limits of attempts, which states and `[defaults]` share.
fn limits(keys: &mut Keys<'_, '_>, found: &mut Findings) -> AttemptLimits {
    let limits = AttemptLimits {
        timeout: keys.optional(found, "timeout", duration),
        attempts: keys.optional(found, "attempts", keys::small),
        backoff: keys.optional(found, "backoff", backoff),
        hint_cap: keys.optional(found, "hint_cap", duration),
        ask_timeout: keys.optional(found, "ask_timeout", duration),
    };
    if let Some(timeout) = limits.timeout.as_ref().filter(|timeout| timeout.value == 0) {
        let hint = "give it at least `\"1ms\"`";
        found.add(Code::BadValue, timeout.span, "the duration is zero", hint);
    }
    limits
}

fn backoff(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Spanned<Backoff>> {
    let table = keys::table(value, found)?;
    let mut keys = Keys::new(table.value, table.span, "`backoff`");
    let base = keys.required(found, "base", duration);
    let cap = keys.required(found, "cap", duration);
    keys.finish(found);
    let (base, cap) = (base?, cap?);
    if cap.value < base.value {
        let hint = "the delay grows from `base` to `cap`";
        found.add(Code::BadValue, cap.span, "`cap` is below `base`", hint);
    }
    Some(Spanned::new(Backoff { base: base.value, cap: cap.value }, value.span))
}

/// Reads one of the names that a type lists, such as an authority.
fn one_of<T: DeserializeOwned>(
    value: &Spanned<&DeValue<'_>>,
    found: &mut Findings,
) -> Option<Spanned<T>> {
    let name = keys::name(value, found)?;
    let text: StrDeserializer<'_, serde::de::value::Error> =
        name.value.as_str().into_deserializer();
    match T::deserialize(text) {
        Ok(value) => Some(Spanned::new(value, name.span)),
        Err(error) => {
            let known: Vec<String> = quoted(&format!("{error}"));
            let hint = crate::diagnostic::did_you_mean(
                &name,
                known.iter().skip(1).map(String::as_str),
                "name",
            );
            found.add(Code::BadValue, name.span, format!("`{}` is not known here", *name), hint);
            None
        }
    }
}

/// Returns the names in back quotes; serde lists the known variants in that way.
fn quoted(message: &str) -> Vec<String> {
    message.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

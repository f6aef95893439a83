//! A chart as written: every name still a string, every value with its place.
//!
//! The TOML reader and the Rust builder both make one; only `verify` turns it into a `Chart`. The
//! chart's digest covers its JSON form, which has no positions.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use core::ops::Deref;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Authority, Charge, Disposition, StuckThresholds};
use crate::diagnostic::Span;

/// A value and its place in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T> Spanned<T> {
    pub(crate) const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

pub(crate) type Name = Spanned<String>;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ChartDraft {
    pub(crate) chart: Name,
    pub(crate) version: u32,
    pub(crate) jobs: Name,
    /// Missing only where a finding says so.
    pub(crate) start: Option<Name>,
    /// Missing only where a finding says so.
    pub(crate) authority: Option<Authority>,
    /// Slots that a run has from its start, besides those that every run has, with their defaults.
    /// Left out of the digest if there are none, as in older charts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) slots: Vec<(Name, serde_json::Value)>,
    pub(crate) budgets: Vec<BudgetDraft>,
    pub(crate) stuck: StuckThresholds,
    pub(crate) defaults: AttemptLimits,
    pub(crate) any: AnyDraft,
    pub(crate) states: Vec<StateDraft>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct BudgetDraft {
    pub(crate) name: Name,
    pub(crate) max: u64,
    pub(crate) charge: Option<Charge>,
    pub(crate) reset: Option<Name>,
    pub(crate) otherwise: Option<Name>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct AnyDraft {
    pub(crate) cancel: Option<Name>,
    pub(crate) cancel_turn: Option<Name>,
    pub(crate) shutdown: Option<Name>,
}

/// Limits of attempts, from a state or from `[defaults]`.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct AttemptLimits {
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) attempts: Option<Spanned<u16>>,
    pub(crate) backoff: Option<Spanned<Backoff>>,
    pub(crate) hint_cap: Option<Spanned<u64>>,
    pub(crate) ask_timeout: Option<Spanned<u64>>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Backoff {
    pub(crate) base: u64,
    pub(crate) cap: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StateDraft {
    pub(crate) name: Name,
    /// Missing only where a finding says so.
    #[serde(rename = "does")]
    pub(crate) kind: Option<Spanned<StateKindDraft>>,
    pub(crate) limits: AttemptLimits,
    pub(crate) tools: Option<Spanned<ToolsDraft>>,
    pub(crate) with: Option<Spanned<Box<RawValue>>>,
    /// Where the values of `with` are written, by their JSON pointers.
    #[serde(skip)]
    pub(crate) places: BTreeMap<String, Span>,
    pub(crate) on: Vec<EdgeDraft>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateKindDraft {
    Run(String),
    Decide(String),
    Await(Vec<Name>),
    FanOut { over: Name, run: Name, join: Name, max_parallel: u16, max_items: u16 },
    Final(Disposition),
    BetweenAttemptsOf(String),
    WhileAsking(String),
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolsDraft {
    None,
    All,
    Only(Vec<Name>),
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct EdgeDraft {
    pub(crate) outcome: Name,
    /// Missing only where a finding says so.
    pub(crate) to: Option<Name>,
    pub(crate) spend: Option<Name>,
}

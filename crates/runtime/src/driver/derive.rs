//! The data stored beside an entry's line: derived when the line is written, and again when the
//! journal is replayed.

use pointsman_kernel::{
    chart::{Chart, Disposition},
    erased::{AnyRun, AppliedStep},
    run::Core,
};

use super::work::{StartedOrder, orders};
use crate::store::NewPrompt;

/// The data of a step beside its line.
pub(crate) struct Derived {
    /// The state that the run is in now.
    pub(crate) state: Box<str>,
    /// How it ended.
    pub(crate) ended: Option<Disposition>,
    /// When it must be woken, in milliseconds since its first entry.
    pub(crate) wake: Option<u64>,
    /// What models are shown.
    pub(crate) prompts: Vec<NewPrompt>,
}

impl Derived {
    /// Derives it from the run after the step and from the step's orders.
    pub(super) fn of(chart: &Chart, core: &Core, orders: &[StartedOrder]) -> Self {
        Self {
            state: chart.state_name(core.state).into(),
            ended: core.ended,
            wake: core.wake.map(|wake| wake.0),
            prompts: orders.iter().filter_map(StartedOrder::kept).collect(),
        }
    }

    /// Derives it again from a step of a journal that is folded.
    pub(crate) fn again(chart: &Chart, run: &dyn AnyRun, stepped: &AppliedStep) -> Self {
        Self::of(chart, run.core(), &orders(chart, run, stepped))
    }
}

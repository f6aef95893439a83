//! A chart as an outline: its states in the order of the file, each with its ways out.

use pointsman_kernel::chart::{Chart, Route, StateKind};

/// A chart's states.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ChartOutline {
    /// In the order of the file.
    pub(crate) states: Vec<StateOutline>,
}

/// A state, and its ways out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct StateOutline {
    /// Its name.
    pub(crate) name: Box<str>,
    /// What it does, in a word or two.
    pub(crate) does: String,
    /// Its outcomes.
    pub(crate) ways: Vec<OutlineWay>,
}

/// A way out of a state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct OutlineWay {
    /// The outcome.
    pub(crate) outcome: Box<str>,
    /// The state that it leads to.
    pub(crate) to: Box<str>,
    /// The budget that it spends.
    pub(crate) spends: Option<Box<str>>,
}

impl ChartOutline {
    pub(crate) fn of(chart: &Chart) -> Self {
        let way = |route: &Route| OutlineWay {
            outcome: route.name().into(),
            to: chart.state_name(route.edge().to).into(),
            spends: route.edge().spend.and_then(|id| Some(chart.budget(id)?.name().into())),
        };
        let states = chart.states().iter().map(|state| StateOutline {
            name: state.name().into(),
            does: does(chart, state.kind()),
            ways: state.routes().iter().map(way).collect(),
        });
        Self { states: states.collect() }
    }
}

fn does(chart: &Chart, kind: &StateKind) -> String {
    match kind {
        StateKind::Run(_) => "run".into(),
        StateKind::Decide(_) => "decide".into(),
        StateKind::Await { .. } => "await".into(),
        StateKind::FanOut { .. } => "fan out".into(),
        StateKind::Final(disposition) => format!("final: {}", disposition.name()),
        StateKind::BetweenAttemptsOf(of) => {
            format!("between attempts of {}", chart.state_name(*of))
        }
        StateKind::WhileAsking(of) => format!("while asking in {}", chart.state_name(*of)),
        _ => String::new(),
    }
}

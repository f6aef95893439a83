//! What an exploration found, for CI, for people, and against another run.

pub(crate) mod compare;
pub(crate) mod export;
mod html;
mod junit;
mod page;
#[cfg(test)]
mod tests;

use pointsman_agents::explore::map::{ActionResult, AppMap, Mishap, MishapKind};
use pointsman_kernel::chart::Disposition;
use pointsman_runtime::session::Session;
use pointsman_webdriver::exploration::{self, Exploration};
use serde_json::{Value, json};

pub(crate) use html::html;
pub(crate) use junit::junit;

use crate::{appmap, error::ExploreError, report::Error, run_argument::RunArgument};

/// Reads the exploration that is meant.
pub(crate) fn explored(session: &Session, which: &RunArgument) -> Result<Exploration, Error> {
    let row = which.find(session)?;
    let found = exploration::read(session, &row.id, None).map_err(Error::Session)?;
    found.ok_or_else(|| {
        let (run, agent) = (row.id.to_string(), row.agent.to_string());
        Error::Explore(ExploreError::NotExploration { run, agent })
    })
}

/// Returns whether a device or its app made the exploration fail.
pub(crate) fn failed(exploration: &Exploration) -> bool {
    exploration.run.ended.as_deref() == Some(Disposition::Failed.name())
}

/// Returns all of an exploration as data: its map, and what was done in order.
pub(crate) fn json(exploration: &Exploration) -> Value {
    let mut value = appmap::json(exploration);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("elapsed_ms".into(), json!(exploration.elapsed_ms));
        fields.insert("moves".into(), json!(exploration.map.moves));
    }
    value
}

/// Tells in a line what went wrong, and where.
pub(crate) fn told(map: &AppMap, mishap: &Mishap) -> String {
    let screen = mishap.screen.as_ref().map_or_else(|| "the start".into(), |id| map.name(id));
    let action = mishap.path.last().and_then(|at| map.moves.get(*at)).map(|it| it.action.name());
    let action = action.unwrap_or_default();
    match mishap.kind {
        MishapKind::Crash => format!("crash after {action} on {screen}"),
        MishapKind::NotResponding => format!("no response after {action} on {screen}"),
        MishapKind::DeadEnd => format!("dead end: nothing leads away from {screen}"),
    }
}

/// Tells the moves of a path, one in a line.
pub(crate) fn path(map: &AppMap, path: &[usize]) -> Vec<String> {
    let moves = path.iter().filter_map(|at| map.moves.get(*at));
    moves.map(|it| format!("{} → {}", it.action.name(), landing(map, &it.to))).collect()
}

/// Describes the result of an action.
pub(crate) fn landing(map: &AppMap, to: &ActionResult) -> String {
    match to {
        ActionResult::Screen(id) => map.name(id),
        ActionResult::Outside(package) => format!("another app ({package})"),
        ActionResult::Unknown => "not seen".into(),
        wrong => wrong.kind().map_or("", MishapKind::name).into(),
    }
}

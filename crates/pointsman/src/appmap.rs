//! The map of an explored app as a picture, for Graphviz, or as data.
//!
//! [`scene`] says what is drawn and where, `paint` and `style` write it. All numbers are whole
//! pixels, so the same run gives the same bytes everywhere.

mod paint;
mod scene;
mod style;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use pointsman_agents::explore::map::{ActionResult, AppMap, MishapKind};
use pointsman_webdriver::exploration::Exploration;
use serde_json::{Value, json};

pub(crate) use paint::{still, svg};

/// Screens that are drawn with a picture at most.
pub(crate) const MAX_PICTURES: usize = 50;

/// Returns an exploration in a line.
pub(crate) fn summary(exploration: &Exploration) -> String {
    let coverage = exploration.map.coverage();
    let count = |count: usize, one: &str, more: &str| {
        format!("{count} {}", if count == 1 { one } else { more })
    };
    format!(
        "{} in {}, {}; {} of {} actions tried, {} performed",
        count(coverage.screens, "screen", "screens"),
        count(coverage.activities, "activity", "activities"),
        count(coverage.edges, "edge", "edges"),
        coverage.actions_tried,
        coverage.actions_seen,
        coverage.actions,
    )
}

/// Returns the map as data.
pub(crate) fn json(exploration: &Exploration) -> Value {
    let Exploration { run, map, stopped, .. } = exploration;
    let dead: Vec<_> = map.dead_ends().collect();
    json!({
        "run": run.id.as_str(),
        "app": map.app,
        "recording": map.recording,
        "stopped": stopped,
        "coverage": map.coverage(),
        "screens": map.screens,
        "edges": map.edges,
        "crashes": crashes(map),
        "dead_ends": dead,
    })
}

/// Returns crashes and hangs as data, each with the actions that led there.
pub(crate) fn crashes(map: &AppMap) -> Vec<Value> {
    let wrong = map.mishaps.iter().filter(|it| it.kind != MishapKind::DeadEnd);
    let crash = wrong.map(|it| {
        let names = |path: &[usize]| -> Vec<String> {
            path.iter().filter_map(|at| Some(map.moves.get(*at)?.action.name())).collect()
        };
        json!({
            "kind": it.kind,
            "screen": it.screen,
            "key": it.key,
            "times": it.times,
            "otherwise": it.otherwise,
            "path": names(&it.path),
            "shortest": names(&map.shortest(it)),
        })
    });
    crash.collect()
}

/// Returns the map for Graphviz.
pub(crate) fn dot(exploration: &Exploration) -> String {
    let map = &exploration.map;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _: std::fmt::Result = write_dot(map, &mut text);
    text
}

fn write_dot(map: &AppMap, text: &mut String) -> std::fmt::Result {
    let dead: Vec<_> = map.dead_ends().collect();
    writeln!(text, "digraph {} {{", quoted(&map.app))?;
    writeln!(text, "  rankdir=LR; node [shape=box, style=rounded, fontname=\"sans-serif\"];")?;
    writeln!(text, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    for screen in &map.screens {
        let label = format!("{}\n{} of {} tried", screen.name(), screen.tried, screen.seen);
        let colour = if dead.contains(&&screen.id) { ", color=orange, penwidth=2" } else { "" };
        let (id, label) = (quoted(screen.id.as_str()), quoted(&label));
        writeln!(text, "  {id} [label={label}{colour}];")?;
    }
    for (at, edge) in map.edges.iter().enumerate() {
        let (to, extra) = match &edge.to {
            ActionResult::Screen(id) => (id.as_str().to_owned(), ""),
            ActionResult::Outside(package) => {
                writeln!(text, "  {} [style=dashed];", quoted(package))?;
                (package.clone(), ", style=dashed")
            }
            ActionResult::Unknown => continue,
            wrong => {
                let name = wrong.kind().map_or("", MishapKind::name);
                writeln!(text, "  \"wrong {at}\" [label={}, color=red];", quoted(name))?;
                (format!("wrong {at}"), ", color=red")
            }
        };
        let label = format!("{} ×{}", edge.action.name(), edge.times);
        let (from, to, label) = (quoted(edge.from.as_str()), quoted(&to), quoted(&label));
        writeln!(text, "  {from} -> {to} [label={label}{extra}];")?;
    }
    writeln!(text, "}}")
}

/// Writes a text as Graphviz wants it.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{}\"", text.replace(char::is_control, " "))
}

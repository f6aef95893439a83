//! An exploration as one HTML page that needs nothing from elsewhere.

use std::fmt::{Result, Write};

use pointsman_agents::explore::map::{ActionResult, AppMap, Mishap, MishapKind, PerformedAction};
use pointsman_webdriver::exploration::Exploration;

use super::{landing, page::SHEET, path, told};
use crate::{
    appmap,
    draw::{Theme, text::escape},
    format::{counted, duration},
};

/// Rows of the timeline that are shown initially.
const ROWS: usize = 60;

/// Returns a page with the map, the screens, what went wrong, and what was done in order.
pub(crate) fn html(exploration: &Exploration) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _: Result = write(exploration, &mut page);
    page
}

fn write(it: &Exploration, page: &mut String) -> Result {
    let map = &it.map;
    let app = escape(&map.app);
    writeln!(page, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(page, "<title>Exploration of {app}</title>\n<style>\n{SHEET}</style>\n</head>")?;
    writeln!(page, "<body>\n<main>\n<h1>Exploration of {app}</h1>")?;
    let time = duration(it.elapsed_ms);
    writeln!(page, "<p class=\"faint\">Run <code>{}</code>, {time}.", it.run.id)?;
    if let Some(why) = &it.stopped {
        writeln!(page, "Stopped: {}.", escape(why.trim_end_matches('.')))?;
    }
    writeln!(page, "</p>")?;
    if let Some(file) = &map.recording {
        let file = escape(file);
        writeln!(
            page,
            "<p class=\"warn\">A recording of an app was explored, not a device: <code>{file}</code></p>"
        )?;
    }
    figures(map, page)?;
    writeln!(
        page,
        "<nav><a href=\"#wrong\">What went wrong</a><a href=\"#map\">Map</a><a href=\"#screens\">Screens</a><a href=\"#timeline\">Timeline</a></nav>"
    )?;
    writeln!(page, "<h2 id=\"wrong\">What went wrong</h2>")?;
    if map.mishaps.is_empty() {
        writeln!(page, "<p>No crash, no hang and no dead end was seen.</p>")?;
    }
    for mishap in &map.mishaps {
        wrong(map, mishap, page)?;
    }
    writeln!(page, "<h2 id=\"map\">Map</h2>\n<div class=\"scroll\">")?;
    page.push_str(&appmap::svg(it, Theme::Auto));
    writeln!(page, "</div>\n<h2 id=\"screens\">Screens</h2>\n<div class=\"screens\">")?;
    screens(it, page)?;
    writeln!(page, "</div>\n<h2 id=\"timeline\">Timeline</h2>")?;
    timeline(map, page)?;
    writeln!(page, "</main>\n</body>\n</html>")
}

fn figures(map: &AppMap, page: &mut String) -> Result {
    let coverage = map.coverage();
    let count = |kind: MishapKind| map.mishaps.iter().filter(|it| it.kind == kind).count();
    let share = (coverage.actions_tried * 100).checked_div(coverage.actions_seen).unwrap_or(0);
    writeln!(page, "<div class=\"figures\">")?;
    let figure = |value: usize, one: &str, more: &str, class: &str, page: &mut String| {
        let name = if value == 1 { one } else { more };
        let class = if value == 0 { "" } else { class };
        writeln!(page, "<div><b class=\"{class}\">{value}</b>{name}</div>")
    };
    figure(coverage.screens, "screen", "screens", "", page)?;
    figure(coverage.activities, "activity", "activities", "", page)?;
    figure(coverage.edges, "edge", "edges", "", page)?;
    figure(coverage.actions, "action performed", "actions performed", "", page)?;
    let tried = format!("{} of {} actions tried", coverage.actions_tried, coverage.actions_seen);
    writeln!(page, "<div><b>{share} %</b>{tried}</div>")?;
    figure(count(MishapKind::Crash), "crash", "crashes", "bad", page)?;
    figure(count(MishapKind::NotResponding), "hang", "hangs", "bad", page)?;
    figure(count(MishapKind::DeadEnd), "dead end", "dead ends", "warn", page)?;
    writeln!(page, "</div>")
}

fn wrong(map: &AppMap, mishap: &Mishap, page: &mut String) -> Result {
    let end = if mishap.kind == MishapKind::DeadEnd { " end" } else { "" };
    writeln!(page, "<div class=\"wrong{end}\"><h3>{}</h3>", capital(&escape(&told(map, mishap))))?;
    if mishap.kind != MishapKind::DeadEnd {
        let (times, all) = (mishap.times, mishap.times.saturating_add(mishap.otherwise));
        writeln!(
            page,
            "<p class=\"faint\">happened {times} of the {all} times that this was done there</p>"
        )?;
    }
    let shortest = map.shortest(mishap);
    writeln!(page, "<p>The shortest known way:</p>")?;
    steps(map, &shortest, page)?;
    if shortest != mishap.path {
        let length = mishap.path.len().try_into().unwrap_or(u64::MAX);
        let actions = counted(length, "action");
        writeln!(page, "<details><summary>As first seen: {actions}</summary>")?;
        steps(map, &mishap.path, page)?;
        writeln!(page, "</details>")?;
    }
    writeln!(page, "</div>")
}

fn steps(map: &AppMap, moves: &[usize], page: &mut String) -> Result {
    writeln!(page, "<ol>")?;
    for step in path(map, moves) {
        writeln!(page, "<li>{}</li>", escape(&step))?;
    }
    writeln!(page, "</ol>")
}

fn screens(it: &Exploration, page: &mut String) -> Result {
    let map = &it.map;
    for screen in &map.screens {
        let id = escape(screen.id.as_str());
        writeln!(page, "<div class=\"screen\" id=\"s-{id}\">")?;
        page.push_str(&appmap::still(it, screen));
        writeln!(page, "<div><h3>{}</h3>", escape(&screen.name()))?;
        let activity = screen.activity.rsplit('.').next().unwrap_or_default();
        writeln!(page, "<p class=\"faint\">{}</p>", escape(activity))?;
        let (tried, seen, idle) = (screen.tried, screen.seen, screen.idle);
        writeln!(page, "<p>{tried} of {seen} actions tried, {idle} without effect</p>")?;
        let (first, visits) = (screen.first, counted(screen.visits.into(), "visit"));
        writeln!(page, "<p>first seen after action {first}, {visits}</p>")?;
        if map.dead_ends().any(|dead| *dead == screen.id) {
            writeln!(page, "<p class=\"warn\">dead end</p>")?;
        }
        writeln!(page, "<p class=\"faint\"><code>{id}</code></p></div></div>")?;
    }
    Ok(())
}

fn timeline(map: &AppMap, page: &mut String) -> Result {
    if map.moves.is_empty() {
        return writeln!(page, "<p>Nothing was done.</p>");
    }
    let (first, rest) = map.moves.split_at(map.moves.len().min(ROWS));
    rows(map, first, 1, page)?;
    if !rest.is_empty() {
        writeln!(page, "<details><summary>{} more actions</summary>", rest.len())?;
        rows(map, rest, first.len() + 1, page)?;
        writeln!(page, "</details>")?;
    }
    Ok(())
}

fn rows(map: &AppMap, moves: &[PerformedAction], from: usize, page: &mut String) -> Result {
    writeln!(
        page,
        "<table><tr><th class=\"number\">#</th><th class=\"number\">at</th><th>on</th><th>action</th><th>led to</th></tr>"
    )?;
    for (number, done) in (from..).zip(moves) {
        let down = if done.to.kind().is_some() { " class=\"down\"" } else { "" };
        let on = done.from.as_ref().map(|id| map.name(id)).unwrap_or_default();
        let to =
            if done.from.as_ref().is_some_and(|from| done.to == ActionResult::Screen(from.clone()))
            {
                "(stayed)".into()
            } else {
                landing(map, &done.to)
            };
        let (on, action, to) = (escape(&on), escape(&done.action.name()), escape(&to));
        let at = duration(done.at);
        writeln!(
            page,
            "<tr{down}><td class=\"number\">{number}</td><td class=\"number\">{at}</td><td>{on}</td><td>{action}</td><td>{to}</td></tr>"
        )?;
    }
    writeln!(page, "</table>")
}

/// Begins a text with a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

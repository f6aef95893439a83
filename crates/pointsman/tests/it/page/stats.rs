//! The statistics page: every cell is a figure of the timelines of the runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::rig::Rig;
use crate::home::Home;

/// Runs of every agent; one attempt is repeated, and one run belongs to a chart of the user's own.
const KEPT: [&str; 9] = [
    "builtin-twice-01",
    "builtin-note-03",
    "chat-09",
    "code-01",
    "explore-01",
    "form-01",
    "research-01",
    "research-05",
    "research-06",
];
/// Words of outcomes that are drawn as failures.
const WRONG: [&str; 9] =
    ["fail", "timeout", "stuck", "denied", "budget", "beyond", "cancel", "fault", "error"];

/// What the timeline of a run says.
#[derive(Default)]
struct Told {
    /// Its agent, its chart, and the model that it began with.
    group: (String, String, Option<String>),
    ended: String,
    /// Every stay in a state that was left, in milliseconds.
    stays: Vec<(String, u64)>,
    /// The old state, the reason, the new state.
    edges: Vec<[Value; 3]>,
    visits: u64,
    retries: u64,
    model_calls: u64,
    tool_calls: u64,
    tokens: u64,
    money: u64,
}

/// A figure of a run.
type Figure = fn(&Told) -> u64;

impl Told {
    fn of(rig: &Rig, run: &str) -> Self {
        let detail = rig.server.json(&format!("/api/v1/runs/{run}"));
        let page = rig.server.json(&format!("/api/v1/runs/{run}/timeline?limit=1000"));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let model = &detail["place"]["model"];
        let mut told = Self {
            group: (
                text(&detail["agent"]).expect("a name"),
                text(&detail["chart"]).expect("a name"),
                text(model).or_else(|| text(&model["name"])),
            ),
            ended: text(&detail["disposition"]).unwrap_or_else(|| "open".into()),
            ..Self::default()
        };
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        for item in page["items"].as_array().expect("a list") {
            match item["kind"].as_str().expect("a name") {
                "transition" => {
                    told.visits += u64::from(!item["to"].is_null());
                    if let Some(from) = text(&item["from"]) {
                        told.stays.push((from, number(&item["ms"])));
                    }
                    told.edges.push(["from", "reason", "to"].map(|key| item[key].clone()));
                }
                "retrying" => told.retries += 1,
                "started" if item["only_checked"] != json!(true) => {
                    told.model_calls += u64::from(item["by"] == "model");
                    told.tool_calls += u64::from(item["by"] == "tool");
                }
                "answered" => {
                    told.tokens += number(&item["usage"]["tokens"]);
                    told.money += number(&item["usage"]["money"]);
                }
                _ => {}
            }
        }
        told
    }
}

/// Returns half of some values, and 95 of a hundred: the smallest value with this share at or below it.
fn spread(mut values: Vec<u64>) -> [u64; 2] {
    values.sort_unstable();
    [50, 95].map(|percent| values[(values.len() * percent).div_ceil(100) - 1])
}

/// Writes numbers as the page does.
fn shown(rig: &Rig, how: &str, numbers: &[u64]) -> Vec<String> {
    let body = format!("return import('/page/dom.js').then((it) => arguments[0].map(it.{how}))");
    serde_json::from_value(rig.script_with(&body, json!(numbers))).expect("they are texts")
}

/// Returns the texts of the cells of the table whose first column has this title, row by row.
fn table(rig: &Rig, title: &str) -> Vec<Vec<String>> {
    let rows = rig.script_with(
        "const it = [...document.querySelectorAll('table')]\
         .find((it) => it.querySelector('th').textContent === arguments[0]); \
         return [...it.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))",
        json!(title),
    );
    serde_json::from_value(rows).expect("they are texts")
}

/// Returns the figure and the note of a tile.
fn tile(rig: &Rig, name: &str) -> [String; 2] {
    let found = rig.script_with(
        "const it = [...document.querySelectorAll('.tile')]\
         .find((it) => it.querySelector('.label').textContent === arguments[0]); \
         return [it.querySelector('.figure').textContent, it.querySelector('.dim')?.textContent ?? '']",
        json!(name),
    );
    serde_json::from_value(found).expect("they are texts")
}

/// A home with a run that the governor stops: its model asks for the same search again and again.
fn home() -> Home {
    let home = Home::new("page-figures");
    let search = r#"{"action":"tool","tool_name":"context.fts_search","args":{"query":"green"}}"#;
    let turn = |phase: &str, text: &str| {
        let when = format!("Current Phase: {phase}");
        let usage = json!({ "input": 100, "output": 20 });
        format!("{}\n", json!({ "when": when, "text": text, "usage": usage }))
    };
    let round = turn("ANALYZING", "It is about signals.") + &turn("DECIDING", search);
    home.write("script.jsonl", &round.repeat(3));
    let run = ["run", "research", "What does a red signal mean?", "--dir", "docs"];
    let (code, _, told) = home.pointsman(&[&run[..], &["--model", "script:script.jsonl"]].concat());
    assert_eq!(code, 5, "{told}");
    home
}

#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn every_cell_is_a_figure_of_the_timelines() {
    let rig = Rig::new(home(), &KEPT);
    let told: Vec<Told> = rig.runs().iter().map(|(run, _)| Told::of(&rig, run)).collect();
    rig.open("/stats?chart=research");
    rig.wait("document.querySelector('.chart .count')");
    // The tiles.
    let stuck = told.iter().filter(|it| it.ended == "stuck").count();
    let ended = told.iter().filter(|it| it.ended != "open").count();
    assert!(stuck > 0, "a run is stuck");
    let per_mille = stuck * 1_000 / ended;
    let percent = format!("{}.{} %", per_mille / 10, per_mille % 10);
    assert_eq!(tile(&rig, "Stuck")[0], percent);
    let all = |of: fn(&Told) -> u64| told.iter().map(of).sum::<u64>();
    let sums = [all(|it| it.model_calls), all(|it| it.tool_calls), all(|it| it.tokens)];
    for (name, sum) in ["Model calls", "Tool calls", "Tokens"].into_iter().zip(sums) {
        assert_eq!(tile(&rig, name)[0], shown(&rig, "grouped", &[sum])[0], "{name}");
    }
    let saved = rig.server.json("/api/v1/stats")["tokens_saved"].clone();
    let number = |key: &str| saved[key].as_u64().expect("a number");
    assert!(number("tokens") > 0 && number("tokens") == 120 * number("model_calls"), "{saved}");
    let figures = shown(&rig, "grouped", &[number("tokens"), number("model_calls")]);
    let note = format!("at most {} model calls that 1 stuck run did not make", figures[1]);
    assert_eq!(tile(&rig, "Tokens saved"), [format!("≈ {}", figures[0]), note]);
    // Time in each state of the chart, the longest together first.
    let mut stays: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (state, ms) in told.iter().filter(|it| it.group.1 == "research").flat_map(|it| &it.stays) {
        stays.entry(state).or_default().push(*ms);
    }
    let rows = table(&rig, "State");
    assert_eq!(rows.len(), stays.len(), "{rows:?}");
    for (state, all) in stays {
        let row = rows.iter().find(|row| row[0] == state).expect("the state has a row");
        let [median, p95] = spread(all.clone());
        let count = u64::try_from(all.len()).expect("a few");
        assert_eq!(row[1..2], shown(&rig, "grouped", &[count])[..], "{state}");
        assert_eq!(
            row[2..],
            shown(&rig, "duration", &[median, p95, all.iter().sum()])[..],
            "{state}"
        );
    }
    costs(&rig, &told);
    findings(&rig);
    rig.picture("stats-figures");
}

/// What the runs of each agent, chart and model use, beside the certificate.
fn costs(rig: &Rig, told: &[Told]) {
    let mut groups: BTreeMap<_, Vec<&Told>> = BTreeMap::new();
    for run in told {
        groups.entry(run.group.clone()).or_default().push(run);
    }
    let rows = table(rig, "Agent");
    let stats = rig.server.json("/api/v1/stats");
    let proved = stats["costs"].as_array().expect("a list");
    assert_eq!(rows.len(), groups.len(), "{rows:?}");
    assert!(told.iter().any(|run| run.retries > 0), "an attempt was repeated");
    for ((agent, chart, model), runs) in groups {
        let name =
            if agent == chart { format!("{agent} v") } else { format!("{agent} · {chart} v") };
        let model = model.unwrap_or_else(|| "–".into());
        let row = rows.iter().find(|row| row[0].starts_with(&name) && row[1] == model);
        let row = row.unwrap_or_else(|| panic!("{name} {model} has no row: {rows:?}"));
        let count = runs.len();
        let stuck = runs.iter().filter(|run| run.ended == "stuck").count();
        let percent = (stuck * 200 + count) / (2 * count);
        let retries: u64 = runs.iter().map(|run| run.retries).sum();
        assert_eq!(row[2..5], [count.to_string(), format!("{percent} %"), retries.to_string()]);
        let proved = proved.iter().find(|it| it["agent"] == *agent && it["chart"] == *chart);
        let certificate = &proved.expect("the group is counted")["certificate"];
        let whole = certificate["per"] == "run";
        let figures: [(Figure, Option<u64>); 4] = [
            (|it| it.visits, certificate["steps"].as_u64().filter(|_| whole)),
            (|it| it.model_calls, certificate["model_calls"].as_u64().filter(|_| whole)),
            (|it| it.tool_calls, certificate["tool_calls"].as_u64().filter(|_| whole)),
            (|it| it.tokens, certificate["tokens"].as_u64()),
        ];
        for (at, (of, bound)) in figures.into_iter().enumerate() {
            let both = shown(rig, "grouped", &spread(runs.iter().map(|run| of(run)).collect()));
            let bound = bound.map_or_else(String::new, |bound| {
                format!(" of {}", shown(rig, "grouped", &[bound])[0])
            });
            assert_eq!(row[5 + at], format!("{}{bound}", both.join(" / ")), "{name}, column {at}");
        }
        let money = shown(rig, "money", &spread(runs.iter().map(|run| run.money).collect()));
        assert_eq!(row[9], money.join(" / "), "{name}");
    }
}

/// The governor's rule, where the call was judged.
fn findings(rig: &Rig) {
    let headings = "[...document.querySelectorAll('.stats-body h3')].map((it) => it.textContent)";
    let headings = rig.script(&format!("return {headings}"));
    assert_eq!(headings, json!(["Time in each state", "Transitions", "What the governor found"]));
    let rows = rig.script(
        "return [...[...document.querySelectorAll('.stats-body table')].at(2).querySelectorAll('tbody tr')]\
         .map((row) => [...row.children].map((cell) => cell.textContent))",
    );
    let rows: Vec<Vec<String>> = serde_json::from_value(rows).expect("they are texts");
    let stopped = rows.iter().find(|row| row[0] == "searching" && row[3] != "0");
    let stopped = stopped.unwrap_or_else(|| panic!("the search was stopped: {rows:?}"));
    assert_eq!((&*stopped[3], &*stopped[4]), ("1", "1"), "{rows:?}");
    assert!(!stopped[1].contains('_'), "{rows:?}");
}

/// Runs may have been removed since the figures were read.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn a_chart_without_a_run_has_figures_and_no_picture() {
    let rig = Rig::new(Home::new("page-no-picture"), &["research-05", "form-01"]);
    rig.open("/stats?chart=research");
    rig.wait("document.querySelector('.chart .count')");
    rig.intercept(
        "return at.pathname.endsWith('/runs') ? answer({ runs: [], next: null, damaged: [] }) : real(url, options);",
    );
    rig.enter(".row-head select", "form");
    rig.wait("document.querySelector('.stats-body .chart p')?.textContent.startsWith('No run of this chart is left')");
    assert!(rig.text(".stats-body table").contains("State"));
}

/// Arrows are as wide as they are frequent, and red if their outcome says that something failed.
#[test]
#[ignore = "needs a browser: cargo xtask test --only page"]
fn arrows_of_failures_are_red_and_frequent_ones_wide() {
    let rig = Rig::new(home(), &KEPT);
    let told: Vec<Told> = rig.runs().iter().map(|(run, _)| Told::of(&rig, run)).collect();
    rig.open("/stats?chart=research");
    rig.wait("document.querySelector('.chart .count')");
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for [from, reason, _] in
        told.iter().filter(|it| it.group.1 == "research").flat_map(|it| &it.edges)
    {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let (Some(from), Some(reason)) = (text(from), text(reason)) {
            *counts.entry((from, reason)).or_default() += 1;
        }
    }
    let arrows = rig.script(
        "const paint = (it) => { const style = getComputedStyle(it.querySelector('.way')); \
         return [style.stroke, parseFloat(style.strokeWidth)]; }; \
         return [...document.querySelectorAll('.chart .edge')].map((tag) => { \
           const line = document.querySelector(`.chart .line[data-arrow=\"${tag.dataset.arrow}\"]`); \
           return [tag.dataset.from, tag.dataset.outcomes.split(' '), tag.classList.contains('taken'), \
             tag.classList.contains('wrong'), ...paint(line)]; })",
    );
    let (mut red, mut plain) = (Vec::new(), Vec::new());
    for arrow in arrows.as_array().expect("a list") {
        let outcomes = arrow[1].as_array().expect("a list").iter().filter_map(Value::as_str);
        let from = arrow[0].as_str().expect("a name");
        let taken: Vec<(&str, u64)> = outcomes
            .filter_map(|it| Some((it, *counts.get(&(from.to_owned(), it.to_owned()))?)))
            .collect();
        assert_eq!(arrow[2], json!(!taken.is_empty()), "{arrow}");
        let failed = |(it, _): &(&str, u64)| WRONG.iter().any(|word| it.contains(word));
        assert_eq!(arrow[3], json!(taken.iter().any(failed)), "{arrow}");
        let count: u64 = taken.iter().map(|(_, count)| count).sum();
        if count > 0 {
            let width = arrow[5].as_f64().expect("a width");
            let list = if arrow[3] == json!(true) { &mut red } else { &mut plain };
            list.push((count, width, arrow[4].clone()));
        }
    }
    assert!(!red.is_empty() && plain.len() > 3, "{red:?} {plain:?}");
    for (_, _, colour) in &red {
        assert!(red.iter().all(|it| it.2 == *colour) && plain.iter().all(|it| it.2 != *colour));
    }
    let mut all = [red, plain].concat();
    all.sort_by_key(|it| it.0);
    let wider = |pair: &[(u64, f64, Value)]| {
        if pair[0].0 == pair[1].0 { pair[0].1 >= pair[1].1 } else { pair[0].1 < pair[1].1 }
    };
    assert!(all.windows(2).all(wider), "{all:?}");
    let texts = rig.script(
        "return [...document.querySelectorAll('.chart .count.wrong')].map((it) => it.textContent)",
    );
    assert!(!texts.as_array().expect("a list").is_empty(), "the counts of failures are marked");
    rig.picture("stats-arrows");
}

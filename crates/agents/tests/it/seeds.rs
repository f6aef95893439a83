//! `docs/seeds.md`: every row of every source document is an edge of a chart, and
//! the edge is walked; or it is a deviation, and its reason is given; or it is a test,
//! and the test is there.

use std::{collections::BTreeSet, fs, path::Path};

use pointsman_kernel::{chart::Chart, simulate::simulate};

use crate::{charts, matrix::leads, ways_there};

const DOCUMENT: &str = include_str!("../../../../docs/seeds.md");

struct Row<'d> {
    chart: &'d str,
    id: &'d str,
    here: &'d str,
}

/// Returns the rows of every table, by the chart of their section.
fn rows() -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    let mut chart = "";
    for line in DOCUMENT.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            chart = title.split(' ').next().unwrap_or_default();
        }
        let Some(cells) = line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |")) else {
            continue;
        };
        let cells: Vec<&str> = cells.split(" | ").collect();
        let [id, _, here] = cells[..] else { panic!("not three columns: {line}") };
        if id != "row" {
            rows.push(Row { chart, id, here });
        }
    }
    rows
}

/// Returns the texts in back quotes that are edges.
fn edges(here: &str) -> Vec<&str> {
    let quoted = here.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains("-->") || text.contains("~>")).collect()
}

/// Returns the texts in back quotes that are tests: a file, and a name in it.
fn tests(here: &str) -> Vec<(&str, &str)> {
    let quoted = here.split('`').skip(1).step_by(2);
    quoted.filter_map(|text| text.split_once("::")).collect()
}

#[test]
fn every_row_is_an_edge_a_test_or_a_reasoned_deviation() {
    let mut ids = BTreeSet::new();
    for row in rows() {
        assert!(ids.insert(row.id), "row {} comes twice", row.id);
        if let Some(reason) = row.here.strip_prefix("deviation:") {
            assert!(reason.trim().len() > 20, "row {} gives no reason", row.id);
            continue;
        }
        let found = edges(row.here).len() + tests(row.here).len();
        assert!(found > 0, "row {} has neither an edge nor a test nor a reason", row.id);
    }
}

#[test]
fn every_test_that_is_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    for row in rows() {
        for (file, name) in tests(row.here) {
            let text = fs::read_to_string(root.join(file));
            let text = text.unwrap_or_else(|error| panic!("row {}: {file}: {error}", row.id));
            let begins = format!("{name}(");
            let is_it = |after: &str| {
                after.split_once("fn ").is_some_and(|(_, it)| it.starts_with(&begins))
            };
            let mut marked = ["#[test]", "#[tokio::test"].into_iter();
            let there = marked.any(|mark| text.split(mark).skip(1).any(is_it));
            assert!(there, "row {}: `{file}` has no test `{name}`", row.id);
            found += 1;
        }
    }
    assert!(found > 60, "only {found} tests are named");
}

/// The sources have at least this many rows each; a map that lost some is incomplete.
#[test]
fn no_source_is_left_out() {
    for (letter, chart, least) in [
        ('E', "form", 100),
        ('A', "explore", 20),
        ('S', "research", 15),
        ('N', "code", 80),
        ('L', "chat", 95),
    ] {
        let count =
            rows().iter().filter(|row| row.chart == chart && row.id.starts_with(letter)).count();
        assert!(count >= least, "{chart} has only {count} rows");
    }
}

#[test]
fn every_edge_is_walked() {
    let charts = charts();
    let mut walked = 0;
    for row in rows() {
        let chart = charts.iter().find(|chart| chart.name() == row.chart);
        let chart = chart.unwrap_or_else(|| panic!("row {} is in no chart's section", row.id));
        for edge in edges(row.here) {
            walk(chart, row.id, edge);
            walked += 1;
        }
    }
    assert!(walked > 80, "only {walked} edges were walked");
}

fn walk(chart: &Chart, row: &str, edge: &str) {
    let fail = |why: &str| -> ! { panic!("row {row}: `{edge}`: {why}") };
    let state = |name: &str| {
        let id = chart.find(name).unwrap_or_else(|| fail(&format!("no state `{name}`")));
        (id, chart.state(id).expect("chart has the state"))
    };
    if let Some((from, rest)) = edge.split_once(" ~") {
        let (kind, label) = rest.split_once("~> ").unwrap_or_else(|| fail("not readable"));
        let (from, _) = state(from);
        let (label, _) = state(label);
        let found = match kind {
            "attempts" => chart.between_attempts(from) == Some(label),
            "asking" => chart.while_asking(from) == Some(label),
            other => {
                let budget = other.strip_prefix("else ").unwrap_or_else(|| fail("not readable"));
                let spends = |id| {
                    chart.state(from).is_some_and(|it| {
                        it.routes().iter().any(|way| way.edge().spend == Some(id))
                    })
                };
                chart.budget_ids().zip(chart.budgets()).any(|(id, it)| {
                    it.name() == budget
                        && it.otherwise() == label
                        && (it.charge().is_some() || spends(id))
                })
            }
        };
        assert!(found, "row {row}: `{edge}` is not so");
        return;
    }
    let (from, rest) = edge.split_once(" --").unwrap_or_else(|| fail("not readable"));
    let (outcome, to) = rest.split_once("--> ").unwrap_or_else(|| fail("not readable"));
    let (to, spends) = match to.split_once(" (spends ") {
        Some((to, budget)) => (to, Some(budget.trim_end_matches(')'))),
        None => (to, None),
    };
    let ways = ways_there(chart);
    if from == "*" {
        for (name, way) in &ways {
            if !state(name).1.is_final() {
                assert_eq!(
                    leads(chart, way, outcome).as_deref(),
                    Some(to),
                    "row {row}: from {name}"
                );
            }
        }
        return;
    }
    let (_, found) = state(from);
    let way = ways.get(from).unwrap_or_else(|| fail("the state cannot be reached"));
    let simulation = simulate(chart, way.iter().copied().chain([outcome]));
    assert!(simulation.rejected.is_none(), "row {row}: {:?}", simulation.rejected);
    assert_eq!(simulation.visited.last().map(|it| &**it), Some(to), "row {row}: `{edge}`");
    if let Some(budget) = spends {
        let spent =
            found.outcome(outcome).and_then(|it| found.route(it)).and_then(|it| it.edge().spend);
        let spent =
            spent.and_then(|id| chart.budget(id)).map(pointsman_kernel::chart::Budget::name);
        assert_eq!(spent, Some(budget), "row {row}: `{edge}`");
    }
}

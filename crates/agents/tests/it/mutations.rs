//! Small slips in a shipped chart, every single one of them: all are refused.

use pointsman_agents::{CHARTS, registry};
use pointsman_kernel::chart::verify;

/// Returns the chart with one line replaced.
fn with_line(source: &str, at: usize, line: Option<&str>) -> String {
    let kept = source.lines().enumerate().filter_map(
        |(number, text)| {
            if number == at { line } else { Some(text) }
        },
    );
    kept.flat_map(|line| [line, "\n"]).collect()
}

fn refused(name: &str, source: &str, at: usize, changed: &str) {
    if let Ok(chart) = verify(source, &registry()) {
        let line = at + 1;
        panic!("{name}, line {line}: `{changed}` went through as {}", chart.name());
    }
}

#[test]
fn deleting_a_route_is_refused() {
    let mut tried = 0;
    for (name, source) in CHARTS {
        for (at, line) in source.lines().enumerate().filter(|(_, line)| line.starts_with("on.")) {
            // A timeout that is not routed is a failure, and that is routed.
            if line.starts_with("on.timeout") {
                continue;
            }
            refused(name, &with_line(source, at, None), at, &format!("deleted {line}"));
            tried += 1;
        }
    }
    assert!(tried > 80, "only {tried} routes were found");
}

#[test]
fn misspelling_a_target_is_refused() {
    let mut tried = 0;
    for (name, source) in CHARTS {
        for (at, line) in source.lines().enumerate() {
            let code = line.split(" #").next().unwrap_or_default();
            let targets = code.starts_with("on.")
                || code.starts_with("cancel")
                || code.starts_with("shutdown")
                || code.starts_with("start")
                || code.contains("else = ");
            if !targets {
                continue;
            }
            // The last quoted name but the budget that is spent is the target.
            let before = code.split(", spend").next().unwrap_or_default();
            let Some(quote) = before.rfind('"') else { continue };
            let wrong = format!("{}x{}", &line[..quote], &line[quote..]);
            refused(name, &with_line(source, at, Some(&wrong)), at, &wrong);
            tried += 1;
        }
    }
    assert!(tried > 100, "only {tried} targets were found");
}

#[test]
fn unmetered_back_edge_is_rejected() {
    let mut tried = 0;
    for (name, source) in CHARTS {
        let mut order: Vec<&str> = Vec::new();
        for line in source.lines() {
            if let Some(state) = line.strip_prefix("[state.").and_then(|it| it.split(']').next()) {
                order.push(state);
            }
        }
        let mut state = "";
        for (at, line) in source.lines().enumerate() {
            if let Some(named) = line.strip_prefix("[state.").and_then(|it| it.split(']').next()) {
                state = named;
            }
            let Some((head, rest)) = line.split_once(", spend = \"") else { continue };
            let to = head.rsplit('"').nth(1).unwrap_or_default();
            let rank = |name: &str| order.iter().position(|known| *known == name);
            if rank(to) > rank(state) {
                continue;
            }
            let (_, tail) = rest.split_once('"').expect("the name is closed");
            let wrong = format!("{head}{tail}");
            refused(name, &with_line(source, at, Some(&wrong)), at, &wrong);
            tried += 1;
        }
    }
    assert!(tried > 12, "only {tried} ways back were found");
}

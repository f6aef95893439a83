//! The search itself: it terminates, and finds planted faults.

use super::*;

/// Generous: a debug build on a busy machine is slow, and the counts are small.
const CAP: Duration = Duration::from_mins(10);

fn explored(chart: &str, plant: Option<PlantedBug>, states: usize) -> Report {
    let caps = Caps { until: Instant::now() + CAP, states, depth: 100 };
    report(chart, 1, plant, caps).unwrap()
}

fn broken(report: &Report) -> Option<BrokenProperty> {
    report.found.as_ref().and_then(|node| node.broken)
}

#[test]
fn form_chart_has_no_violations() {
    let report = explored("form", None, 1_000_000);
    assert_eq!(report.violations(), Vec::<String>::new());
    assert!(!report.is_cut());
    assert_eq!(report.unreached(), Vec::<String>::new());
    // The certificate's calls are not only kept but met: no walk was missed. Its visits are
    // a bound: they do not count that the budget for calls may end the longest walk early.
    let Finding::Worst([visits, models, ..]) = report.finding else { panic!("no cycle costs") };
    let proved = report.chart.certificate();
    assert_eq!(models, proved.model_calls);
    assert!(visits <= proved.steps, "{visits} visits of {}", proved.steps);
}

#[test]
fn a_spend_that_is_given_back_is_found() {
    let report = explored("form", Some(PlantedBug::Unmetered), 10_000);
    assert!(matches!(report.finding, Finding::Cycle(_)), "{:?}", report.finding);
    assert!(!report.violations().is_empty());
}

#[test]
fn a_second_end_is_found() {
    let report = explored("form", Some(PlantedBug::SecondTerminal), 10_000);
    assert_eq!(broken(&report), Some(BrokenProperty::AfterTheEnd));
}

#[test]
fn a_tool_that_starts_before_its_verdict_is_found() {
    let report = explored("chat", Some(PlantedBug::EffectBeforeVerdict), 10_000);
    assert_eq!(broken(&report), Some(BrokenProperty::BeforeVerdict));
    let told = report.violations().concat();
    assert!(told.contains("begun") && told.contains("executing_tools"), "{told}");
}

#[test]
fn a_search_that_stops_early_says_so() {
    let report = explored("form", None, 10);
    assert!(report.is_cut());
    assert!(!report.unreached().is_empty());
}

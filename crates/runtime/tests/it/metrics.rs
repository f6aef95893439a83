//! Figures for Prometheus: what runs that a scheduler drives add up to.

use std::sync::Arc;

use pointsman_kernel::{
    governor::{Level, Rule, Verdict},
    id::{At, Seq},
};
use pointsman_runtime::{
    metrics::{MetricsText, RunMetrics, write_store},
    observe::Notice,
    store::{MemoryStore, RunId},
    timeline::{TimelineItem, TimelineKind},
};

fn text(metrics: &RunMetrics) -> String {
    let mut text = MetricsText::default();
    metrics.write(&mut text);
    text.finish()
}

fn item(seq: u64, index: u16, at: u64, kind: TimelineKind) -> Notice {
    Notice::Item(TimelineItem { seq: Seq(seq), index, at: At(at), kind })
}

fn verdict(rule: Rule, level: Level) -> TimelineKind {
    let verdict = serde_json::json!({
        "level": level, "rule": rule, "reason": "again", "advice": "stop", "evidence": []
    });
    let verdict: Verdict = serde_json::from_value(verdict).expect("it is a verdict");
    TimelineKind::Verdict(verdict)
}

#[test]
fn items_are_counted_by_agent_and_in_buckets() {
    let agents = pointsman_agents::all();
    let metrics = Arc::new(RunMetrics::new(&agents));
    let run: RunId = "01m7grje5w1xm5mmwk".parse().expect("it is an id");
    let known = agents.decls()[0].name;
    let moved = |from: Option<&str>, ms| TimelineKind::Transition {
        from: from.map(Into::into),
        to: Some("there".into()),
        reason: "began".into(),
        spent: None,
        ms,
    };
    let observer = metrics.observer(known);
    for notice in [
        item(2, 0, 700, TimelineKind::Woke),
        item(2, 1, 700, moved(None, 0)),
        item(3, 0, 900, moved(Some("here"), 40)),
        item(4, 0, 900, moved(Some("here"), 7_200_000)),
        item(5, 0, 900, verdict(Rule::IdenticalCall, Level::Refuse)),
        item(5, 1, 900, verdict(Rule::IdenticalCall, Level::Warn)),
        item(5, 2, 900, verdict(Rule::Permission, Level::Refuse)),
        item(6, 0, 900, TimelineKind::Interrupted),
    ] {
        observer.notice(&run, &notice);
    }
    // An agent of another build is counted, under a name that is always the same.
    for name in ["from-elsewhere", "x\"} 1\n"] {
        metrics.observer(name).notice(&run, &item(3, 0, 1, moved(Some("here"), 1)));
    }
    let text = text(&metrics);
    for line in [
        format!("pointsman_transitions_total{{agent=\"{known}\"}} 3"),
        "pointsman_transitions_total{agent=\"other\"} 2".into(),
        format!("pointsman_step_seconds_bucket{{agent=\"{known}\",le=\"0.01\"}} 0"),
        format!("pointsman_step_seconds_bucket{{agent=\"{known}\",le=\"0.05\"}} 1"),
        format!("pointsman_step_seconds_bucket{{agent=\"{known}\",le=\"1800\"}} 1"),
        format!("pointsman_step_seconds_bucket{{agent=\"{known}\",le=\"+Inf\"}} 2"),
        format!("pointsman_step_seconds_sum{{agent=\"{known}\"}} 7200.04"),
        format!("pointsman_step_seconds_count{{agent=\"{known}\"}} 2"),
        format!("pointsman_queue_wait_seconds_sum{{agent=\"{known}\"}} 0.7"),
        format!("pointsman_queue_wait_seconds_count{{agent=\"{known}\"}} 1"),
        format!("pointsman_stuck_total{{agent=\"{known}\",rule=\"identical_call\"}} 1"),
        format!("pointsman_takeovers_total{{agent=\"{known}\"}} 1"),
    ] {
        assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("rule=\"permission\"") && !text.contains("elsewhere"), "{text}");
}

#[tokio::test]
async fn store_reports_its_runs_and_whether_it_takes_entries() {
    let mut text = MetricsText::default();
    write_store(&MemoryStore::new(), &mut text).await.expect("the store answers");
    let text = text.finish();
    assert!(text.contains("\npointsman_store_runs 0\n"), "{text}");
    assert!(text.contains("\npointsman_store_writable 1\n"), "{text}");
    assert!(text.contains("\npointsman_queue_runs{status=\"quarantined\"} 0\n"), "{text}");
    assert!(text.contains("\npointsman_queue_lag_seconds 0\n"), "{text}");
}

//! What an exploration has come to: figures for programs, lines for people.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use pointsman_kernel::chart::Budget;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{data::ExploreData, graph::GraphCoverage, task::ExploreReport};
use crate::answer;

/// What a run counts for its report.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct ExploreTally {
    /// Actions that were performed.
    pub actions: u32,
    /// Why it stopped; nothing while it is active, and if it was cancelled.
    pub stopped: Option<String>,
}

impl ExploreTally {
    /// Counts what a device reports.
    pub(super) fn count(&mut self, report: &ExploreReport) {
        if matches!(report, ExploreReport::Performed { .. }) {
            self.actions = self.actions.saturating_add(1);
        }
    }

    /// Takes note that nothing is left to try.
    pub(super) fn explored(&mut self) {
        self.stopped = Some("nothing left to try".into());
    }

    /// Takes note that a budget is used up.
    pub(super) fn used_up(&mut self, budget: &Budget) {
        self.stopped = Some(answer::used_up(budget).message);
    }
}

impl ExploreData {
    fn stopped(&self) -> Option<&str> {
        self.tally.stopped.as_deref().or(self.trouble.as_deref())
    }

    /// Returns what the run came to, as data.
    pub(super) fn reported(&self) -> Value {
        let GraphCoverage { activities, screens, edges, seen, tried } = self.graph.coverage();
        json!({
            "app": self.config.app.package,
            "recording": self.config.device.recording,
            "screens": screens,
            "activities": activities,
            "edges": edges,
            "actions": self.tally.actions,
            "actions_seen": seen,
            "actions_tried": tried,
            "crashes": self.crashes.len(),
            "stopped": self.stopped(),
            "trouble": self.trouble,
        })
    }

    /// Describes the result of the run, and what to do next.
    pub(super) fn told(&self) -> String {
        let GraphCoverage { activities, screens, edges, seen, tried } = self.graph.coverage();
        let count = |count: usize, one: &str, more: &str| {
            format!("{count} {}", if count == 1 { one } else { more })
        };
        let mut lines = Vec::new();
        if let Some(file) = &self.config.device.recording {
            lines.push(format!("This is a recording, not a device: {file}"));
        }
        lines.push(format!(
            "{} in {}, {}. {} performed; {tried} of {seen} available actions tried.",
            count(screens, "screen", "screens"),
            count(activities, "activity", "activities"),
            count(edges, "edge", "edges"),
            count(usize::try_from(self.tally.actions).unwrap_or(usize::MAX), "action", "actions"),
        ));
        lines.push(match self.crashes.len() {
            0 => "The app did not crash.".to_string(),
            1 => "The app crashed or hung once.".to_string(),
            times => format!("The app crashed or hung {times} times."),
        });
        if let Some(why) = self.stopped() {
            lines.push(format!("Stopped: {}.", why.trim_end_matches('.')));
        }
        lines.push("Next:".to_string());
        lines.push("  pointsman report RUN --format html --out report.html".to_string());
        if !self.crashes.is_empty() {
            lines.push("  pointsman reproduce RUN".to_string());
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use pointsman_kernel::agent::Agent as _;
    use serde_json::{Value, json};

    use super::super::{CHART, Element, ExploreAgent, ExploreReport, Screen, SystemDialog, Tree};
    use crate::testing::TestDriver;

    fn screen(name: &str, labels: &[&str]) -> Screen {
        let elements: Vec<Element> = labels
            .iter()
            .map(|label| Element {
                class: "Button".into(),
                resource: (*label).into(),
                clickable: true,
                enabled: true,
                displayed: true,
                ..Element::default()
            })
            .collect();
        Screen::read(&Tree { elements, ..Tree::default() }, "app", name)
    }

    fn captured(screen: Screen) -> ExploreReport {
        ExploreReport::Captured { screen, running: true }
    }

    fn reported(driver: &TestDriver<ExploreAgent>, key: &str) -> Value {
        ExploreAgent::report(&driver.run.data)
            .and_then(|it| it.get(key).cloned())
            .expect("agent reports a result")
    }

    #[test]
    fn report_counts_screens_and_actions() {
        let mut driver = TestDriver::<ExploreAgent>::new(CHART, &[]);
        driver.begin(json!({"app": {"package": "app"}, "policy": "depth_first"}));
        let performed = || ExploreReport::Performed { step: None };
        for report in [
            ExploreReport::Done,
            ExploreReport::Installed(Some(1)),
            captured(screen("Home", &["a", "b"])),
            ExploreReport::Done,
            captured(screen("Home", &["a", "b"])),
            performed(),
            captured(screen("Next", &["c"])),
            ExploreReport::Done,
            captured(screen("Next", &["c"])),
            performed(),
            captured(Screen { dialog: Some(SystemDialog::Crash), ..Screen::default() }),
        ] {
            driver.report(report);
        }
        for (key, count) in
            [("screens", 2), ("activities", 2), ("edges", 1), ("actions", 2), ("crashes", 1)]
        {
            assert_eq!(reported(&driver, key), json!(count), "{key}");
        }
        assert_eq!(reported(&driver, "stopped"), Value::Null);
        let told = ExploreAgent::result(&driver.run.data).expect("agent reports a result");
        assert!(told.contains("2 screens in 2 activities, 1 edge. 2 actions performed"), "{told}");
        let next = "Next:\n  pointsman report RUN --format html --out report.html\n  \
                    pointsman reproduce RUN";
        assert!(told.ends_with(next), "{told}");
    }

    #[test]
    fn a_report_says_why_it_stopped() {
        let budget = CHART.replace("actions  = { max = 100,", "actions  = { max = 1,  ");
        for (chart, reason) in [(CHART, "nothing left to try"), (&budget, "actions")] {
            let mut driver = TestDriver::<ExploreAgent>::new(chart, &[]);
            driver.begin(json!({"app": {"package": "app"}, "policy": "breadth_first"}));
            for report in [ExploreReport::Done, ExploreReport::Installed(Some(1))] {
                driver.report(report);
            }
            let mut reports = vec![captured(screen("Home", &["a"])); 1];
            while driver.ended().is_none() {
                let report = match driver.state() {
                    "wait_idle" => ExploreReport::Done,
                    "act" | "restart_app" => ExploreReport::Performed { step: None },
                    _ => captured(screen("Home", &["a"])),
                };
                reports.push(report.clone());
                assert!(reports.len() < 500, "it ends");
                driver.report(report);
            }
            let stopped = reported(&driver, "stopped");
            assert!(stopped.as_str().is_some_and(|it| it.contains(reason)), "{stopped}");
        }
    }
}

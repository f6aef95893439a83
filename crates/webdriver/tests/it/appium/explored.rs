//! Whole runs of the explore agent over a device, and what they have seen.

use std::{collections::BTreeSet, fs, time::Duration};

use pointsman_agents::explore;
use pointsman_kernel::{
    chart::{Maximum, with_budgets},
    governor::{Level, Permissions},
    id::Seq,
};
use pointsman_runtime::{
    local_executor::LocalExecutor,
    session::{RunSummary, StartOptions, Unattended},
};
use pointsman_webdriver::{browser, device};
use serde_json::{Value, json};

use crate::workspace::TestWorkspace;

/// Where a run goes, and how far.
pub(super) struct ExploreRequest<'t> {
    /// The server's address.
    pub(super) url: &'t str,
    pub(super) capabilities: Value,
    /// What else the run is configured with.
    pub(super) config: Value,
    /// How many actions it may take.
    pub(super) actions: u64,
    /// How long a screen must stay the same.
    pub(super) quiet: Duration,
}

/// A run that has ended.
pub(super) struct FinishedRun {
    pub(super) outcome: RunSummary,
    /// The screens that were seen: package and activity.
    pub(super) seen: BTreeSet<(String, String)>,
    /// Its journal.
    pub(super) lines: Vec<String>,
}

impl FinishedRun {
    /// Returns a figure of the run's report.
    pub(super) fn figure(&self, name: &str) -> u64 {
        let report = self.outcome.report.as_ref().and_then(|it| it.read::<Value>().ok());
        let report = report.and_then(|it| it.get(name)?.as_u64());
        report.unwrap_or_else(|| panic!("{name} is not in {:?}", self.outcome))
    }

    /// Returns the activities of an app that were seen.
    pub(super) fn activities(&self, package: &str) -> BTreeSet<&str> {
        let of_app = self.seen.iter().filter(|(of, _)| of == package);
        of_app.map(|(_, activity)| activity.as_str()).collect()
    }
}

/// Runs the agent to its end.
pub(super) fn run(workspace: &TestWorkspace, trip: ExploreRequest<'_>) -> FinishedRun {
    let file = workspace.work().join("caps.json");
    fs::write(&file, trip.capabilities.to_string()).expect("file is writable");
    let mut config = trip.config;
    config["device"] = json!({ "appium": trip.url, "capabilities": file });
    let source = roomy(trip.actions);
    let start = StartOptions {
        program: crate::program(&source),
        source: source.into(),
        config: config.into(),
        words: Vec::new(),
        goal: "".into(),
        permissions: Permissions { otherwise: Level::Refuse, rules: Vec::new(), attended: false },
        seed: Some(1),
    };
    let executor = executor(workspace, trip.quiet);
    let outcome = workspace.session.run(&executor, start, Vec::new(), &mut Unattended);
    let outcome = outcome.unwrap_or_else(|error| panic!("it runs: {error}"));
    let lines = workspace
        .session
        .block_on(workspace.session.store().lines(&outcome.run, Seq(0)))
        .expect("journal opens");
    let mut seen = BTreeSet::new();
    for line in &lines {
        collect(&serde_json::from_str(line).expect("text is valid JSON"), &mut seen);
    }
    FinishedRun { outcome, seen, lines }
}

fn executor(workspace: &TestWorkspace, quiet: Duration) -> LocalExecutor {
    workspace.host_of(browser::BrowserSettings::default(), times(quiet))
}

/// How long a device is given. A busy machine is slow: nothing here waits for a limit.
pub(super) fn times(quiet: Duration) -> device::DeviceSettings {
    device::DeviceSettings {
        quiet,
        poll: quiet / 2,
        settle: Duration::from_secs(2),
        wait: Duration::from_millis(1),
        command: Duration::from_mins(3),
        launch: Duration::from_mins(3),
        connect: Duration::from_mins(1),
        ..device::DeviceSettings::default()
    }
}

/// Returns the chart with room for this many actions, and time for a busy machine.
fn roomy(actions: u64) -> String {
    let chart = explore::CHART.replace("timeout  = \"30s\"", "timeout  = \"10m\"");
    let shipped = crate::program(&chart);
    let mut maxima = explore::raised(&shipped, actions, &[]);
    maxima.push(("actions".into(), actions.to_string()));
    let maxima = maxima.iter().map(|(budget, amount)| Maximum { budget, amount, lowers: false });
    with_budgets(&chart, maxima).expect("the chart has these budgets")
}

/// Finds the screens in an entry of the journal.
fn collect(value: &Value, seen: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
            if let (Some(package), Some(activity), true) =
                (text("package"), text("activity"), fields.contains_key("coarse"))
            {
                seen.insert((package, activity));
            }
            for inner in fields.values() {
                collect(inner, seen);
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| collect(inner, seen)),
        _ => {}
    }
}

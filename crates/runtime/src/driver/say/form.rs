//! The tasks and reports of the form agent. They name fields and sources, and never what is
//! put in.

use pointsman_agents::form::{Report, Source, Task};
use pointsman_kernel::body::Body;

use crate::plural::counted;

/// Says what the browser is to do; nothing for another agent's task.
pub(super) fn task(task: &Body) -> Option<String> {
    let task = task.read().ok()?;
    Some(match task {
        Task::Settle { url: Some(url) } => format!("opens {url}"),
        Task::Settle { url: None } => "waits until the page stands still".into(),
        Task::Extract => "looks for fields".into(),
        Task::Insert { field, from, .. } => format!("fills `{}` ({})", field.label, source(&from)),
        Task::Verify { field, .. } => format!("looks at `{}`", field.label),
        Task::Survey => "looks for the way on".into(),
        Task::Press { control, .. } => format!("presses `{}`", control.label),
        _ => return None,
    })
}

fn source(from: &Source) -> String {
    match from {
        Source::Profile { key, .. } => format!("profile: {key}"),
        Source::Written { .. } => "model".into(),
        Source::Nothing => "nothing to put in".into(),
    }
}

/// Says what the browser saw, and whether it went well; nothing for another agent's report.
pub(super) fn report(report: &Body) -> Option<(bool, String)> {
    let report = report.read().ok()?;
    Some(match report {
        Report::Settled { title, origin, .. } => (true, format!("{title} ({origin})")),
        Report::Fields(fields) => (true, counted(fields.len(), "field")),
        Report::Inserted { unfit: Some(why), .. } => (false, format!("not filled: {why}")),
        Report::Inserted { .. } => (true, String::new()),
        Report::Verified { kept: true, complaint: None, .. } => (true, "kept".into()),
        Report::Verified { complaint: Some(words), .. } => {
            (false, format!("the page says: {words}"))
        }
        Report::Verified { .. } => (false, "not kept".into()),
        Report::Controls { controls, .. } => {
            let labels: Vec<&str> = controls.iter().map(|control| control.label.as_str()).collect();
            (true, format!("controls: {}", labels.join(", ")))
        }
        Report::Moved { complaint: Some(words), .. } => (false, format!("the page says: {words}")),
        Report::Moved { origin, .. } => (true, format!("the next page ({origin})")),
        _ => return None,
    })
}

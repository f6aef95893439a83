//! Tasks and reports in a line for people. They name fields and sources, and never what is
//! put in.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::agent::Summary;

use super::{Report, Source, Task};

/// Describes what the browser is to do.
pub(super) fn task(task: &Task) -> String {
    match task {
        Task::Settle { url: Some(url) } => format!("opens {url}"),
        Task::Settle { url: None } => "waits until the page stands still".into(),
        Task::Extract => "looks for fields".into(),
        Task::Insert { field, from, .. } => format!("fills `{}` ({})", field.label, source(from)),
        Task::Verify { field, .. } => format!("looks at `{}`", field.label),
        Task::Survey => "looks for the way on".into(),
        Task::Press { control, .. } => format!("presses `{}`", control.label),
    }
}

fn source(from: &Source) -> String {
    match from {
        Source::Profile { key, .. } => format!("profile: {key}"),
        Source::Written { .. } => "model".into(),
        Source::Nothing => "nothing to put in".into(),
    }
}

/// Describes what the browser saw.
pub(super) fn report(report: &Report) -> Option<Summary> {
    let (ok, text) = match report {
        Report::Settled { title, origin, .. } => (true, format!("{title} ({origin})")),
        Report::Fields(fields) => (true, counted(fields.len())),
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
        Report::SwitchedOff { .. } => return None,
    };
    Some(Summary::line(ok, text))
}

fn counted(fields: usize) -> String {
    if fields == 1 { "1 field".into() } else { format!("{fields} fields") }
}

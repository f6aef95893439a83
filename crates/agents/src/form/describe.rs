//! Tasks and reports in a line for people. They name fields and sources, and never values.

use alloc::{format, string::String, vec::Vec};

use pointsman_kernel::agent::Summary;

use super::{FormReport, FormTask, Source};
use crate::answer::counted;

/// Describes what the browser is to do.
pub(super) fn task(task: &FormTask) -> String {
    match task {
        FormTask::Settle { url: Some(url) } => format!("opens {url}"),
        FormTask::Settle { url: None } => "waits until the page stops changing".into(),
        FormTask::Extract => "looks for fields".into(),
        FormTask::Insert { field, from, .. } => {
            format!("fills `{}` ({})", field.label, source(from))
        }
        FormTask::Verify { field, .. } => format!("checks `{}`", field.label),
        FormTask::Survey => "looks for the next control".into(),
        FormTask::Press { control, .. } => format!("presses `{}`", control.label),
    }
}

fn source(from: &Source) -> String {
    match from {
        Source::Profile { key, .. } => format!("profile: {key}"),
        Source::Written { .. } => "model".into(),
        Source::Nothing => "no value".into(),
    }
}

/// Describes what the browser saw.
pub(super) fn report(report: &FormReport) -> Option<Summary> {
    let (ok, text) = match report {
        FormReport::Settled { title, origin, .. } => (true, format!("{title} ({origin})")),
        FormReport::Fields(fields) => {
            (true, counted(fields.len().try_into().unwrap_or(u64::MAX), "field"))
        }
        FormReport::Inserted { unfit: Some(why), .. } => (false, format!("not filled: {why}")),
        FormReport::Inserted { .. } => (true, String::new()),
        FormReport::Verified { kept: true, complaint: None, .. } => {
            (true, "the value was accepted".into())
        }
        FormReport::Verified { complaint: Some(words), .. }
        | FormReport::Moved { complaint: Some(words), .. } => {
            (false, format!("the page says: {words}"))
        }
        FormReport::Verified { .. } => (false, "the value was not accepted".into()),
        FormReport::Controls { controls, .. } => {
            let labels: Vec<&str> = controls.iter().map(|control| control.label.as_str()).collect();
            (true, format!("controls: {}", labels.join(", ")))
        }
        FormReport::Moved { origin, .. } => (true, format!("the next page ({origin})")),
        FormReport::SwitchedOff { .. } => return None,
    };
    Some(Summary::line(ok, text))
}

//! `form.submit`: sends a form. No model calls it: the form agent does, and a person or a rule
//! lets it through.

use std::sync::Arc;

use pointsman_agents::form::SUBMIT_TOOL;
use pointsman_kernel::{agent::FaultClass, governor::Grant};
use serde_json::Value;

use super::Forms;
use crate::{
    perform::Done,
    tool::{Answering, Arguments, Calling, Limits, Tool, ToolSpec, View},
};

/// Sends the form in the browser of its run; without browsers it is only described.
#[derive(Default)]
pub(crate) struct SubmitTool(Option<Arc<Forms>>);

impl SubmitTool {
    /// Returns the tool over the browsers of runs.
    pub(in crate::host) const fn over(forms: Arc<Forms>) -> Self {
        Self(Some(forms))
    }
}

impl Tool for SubmitTool {
    fn name(&self) -> &str {
        SUBMIT_TOOL
    }

    fn spec(&self, _: &Limits) -> Option<ToolSpec> {
        None
    }

    // A repetition after a crash is recognised by the browser, right before it presses.
    fn call<'a>(&'a self, calling: Calling<'a>, _: Value) -> Answering<'a> {
        Box::pin(async move {
            match &self.0 {
                Some(forms) => forms.submit(calling.errand, calling.call).await,
                None => Done::fault(
                    FaultClass::Contract,
                    false,
                    "`form.submit` needs a host with a browser",
                ),
            }
        })
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let does = match arguments.text("class")? {
            "pay" => "pay or order",
            "sign" => "sign or agree",
            _ => "send the form",
        };
        let more = |name, head: &str| match arguments.text(name).filter(|it| !it.is_empty()) {
            Some(it) => format!("\n{head} {}", view.line(it)),
            None => String::new(),
        };
        // The label is the page's own word; the site is what the browser says.
        let (site, to) = (more("origin", "at"), more("target", "it goes to"));
        let changed = more("changed", "asked again, because the page has changed:");
        let label = view.line(arguments.text("label")?);
        Some(format!("{SUBMIT_TOOL}: {does}{site}\npress `{label}`{to}{changed}"))
    }

    fn always(&self, _: &Arguments) -> Option<Vec<Grant>> {
        None
    }
}

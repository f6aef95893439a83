//! `form.submit`: sends a form. The form agent calls it, never a model, and a person or a rule
//! must allow it.

use pointsman_agents::form::SUBMIT_TOOL;
use pointsman_kernel::{agent::FaultClass, governor::Grant};
use pointsman_runtime::{
    effect::Completion,
    tool::{Arguments, Tool, ToolContext, ToolFuture, ToolLimits, ToolSpec, View},
};
use serde_json::Value;

use super::Forms;

/// Sends the form in the browser of its run; without browsers it is only described.
#[derive(Default)]
pub struct SubmitTool(Option<Forms>);

impl SubmitTool {
    /// Returns the tool over the browsers of runs.
    pub const fn over(forms: Forms) -> Self {
        Self(Some(forms))
    }
}

impl Tool for SubmitTool {
    fn name(&self) -> &str {
        SUBMIT_TOOL
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        None
    }

    // A repetition after a crash is recognised by the browser, right before it presses.
    fn call<'a>(&'a self, calling: ToolContext<'a>, _: Value) -> ToolFuture<'a> {
        Box::pin(async move {
            match &self.0 {
                Some(forms) => forms.submit(calling.permit, calling.call).await,
                None => Completion::fault(
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
        let (site, to) = (more("origin", "at"), more("target", "it is sent to"));
        let changed = more("changed", "asked again, because the page has changed:");
        let label = view.line(arguments.text("label")?);
        Some(format!("{SUBMIT_TOOL}: {does}{site}\npress `{label}`{to}{changed}"))
    }

    fn always(&self, _: &Arguments) -> Option<Vec<Grant>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pointsman_kernel::agent::ToolCall;
    use pointsman_runtime::tool::Toolbox;
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn call(arguments: &Value) -> (Toolbox, ToolCall) {
        let arguments = to_raw_value(arguments).expect("value serialises to JSON");
        let tools = Toolbox::default().with([Arc::new(SubmitTool::default()) as Arc<dyn Tool>]);
        (tools, ToolCall { id: "1".into(), tool: SUBMIT_TOOL.into(), arguments })
    }

    #[track_caller]
    fn check(arguments: &Value, wanted: &str) {
        let (tools, call) = call(arguments);
        assert_eq!(tools.describe(&call).as_deref(), Some(wanted));
    }

    #[test]
    fn submit_call_is_described_with_its_target() {
        let mut submit =
            json!({ "class": "send", "label": "Apply", "page": "p", "selector": "#b" });
        check(&submit, "form.submit: send the form\npress `Apply`");
        submit["origin"] = "https://a.test".into();
        check(&submit, "form.submit: send the form\nat https://a.test\npress `Apply`");
        submit["class"] = "pay".into();
        let told = "form.submit: pay or order\nat https://a.test\npress `Apply`";
        check(&submit, told);
        submit["target"] = json!("https://b.test");
        submit["changed"] = json!("`Send` says `Apply` now");
        let told = format!(
            "{told}\nit is sent to https://b.test\nasked again, because the page has changed: \
             `Send` says `Apply` now"
        );
        check(&submit, &told);
    }

    #[test]
    fn a_yes_to_one_form_is_a_yes_to_no_other() {
        let submit = json!({ "class": "send", "label": "Send", "page": "p", "selector": "#go" });
        let (tools, call) = call(&submit);
        assert!(tools.grants(&call).is_empty() && tools.is_once(&call));
        let tool = SubmitTool::default();
        assert_eq!(tool.always(&Arguments::default()), None);
        let declared = pointsman_agents::tools();
        assert!(declared.contains(&tool.decl()), "charts know it");
    }
}

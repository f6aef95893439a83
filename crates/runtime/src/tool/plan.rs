//! `propose_plan`: puts a plan to a person. It does nothing: that it may run is the yes.

use pointsman_agents::{PLAN_TOOL, code::PHASE_COMPLETE};
use pointsman_kernel::governor::Grant;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Arguments, Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec, View, done, fitting,
    limits::ToolLimits, schema::spec,
};

/// The arguments of `propose_plan`.
#[derive(Debug, Deserialize)]
struct ProposePlan {
    phases: Vec<Phase>,
}

/// One phase of a plan.
#[derive(Debug, Deserialize)]
struct Phase {
    description: String,
    expected_minutes: Option<u32>,
}

/// Puts a plan to a person.
pub(super) struct PlanTool;

impl Tool for PlanTool {
    fn name(&self) -> &str {
        PLAN_TOOL
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        let phase = json!({
            "type": "object",
            "properties": {
                "description": {
                    "type": "string", "minLength": 1, "maxLength": 2000,
                    "description": "The work of this phase, and how to tell that it is done.",
                },
                "expected_minutes": {
                    "type": "integer", "minimum": 1, "maximum": 10_000,
                    "description": "The expected duration in minutes.",
                },
            },
            "required": ["description"],
            "additionalProperties": false,
        });
        Some(spec(
            PLAN_TOOL,
            "Shows the person a plan, a numbered list of phases in order, and waits for approval. \
             Propose a plan before work with several steps, but not for small tasks.",
            json!({ "phases": {
                "type": "array", "minItems": 1, "maxItems": 64, "items": phase,
                "description": "The phases, in order.",
            } }),
            &["phases"],
        ))
    }

    fn call<'a>(&'a self, _: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        // Who had something against it has said so before.
        let said = fitting::<ProposePlan>(arguments).map(|_| done(ToolOutput::yes("approved")));
        Box::pin(std::future::ready(said.unwrap_or_else(|done| done)))
    }

    fn describe(&self, arguments: &Arguments, view: &View<'_>) -> Option<String> {
        let plan = ProposePlan::deserialize(Value::Object(arguments.0.clone())).ok()?;
        let lines = view.lines.saturating_mul(4);
        Some(View { lines, ..*view }.block("", &plan.list()))
    }

    fn title(&self, _: &Arguments) -> Option<String> {
        Some("Plan".into())
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Plan
    }

    fn always(&self, _: &Arguments) -> Option<Vec<Grant>> {
        None
    }
}

/// Returns the description of `phase_complete` for models. No tool has this name: the agent
/// handles the call itself, and no host ever sees one.
pub(crate) fn phase_complete() -> ToolSpec {
    spec(
        PHASE_COMPLETE,
        "Ends the open phase. Success is rejected if the last tests failed.",
        json!({
            "success": { "type": "boolean", "description": "Whether the phase reached its goal." },
            "phase": {
                "type": "integer", "minimum": 1,
                "description": "The number of the phase; the open one if left out.",
            },
            "blockers": {
                "type": "array", "items": { "type": "string" },
                "description": "What prevented success.",
            },
        }),
        &["success"],
    )
}

impl ProposePlan {
    /// Returns the plan as a list with numbers.
    fn list(&self) -> String {
        let line = |(phase, number): (&Phase, usize)| {
            let Phase { description, expected_minutes } = phase;
            let time = expected_minutes.map_or_else(String::new, |it| format!(" (about {it} min)"));
            // A description of several lines stays one item.
            let words: Vec<&str> = description.split_whitespace().collect();
            format!("{number}. {}{time}", words.join(" "))
        };
        self.phases.iter().zip(1..).map(line).collect::<Vec<_>>().join("\n")
    }
}

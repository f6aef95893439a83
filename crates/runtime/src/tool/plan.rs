//! `propose_plan`: puts a plan to a person. It does nothing: that it may run is the yes.

use pointsman_agents::PLAN_TOOL;
use serde::Deserialize;
use serde_json::json;

use super::{Said, ToolSpec, schema};

/// The arguments of `propose_plan`.
#[derive(Debug, Deserialize)]
pub(super) struct ProposePlan {
    phases: Vec<Phase>,
}

/// One phase of a plan.
#[derive(Debug, Deserialize)]
struct Phase {
    description: String,
    expected_minutes: Option<u32>,
}

/// Returns what models are told.
pub(super) fn spec() -> ToolSpec {
    let phase = json!({
        "type": "object",
        "properties": {
            "description": {
                "type": "string", "minLength": 1, "maxLength": 2000,
                "description": "What is done in it, and how one sees that it is done.",
            },
            "expected_minutes": {
                "type": "integer", "minimum": 1, "maximum": 10_000,
                "description": "How long it should take.",
            },
        },
        "required": ["description"],
        "additionalProperties": false,
    });
    schema::spec(
        PLAN_TOOL,
        "Puts a plan to the person, as an enumerated list of phases in the order in which they \
         are done, and waits for a yes. Propose one before work of several steps, and not for \
         small things.",
        json!({ "phases": {
            "type": "array", "minItems": 1, "maxItems": 64, "items": phase,
            "description": "The phases, the first one first.",
        } }),
        &["phases"],
    )
}

/// Says yes: whoever had something against it has said so before.
pub(super) fn approved() -> Said {
    Said::yes("approved")
}

impl ProposePlan {
    /// Returns the plan as a list with numbers.
    pub(super) fn list(&self) -> String {
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

//! A plan that the model proposes: read strictly, before a person is asked about it.

use alloc::{format, string::String, vec::Vec};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::plan::{PHASE_COMPLETE, Phase, Plan};

/// Phases that a model may propose: as many transitions between them as the chart has.
pub(super) const MAX_PROPOSED: usize = 20;
/// Bytes of a description.
const MAX_DESCRIPTION: usize = 2_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposal {
    phases: Vec<ProposedPhase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProposedPhase {
    description: String,
    #[serde(default)]
    expected_minutes: Option<f64>,
}

/// Returns the phases of a proposal, or its mistake, for the model to read.
pub(super) fn read(plan: &Plan, beside: bool, arguments: &RawValue) -> Result<Vec<Phase>, String> {
    if !plan.phases.is_empty() {
        return Err(format!(
            "there is already a plan: work on it, and call `{PHASE_COMPLETE}` to end each phase"
        ));
    }
    if beside {
        return Err(
            "one plan at a time: the person is asked about the other plan of this reply".into()
        );
    }
    let Proposal { phases } = serde_json::from_str(arguments.get()).map_err(|error| {
        format!(
            "this is not a plan: {error}. Give `phases`, a list of objects with a `description` \
             and, if you can estimate it, `expected_minutes`"
        )
    })?;
    if phases.is_empty() || phases.len() > MAX_PROPOSED {
        let count = phases.len();
        return Err(format!("the plan has {count} phases: give from 1 to {MAX_PROPOSED}"));
    }
    (1_usize..).zip(phases).map(|(number, step)| phase(number, step)).collect()
}

fn phase(number: usize, step: ProposedPhase) -> Result<Phase, String> {
    let ProposedPhase { description, expected_minutes } = step;
    let length = description.trim().len();
    if length == 0 {
        return Err(format!("phase {number} has an empty description: say what it is for"));
    }
    if length > MAX_DESCRIPTION {
        return Err(format!(
            "the description of phase {number} has {length} bytes; the limit is {MAX_DESCRIPTION}"
        ));
    }
    let expected_ms = match expected_minutes {
        None => None,
        Some(minutes) if (0.0..=100_000.0).contains(&minutes) => Some(milliseconds(minutes)),
        Some(minutes) => {
            return Err(format!("phase {number} cannot take {minutes} minutes"));
        }
    };
    Ok(Phase { description: description.trim().into(), expected_ms })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has seen that it lies between 0 and 100,000 minutes"
)]
fn milliseconds(minutes: f64) -> u64 {
    (minutes * 60_000.0) as u64
}

//! Actions without a policy: the steps of a set-up, and permission dialogs.

use alloc::string::String;

use super::{
    actions::{CandidateAction, DeviceAction},
    config::{PermissionPolicy, SetupStep},
};

/// Looks at a screen that lacks the element of a step, before the set-up fails.
pub(super) const MAX_WAITS: u32 = 3;

/// Ends of the identifiers of buttons that allow something.
const ALLOW: &[&str] = &[
    "permission_allow_button",
    "permission_allow_foreground_only_button",
    "permission_allow_one_time_button",
    "permission_allow_always_button",
    "permission_allow_all_button",
];
/// Ends of the identifiers of buttons that deny something.
const DENY: &[&str] = &[
    "permission_deny_button",
    "permission_deny_and_dont_ask_again_button",
    "permission_no_upgrade_button",
];
/// What such buttons say where they have no identifier.
const YES: &[&str] = &["allow", "while using the app", "ok", "allow once"];
const NO: &[&str] = &["deny", "don't allow", "don’t allow", "not now"];

/// Returns whether a candidate is what a step of the set-up acts upon.
pub(super) fn fits(preset: &SetupStep, candidate: &CandidateAction) -> bool {
    let ends = |given: &Option<String>, name: &str| {
        given.as_ref().is_none_or(|given| {
            name == given || given.rsplit('/').next().is_some_and(|given| name == given)
        })
    };
    preset.act == candidate.act
        && (preset.direction.is_none() || preset.direction == candidate.direction)
        && ends(&preset.resource, candidate.resource())
        && preset.label.as_ref().is_none_or(|label| *label == candidate.label)
        && preset.class.as_ref().is_none_or(|class| class.ends_with(candidate.class.as_str()))
}

/// Returns the button of a system dialog that a person's choice presses.
pub(super) fn button(
    permissions: PermissionPolicy,
    candidates: &[CandidateAction],
) -> Option<usize> {
    let (names, words) = match permissions {
        PermissionPolicy::Allow => (ALLOW, YES),
        PermissionPolicy::Deny => (DENY, NO),
        PermissionPolicy::Explore => return None,
    };
    let taps = || candidates.iter().enumerate().filter(|(_, it)| it.act == DeviceAction::Tap);
    let found = names.iter().find_map(|name| taps().find(|(_, it)| it.resource() == *name));
    let says = |it: &CandidateAction| words.contains(&it.label.to_lowercase().as_str());
    found.or_else(|| taps().find(|(_, it)| says(it))).map(|(at, _)| at)
}

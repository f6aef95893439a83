//! A shipped chart does not change unnoticed.

use pointsman_agents::{CHILDREN, form::learnt};
use pointsman_kernel::id::Digest;

use crate::charts;

/// Changing a chart means a new version, a new digest here, and a line in
/// `docs/decisions.md`.
const PINNED: &[(&str, u32, &str)] = &[
    ("chat", 3, "eb0d405037156ea0fb337c22b6b3c74dfec7bad3f98972bb57fcc17ba0a23ed4"),
    ("code", 2, "b1b21b3c1b1b5792bead24701546bb66f393fc98c859cd180558ccc5ebc7e07e"),
    ("research", 2, "78a2ec39b88161aef4663c809fb8fb6e4ca6b76e293bf278df69d4baab3cc2c0"),
    ("form", 4, "b001b3a13003f4ed14f30400e29057c49011416ad315c8489607cfe8d6a42b5f"),
    ("explore", 2, "b361c621f87faddfd3387b75984f0d3d45112d4845fb1112ae446210c6826890"),
];

#[test]
fn charts_are_immutable_without_a_new_version() {
    let found: Vec<(String, u32, String)> = charts()
        .iter()
        .map(|chart| (chart.name().to_owned(), chart.version(), chart.digest().to_string()))
        .collect();
    let pinned: Vec<(String, u32, String)> = PINNED
        .iter()
        .map(|(name, version, digest)| ((*name).to_owned(), *version, (*digest).to_owned()))
        .collect();
    assert_eq!(
        found, pinned,
        "raise the version, pin the digest, and say why in docs/decisions.md"
    );
}

/// The weights of the model that types form fields; `cargo xtask train fields` prints theirs.
const WEIGHTS: &str = "5486d3a4de8ab51edd92c42cd1315b169f1df8ca58c439dc004633a9b9367ba9";

#[test]
fn weights_match_their_digest() {
    let found = Digest::of(learnt::WEIGHTS).to_string();
    assert_eq!(found, WEIGHTS, "judge the new model, pin its digest, and renew docs/form.md");
    assert!(learnt::WEIGHTS.len() <= 1_000_000, "the model is larger than 1 MB");
    assert!(learnt::FieldModel::new(learnt::WEIGHTS).is_some(), "the model cannot be read");
}

#[test]
fn every_version_has_its_line_in_the_decisions() {
    let decisions = include_str!("../../../../docs/decisions.md");
    for (name, version, _) in PINNED {
        let row = format!("| {name} | {version} | ");
        assert!(decisions.contains(&row), "docs/decisions.md has no row `{row}…`");
    }
}

#[test]
fn layout_and_comments_do_not_change_a_digest() {
    use pointsman_kernel::chart::verify;
    for (name, source) in pointsman_agents::CHARTS {
        let bare: String = source
            .lines()
            .map(|line| line.split(" #").next().unwrap_or_default().trim_end())
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .flat_map(|line| [line, "\n"])
            .collect();
        let chart = verify(&bare, &pointsman_agents::registry()).expect("chart is verified");
        let shipped = pointsman_agents::chart(name)
            .expect("chart ships with the agents")
            .expect("chart is verified");
        assert_eq!(chart.digest(), shipped.digest(), "{name}");
    }
}

#[test]
fn children_cost_their_certificates() {
    for chart in charts() {
        let Some(child) = CHILDREN.iter().find(|child| child.name == chart.name()) else {
            // A chart that is bounded per turn is not bounded as a whole.
            assert_eq!(chart.certificate().per, pointsman_kernel::chart::CertificateScope::Turn);
            continue;
        };
        assert_eq!(child.certificate, chart.certificate(), "{}", chart.name());
    }
}

#[test]
fn budget_does_not_bound_a_childs_calls() {
    let source = r#"
        chart = "parent"
        version = 1
        start = "asking"
        authority = "propose"
        [budget]
        models = { max = 1, charge = "model_call", else = "over" }
        tools = { max = 1, charge = "tool_call", else = "over" }
        [any]
        cancel = "cancelled"
        [state.asking]
        run = "agent"
        with = { chart = "research", goal = "{goal}", into = "result" }
        timeout = "6m"
        on.succeeded = "done"
        on.child_failed = "failed"
        on.failed = "failed"
        [state.done]
        final = "succeeded"
        [state.over]
        final = "budget"
        [state.failed]
        final = "failed"
        [state.cancelled]
        final = "cancelled"
    "#;
    let chart = pointsman_kernel::chart::verify(source, &pointsman_agents::registry());
    let chart = chart.expect("chart is verified");
    let research = CHILDREN
        .iter()
        .find(|child| child.name == "research")
        .expect("child chart ships with the agents");
    let calls = |it: &pointsman_kernel::chart::Certificate| (it.model_calls, it.tool_calls);
    assert_eq!(calls(&chart.certificate()), calls(&research.certificate));
}

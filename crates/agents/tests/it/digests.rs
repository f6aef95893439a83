//! A shipped chart does not change unnoticed.

use pointsman_agents::CHILDREN;

use crate::charts;

/// Changing a chart means a new version, a new digest here, and a line in
/// `docs/decisions.md`.
const PINNED: &[(&str, u32, &str)] = &[
    ("chat", 1, "1a28ab49033c0cdc1c3fd8dc9d63b40df210617914b72557eda0607046ac3efe"),
    ("code", 1, "c3243133cffb41e5dcde337fe581d92b3f664ef2d7e491e08049f5c77f1bc7f1"),
    ("research", 1, "650b64fb419b5710100be1869d0def77a01789276ed1a9a5f95993e22a56e33f"),
    ("form", 1, "1033042909cac881df2303695ab13d3e483bc2b1658133453c931b6ea8075be4"),
    ("explore", 1, "f06439b117e27eaf2ec5f5c87b06da546735ce8744c973f437d692e3a44db464"),
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
        let chart = verify(&bare, &pointsman_agents::registry()).expect("it is still sound");
        let shipped = pointsman_agents::chart(name).expect("it ships").expect("it is sound");
        assert_eq!(chart.digest(), shipped.digest(), "{name}");
    }
}

#[test]
fn children_cost_what_their_certificates_say() {
    for chart in charts() {
        let Some(child) = CHILDREN.iter().find(|child| child.name == chart.name()) else {
            // A chart that is bounded per turn is not bounded as a whole.
            assert_eq!(chart.certificate().per, pointsman_kernel::chart::Per::Turn);
            continue;
        };
        assert_eq!(child.certificate, chart.certificate(), "{}", chart.name());
    }
}

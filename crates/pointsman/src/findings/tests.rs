//! What a comparison finds.

use pointsman_agents::explore::{
    ScreenId,
    map::{ActionResult, AppMap, MapAction, MapEdge, MapScreen, Mishap, MishapKind},
};

use super::compare::Compared;

fn map(screens: &[&str], crashes: &[&str]) -> AppMap {
    let id = |name: &str| ScreenId(name.into());
    let sight = |name: &&str| MapScreen { id: id(name), ..MapScreen::default() };
    let edge = |pair: &[&str]| MapEdge {
        from: id(pair[0]),
        action: MapAction { key: "tap".into(), ..MapAction::default() },
        to: ActionResult::Screen(id(pair[1])),
        times: 1,
        first: 0,
    };
    let mishap = |name: &&str| Mishap {
        kind: MishapKind::Crash,
        screen: Some(id(name)),
        key: "tap".into(),
        times: 1,
        otherwise: 0,
        path: Vec::new(),
    };
    AppMap {
        screens: screens.iter().map(sight).collect(),
        edges: screens.windows(2).map(edge).collect(),
        mishaps: crashes.iter().map(mishap).collect(),
        ..AppMap::default()
    }
}

#[test]
fn differences_are_lost_or_new() {
    let before = map(&["a", "b", "c"], &["a"]);
    let same = Compared::new(&before, &before);
    assert_eq!((same.screens.same, same.edges.same, same.crashes.same), (3, 2, 1));
    assert!(same.screens.lost.is_empty() && same.edges.lost.is_empty());
    let after = Compared::new(&before, &map(&["a", "b", "c", "d"], &[]));
    assert!(after.screens.lost.is_empty() && after.edges.lost.is_empty());
    assert_eq!((after.screens.new.len(), after.crashes.lost.len()), (1, 1));
    let after = Compared::new(&before, &map(&["a", "b"], &["a"]));
    assert_eq!((after.screens.lost.len(), after.edges.lost.len()), (1, 1));
    let after = Compared::new(&before, &map(&["a", "b", "c"], &["a", "b"]));
    assert_eq!((after.crashes.new.len(), after.crashes.same), (1, 1));
}

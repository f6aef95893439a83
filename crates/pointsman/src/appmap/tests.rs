//! Where the cards of a map lie.

use pointsman_agents::explore::{
    ScreenId,
    map::{ActionResult, AppMap, MapAction, MapEdge, MapScreen},
};

use super::{
    paint,
    scene::{CardSubject, MapCard, Scene},
};
use crate::draw::text::Face;

fn id(number: usize) -> ScreenId {
    ScreenId(format!("{number:016x}"))
}

fn edge(from: usize, to: ActionResult, key: &str) -> MapEdge {
    let action = MapAction { key: key.into(), ..MapAction::default() };
    MapEdge { from: id(from), action, to, times: 1, first: 0 }
}

/// Screens that each lead to three further ones, and back to where they came from.
fn map(count: usize) -> AppMap {
    let screens = (0..count).map(|at| MapScreen { id: id(at), ..MapScreen::default() }).collect();
    let mut edges = Vec::new();
    for at in 1..count {
        edges.push(edge((at - 1) / 3, ActionResult::Screen(id(at)), &format!("tap {at}")));
        edges.push(edge(at, ActionResult::Screen(id((at - 1) / 3)), "back"));
        edges.push(edge(at, ActionResult::Screen(id((at * 7) % count)), "tap across"));
    }
    edges.push(edge(count - 1, ActionResult::Crash, "tap crash"));
    edges.push(edge(0, ActionResult::Outside("other".into()), "tap out"));
    AppMap { screens, edges, ..AppMap::default() }
}

fn overlap(one: &MapCard, two: &MapCard) -> bool {
    one.x < two.x + two.width
        && two.x < one.x + one.width
        && one.y < two.y + two.height
        && two.y < one.y + one.height
}

#[test]
fn cards_lie_apart_and_inside_the_picture() {
    for (count, pictured) in [(1, true), (2, true), (13, true), (50, true), (200, false)] {
        let scene = Scene::new(&map(count), pictured);
        assert_eq!(scene.cards.len(), count + 2, "a card for every screen, crash and app");
        for (at, card) in scene.cards.iter().enumerate() {
            assert!(card.x >= 0 && card.y >= 0, "{card:?}");
            assert!(card.x + card.width <= scene.width && card.y + card.height <= scene.height);
            let mut rest = scene.cards.iter().skip(at + 1);
            assert!(!rest.any(|other| overlap(card, other)), "{count}: {card:?}");
        }
    }
}

#[test]
fn every_card_but_the_start_hangs_on_the_tree() {
    let scene = Scene::new(&map(200), false);
    let mut reached: Vec<usize> = scene.ways.iter().filter(|it| it.tree).map(|it| it.to).collect();
    reached.sort_unstable();
    reached.dedup();
    assert_eq!(reached.len(), scene.cards.len() - 1);
    assert!(scene.ways.iter().all(|it| it.tree), "a large map has no ways across");
    let more: usize = scene.cards.iter().map(|it| it.more).sum();
    assert!(more > 0, "what is not drawn is counted");
    assert!(scene.ways.iter().any(|it| it.both), "a way back is part of the way there");
}

#[test]
fn a_crash_hangs_on_its_screen() {
    let scene = Scene::new(&map(5), true);
    let crash = scene.cards.iter().position(|it| matches!(it.what, CardSubject::Wrong(..)));
    let way = scene.ways.iter().find(|it| Some(it.to) == crash).expect("a way to the crash");
    assert_eq!(scene.cards[way.from].what, CardSubject::Screen(4));
}

/// Returns the class, the place and the words of every text.
fn texts(svg: &str) -> Vec<(&str, i64, i64, &str)> {
    let of = |line: &str, name: &str| -> Option<i64> {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()?.parse().ok()
    };
    svg.lines()
        .filter_map(|line| {
            let class = line.strip_prefix("<text class=\"")?.split('"').next()?;
            let words = line.split_once('>')?.1.strip_suffix("</text>")?;
            Some((class, of(line, "x")?, of(line, "y")?, words))
        })
        .collect()
}

#[test]
fn words_on_a_small_card_stay_on_it_and_apart() {
    for (dialog, dead, more) in [(true, false, 12), (false, true, 1), (false, false, 0)] {
        let mut scene = Scene::new(&map(200), false);
        let card = &mut scene.cards[0];
        (card.more, card.start) = (more, false);
        let screen = MapScreen {
            activity: "com.android.GrantPermissionsActivity".into(),
            title: "图书馆应用程序需要访问您的照片和媒体内容".into(),
            seen: 114,
            tried: 113,
            dialog,
            ..MapScreen::default()
        };
        let mut svg = String::new();
        paint::words(&screen, card, (card.x + 10, dead), &mut svg).expect("a string takes it");
        let mut spans = Vec::new();
        for (class, x, y, words) in texts(&svg) {
            let (face, end) = match class {
                "name" | "mark end" => (Face::Name, class == "mark end"),
                "code" => (Face::Code, false),
                _ => (Face::Small, false),
            };
            let width = face.width(words);
            let left = if end { x - width } else { x };
            assert!(left >= card.x && left + width <= card.x + card.width, "{words}: {svg}");
            assert!(y < card.y + card.height, "{words}: {svg}");
            for (other, from, to) in &spans {
                assert!(*other != y || left >= *to || left + width <= *from, "{words}: {svg}");
            }
            spans.push((y, left, left + width));
        }
        assert!(spans.len() >= 3, "{svg}");
    }
}

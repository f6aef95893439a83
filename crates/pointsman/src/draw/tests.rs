//! Laws of the layout, held for the shipped charts and for a hundred made-up ones.

use std::fmt::Write;

use pointsman_agents::{AGENTS, CHARTS, registry};
use pointsman_kernel::chart::{Chart, verify};

use super::{
    layout::{Layout, Rect, layout},
    plan::{DrawPlan, MARKER},
    text::{Face, escape},
};

/// A small generator: the same charts on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((self.0 >> 33) % u64::try_from(sides).unwrap()).unwrap()
    }
}

const KINDS: [(&str, &[&str]); 5] = [
    (
        "run = \"shell\"\ntools = [\"shell\"]\nwith = { command = [\"ls\"] }",
        &["ok", "nonzero", "failed", "denied", "stuck"],
    ),
    ("decide = \"match\"\nwith = { slot = \"x\" }", &["other", "left", "right_or_so", "down"]),
    ("await = [\"input\", \"input_closed\"]", &["input", "input_closed"]),
    (
        "run = \"tool.call\"\ntools = [\"read\", \"write\", \"git\", \"list\"]\nwith = { tool = \"read\", args = { path = \"a\" } }",
        &["ok", "failed", "denied", "stuck"],
    ),
    ("run = \"model.reply\"\nattempts = 3\nwith = { prompt = \"x\" }", &["completed", "failed"]),
];

/// Makes up a chart of that many states, the two final ones included.
fn made_up(seed: u64, states: usize) -> String {
    let mut dice = Dice(seed);
    let last = states - 3;
    let name = |at: usize| match seed % 5 {
        0 => format!("a_name_of_sixty_letters_that_is_hard_to_fit_into_any_box_{at:03}"),
        1 => format!("s{at}"),
        _ => format!("working_on_{at}"),
    };
    let kinds: Vec<usize> =
        (0..=last).map(|at| if at == last { 0 } else { dice.roll(KINDS.len()) }).collect();
    let mut ways: Vec<Vec<Option<String>>> =
        kinds.iter().map(|kind| vec![None; KINDS[*kind].1.len()]).collect();
    for at in 1..=last {
        // A tree reaches every state; there is always a free outcome, as each has two.
        let near = at.saturating_sub(1 + dice.roll(5));
        let parent = (near..at).chain(0..near).find(|from| ways[*from].contains(&None)).unwrap();
        let free: Vec<usize> =
            (0..ways[parent].len()).filter(|way| ways[parent][*way].is_none()).collect();
        let way = free[dice.roll(free.len())];
        ways[parent][way] = Some(format!("\"{}\"", name(at)));
    }
    let back = |to: usize| Some(format!("{{ to = \"{}\", spend = \"loops\" }}", name(to)));
    for at in 0..=last {
        if ways[at].iter().all(Option::is_none) {
            ways[at][0] = Some("\"done\"".into());
        }
        if at == last {
            ways[at][1] = back(dice.roll(at + 1));
        }
        for way in 0..ways[at].len() {
            let to = match dice.roll(10) {
                0..3 if kinds[at] != 1 => back(dice.roll(at + 1)),
                3..5 => Some("\"broken\"".into()),
                5..8 if at < last => Some(format!("\"{}\"", name(at + 1 + dice.roll(last - at)))),
                _ => Some("\"done\"".into()),
            };
            ways[at][way] = ways[at][way].take().or(to);
        }
    }
    let mut text = format!(
        "chart = \"made_up\"\njobs = \"builtin\"\nversion = 1\nstart = \"{}\"\nauthority = \"propose\"\n\
         slots = {{ x = \"left\" }}\n\
         [budget]\nloops = {{ max = 3, else = \"broken\" }}\n[any]\ncancel = \"broken\"\n\
         [defaults]\ntimeout = \"30s\"\n",
        name(0)
    );
    for at in 0..=last {
        let (does, outcomes) = KINDS[kinds[at]];
        writeln!(text, "[state.{}]\n{does}", name(at)).unwrap();
        for (outcome, to) in outcomes.iter().zip(&ways[at]) {
            writeln!(text, "on.{outcome} = {}", to.as_ref().unwrap()).unwrap();
        }
    }
    text + "[state.done]\nfinal = \"succeeded\"\n[state.broken]\nfinal = \"failed\"\n"
}

fn planned(chart: &Chart) -> DrawPlan {
    DrawPlan::new(chart, AGENTS.iter().find(|agent| agent.name == chart.jobs()))
}

fn overlap(one: &Rect, two: &Rect) -> bool {
    one.x < two.x + two.width
        && two.x < one.x + one.width
        && one.y < two.y + two.height
        && two.y < one.y + one.height
}

/// Returns whether a level or upright line runs through the inside of a box.
fn runs_through(line: &[(i64, i64)], place: &Rect) -> bool {
    let ((ax, ay), (bx, by)) = (line[0], line[1]);
    let inside = |low: i64, high: i64, from: i64, size: i64| low < from + size && from < high;
    inside(ax.min(bx), ax.max(bx).max(ax.min(bx) + 1), place.x, place.width)
        && inside(ay.min(by), ay.max(by).max(ay.min(by) + 1), place.y, place.height)
        && (ax != bx || ax > place.x)
        && (ay != by || ay > place.y)
}

/// Returns whether two lines lie on one another for a while.
fn merge(one: &[(i64, i64)], two: &[(i64, i64)]) -> bool {
    let along = |a: i64, b: i64, c: i64, d: i64| a.min(b).max(c.min(d)) < a.max(b).min(c.max(d));
    let ((ax, ay), (bx, by)) = (one[0], one[1]);
    let ((cx, cy), (dx, dy)) = (two[0], two[1]);
    (ax == bx && cx == dx && ax == cx && along(ay, by, cy, dy))
        || (ay == by && cy == dy && ay == cy && along(ax, bx, cx, dx))
}

fn boxes(plan: &DrawPlan, layout: &Layout) -> Vec<(String, Rect)> {
    let mut boxes = Vec::new();
    for ((card, place), notes) in plan.cards.iter().zip(&layout.cards).zip(&layout.notes) {
        let marker = if card.start { MARKER } else { 0 };
        let place = Rect { x: place.x - marker, width: place.width + marker, ..*place };
        boxes.push((card.name.clone(), place));
        boxes.extend(card.notes.iter().zip(notes).map(|(note, at)| (note.name.clone(), *at)));
    }
    boxes
}

/// Holds a layout to every law.
fn hold(plan: &DrawPlan, layout: &Layout) {
    let boxes = boxes(plan, layout);
    let mut all = boxes.clone();
    for (arrow, place) in plan.arrows.iter().zip(&layout.tags) {
        all.push((arrow.outcomes.join(", "), *place));
    }
    for (at, (name, place)) in all.iter().enumerate() {
        assert!(place.x >= 0 && place.x + place.width <= layout.width, "`{name}` is outside");
        assert!(place.y >= 0 && place.y + place.height <= layout.height, "`{name}` is outside");
        for (other, second) in &all[at + 1..] {
            assert!(!overlap(place, second), "`{name}` lies over `{other}`");
        }
    }
    for (at, way) in layout.ways.iter().enumerate() {
        let arrow = &plan.arrows[at];
        let told = super::told(plan, arrow);
        for line in way.windows(2) {
            assert!(line[0].0 == line[1].0 || line[0].1 == line[1].1, "{told} is slanted");
            for (name, place) in &boxes {
                assert!(!runs_through(line, place), "{told} runs through `{name}`");
            }
            for (other, place) in layout.tags.iter().enumerate().filter(|(other, _)| *other != at) {
                let text = &plan.arrows[other].outcomes;
                assert!(!runs_through(line, place), "{told} runs through the text {text:?}");
            }
            for (other, second) in layout.ways.iter().enumerate().take(at) {
                // Ways to one card share their lane.
                if plan.arrows[other].to != arrow.to {
                    let merged = second.windows(2).any(|two| merge(line, two));
                    assert!(
                        !merged,
                        "{told} and {} are one",
                        super::told(plan, &plan.arrows[other])
                    );
                }
            }
        }
        let port = |(x, _): (i64, i64), card: usize| {
            let place = &layout.cards[card];
            assert!(x > place.x && x < place.x + place.width, "{told} misses its card");
        };
        let tag = &layout.tags[at];
        let middle = tag.x + tag.width / 2;
        let on = |line: &[(i64, i64)]| {
            (line[0].0 - middle).abs() <= 1 && line[0].1 <= tag.y && tag.y + tag.height <= line[1].1
        };
        assert!(way.windows(2).any(on), "the text of {told} is not on it");
        port(way[0], arrow.from);
        port(*way.last().unwrap(), arrow.to);
        assert!(Face::Label.widest(&arrow.lines) <= layout.tags[at].width, "{told} is too wide");
    }
    for card in &plan.cards {
        for (face, line) in &card.lines {
            assert!(face.width(line) <= card.width - 44, "{line} does not fit its card");
        }
    }
}

#[test]
fn nothing_overlaps_in_the_shipped_charts() {
    for (_, text) in CHARTS {
        let chart = verify(text, &registry()).unwrap();
        let plan = planned(&chart);
        let first = layout(&plan);
        hold(&plan, &first);
        assert_eq!(first, layout(&planned(&chart)), "the layout is not the same every time");
    }
}

// In two halves, so that two threads share the work.
#[test]
fn nothing_overlaps_in_made_up_charts_of_even_seeds() {
    (0..100).step_by(2).for_each(holds_for);
}

#[test]
fn nothing_overlaps_in_made_up_charts_of_odd_seeds() {
    (1..100).step_by(2).for_each(holds_for);
}

fn holds_for(seed: u64) {
    // Small charts are the most; the last is the largest.
    let states = 3 + usize::try_from(seed * seed).unwrap() * 37 / (99 * 99);
    let text = made_up(seed, states);
    let chart = verify(&text, &registry()).unwrap_or_else(|refused| panic!("{refused:?}\n{text}"));
    assert_eq!(chart.states().len(), states);
    let plan = planned(&chart);
    hold(&plan, &layout(&plan));
}

#[test]
fn text_is_broken_at_joints_and_fits() {
    let lines = Face::Name.wrap("waiting_for_somebody_who_comes_late", 120);
    assert_eq!(lines.concat(), "waiting_for_somebody_who_comes_late");
    assert!(lines.iter().all(|line| Face::Name.width(line) <= 120), "{lines:?}");
    let lines = Face::Code.wrap(&"x".repeat(60), 100);
    assert!(lines.len() > 1 && lines.iter().all(|line| Face::Code.width(line) <= 100), "{lines:?}");
    assert_eq!(Face::Small.wrap("short", 100), ["short"]);
    assert_eq!(escape("<a & \"b\">\u{7}"), "&lt;a &amp; &quot;b&quot;&gt; ");
}

#[test]
fn letters_that_fill_a_square_are_as_wide_as_they_are_high() {
    assert_eq!(Face::Small.width("图书馆"), 30);
    assert_eq!(Face::Code.width("图书馆"), 30);
    assert_eq!(Face::Small.width("e\u{301}"), Face::Small.width("e"), "an accent has no width");
    assert_eq!(escape("a\u{ffff}<b\u{7}>"), "a &lt;b &gt;");
}

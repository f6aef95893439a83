//! The content and layout of a map: a tree of the shortest paths from the start, from left to
//! right, and the other paths across it.

use std::collections::{BTreeMap, VecDeque};

use pointsman_agents::explore::{
    ScreenId,
    map::{ActionResult, AppMap, MapAction, MishapKind},
};

/// The size of a card, with and without a picture.
const CARD: (i64, i64) = (190, 62);
const PICTURED: (i64, i64) = (232, 144);
/// The size of nodes that are not screens.
const SMALL: (i64, i64) = (150, 36);
/// The room between two columns, and between two cards of one.
pub(super) const GAP: (i64, i64) = (210, 18);
/// With more screens than this, only the shortest paths are drawn; the others are counted.
const MAX_CROSSING: usize = 60;

/// Cards and ways with their places.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub(super) cards: Vec<MapCard>,
    pub(super) ways: Vec<MapRoute>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// The subject of a card.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum CardSubject {
    /// A screen, by its place in the map.
    Screen(usize),
    /// An edge on which the app went down, by its place in the map.
    Wrong(usize, MishapKind),
    /// Another app.
    Outside(String),
}

/// A card.
#[derive(Debug)]
pub(super) struct MapCard {
    pub(super) what: CardSubject,
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) start: bool,
    /// Ways from here that are not drawn.
    pub(super) more: usize,
    depth: usize,
    parent: Option<usize>,
}

/// A way from one card to another.
#[derive(Debug)]
pub(super) struct MapRoute {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The action that is written on it.
    pub(super) label: String,
    /// All actions, as a tooltip.
    pub(super) told: String,
    /// Whether it belongs to the tree.
    pub(super) tree: bool,
    /// Whether a way leads back as well.
    pub(super) both: bool,
}

impl Scene {
    pub(super) fn new(map: &AppMap, pictured: bool) -> Self {
        let mut scene = Self::default();
        let size = if pictured { PICTURED } else { CARD };
        let starts = map.starts();
        for (at, screen) in map.screens.iter().enumerate() {
            scene.card(CardSubject::Screen(at), size, starts.contains(&screen.id));
        }
        let mut joined: BTreeMap<(usize, usize), Vec<(&MapAction, u32)>> = BTreeMap::new();
        for (at, edge) in map.edges.iter().enumerate() {
            let place = |id: &ScreenId| map.screens.iter().position(|it| it.id == *id);
            let Some(from) = place(&edge.from) else { continue };
            let to = match &edge.to {
                ActionResult::Screen(id) => place(id),
                ActionResult::Outside(package) => {
                    Some(scene.card(CardSubject::Outside(package.clone()), SMALL, false))
                }
                ActionResult::Unknown => None,
                wrong => {
                    wrong.kind().map(|kind| scene.card(CardSubject::Wrong(at, kind), SMALL, false))
                }
            };
            let Some(to) = to else { continue };
            joined.entry((from, to)).or_default().push((&edge.action, edge.times));
        }
        scene.grow(&joined);
        scene.place();
        scene.join(&joined, map.screens.len() <= MAX_CROSSING);
        scene
    }

    fn card(&mut self, what: CardSubject, (width, height): (i64, i64), start: bool) -> usize {
        if let Some(at) = self.cards.iter().position(|it| it.what == what) {
            return at;
        }
        let (depth, parent) = (usize::MAX, None);
        self.cards.push(MapCard { what, x: 0, y: 0, width, height, start, more: 0, depth, parent });
        self.cards.len() - 1
    }

    /// Finds every card's predecessor on the shortest path from a start.
    fn grow(&mut self, joined: &BTreeMap<(usize, usize), Vec<(&MapAction, u32)>>) {
        let mut roots: Vec<usize> = (0..self.cards.len()).collect();
        roots.sort_by_key(|at| (!self.cards[*at].start, *at));
        for root in roots {
            if self.cards[root].depth != usize::MAX {
                continue;
            }
            self.cards[root].depth = 0;
            let mut next = VecDeque::from([root]);
            while let Some(from) = next.pop_front() {
                for (_, to) in joined.keys().filter(|(it, _)| *it == from) {
                    // A start that is reached from another one stays a start.
                    if self.cards[*to].depth == usize::MAX && !self.cards[*to].start {
                        self.cards[*to].depth = self.cards[from].depth + 1;
                        self.cards[*to].parent = Some(from);
                        next.push_back(*to);
                    }
                }
            }
        }
    }

    /// Gives every card its place: children below each other, a parent beside the first of them,
    /// so that the start is where one begins to read.
    fn place(&mut self) {
        let count = self.cards.len();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut roots = Vec::new();
        for at in 0..count {
            match self.cards[at].parent {
                Some(parent) => children[parent].push(at),
                None => roots.push(at),
            }
        }
        let widest = self.cards.iter().map(|it| it.width).max().unwrap_or(0);
        // Where the next card may lie: anywhere, and in each column.
        let (mut below, mut free) = (0, BTreeMap::new());
        let mut stack: Vec<(usize, bool)> = roots.iter().rev().map(|at| (*at, false)).collect();
        while let Some((at, done)) = stack.pop() {
            let depth = i64::try_from(self.cards[at].depth).unwrap_or(0);
            self.cards[at].x = depth * (widest + GAP.0);
            let of = &children[at];
            match of.first() {
                Some(first) if done => {
                    let first = &self.cards[*first];
                    let wanted = first.y + first.height / 2 - self.cards[at].height / 2;
                    // A card that is higher than all its children together needs more room.
                    let room = free.get(&self.cards[at].depth).copied().unwrap_or(0);
                    let short = (room - wanted).max(0);
                    self.cards[at].y = wanted + short;
                    if short > 0 {
                        self.lower(of, &children, short);
                        below += short;
                    }
                    below = below.max(self.cards[at].y + self.cards[at].height + GAP.1);
                    free.insert(
                        self.cards[at].depth,
                        self.cards[at].y + self.cards[at].height + GAP.1,
                    );
                }
                Some(_) => {
                    stack.push((at, true));
                    stack.extend(of.iter().rev().map(|child| (*child, false)));
                }
                None => {
                    self.cards[at].y = below;
                    below += self.cards[at].height + GAP.1;
                    free.insert(self.cards[at].depth, below);
                }
            }
        }
        self.width = self.cards.iter().map(|it| it.x + it.width).max().unwrap_or(0);
        self.height = self.cards.iter().map(|it| it.y + it.height).max().unwrap_or(0);
    }

    /// Moves cards and all that hangs on them down.
    fn lower(&mut self, cards: &[usize], children: &[Vec<usize>], by: i64) {
        let mut next = cards.to_vec();
        while let Some(at) = next.pop() {
            self.cards[at].y += by;
            next.extend(&children[at]);
        }
    }

    fn join(&mut self, joined: &BTreeMap<(usize, usize), Vec<(&MapAction, u32)>>, crossing: bool) {
        for ((from, to), actions) in joined {
            let tree = self.cards[*to].parent == Some(*from);
            let returns = self.cards[*from].parent == Some(*to);
            if !tree && (returns || !crossing) {
                self.cards[*from].more += usize::from(!returns);
                continue;
            }
            let name = |(action, times): &(&MapAction, u32)| match times {
                1 => action.name(),
                times => format!("{} ×{times}", action.name()),
            };
            let label = match actions.as_slice() {
                [] => String::new(),
                [only] => name(only),
                [first, more @ ..] => format!("{} +{}", name(first), more.len()),
            };
            let told: Vec<String> = actions.iter().map(name).collect();
            let (told, both) = (told.join("\n"), tree && joined.contains_key(&(*to, *from)));
            self.ways.push(MapRoute { from: *from, to: *to, label, told, tree, both });
        }
    }
}

//! Rows of nodes and the links between them: the graph that is put in order.
//!
//! Cards and the tags of their arrows take turns: row 0 holds cards, row 1 the
//! tags of what leaves them, and so on. An arrow leaves its card at the bottom and
//! enters the next at the top. In between it runs in lanes, one node per row that
//! it passes. Arrows to the same card share their lane, as tracks join at points.

use std::{cmp::Ordering, collections::BTreeMap};

use super::plan::{DrawPlan, PORT_INSET};

/// What a node is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GridItem {
    /// A card, by its number.
    Card(usize),
    /// The text on an arrow, by the arrow's number.
    Tag(usize),
    /// A piece of a lane.
    Lane,
}

/// A place in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridNode {
    pub(super) item: GridItem,
    pub(super) row: usize,
    /// How far it reaches to the left of its middle.
    pub(super) left: i64,
    /// How far it reaches to the right.
    pub(super) right: i64,
    /// How far from its middle arrows can meet it.
    pub(super) ports: i64,
}

/// How a link runs through the channel between two rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bend {
    /// From the row above to the row below.
    Through,
    /// Between two nodes of the row above.
    Cup,
    /// Between two nodes of the row below.
    Cap,
}

/// A connection of two nodes through one channel. Links of one net never cross.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridLink {
    pub(super) net: usize,
    /// The channel lies above the row of the same number.
    pub(super) channel: usize,
    pub(super) bend: Bend,
    /// The upper node, or one of two in a row.
    pub(super) a: usize,
    /// The lower node, or the other.
    pub(super) b: usize,
}

/// One passage of an arrow through a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridHop {
    pub(super) net: usize,
    pub(super) channel: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The whole graph.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub(super) nodes: Vec<GridNode>,
    /// The nodes of every row, from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    pub(super) links: Vec<GridLink>,
    /// The links of every node.
    pub(super) linked: Vec<Vec<usize>>,
    /// The cards in the next rows that each card leads to or comes from, and how much the two
    /// should align.
    pub(super) spine: Vec<Vec<(usize, i64)>>,
    /// The way of every arrow.
    pub(super) hops: Vec<Vec<GridHop>>,
    /// Whether an arrow leads up, or back to its own card.
    pub(super) back: Vec<bool>,
    /// The node of every card.
    pub(super) cards: Vec<usize>,
    /// The node of every tag.
    pub(super) tags: Vec<usize>,
    /// The lanes: the nodes of a net, by row.
    pub(super) lanes: BTreeMap<usize, BTreeMap<usize, usize>>,
}

/// Half the width of a lane.
const LANE: i64 = 5;

impl Grid {
    /// Builds the graph of a plan with its cards in these rows.
    pub(super) fn new(plan: &DrawPlan, ranks: &[usize]) -> Self {
        let mut grid = Self::default();
        let rows = ranks.iter().max().map_or(0, |last| 2 * last + 2);
        grid.rows = vec![Vec::new(); rows];
        for (at, card) in plan.cards.iter().enumerate() {
            let node = grid.node(GridItem::Card(at), 2 * ranks[at], card.left(), card.right());
            grid.nodes[node].ports = card.width / 2 - PORT_INSET;
            grid.cards.push(node);
        }
        for (at, arrow) in plan.arrows.iter().enumerate() {
            let half = (arrow.width + 1) / 2;
            let node = grid.node(GridItem::Tag(at), 2 * ranks[arrow.from] + 1, half, half);
            grid.tags.push(node);
        }
        for at in 0..plan.arrows.len() {
            grid.lay(plan, ranks, at);
        }
        grid.linked = vec![Vec::new(); grid.nodes.len()];
        for (at, link) in grid.links.iter().enumerate() {
            grid.linked[link.a].push(at);
            grid.linked[link.b].push(at);
        }
        grid.spine = vec![Vec::new(); grid.nodes.len()];
        let mut led = vec![false; plan.cards.len()];
        for arrow in &plan.arrows {
            // The first outcome is how things should go.
            let heavy = if std::mem::replace(&mut led[arrow.from], true) { 1 } else { 4 };
            if ranks[arrow.to] == ranks[arrow.from] + 1 {
                let (from, to) = (grid.cards[arrow.from], grid.cards[arrow.to]);
                grid.spine[from].push((to, heavy));
                grid.spine[to].push((from, heavy));
            }
        }
        grid
    }

    fn node(&mut self, item: GridItem, row: usize, left: i64, right: i64) -> usize {
        self.nodes.push(GridNode { item, row, left, right, ports: 0 });
        self.rows[row].push(self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn lane(&mut self, net: usize, row: usize) -> usize {
        if let Some(node) = self.lanes.get(&net).and_then(|lane| lane.get(&row)) {
            return *node;
        }
        let node = self.node(GridItem::Lane, row, LANE, LANE);
        self.lanes.entry(net).or_default().insert(row, node);
        node
    }

    /// Lays the way of one arrow.
    fn lay(&mut self, plan: &DrawPlan, ranks: &[usize], at: usize) {
        let arrow = &plan.arrows[at];
        let (source, target) = (2 * ranks[arrow.from], 2 * ranks[arrow.to]);
        let back = target <= source;
        // The way to the tag is the arrow's own; from there on it is the target's.
        let net = plan.arrows.len() + if back { plan.cards.len() } else { 0 } + arrow.to;
        let (first, tag, last) = (self.cards[arrow.from], self.tags[at], self.cards[arrow.to]);
        let mut hops = vec![GridHop { net: at, channel: source + 1, from: first, to: tag }];
        let mut from = tag;
        if back {
            let mut channel = source + 2;
            for row in (target..=source + 1).rev() {
                let to = self.lane(net, row);
                hops.push(GridHop { net, channel, from, to });
                (from, channel) = (to, row);
            }
        } else {
            for row in source + 2..target {
                let to = self.lane(net, row);
                hops.push(GridHop { net, channel: row, from, to });
                from = to;
            }
        }
        hops.push(GridHop { net, channel: target, from, to: last });
        for hop in &hops {
            self.link(*hop);
        }
        self.hops.push(hops);
        self.back.push(back);
    }

    fn link(&mut self, hop: GridHop) {
        let (from, to) = (self.nodes[hop.from].row, self.nodes[hop.to].row);
        let (bend, a, b) = match from.cmp(&to) {
            Ordering::Equal if hop.channel == from => (Bend::Cap, hop.from, hop.to),
            Ordering::Equal => (Bend::Cup, hop.from, hop.to),
            Ordering::Less => (Bend::Through, hop.from, hop.to),
            Ordering::Greater => (Bend::Through, hop.to, hop.from),
        };
        let link = GridLink { net: hop.net, channel: hop.channel, bend, a, b };
        let same = |known: &GridLink| (known.net, known.a, known.b) == (link.net, a, b);
        // Arrows that share a lane share its links.
        if !self.links.iter().any(same) {
            self.links.push(link);
        }
    }
}

//! The finished layout: boxes, texts and lines with their places, as plain data.

use std::collections::BTreeMap;

use super::{
    grid::{Bend, Grid, GridItem},
    order::{RowOrder, orders},
    place::{in_order, place, unrest},
    plan::{DrawPlan, NOTE_GAP, PORT_GAP, PORT_INSET},
    rank::ranks,
    track::{Net, TrackRun, tracks},
};

/// The distance between two tracks of a channel.
const TRACK: i64 = 10;
/// The room above and below the tracks.
const PAD: i64 = 9;
/// The room that an arrowhead takes.
const HEAD: i64 = 8;

/// A rectangle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Rect {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// Everything that has a place.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Layout {
    pub(super) width: i64,
    pub(super) height: i64,
    /// The cards, by number.
    pub(super) cards: Vec<Rect>,
    /// The notes of every card.
    pub(super) notes: Vec<Vec<Rect>>,
    /// The texts on the arrows, by the arrow's number.
    pub(super) tags: Vec<Rect>,
    /// The corners of every arrow, from its card to the next.
    pub(super) ways: Vec<Vec<(i64, i64)>>,
    /// Whether an arrow leads back.
    pub(super) back: Vec<bool>,
}

/// Lays a plan out.
pub(super) fn layout(plan: &DrawPlan) -> Layout {
    let mut grid = Grid::new(plan, &ranks(plan));
    let mut best: Option<(i64, RowOrder, Vec<i64>)> = None;
    for order in orders(&mut grid) {
        grid.rows.clone_from(&order.1);
        let x = place(&grid);
        let cost = order.0 * 8 + unrest(&grid, &x);
        if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
            best = Some((cost, order, x));
        }
    }
    let (_, (_, rows), mut x) = best.unwrap_or_default();
    grid.rows = rows;
    let left = grid.nodes.iter().zip(&x).map(|(node, x)| x - node.left).min().unwrap_or(0);
    for x in &mut x {
        *x -= left;
    }
    let width = grid.nodes.iter().zip(&x).map(|(node, x)| x + node.right).max().unwrap_or(0);
    let pins = Pins::new(plan, &grid, &x);
    let channels = channels(&grid, &pins);
    Heights::new(plan, &grid, &channels).layout(plan, &grid, &pins, &channels, width)
}

/// Where nets meet nodes.
struct Pins<'a> {
    x: &'a [i64],
    nodes: Vec<GridItem>,
    /// Where arrows leave and nets enter the cards, by net and node.
    ports: BTreeMap<(usize, usize), i64>,
}

impl<'a> Pins<'a> {
    fn new(plan: &DrawPlan, grid: &Grid, x: &'a [i64]) -> Self {
        let mut ports = BTreeMap::new();
        for (card, node) in grid.cards.iter().enumerate() {
            let half = plan.cards[card].width / 2 - PORT_INSET;
            let range = (x[*node] - half, x[*node] + half);
            let mut leaving = Vec::new();
            let mut entering: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
            for link in grid.linked[*node].iter().map(|link| &grid.links[*link]) {
                if link.a == *node && link.bend == Bend::Through {
                    leaving.push((x[link.b], link.net));
                } else {
                    entering.entry(link.net).or_default().push(x[link.a]);
                }
            }
            let mut entering: Vec<(i64, usize)> =
                entering.into_iter().map(|(net, pins)| (nearest(&pins, x[*node]), net)).collect();
            for side in [&mut leaving, &mut entering] {
                side.sort_unstable();
                for (net, port) in spread(side, range) {
                    ports.insert((net, *node), port);
                }
            }
        }
        Self { x, nodes: grid.nodes.iter().map(|node| node.item).collect(), ports }
    }

    fn pin(&self, net: usize, node: usize) -> i64 {
        match self.nodes[node] {
            GridItem::Card(_) => self.ports.get(&(net, node)).copied().unwrap_or(self.x[node]),
            GridItem::Tag(_) | GridItem::Lane => self.x[node],
        }
    }
}

/// Returns the pin nearest to the middle of the card.
fn nearest(pins: &[i64], middle: i64) -> i64 {
    pins.iter().copied().min_by_key(|pin| ((pin - middle).abs(), *pin)).unwrap_or(middle)
}

/// Gives every wish a port in the range, with room between them.
fn spread(wishes: &[(i64, usize)], (low, high): (i64, i64)) -> Vec<(usize, i64)> {
    let gaps = i64::try_from(wishes.len().saturating_sub(1)).unwrap_or(0);
    let gap = PORT_GAP.min((high - low) / gaps.max(1));
    let steps = || (0..).map(|step: i64| step * gap);
    let room = |(wish, step): (&(i64, usize), i64)| {
        ((wish.0 - step).clamp(low, (high - gaps * gap).max(low)), 1)
    };
    let fitted: Vec<(i64, i64)> = wishes.iter().zip(steps()).map(room).collect();
    let ports = in_order(&fitted).into_iter().zip(steps()).map(|(port, step)| port + step);
    let mut ports: Vec<i64> = ports.collect();
    for (at, (wish, _)) in wishes.iter().enumerate() {
        // A jog of a few pixels looks worse than two ports that are near.
        let near =
            |other: Option<&i64>| other.is_some_and(|port| (port - wish).abs() < PORT_GAP - 4);
        let crowded = near(at.checked_sub(1).map(|at| &ports[at])) || near(ports.get(at + 1));
        if (ports[at] - wish).abs() <= 6 && !crowded {
            ports[at] = *wish;
        }
    }
    wishes.iter().map(|(_, net)| *net).zip(ports).collect()
}

/// The tracks of a channel.
struct Channel {
    runs: BTreeMap<usize, TrackRun>,
    count: usize,
}

fn channels(grid: &Grid, pins: &Pins<'_>) -> Vec<Channel> {
    let mut nets: Vec<BTreeMap<usize, Net>> = vec![BTreeMap::new(); grid.rows.len() + 1];
    for link in &grid.links {
        let net = nets[link.channel].entry(link.net).or_default();
        let (a, b) = (pins.pin(link.net, link.a), pins.pin(link.net, link.b));
        match link.bend {
            Bend::Through => {
                net.above.push(a);
                net.below.push(b);
            }
            Bend::Cup => net.above.extend([a, b]),
            Bend::Cap => net.below.extend([a, b]),
        }
    }
    let channel = |mut nets: BTreeMap<usize, Net>| {
        for net in nets.values_mut() {
            for side in [&mut net.above, &mut net.below] {
                side.sort_unstable();
                side.dedup();
            }
        }
        let (ids, nets): (Vec<usize>, Vec<Net>) = nets.into_iter().unzip();
        let (runs, count) = tracks(&nets);
        Channel { runs: ids.into_iter().zip(runs).collect(), count }
    };
    nets.into_iter().map(channel).collect()
}

/// How high rows and channels begin.
struct Heights {
    /// The top of every row.
    rows: Vec<i64>,
    /// The height of every row.
    sizes: Vec<i64>,
    /// The first track of every channel.
    channels: Vec<i64>,
    end: i64,
}

impl Heights {
    fn new(plan: &DrawPlan, grid: &Grid, channels: &[Channel]) -> Self {
        let (mut rows, mut heights, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut y = 0;
        for (at, channel) in channels.iter().enumerate() {
            starts.push(y + PAD);
            let across = i64::try_from(channel.count).unwrap_or(0);
            let head = if at % 2 == 0 && at > 0 { HEAD } else { 0 };
            y += match (across, at) {
                (0, 0) => 0,
                (0, _) => PAD + head,
                _ => 2 * PAD + (across - 1) * TRACK + head,
            };
            let Some(row) = grid.rows.get(at) else { break };
            let height = |node: &usize| match grid.nodes[*node].item {
                GridItem::Card(card) => plan.cards[card].reach(),
                GridItem::Tag(arrow) => plan.arrows[arrow].height,
                GridItem::Lane => 0,
            };
            let height = row.iter().map(height).max().unwrap_or(0);
            rows.push(y);
            heights.push(height);
            y += height;
        }
        Self { rows, sizes: heights, channels: starts, end: y }
    }

    fn layout(
        self,
        plan: &DrawPlan,
        grid: &Grid,
        pins: &Pins<'_>,
        channels: &[Channel],
        width: i64,
    ) -> Layout {
        let rect = |node: usize, width: i64, height: i64| {
            let row = grid.nodes[node].row;
            let y = self.rows[row] + (self.sizes[row] - height) / 2;
            Rect { x: pins.x[node] - width / 2, y, width, height }
        };
        let cards: Vec<Rect> = plan
            .cards
            .iter()
            .zip(&grid.cards)
            .map(|(card, node)| rect(*node, card.width, card.height))
            .collect();
        let tags = plan
            .arrows
            .iter()
            .zip(&grid.tags)
            .map(|(tag, node)| rect(*node, tag.width, tag.height));
        let notes = plan.cards.iter().zip(&cards).map(|(card, place)| {
            let all: i64 = card.notes.iter().map(|note| note.height + 6).sum();
            let mut y = place.y + (place.height - (all - 6)) / 2;
            let stacked = card.notes.iter().map(|note| {
                let x = place.x + place.width + NOTE_GAP;
                y += note.height + 6;
                Rect { x, y: y - note.height - 6, width: note.width, height: note.height }
            });
            stacked.collect()
        });
        let ways = grid.hops.iter().zip(&plan.arrows).map(|(hops, arrow)| {
            let (first, last) = (&cards[arrow.from], &cards[arrow.to]);
            let mut way = Vec::new();
            for (at, hop) in hops.iter().enumerate() {
                let (from, to) = (pins.pin(hop.net, hop.from), pins.pin(hop.net, hop.to));
                if at == 0 {
                    way.push((from, first.y + first.height));
                }
                let run = channels[hop.channel].runs.get(&hop.net).copied().unwrap_or_default();
                let y = |track: usize| {
                    self.channels[hop.channel] + i64::try_from(track).unwrap_or(0) * TRACK
                };
                let rows = (grid.nodes[hop.from].row, grid.nodes[hop.to].row);
                match run.lower {
                    Some((x, lower)) if rows.0 < rows.1 => {
                        let (high, low) = (y(run.upper), y(lower));
                        way.extend([(from, high), (x, high), (x, low), (to, low)]);
                    }
                    Some((x, lower)) if rows.0 > rows.1 => {
                        let (high, low) = (y(run.upper), y(lower));
                        way.extend([(from, low), (x, low), (x, high), (to, high)]);
                    }
                    Some((_, lower)) if rows.0 == hop.channel => {
                        way.extend([(from, y(lower)), (to, y(lower))]);
                    }
                    _ if from != to => way.extend([(from, y(run.upper)), (to, y(run.upper))]),
                    _ => {}
                }
                if at + 1 == hops.len() {
                    way.push((to, last.y));
                }
            }
            corners(&way)
        });
        let (ways, notes, tags) = (ways.collect(), notes.collect(), tags.collect());
        Layout { width, height: self.end, notes, tags, ways, cards, back: grid.back.clone() }
    }
}

/// Drops the points of a way where it does not turn.
fn corners(way: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut kept: Vec<(i64, i64)> = Vec::with_capacity(way.len());
    for point in way {
        while let [.., before, last] = kept.as_slice() {
            let upright = before.0 == last.0 && last.0 == point.0;
            let level = before.1 == last.1 && last.1 == point.1;
            if !(upright || level) {
                break;
            }
            kept.pop();
        }
        if kept.last() != Some(point) {
            kept.push(*point);
        }
    }
    kept
}

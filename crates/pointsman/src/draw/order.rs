//! The order of the nodes in their rows: as few crossings as sweeps can find.

use super::grid::{Bend, Grid, GridItem, GridLink};

/// Sweeps from each of the first orders.
const SWEEPS: usize = 6;
/// Shuffled first orders at most, beside the four plain ones.
const SHUFFLES: usize = 24;
/// Large charts get fewer: about this many links are put in order in all.
const LINKS: usize = 2_000;
/// How many of the orders found are worth more work.
const KEPT: usize = 6;
/// What a crossing costs; one place of distance in a bend costs 1.
const CROSSING: i64 = 6;

/// An order of every row and what it costs.
pub(super) type RowOrder = (i64, Vec<Vec<usize>>);

/// Finds orders for the rows, each the best that came of its first order.
///
/// Barycentre sweeps give orders, swapping neighbours improves each of them, and
/// the cheapest is kept. All of it is the same on every machine: ties keep the
/// order that was there before, and the shuffles are always the same.
pub(super) fn orders(grid: &mut Grid) -> Vec<RowOrder> {
    let first = grid.rows.clone();
    let mut found: Vec<RowOrder> = Vec::new();
    let share = LINKS / grid.links.len().max(1);
    let shuffles = share.min(SHUFFLES);
    for trial in 0..4 + shuffles {
        grid.rows.clone_from(&first);
        for (at, row) in grid.rows.iter_mut().enumerate() {
            let nodes = &grid.nodes;
            if trial % 2 == 1 {
                row.reverse();
            }
            row.sort_by_key(|node| (nodes[*node].item == GridItem::Lane) != (trial / 2 % 2 == 0));
            if trial >= 4 {
                shuffle(row, trial * 1_000 + at);
            }
        }
        let best = improve(grid);
        if !found.contains(&best) {
            found.push(best);
        }
    }
    found.sort_by_key(|(cost, _)| *cost);
    found.truncate(share.clamp(1, KEPT));
    for order in &mut found {
        move_lanes(grid, order);
    }
    found
}

/// Moves whole lanes to either side, for as long as that is cheaper.
///
/// Swapping neighbours cannot: half-way past a column of cards, a lane crosses
/// more than it does on either side.
fn move_lanes(grid: &mut Grid, best: &mut RowOrder) {
    let lanes: Vec<Vec<usize>> =
        grid.lanes.values().map(|lane| lane.values().copied().collect()).collect();
    for lane in lanes.iter().chain(&lanes) {
        for to_left in [true, false] {
            grid.rows.clone_from(&best.1);
            for node in lane {
                let row = &mut grid.rows[grid.nodes[*node].row];
                row.retain(|other| other != node);
                row.insert(if to_left { 0 } else { row.len() }, *node);
            }
            let mut seats = Seats::new(grid);
            seats.swap(grid);
            let cost = seats.cost(grid);
            if cost < best.0 {
                *best = (cost, grid.rows.clone());
            }
        }
    }
}

fn improve(grid: &mut Grid) -> RowOrder {
    let mut seats = Seats::new(grid);
    let mut best = (i64::MAX, grid.rows.clone());
    for sweep in 0..SWEEPS {
        seats.sweep(grid, sweep % 2 == 0);
        seats.swap(grid);
        let cost = seats.cost(grid);
        if cost < best.0 {
            best = (cost, grid.rows.clone());
        }
    }
    best
}

/// Shuffles a row by the numbers of a small generator.
fn shuffle(row: &mut [usize], seed: usize) {
    let mut state = seed % 65_521 + 1;
    for at in (1..row.len()).rev() {
        // Small enough for every platform's `usize`: Lehmer's generator.
        state = state * 17_364 % 65_521;
        row.swap(at, state % (at + 1));
    }
}

/// The place of every node in its row.
struct Seats(Vec<i64>);

impl Seats {
    fn new(grid: &Grid) -> Self {
        let mut seats = Self(vec![0; grid.nodes.len()]);
        for row in &grid.rows {
            seats.number(row);
        }
        seats
    }

    fn number(&mut self, row: &[usize]) {
        for (seat, node) in (0..).zip(row) {
            self.0[*node] = seat;
        }
    }

    /// Moves every node to the middle of its neighbours on one side.
    fn sweep(&mut self, grid: &mut Grid, down: bool) {
        let count = grid.rows.len();
        for step in 0..count {
            let at = if down { step } else { count - 1 - step };
            let mut row = std::mem::take(&mut grid.rows[at]);
            let key = |node: &usize| self.middle(grid, *node, row.len(), down);
            let keys: Vec<i64> = row.iter().map(key).collect();
            let mut places: Vec<usize> = (0..row.len()).collect();
            places.sort_by_key(|place| keys[*place]);
            row = places.into_iter().map(|place| row[place]).collect();
            self.number(&row);
            grid.rows[at] = row;
        }
    }

    /// Returns where a node should stand, in thousandths of its row.
    fn middle(&self, grid: &Grid, node: usize, own: usize, down: bool) -> i64 {
        let row = grid.nodes[node].row;
        let channel = if down { row } else { row + 1 };
        if grid.linked[node].is_empty() {
            // What stands alone is seated last, where there is room.
            return i64::MAX;
        }
        let (mut sum, mut count) = (0, 0);
        for link in grid.linked[node].iter().map(|link| &grid.links[*link]) {
            if link.channel != channel {
                continue;
            }
            let other = if link.a == node { link.b } else { link.a };
            let other_row = grid.nodes[other].row;
            let length = if other_row == row { own } else { grid.rows[other_row].len() };
            sum += self.share(other, length);
            count += 1;
        }
        if count == 0 { self.share(node, own) } else { sum / count }
    }

    fn share(&self, node: usize, length: usize) -> i64 {
        (2 * self.0[node] + 1) * 10_000 / (2 * i64::try_from(length).unwrap_or(1)).max(1)
    }

    /// Swaps neighbours for as long as that is cheaper.
    fn swap(&mut self, grid: &mut Grid) {
        for _ in 0..8 {
            let mut better = false;
            for row in 0..grid.rows.len() {
                for at in 1..grid.rows[row].len() {
                    let (left, right) = (grid.rows[row][at - 1], grid.rows[row][at]);
                    let before = self.pair(grid, left, right);
                    self.0.swap(left, right);
                    if self.pair(grid, left, right) < before {
                        grid.rows[row].swap(at - 1, at);
                        better = true;
                    } else {
                        self.0.swap(left, right);
                    }
                }
            }
            if !better {
                break;
            }
        }
    }

    /// Returns the cost that depends on the order of two neighbours.
    fn pair(&self, grid: &Grid, left: usize, right: usize) -> i64 {
        let mut cost = 0;
        for one in grid.linked[left].iter().map(|link| &grid.links[*link]) {
            for two in grid.linked[right].iter().map(|link| &grid.links[*link]) {
                cost += self.crossing(one, two);
            }
        }
        let both = grid.linked[left].iter().chain(&grid.linked[right]);
        cost + both.map(|link| self.length(&grid.links[*link])).sum::<i64>()
    }

    fn cost(&self, grid: &Grid) -> i64 {
        let mut cost = grid.links.iter().map(|link| self.length(link)).sum();
        let mut channels: Vec<Vec<&GridLink>> = vec![Vec::new(); grid.rows.len() + 1];
        for link in &grid.links {
            for other in &channels[link.channel] {
                cost += self.crossing(link, other);
            }
            channels[link.channel].push(link);
        }
        cost
    }

    /// Returns what it costs that a bend goes past others.
    fn length(&self, link: &GridLink) -> i64 {
        if link.bend == Bend::Through { 0 } else { (self.0[link.a] - self.0[link.b]).abs() }
    }

    fn crossing(&self, one: &GridLink, two: &GridLink) -> i64 {
        if one.channel != two.channel || one.net == two.net {
            return 0;
        }
        let at = |node: usize| self.0[node];
        let within = |node: usize, bend: &GridLink| {
            let (low, high) = (at(bend.a).min(at(bend.b)), at(bend.a).max(at(bend.b)));
            low < at(node) && at(node) < high
        };
        let crossed = match (one.bend, two.bend) {
            (Bend::Through, Bend::Through) => {
                (at(one.a) - at(two.a)).signum() * (at(one.b) - at(two.b)).signum() < 0
            }
            (Bend::Through, Bend::Cup) => within(one.a, two),
            (Bend::Through, Bend::Cap) => within(one.b, two),
            (Bend::Cup, Bend::Through) => within(two.a, one),
            (Bend::Cap, Bend::Through) => within(two.b, one),
            (Bend::Cup, Bend::Cup) | (Bend::Cap, Bend::Cap) => {
                within(one.a, two) != within(one.b, two)
            }
            (Bend::Cup, Bend::Cap) | (Bend::Cap, Bend::Cup) => false,
        };
        if crossed { CROSSING } else { 0 }
    }
}

//! The horizontal place of every node: near its links, lanes straight.

use super::grid::{Bend, Grid, GridItem};

/// Rounds of pulling nodes to their links.
const ROUNDS: usize = 40;
/// Pixels that a lane may stand too near to its neighbours to stay in line.
const SLACK: i64 = 3;

/// Returns the middle of every node, in pixels.
pub(super) fn place(grid: &Grid) -> Vec<i64> {
    let mut x = vec![0; grid.nodes.len()];
    for row in &grid.rows {
        let mut at = 0;
        for (place, node) in row.iter().enumerate() {
            if place > 0 {
                at += apart(grid, row[place - 1], *node);
            }
            x[*node] = at;
        }
        for node in row {
            x[*node] -= at / 2;
        }
    }
    for round in 0..ROUNDS {
        let count = grid.rows.len();
        for step in 0..count {
            let row = if round % 2 == 0 { step } else { count - 1 - step };
            pull(grid, &mut x, &grid.rows[row], None);
        }
        if round % 4 == 3 {
            straighten(grid, &mut x);
        }
    }
    // Other nodes settle around the lanes, which stay.
    for _ in 0..3 {
        for row in &grid.rows {
            pull(grid, &mut x, row, Some(10_000));
        }
        straighten(grid, &mut x);
        align(grid, &mut x);
    }
    seat(grid, &mut x);
    x
}

/// Returns the least distance between the middles of two neighbours.
fn apart(grid: &Grid, left: usize, right: usize) -> i64 {
    let (one, two) = (&grid.nodes[left], &grid.nodes[right]);
    let gap = match (one.item, two.item) {
        (GridItem::Lane, GridItem::Lane) => 4,
        (GridItem::Card(_), GridItem::Card(_)) => 28,
        (GridItem::Card(_), _) | (_, GridItem::Card(_)) => 14,
        _ => 10,
    };
    one.right + gap + two.left
}

/// Moves the nodes of a row as near to their links as their order lets them.
fn pull(grid: &Grid, x: &mut [i64], row: &[usize], lanes: Option<i64>) {
    let mut offset = 0;
    let mut wishes = Vec::with_capacity(row.len());
    let mut offsets = Vec::with_capacity(row.len());
    for (place, node) in row.iter().enumerate() {
        if place > 0 {
            offset += apart(grid, row[place - 1], *node);
        }
        let (wish, weight) = match lanes {
            Some(weight) if grid.nodes[*node].item == GridItem::Lane => (x[*node], weight),
            _ => wish(grid, x, *node),
        };
        wishes.push((wish - offset, weight));
        offsets.push(offset);
    }
    for ((node, offset), place) in row.iter().zip(offsets).zip(in_order(&wishes)) {
        x[*node] = place + offset;
    }
}

/// Returns where a node would like to be and how much.
fn wish(grid: &Grid, x: &[i64], node: usize) -> (i64, i64) {
    let (mut sum, mut weight) = (0, 0);
    let mut add = |place: i64, heavy: i64| {
        sum += place * heavy;
        weight += heavy;
    };
    let own = &grid.nodes[node];
    for link in grid.linked[node].iter().map(|link| &grid.links[*link]) {
        let other = if link.a == node { link.b } else { link.a };
        let heavy = match (link.bend, own.item, grid.nodes[other].item) {
            (Bend::Through, GridItem::Lane, GridItem::Lane) => 24,
            (Bend::Through, ..) => 6,
            _ => 1,
        };
        // Within the reach of a card's ports a line is straight anyway.
        let reach = own.ports + grid.nodes[other].ports;
        add(x[node].clamp(x[other] - reach, x[other] + reach), heavy);
        if reach > 0 && link.bend == Bend::Through {
            add(x[other], 1);
        }
    }
    for (other, heavy) in &grid.spine[node] {
        add(x[*other], *heavy);
    }
    if weight == 0 { (x[node], 1) } else { (nearest(sum, weight), weight) }
}

/// Moves tags by the little that makes the lines above and below them straight.
fn align(grid: &Grid, x: &mut [i64]) {
    for tag in &grid.tags {
        let (low, high) = room(grid, x, *tag);
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        for link in grid.linked[*tag].iter().map(|link| &grid.links[*link]) {
            let other = if link.a == *tag { link.b } else { link.a };
            if link.bend == Bend::Through {
                let reach = grid.nodes[other].ports;
                ranges.push(((x[other] - reach).max(low), (x[other] + reach).min(high)));
            }
        }
        if let [(from, to), (low, high)] = ranges[..]
            && from.max(low) <= to.min(high)
        {
            ranges = vec![(from.max(low), to.min(high))];
        }
        let moved = |(low, high): &(i64, i64)| (low <= high).then(|| x[*tag].clamp(*low, *high));
        let nearest = ranges.iter().filter_map(moved).min_by_key(|place| (place - x[*tag]).abs());
        if let Some(place) = nearest {
            x[*tag] = place;
        }
    }
}

/// Seats what has no links: in a gap of its row, or at the end that makes the
/// picture wider by less.
fn seat(grid: &Grid, x: &mut [i64]) {
    let (left, right) = bounds(grid, x);
    for row in &grid.rows {
        let loose = |node: &usize| grid.linked[*node].is_empty();
        let (alone, mut seated): (Vec<usize>, Vec<usize>) =
            row.iter().partition(|node| loose(node));
        for node in alone {
            let gap = seated.windows(2).position(|pair| {
                x[pair[1]] - x[pair[0]] >= apart(grid, pair[0], node) + apart(grid, node, pair[1])
            });
            let at = match (gap, seated.first(), seated.last()) {
                (Some(gap), ..) => gap + 1,
                (None, Some(first), Some(last)) => {
                    let own = &grid.nodes[node];
                    let before = x[*first] - apart(grid, node, *first) - own.left;
                    let after = x[*last] + apart(grid, *last, node) + own.right;
                    if left - before > (after - right).max(0) { seated.len() } else { 0 }
                }
                _ => 0,
            };
            x[node] = match (at.checked_sub(1).map(|at| seated[at]), seated.get(at)) {
                (Some(before), Some(after)) => {
                    let low = x[before] + apart(grid, before, node);
                    i64::midpoint(low, x[*after] - apart(grid, node, *after))
                }
                (Some(before), None) => x[before] + apart(grid, before, node),
                (None, Some(after)) => x[*after] - apart(grid, node, *after),
                (None, None) => x[node],
            };
            seated.insert(at, node);
        }
    }
}

/// Returns the left and the right end of what has links.
fn bounds(grid: &Grid, x: &[i64]) -> (i64, i64) {
    let linked = || (0..x.len()).filter(|node| !grid.linked[*node].is_empty());
    let left = linked().map(|node| x[node] - grid.nodes[node].left).min().unwrap_or(0);
    let right = linked().map(|node| x[node] + grid.nodes[node].right).max().unwrap_or(0);
    (left, right)
}

/// Returns how far from ideal the places are: length across, corners, width.
pub(super) fn unrest(grid: &Grid, x: &[i64]) -> i64 {
    let across = grid.links.iter().map(|link| {
        let reach = grid.nodes[link.a].ports + grid.nodes[link.b].ports;
        let length = ((x[link.a] - x[link.b]).abs() - reach).max(0);
        let lanes = [link.a, link.b].map(|node| grid.nodes[node].item) == [GridItem::Lane; 2];
        match (length, lanes) {
            (0, _) => 0,
            // A lane that jumps about is worse than a line that turns once.
            (_, true) => length + 90,
            (_, false) => length + 30,
        }
    });
    let (left, right) = bounds(grid, x);
    across.sum::<i64>() + 2 * (right - left)
}

/// Returns the rising numbers nearest to the wishes, by their weights: the
/// classic pooling of neighbours that are out of order.
pub(super) fn in_order(wishes: &[(i64, i64)]) -> Vec<i64> {
    let mut pools: Vec<(i64, i64, usize)> = Vec::new();
    for (wish, weight) in wishes {
        let mut pool = (wish * weight, *weight, 1);
        while let Some((sum, heavy, count)) = pools.last().copied() {
            if sum * pool.1 <= pool.0 * heavy {
                break;
            }
            pool = (pool.0 + sum, pool.1 + heavy, pool.2 + count);
            pools.pop();
        }
        pools.push(pool);
    }
    let mean =
        |(sum, weight, count): (i64, i64, usize)| std::iter::repeat_n(nearest(sum, weight), count);
    pools.into_iter().flat_map(mean).collect()
}

/// Divides, to the nearest whole number: rounding down would let lines creep.
fn nearest(sum: i64, weight: i64) -> i64 {
    (2 * sum + weight).div_euclid(2 * weight.max(1))
}

/// Aligns pieces of a lane that can share one position.
fn straighten(grid: &Grid, x: &mut [i64]) {
    for lane in grid.lanes.values() {
        let nodes: Vec<usize> = lane.values().copied().collect();
        let mut from = 0;
        while from < nodes.len() {
            let (mut low, mut high) = room(grid, x, nodes[from]);
            let mut to = from + 1;
            while to < nodes.len() {
                let (left, right) = room(grid, x, nodes[to]);
                if low.max(left) - high.min(right) > SLACK {
                    break;
                }
                (low, high) = (low.max(left), high.min(right));
                to += 1;
            }
            let count = i64::try_from(to - from).unwrap_or(1);
            let mean = nodes[from..to].iter().map(|node| x[*node]).sum::<i64>().div_euclid(count);
            let line = if low > high { i64::midpoint(low, high) } else { mean.clamp(low, high) };
            for node in &nodes[from..to] {
                x[*node] = line;
            }
            from = to;
        }
    }
}

/// Returns the places that a node can take while its neighbours stay.
fn room(grid: &Grid, x: &[i64], node: usize) -> (i64, i64) {
    let row = &grid.rows[grid.nodes[node].row];
    let at = row.iter().position(|other| *other == node).unwrap_or(0);
    let low =
        at.checked_sub(1).map_or(i64::MIN / 4, |left| x[row[left]] + apart(grid, row[left], node));
    let high = row.get(at + 1).map_or(i64::MAX / 4, |right| x[*right] - apart(grid, node, *right));
    (low, high)
}

//! The graph of everything that was explored: no cycle costs anything, and no walk
//! costs more than the certificate says.
//!
//! The search merges runs that differ only in what they have cost so far, so the
//! dearest walk is found here, over all edges, and not by the search itself.

use std::collections::HashMap;

use pointsman_kernel::chart::Certificate;

/// Visits, calls of a model, calls of a tool, milliseconds.
pub(crate) type Cost = [u64; 4];

/// What was explored, edge by edge.
#[derive(Default)]
pub(crate) struct Walks {
    places: HashMap<u64, u32>,
    /// The edges out of each position, without those that begin a turn.
    next: Vec<Vec<(u32, Cost)>>,
    /// What the dearest beginning of a turn costs that leads to a place.
    begins: Vec<Cost>,
    edges: usize,
}

/// What a graph says about the chart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Finding {
    /// What the dearest walk costs, measure by measure.
    Worst(Cost),
    /// A way round that is paid from no budget leads through this run.
    Cycle(u64),
}

impl Walks {
    fn place(&mut self, key: u64) -> u32 {
        let fresh = u32::try_from(self.next.len()).unwrap_or(u32::MAX);
        let place = *self.places.entry(key).or_insert(fresh);
        if place == fresh {
            self.next.push(Vec::new());
            self.begins.push([0; 4]);
        }
        place
    }

    /// Takes in one step of a run.
    pub(crate) fn add(&mut self, from: u64, to: u64, cost: Cost, begins_turn: bool) {
        self.edges += 1;
        let (from, to) = (self.place(from), self.place(to));
        if begins_turn {
            if let Some(known) = self.begins.get_mut(to as usize) {
                *known = max(*known, cost);
            }
        } else if (from, cost) != (to, [0; 4])
            && let Some(next) = self.next.get_mut(from as usize)
            && !next.contains(&(to, cost))
        {
            next.push((to, cost));
        }
    }

    /// Returns how many steps were taken in, repeated ones included.
    pub(crate) const fn edges(&self) -> usize {
        self.edges
    }

    /// Returns the dearest walk, or a cycle that costs something.
    pub(crate) fn finding(&self) -> Finding {
        let groups = self.groups();
        let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
        let mut worst = vec![[0; 4]; count];
        let mut members = vec![Vec::new(); count];
        for (place, group) in groups.iter().enumerate() {
            members[*group as usize].push(place);
            worst[*group as usize] = max(worst[*group as usize], self.begins[place]);
        }
        // Groups are numbered in the order of their completion, the last ones first.
        for group in (0..count).rev() {
            let so_far = worst[group];
            for (to, cost) in members[group].iter().flat_map(|place| &self.next[*place]) {
                let to_group = groups[*to as usize] as usize;
                if to_group != group {
                    worst[to_group] = max(worst[to_group], then(so_far, *cost));
                } else if *cost != [0; 4] {
                    let key = self.places.iter().find(|(_, place)| *place == to);
                    return Finding::Cycle(key.map_or(0, |(key, _)| *key));
                }
            }
        }
        Finding::Worst(worst.into_iter().fold([0; 4], max))
    }

    /// Returns the strongly connected component of each place (Tarjan's algorithm,
    /// with a stack of its own).
    fn groups(&self) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let size = self.next.len();
        let (mut index, mut low) = (vec![NONE; size], vec![NONE; size]);
        let (mut group, mut groups) = (vec![NONE; size], 0);
        let (mut visited, mut open, mut calls) = (0, Vec::new(), Vec::new());
        for root in 0..size {
            if index[root] != NONE {
                continue;
            }
            calls.push((root, 0));
            while let Some((at, edge)) = calls.pop() {
                if edge == 0 {
                    (index[at], low[at]) = (visited, visited);
                    visited += 1;
                    open.push(at);
                } else {
                    let child = self.next[at][edge - 1].0 as usize;
                    if group[child] == NONE {
                        low[at] = low[at].min(low[child]);
                    }
                }
                if let Some((to, _)) = self.next[at].get(edge) {
                    calls.push((at, edge + 1));
                    if index[*to as usize] == NONE {
                        calls.push((*to as usize, 0));
                    }
                    continue;
                }
                if low[at] == index[at] {
                    while let Some(member) = open.pop() {
                        group[member] = groups;
                        if member == at {
                            break;
                        }
                    }
                    groups += 1;
                }
            }
        }
        group
    }
}

/// Returns the measures in which a cost is beyond a certificate.
pub(crate) fn beyond(cost: Cost, certificate: Certificate) -> Vec<String> {
    let Certificate { steps, model_calls, tool_calls, time_ms, .. } = certificate;
    ["visits", "model calls", "tool calls", "ms"]
        .into_iter()
        .zip(cost)
        .zip([steps, model_calls, tool_calls, time_ms])
        .filter(|((_, cost), proved)| cost > proved)
        .map(|((measure, cost), proved)| format!("{cost} {measure}, and {proved} are proved"))
        .collect()
}

fn max(left: Cost, right: Cost) -> Cost {
    std::array::from_fn(|at| left[at].max(right[at]))
}

fn then(left: Cost, right: Cost) -> Cost {
    std::array::from_fn(|at| left[at].saturating_add(right[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Cost = [0; 4];
    const VISIT: Cost = [1, 0, 0, 0];

    #[test]
    fn most_expensive_walk_is_found_in_any_order() {
        let mut walks = Walks::default();
        for (from, to, cost) in [(1, 4, VISIT), (1, 2, VISIT), (2, 3, VISIT), (3, 4, VISIT)] {
            walks.add(from, to, cost, false);
        }
        assert_eq!(walks.finding(), Finding::Worst([3, 0, 0, 0]));
    }

    #[test]
    fn a_cycle_counts_where_it_costs_something() {
        let mut walks = Walks::default();
        walks.add(1, 2, VISIT, false);
        walks.add(2, 3, FREE, false);
        walks.add(3, 2, FREE, false);
        assert_eq!(walks.finding(), Finding::Worst(VISIT));
        walks.add(3, 1, FREE, false);
        assert!(matches!(walks.finding(), Finding::Cycle(_)));
    }

    #[test]
    fn a_turn_begins_afresh() {
        let mut walks = Walks::default();
        walks.add(1, 2, VISIT, false);
        walks.add(2, 1, [3, 0, 0, 0], true);
        assert_eq!(walks.finding(), Finding::Worst([4, 0, 0, 0]));
    }
}

//! Tracks: how high in its channel each net runs across, so that none run over
//! one another.

/// A net in one channel: where it comes in from above and from below.
#[derive(Clone, Debug, Default)]
pub(super) struct Net {
    pub(super) above: Vec<i64>,
    pub(super) below: Vec<i64>,
}

/// Where a net runs across.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct TrackRun {
    /// Its track, from the top; for a net in two halves, that of the upper one.
    pub(super) upper: usize,
    /// The upright between the halves and the track of the lower one.
    pub(super) lower: Option<(i64, usize)>,
}

/// Uprights nearer than this look like one line.
const NEAR: i64 = 7;
/// What it costs to draw two uprights as one: more than any number of crossings.
const MERGED: usize = 1_000;

/// A net, or the upper or lower half of one.
#[derive(Clone, Debug)]
struct Part {
    net: usize,
    lower: bool,
    pins: Net,
    low: i64,
    high: i64,
}

impl Part {
    fn new(net: usize, lower: bool, pins: Net) -> Self {
        let all = || pins.above.iter().chain(&pins.below).copied();
        let (low, high) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        Self { net, lower, pins, low, high }
    }

    fn spans(&self, x: i64) -> bool {
        self.low < x && x < self.high
    }

    /// Returns whether an upright of this, going down, would run along one of the
    /// other's, coming from above.
    fn merges(&self, other: &Self) -> bool {
        let near = |x: &i64| other.pins.above.iter().any(|y| (x - y).abs() < NEAR);
        self.net != other.net && self.pins.below.iter().any(near)
    }

    /// Returns what it costs to run above the other.
    fn over(&self, other: &Self) -> usize {
        if self.net == other.net {
            return if self.lower { MERGED * MERGED } else { 0 };
        }
        let crossings = self.pins.below.iter().filter(|x| other.spans(**x)).count()
            + other.pins.above.iter().filter(|x| self.spans(**x)).count();
        crossings + if self.merges(other) { MERGED } else { 0 }
    }

    /// Returns whether the two can share a track, or change places.
    fn apart(&self, other: &Self) -> bool {
        let beside = self.high + NEAR < other.low || other.high + NEAR < self.low;
        beside && !self.merges(other) && !other.merges(self)
    }
}

/// Returns where every net runs, and how many tracks there are.
///
/// Two nets that change places would each have to run above the other. One of
/// them is then cut in two halves, which an upright at a free place connects.
pub(super) fn tracks(nets: &[Net]) -> (Vec<TrackRun>, usize) {
    let parts = nets.iter().enumerate().map(|(net, pins)| Part::new(net, false, pins.clone()));
    let mut parts: Vec<Part> = parts.collect();
    let mut order = ordered(&parts);
    for _ in 0..nets.len() {
        if !cut(&mut parts, &order) {
            break;
        }
        order = ordered(&parts);
    }
    let mut tracks = vec![0; parts.len()];
    let mut runs = vec![TrackRun::default(); nets.len()];
    let mut count = 0;
    for (at, part) in order.iter().enumerate() {
        let this = &parts[*part];
        let before = order[..at].iter().filter(|other| !parts[**other].apart(this));
        let track = before.map(|other| tracks[*other] + 1).max().unwrap_or(0);
        tracks[*part] = track;
        count = count.max(track + 1);
        if this.lower {
            runs[this.net].lower = this.pins.above.first().map(|x| (*x, track));
        } else {
            runs[this.net].upper = track;
        }
    }
    (runs, count)
}

/// Returns the parts that run across, from top to bottom.
fn ordered(parts: &[Part]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let crooked: Vec<usize> =
        (0..parts.len()).filter(|part| parts[*part].low < parts[*part].high).collect();
    for part in &crooked {
        insert(parts, &mut order, *part);
    }
    // The first ones did not know of the later ones.
    for _ in 0..4 {
        for part in &crooked {
            order.retain(|other| other != part);
            insert(parts, &mut order, *part);
        }
    }
    order
}

/// Inserts a part where it costs least among the ordered ones.
fn insert(parts: &[Part], order: &mut Vec<usize>, part: usize) {
    let mut cost: usize = order.iter().map(|other| parts[part].over(&parts[*other])).sum();
    let mut best = (cost, 0);
    for (at, other) in order.iter().enumerate() {
        cost = cost + parts[*other].over(&parts[part]) - parts[part].over(&parts[*other]);
        if cost < best.0 {
            best = (cost, at + 1);
        }
    }
    order.insert(best.1, part);
}

/// Cuts a net that would run along another; returns whether there was one.
fn cut(parts: &mut Vec<Part>, order: &[usize]) -> bool {
    for (at, first) in order.iter().enumerate() {
        for second in &order[at + 1..] {
            if !parts[*first].merges(&parts[*second]) {
                continue;
            }
            for part in [*second, *first] {
                let whole = parts.iter().filter(|other| other.net == parts[part].net).count() == 1;
                let Some(x) = free(parts, part).filter(|_| whole) else { continue };
                let Part { net, pins, .. } = parts[part].clone();
                parts[part] = Part::new(net, false, Net { above: pins.above, below: vec![x] });
                parts.push(Part::new(net, true, Net { above: vec![x], below: pins.below }));
                return true;
            }
        }
    }
    false
}

/// Returns the place nearest to the middle of a part where no upright is.
fn free(parts: &[Part], part: usize) -> Option<i64> {
    let pins = |part: &Part| [part.pins.above.clone(), part.pins.below.clone()].concat();
    let taken: Vec<i64> = parts.iter().flat_map(pins).collect();
    let (low, high) = (taken.iter().min()?, taken.iter().max()?);
    let middle = i64::midpoint(parts[part].low, parts[part].high);
    let near = |x: &i64| taken.iter().any(|pin| (pin - x).abs() < NEAR);
    (*low..=*high).filter(|x| !near(x)).min_by_key(|x| ((x - middle).abs(), *x))
}

//! The figures: as a table, as JSON, and against the targets.

use serde_json::{Value, json};

use super::{
    claims::{ClaimFigures, IdleFigures},
    fairness::Fairness,
    forks::{self, Forks},
    scale::{FEW, Load, WORKERS},
    steps::{Peer, StepFigures, Steps},
};

/// How many steps there must be for each one of another framework: at 1 run, and at 64.
const TIMES: [(usize, f64); 2] = [(1, 5.0), (64, 10.0)];
/// The part of the bare loop, at 64 runs.
const SHARE: f64 = 0.5;
/// The part of updates that change no index, in percent.
const HOT: f64 = 95.0;
/// How much of a figure may be lost, or added to it, from few to many.
const FLAT: f64 = 0.2;
/// How much longer small keys may wait behind a big one.
const WAITS: f64 = 2.0;

/// The figures of the parts that were measured.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) steps: Option<StepFigures>,
    pub(super) workers: Option<[Load; 2]>,
    /// With the number of runs that wait.
    pub(super) waiting: Option<(usize, [Load; 2])>,
    pub(super) fairness: Vec<Fairness>,
    pub(super) claims: Option<ClaimFigures>,
    pub(super) idle: Option<IdleFigures>,
    pub(super) forks: Option<Forks>,
}

/// A target, and whether it was reached.
type Target = (bool, String);

impl Figures {
    pub(super) fn print(&self) {
        if let Some(steps) = &self.steps {
            print_steps(steps);
        }
        if let Some(loads) = &self.workers {
            let names = WORKERS.map(|workers| format!("{workers} workers"));
            print_loads("64 runs for each worker, all workers together:", names, loads);
        }
        if let Some((many, loads)) = &self.waiting {
            let names = [FEW, *many].map(|runs| format!("{runs} wait"));
            print_loads("one worker with 64 runs, beside runs that wait:", names, loads);
        }
        for Fairness { poll, idle, busy, big } in &self.fairness {
            let poll = poll.as_millis();
            println!(
                "median wait of nine keys, polls every {poll} ms: {idle:.0} ms in an idle fleet,"
            );
            println!("  {busy:.0} ms beside a key with 100000 ready runs ({big} driven meanwhile)");
        }
        if let Some(ClaimFigures { ours, peer, theirs, .. }) = &self.claims {
            println!("runs claimed and parked per second: {ours:.0}; jobs of {peer}: {theirs:.0}");
        }
        if let Some(IdleFigures { alone, beside, idle }) = &self.idle {
            let drop = (1.0 - beside / alone) * 100.0;
            println!(
                "claims per second: {alone:.0}; {beside:.0} ({drop:.0} % fewer) at the end of a"
            );
            println!("  transaction that idles for {} s", idle.as_secs());
        }
        if let Some(Forks { first, second }) = &self.forks {
            let (runs, first, second) = (forks::RUNS, first.as_secs_f64(), second.as_secs_f64());
            println!("bulk fork of {runs} runs onto their queue: {first:.1} s;");
            println!("  its repetition, which skips all: {second:.1} s");
        }
    }

    /// Prints each target beside the result, and returns whether all were reached.
    pub(super) fn print_targets(&self) -> bool {
        let mut targets = Vec::new();
        if let Some(steps) = &self.steps {
            step_targets(steps, &mut targets);
        }
        if let Some(loads) = &self.workers {
            flat("1 to 8 workers", loads, &mut targets);
        }
        if let Some((many, loads)) = &self.waiting {
            flat(&format!("{FEW} to {many} runs that wait"), loads, &mut targets);
        }
        for Fairness { poll, idle, busy, .. } in &self.fairness {
            let (poll, times) = (poll.as_millis(), busy / idle);
            let target =
                format!("small keys wait at most twice as long, polls every {poll} ms: {times:.2}");
            targets.push((*busy <= idle * WAITS, target));
        }
        if let Some(ClaimFigures { peer, ratio, .. }) = &self.claims {
            targets.push((*ratio >= 1.0, format!("at least as many claims as {peer}: {ratio:.1}")));
        }
        for (reached, target) in &targets {
            println!("{}  {target}", if *reached { "met   " } else { "MISSED" });
        }
        targets.iter().all(|(reached, _)| *reached)
    }

    pub(super) fn json(&self) -> Value {
        let load = |load: &Load| {
            json!({
                "steps_per_s": load.steps,
                "memory_bytes": load.memory,
                "hot_percent": load.hot,
                "claims_per_s": load.claims,
            })
        };
        let fairness = |it: &Fairness| {
            let poll = it.poll.as_secs_f64() * 1e3;
            json!({ "poll_ms": poll, "idle_ms": it.idle, "busy_ms": it.busy, "big_runs": it.big })
        };
        let forks = |it: &Forks| {
            let (first, second) = (it.first.as_secs_f64(), it.second.as_secs_f64());
            json!({ "runs": forks::RUNS, "fork_s": first, "repetition_s": second })
        };
        let claims = |it: &ClaimFigures| {
            let peer = json!({ "name": it.peer, "jobs_per_s": it.theirs });
            json!({ "claims_per_s": it.ours, "peer": peer, "ratio": it.ratio })
        };
        let idle = |it: &IdleFigures| {
            let seconds = it.idle.as_secs();
            json!({ "claims_per_s": it.alone, "beside_per_s": it.beside, "idle_s": seconds })
        };
        json!({
            "steps": self.steps.as_ref().map(json_of_steps),
            "workers": self.workers.as_ref().map(|loads| {
                json!({ "workers": WORKERS, "loads": loads.each_ref().map(load) })
            }),
            "waiting": self.waiting.as_ref().map(|(many, loads)| {
                json!({ "runs": [FEW, *many], "loads": loads.each_ref().map(load) })
            }),
            "fairness": self.fairness.iter().map(fairness).collect::<Vec<_>>(),
            "claims": self.claims.as_ref().map(claims),
            "idle_transaction": self.idle.as_ref().map(idle),
            "forks": self.forks.as_ref().map(forks),
        })
    }
}

fn print_steps(figures: &StepFigures) {
    println!("durable steps per second, driver and store with leases:");
    let runs = |figures: &Steps| format!("{} runs", figures.runs);
    print_row("", figures.rows.iter().map(runs));
    let rates = |rate: fn(&Steps) -> f64| {
        figures.rows.iter().map(move |figures| format!("{:.0}", rate(figures)))
    };
    print_row("Pointsman", rates(|figures| figures.ours));
    print_row("bare loop that inserts as many rows", rates(|figures| figures.bare));
    let peers = figures.rows.first().map_or(&[][..], |figures| &figures.peers[..]);
    for (place, peer) in peers.iter().enumerate() {
        let rate = |figures: &Steps| figures.peers.get(place).map_or(f64::NAN, |it| it.per_second);
        print_row(&peer.name, figures.rows.iter().map(|row| format!("{:.0}", rate(row))));
    }
    print_row("raw flush, µs", rates(|figures| figures.raw));
    println!("updates of runs that change no index (HOT): {:.1} %", figures.hot);
}

fn print_row(name: &str, cells: impl Iterator<Item = String>) {
    print!("  {name:<40}");
    for cell in cells {
        print!("{cell:>12}");
    }
    println!();
}

fn print_loads(title: &str, names: [String; 2], loads: &[Load; 2]) {
    println!("{title}");
    print_row("", names.into_iter());
    let cells = |figure: fn(&Load) -> f64| loads.iter().map(move |it| format!("{:.0}", figure(it)));
    print_row("durable steps per second", cells(|load| load.steps));
    if loads.iter().all(|load| load.claims.is_some()) {
        print_row("claims per second", cells(|load| load.claims.unwrap_or(f64::NAN)));
    }
    let hots = loads.iter().map(|load| format!("{:.1}", load.hot));
    print_row("updates that change no index (HOT), %", hots);
    print_row("memory of a worker, MiB", cells(|load| load.memory / f64::from(1 << 20)));
}

/// Adds the targets of figures that must not change from few to many.
fn flat(name: &str, [few, many]: &[Load; 2], targets: &mut Vec<Target>) {
    let rates = [("steps", Some(few.steps), Some(many.steps)), ("claims", few.claims, many.claims)];
    for (what, few, many) in rates {
        if let (Some(few), Some(many)) = (few, many) {
            let ratio = many / few;
            let target = format!("{name}: {what} per second at least 80 %: {:.0} %", ratio * 100.0);
            targets.push((ratio >= 1.0 - FLAT, target));
        }
    }
    let ratio = many.memory / few.memory;
    let target = format!("{name}: memory of a worker at most 120 %: {:.0} %", ratio * 100.0);
    targets.push((ratio <= 1.0 + FLAT, target));
}

fn step_targets(figures: &StepFigures, targets: &mut Vec<Target>) {
    for (runs, times) in TIMES {
        let Some(row) = figures.rows.iter().find(|row| row.runs == runs) else { continue };
        for Peer { name, ratio, .. } in &row.peers {
            let target = format!("{runs} runs: at least {times:.0} times {name}: {ratio:.1}");
            targets.push((*ratio >= times, target));
        }
    }
    if let Some(row) = figures.rows.iter().find(|row| row.runs == 64) {
        let share = row.share;
        let target = format!("64 runs: at least 50 % of the bare loop: {:.0} %", share * 100.0);
        targets.push((share >= SHARE, target));
    }
    let hot = figures.hot;
    targets.push((hot >= HOT, format!("at least 95 % of updates are HOT: {hot:.1} %")));
}

fn json_of_steps(figures: &StepFigures) -> Value {
    let peer = |peer: &Peer| json!({ "name": peer.name, "steps_per_s": peer.per_second, "ratio": peer.ratio });
    let row = |row: &Steps| {
        json!({
            "runs": row.runs,
            "steps_per_s": row.ours,
            "bare_per_s": row.bare,
            "share": row.share,
            "peers": row.peers.iter().map(peer).collect::<Vec<_>>(),
            "raw_us": row.raw,
        })
    };
    json!({ "rows": figures.rows.iter().map(row).collect::<Vec<_>>(), "hot_percent": figures.hot })
}

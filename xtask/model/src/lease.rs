//! The protocol of leases and appends, explored: workers that are slow, killed or paused, answers
//! and requests that are lost or late, clocks that differ, and people who send messages meanwhile.
//!
//! What a row, an answer or a lease means is decided by `runtime`'s own functions
//! (`store::protocol`). The model adds the world around them (`server`, `worker`).

mod server;
#[cfg(test)]
mod tests;
mod worker;

use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model, Property};

use self::{
    server::{Request, Server},
    worker::Worker,
};

/// A tick is a millisecond, so that the code's own arithmetic applies: two ticks of three are used.
pub(crate) const LASTS: Duration = Duration::from_millis(3);

/// What may happen, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) workers: usize,
    /// Ticks that pass.
    pub(crate) ticks: u8,
    /// Entries of the run.
    pub(crate) entries: u64,
    pub(crate) messages: u8,
    /// Leases of the run.
    pub(crate) leases: u64,
    /// Workers that are killed.
    pub(crate) kills: u8,
    /// Answers that are lost, and requests that arrive after their sender has stopped waiting.
    pub(crate) losses: u8,
    /// Runs that are deferred.
    pub(crate) deferrals: u8,
}

impl Bounds {
    /// What the tier explores. With `leases: 3` there are seven million places.
    const TIER: Self = Self {
        workers: 3,
        ticks: 4,
        entries: 3,
        messages: 1,
        leases: 2,
        kills: 1,
        losses: 1,
        deferrals: 1,
    };
}

/// A fault of the protocol, put in on purpose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ProtocolFault {
    /// An entry is written whatever its epoch.
    NoEpoch,
    /// After a lost answer the event is written once more, as the next entry.
    BlindRetry,
    /// A run is parked although a message came.
    NoMailCheck,
    /// A run is deferred although a message came.
    DeafDeferral,
    /// An entry is acknowledged before it is written.
    EarlyAnswer,
    /// An effect is started before its entry is written.
    EarlyEffect,
    /// A permit is given whatever the time.
    NoDeadline,
    /// A lease's deadline counts from its answer.
    LateDeadline,
    /// The server's time of expiry is compared with the worker's clock.
    SkewedClock,
    /// A request is carried out although its lease was given up.
    LateAppend,
    /// An owner discards a message whatever its epoch.
    LateDiscard,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum BrokenRule {
    SecondWriter,
    Gap,
    Repeated,
    Forgotten,
    Unwritten,
    PastLease,
    LostWake,
    LostMessage,
}

/// What has come about, so that a search that sees too little is noticed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was seen or not")]
pub(crate) struct Seen {
    takeover: bool,
    found: bool,
    retried: bool,
    fenced: bool,
    discarded: bool,
    woken: bool,
    stopped: bool,
    deferred: bool,
}

/// A moment of the fleet.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Fleet {
    now: u8,
    server: Server,
    workers: Vec<Worker>,
    requests: Vec<Request>,
    /// Events are numbered as they are thought of: their number is their link.
    events: u8,
    kills: u8,
    losses: u8,
    deferrals: u8,
    seen: Seen,
    broken: Option<BrokenRule>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Happening {
    Tick,
    Send,
    Sweep,
    Claim { worker: usize, by_name: bool },
    LoseClaim { worker: usize },
    Renew { worker: usize },
    ReadMail { worker: usize },
    Discard { worker: usize },
    Append { worker: usize },
    Arrive { request: usize },
    LoseAnswer { request: usize },
    Receive { worker: usize },
    StopWaiting { worker: usize },
    Look { worker: usize },
    Park { worker: usize },
    Defer { worker: usize },
    Kill { worker: usize },
}

/// The protocol within bounds, with or without a fault.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Protocol {
    pub(crate) bounds: Bounds,
    pub(crate) fault: Option<ProtocolFault>,
}

impl Protocol {
    fn has(&self, fault: ProtocolFault) -> bool {
        self.fault == Some(fault)
    }
}

impl Model for Protocol {
    type State = Fleet;
    type Action = Happening;

    fn init_states(&self) -> Vec<Fleet> {
        vec![Fleet {
            now: 0,
            server: Server::new(),
            // Each is further ahead of the server's clock than the one before.
            workers: (0..self.bounds.workers).map(Worker::new).collect(),
            requests: Vec::new(),
            events: 1,
            kills: self.bounds.kills,
            losses: self.bounds.losses,
            deferrals: self.bounds.deferrals,
            seen: Seen::default(),
            broken: None,
        }]
    }

    fn actions(&self, fleet: &Fleet, actions: &mut Vec<Happening>) {
        if fleet.broken.is_some() {
            return;
        }
        if fleet.now < self.bounds.ticks {
            actions.push(Happening::Tick);
        }
        if fleet.server.sent < self.bounds.messages {
            actions.push(Happening::Send);
        }
        if fleet.server.sweeps(fleet.now) {
            actions.push(Happening::Sweep);
        }
        for request in 0..fleet.requests.len() {
            actions.push(Happening::Arrive { request });
            if fleet.losses > 0 && fleet.is_awaited(request) {
                actions.push(Happening::LoseAnswer { request });
            }
        }
        for worker in 0..fleet.workers.len() {
            fleet.actions_of(worker, &self.bounds, actions);
        }
    }

    fn next_state(&self, fleet: &Fleet, happening: Happening) -> Option<Fleet> {
        let mut next = fleet.clone();
        match happening {
            Happening::Tick => next.now += 1,
            Happening::Send => next.send(),
            Happening::Sweep => next.server.sweep(),
            Happening::Claim { worker, by_name } => next.claim(worker, by_name, self),
            Happening::LoseClaim { worker } => {
                next.losses -= 1;
                let _unheard = next.server.claim(worker, next.now, false);
            }
            Happening::Renew { worker } => next.renew(worker, self),
            Happening::ReadMail { worker } => next.read_mail(worker),
            Happening::Discard { worker } => next.discard(worker, self),
            Happening::Append { worker } => next.append(worker, self),
            Happening::Arrive { request } => next.arrive(request, self, true),
            Happening::LoseAnswer { request } => {
                next.losses -= 1;
                next.arrive(request, self, false);
            }
            Happening::Receive { worker } => next.receive(worker, self),
            Happening::StopWaiting { worker } => {
                // A request that is still on its way is late from now on.
                next.losses -= u8::from(next.is_under_way(worker));
                next.unknown(worker, self);
            }
            Happening::Look { worker } => next.look(worker, self),
            Happening::Park { worker } => next.park(worker),
            Happening::Defer { worker } => {
                next.deferrals -= 1;
                next.defer(worker);
            }
            Happening::Kill { worker } => {
                next.kills -= 1;
                next.workers[worker].phase = worker::Phase::Idle;
            }
        }
        next.inspect();
        // Requests are a set: their order says nothing.
        next.requests.sort_unstable();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! never {
            ($broken:ident, $rule:literal) => {
                Property::always($rule, |_, fleet: &Fleet| {
                    fleet.broken != Some(BrokenRule::$broken)
                })
            };
        }
        macro_rules! sometimes {
            ($seen:ident, $name:literal) => {
                Property::sometimes($name, |_, fleet: &Fleet| fleet.seen.$seen)
            };
        }
        vec![
            never!(SecondWriter, "each epoch has one writer, and none after a later claim"),
            never!(Gap, "no gap"),
            never!(Repeated, "no event is written twice"),
            never!(Forgotten, "an acknowledged entry stays"),
            never!(Unwritten, "an effect's entry is written first"),
            never!(PastLease, "no permit past a lease"),
            never!(LostWake, "no wake-up is lost"),
            never!(LostMessage, "no message is discarded by an owner that lacks entries"),
            sometimes!(takeover, "a run is taken over"),
            sometimes!(found, "an entry whose answer was lost is found"),
            sometimes!(retried, "an entry that was not written is tried again"),
            sometimes!(fenced, "a late owner is refused"),
            sometimes!(discarded, "a message is discarded"),
            sometimes!(woken, "a message wakes a run"),
            sometimes!(deferred, "a message comes before its run is deferred"),
            sometimes!(stopped, "an owner stops before its lease ends"),
        ]
    }
}

/// Explores the protocol as far as the tier has time for, and returns whether it holds.
pub(crate) fn check() -> bool {
    let Explored { broken, unseen, states, took } =
        Protocol { bounds: Bounds::TIER, fault: None }.explore();
    let result = if broken.is_some() { "VIOLATED" } else { "complete" };
    println!("leases and appends: {:?}", Bounds::TIER);
    println!("  {result}: {states} places, {:.1} s", took.as_secs_f64());
    if let Some((rule, way)) = &broken {
        println!("  violated: {rule:?}, after {way:?}");
    }
    if !unseen.is_empty() {
        println!("  VIOLATED: never seen: {}", unseen.join(", "));
    }
    broken.is_none() && unseen.is_empty()
}

/// What came of a search.
#[derive(Debug)]
pub(crate) struct Explored {
    /// The first rule that is broken, with the way there.
    pub(crate) broken: Option<(BrokenRule, Vec<Happening>)>,
    /// What never came about.
    pub(crate) unseen: Vec<&'static str>,
    pub(crate) states: usize,
    pub(crate) took: Duration,
}

impl Protocol {
    /// Explores every order of events, until a rule is broken.
    pub(crate) fn explore(self) -> Explored {
        let started = Instant::now();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let checker = self.checker().threads(threads);
        let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let mut broken = None;
        let mut unseen = Vec::new();
        for property in self.properties() {
            let found = checker.discovery(property.name);
            match (property.expectation, found) {
                (stateright::Expectation::Sometimes, None) => unseen.push(property.name),
                (stateright::Expectation::Always, Some(path)) => {
                    let rule = path.last_state().broken;
                    broken = rule.map(|rule| (rule, path.into_actions()));
                }
                _ => {}
            }
        }
        Explored { broken, unseen, states: checker.unique_state_count(), took: started.elapsed() }
    }
}

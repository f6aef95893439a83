//! A worker's side: it claims, appends, looks after lost answers, starts effects, parks. It can be
//! killed at any moment, and paused by not being next.

use pointsman_runtime::store::protocol::{AppendFailure, TRIES, is_over, usable_until};

use super::{
    Bounds, BrokenRule, Fleet, Happening, LASTS, Protocol, ProtocolFault,
    server::{Answer, Giving, Request},
};

/// How far the first worker's clock is ahead of the server's, and each further one of the last.
const AHEAD: u64 = 10;

/// A worker.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Worker {
    /// How far its clock is ahead.
    ahead: u64,
    pub(crate) phase: Phase,
}

/// What a worker does.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Phase {
    Idle,
    /// It has the run, and nothing is under way.
    Drives(Hold),
    /// It waits for an answer, or has it.
    Waits {
        hold: Hold,
        entry: Pending,
        answer: Option<Answer>,
    },
    /// An answer was lost, or says that the run has gone on.
    Looks {
        hold: Hold,
        entry: Pending,
        failure: AppendFailure,
    },
}

/// A run as its owner knows it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Hold {
    epoch: u64,
    deadline: u64,
    seq: u64,
    link: u8,
    /// The last message that it has read, and one that it still has to take.
    read: u8,
    takes: Option<u8>,
}

/// An entry that is being written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Pending {
    event: u8,
    tries: u32,
    /// When this try was asked for, by its own clock.
    asked: u64,
}

impl Worker {
    pub(super) fn new(place: usize) -> Self {
        Self { ahead: AHEAD * place as u64, phase: Phase::Idle }
    }

    /// Returns the time by its own clock.
    fn now(&self, server: u8) -> u64 {
        self.ahead + u64::from(server)
    }
}

impl Fleet {
    pub(super) fn actions_of(&self, worker: usize, bounds: &Bounds, actions: &mut Vec<Happening>) {
        let server = &self.server;
        match &self.workers[worker].phase {
            Phase::Idle if server.epoch > bounds.leases => return,
            Phase::Idle => {
                let ready = server.row.claimed_ready().is_some();
                if ready {
                    actions.push(Happening::Claim { worker, by_name: false });
                    if self.losses > 0 {
                        actions.push(Happening::LoseClaim { worker });
                    }
                } else if !server.is_leased(self.now) {
                    actions.push(Happening::Claim { worker, by_name: true });
                }
                return;
            }
            Phase::Drives(hold) => {
                if hold.takes.is_none() && server.messages.iter().any(|it| *it > hold.read) {
                    actions.push(Happening::ReadMail { worker });
                }
                if hold.takes.is_some() {
                    actions.push(Happening::Discard { worker });
                }
                if hold.seq < bounds.entries {
                    actions.push(Happening::Append { worker });
                }
                // Its last entry's effects are started or were interrupted: nothing is left to do.
                if hold.takes.is_none() && server.handled >= hold.seq {
                    actions.push(Happening::Park { worker });
                }
                if hold.takes.is_none() && self.deferrals > 0 {
                    actions.push(Happening::Defer { worker });
                }
                if server.epoch == hold.epoch && server.is_leased(self.now) {
                    actions.push(Happening::Renew { worker });
                }
            }
            Phase::Waits { answer: Some(_), .. } => actions.push(Happening::Receive { worker }),
            Phase::Waits { answer: None, .. } => {
                if self.losses > 0 || !self.is_under_way(worker) {
                    actions.push(Happening::StopWaiting { worker });
                }
            }
            Phase::Looks { .. } => actions.push(Happening::Look { worker }),
        }
        if self.kills > 0 {
            actions.push(Happening::Kill { worker });
        }
    }

    /// Returns whether the request that a worker waits for is on its way.
    pub(super) fn is_under_way(&self, worker: usize) -> bool {
        (0..self.requests.len()).any(|request| {
            self.is_awaited(request)
                && matches!(self.requests[request], Request::Append { worker: of, .. } if of == worker)
        })
    }

    /// Returns whether a worker waits for the answer to a request.
    pub(super) fn is_awaited(&self, request: usize) -> bool {
        let Request::Append { worker, number, event, .. } = self.requests[request] else {
            return false;
        };
        matches!(&self.workers[worker].phase, Phase::Waits { entry, answer: None, .. }
            if entry.event == event && entry.tries == u32::from(number))
    }

    pub(super) fn claim(&mut self, worker: usize, by_name: bool, protocol: &Protocol) {
        if !self.server.claim(worker, self.now, by_name) {
            return;
        }
        let tip = self.server.tip();
        let deadline = self.deadline(worker, self.workers[worker].now(self.now), protocol);
        let (epoch, seq, link) = (tip.epoch, tip.seq, tip.link);
        let hold = Hold { epoch, deadline, seq, link, read: 0, takes: None };
        self.workers[worker].phase = Phase::Drives(hold);
    }

    pub(super) fn renew(&mut self, worker: usize, protocol: &Protocol) {
        self.server.renew(self.now);
        let deadline = self.deadline(worker, self.workers[worker].now(self.now), protocol);
        if let Phase::Drives(hold) = &mut self.workers[worker].phase {
            hold.deadline = hold.deadline.max(deadline);
        }
    }

    /// Returns until when a lease is used that was asked for at a time of the worker's clock.
    fn deadline(&self, worker: usize, asked: u64, protocol: &Protocol) -> u64 {
        if protocol.has(ProtocolFault::SkewedClock) {
            return u64::from(self.server.expires);
        }
        if protocol.has(ProtocolFault::LateDeadline) {
            return usable_until(self.workers[worker].now(self.now), LASTS);
        }
        usable_until(asked, LASTS)
    }

    pub(super) fn read_mail(&mut self, worker: usize) {
        let messages = &self.server.messages;
        if let Phase::Drives(hold) = &mut self.workers[worker].phase {
            let next = messages.iter().copied().find(|it| *it > hold.read);
            if let Some(next) = next {
                (hold.read, hold.takes) = (next, Some(next));
            }
        }
    }

    /// Discards the message that the worker has read: by all entries that it knows of, it is late.
    pub(super) fn discard(&mut self, worker: usize, protocol: &Protocol) {
        let Phase::Drives(hold) = self.workers[worker].phase else { return };
        let Some(message) = hold.takes else { return };
        let tip = self.server.tip();
        if tip.fences(hold.epoch) && !protocol.has(ProtocolFault::LateDiscard) {
            self.seen.fenced = true;
            return self.give_up(worker, hold);
        }
        let waited = self.server.messages.contains(&message);
        if waited && tip.seq != hold.seq {
            self.broken.get_or_insert(BrokenRule::LostMessage);
        }
        self.seen.discarded |= waited;
        self.server.messages.retain(|it| *it != message);
        self.workers[worker].phase = Phase::Drives(Hold { takes: None, ..hold });
    }

    pub(super) fn append(&mut self, worker: usize, protocol: &Protocol) {
        let Phase::Drives(hold) = self.workers[worker].phase else { return };
        let event = self.events;
        self.events += 1;
        if protocol.has(ProtocolFault::EarlyEffect) {
            self.server.started.push(event);
        }
        self.ask(worker, hold, event, 1);
    }

    /// Sends an entry to the server.
    fn ask(&mut self, worker: usize, hold: Hold, event: u8, tries: u32) {
        let Hold { epoch, seq, link: prev, takes, .. } = hold;
        let number = u8::try_from(tries).unwrap_or(u8::MAX);
        self.requests.push(Request::Append {
            worker,
            number,
            epoch,
            seq: seq + 1,
            prev,
            event,
            takes,
        });
        let asked = self.workers[worker].now(self.now);
        let entry = Pending { event, tries, asked };
        self.workers[worker].phase = Phase::Waits { hold, entry, answer: None };
    }

    pub(super) fn answer(&mut self, of: usize, number: u8, said: Answer) {
        let worker = &mut self.workers[of];
        if let Phase::Waits { entry, answer, .. } = &mut worker.phase
            && entry.tries == u32::from(number)
            && answer.is_none()
        {
            *answer = Some(said);
        }
    }

    pub(super) fn receive(&mut self, worker: usize, protocol: &Protocol) {
        let Phase::Waits { mut hold, entry, answer: Some(answer) } = self.workers[worker].phase
        else {
            return;
        };
        let Err(failure) = answer else {
            hold.deadline = hold.deadline.max(self.deadline(worker, entry.asked, protocol));
            return self.committed(worker, hold, entry, protocol);
        };
        if failure.must_look(entry.tries) {
            self.workers[worker].phase = Phase::Looks { hold, entry, failure };
        } else {
            self.give_up(worker, hold);
        }
    }

    pub(super) fn unknown(&mut self, worker: usize, protocol: &Protocol) {
        let Phase::Waits { hold, entry, .. } = self.workers[worker].phase else { return };
        if protocol.has(ProtocolFault::EarlyAnswer) {
            // A worker with an early answer cannot notice that the entry is missing.
            return self.committed(worker, hold, entry, protocol);
        }
        if protocol.has(ProtocolFault::BlindRetry) {
            let tip = self.server.tip();
            let hold = Hold { seq: tip.seq, link: tip.link, ..hold };
            return self.ask(worker, hold, entry.event, entry.tries + 1);
        }
        self.workers[worker].phase = Phase::Looks { hold, entry, failure: AppendFailure::Unknown };
    }

    /// Reads the run after an answer that does not say whether the entry is there.
    pub(super) fn look(&mut self, worker: usize, protocol: &Protocol) {
        let Phase::Looks { hold, entry, failure } = self.workers[worker].phase else { return };
        if self.server.tip().is(hold.seq + 1, &entry.event) {
            self.seen.found = true;
            self.committed(worker, hold, entry, protocol);
        } else if failure.is_tried_again(entry.tries) && entry.tries < TRIES {
            self.seen.retried = true;
            self.ask(worker, hold, entry.event, entry.tries + 1);
        } else {
            self.give_up(worker, hold);
        }
    }

    /// Goes on after an entry that is written: its effects are started, unless the lease may be over.
    fn committed(&mut self, worker: usize, hold: Hold, entry: Pending, protocol: &Protocol) {
        self.server.acknowledged.push(entry.event);
        let seq = hold.seq + 1;
        let over = is_over(self.workers[worker].now(self.now), hold.deadline);
        if over && !protocol.has(ProtocolFault::NoDeadline) {
            self.seen.stopped = true;
            return self.give_up(worker, hold);
        }
        let server = &mut self.server;
        if server.epoch != hold.epoch || !server.is_leased(self.now) {
            self.broken.get_or_insert(BrokenRule::PastLease);
        }
        if !protocol.has(ProtocolFault::EarlyEffect) {
            server.started.push(entry.event);
        }
        server.handled = server.handled.max(seq);
        let hold = Hold { seq, link: entry.event, takes: None, ..hold };
        self.workers[worker].phase = Phase::Drives(hold);
    }

    pub(super) fn park(&mut self, worker: usize) {
        let Phase::Drives(hold) = self.workers[worker].phase else { return };
        let how = Giving::Parked { read: hold.read };
        self.requests.push(Request::Release { epoch: hold.epoch, how });
        self.workers[worker].phase = Phase::Idle;
    }

    /// Keeps the run out of the queue for a while: it cannot be driven now.
    pub(super) fn defer(&mut self, worker: usize) {
        let Phase::Drives(hold) = self.workers[worker].phase else { return };
        self.requests.push(Request::Release { epoch: hold.epoch, how: Giving::Deferred });
        self.workers[worker].phase = Phase::Idle;
    }

    /// Drops the lease. The server learns of it later, or when the lease expires.
    fn give_up(&mut self, worker: usize, hold: Hold) {
        self.requests.push(Request::Release { epoch: hold.epoch, how: Giving::Dropped });
        self.workers[worker].phase = Phase::Idle;
    }
}

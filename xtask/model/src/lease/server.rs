//! The server's side: one run's row, its entries and its messages. Each request is one statement.

use pointsman_runtime::store::protocol::{
    AppendCheck, AppendFailure, JournalTip, Leaving, QueueRow, RowStatus,
};

use super::{BrokenRule, Fleet, LASTS, Protocol, ProtocolFault};

/// An entry of the run.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Written {
    pub(crate) epoch: u64,
    pub(crate) seq: u64,
    pub(crate) event: u8,
    /// The epoch of the run's last lease at that moment.
    pub(crate) under: u64,
}

/// A run's row and what belongs to it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Server {
    pub(crate) epoch: u64,
    pub(crate) owner: Option<usize>,
    pub(crate) expires: u8,
    pub(crate) row: QueueRow,
    pub(crate) entries: Vec<Written>,
    /// Those that still wait, by their numbers.
    pub(crate) messages: Vec<u8>,
    pub(crate) sent: u8,
    /// How many had been sent when the run was last claimed.
    pub(crate) heard: u8,
    /// What workers were told: events that are written.
    pub(crate) acknowledged: Vec<u8>,
    /// The last entry whose effects were started.
    pub(crate) handled: u64,
    /// Events whose effects were started.
    pub(crate) started: Vec<u8>,
}

/// A request on its way.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Request {
    Append {
        worker: usize,
        number: u8,
        epoch: u64,
        seq: u64,
        prev: u8,
        event: u8,
        takes: Option<u8>,
    },
    Release {
        epoch: u64,
        how: Giving,
    },
}

/// How an owner gives the run up.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Giving {
    Dropped,
    Parked { read: u8 },
    Deferred,
}

/// The answer to an append, and the end of the lease by the server's clock.
pub(crate) type Answer = Result<u8, AppendFailure>;

impl Server {
    /// A run that waits in the queue with its first entry, whose effects are none.
    pub(super) fn new() -> Self {
        let row = QueueRow {
            status: RowStatus::Ready,
            back: RowStatus::Ready,
            wrote: false,
            claims: 0,
            wakes: false,
        };
        Self {
            epoch: 1,
            owner: None,
            expires: 0,
            row,
            entries: vec![Written { epoch: 1, seq: 1, event: 0, under: 1 }],
            messages: Vec::new(),
            sent: 0,
            heard: 0,
            acknowledged: vec![0],
            handled: 1,
            started: Vec::new(),
        }
    }

    pub(super) fn tip(&self) -> JournalTip<u8> {
        let last = self.entries.last();
        JournalTip {
            epoch: self.epoch,
            given_up: self.row.status != RowStatus::Leased,
            seq: last.map_or(0, |it| it.seq),
            link: last.map_or(0, |it| it.event),
        }
    }

    /// Returns whether the lease is in force.
    pub(super) const fn is_leased(&self, now: u8) -> bool {
        self.expires > now
    }

    /// Returns whether a sweep finds something. The time of a run that is deferred comes at any moment.
    pub(super) fn sweeps(&self, now: u8) -> bool {
        self.row.status == RowStatus::Timed
            || self.row.status == RowStatus::Leased && !self.is_leased(now)
    }

    pub(super) fn sweep(&mut self) {
        self.row = self.row.swept();
    }

    /// Claims the run, and returns whether it was free.
    pub(super) fn claim(&mut self, worker: usize, now: u8, by_name: bool) -> bool {
        let claimed = if by_name {
            (!self.is_leased(now)).then(|| self.row.claimed_by_name())
        } else {
            self.row.claimed_ready()
        };
        let Some(row) = claimed else { return false };
        (self.row, self.owner, self.epoch) = (row, Some(worker), self.epoch + 1);
        self.heard = self.sent;
        self.renew(now);
        true
    }

    pub(super) fn renew(&mut self, now: u8) {
        self.expires = now + u8::try_from(LASTS.as_millis()).unwrap_or(u8::MAX);
    }

    fn release(&mut self, epoch: u64, giving: Giving, protocol: &Protocol) {
        if epoch != self.epoch {
            return;
        }
        let unread = |read| self.messages.iter().any(|message| *message > read);
        let how = match giving {
            Giving::Parked { read } => Leaving::Parked {
                unread: unread(read) && !protocol.has(ProtocolFault::NoMailCheck),
            },
            Giving::Deferred => Leaving::Deferred {
                unread: unread(self.heard) && !protocol.has(ProtocolFault::DeafDeferral),
            },
            Giving::Dropped => Leaving::Dropped,
        };
        (self.row, self.owner, self.expires) = (self.row.released(how), None, 0);
    }
}

impl Fleet {
    pub(super) fn send(&mut self) {
        let server = &mut self.server;
        self.seen.woken |= server.row.status == RowStatus::Waiting;
        server.sent += 1;
        server.messages.push(server.sent);
        server.row = server.row.sent();
    }

    /// Carries a request out, and answers it if its sender waits and the answer is not lost.
    pub(super) fn arrive(&mut self, request: usize, protocol: &Protocol, heard: bool) {
        match self.requests.remove(request) {
            Request::Release { epoch, how } => {
                let late = self.server.messages.iter().any(|it| *it > self.server.heard);
                self.seen.deferred |= how == Giving::Deferred && late;
                self.server.release(epoch, how, protocol);
            }
            Request::Append { worker, number, epoch, seq, prev, event, takes } => {
                let answer = self.write((epoch, seq, prev), event, takes, protocol);
                if heard {
                    self.answer(worker, number, answer);
                }
            }
        }
    }

    fn write(
        &mut self,
        (epoch, seq, prev): (u64, u64, u8),
        event: u8,
        takes: Option<u8>,
        protocol: &Protocol,
    ) -> Answer {
        let now = self.now;
        let server = &mut self.server;
        let mut tip = server.tip();
        if protocol.has(ProtocolFault::LateAppend) {
            tip.given_up = false;
        }
        if protocol.has(ProtocolFault::NoEpoch) {
            (tip.epoch, tip.given_up) = (epoch, false);
        }
        match tip.judge(epoch, seq, &prev) {
            AppendCheck::Follows => {}
            AppendCheck::Conflict => return Err(AppendFailure::Conflict),
            AppendCheck::Fenced => {
                self.seen.fenced = true;
                return Err(AppendFailure::Refused);
            }
            AppendCheck::Unfit => return Err(AppendFailure::Refused),
        }
        if let Some(taken) = takes {
            // The message goes with the entry, and the entry is refused without it.
            let Some(place) = server.messages.iter().position(|it| *it == taken) else {
                return Err(AppendFailure::Refused);
            };
            server.messages.remove(place);
        }
        self.seen.takeover |=
            server.entries.last().is_some_and(|it| it.epoch > 1 && it.epoch < epoch);
        server.entries.push(Written { epoch, seq, event, under: server.epoch });
        // Progress: it counts for nothing that the run was claimed before.
        (server.row.wrote, server.row.claims) = (true, 0);
        server.renew(now);
        Ok(server.expires)
    }

    /// Looks for what must never be.
    pub(super) fn inspect(&mut self) {
        let server = &self.server;
        let follows = |pair: &[Written]| pair[1].seq == pair[0].seq + 1;
        let in_order = |pair: &[Written]| pair[1].epoch >= pair[0].epoch;
        let written = |event: &u8| server.entries.iter().any(|it| it.event == *event);
        let last = server.tip().seq;
        let waits = server.row.status == RowStatus::Waiting;
        // What came before the last claim was there to be read.
        let deferred = server.row.status == RowStatus::Timed
            && server.messages.iter().any(|message| *message > server.heard);
        let once = server.entries.iter().enumerate().all(|(place, it)| {
            server.entries.iter().take(place).all(|earlier| earlier.event != it.event)
        });
        let broken = if !server.entries.windows(2).all(in_order)
            || server.entries.iter().any(|it| it.under != it.epoch)
        {
            BrokenRule::SecondWriter
        } else if !server.entries.windows(2).all(follows) {
            BrokenRule::Gap
        } else if !once {
            BrokenRule::Repeated
        } else if !server.acknowledged.iter().all(written) {
            BrokenRule::Forgotten
        } else if !server.started.iter().all(written) {
            BrokenRule::Unwritten
        } else if deferred || waits && (!server.messages.is_empty() || last > server.handled) {
            BrokenRule::LostWake
        } else {
            return;
        };
        self.broken.get_or_insert(broken);
    }
}

//! The decisions of a store that many workers share: whether an entry follows, what an answer means,
//! when a lease is over, where a run goes in the queue.
//!
//! All of it is pure. Stores and journals decide with these functions, and `cargo xtask check-model`
//! explores them with several workers, lost answers and pauses. Where SQL decides, a test compares the
//! statement with the function.

use std::time::Duration;

/// How often a run is claimed from the queue without progress: then it is quarantined.
pub const CLAIMS: u32 = 5;
/// How often an entry is tried whose answer was lost.
pub const TRIES: u32 = 5;

/// The last entry of a run as its row has it, under the epoch of its last lease.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct JournalTip<L> {
    /// The epoch of the run's last lease.
    pub epoch: u64,
    /// Whether that lease was given up or has expired. A run outside the queue does not say.
    pub given_up: bool,
    /// The number of its last entry.
    pub seq: u64,
    /// The digest of that entry's line.
    pub link: L,
}

/// Whether an entry can be written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AppendCheck {
    /// It follows the last entry, under the last lease.
    Follows,
    /// Its lease is over.
    Fenced,
    /// The run is not at the entry before it.
    Conflict,
    /// The entry before it is another one.
    Unfit,
}

impl<L: PartialEq> JournalTip<L> {
    /// Returns whether a lease is over: its owner writes nothing more, and discards no message.
    pub const fn fences(&self, epoch: u64) -> bool {
        self.epoch != epoch || self.given_up
    }

    /// Judges an entry that was written under a lease, to follow an entry.
    pub fn judge(&self, epoch: u64, seq: u64, prev: &L) -> AppendCheck {
        if self.fences(epoch) {
            AppendCheck::Fenced
        } else if self.seq.checked_add(1) != Some(seq) {
            AppendCheck::Conflict
        } else if self.link != *prev {
            AppendCheck::Unfit
        } else {
            AppendCheck::Follows
        }
    }

    /// Returns whether it is this very entry.
    pub fn is(&self, seq: u64, link: &L) -> bool {
        self.seq == seq && self.link == *link
    }
}

/// An answer to an append that does not say that the entry was written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AppendFailure {
    /// Nobody knows whether it was written.
    Unknown,
    /// The run has an entry of that number, or exists.
    Conflict,
    /// It was not written.
    Refused,
}

impl AppendFailure {
    /// Returns whether the run must be read now: the entry may be there, from this try or an earlier
    /// one.
    pub const fn must_look(self, tries: u32) -> bool {
        match self {
            Self::Unknown => true,
            Self::Conflict => tries > 1,
            Self::Refused => false,
        }
    }

    /// Returns whether the same entry is tried once more. The run was read, and has it not.
    pub const fn is_tried_again(self, tries: u32) -> bool {
        matches!(self, Self::Unknown) && tries < TRIES
    }
}

/// Returns until when its owner uses a lease, by the owner's own clock, which said `asked` before the
/// store was asked for it. A third of the lease's time is left before another worker can have the run.
pub fn usable_until(asked: u64, lasts: Duration) -> u64 {
    asked.saturating_add(u64::try_from((lasts * 2 / 3).as_millis()).unwrap_or(u64::MAX))
}

/// Returns whether an owner must stop using a lease, by its own clock.
pub const fn is_over(now: u64, usable_until: u64) -> bool {
    now >= usable_until
}

/// Where a run of the queue is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum RowStatus {
    /// It waits for a message.
    Waiting,
    /// It waits for its wake-up time, or for a message.
    Timed,
    /// Anybody may claim it.
    Ready,
    /// A worker has it.
    Leased,
    /// It has ended.
    Ended,
    /// It lost its owner too often, and waits for a person.
    Quarantined,
}

impl RowStatus {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Timed, Self::Ready, Self::Leased, Self::Ended, Self::Quarantined];

    /// Returns the name that tables have for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Timed => "timed",
            Self::Ready => "ready",
            Self::Leased => "leased",
            Self::Ended => "ended",
            Self::Quarantined => "quarantined",
        }
    }
}

/// A run's place in the queue, as its row has it.
#[must_use = "a row is changed by storing it"]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct QueueRow {
    /// Where it is.
    pub status: RowStatus,
    /// Where it returns to when its owner is lost without having written anything.
    pub back: RowStatus,
    /// Whether the last lease's owner has written an entry.
    pub wrote: bool,
    /// How often it was claimed without progress.
    pub claims: u32,
    /// Whether it has a wake-up time.
    pub wakes: bool,
}

/// How an owner leaves a run.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Leaving {
    /// It has something to do.
    Ready,
    /// It waits.
    Parked {
        /// Whether it has messages that its owner has not read.
        unread: bool,
    },
    /// It cannot be driven here now, and the claim does not count.
    Deferred {
        /// Whether it has messages that were sent after it was claimed.
        unread: bool,
    },
    /// Its owner dropped the lease.
    Dropped,
}

impl QueueRow {
    /// Returns where it is once its owner is lost.
    const fn lost(self) -> RowStatus {
        if self.claims >= CLAIMS {
            RowStatus::Quarantined
        } else if self.wrote {
            RowStatus::Ready
        } else {
            self.back
        }
    }

    /// Returns it as a worker has it that took it from the queue; nothing if it is not ready.
    pub fn claimed_ready(self) -> Option<Self> {
        (self.status == RowStatus::Ready).then_some(Self {
            status: RowStatus::Leased,
            back: RowStatus::Ready,
            wrote: false,
            claims: self.claims.saturating_add(1),
            ..self
        })
    }

    /// Returns it as a worker has it that asked for it by name, when its last lease had expired or was
    /// given up.
    pub fn claimed_by_name(self) -> Self {
        let back = match self.status {
            RowStatus::Leased if self.wrote => RowStatus::Ready,
            RowStatus::Leased | RowStatus::Ended => self.back,
            status => status,
        };
        let claims = if self.status == RowStatus::Quarantined { 0 } else { self.claims };
        let ended = self.status == RowStatus::Ended;
        let status = if ended { RowStatus::Ended } else { RowStatus::Leased };
        Self { status, back, wrote: false, claims, ..self }
    }

    /// Returns it as its owner leaves it.
    pub fn released(self, how: Leaving) -> Self {
        let claims = match how {
            Leaving::Parked { .. } => 0,
            Leaving::Deferred { .. } => self.claims.saturating_sub(1),
            Leaving::Ready | Leaving::Dropped => self.claims,
        };
        if self.status != RowStatus::Leased {
            return Self { claims, ..self };
        }
        let status = match how {
            Leaving::Parked { unread: false } if self.wakes => RowStatus::Timed,
            Leaving::Parked { unread: false } => RowStatus::Waiting,
            Leaving::Deferred { unread: false } => RowStatus::Timed,
            Leaving::Parked { unread: true } | Leaving::Deferred { unread: true } => {
                RowStatus::Ready
            }
            // An owner that wrote nothing leaves the run where it was: a delayed one stays delayed.
            Leaving::Ready | Leaving::Dropped => self.lost(),
        };
        Self { status, claims, ..self }
    }

    /// Returns it with a message.
    pub fn sent(self) -> Self {
        let waits = matches!(self.status, RowStatus::Waiting | RowStatus::Timed);
        let leased = self.status == RowStatus::Leased && self.back != RowStatus::Quarantined;
        Self {
            status: if waits { RowStatus::Ready } else { self.status },
            back: if leased { RowStatus::Ready } else { self.back },
            ..self
        }
    }

    /// Returns it after its wake-up time has come, or its owner's lease has expired.
    pub fn swept(self) -> Self {
        let status = match self.status {
            RowStatus::Timed => RowStatus::Ready,
            RowStatus::Leased => self.lost(),
            status => status,
        };
        Self { status, ..self }
    }
}

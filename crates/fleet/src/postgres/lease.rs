//! Leases: granted by the server's clock, kept by ours, given up when they are dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use pointsman_runtime::{
    clock::boot_ms,
    store::{Lease, MessageId, Release, RunId, StoreError},
};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_postgres::types::Type;

use super::{
    checksum::{signed, unsigned},
    database::{Database, Failure, Params},
};

/// How often a run is claimed from the queue without going on: then it is set aside.
pub(super) const CLAIMS: i32 = 5;
/// How many leases one statement gives up.
const MOST: usize = 256;
/// How long a claim waits for leases that were dropped before it.
const GIVING_UP: Duration = Duration::from_secs(5);

/// A claim of one run. An expired lease leaves the run as it would be without its owner.
const CLAIM: &str = "
UPDATE pointsman.run r SET
    epoch = r.epoch + 1, owner = $2, expires_ms = (SELECT pointsman.now_ms()) + $3,
    claims = CASE WHEN r.status = 'quarantined' THEN 0 ELSE r.claims END,
    back = CASE WHEN r.status = 'ended' THEN r.back
        WHEN r.status <> 'leased' THEN r.status
        WHEN r.wrote = r.epoch THEN 'ready' ELSE r.back END,
    status = CASE WHEN r.key IS NULL OR r.status = 'ended' THEN r.status ELSE 'leased' END
WHERE r.id = $1 AND (r.expires_ms <= (SELECT pointsman.now_ms()) OR $4)
RETURNING r.epoch, r.expires_ms";

/// Renewal skips locked runs: the append that locks one renews its lease.
const RENEW: &str = "
WITH i AS (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS t (run, epoch)
), now AS MATERIALIZED (
    SELECT pointsman.now_ms() AS ms
), mine AS (
    SELECT r.id FROM pointsman.run r JOIN i ON r.id = i.run AND r.epoch = i.epoch
    WHERE r.expires_ms > (SELECT ms FROM now)
), free AS (
    SELECT r.id FROM pointsman.run r JOIN i ON r.id = i.run AND r.epoch = i.epoch
    WHERE r.expires_ms > (SELECT ms FROM now) FOR UPDATE OF r SKIP LOCKED
), renewed AS (
    UPDATE pointsman.run r SET expires_ms = (SELECT ms FROM now) + $3
    FROM free WHERE r.id = free.id RETURNING r.id, r.expires_ms
)
SELECT mine.id, renewed.expires_ms FROM mine LEFT JOIN renewed USING (id)";

/// A message that was committed after this statement began is seen by the run's row alone, which is
/// read anew once it is locked: `mail` is then higher than it was `before`.
const RELEASE: &str = "
WITH i AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
    AS t (run, epoch, how, read)
), before AS (
    SELECT r.id, r.mail FROM pointsman.run r JOIN i ON r.id = i.run
)
UPDATE pointsman.run r SET
    owner = '', expires_ms = 0,
    status = CASE
        WHEN r.status <> 'leased' THEN r.status
        WHEN i.how = 'parked' AND NOT (r.mail > i.read AND (r.mail > before.mail OR EXISTS (
            SELECT FROM pointsman.message m WHERE m.run = r.id AND m.id > i.read)))
            THEN CASE WHEN r.wake IS NULL THEN 'waiting' ELSE 'timed' END
        WHEN i.how <> 'parked' AND r.claims >= $5 THEN 'quarantined'
        WHEN i.how = 'dropped' AND r.wrote <> r.epoch THEN r.back
        ELSE 'ready' END,
    wake_at = CASE WHEN r.status = 'leased' AND i.how = 'parked'
        THEN r.created_ms + r.wake ELSE r.wake_at END,
    claims = CASE WHEN i.how = 'parked' THEN 0 ELSE r.claims END
FROM i JOIN before ON before.id = i.run
WHERE r.id = i.run AND r.epoch = i.epoch";

/// The leases that were dropped and that the server does not know of yet, by their tickets.
#[derive(Clone, Debug)]
pub struct GivenUp {
    waiting: Arc<watch::Sender<BTreeSet<u64>>>,
    next: Arc<AtomicU64>,
}

impl Default for GivenUp {
    fn default() -> Self {
        Self { waiting: Arc::new(watch::Sender::default()), next: Arc::default() }
    }
}

impl GivenUp {
    fn add(&self) -> u64 {
        let ticket = self.next.fetch_add(1, Ordering::AcqRel);
        self.waiting.send_modify(|waiting| {
            waiting.insert(ticket);
        });
        ticket
    }

    fn done(&self, ticket: u64) {
        self.waiting.send_modify(|waiting| {
            waiting.remove(&ticket);
        });
    }

    /// Waits until those are given up that were dropped before.
    pub(super) async fn settled(&self) {
        let mut waiting = self.waiting.subscribe();
        let Some(last) = waiting.borrow().last().copied() else { return };
        let settles = waiting.wait_for(|waiting| waiting.first().is_none_or(|it| *it > last));
        // Who waits in vain finds the run claimed, as everybody else does.
        drop(timeout(GIVING_UP, settles).await);
    }
}

/// A lease that was dropped.
struct Dropped {
    run: RunId,
    epoch: u64,
    ticket: u64,
}

/// When a lease ends: for others by the server's clock, for us earlier and by our own.
#[derive(Clone, Debug)]
struct Times {
    expires_ms: Arc<AtomicU64>,
    deadline_ms: Arc<AtomicU64>,
}

impl Times {
    /// Moves the end of a lease on. We leave off a third of its time before anybody else can have it.
    fn move_on(&self, lasts: Duration, expires: i64, asked: u64) {
        let usable = u64::try_from((lasts * 2 / 3).as_millis()).unwrap_or(u64::MAX);
        self.expires_ms.fetch_max(unsigned(expires), Ordering::AcqRel);
        self.deadline_ms.fetch_max(asked.saturating_add(usable), Ordering::AcqRel);
    }
}

/// The leases of a store.
pub(super) struct Keeper {
    /// Who we are, for those who look at the tables.
    owner: String,
    lasts: Duration,
    held: Mutex<BTreeMap<(RunId, u64), Times>>,
    dropped: mpsc::UnboundedSender<Dropped>,
    given_up: GivenUp,
    /// Runs whose creation was not answered. If such a run exists, only this store can own it.
    unanswered: Mutex<BTreeSet<RunId>>,
}

/// The inside of a lease.
pub(super) struct Held {
    keeper: Arc<Keeper>,
    run: RunId,
    epoch: u64,
    times: Times,
}

impl Held {
    /// Notes that the server has renewed it, which was asked for at a time of ours.
    pub(super) fn renewed(&self, expires: i64, asked: u64) {
        self.times.move_on(self.keeper.lasts, expires, asked);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let (run, epoch) = (self.run.clone(), self.epoch);
        if lock(&self.keeper.held).remove(&(run.clone(), epoch)).is_none() {
            return;
        }
        let ticket = self.keeper.given_up.add();
        if self.keeper.dropped.send(Dropped { run, epoch, ticket }).is_err() {
            self.keeper.given_up.done(ticket);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under a lock is whole, so a panic elsewhere spoils nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keeper {
    /// Starts to keep leases, until the store and the last of them are dropped.
    pub(super) fn start(
        database: Database,
        owner: String,
        lasts: Duration,
        heartbeats: bool,
        given_up: GivenUp,
    ) -> Arc<Self> {
        let (dropped, gone) = mpsc::unbounded_channel();
        let keeper = Arc::new(Self {
            owner,
            lasts,
            held: Mutex::default(),
            dropped,
            given_up: given_up.clone(),
            unanswered: Mutex::default(),
        });
        let beats = heartbeats.then(|| Arc::downgrade(&keeper));
        tokio::spawn(keep(database, beats, lasts / 3, gone, given_up));
        keeper
    }

    pub(super) fn lasts_ms(&self) -> i64 {
        i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX)
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    /// Remembers that a run may have been created for us.
    pub(super) fn unanswered(&self, run: &RunId) {
        lock(&self.unanswered).insert(run.clone());
    }

    /// Returns a lease that was asked for at a time of ours.
    pub(super) fn grant(
        self: &Arc<Self>,
        run: RunId,
        epoch: i64,
        expires: i64,
        asked: u64,
    ) -> Lease {
        let epoch = unsigned(epoch);
        let times = Times { expires_ms: Arc::default(), deadline_ms: Arc::default() };
        times.move_on(self.lasts, expires, asked);
        lock(&self.held).insert((run.clone(), epoch), times.clone());
        let (ends, deadline) = (Arc::clone(&times.expires_ms), Arc::clone(&times.deadline_ms));
        let held = Held { keeper: Arc::clone(self), run: run.clone(), epoch, times };
        Lease::new(run, epoch, held).until(ends).usable_until(deadline)
    }

    /// Waits until the leases that were dropped before are given up.
    pub(super) async fn settled(&self) {
        self.given_up.settled().await;
    }

    pub(super) async fn claim(
        self: &Arc<Self>,
        database: &Database,
        run: &RunId,
    ) -> Result<Option<Lease>, StoreError> {
        self.settled().await;
        let ours = lock(&self.unanswered).remove(run);
        let (asked, lasts) = (boot_ms(), self.lasts_ms());
        let claimed = database
            .write(
                CLAIM,
                &[
                    (&run.as_str(), Type::TEXT),
                    (&self.owner, Type::TEXT),
                    (&lasts, Type::INT8),
                    (&ours, Type::BOOL),
                ],
            )
            .await
            .map_err(|failure| failure.write(Some(run), None))?;
        if let Some(row) = claimed.first() {
            return Ok(Some(self.grant(run.clone(), row.get(0), row.get(1), asked)));
        }
        let there = "SELECT 1 FROM pointsman.run WHERE id = $1";
        let there = database.read(there, &[(&run.as_str(), Type::TEXT)]).await;
        let there = there.map_err(|failure| failure.read(Some(run)))?;
        if there.is_empty() {
            return Err(StoreError::NoSuchRun { run: run.clone() });
        }
        Ok(None)
    }

    /// Renews leases, and returns the runs of those that are over.
    pub(super) async fn renew(
        &self,
        database: &Database,
        leases: &[&Lease],
    ) -> Result<Vec<RunId>, Failure> {
        let mut over = Vec::new();
        let mut held = Vec::new();
        for lease in leases {
            match lease.guard::<Held>() {
                Some(it) => held.push((it.run.clone(), it.epoch, it.times.clone())),
                None => over.push(lease.run().clone()),
            }
        }
        over.extend(self.renew_held(database, &held).await?);
        Ok(over)
    }

    async fn renew_held(
        &self,
        database: &Database,
        leases: &[(RunId, u64, Times)],
    ) -> Result<Vec<RunId>, Failure> {
        let runs: Vec<&str> = leases.iter().map(|(run, ..)| run.as_str()).collect();
        let epochs: Vec<i64> = leases.iter().map(|(_, epoch, _)| signed(*epoch)).collect();
        let (asked, lasts) = (boot_ms(), self.lasts_ms());
        let mine = database
            .write(
                RENEW,
                &[(&runs, Type::TEXT_ARRAY), (&epochs, Type::INT8_ARRAY), (&lasts, Type::INT8)],
            )
            .await?;
        let mut over = Vec::new();
        for (run, _, times) in leases {
            match mine.iter().find(|row| row.get::<_, &str>(0) == run.as_str()) {
                Some(row) => {
                    if let Some(expires) = row.get::<_, Option<i64>>(1) {
                        times.move_on(self.lasts, expires, asked);
                    }
                }
                None => over.push(run.clone()),
            }
        }
        Ok(over)
    }

    pub(super) async fn release(
        database: &Database,
        lease: Lease,
        how: Release,
    ) -> Result<(), StoreError> {
        let Some(held) = lease.guard::<Held>() else { return Ok(()) };
        let (run, epoch) = (lease.run().clone(), lease.epoch());
        // From here on, dropping it does nothing.
        lock(&held.keeper.held).remove(&(run.clone(), epoch));
        let (how, read) = match how {
            Release::Ready => ("ready", 0),
            Release::Parked { read } => ("parked", read.map_or(0, MessageId::number)),
        };
        let given = give_up(database, &[run.as_str()], &[signed(epoch)], &[how], &[read]).await;
        given.map_err(|failure| failure.write(Some(&run), None))
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keeper({}, {} leases)", self.owner, lock(&self.held).len())
    }
}

async fn give_up(
    database: &Database,
    runs: &[&str],
    epochs: &[i64],
    how: &[&str],
    read: &[i64],
) -> Result<(), Failure> {
    let params: Params<'_> = &[
        (&runs, Type::TEXT_ARRAY),
        (&epochs, Type::INT8_ARRAY),
        (&how, Type::TEXT_ARRAY),
        (&read, Type::INT8_ARRAY),
        (&CLAIMS, Type::INT4),
    ];
    database.write(RELEASE, params).await.map(drop)
}

/// Releases dropped leases, and renews the others.
async fn keep(
    database: Database,
    beats: Option<Weak<Keeper>>,
    every: Duration,
    mut dropped: mpsc::UnboundedReceiver<Dropped>,
    given_up: GivenUp,
) {
    let mut ticks = interval(every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut gone = Vec::new();
    loop {
        tokio::select! {
            got = dropped.recv_many(&mut gone, MOST) => {
                if got == 0 {
                    return;
                }
                let runs: Vec<&str> = gone.iter().map(|it| it.run.as_str()).collect();
                let epochs: Vec<i64> = gone.iter().map(|it| signed(it.epoch)).collect();
                let (how, read) = (vec!["dropped"; runs.len()], vec![0; runs.len()]);
                if let Err(failure) = give_up(&database, &runs, &epochs, &how, &read).await {
                    tracing::warn!(?failure, "leases could not be given up and will expire");
                }
                gone.drain(..).for_each(|it| given_up.done(it.ticket));
            }
            _ = ticks.tick() => {
                let Some(keeper) = beats.as_ref().and_then(Weak::upgrade) else { continue };
                let held = |((run, epoch), times): (&(RunId, u64), &Times)| {
                    (run.clone(), *epoch, times.clone())
                };
                let leases: Vec<_> = lock(&keeper.held).iter().map(held).collect();
                if leases.is_empty() {
                    continue;
                }
                match keeper.renew_held(&database, &leases).await {
                    Ok(over) if over.is_empty() => {}
                    Ok(over) => tracing::warn!(?over, "leases are over"),
                    Err(failure) => tracing::warn!(?failure, "leases could not be renewed"),
                }
            }
        }
    }
}

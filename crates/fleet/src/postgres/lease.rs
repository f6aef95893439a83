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
    clock::{boot_ms, now_ms},
    plant,
    store::{Lease, MessageId, Pulse, Release, RunId, StoreError, protocol},
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{sleep, timeout},
};
use tokio_postgres::{Row, types::Type};

use super::{
    checksum::{signed, unsigned},
    database::{Database, Failure, Params},
    options::PostgresOptions,
};

/// How often a run is claimed from the queue without progress before it is quarantined.
pub(super) const CLAIMS: i32 = protocol::CLAIMS.cast_signed();
/// How many leases one statement gives up.
const MOST: usize = 256;
/// The pause after a renewal that failed; a tenth of the usual one if that is shorter.
const RENEWED_AGAIN: Duration = Duration::from_secs(1);
/// How long a claim waits for leases that were dropped before it.
const GIVING_UP: Duration = Duration::from_secs(5);

/// A claim of one run. An expired lease leaves the run as it would be without its owner. A run whose
/// creation was not answered is ours only while it has its first lease: later ones have been answered.
const CLAIM: &str = "
UPDATE pointsman.run r SET
    epoch = r.epoch + 1, owner = $2, expires_ms = (SELECT pointsman.now_ms()) + $3,
    claims = CASE WHEN r.status = 'quarantined' THEN 0 ELSE r.claims END,
    back = CASE WHEN r.status = 'ended' THEN r.back
        WHEN r.status <> 'leased' THEN r.status
        WHEN r.wrote = r.epoch THEN 'ready' ELSE r.back END,
    status = CASE WHEN r.key IS NULL OR r.status = 'ended' THEN r.status ELSE 'leased' END
WHERE r.id = $1 AND (r.expires_ms <= (SELECT pointsman.now_ms())
    OR ($4 AND r.epoch = 1 AND r.owner = $2))
RETURNING r.epoch, r.expires_ms, r.mail";

/// Renewal skips locked runs: the append that locks one renews its lease.
const RENEW: &str = "
WITH i AS (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS t (run, epoch)
), now AS MATERIALIZED (
    SELECT pointsman.now_ms() AS ms
), mine AS (
    SELECT r.id, r.epoch FROM pointsman.run r JOIN i ON r.id = i.run AND r.epoch = i.epoch
    WHERE r.expires_ms > (SELECT ms FROM now)
), free AS (
    SELECT r.id FROM pointsman.run r JOIN i ON r.id = i.run AND r.epoch = i.epoch
    WHERE r.expires_ms > (SELECT ms FROM now) FOR UPDATE OF r SKIP LOCKED
), renewed AS (
    UPDATE pointsman.run r SET expires_ms = (SELECT ms FROM now) + $3
    FROM free WHERE r.id = free.id RETURNING r.id, r.expires_ms
)
SELECT mine.id, mine.epoch, renewed.expires_ms FROM mine LEFT JOIN renewed USING (id)";

/// A message that its owner has not read makes a run ready, though it is parked or deferred. One that
/// was committed after this statement began is visible only in the run's row, which is read again once
/// it is locked: `mail` is then higher than it was `before`. Times are limited so that no sum overflows:
/// one run would fail the release of all.
const RELEASE: &str = "
WITH i AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $6::bigint[])
    AS t (run, epoch, how, read, wait)
), before AS (
    SELECT r.id, r.mail FROM pointsman.run r JOIN i ON r.id = i.run
)
UPDATE pointsman.run r SET
    owner = '', expires_ms = 0,
    status = CASE
        WHEN r.status <> 'leased' THEN r.status
        WHEN i.how IN ('parked', 'deferred') AND r.mail > i.read AND (r.mail > before.mail
            OR EXISTS (SELECT FROM pointsman.message m WHERE m.run = r.id AND m.id > i.read))
            THEN 'ready'
        WHEN i.how = 'deferred' OR i.how = 'parked' AND r.wake IS NOT NULL THEN 'timed'
        WHEN i.how = 'parked' THEN 'waiting'
        WHEN r.claims >= $5 THEN 'quarantined'
        WHEN r.wrote <> r.epoch THEN r.back
        ELSE 'ready' END,
    wake_at = CASE WHEN r.status <> 'leased' THEN r.wake_at
        WHEN i.how = 'parked' AND r.wake IS NULL THEN NULL
        WHEN i.how = 'parked' THEN least(r.created_ms, 4611686018427387903)
            + least(r.wake, 4611686018427387903)
        WHEN i.how = 'deferred'
            THEN (SELECT pointsman.now_ms()) + least(i.wait, 4611686018427387903)
        ELSE r.wake_at END,
    claims = CASE WHEN i.how = 'parked' THEN 0
        WHEN i.how = 'deferred' AND r.owner <> '' THEN greatest(r.claims - 1, 0)
        ELSE r.claims END
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

/// A lease that is given up, and how.
struct Leaving {
    run: RunId,
    epoch: u64,
    how: &'static str,
    read: i64,
    wait: i64,
    done: Done,
}

/// The one that waits until the server knows.
enum Done {
    /// The next claim: the lease was dropped.
    Ticket(u64),
    /// The owner: it released the lease.
    Answer(oneshot::Sender<Result<(), Failure>>),
}

/// When a lease ends: for others by the server's clock, for us earlier and by our own.
#[derive(Clone, Debug)]
struct Times {
    expires_ms: Arc<AtomicU64>,
    deadline_ms: Arc<AtomicU64>,
    /// The signs of life of the task that uses it; a child shares those of its parent.
    pulse: Pulse,
}

impl Times {
    /// Extends a lease. We stop a third of its time before another process can claim the run.
    fn move_on(&self, lasts: Duration, expires: i64, asked: u64) {
        self.expires_ms.fetch_max(unsigned(expires), Ordering::AcqRel);
        self.deadline_ms.fetch_max(protocol::usable_until(asked, lasts), Ordering::AcqRel);
    }
}

/// The leases of a store.
pub(super) struct Keeper {
    /// Who we are, for people who look at the tables.
    owner: String,
    lasts: Duration,
    /// How long a task that drives a run may hang.
    hangs: Duration,
    held: Mutex<BTreeMap<(RunId, u64), Times>>,
    leaving: mpsc::UnboundedSender<Leaving>,
    given_up: GivenUp,
    /// Runs whose creation was not answered. If such a run exists, its first lease is ours.
    unanswered: Mutex<BTreeSet<RunId>>,
}

/// The inside of a lease.
pub(super) struct Held {
    keeper: Arc<Keeper>,
    run: RunId,
    epoch: u64,
    /// The last message that was sent before it was granted.
    mail: i64,
    times: Times,
}

impl Held {
    /// Notes that the server has renewed it, which was asked for at a time of ours.
    pub(super) fn renewed(&self, expires: i64, asked: u64) {
        self.times.move_on(self.keeper.lasts, expires, asked);
    }

    /// Returns until when nobody else can have the run, by our own clock.
    pub(super) fn ends_ms(&self) -> u64 {
        let usable = self.times.deadline_ms.load(Ordering::Acquire);
        let rest = self.keeper.lasts.saturating_sub(self.keeper.lasts * 2 / 3);
        usable.saturating_add(u64::try_from(rest.as_millis()).unwrap_or(u64::MAX))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let (run, epoch) = (self.run.clone(), self.epoch);
        if lock(&self.keeper.held).remove(&(run.clone(), epoch)).is_none() {
            return;
        }
        let ticket = self.keeper.given_up.add();
        let done = Done::Ticket(ticket);
        let leaving = Leaving { run, epoch, how: "dropped", read: 0, wait: 0, done };
        if self.keeper.leaving.send(leaving).is_err() {
            self.keeper.given_up.done(ticket);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under a lock is whole, so a panic elsewhere spoils nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the pulse of a child's parent, if its lease is here. The parent's task drives the child, and
/// no other task gives signs of life for it: if that task hangs, the child's lease must not be renewed either.
fn parents_pulse(held: &BTreeMap<(RunId, u64), Times>, run: &RunId) -> Option<Pulse> {
    // A child's name is that of its parent, with the number of an entry and of an effect there.
    let parent: RunId = run.as_str().rsplitn(3, '-').nth(2)?.parse().ok()?;
    // Of several leases, the last: an owner that hangs may still have its own.
    let mut leases = held.range((parent.clone(), 0)..=(parent, u64::MAX));
    leases.next_back().map(|(_, times)| times.pulse.clone())
}

impl Keeper {
    /// Starts to keep leases, until the store and the last of them are dropped.
    pub(super) fn start(database: Database, owner: String, options: &PostgresOptions) -> Arc<Self> {
        let PostgresOptions { lease: lasts, hangs, heartbeats, .. } = *options;
        let given_up = options.given_up.clone();
        let (leaving, left) = mpsc::unbounded_channel();
        let keeper = Arc::new(Self {
            owner,
            lasts,
            hangs,
            held: Mutex::default(),
            leaving,
            given_up: given_up.clone(),
            unanswered: Mutex::default(),
        });
        tokio::spawn(give_up(database.clone(), left, given_up));
        if heartbeats {
            tokio::spawn(renew(database, Arc::downgrade(&keeper), lasts / 3));
        }
        keeper
    }

    pub(super) const fn lasts(&self) -> Duration {
        self.lasts
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

    /// Returns a lease that was asked for at a time of ours: its epoch, when it expires by the server's
    /// clock, and the last message that was sent before.
    pub(super) fn grant(
        self: &Arc<Self>,
        run: RunId,
        (epoch, expires, mail): (i64, i64, i64),
        asked: u64,
    ) -> Lease {
        let epoch = unsigned(epoch);
        let mut leases = lock(&self.held);
        let pulse = parents_pulse(&leases, &run).unwrap_or_else(|| Pulse::new(self.hangs));
        let times =
            Times { expires_ms: Arc::default(), deadline_ms: Arc::default(), pulse: pulse.clone() };
        times.move_on(self.lasts, expires, asked);
        leases.insert((run.clone(), epoch), times.clone());
        drop(leases);
        let (ends, deadline) = (Arc::clone(&times.expires_ms), Arc::clone(&times.deadline_ms));
        let held = Held { keeper: Arc::clone(self), run: run.clone(), epoch, mail, times };
        // By the server's clock it was granted a lease's time before it expires.
        let ahead = signed(now_ms()).saturating_sub(expires.saturating_sub(self.lasts_ms()));
        let lease = Lease::new(run, epoch, held).until(ends).usable_until(deadline);
        lease.ahead(ahead).beating(pulse)
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
        let ours = lock(&self.unanswered).contains(run);
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
            lock(&self.unanswered).remove(run);
            let granted = (row.get(0), row.get(1), row.get(2));
            return Ok(Some(self.grant(run.clone(), granted, asked)));
        }
        let there = "SELECT 1 FROM pointsman.run WHERE id = $1";
        let there = database.read(there, &[(&run.as_str(), Type::TEXT)]).await;
        let there = there.map_err(|failure| failure.read(Some(run)))?;
        if there.is_empty() {
            return Err(StoreError::NoSuchRun { run: run.clone() });
        }
        Ok(None)
    }

    /// Renews leases, and returns the runs of those that have expired.
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
        for (run, epoch, times) in leases {
            // An old lease of a run that was claimed again here is over.
            let is_it = |row: &&Row| {
                row.get::<_, &str>(0) == run.as_str() && row.get::<_, i64>(1) == signed(*epoch)
            };
            match mine.iter().find(is_it) {
                Some(row) => {
                    if let Some(expires) = row.get::<_, Option<i64>>(2) {
                        times.move_on(self.lasts, expires, asked);
                    }
                }
                None => over.push(run.clone()),
            }
        }
        Ok(over)
    }

    pub(super) async fn release(lease: Lease, how: Release) -> Result<(), StoreError> {
        let Some(held) = lease.guard::<Held>() else { return Ok(()) };
        let (run, epoch) = (lease.run().clone(), lease.epoch());
        // From here on, dropping it does nothing.
        lock(&held.keeper.held).remove(&(run.clone(), epoch));
        let (how, read, wait) = match how {
            Release::Ready => ("ready", 0, 0),
            Release::Parked { .. } if plant::is("no-mail-check") => ("parked", i64::MAX, 0),
            Release::Parked { read } => ("parked", read.map_or(0, MessageId::number), 0),
            // What it had when it was claimed does not make it ready again.
            Release::Deferred { wait } => {
                ("deferred", held.mail, i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
            }
        };
        let (answer, answered) = oneshot::channel();
        let done = Done::Answer(answer);
        let leaving = Leaving { run: run.clone(), epoch, how, read, wait, done };
        let ended = || Failure::Unknown("the store's runtime has ended".into());
        let sent = held.keeper.leaving.send(leaving).map_err(|_| ended());
        let done = match sent {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(ended())),
            Err(failure) => Err(failure),
        };
        done.map_err(|failure| failure.write(Some(&run), None))
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keeper({}, {} leases)", self.owner, lock(&self.held).len())
    }
}

/// Gives up leases, many with one statement, until the last owner has gone.
async fn give_up(
    database: Database,
    mut leaving: mpsc::UnboundedReceiver<Leaving>,
    given_up: GivenUp,
) {
    let mut some = Vec::new();
    while leaving.recv_many(&mut some, MOST).await > 0 {
        let runs: Vec<&str> = some.iter().map(|it| it.run.as_str()).collect();
        let epochs: Vec<i64> = some.iter().map(|it| signed(it.epoch)).collect();
        let how: Vec<&str> = some.iter().map(|it| it.how).collect();
        let (read, wait): (Vec<i64>, Vec<i64>) = some.iter().map(|it| (it.read, it.wait)).unzip();
        let params: Params<'_> = &[
            (&runs, Type::TEXT_ARRAY),
            (&epochs, Type::INT8_ARRAY),
            (&how, Type::TEXT_ARRAY),
            (&read, Type::INT8_ARRAY),
            (&CLAIMS, Type::INT4),
            (&wait, Type::INT8_ARRAY),
        ];
        // What was given up without an answer has no owner and, if anybody has it now, another epoch.
        let written = database.repeat(RELEASE, params).await;
        if let Err(failure) = &written {
            tracing::warn!(?failure, "leases could not be released and will expire");
        }
        for Leaving { done, .. } in some.drain(..) {
            match done {
                Done::Ticket(ticket) => given_up.done(ticket),
                // An owner that no longer waits has dropped the run.
                Done::Answer(answer) => {
                    let answered = written.as_ref().map(|_| ()).map_err(Failure::again);
                    drop(answer.send(answered));
                }
            }
        }
    }
}

/// Renews the leases of a store, until it is dropped. They last three times as long, and are used for
/// two thirds of that: a renewal without an answer must leave time for another one.
async fn renew(database: Database, keeper: Weak<Keeper>, every: Duration) {
    let tried = database.within(every / 2);
    let mut pause = every;
    loop {
        sleep(pause.max(Duration::from_millis(1))).await;
        let Some(keeper) = keeper.upgrade() else { return };
        let held =
            |((run, epoch), times): (&(RunId, u64), &Times)| (run.clone(), *epoch, times.clone());
        let all: Vec<_> = lock(&keeper.held).iter().map(held).collect();
        let (hang, leases): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(.., times)| times.pulse.has_stopped());
        for (run, ..) in hang {
            tracing::warn!(%run, "the task of a run hangs; its lease is not renewed");
        }
        pause = every;
        if leases.is_empty() {
            continue;
        }
        match keeper.renew_held(&tried, &leases).await {
            Ok(over) if over.is_empty() => {}
            Ok(over) => tracing::warn!(?over, "leases have expired"),
            Err(failure) => {
                tracing::warn!(?failure, "leases could not be renewed");
                pause = RENEWED_AGAIN.min(every / 10);
            }
        }
    }
}

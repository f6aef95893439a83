//! The servers and processes of a storm, and what can be done to them.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use pointsman_fleet::PostgresStore;
use pointsman_runtime::{clock::boot_ms, store::Store};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};

use super::{
    LEASE,
    check::{self, Finding, Violation},
    fleet::{self, OFF, Place, Workers},
    history::{Effect, History, Lists},
    load::{self, Counts, People, Submitter, UNREPEATABLE},
    proxy::Proxy,
    pulse::Pulse,
    storm::{Patience, Started, Storm, Stroke},
    watch::open,
};
use crate::{
    place::Scratch,
    postgres::{Beside, Postgres},
    program::Home,
    server::Server,
};

/// Between two strokes.
pub(super) const BETWEEN: Duration = Duration::from_millis(1_500);
const DELAY: Duration = Duration::from_millis(120);
/// How long a stroke waits for an effect: the first one until the fleet works, the others less.
const FIRST_START: Duration = Duration::from_mins(1);
const NEXT_START: Duration = Duration::from_secs(5);
/// Between two looks at the effects: each takes some 30 ms at least.
const LOOKS_AT_STARTS: Duration = Duration::from_millis(5);
/// A call of a model, in the list of effects.
const MODEL: &str = "model";
/// Between two looks at a standby that replays what it has received, and how many of them may show no
/// progress: the last record may have been received in part.
const LOOKS: Duration = Duration::from_millis(100);
const SAME_LOOKS: usize = 100;

/// The server notes who claims what and when, and entries of an epoch that is over. The last entry of
/// every fourth run is committed late: after transactions with higher numbers.
const NOTES: &str = "
CREATE TABLE noted_claim (run text, epoch bigint, owner text, at_ms bigint);
CREATE TABLE noted_stale (run text, seq bigint, epoch bigint, current bigint);
CREATE FUNCTION note_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO noted_claim VALUES (NEW.id, NEW.epoch, NEW.owner, pointsman.now_ms()); RETURN NEW;
END $$;
CREATE TRIGGER note_claim AFTER UPDATE OF epoch ON pointsman.run FOR EACH ROW
    WHEN (NEW.epoch <> OLD.epoch) EXECUTE FUNCTION note_claim();
CREATE FUNCTION note_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO noted_stale SELECT NEW.run, NEW.seq, NEW.epoch, r.epoch FROM pointsman.run r
        WHERE r.id = NEW.run AND r.epoch <> NEW.epoch;
    IF NEW.ended IS NOT NULL AND hashtext(NEW.run) % 4 = 0 THEN
        PERFORM pg_sleep(0.7);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER note_entry AFTER INSERT ON pointsman.entry FOR EACH ROW
    EXECUTE FUNCTION note_entry();";

/// The servers and processes of a storm. Workers end before their servers.
pub(super) struct Scene {
    workers: Workers,
    /// Keeps the watcher.
    _watcher: Server,
    pulse: Pulse,
    redis: Option<Beside>,
    redis_port: u16,
    /// One for each worker, unless there is a standby.
    proxies: Vec<Proxy>,
    _pooler: Beside,
    postgres: Postgres,
    standby: Option<Postgres>,
    /// What the standby lacked when it was promoted.
    early: Vec<Finding>,
    /// The way to the server, or to both.
    direct: String,
    place: Place,
    /// The server's time when the boot clock said 0.
    boot: u64,
    wanted: usize,
    strokes: usize,
    counts: Arc<Counts>,
    talks: JoinHandle<()>,
    submits: Vec<JoinHandle<Result<()>>>,
    _scratch: Scratch,
}

impl Scene {
    /// Starts everything.
    pub(super) async fn start(storm: &Storm) -> Result<Self> {
        let postgres = Postgres::start()?;
        let mut direct = format!("{}/postgres", postgres.url());
        PostgresStore::migrate(&direct).await.context("making the tables")?;
        connect(&direct).await?.batch_execute(NOTES).await.context("making the notes")?;
        let mut standby = None;
        if storm.standby {
            let made = postgres.standby()?;
            direct = format!("{},127.0.0.1:{}/postgres", postgres.url(), made.port());
            standby = Some(made);
        }
        let (pooler, redis) = (postgres.pooler()?, postgres.redis()?);
        let mut proxies = Vec::new();
        if !storm.standby {
            let ports = [postgres.port(), pooler.port(), postgres.port()];
            for port in ports.into_iter().cycle().take(storm.workers) {
                proxies.push(Proxy::start(port)?);
            }
        }
        let through = |proxy: &Proxy| format!("{}/postgres", proxy.url());
        let ways: Vec<String> = match proxies.as_slice() {
            [] => vec![direct.clone(); storm.workers],
            proxies => proxies.iter().map(through).collect(),
        };
        let scratch = Scratch::new()?;
        let lists = Lists::make(&scratch)?;
        let home = Arc::new(Home::sharing(&scratch.file(""), &scratch.file("cache"))?);
        load::prepare(&home, storm.runs, storm.rounds, storm.parts)?;
        let boot = wall_ms(&direct).await?.saturating_sub(boot_ms());
        let hints = format!("redis://127.0.0.1:{}/", redis.port());
        let fault = storm.fault.filter(|_| storm.planted).map(|fault| fault.name);
        let watcher = fleet::watcher(&direct, &lists.seen, postgres.port(), fault)?;
        let pulse = Pulse::start(&direct)?;
        let place = Place { home, lists, redis: hints.clone(), fault };
        let workers = Workers::start(&ways, &place)?;
        let counts = Arc::<Counts>::default();
        let runs: Arc<dyn Store> = Arc::new(open(&direct, Some(&hints)).await);
        let talks = tokio::spawn(People::new(runs, storm.rounds, Arc::clone(&counts)).talk());
        // The last part comes while the storm still lasts.
        let every = Duration::from_secs(storm.seconds) / u32::try_from(storm.parts + 1)?;
        let submit = |url: &String, ahead| {
            let submitter = Submitter {
                home: Arc::clone(&place.home),
                url: url.clone(),
                redis: hints.clone(),
                ahead,
                parts: storm.parts,
                every,
                submitted: place.lists.submitted.clone(),
            };
            tokio::spawn(submitter.submit())
        };
        let mut submits = vec![submit(&direct, -OFF)];
        submits.extend(ways.first().map(|way| submit(way, OFF)));
        Ok(Self {
            workers,
            _watcher: watcher,
            pulse,
            redis_port: redis.port(),
            redis: Some(redis),
            proxies,
            _pooler: pooler,
            postgres,
            standby,
            early: Vec::new(),
            direct,
            place,
            boot,
            wanted: storm.runs,
            strokes: 0,
            counts,
            talks,
            submits,
            _scratch: scratch,
        })
    }

    pub(super) const fn strokes(&self) -> usize {
        self.strokes
    }

    pub(super) async fn strike(&mut self, stroke: Stroke, worker: usize) -> Result<()> {
        self.workers.revive(&self.place)?;
        match stroke {
            Stroke::Kill => self.workers.kill(worker, &self.place)?,
            Stroke::KillDuring(started) => {
                let at_work = self.at_work(started).await?.unwrap_or(worker);
                self.workers.kill(at_work, &self.place)?;
            }
            Stroke::Suspend => self.workers.suspend(worker, LEASE * 2).await?,
            Stroke::Drain => self.workers.drain(worker, &self.place).await?,
            Stroke::Crash => {
                self.postgres.crash()?;
                self.postgres.serve()?;
            }
            Stroke::Cut => self.proxies.get(worker).into_iter().for_each(Proxy::cut),
            Stroke::Delay => {
                if let Some(proxy) = self.proxies.get(worker) {
                    proxy.delay(DELAY);
                    tokio::time::sleep(BETWEEN).await;
                    proxy.delay(Duration::ZERO);
                }
            }
            Stroke::FlushRedis if self.redis.is_none() => {}
            Stroke::FlushRedis => fleet::tell_redis(self.redis_port, "FLUSHALL")?,
            Stroke::KillRedis => {
                drop(self.redis.take());
                tokio::time::sleep(BETWEEN).await;
                self.redis = Some(self.postgres.redis_at(self.redis_port)?);
            }
            Stroke::LoseRedis => drop(self.redis.take()),
        }
        self.strokes += 1;
        Ok(())
    }

    /// Waits until a worker starts such an effect, and returns which worker.
    async fn at_work(&self, wanted: Started) -> Result<Option<usize>> {
        let mut list = File::open(&self.place.lists.effects).context("opening the list")?;
        list.seek(SeekFrom::End(0)).context("reading the list")?;
        let longest = if self.strokes == 0 { FIRST_START } else { NEXT_START };
        let task = match wanted {
            Started::Model => MODEL,
            Started::Unrepeatable => UNREPEATABLE,
        };
        let (since, mut text) = (Instant::now(), String::new());
        while since.elapsed() < longest {
            tokio::time::sleep(LOOKS_AT_STARTS).await;
            list.read_to_string(&mut text).context("reading the list")?;
            let mut effects = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            let started = effects.rfind(|effect: &Effect| effect.task == task);
            if let Some(worker) = started.and_then(|it| self.workers.place_of(it.worker)) {
                return Ok(Some(worker));
            }
            text.clear();
        }
        Ok(None)
    }

    /// Once half of the runs have ended, loses the primary for good, and promotes its standby.
    pub(super) async fn fail_over(&mut self) -> Result<()> {
        let ended = self.counts.ended.load(Relaxed);
        if self.standby.is_none() || ended * 2 < self.wanted {
            return Ok(());
        }
        let Some(standby) = self.standby.take() else { return Ok(()) };
        self.postgres.crash()?;
        // As long as it is a standby, no worker can write again what it may have lost.
        let client = connect(&format!("{}/postgres", standby.url())).await?;
        replayed(&client).await.context("waiting for the standby")?;
        let history = History::read(&client, &self.place.lists, self.boot).await?;
        self.early = check::violations_so_far(&history);
        let (entries, ids) = history.acknowledged();
        println!(
            "the standby is promoted when {ended} of {} runs have ended: {entries} announced \
             entries and {ids} printed ids are looked for, {} are missing",
            self.wanted,
            self.early.len()
        );
        standby.promote()?;
        // From here on it is the server.
        self.postgres = standby;
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.counts.ended.load(Relaxed) >= self.wanted
    }

    pub(super) async fn history(&self) -> Result<History> {
        let client = connect(&self.direct).await?;
        let mut history = History::read(&client, &self.place.lists, self.boot).await?;
        history.wanted = self.wanted;
        history.strokes = self.strokes;
        history.kills = self.workers.kills;
        history.drains = self.workers.drains;
        history.undrained = self.workers.undrained;
        history.suspensions.clone_from(&self.workers.suspensions);
        history.losses.clone_from(&self.workers.losses);
        history.beats = self.pulse.beats();
        history.asked = self.counts.asked.load(Relaxed);
        history.repeated = self.counts.repeated.load(Relaxed);
        history.unpromoted = self.standby.is_some();
        Ok(history)
    }

    /// Leaves the fleet alone until all runs have ended, or for as long as it may take.
    pub(super) async fn calm(&mut self, patience: Patience) -> Result<()> {
        let calm = Instant::now();
        let (mut entries, mut since) = (0, self.pulse.count());
        while !self.is_over() && calm.elapsed() < patience.longest {
            let now = self.counts.entries.load(Relaxed);
            if now != entries {
                (entries, since) = (now, self.pulse.count());
            } else if self.pulse.count() >= since + patience.still {
                break;
            }
            self.fail_over().await?;
            self.workers.revive(&self.place)?;
            tokio::time::sleep(BETWEEN).await;
        }
        for submits in &mut self.submits {
            if submits.is_finished() {
                submits.await.context("submitting")??;
            }
        }
        self.submits.retain(|submits| !submits.is_finished());
        Ok(())
    }

    /// Returns what is left, once the watcher had time to hear of it.
    pub(super) async fn end(self, patience: Patience) -> Result<(History, Vec<Finding>)> {
        let (calm, since) = (Instant::now(), self.pulse.count());
        loop {
            let history = self.history().await?;
            let mut found = self.early.clone();
            found.extend(check::violations(&history));
            let unheard = found.iter().any(|(violation, _)| *violation == Violation::Unheard);
            let is_still = self.pulse.count() >= since + patience.still;
            if !unheard || is_still || calm.elapsed() >= patience.longest {
                return Ok((history, found));
            }
            tokio::time::sleep(BETWEEN / 3).await;
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.talks.abort();
        self.submits.iter().for_each(JoinHandle::abort);
    }
}

/// Waits until a standby, whose primary has ended, shows all that it has received.
async fn replayed(client: &Client) -> Result<()> {
    let sql = "SELECT pg_last_wal_receive_lsn()::text, pg_last_wal_replay_lsn()::text";
    let (mut last, mut same) = (None, 0);
    while same < SAME_LOOKS {
        let row = client.query_one(sql, &[]).await?;
        let (received, shown): (Option<String>, Option<String>) = (row.get(0), row.get(1));
        if received == shown {
            return Ok(());
        }
        same = if shown == last { same + 1 } else { 0 };
        last = shown;
        tokio::time::sleep(LOOKS).await;
    }
    Ok(())
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.context("connecting")?;
    tokio::spawn(connection);
    Ok(client)
}

/// Returns the server's time.
async fn wall_ms(url: &str) -> Result<u64> {
    let row = connect(url).await?.query_one("SELECT pointsman.now_ms()", &[]).await?;
    Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or_default())
}

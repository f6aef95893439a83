//! One storm: what is done to a fleet, in an order that its seed draws.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use pointsman_fleet::PostgresStore;
use pointsman_runtime::{clock::boot_ms, store::Store};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};

use super::{
    Fault, LEASE,
    check::{self, Finding, History, Lists, Violation},
    fleet::{self, Place, Workers},
    load::{self, Counts, People},
    proxy::Proxy,
    watch::open,
};
use crate::{
    place::Scratch,
    postgres::{Beside, Postgres},
    program::Home,
    random::SplitMix64,
    server::Server,
};

/// How long a fleet may take to finish once it is left alone. With a fault some runs never do.
const CALM: Duration = Duration::from_mins(3);
const CALM_WITH_FAULT: Duration = Duration::from_secs(6);
/// How long a watcher may take to hear of the last change.
const HEARS: Duration = Duration::from_mins(1);
const HEARS_WITH_FAULT: Duration = Duration::from_secs(3);
/// Between two strokes.
const BETWEEN: Duration = Duration::from_millis(1_500);
const DELAY: Duration = Duration::from_millis(120);

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

/// What a storm does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stroke {
    Kill,
    Suspend,
    Crash,
    Cut,
    Delay,
    FlushRedis,
    KillRedis,
}

const STROKES: [Stroke; 7] = [
    Stroke::Kill,
    Stroke::Suspend,
    Stroke::Crash,
    Stroke::FlushRedis,
    Stroke::Cut,
    Stroke::Delay,
    Stroke::KillRedis,
];

/// A storm over a fleet.
pub(super) struct Storm {
    pub(super) workers: usize,
    pub(super) seed: u64,
    pub(super) runs: usize,
    /// Words to each run.
    pub(super) rounds: usize,
    pub(super) seconds: u64,
    /// Whether the server has a synchronous standby, which takes its place half-way.
    pub(super) standby: bool,
    /// A fault of every worker. The storm ends when it shows.
    pub(super) fault: Option<&'static Fault>,
}

/// The servers and processes of a storm. Workers end before their servers.
struct Scene {
    workers: Workers,
    /// Keeps the watcher.
    _watcher: Server,
    redis: Option<Beside>,
    redis_port: u16,
    proxy: Proxy,
    _pooler: Beside,
    postgres: Postgres,
    standby: Option<Postgres>,
    /// The way to the server, or to both.
    direct: String,
    place: Place,
    seen: PathBuf,
    fault: Option<&'static Fault>,
    /// The server's time when the boot clock said 0.
    boot: u64,
    wanted: usize,
    strokes: usize,
    counts: Arc<Counts>,
    talks: JoinHandle<()>,
    submits: Vec<JoinHandle<Result<()>>>,
    _scratch: Scratch,
}

impl Storm {
    /// Runs it to its end, or until its fault shows. Returns what is left to read, and what is wrong
    /// with it.
    pub(super) async fn run(&self) -> Result<(History, Vec<Finding>)> {
        let mut scene = self.scene().await?;
        let mut draws = SplitMix64::new(self.seed);
        let (began, lasts) = (Instant::now(), Duration::from_secs(self.seconds));
        let strokes = self.strokes();
        while began.elapsed() < lasts {
            tokio::time::sleep(BETWEEN).await;
            if began.elapsed() > lasts / 2 {
                scene.fail_over()?;
            }
            // Each once, then as they are drawn.
            let stroke = strokes.get(scene.strokes).or_else(|| draws.one_of(strokes));
            let Some(stroke) = stroke else { break };
            let worker = draws.below(scene.workers.count());
            scene.strike(*stroke, worker).await?;
            if let Some(noticed) = scene.noticed().await? {
                return Ok(noticed);
            }
            if scene.is_over() {
                break;
            }
        }
        scene.calm().await?;
        scene.end().await
    }

    fn strokes(&self) -> &'static [Stroke] {
        match self.fault {
            // A pooler and a proxy know one server.
            _ if self.standby => &STROKES[..2],
            Some(fault) if !fault.strokes.is_empty() => fault.strokes,
            _ => &STROKES,
        }
    }

    /// Starts everything.
    async fn scene(&self) -> Result<Scene> {
        let postgres = Postgres::start()?;
        let mut direct = format!("{}/postgres", postgres.url());
        PostgresStore::migrate(&direct).await.context("making the tables")?;
        connect(&direct).await?.batch_execute(NOTES).await.context("making the notes")?;
        let mut standby = None;
        if self.standby {
            let made = postgres.standby()?;
            direct = format!("{},127.0.0.1:{}/postgres", postgres.url(), made.port());
            standby = Some(made);
        }
        let (pooler, redis) = (postgres.pooler()?, postgres.redis()?);
        let proxy = Proxy::start(postgres.port())?;
        let mut ways = vec![direct.clone()];
        if !self.standby {
            ways = vec![
                format!("{}/postgres", proxy.url()),
                format!("postgres://postgres@127.0.0.1:{}/postgres", pooler.port()),
                direct.clone(),
            ];
        }
        let scratch = Scratch::new()?;
        let (effects, seen) = (scratch.file("effects"), scratch.file("seen"));
        for list in [&effects, &seen] {
            fs::write(list, "").context("making a list")?;
        }
        let home = Arc::new(Home::sharing(&scratch.file(""), &scratch.file("cache"))?);
        load::prepare(&home, self.runs, self.rounds)?;
        let boot = wall_ms(&direct).await?.saturating_sub(boot_ms());
        let cut = ways.first().cloned().unwrap_or_default();
        let ways: Vec<String> = ways.into_iter().cycle().take(self.workers).collect();
        let hints = format!("redis://127.0.0.1:{}/", redis.port());
        let fault = self.fault.map(|fault| fault.name);
        let watcher = fleet::watcher(&direct, &seen, postgres.port(), fault)?;
        let place = Place { home, effects, redis: hints.clone(), fault };
        let workers = Workers::start(&ways, &place)?;
        let counts = Arc::<Counts>::default();
        let store: Arc<dyn Store> = Arc::new(open(&direct, Some(&hints)).await);
        let talks = tokio::spawn(People::new(store, self.rounds, Arc::clone(&counts)).talk());
        let submit = |way: &String| {
            tokio::spawn(load::submit(Arc::clone(&place.home), way.clone(), hints.clone()))
        };
        let submits = [&direct, &cut].map(submit).into();
        Ok(Scene {
            workers,
            _watcher: watcher,
            redis_port: redis.port(),
            redis: Some(redis),
            proxy,
            _pooler: pooler,
            postgres,
            standby,
            direct,
            place,
            seen,
            fault: self.fault,
            boot,
            wanted: self.runs,
            strokes: 0,
            counts,
            talks,
            submits,
            _scratch: scratch,
        })
    }
}

impl Scene {
    async fn strike(&mut self, stroke: Stroke, worker: usize) -> Result<()> {
        self.workers.revive(&self.place)?;
        match stroke {
            Stroke::Kill => self.workers.kill(worker, &self.place)?,
            Stroke::Suspend => {
                self.workers.suspend(worker)?;
                tokio::time::sleep(LEASE * 2).await;
                self.workers.go_on(worker)?;
            }
            Stroke::Crash => {
                self.postgres.crash()?;
                self.postgres.serve()?;
            }
            Stroke::Cut => self.proxy.cut(),
            Stroke::Delay => {
                self.proxy.delay(DELAY);
                tokio::time::sleep(BETWEEN).await;
                self.proxy.delay(Duration::ZERO);
            }
            Stroke::FlushRedis => fleet::tell_redis(self.redis_port, "FLUSHALL")?,
            Stroke::KillRedis => {
                drop(self.redis.take());
                tokio::time::sleep(BETWEEN).await;
                self.redis = Some(self.postgres.redis_at(self.redis_port)?);
            }
        }
        self.strokes += 1;
        Ok(())
    }

    /// Loses the primary for good and promotes its standby, once.
    fn fail_over(&mut self) -> Result<()> {
        let Some(standby) = self.standby.take() else { return Ok(()) };
        self.postgres.crash()?;
        standby.promote()?;
        // From here on it is the server.
        self.postgres = standby;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.counts.ended.load(Relaxed) >= self.wanted
    }

    async fn history(&self) -> Result<History> {
        let client = connect(&self.direct).await?;
        let lists = Lists { effects: &self.place.effects, seen: &self.seen };
        let mut history = History::read(&client, lists, self.boot).await?;
        history.wanted = self.wanted;
        history.strokes = self.strokes;
        history.kills = self.workers.kills;
        history.suspensions.clone_from(&self.workers.suspensions);
        history.asked = self.counts.asked.load(Relaxed);
        history.repeated = self.counts.repeated.load(Relaxed);
        Ok(history)
    }

    /// Returns what shows the fault, if there is one and it shows by now.
    async fn noticed(&self) -> Result<Option<(History, Vec<Finding>)>> {
        let Some(fault) = self.fault else { return Ok(None) };
        let history = self.history().await?;
        let found = check::violations_so_far(&history);
        let shows = found.iter().any(|(violation, _)| fault.shows.contains(violation));
        Ok(shows.then_some((history, found)))
    }

    /// Leaves the fleet alone until all runs have ended, or for as long as it may take.
    async fn calm(&mut self) -> Result<()> {
        let (calm, limit) = (Instant::now(), self.fault.map_or(CALM, |_| CALM_WITH_FAULT));
        while !self.is_over() && calm.elapsed() < limit {
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
    async fn end(self) -> Result<(History, Vec<Finding>)> {
        let limit = self.fault.map_or(HEARS, |_| HEARS_WITH_FAULT);
        let since = Instant::now();
        loop {
            let history = self.history().await?;
            let found = check::violations(&history);
            let unheard = found.iter().any(|(violation, _)| *violation == Violation::Unheard);
            if !unheard || since.elapsed() >= limit {
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

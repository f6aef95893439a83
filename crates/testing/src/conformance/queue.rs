//! The rules of the queue, one function each.

use std::{sync::Arc, time::Duration};

use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    clock::{Stopwatch, now_ms},
    store::{
        ClaimLimits, Filter, Lease, NewRun, Page, QueueOptions, QueueStatus, Release, RunScope,
        Store, StoreError, Worker,
    },
};

use super::{
    Bench, Checked, expect, failed,
    rules::{RACES, claim},
};
use crate::script::{Script, id, new_run, write};

/// Longer than any lease lasts that expires.
const LONG: Duration = Duration::from_hours(1);

/// Longer than the clock of any bench is set ahead.
const A_YEAR_MS: u64 = 365 * 86_400_000;

/// A time that fits into 64 bits, and does not together with a date.
const NEVER_MS: u64 = 9_223_372_036_854_775_000;

/// Creates a run that is queued at a time.
async fn queued(
    store: &dyn Store,
    name: &str,
    created_ms: u64,
    queue: QueueOptions,
) -> Result<(Script, Lease), StoreError> {
    let mut script = Script::new(name);
    let mut first = script.next("it begins");
    first.wake = None;
    let new_run = NewRun { queue: Some(queue), ..new_run(created_ms) };
    let lease = store.create(Arc::new(first), new_run).await?;
    Ok((script, lease))
}

/// A worker that alone can do what a rule's own runs need, so that rules leave each other alone.
fn worker(label: &str) -> (Worker, QueueOptions) {
    let queue = QueueOptions { needs: Some(label.into()), ..QueueOptions::default() };
    (Worker { labels: vec![label.into()], ..Worker::default() }, queue)
}

fn names(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.run().as_str()).collect()
}

pub(super) async fn requested(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let said = |request: &str| NewRun { request: Some(request.into()), ..new_run(5) };
    let create = async |store: &dyn Store, name: &str, request: &str| {
        let first = Script::new(name).next("it begins");
        store.create(first.into(), said(request)).await.map(drop)
    };
    create(&*ours, "asked-1", "order 7").await.map_err(failed)?;
    create(&*theirs, "asked-2", "order 8").await.map_err(failed)?;
    for (request, wants) in [("order 7", "asked-1"), ("order 8", "asked-2")] {
        match create(&*theirs, "asked-3", request).await {
            Err(StoreError::Repeated { run }) if run == id(wants) => {}
            other => return Err(format!("{request} is repeated: {other:?}")),
        }
    }
    match theirs.run(&id("asked-3")).await {
        Err(StoreError::NoSuchRun { .. }) => {}
        other => return Err(format!("a repeated request makes a run: {other:?}")),
    }
    // A request is forgotten with its run.
    ours.remove(&id("asked-1")).await.map_err(failed)?;
    create(&*theirs, "asked-3", "order 7").await.map_err(failed)
}

pub(super) async fn without_nul(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let nul = || "a\0b".into();
    let keyed = |key, needs| Some(QueueOptions { key, needs, ..QueueOptions::default() });
    for wrong in [
        NewRun { goal: nul(), ..new_run(5) },
        NewRun { request: Some(nul()), ..new_run(5) },
        NewRun { messages: vec![nul()], ..new_run(5) },
        NewRun { queue: keyed(nul(), None), ..new_run(5) },
        NewRun { queue: keyed("".into(), Some(nul())), ..new_run(5) },
    ] {
        let first = Script::new("nul").next("it begins");
        match ours.create(first.into(), wrong.clone()).await {
            Err(StoreError::Nul { .. }) => {}
            other => return Err(format!("{wrong:?} is created: {other:?}")),
        }
    }
    let script = Script::begin("nul", &*ours, 5).await;
    let queue = QueueOptions { key: nul(), ..QueueOptions::default() };
    match ours.enqueue(&[(script.run.clone(), queue)]).await {
        Err(StoreError::Nul { .. }) => {}
        other => return Err(format!("a key with a NUL character is queued: {other:?}")),
    }
    ours.fault(&script.run, "a\0b").await.map_err(failed)?;
    for filter in [
        Filter { key: Some(nul()), ..Filter::default() },
        Filter { state: Some(nul()), ..Filter::default() },
        Filter { scope: RunScope::Prefix(nul()), ..Filter::default() },
    ] {
        let list = theirs.list(&filter, &Page::first(9)).await.map_err(failed)?;
        expect(list.runs.is_empty(), || format!("{filter:?} lists {list:?}"))?;
    }
    Ok(())
}

pub(super) async fn in_turn(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("in turn");
    let with = |key: &str, priority, not_before_ms| QueueOptions {
        key: key.into(),
        priority,
        not_before_ms,
        ..queue.clone()
    };
    let later = now_ms() + 600_000;
    for (name, created, queue) in [
        ("turn_a1", 1_000, with("a", 0, 0)),
        ("turn_a2", 2_000, with("a", 0, 0)),
        ("turn_a3", 3_000, with("a", 0, 0)),
        ("turn_b1", 4_000, with("b", 0, 0)),
        // Urgent, so before what was queued a little earlier.
        ("turn_b2", 9_000, with("b", 1, 0)),
        ("turn_later", 500, with("c", 9, later)),
        ("turn_other", 500, worker("what nobody can").1),
    ] {
        drop(queued(&*ours, name, created, queue).await.map_err(failed)?);
    }
    Script::begin("turn_unqueued", &*ours, 1).await;
    match queued(&*ours, "turn_a1-1-0", 1, queue.clone()).await {
        Err(StoreError::Unfit { .. }) => {}
        other => return Err(format!("a child is queued: {other:?}")),
    }
    let first = theirs.claim_ready(3, &one).await.map_err(failed)?;
    let has = names(&first);
    expect(has == ["turn_b2", "turn_a1", "turn_a2"], || format!("first come {has:?}"))?;
    let held = claim(&*theirs, &id("turn_b1")).await?;
    let rest = ours.claim_ready(9, &one).await.map_err(failed)?;
    let has = names(&rest);
    expect(has == ["turn_a3"], || format!("then come {has:?}"))?;
    let none = theirs.claim_ready(9, &one).await.map_err(failed)?;
    expect(none.is_empty(), || format!("what somebody has is claimed: {none:?}"))?;
    drop((first, held, rest));
    for name in ["turn_a1", "turn_a2", "turn_a3", "turn_b1", "turn_b2"] {
        let mut script = Script::new(name);
        script.next("it begins");
        let mut last = script.next("ends");
        last.ended = Some(Disposition::Succeeded);
        write(&*ours, last).await.map_err(failed)?;
    }
    let none = theirs.claim_ready(9, &one).await.map_err(failed)?;
    expect(none.is_empty(), || format!("what has ended or is to wait is claimed: {none:?}"))?;
    bench.advance(Duration::from_secs(601)).await;
    let due = theirs.claim_ready(9, &one).await.map_err(failed)?;
    let has = names(&due);
    expect(has == ["turn_later"], || format!("at its time comes {has:?}"))?;
    // A run ages: one that was queued more than a minute earlier comes before an urgent one.
    let (one, queue) = worker("aged");
    for (name, created, priority) in
        [("aged_new", 70_000, 1), ("aged_old", 1_000, 0), ("aged_urgent", 50_000, 1)]
    {
        let queue = QueueOptions { priority, ..queue.clone() };
        drop(queued(&*ours, name, created, queue).await.map_err(failed)?);
    }
    let aged = theirs.claim_ready(9, &one).await.map_err(failed)?;
    let has = names(&aged);
    expect(has == ["aged_urgent", "aged_old", "aged_new"], || format!("by age come {has:?}"))
}

pub(super) async fn woken(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("woken");
    let created = now_ms();
    let (mut script, mut lease) = queued(&*ours, "woken", created, queue).await.map_err(failed)?;
    let mut read = None;
    for race in 0..RACES {
        let (released, delivery) = tokio::join!(
            ours.release(lease, Release::Parked { read }),
            theirs.send(&script.run, "hello")
        );
        released.map_err(failed)?;
        read = Some(delivery.map_err(failed)?);
        let ready = theirs.claim_ready(1, &one).await.map_err(failed)?;
        lease =
            ready.into_iter().next().ok_or_else(|| format!("a wake-up is lost in race {race}"))?;
    }
    // A message that was read does not wake it again, though it was not taken.
    ours.release(lease, Release::Parked { read }).await.map_err(failed)?;
    let none = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(none.is_empty(), || "a letter that was read wakes the run".into())?;
    // Its time does.
    let lease = claim(&*ours, &script.run).await?;
    let mut timed = script.next("waits for its time");
    timed.wake = Some(86_400_000);
    ours.append(&lease, timed.into()).await.map_err(failed)?;
    ours.release(lease, Release::Parked { read }).await.map_err(failed)?;
    let none = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(none.is_empty(), || "the run is woken before its time".into())?;
    bench.advance(Duration::from_hours(25)).await;
    let due = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(names(&due) == ["woken"], || "the run is not woken at its time".into())?;
    // One whose time never comes can be parked like all others, and a message wakes it.
    for lease in due {
        let mut timed = script.next("waits for ever");
        timed.wake = Some(NEVER_MS);
        theirs.append(&lease, timed.into()).await.map_err(failed)?;
        theirs.release(lease, Release::Parked { read }).await.map_err(failed)?;
    }
    let none = ours.claim_ready(1, &one).await.map_err(failed)?;
    expect(none.is_empty(), || "a run is woken whose time never comes".into())?;
    ours.send(&script.run, "hello").await.map_err(failed)?;
    let ready = ours.claim_ready(1, &one).await.map_err(failed)?;
    expect(names(&ready) == ["woken"], || "a message does not wake a run with a late time".into())
}

pub(super) async fn lost(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("lost");
    let (mut script, lease) = queued(&*ours, "lost", 5, queue).await.map_err(failed)?;
    ours.release(lease, Release::Parked { read: None }).await.map_err(failed)?;
    let none = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(none.is_empty(), || "a parked run is ready".into())?;
    // An owner that wrote nothing changes nothing when it is lost.
    let idle = claim(&*ours, &script.run).await?;
    bench.kill(&script.run).await;
    let none = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(none.is_empty(), || "a parked run is ready after an idle owner".into())?;
    drop(idle);
    let busy = claim(&*ours, &script.run).await?;
    let mut next = script.next("begins something");
    next.wake = None;
    ours.append(&busy, next.into()).await.map_err(failed)?;
    bench.kill(&script.run).await;
    let ready = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(names(&ready) == ["lost"], || "what a lost owner began is not ready".into())?;
    // The lost owner no longer parks anything.
    for lease in &ready {
        theirs.append(lease, script.next("goes on").into()).await.map_err(failed)?;
    }
    ours.release(busy, Release::Parked { read: None }).await.map_err(failed)?;
    drop(ready);
    let ready = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(names(&ready) == ["lost"], || "a lost owner has parked the run".into())
}

async fn listed(store: &dyn Store, filter: Filter) -> Result<Vec<String>, String> {
    let list = store.list(&filter, &Page::first(usize::MAX)).await.map_err(failed)?;
    let names = list.runs.iter().map(|row| row.id.to_string());
    Ok(names.filter(|name| name.starts_with("placed_")).collect())
}

pub(super) async fn placed(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (_, queue) = worker("placed");
    let mine = QueueOptions { key: "placed".into(), ..queue.clone() };
    let now = now_ms();
    let later = QueueOptions { not_before_ms: now + A_YEAR_MS, ..mine.clone() };
    let other = QueueOptions { key: "placed, too".into(), ..queue };
    let (_, held) = queued(&*ours, "placed_a", now, mine.clone()).await.map_err(failed)?;
    drop(queued(&*ours, "placed_b", 5, mine).await.map_err(failed)?);
    drop(queued(&*ours, "placed_c", now, later).await.map_err(failed)?);
    drop(queued(&*ours, "placed_d", 5, other).await.map_err(failed)?);
    Script::begin("placed_e", &*ours, 5).await;
    ours.settle().await;
    let key = |key: &str| Filter { key: Some(key.into()), ..Filter::default() };
    let with = |queue| Filter { queue: Some(queue), ..key("placed") };
    let idle = |since| Filter { idle_since_ms: Some(since), ..Filter::default() };
    for (filter, wants) in [
        (key("placed"), &["placed_c", "placed_a", "placed_b"][..]),
        (key("placed, too"), &["placed_d"][..]),
        (key("nobody's"), &[][..]),
        (with(QueueStatus::Leased), &["placed_a"][..]),
        (with(QueueStatus::Ready), &["placed_b"][..]),
        (with(QueueStatus::Waiting), &["placed_c"][..]),
        (with(QueueStatus::Quarantined), &[][..]),
        (idle(now), &["placed_e", "placed_d", "placed_b"][..]),
        (idle(now + 86_400_000), &["placed_c", "placed_a", "placed_e", "placed_d", "placed_b"][..]),
    ] {
        let names = listed(&*theirs, filter.clone()).await?;
        expect(names == wants, || format!("{filter:?} lists {names:?}"))?;
    }
    counted(bench, &*theirs).await?;
    let row = theirs.run(held.run()).await.map_err(failed)?;
    let place = row.queue.as_ref().map(|it| (&*it.key, it.needs.as_deref(), it.status));
    let wants = Some(("placed", Some("placed"), Some(QueueStatus::Leased)));
    expect(row.owner.is_some() && place == wants, || format!("the row is {row:?}"))?;
    let row = theirs.run(&id("placed_e")).await.map_err(failed)?;
    expect(row.owner.is_none() && row.queue.is_none(), || format!("the row is {row:?}"))
}

/// Counts the queue as lists show it. Leases that other rules have dropped are given up meanwhile.
async fn counted(bench: &dyn Bench, store: &dyn Store) -> Checked {
    let waited = Stopwatch::start();
    loop {
        let counts = store.queue_counts().await.map_err(failed)?;
        let mut listed = Vec::new();
        for status in [QueueStatus::Ready, QueueStatus::Leased, QueueStatus::Quarantined] {
            let filter = Filter { queue: Some(status), ..Filter::default() };
            let list = store.list(&filter, &Page::first(usize::MAX)).await.map_err(failed)?;
            listed.push(list.runs.len() as u64);
        }
        let fits = listed == [counts.ready, counts.leased, counts.quarantined];
        if fits && counts.ready > 0 && counts.leased > 0 && counts.lag > LONG {
            return Ok(());
        }
        let wants = || format!("{counts:?}, but the lists have {listed:?}");
        expect(waited.elapsed() < bench.limit(), wants)?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(super) async fn requeued(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("requeued");
    let script = Script::begin("requeued_a", &*ours, 5).await;
    let (_, parked) = queued(&*ours, "requeued_b", 5, queue.clone()).await.map_err(failed)?;
    ours.release(parked, Release::Parked { read: None }).await.map_err(failed)?;
    let mut over = Script::begin("requeued_c", &*ours, 5).await;
    over.end(&*ours).await;
    let none = theirs.claim_ready(9, &one).await.map_err(failed)?;
    expect(none.is_empty(), || format!("what waits is claimed: {none:?}"))?;
    let named = |name: &str| (id(name), queue.clone());
    match ours.enqueue(&[named("requeued_a"), named("requeued_a-1-0")]).await {
        Err(StoreError::Unfit { .. }) => {}
        other => return Err(format!("a child is queued: {other:?}")),
    }
    let all = ["requeued_a", "requeued_b", "requeued_c", "requeued_none"].map(named);
    let mut put = ours.enqueue(&all).await.map_err(failed)?;
    put.sort();
    expect(put == [id("requeued_a"), id("requeued_b")], || format!("queued are {put:?}"))?;
    let mut ready = theirs.claim_ready(9, &one).await.map_err(failed)?;
    expect(ready.len() == 2, || format!("claimed are {ready:?}"))?;
    // One that is deferred is ready again at its time, and not before.
    ready.sort_by(|one, two| one.run().cmp(two.run()));
    for lease in ready.drain(..1) {
        let how = Release::Deferred { wait: Duration::from_mins(2) };
        theirs.release(lease, how).await.map_err(failed)?;
    }
    let none = ours.claim_ready(9, &one).await.map_err(failed)?;
    expect(none.is_empty(), || format!("what was deferred is claimed: {none:?}"))?;
    for lease in ready {
        theirs.release(lease, Release::Parked { read: None }).await.map_err(failed)?;
    }
    bench.advance(Duration::from_secs(121)).await;
    let due = ours.claim_ready(9, &one).await.map_err(failed)?;
    expect(names(&due) == [script.run.as_str()], || format!("at its time comes {due:?}"))
}

pub(super) async fn delayed(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("delayed");
    let later = QueueOptions { not_before_ms: now_ms() + A_YEAR_MS, ..queue.clone() };
    let mut leases = Vec::new();
    for (name, writes) in [("delayed_a", false), ("delayed_b", true)] {
        let (mut script, first) = queued(&*ours, name, 5, queue.clone()).await.map_err(failed)?;
        ours.release(first, Release::Ready).await.map_err(failed)?;
        let lease = claim(&*ours, &script.run).await?;
        if writes {
            ours.append(&lease, script.next("it goes on").into()).await.map_err(failed)?;
        }
        let put = theirs.enqueue(&[(script.run.clone(), later.clone())]).await.map_err(failed)?;
        expect(put == [script.run], || format!("queued are {put:?}"))?;
        leases.push(lease);
    }
    let none = theirs.claim_ready(9, &one).await.map_err(failed)?;
    expect(none.is_empty(), || format!("what somebody has is claimed: {none:?}"))?;
    for lease in leases {
        ours.release(lease, Release::Ready).await.map_err(failed)?;
    }
    let none = theirs.claim_ready(9, &one).await.map_err(failed)?;
    expect(none.is_empty(), || format!("before their time are claimed {none:?}"))?;
    bench.advance(Duration::from_millis(A_YEAR_MS) + LONG).await;
    let due = theirs.claim_ready(9, &one).await.map_err(failed)?;
    let has = names(&due);
    expect(has == ["delayed_a", "delayed_b"], || format!("at their time come {has:?}"))
}

pub(super) async fn gated(bench: &dyn Bench) -> Checked {
    let ours = bench.open().await;
    let theirs = if bench.shares_gates() { bench.open().await } else { Arc::clone(&ours) };
    let wait = async |store: &dyn Store| {
        let closed = store.gates().await.map_err(failed)?;
        let gate = closed.into_iter().find(|(name, _)| &**name == "gated");
        Ok::<_, String>(gate.map_or(Duration::ZERO, |(_, wait)| wait))
    };
    let open = wait(&*theirs).await?;
    expect(open.is_zero(), || format!("a gate that nobody closed opens in {open:?}"))?;
    ours.close_gate("gated", Duration::from_mins(5)).await.map_err(failed)?;
    for store in [&theirs, &ours] {
        let long = wait(&**store).await?;
        let fits = long > Duration::from_mins(4) && long <= Duration::from_mins(5);
        expect(fits, || format!("a gate that is closed for 5 min opens in {long:?}"))?;
    }
    theirs.close_gate("gated", Duration::from_secs(1)).await.map_err(failed)?;
    theirs.close_gate("gated, too", Duration::from_mins(9)).await.map_err(failed)?;
    let long = wait(&*ours).await?;
    let fits = long > Duration::from_mins(4) && long <= Duration::from_mins(5);
    expect(fits, || format!("after a shorter wait it opens in {long:?}"))?;
    bench.advance(Duration::from_secs(301)).await;
    let open = wait(&*theirs).await?;
    expect(open.is_zero(), || format!("at its time it opens in {open:?}"))?;
    ours.close_gate("gated", Duration::from_mins(2)).await.map_err(failed)?;
    let again = wait(&*theirs).await?;
    expect(!again.is_zero(), || "a gate that has opened cannot be closed again".into())
}

pub(super) async fn deferred(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("deferred");
    let (script, lease) = queued(&*ours, "deferred", 5, queue).await.map_err(failed)?;
    ours.release(lease, Release::Ready).await.map_err(failed)?;
    let claim = async |store: &dyn Store| store.claim_ready(1, &one).await.map_err(failed);
    let how = Release::Deferred { wait: LONG };
    for lease in claim(&*ours).await? {
        theirs.send(&script.run, "stop").await.map_err(failed)?;
        ours.release(lease, how).await.map_err(failed)?;
    }
    let woken = claim(&*theirs).await?;
    expect(names(&woken) == ["deferred"], || "a deferred run misses a message".into())?;
    // This owner had it from the start. It would be claimed for it again and again.
    for lease in woken {
        theirs.release(lease, how).await.map_err(failed)?;
    }
    let none = claim(&*ours).await?;
    expect(none.is_empty(), || "an old message wakes a deferred run".into())?;
    let idle = !theirs.has_work(&one).await.map_err(failed)?;
    expect(idle, || "a worker has work while the only run is deferred".into())?;
    bench.advance(LONG * 2).await;
    let due = claim(&*ours).await?;
    expect(names(&due) == ["deferred"], || "a deferred run is not woken at its time".into())?;
    let busy = theirs.has_work(&one).await.map_err(failed)?;
    expect(busy, || "a worker has no work while another drives a run".into())?;
    let others = theirs.has_work(&worker("not deferred").0).await.map_err(failed)?;
    expect(!others, || "a worker without the label of a run has work".into())
}

pub(super) async fn limited(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (one, queue) = worker("limited");
    let with = |key: &str| QueueOptions { key: key.into(), ..queue.clone() };
    for number in 0..12_u64 {
        let key = ["limited a", "limited b"][usize::from(number % 2 == 1)];
        let name = format!("limited_{number:02}");
        drop(queued(&*ours, &name, 5 + number, with(key)).await.map_err(failed)?);
    }
    let by = |limits| Worker { limits, ..one.clone() };
    let keys = by(ClaimLimits {
        each_key: Some(3),
        keys: [("limited a".into(), 1)].into(),
        ..ClaimLimits::default()
    });
    let first = ours.claim_ready(2, &keys).await.map_err(failed)?;
    let has = names(&first);
    expect(has == ["limited_00", "limited_01"], || format!("first come {has:?}"))?;
    // Both at the same time, with what was claimed before.
    let (mine, other) = tokio::join!(ours.claim_ready(9, &keys), theirs.claim_ready(9, &keys));
    let mut rest = mine.map_err(failed)?;
    rest.extend(other.map_err(failed)?);
    // Who found the claims locked tries again.
    rest.extend(theirs.claim_ready(9, &keys).await.map_err(failed)?);
    let has = names(&rest);
    expect(has == ["limited_03", "limited_05"], || format!("then come {has:?}"))?;
    drop(rest);
    // The agent of all of them is the same.
    let agents = ClaimLimits { agents: [("research".into(), 4)].into(), ..ClaimLimits::default() };
    let some = theirs.claim_ready(9, &by(agents.clone())).await.map_err(failed)?;
    expect(some.len() == 2, || format!("of an agent are claimed {some:?}"))?;
    let none = ours.claim_ready(9, &by(agents)).await.map_err(failed)?;
    expect(none.is_empty(), || format!("beyond the limit are claimed {none:?}"))?;
    drop((first, some));
    let all = ours.claim_ready(20, &one).await.map_err(failed)?;
    expect(all.len() == 12, || format!("without limits are claimed {all:?}"))
}

pub(super) async fn renewed(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, kept) = Script::create("renewed", &*ours, 5).await.map_err(failed)?;
    let (other, left) = Script::create("renewed-left", &*ours, 5).await.map_err(failed)?;
    expect(kept.expires().is_some() == bench.lasts().is_some(), || format!("it is {kept:?}"))?;
    let lasts = ours.lease_lasts();
    expect(lasts == bench.lasts(), || format!("the store says that a lease lasts {lasts:?}"))?;
    let over = ours.renew(&[&kept, &left]).await.map_err(failed)?;
    expect(over.is_empty(), || format!("leases are over at once: {over:?}"))?;
    if let (Some(lasts), Some(expires)) = (bench.lasts(), kept.expires()) {
        for _ in 0..4 {
            bench.advance(lasts / 2).await;
            let over = ours.renew(&[&kept]).await.map_err(failed)?;
            expect(over.is_empty(), || "a lease that is renewed ends".into())?;
        }
        expect(kept.expires() > Some(expires), || "a renewed lease ends when it did".into())?;
    } else {
        bench.advance(LONG).await;
        bench.kill(&other.run).await;
    }
    let second = theirs.claim(&script.run).await.map_err(failed)?;
    expect(second.is_none(), || "a renewed lease is granted to another".into())?;
    ours.append(&kept, script.next("it goes on").into()).await.map_err(failed)?;
    let taken = claim(&*theirs, &other.run).await?;
    let mut theirs_now = other.clone();
    theirs.append(&taken, theirs_now.next("theirs").into()).await.map_err(failed)?;
    let over = ours.renew(&[&kept, &left]).await.map_err(failed)?;
    expect(over == [other.run], || format!("over are {over:?}"))
}

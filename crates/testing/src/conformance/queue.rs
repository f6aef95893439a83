//! The rules of the queue, one function each.

use std::{sync::Arc, time::Duration};

use pointsman_kernel::chart::Disposition;
use pointsman_runtime::{
    clock::now_ms,
    store::{Lease, NewRun, QueueOptions, Release, Store, StoreError, Worker},
};

use super::{
    Bench, Checked, expect, failed,
    rules::{RACES, claim},
};
use crate::script::{Script, id, new_run, write};

/// Longer than any lease lasts that expires.
const LONG: Duration = Duration::from_hours(1);

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
    (Worker { labels: vec![label.into()] }, queue)
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
    expect(has == ["turn_later"], || format!("at its time comes {has:?}"))
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
    // What was read does not wake it again, though nobody took it.
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
    expect(names(&due) == ["woken"], || "the run is not woken at its time".into())
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
    // The lost owner parks nothing any more.
    for lease in &ready {
        theirs.append(lease, script.next("goes on").into()).await.map_err(failed)?;
    }
    ours.release(busy, Release::Parked { read: None }).await.map_err(failed)?;
    drop(ready);
    let ready = theirs.claim_ready(1, &one).await.map_err(failed)?;
    expect(names(&ready) == ["lost"], || "a lost owner has parked the run".into())
}

pub(super) async fn renewed(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, kept) = Script::create("renewed", &*ours, 5).await.map_err(failed)?;
    let (other, left) = Script::create("renewed-left", &*ours, 5).await.map_err(failed)?;
    expect(kept.expires().is_some() == bench.lasts().is_some(), || format!("it is {kept:?}"))?;
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

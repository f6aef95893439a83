//! The rules, one function each.

use std::{sync::Arc, time::Duration};

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, EffectId, Seq},
};
use pointsman_runtime::clock::new_run_id;
use pointsman_runtime::store::{
    Append, Change, Changes, Filter, Lease, NewPrompt, NewRun, Page, PromptRow, PruneOptions,
    Release, RunId, RunRow, RunScope, StatusFilter, Store, StoreError,
};
use tokio::time::timeout;

use super::{Bench, Checked, Rule, expect, failed, queue};
use crate::script::{Script, id, new_run, write};

/// How often a race is run.
pub(super) const RACES: u32 = 40;

pub(super) const ALL: [Rule; 26] = [
    ("a run is created once, with its opening", |bench| Box::pin(created(bench))),
    ("one owner has a run at a time", |bench| Box::pin(owned(bench))),
    ("an owner that was lost writes nothing", |bench| Box::pin(fenced(bench))),
    ("entries follow each other along the chain", |bench| Box::pin(chained(bench))),
    ("the columns beside a line are read with it", |bench| Box::pin(kept(bench))),
    ("a message waits until one entry takes it", |bench| Box::pin(messages(bench))),
    ("an owner that was lost discards no message", |bench| Box::pin(undiscarded(bench))),
    ("a change is announced to other owners", |bench| Box::pin(announced(bench))),
    ("a letter that comes between two owners is not lost", |bench| Box::pin(handed_over(bench))),
    ("a fork shares the entries before it and nothing else", |bench| Box::pin(forked(bench))),
    ("the newest run is listed first", |bench| Box::pin(listed(bench))),
    ("a list is read by pages, and filtered", |bench| Box::pin(paged(bench))),
    ("content is kept with its run", |bench| Box::pin(blobs(bench))),
    ("a request makes one run", |bench| Box::pin(queue::requested(bench))),
    ("a text with a NUL character is refused", |bench| Box::pin(queue::without_nul(bench))),
    ("what is ready is claimed in turn", |bench| Box::pin(queue::in_turn(bench))),
    ("a wake-up that comes with a release is not lost", |bench| Box::pin(queue::woken(bench))),
    ("a run whose owner is lost is ready", |bench| Box::pin(queue::lost(bench))),
    ("a list tells owners and places in the queue", |bench| Box::pin(queue::placed(bench))),
    ("a message that comes before a deferral is not lost", |bench| {
        Box::pin(queue::deferred(bench))
    }),
    ("a run can be queued later, and deferred", |bench| Box::pin(queue::requeued(bench))),
    ("a run with an owner can be queued for later", |bench| Box::pin(queue::delayed(bench))),
    ("a gate is closed for all until its time", |bench| Box::pin(queue::gated(bench))),
    ("a limit counts the runs of all owners", |bench| Box::pin(queue::limited(bench))),
    ("a lease that is renewed stays in force", |bench| Box::pin(queue::renewed(bench))),
    ("only runs that nobody has are removed", |bench| Box::pin(removed(bench))),
];

pub(super) async fn claim(store: &dyn Store, run: &RunId) -> Result<Lease, String> {
    store.claim(run).await.map_err(failed)?.ok_or_else(|| format!("run {run} is not free"))
}

async fn created(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let mut script = Script::new("created");
    let first = script.next("it begins");
    let messages = vec!["hello".into(), "and farewell".into()];
    let said = NewRun { messages, ..new_run(5) };
    let lease = ours.create(Arc::new(first.clone()), said.clone()).await.map_err(failed)?;
    expect(*lease.run() == script.run, || "the lease is for another run".into())?;
    let row = theirs.run(&script.run).await.map_err(failed)?;
    let has = (&*row.agent, &*row.chart, &*row.goal, row.created_ms, row.seq, row.link);
    let wants = ("research", "research", "find it", 5, Seq(1), script.prev);
    expect(has == wants, || format!("the row is {row:?}"))?;
    let lines = theirs.lines(&script.run, Seq(0)).await.map_err(failed)?;
    expect(lines == script.lines, || format!("the lines are {lines:?}"))?;
    let line = theirs.first_line(&script.run).await.map_err(failed)?;
    expect(*line == *first.line, || format!("the first line is {line}"))?;
    let source = theirs.chart_source(&script.run).await.map_err(failed)?;
    expect(source == *said.source, || format!("the chart is {source}"))?;
    let messages = theirs.messages(&script.run).await.map_err(failed)?;
    let bodies: Vec<&str> = messages.iter().map(|message| &*message.body).collect();
    expect(bodies == ["hello", "and farewell"], || format!("the letters are {bodies:?}"))?;
    drop(lease);
    let again = Script::new("created").next("again");
    match theirs.create(again.into(), said).await {
        Err(StoreError::RunExists { .. }) => {}
        other => return Err(format!("it is created again: {other:?}")),
    }
    let mut second = Script::new("created-second");
    second.next("one");
    match ours.create(second.next("two").into(), new_run(6)).await {
        Err(StoreError::Unfit { .. }) => Ok(()),
        other => Err(format!("a run begins with its second entry: {other:?}")),
    }
}

async fn owned(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, first) = Script::create("owned", &*ours, 5).await.map_err(failed)?;
    for store in [&ours, &theirs] {
        let second = store.claim(&script.run).await.map_err(failed)?;
        expect(second.is_none(), || "a second owner is granted the run".into())?;
    }
    let mut epoch = first.epoch();
    drop(first);
    for (store, releases) in [(&theirs, false), (&ours, true), (&theirs, true)] {
        let lease = claim(&**store, &script.run).await?;
        store.append(&lease, script.next("it goes on").into()).await.map_err(failed)?;
        let later = lease.epoch();
        expect(later > epoch, || format!("epoch {later} follows {epoch}"))?;
        epoch = later;
        if releases {
            store.release(lease, Release::Ready).await.map_err(failed)?;
        }
    }
    match ours.claim(&id("nobody")).await {
        Err(StoreError::NoSuchRun { .. }) => Ok(()),
        other => Err(format!("a run that is not there is claimed: {other:?}")),
    }
}

async fn fenced(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, lost) = Script::create("fenced", &*ours, 5).await.map_err(failed)?;
    bench.kill(&script.run).await;
    let lease = claim(&*theirs, &script.run).await?;
    theirs.append(&lease, script.next("theirs").into()).await.map_err(failed)?;
    // It knows of their entry, so only its epoch is against it.
    let late = script.clone().next("ours, too late");
    match ours.append(&lost, late.into()).await {
        Err(StoreError::Fenced { .. }) => {}
        other => return Err(format!("a lost owner writes: {other:?}")),
    }
    theirs.append(&lease, script.next("theirs again").into()).await.map_err(failed)?;
    let lines = ours.lines(&script.run, Seq(0)).await.map_err(failed)?;
    expect(lines == script.lines, || format!("the lines are {lines:?}"))?;
    // Another run's lease is none for this one.
    let (_, other) = Script::create("fenced-other", &*ours, 5).await.map_err(failed)?;
    match ours.append(&other, script.next("strange").into()).await {
        Err(StoreError::Fenced { .. }) => Ok(()),
        other => Err(format!("another run's lease is taken: {other:?}")),
    }
}

async fn chained(bench: &dyn Bench) -> Checked {
    let store = bench.open().await;
    let (mut script, lease) = Script::create("chained", &*store, 5).await.map_err(failed)?;
    let (mut ahead, mut rewritten) = (script.clone(), Script::new("chained"));
    ahead.next("skipped");
    for wrong in [ahead.next("too soon"), rewritten.next("again")] {
        match store.append(&lease, wrong.into()).await {
            Err(StoreError::Conflict { at: Seq(1), .. }) => {}
            other => return Err(format!("a gap or a second entry is written: {other:?}")),
        }
    }
    let good = script.next("good");
    let other = Append { line: String::from("{}").into(), ..good.clone() };
    for wrong in [rewritten.next("another past"), other] {
        match store.append(&lease, wrong.into()).await {
            Err(StoreError::Unfit { .. }) => {}
            other => return Err(format!("a line of another chain is written: {other:?}")),
        }
    }
    store.append(&lease, Arc::new(good)).await.map_err(failed)?;
    let all = store.lines(&script.run, Seq(0)).await.map_err(failed)?;
    let last = store.lines(&script.run, Seq(1)).await.map_err(failed)?;
    let none = store.lines(&script.run, Seq(2)).await.map_err(failed)?;
    let first = store.page(&script.run, Seq(0), 1).await.map_err(failed)?;
    let second = store.page(&script.run, Seq(1), 1).await.map_err(failed)?;
    let fits = all == script.lines && last == script.lines[1..] && none.is_empty();
    let paged = first == script.lines[..1] && second == last;
    expect(paged, || format!("the pages are {first:?} and {second:?}"))?;
    expect(fits, || format!("the lines are {all:?}, {last:?} and {none:?}"))?;
    let (row, lines) = store.journal(&script.run).await.map_err(failed)?;
    expect((row.seq, row.link) == (Seq(2), script.prev), || format!("the row is {row:?}"))?;
    expect(lines == script.lines, || format!("the journal is {lines:?}"))?;
    match store.lines(&script.run, Seq(3)).await {
        Err(StoreError::NoSuchEntry { .. }) => Ok(()),
        other => Err(format!("an entry that is not there is read: {other:?}")),
    }
}

async fn kept(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, lease) = Script::create("kept", &*ours, 5).await.map_err(failed)?;
    let effect = EffectId { seq: Seq(2), index: 1 };
    let mut second = script.next("asks a model");
    second.snapshot = Some("{\"a\":1}".into());
    second.prompts = vec![NewPrompt { effect, parts: vec!["system".into(), "message".into()] }];
    ours.append(&lease, second.into()).await.map_err(failed)?;
    let link = script.prev;
    let mut third = script.next("ends");
    (third.ended, third.wake) = (Some(Disposition::Stuck), None);
    ours.append(&lease, third.into()).await.map_err(failed)?;
    let row = theirs.run(&script.run).await.map_err(failed)?;
    let says = (&*row.state, row.ended.as_deref(), row.wake);
    expect(says == ("state3", Some("stuck"), None), || format!("the row says {says:?}"))?;
    let snapshot = theirs.snapshot(&script.run).await.map_err(failed)?;
    let has = snapshot.as_ref().map(|it| (it.seq, it.link, &*it.body));
    expect(has == Some((Seq(2), link, "{\"a\":1}")), || format!("the snapshot is {snapshot:?}"))?;
    let prompts = theirs.prompts(&script.run).await.map_err(failed)?;
    let parts = |prompt: &PromptRow| prompt.parts.iter().map(ToString::to_string).collect();
    let has: Vec<(EffectId, Vec<String>)> =
        prompts.iter().map(|prompt| (prompt.effect, parts(prompt))).collect();
    let wants = [(effect, vec!["system".to_owned(), "message".to_owned()])];
    expect(has == wants, || format!("the prompts are {prompts:?}"))?;
    let whole = theirs.record(&script.run, Seq(1)).await.map_err(failed)?;
    let beside: Vec<(&str, u64, bool)> =
        whole.columns.iter().map(|it| (&*it.state, it.prompts, it.intact)).collect();
    let wants = [("state1", 0, true), ("state2", 1, true), ("state3", 0, true)];
    expect(beside == wants, || format!("beside the lines is {beside:?}"))?;
    let none = whole.prompts.map_err(failed)?;
    expect(none.is_empty(), || format!("before entry 2 were shown {none:?}"))
}

async fn messages(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, lease) = Script::create("letters", &*ours, 5).await.map_err(failed)?;
    Script::begin("letters-other", &*ours, 6).await;
    let first = theirs.send(&script.run, "first").await.map_err(failed)?;
    let second = theirs.send(&script.run, "second").await.map_err(failed)?;
    theirs.send(&id("letters-other"), "for another").await.map_err(failed)?;
    let waiting = ours.messages(&script.run).await.map_err(failed)?;
    let ids: Vec<_> = waiting.iter().map(|message| message.id).collect();
    expect(ids == [first, second], || format!("the letters are {waiting:?}"))?;
    let all = ours.all_messages().await.map_err(failed)?;
    expect(waiting.iter().all(|message| all.contains(message)), || format!("all are {all:?}"))?;
    let mut taking = script.next("takes a letter");
    taking.message = Some(first);
    ours.append(&lease, taking.into()).await.map_err(failed)?;
    let mut again = script.clone().next("takes it again");
    again.message = Some(first);
    match ours.append(&lease, again.into()).await {
        Err(StoreError::NoSuchMessage { .. }) => {}
        other => return Err(format!("a letter is taken twice: {other:?}")),
    }
    let at = theirs.run(&script.run).await.map_err(failed)?.seq;
    expect(at == Seq(2), || format!("a refused entry was written: {at:?}"))?;
    ours.discard(&lease, second).await.map_err(failed)?;
    let third = theirs.send(&script.run, "third").await.map_err(failed)?;
    expect(third > second, || "a letter's number is given twice".into())?;
    match theirs.send(&id("nobody"), "hello").await {
        Err(StoreError::NoSuchRun { .. }) => {}
        other => return Err(format!("nobody gets a letter: {other:?}")),
    }
    let mut last = script.next("ends");
    last.ended = Some(Disposition::Succeeded);
    ours.append(&lease, last.into()).await.map_err(failed)?;
    let left = theirs.messages(&script.run).await.map_err(failed)?;
    expect(left.is_empty(), || format!("a run that has ended has letters: {left:?}"))
}

async fn undiscarded(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let (mut script, lost) = Script::create("undiscarded", &*ours, 5).await.map_err(failed)?;
    bench.kill(&script.run).await;
    let lease = claim(&*theirs, &script.run).await?;
    theirs.append(&lease, script.next("theirs").into()).await.map_err(failed)?;
    let message = theirs.send(&script.run, "for its new owner").await.map_err(failed)?;
    match ours.discard(&lost, message).await {
        Err(StoreError::Fenced { .. }) => {}
        other => return Err(format!("a lost owner discards a message: {other:?}")),
    }
    let waiting = theirs.messages(&script.run).await.map_err(failed)?;
    expect(waiting.iter().any(|it| it.id == message), || format!("the messages are {waiting:?}"))?;
    // Another run's owner knows nothing of this one's messages.
    let (_, other) = Script::create("undiscarded-other", &*ours, 5).await.map_err(failed)?;
    match ours.discard(&other, message).await {
        Err(StoreError::NoSuchMessage { .. }) => {}
        other => return Err(format!("another run's owner discards a message: {other:?}")),
    }
    theirs.discard(&lease, message).await.map_err(failed)?;
    let waiting = ours.messages(&script.run).await.map_err(failed)?;
    expect(waiting.is_empty(), || format!("a discarded message waits: {waiting:?}"))
}

/// Waits for a hint that fits.
async fn hint(
    limit: Duration,
    changes: &mut Changes,
    fits: impl Fn(&Change) -> bool,
    what: &str,
) -> Checked {
    let waits = async { while !fits(&changes.next().await) {} };
    timeout(limit, waits).await.map_err(|_| format!("{what} is not announced"))
}

async fn announced(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let mut here = ours.changes().await.map_err(failed)?;
    let mut there = theirs.changes().await.map_err(failed)?;
    let (mut script, lease) = Script::create("announced", &*ours, 5).await.map_err(failed)?;
    let (run, fork) = (script.run.clone(), id("announced-fork"));
    let entry = |wants: &RunId, from: u64| {
        let wants = wants.clone();
        move |change: &Change| match change {
            Change::Entry { run, seq } => *run == wants && seq.0 >= from,
            _ => false,
        }
    };
    for changes in [&mut here, &mut there] {
        hint(bench.limit(), changes, entry(&run, 1), "a new run").await?;
    }
    ours.append(&lease, script.next("it goes on").into()).await.map_err(failed)?;
    for changes in [&mut here, &mut there] {
        hint(bench.limit(), changes, entry(&run, 2), "an entry").await?;
    }
    theirs.send(&run, "hello").await.map_err(failed)?;
    for changes in [&mut here, &mut there] {
        hint(bench.limit(), changes, |change| change.is_message_for(&run), "a message").await?;
    }
    ours.fork(&run, Seq(1), fork.clone(), 7).await.map_err(failed)?;
    for changes in [&mut here, &mut there] {
        hint(bench.limit(), changes, entry(&fork, 1), "a fork").await?;
    }
    ours.remove(&fork).await.map_err(failed)?;
    for changes in [&mut here, &mut there] {
        hint(bench.limit(), changes, |change| *change == Change::Lagged, "the end of a run's row")
            .await?;
    }
    // Places of removed entries may be used again, and are announced like others.
    ours.append(&lease, script.next("it goes on").into()).await.map_err(failed)?;
    for changes in [&mut here, &mut there] {
        hint(bench.limit(), changes, entry(&run, 3), "an entry after a removal").await?;
    }
    Ok(())
}

async fn handed_over(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let mut script = Script::begin("handed", &*ours, 5).await;
    for race in 0..RACES {
        let lease = claim(&*ours, &script.run).await?;
        let mut changes = ours.changes().await.map_err(failed)?;
        ours.append(&lease, script.next("it goes on").into()).await.map_err(failed)?;
        let none = ours.messages(&script.run).await.map_err(failed)?;
        expect(none.is_empty(), || format!("letters are left in race {race}: {none:?}"))?;
        let (released, delivery) =
            tokio::join!(ours.release(lease, Release::Ready), theirs.send(&script.run, "hello"));
        released.map_err(failed)?;
        let message = delivery.map_err(failed)?;
        hint(bench.limit(), &mut changes, |change| change.is_message_for(&script.run), "a message")
            .await?;
        let lease = claim(&*theirs, &script.run).await?;
        let waiting = theirs.messages(&script.run).await.map_err(failed)?;
        let there = waiting.iter().any(|it| it.id == message);
        expect(there, || format!("the letter is lost in race {race}"))?;
        let mut taking = script.next("takes it");
        taking.message = Some(message);
        theirs.append(&lease, taking.into()).await.map_err(failed)?;
    }
    Ok(())
}

async fn forked(bench: &dyn Bench) -> Checked {
    let store = bench.open().await;
    let mut parent = Script::begin("forked", &*store, 5).await;
    parent.until(&*store, 3).await;
    store.send(&parent.run, "for the parent").await.map_err(failed)?;
    let child = id("forked-child");
    store.fork(&parent.run, Seq(2), child.clone(), 9).await.map_err(failed)?;
    let row = store.run(&child).await.map_err(failed)?;
    let says = (row.seq, &*row.state, row.created_ms, row.forked.clone());
    let wants = (Seq(2), "state2", 9, Some((parent.run.clone(), Seq(2))));
    expect(says == wants, || format!("the fork is {row:?}"))?;
    let lines = store.lines(&child, Seq(0)).await.map_err(failed)?;
    expect(lines == parent.lines[..2], || format!("the fork has {lines:?}"))?;
    let messages = store.messages(&child).await.map_err(failed)?;
    expect(messages.is_empty(), || format!("the fork has messages: {messages:?}"))?;
    let mut own = Script { run: child.clone(), seq: Seq(2), prev: row.link, lines };
    write(&*store, own.next("its own way")).await.map_err(failed)?;
    let lines = store.lines(&child, Seq(0)).await.map_err(failed)?;
    expect(lines == own.lines, || format!("the fork has {lines:?}"))?;
    let lines = store.lines(&parent.run, Seq(0)).await.map_err(failed)?;
    expect(lines == parent.lines, || format!("the parent has {lines:?}"))?;
    for at in [Seq(0), Seq(4)] {
        match store.fork(&parent.run, at, id("forked-none"), 9).await {
            Err(StoreError::NoSuchEntry { .. }) => {}
            other => return Err(format!("it is forked at {at:?}: {other:?}")),
        }
    }
    match store.fork(&parent.run, Seq(1), child, 9).await {
        Err(StoreError::RunExists { .. }) => Ok(()),
        other => Err(format!("it is forked over another run: {other:?}")),
    }
}

async fn listed(bench: &dyn Bench) -> Checked {
    let store = bench.open().await;
    for (name, created) in [("listed-b", 7_000), ("listed-a", 9_000), ("listed-c", 8_000)] {
        Script::begin(name, &*store, created).await;
    }
    for name in ["listed-c-1-0", "listed-c-1-0-2-0", "listed-c-2-0"] {
        Script::begin(name, &*store, 1).await;
    }
    Script::begin("listed-c-3-0", &*store, 1).await.end(&*store).await;
    let listed = store.all(&Filter::default()).await.map_err(failed)?;
    expect(listed.damaged.is_empty(), || format!("damaged are {:?}", listed.damaged))?;
    let first: Vec<&str> = listed.runs.iter().map(|row| row.id.as_str()).take(3).collect();
    expect(first == ["listed-a", "listed-c", "listed-b"], || format!("the newest are {first:?}"))?;
    let damaged = store.check().await.map_err(failed)?;
    expect(damaged.is_empty(), || format!("damaged are {damaged:?}"))?;
    let health = store.health().await.map_err(failed)?;
    let sound = health.runs == listed.runs.len() as u64 && health.unwritable.is_none();
    expect(sound, || format!("of {} runs it says {health:?}", listed.runs.len()))?;
    let mut open = store.open_children(&id("listed-c")).await.map_err(failed)?;
    open.sort();
    let wants = ["listed-c-1-0", "listed-c-1-0-2-0", "listed-c-2-0"].map(id);
    expect(open == wants, || format!("the open children are {open:?}"))
}

/// Returns the names of a list's pages, each so long.
async fn pages(store: &dyn Store, filter: &Filter, limit: usize) -> Result<Vec<String>, String> {
    let (mut names, mut page) = (Vec::new(), Page::first(limit));
    loop {
        let listed = store.list(filter, &page).await.map_err(failed)?;
        expect(listed.runs.len() <= limit, || format!("a page of {limit} is {listed:?}"))?;
        names.extend(listed.runs.iter().map(|row| row.id.to_string()));
        match listed.next {
            Some(next) => page.after = Some(next),
            None => return Ok(names),
        }
    }
}

async fn paged(bench: &dyn Bench) -> Checked {
    let store = bench.open().await;
    for (name, made, goal) in [
        ("p1", 100, "Find it"),
        ("p2", 300, "find the rest"),
        ("p3", 200, "write it"),
        ("p4", 200, ""),
    ] {
        let mut script = Script::new(&format!("paged_{name}"));
        let (agent, goal) = (if name == "p2" { "code" } else { "chat" }.into(), goal.into());
        let new_run = NewRun { agent, goal, chart: "paged".into(), ..new_run(made) };
        drop(store.create(script.next("it begins").into(), new_run).await.map_err(failed)?);
        if name == "p3" {
            script.end(&*store).await;
        }
    }
    Script::begin("paged_p1-1-0", &*store, 150).await;
    let all = Filter { scope: RunScope::Prefix("paged_".into()), ..Filter::default() };
    let chart = Filter { chart: Some("paged".into()), ..Filter::default() };
    let order = ["p2", "p4", "p3", "p1"];
    let talks = Filter { agent: Some("chat".into()), ..chart.clone() };
    let open = Filter { status: Some(StatusFilter::Open), ..chart.clone() };
    let ended = Filter { status: Some(StatusFilter::Ended), ..chart.clone() };
    let how = StatusFilter::EndedAs(Disposition::Succeeded);
    let succeeded = Filter { status: Some(how), ..chart.clone() };
    let stuck = Filter { status: Some(StatusFilter::EndedAs(Disposition::Stuck)), ..chart.clone() };
    let said = Filter { text: Some("FIND".into()), ..chart.clone() };
    let state = Filter { state: Some("state2".into()), ..chart.clone() };
    let since = Filter { from_ms: Some(200), ..chart.clone() };
    let before = Filter { before_ms: Some(200), ..chart.clone() };
    let between = Filter { from_ms: Some(150), before_ms: Some(300), ..chart.clone() };
    let under = Filter { scope: RunScope::Descendants(id("paged_p1")), ..Filter::default() };
    let roots = Filter { scope: RunScope::Roots, ..all.clone() };
    let roots = Filter { chart: Some("paged".into()), ..roots };
    for (filter, wants) in [
        (&all, &["p2", "p4", "p3", "p1-1-0", "p1"][..]),
        (&chart, &order[..]),
        (&roots, &order[..]),
        (&talks, &["p4", "p3", "p1"][..]),
        (&open, &["p2", "p4", "p1"][..]),
        (&ended, &["p3"][..]),
        (&succeeded, &["p3"][..]),
        (&stuck, &[][..]),
        (&said, &["p2", "p1"][..]),
        (&state, &["p3"][..]),
        (&since, &["p2", "p4", "p3"][..]),
        (&before, &["p1"][..]),
        (&between, &["p4", "p3"][..]),
        (&under, &["p1-1-0"][..]),
    ] {
        let wants: Vec<String> = wants.iter().map(|name| format!("paged_{name}")).collect();
        for limit in [1, 2, 3, 4, 5, usize::MAX] {
            let names = pages(&*store, filter, limit).await?;
            expect(names == wants, || format!("{filter:?} by {limit} lists {names:?}"))?;
        }
    }
    // A fork is as new as its name, however long ago its clock began.
    let fork = new_run_id();
    store.fork(&id("paged_p1"), Seq(1), fork.clone(), 5).await.map_err(failed)?;
    let first = store.list(&Filter::default(), &Page::first(1)).await.map_err(failed)?;
    let newest = first.runs.first().map(|row| row.id.clone());
    expect(newest.as_ref() == Some(&fork), || format!("the newest is {newest:?}"))?;
    // A page begins where the last one ended, whatever came or went.
    let mut page = Page::first(2);
    let listed = store.list(&chart, &page).await.map_err(failed)?;
    page.after = listed.next;
    for gone in [fork, id("paged_p4")] {
        store.remove(&gone).await.map_err(failed)?;
    }
    Script::begin("paged_p5", &*store, 400).await;
    let listed = store.list(&chart, &page).await.map_err(failed)?;
    let names: Vec<&str> = listed.runs.iter().map(|row| row.id.as_str()).collect();
    expect(names == ["paged_p3", "paged_p1"], || format!("the second page is {names:?}"))
}

async fn blobs(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    let mut script = Script::begin("blobs", &*ours, 5).await;
    Script::begin("blobs_other", &*ours, 5).await;
    let (run, fork) = (script.run.clone(), id("blobs_fork"));
    let picture: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let first = ours.put_blob(&run, &picture).await.map_err(failed)?;
    let again = theirs.put_blob(&run, &picture).await.map_err(failed)?;
    expect(first == Digest::of(&picture) && again == first, || format!("{first} and {again}"))?;
    let empty = ours.put_blob(&run, b"").await.map_err(failed)?;
    for (digest, range, wants) in [
        (&first, 0..u64::MAX, &picture[..]),
        (&first, 0..3, &picture[..3]),
        (&first, 69_990..70_010, &picture[69_990..]),
        (&first, 70_000..70_001, &[][..]),
        (&first, 80_000..90_000, &[][..]),
        (&empty, 0..u64::MAX, &[][..]),
    ] {
        let bytes = theirs.blob(&run, digest, range.clone()).await.map_err(failed)?;
        expect(bytes == wants, || format!("{range:?} of {digest} has {} bytes", bytes.len()))?;
    }
    let nobodys = |found: Result<Vec<u8>, StoreError>, whose: &str| match found {
        Err(StoreError::NoSuchBlob { .. }) => Ok(()),
        other => Err(format!("{whose}: {other:?}")),
    };
    nobodys(theirs.whole_blob(&id("blobs_other"), &first).await, "another run has it")?;
    nobodys(theirs.whole_blob(&run, &Digest::of(b"never kept")).await, "it was never kept")?;
    match ours.put_blob(&id("nobody"), b"content").await {
        Err(StoreError::NoSuchRun { .. }) => {}
        other => return Err(format!("nobody keeps content: {other:?}")),
    }
    ours.fork(&run, Seq(1), fork.clone(), 6).await.map_err(failed)?;
    script.end(&*ours).await;
    let own = ours.put_blob(&fork, b"its own").await.map_err(failed)?;
    nobodys(theirs.whole_blob(&run, &own).await, "a fork's content is its parent's")?;
    ours.remove(&id("blobs_other")).await.map_err(failed)?;
    // The fork has what it shares, also when its parent is removed.
    theirs.remove(&run).await.map_err(failed)?;
    for (digest, wants) in [(&first, &picture[..]), (&own, b"its own")] {
        let bytes = ours.whole_blob(&fork, digest).await.map_err(failed)?;
        expect(bytes == wants, || format!("the fork has {} bytes of {digest}", bytes.len()))?;
    }
    Script::begin("blobs", &*ours, 5).await;
    nobodys(ours.whole_blob(&run, &first).await, "a run of the same name has it")
}

async fn removed(bench: &dyn Bench) -> Checked {
    let (ours, theirs) = (bench.open().await, bench.open().await);
    for (name, ends) in [("removed-a", true), ("removed-b", false), ("removed-c", true)] {
        let mut script = Script::begin(name, &*ours, 2).await;
        if ends {
            script.end(&*ours).await;
        }
    }
    let lease = claim(&*theirs, &id("removed-c")).await?;
    let prune = PruneOptions { before_ms: Some(3), ..PruneOptions::default() };
    let names = |rows: &[RunRow]| -> Vec<String> {
        let ids = rows.iter().map(|row| row.id.to_string());
        ids.filter(|id| id.starts_with("removed")).collect()
    };
    let dry = ours.prune(PruneOptions { dry_run: true, ..prune }).await.map_err(failed)?;
    let pruned = ours.prune(prune).await.map_err(failed)?;
    for pruned in [dry, pruned] {
        expect(names(&pruned.runs) == ["removed-a"], || format!("it prunes {pruned:?}"))?;
        expect(pruned.held == [id("removed-c")], || format!("it leaves {:?}", pruned.held))?;
    }
    match theirs.run(&id("removed-a")).await {
        Err(StoreError::NoSuchRun { .. }) => {}
        other => return Err(format!("a pruned run is there: {other:?}")),
    }
    let held = ours.remove(&id("removed-c")).await.map_err(failed)?;
    expect(held.is_none(), || "a run that somebody has is removed".into())?;
    drop(lease);
    for name in ["removed-b", "removed-c"] {
        let gone = ours.remove(&id(name)).await.map_err(failed)?;
        let gone = gone.map(|gone| gone.runs).unwrap_or_default();
        expect(gone == [id(name)], || format!("of {name} went {gone:?}"))?;
    }
    // A name that was used before starts over.
    let (mut again, lease) = Script::create("removed-a", &*ours, 2).await.map_err(failed)?;
    ours.append(&lease, again.next("it goes on").into()).await.map_err(failed)
}

//! Messages and leases: what processes that share a journal say to each other.

use pointsman_runtime::store::{NewRun, SqliteStore, Store as _, StoreError};

use super::{Plain as _, Script, TempFolder, id, new_run};

#[tokio::test]
async fn message_waits_until_an_entry_takes_it() {
    let folder = TempFolder::new("letters");
    let (ours, theirs) = (folder.store(), folder.store());
    let mut script = Script::begin("one", &ours, 5).await;
    Script::begin("two", &ours, 6).await;
    let first = theirs.send(&script.run, "{\"a\":1}").await.expect("the message is sent");
    let second = theirs.send(&script.run, "second").await.expect("the message is sent");
    theirs.send(&id("two"), "for another").await.expect("the message is sent");
    let messages = ours.reader().messages(&script.run).expect("the messages are readable");
    let bodies: Vec<&str> = messages.iter().map(|message| &*message.body).collect();
    assert_eq!(bodies, ["{\"a\":1}", "second"]);
    assert_eq!((messages[0].id, messages[1].id), (first, second));

    let mut taking = script.next("takes a letter");
    taking.message = Some(first);
    ours.write(taking).await.expect("the entry is written");
    assert!(!theirs.has_message(first).expect("the mailbox is readable"));
    assert!(theirs.has_message(second).expect("the mailbox is readable"));
    // No message is taken twice, and an entry that would is not written.
    let untouched = script.clone();
    let mut again = script.next("takes it again");
    again.message = Some(first);
    let error = ours.write(again).await.expect_err("the store refuses the entry");
    assert!(matches!(error, StoreError::NoSuchMessage { message } if message == first), "{error}");
    assert_eq!(ours.reader().run(&script.run).expect("the run is readable").seq, untouched.seq);

    let lease = ours.claim(&script.run).await.expect("the run is readable").expect("it is free");
    ours.discard(&lease, second).await.expect("the message is discarded");
    let error = ours.discard(&lease, second).await.expect_err("it is gone");
    assert!(matches!(error, StoreError::NoSuchMessage { .. }), "{error}");
    // A number is never given twice: who waits for one must not see another.
    let third = theirs.send(&script.run, "third").await.expect("the message is sent");
    assert!(third > second);
    let error = theirs.send(&id("nobody"), "hello").await.expect_err("there is no such run");
    assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");

    for damage in ["UPDATE letter SET body = 'thirf'", "DELETE FROM letter WHERE body = 'third'"] {
        folder.raw().execute(damage, []).expect("the SQL runs");
        let error = ours.reader().messages(&script.run).expect_err("it is damaged").to_string();
        assert!(error.contains("its messages differ from those written"), "{error}");
    }
}

#[tokio::test]
async fn damaged_message_affects_only_its_run() {
    let folder = TempFolder::new("letters-damaged");
    let store = folder.store();
    for name in ["one", "two"] {
        Script::begin(name, &store, 5).await;
        store.send(&id(name), name).await.expect("the message is sent");
    }
    folder
        .raw()
        .execute("UPDATE letter SET body = 'twp' WHERE run = 'two'", [])
        .expect("the SQL runs");
    assert_eq!(store.reader().messages(&id("one")).expect("the messages are readable").len(), 1);
    assert!(store.reader().messages(&id("two")).is_err());
    // The run of an ownerless message is unknown.
    folder
        .raw()
        .execute("UPDATE letter SET run = 'twp' WHERE run = 'two'", [])
        .expect("the SQL runs");
    assert!(store.reader().messages(&id("one")).is_err());
}

#[tokio::test]
async fn messages_of_a_new_run_are_kept_until_its_last_entry() {
    let folder = TempFolder::new("letters-first");
    let store = folder.store();
    let mut script = Script::new("one");
    let first = script.next("it begins");
    let messages = vec!["hello".into(), "and farewell".into()];
    let new_run = NewRun { messages, ..new_run(5) };
    drop(store.create(first.into(), new_run).await.expect("the run is created"));
    let bodies = |store: &SqliteStore| -> Vec<String> {
        let messages = store.reader().messages(&id("one")).expect("the messages are readable");
        messages.iter().map(|message| message.body.to_string()).collect()
    };
    assert_eq!(bodies(&store), ["hello", "and farewell"]);
    script.end(&store).await;
    assert_eq!(bodies(&store), [""; 0]);
    // The count of waiting messages is right: a new one is found.
    Script::begin("two", &store, 6).await;
    store.send(&id("two"), "x").await.expect("the message is sent");
    assert_eq!(store.reader().messages(&id("two")).expect("the messages are readable").len(), 1);
}

#[tokio::test]
async fn only_one_has_a_run() {
    let folder = TempFolder::new("leases");
    let (ours, theirs) = (folder.store(), folder.store());
    let run = Script::begin("one", &ours, 5).await.run;
    let lease = ours
        .claim(&run)
        .await
        .expect("the store answers the claim")
        .expect("no other owner holds the run");
    assert!(theirs.claim(&run).await.expect("the store answers the claim").is_none());
    let file = folder.0.join("deep/journal.db.holds/one");
    assert!(file.exists());
    drop(lease);
    assert!(!file.exists(), "nothing is left behind");
}

#[test]
fn a_run_that_changes_hands_is_never_in_two() {
    let folder = TempFolder::new("hands");
    let store = folder.store();
    let threads = tokio::runtime::Builder::new_current_thread().build().expect("it starts");
    let run = threads.block_on(Script::begin("one", &store, 5)).run;
    let inside = std::sync::atomic::AtomicU32::new(0);
    let taken = std::sync::atomic::AtomicU32::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let threads = tokio::runtime::Builder::new_current_thread().build();
                let threads = threads.expect("the runtime starts");
                for _ in 0..1_000 {
                    let claimed = threads.block_on(store.claim(&run)).expect("it can be asked");
                    if let Some(lease) = claimed {
                        assert_eq!(inside.fetch_add(1, order), 0, "two have it");
                        taken.fetch_add(1, order);
                        std::thread::yield_now();
                        inside.fetch_sub(1, order);
                        drop(lease);
                    }
                }
            });
        }
    });
    assert!(taken.load(order) > 0);
}

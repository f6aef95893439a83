//! Replaying: the data beside the lines is derived again, and changes are reported.

use std::sync::Arc;

use pointsman_kernel::id::{Digest, Seq};
use pointsman_runtime::{
    clock::new_run_id,
    session::{SessionError, replay},
    store::{RunId, Store as _, StoreDamage, StoreError},
};

use super::{World, begin, to_the_end};
use crate::store::TempFolder;

/// The place, the effect and the parts of a prompt.
type Row = (i64, i64, i64, Vec<u8>);

/// Makes a run: begun, searched, analysed, decided, assembled.
async fn run(folder: &TempFolder) -> RunId {
    let store = Arc::new(folder.store());
    let mut driver = begin(&store, &World::new(0), new_run_id()).await;
    to_the_end(&mut driver).await;
    driver.id().clone()
}

/// Replays a run in which this was changed, and returns the entry and the damage.
async fn replayed(
    folder: &TempFolder,
    id: &RunId,
    until: Option<Seq>,
) -> Option<(Option<Seq>, StoreDamage)> {
    match replay(&pointsman_agents::all(), &folder.store(), id, until).await {
        Ok(_) => None,
        Err(SessionError::Store(StoreError::Damaged { run, seq, damage })) => {
            assert_eq!(run.as_ref(), Some(id));
            Some((seq, damage))
        }
        Err(error) => panic!("another error: {error}"),
    }
}

#[tokio::test]
async fn untouched_run_replays_with_its_prompts() {
    let folder = TempFolder::new("replayed");
    let id = run(&folder).await;
    let store = folder.store();
    let replayed = replay(&pointsman_agents::all(), &store, &id, None)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((replayed.recalled.lines.len(), replayed.prompts), (5, 2));
    let part = replay(&pointsman_agents::all(), &store, &id, Some(Seq(2)))
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((part.recalled.lines.len(), part.prompts), (2, 1));
    let none = replay(&pointsman_agents::all(), &store, &id, Some(Seq(6))).await;
    assert!(matches!(none, Err(SessionError::NoSuchEntry { has: 5, asked: Seq(6), .. })));
}

#[tokio::test]
async fn fork_shares_columns_and_prompts_too() {
    let folder = TempFolder::new("replayed-fork");
    let id = run(&folder).await;
    let store = folder.store();
    let child = new_run_id();
    store.fork(&id, Seq(3), child.clone(), 1).await.expect("the run is forked");
    let replayed = replay(&pointsman_agents::all(), &store, &child, None)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((replayed.recalled.lines.len(), replayed.prompts), (3, 2));
}

#[tokio::test]
async fn a_changed_column_is_named_with_its_entry() {
    // Each with its error, and the words for people.
    let cases = [
        ("UPDATE entry SET state = 'done' WHERE seq = 1", 1, "`entry.state` has `done`"),
        ("UPDATE entry SET state = 'deciding' WHERE seq = 5", 5, "the entries give `done`"),
        ("UPDATE entry SET ended = 'failed' WHERE seq = 5", 5, "`entry.ended` has `failed`"),
        ("UPDATE entry SET ended = 'stuck' WHERE seq = 2", 2, "the entries give nothing"),
        ("UPDATE entry SET ended = NULL WHERE seq = 5", 5, "`entry.ended` has nothing"),
        ("UPDATE entry SET wake = wake + 1 WHERE seq = 3", 3, "`entry.wake` has `"),
        ("UPDATE entry SET wake = NULL WHERE seq = 1", 1, "`entry.wake` has nothing"),
        ("UPDATE entry SET prompts = 7 WHERE seq = 2", 2, "`entry.prompts` has `7`"),
        ("UPDATE entry SET prompts = 0 WHERE seq = 3", 3, "`entry.prompts` has `0`"),
        (
            "UPDATE entry SET tip = zeroblob(16) WHERE seq = 4",
            4,
            "the checksum of its columns is wrong",
        ),
        (
            "UPDATE entry SET tip = zeroblob(16) WHERE seq = 5",
            5,
            "the checksum of its columns is wrong",
        ),
    ];
    for (change, seq, words) in cases {
        let folder = TempFolder::new("replayed-column");
        let id = run(&folder).await;
        assert_eq!(folder.raw().execute(change, []).expect(change), 1, "{change}");
        let (at, damage) = replayed(&folder, &id, None).await.unwrap_or_else(|| panic!("{change}"));
        assert_eq!(at, Some(Seq(seq)), "{change}: {damage}");
        assert!(damage.to_string().contains(words), "{change}: {damage}");
        // The entries before it are unchanged.
        if seq > 1 {
            assert_eq!(replayed(&folder, &id, Some(Seq(seq - 1))).await, None, "{change}");
        }
    }
}

#[tokio::test]
async fn a_changed_prompt_is_named_with_its_entry() {
    let cases = [
        "UPDATE prompt SET parts = zeroblob(length(parts)) WHERE seq = 2",
        "UPDATE prompt SET parts = x'' WHERE seq = 2",
        "UPDATE prompt SET seal = zeroblob(16) WHERE seq = 2",
        "UPDATE prompt SET effect_index = 1 WHERE seq = 2",
        "DELETE FROM prompt WHERE seq = 2",
    ];
    for change in cases {
        let folder = TempFolder::new("replayed-prompt");
        let id = run(&folder).await;
        assert_eq!(folder.raw().execute(change, []).expect(change), 1, "{change}");
        assert_eq!(
            replayed(&folder, &id, None).await,
            Some((Some(Seq(2)), StoreDamage::Prompts)),
            "{change}"
        );
    }
    // The text of a part lies elsewhere, and was changed there.
    let folder = TempFolder::new("replayed-part");
    let id = run(&folder).await;
    let change = "UPDATE artifact SET body = zeroblob(length(body)) WHERE digest IN
                  (SELECT substr(parts, 1, 32) FROM prompt WHERE seq = 3)";
    assert_eq!(folder.raw().execute(change, []).expect(change), 1);
    let damage = replayed(&folder, &id, None).await;
    assert!(matches!(damage, Some((Some(Seq(3)), StoreDamage::Artifact(_)))), "{damage:?}");
}

#[tokio::test]
async fn prompt_of_another_build_is_recognised() {
    let folder = TempFolder::new("replayed-other");
    let id = run(&folder).await;
    // A row of a build that orders messages differently: with a valid checksum.
    let raw = folder.raw();
    let select = "SELECT idx, effect_seq, effect_index, parts FROM prompt WHERE seq = 3";
    let (idx, effect_seq, effect_index, mut parts): Row = raw
        .query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .expect("the query returns a row");
    assert!(parts.len() > 96, "a system part, messages and tools");
    parts[32..].rotate_left(32);
    let mut intact = Vec::new();
    intact.extend(6_u64.to_le_bytes());
    intact.extend(b"prompt");
    for number in [3, idx, effect_seq, effect_index] {
        intact.extend(number.to_le_bytes());
    }
    intact.extend((parts.len() as u64).to_le_bytes());
    intact.extend(&parts);
    let seal = &Digest::of(&intact).0[..16];
    let update = "UPDATE prompt SET parts = ?1, seal = ?2 WHERE seq = 3";
    assert_eq!(raw.execute(update, rusqlite::params![parts, seal]).expect("the SQL runs"), 1);
    drop(raw);
    let damage = StoreDamage::Rendered { index: 0, part: "message 1".into() };
    assert_eq!(replayed(&folder, &id, None).await, Some((Some(Seq(3)), damage)));
}

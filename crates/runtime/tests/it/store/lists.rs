//! Lists of runs: what puts them in order is derived, and is never relied upon where it is wrong.

use pointsman_kernel::id::Seq;
use pointsman_runtime::store::{Filter, Page, SqliteStore, StoreDamage, StoreError};

use super::{Plain as _, Script, TempFolder, names};

/// Lists the newest runs, and says whether damage was met.
fn newest(store: &SqliteStore, limit: usize) -> (Vec<String>, bool) {
    let listed =
        store.reader().list(&Filter::default(), &Page::first(limit)).expect("the runs are listed");
    let names = listed.runs.iter().map(|row| row.id.to_string()).collect();
    (names, !listed.damaged.is_empty())
}

async fn three(folder: &TempFolder) -> SqliteStore {
    let store = folder.store();
    for (name, made) in [("b", 1), ("c", 2), ("a", 3)] {
        Script::begin(name, &store, made).await;
    }
    store
}

#[tokio::test]
async fn a_page_is_read_without_the_runs_before_it() {
    let folder = TempFolder::new("page");
    let store = three(&folder).await;
    let damage = "UPDATE run SET goal = 'lose it' WHERE id = 'b'";
    folder.raw().execute_batch(damage).expect("the SQL runs");
    assert_eq!(newest(&store, 2), (vec!["a".into(), "c".into()], false));
    assert_eq!(newest(&store, 3), (vec!["a".into(), "c".into()], true));
    assert!(store.runs().is_err());
    assert_eq!(store.reader().check().expect("readable").len(), 1);
}

#[tokio::test]
async fn wrong_listing_is_not_used_and_is_rebuilt() {
    for (damage, at_once) in [
        ("UPDATE listing SET made_ms = 9 WHERE run = 'b'", true),
        ("INSERT INTO listing (made_ms, run) VALUES (9, 'nobody')", true),
        ("DELETE FROM listing WHERE run = 'a'", false),
        ("DELETE FROM listing", false),
    ] {
        let folder = TempFolder::new("order");
        let store = three(&folder).await;
        folder.raw().execute_batch(damage).expect(damage);
        if at_once {
            assert_eq!(names(&store), ["a", "c", "b"], "{damage}");
        }
        drop(store);
        let store = folder.store();
        assert_eq!(names(&store), ["a", "c", "b"], "{damage}");
        let count = "SELECT count(*) FROM listing JOIN run ON id = run AND made_ms = created_ms";
        let count = folder.raw().query_row(count, [], |row| row.get::<_, i64>(0));
        assert_eq!(count.expect("it can be asked"), 3, "{damage}");
    }
}

#[tokio::test]
async fn missing_row_is_reported_by_the_list() {
    let folder = TempFolder::new("row-gone");
    let store = three(&folder).await;
    folder.raw().execute_batch("DELETE FROM run WHERE id = 'c'").expect("the SQL runs");
    for store in [store, folder.store()] {
        assert_eq!(newest(&store, 9), (vec!["a".into(), "b".into()], true));
        let error = store.runs().expect_err("one is missing");
        let lost = matches!(
            error,
            StoreError::Damaged { damage: StoreDamage::Runs { has: 2, wants: 3 }, .. }
        );
        assert!(lost, "{error}");
    }
}

#[tokio::test]
async fn a_page_of_lines_is_checked_by_its_own_seal() {
    let folder = TempFolder::new("lines");
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    script.until(&store, 9).await;
    let read = |after: usize, limit| store.reader().page(&script.run, Seq(after as u64), limit);
    for after in 0..=9 {
        for limit in 0..=10 {
            let wants = &script.lines[after..(after + limit).min(9)];
            assert_eq!(
                read(after, limit).expect("the file is readable"),
                wants,
                "{limit} after {after}"
            );
        }
    }
    let damage = "UPDATE entry SET line = replace(line, 'goes', 'gose') WHERE seq = 5";
    folder.raw().execute_batch(damage).expect("the SQL runs");
    assert_eq!(read(0, 4).expect("the damage is after it"), script.lines[..4]);
    assert_eq!(read(5, 4).expect_err("entry 6 follows another").run(), Some(&script.run));
    assert_eq!(read(6, 3).expect("the damage is before it"), script.lines[6..]);
    for (after, limit) in [(0, 5), (3, 3), (4, 1)] {
        let error = read(after, limit).expect_err("the damage is reported").to_string();
        assert!(error.contains("at entry 5 of run one"), "{error}");
    }
}

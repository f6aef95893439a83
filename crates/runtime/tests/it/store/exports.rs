//! Exports: a file that can be checked by itself, byte for byte.

use pointsman_kernel::id::Seq;
use pointsman_runtime::store::{ExportError, Store as _, export, import};

use super::{Plain as _, Script, TempFolder, id};

async fn exported(name: &str) -> (Script, Vec<u8>) {
    let folder = TempFolder::new(name);
    let store = folder.store();
    let mut script = Script::begin("one", &store, 5).await;
    store.write(script.next(&"long ".repeat(250))).await.expect("the entry is written");
    script.until(&store, 4).await;
    script.end(&store).await;
    store.fork(&script.run, Seq(4), id("child"), 8).await.expect("the run is forked");
    let mut bytes = Vec::new();
    export(&store, &id("child"), &mut bytes).await.expect("the run is exported");
    script.lines.truncate(4);
    (script, bytes)
}

#[tokio::test]
async fn an_export_is_read_back_as_it_was() {
    let (script, bytes) = exported("export").await;
    let read = import::read(&bytes[..]).expect("it is whole");
    assert_eq!(read.lines, script.lines);
    assert_eq!((read.run, read.forked), (id("child"), Some((id("one"), Seq(4)))));
    assert_eq!(
        (&*read.source, &*read.goal, read.created_ms),
        ("chart = \"research\"", "find it", 8)
    );
    assert_eq!(bytes.split(|byte| *byte == b'\n').count(), 7, "six lines, and nothing after");
}

#[tokio::test]
async fn every_flip_and_every_cut_is_refused() {
    let (_, bytes) = exported("export-flips").await;
    for at in 0..bytes.len() {
        for bit in [0, 3, 5, 7] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let error = import::read(&flipped[..]).expect_err("it was changed");
            assert!(
                matches!(error, ExportError::Damaged { .. } | ExportError::TooNew { .. }),
                "byte {at}: {error}"
            );
        }
        import::read(&bytes[..at]).expect_err("it was cut");
    }
    for more in ["\n", "{}\n", " "] {
        let longer = [&bytes[..], more.as_bytes()].concat();
        import::read(&longer[..]).expect_err("there is more than was written");
    }
}

#[tokio::test]
async fn the_first_fault_is_named() {
    let (_, bytes) = exported("export-names").await;
    let text = String::from_utf8(bytes).expect("the output is UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    let told = |lines: &[&str]| {
        let text = lines.join("\n") + "\n";
        import::read(text.as_bytes()).expect_err("the import is refused").to_string()
    };
    let changed = lines[3].replace("goes", "gose");
    let with = |at: usize, line| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines
    };
    assert!(told(&with(3, &changed)).contains("line 4 of the export, entry 3: the line differs"));
    assert!(told(&with(2, "junk")).contains("line 3 of the export, entry 2: not an entry"));
    assert!(told(&with(0, "{}")).contains("line 1 of the export: not a header"));
    assert!(told(&lines[..5]).contains("line 5 of the export: the export is truncated"));
    let mut hole = lines.clone();
    hole.remove(2);
    assert!(told(&hole).contains("line 3 of the export, entry 2: another entry"));
    let later = lines[0].replace("\"export\":1", "\"export\":2");
    assert!(told(&with(0, &later)).contains("format 2"));
    let goal = lines[0].replace("find it", "find me");
    assert!(told(&with(0, &goal)).contains("line 6 of the export: the checksum is wrong"));
}

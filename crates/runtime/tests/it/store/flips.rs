//! A flipped byte anywhere in the file, or a truncated file: the same data, or an error that says
//! what is wrong. Never other data.

use std::{collections::BTreeMap, fs, path::PathBuf};

use pointsman_kernel::id::{Digest, EffectId, Seq};
use pointsman_runtime::store::{
    Filter, MailboxMessage, NewPrompt, Page, PromptRow, RunRow, Snapshot, SqliteOptions,
    SqliteStore, Store as _, StoreError,
};

use super::{Plain as _, Script, TempFolder, id};

/// A journal's files, in memory.
struct Files(Vec<(&'static str, Vec<u8>)>);

impl Files {
    fn take(folder: &TempFolder, names: &[&'static str]) -> Self {
        let read = |name: &&'static str| {
            (*name, fs::read(folder.0.join("deep").join(name)).expect("the file is readable"))
        };
        Self(names.iter().map(read).collect())
    }
}

/// All that a reader sees of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    row: RunRow,
    lines: Vec<String>,
    source: String,
    prompts: Vec<PromptRow>,
    messages: Vec<MailboxMessage>,
    snapshot: Option<Snapshot>,
    content: Vec<u8>,
}

impl Seen {
    /// Compares with the original. A snapshot is a cache, so it may be gone.
    fn is(&self, whole: &Self) -> bool {
        (self.snapshot.is_none() || self.snapshot == whole.snapshot)
            && (&self.row, &self.lines, &self.source) == (&whole.row, &whole.lines, &whole.source)
            && (&self.prompts, &self.messages) == (&whole.prompts, &whole.messages)
            && self.content == whole.content
    }
}

/// What a reader sees of each of the three runs, or why not.
type Look = [Result<Seen, StoreError>; 3];

const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

fn content(name: &str) -> Vec<u8> {
    format!("content of {name}").repeat(20).into()
}

fn look(path: &std::path::Path) -> Result<Look, StoreError> {
    let options =
        SqliteOptions { busy: std::time::Duration::from_millis(50), ..SqliteOptions::default() };
    let store = SqliteStore::open_with(path, &options)?;
    let listed = store.reader().list(&Filter::default(), &Page::first(usize::MAX))?;
    Ok(NAMES.map(|name| {
        let run = id(name);
        let row = store.reader().run(&run)?;
        // The list may lack a run, but only if it says so; what it has is the same.
        let in_list = listed.runs.iter().find(|it| it.id == run);
        assert!(in_list.is_none_or(|it| *it == row), "{name} is another in the list");
        assert!(in_list.is_some() || !listed.damaged.is_empty(), "{name} is not in the list");
        Ok(Seen {
            lines: store.reader().lines(&run, Seq(0))?,
            source: store.reader().chart_source(&run)?,
            prompts: store.reader().prompts(&run)?,
            messages: store.reader().messages(&run)?,
            snapshot: store.reader().snapshot(&run)?,
            content: store.reader().blob(&run, &Digest::of(&content(name)), &(0..u64::MAX))?,
            row,
        })
    }))
}

/// Tries damaged copies and counts what was said of them.
struct Trial {
    folder: TempFolder,
    whole: Vec<Seen>,
    counts: BTreeMap<String, usize>,
}

impl Trial {
    fn new(name: &str, files: &Files) -> Self {
        // In memory where there is such a place: thousands of files are written.
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() {
            let path = memory.join(format!("pointsman-{name}-{}", std::process::id()));
            TempFolder(path)
        } else {
            TempFolder::new(name)
        };
        let mut trial = Self { folder, whole: Vec::new(), counts: BTreeMap::new() };
        let whole = trial.look(files).expect("it opens");
        trial.whole = whole.into_iter().map(|seen| seen.expect("it is whole")).collect();
        trial
    }

    fn look(&self, files: &Files) -> Result<Look, StoreError> {
        drop(fs::remove_dir_all(&self.folder.0));
        fs::create_dir_all(&self.folder.0).expect("the folder is created");
        for (name, bytes) in &files.0 {
            fs::write(self.folder.0.join(name), bytes).expect("the file is written");
        }
        look(&self.folder.0.join("journal.db"))
    }

    fn try_one(&mut self, files: &Files, what: &str) {
        let seen = match self.look(files) {
            Ok(seen) => seen,
            Err(error) => return self.count(&error, what),
        };
        // Damage of one run does not affect reading the others.
        let mut same = 0;
        for (seen, whole) in seen.into_iter().zip(std::mem::take(&mut self.whole)) {
            match seen {
                Ok(seen) => {
                    assert!(seen.is(&whole), "{what}: other data was read");
                    same += 1;
                }
                Err(error) => self.count(&error, what),
            }
            self.whole.push(whole);
        }
        let said = format!("{same} with the same data");
        *self.counts.entry(said).or_default() += 1;
    }

    fn count(&mut self, error: &StoreError, what: &str) {
        let named = matches!(
            error,
            StoreError::Damaged { .. }
                | StoreError::Tables { .. }
                | StoreError::NotOurs { .. }
                | StoreError::TooNew { .. }
                | StoreError::Behind { .. }
                | StoreError::ReadOnly { .. }
                | StoreError::NoSuchBlob { .. }
        );
        assert!(named, "{what}: {error:?}");
        let kind = format!("{error:?}");
        let kind = kind.split(' ').next().unwrap_or_default().to_owned();
        *self.counts.entry(kind).or_default() += 1;
    }

    /// Flips bits of one of the files, by seed: half of them in bytes that are not 0.
    fn flips(&mut self, files: &mut Files, at: usize, count: u64, mut seed: u64) {
        let mut draw = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            usize::try_from(seed >> 33).expect("the number fits in a usize") % below
        };
        let bytes = files.0[at].1.clone();
        let used: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] != 0).collect();
        for flip in 0..count {
            let place = if flip % 2 == 0 { used[draw(used.len())] } else { draw(bytes.len()) };
            let bit = draw(8);
            files.0[at].1[place] ^= 1 << bit;
            let name = files.0[at].0;
            self.try_one(files, &format!("bit {bit} of byte {place} of {name}"));
            files.0[at].1[place] = bytes[place];
        }
    }

    fn cuts(&mut self, files: &mut Files, at: usize, count: usize) {
        let bytes = files.0[at].1.clone();
        for cut in 0..count {
            let length = bytes.len() * cut / count;
            files.0[at].1.truncate(length);
            self.try_one(files, &format!("{} cut to {length}", files.0[at].0));
            files.0[at].1.clone_from(&bytes);
        }
    }

    #[expect(clippy::print_stdout, reason = "the counts are what the test is run for")]
    fn tell(&self, what: &str) {
        println!("{what}: {:?}", self.counts);
        assert!(self.counts.len() > 1, "no damage was found at all");
    }
}

async fn three_runs(store: &SqliteStore) {
    for (at, name) in NAMES.into_iter().enumerate() {
        let mut script = Script::begin(name, store, 100 + at as u64).await;
        script.until(store, 6).await;
        let long = script.next(&format!("{name} says more. ").repeat(200));
        store.write(long).await.expect("the entry is written");
        let mut asking = script.next("asks a model");
        let effect = EffectId { seq: asking.seq, index: 0 };
        let parts = vec!["the same for all".into(), format!("for {name}")];
        asking.prompts = vec![NewPrompt { effect, parts }];
        asking.snapshot = Some(format!("a snapshot of {name}").into());
        store.write(asking).await.expect("the entry is written");
        store.put_blob(&script.run, &content(name)).await.expect("the content is stored");
        store.send(&script.run, "a letter").await.expect("the message is sent");
        if at == 1 {
            script.end(store).await;
        }
    }
}

#[tokio::test]
async fn flips_and_cuts_of_the_file_are_found() {
    let folder = TempFolder::new("flips");
    let store = folder.store();
    three_runs(&store).await;
    drop(store);
    let mut files = Files::take(&folder, &["journal.db", "journal.db.mark"]);
    let mut trial = Trial::new("flips", &files);
    trial.flips(&mut files, 0, 1_400, 7);
    trial.tell("flips of the file");
    assert!(trial.counts.contains_key("2 with the same data"), "none hit one run alone");
    trial.cuts(&mut files, 0, 50);
    trial.flips(&mut files, 1, 50, 9);
    trial.cuts(&mut files, 1, 10);
    trial.tell("and cuts, and the mark");
}

#[tokio::test]
async fn flips_and_cuts_of_a_log_that_was_not_written_back_are_found() {
    let folder = TempFolder::new("log-flips");
    let store = folder.store();
    three_runs(&store).await;
    let mut files = Files::take(&folder, &["journal.db", "journal.db-wal", "journal.db.mark"]);
    drop(store);
    let mut trial = Trial::new("log-flips", &files);
    trial.flips(&mut files, 1, 400, 11);
    trial.flips(&mut files, 0, 200, 13);
    trial.tell("flips of the log and of the file under it");
    trial.cuts(&mut files, 1, 50);
    trial.tell("and cuts");
}

//! Two processes at one journal: messages, hand-overs and changes between them.

use std::{
    process::{Child, ChildStdin},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use pointsman_runtime::{
    clock::now_ms,
    store::{Append, Changes, Lease, Release},
};
use tokio::time::timeout;

use super::*;

const LIMIT: Duration = Duration::from_mins(1);

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child_does_what_it_is_told() {
    let Some(journal) = place() else { return };
    let store = SqliteStore::open(&journal).expect("the journal opens");
    let run: RunId = "one".parse().expect("the text is a run id");
    let mut lease = None;
    for word in io::stdin().lines().map_while(Result::ok) {
        match word.as_str() {
            "create" => {
                let created = Script::create("one", &store, 5).await;
                lease = Some(created.expect("the run is created").1);
            }
            "claim" => lease = store.claim(&run).await.expect("the store answers the claim"),
            "write" => {
                let row = store.run(&run).await.expect("the run exists");
                let (run, lines) = (run.clone(), Vec::new());
                let mut script = Script { run, seq: row.seq, prev: row.link, lines };
                let lease = lease.as_ref().expect("it has the run");
                let next = script.next("written by the child");
                store.append(lease, next.into()).await.expect("the entry is appended");
            }
            "release" => {
                let lease = lease.take().expect("it has the run");
                store.release(lease, Release::Ready).await.expect("the run is released");
            }
            "send" => {
                store.send(&run, "hello").await.expect("the message is sent");
            }
            "remove" => {
                let removed = store.remove(&run).await.expect("the store answers");
                assert!(removed.is_some(), "it is removed");
            }
            other => panic!("`{other}` is no command"),
        }
        println!("did {word} {}", lease.as_ref().map_or(0, Lease::epoch));
    }
}

/// A process that does what it is told, at the same journal.
struct OtherProcess {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl OtherProcess {
    fn start(folder: &TempFolder) -> Self {
        let mut child = start("races::child_does_what_it_is_told", "", &folder.journal())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take().expect("the stream is piped");
        let lines = BufReader::new(child.stdout.take().expect("the stream is piped")).lines();
        let (sender, output) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nobody may listen any more.
                drop(sender.send(line));
            }
        });
        Self { child, input, output }
    }

    /// Tells it to do something, and does not wait.
    fn tell(&mut self, word: &str) {
        writeln!(self.input, "{word}").expect("the other process reads");
    }

    /// Waits until it has done that. Returns the epoch of its lease; 0 without one.
    fn has_done(&self, word: &str) -> u64 {
        let wanted = format!("did {word} ");
        loop {
            let line = self.output.recv_timeout(LIMIT);
            let line = line.unwrap_or_else(|error| panic!("waiting for `{word}`: {error}"));
            if let Some((_, epoch)) = line.split_once(&wanted) {
                return epoch.parse().expect("it is a number");
            }
        }
    }

    fn does(&mut self, word: &str) -> u64 {
        self.tell(word);
        self.has_done(word)
    }

    fn end(self) {
        let Self { mut child, input, output } = self;
        drop(input);
        assert!(child.wait().expect("the process ends").success());
        drop(output);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_that_another_process_sends_during_a_release_wakes_the_run() {
    const RACES: u64 = 40;
    let folder = TempFolder::new("races-woken");
    let ours = folder.store();
    let mut theirs = OtherProcess::start(&folder);
    let mut script = Script::new("one");
    let first = Append { wake: None, ..script.next("it begins") };
    let new_run = NewRun { queue: Some(QueueOptions::default()), ..new_run(now_ms()) };
    let mut lease = ours.create(first.into(), new_run).await.expect("the run is created");
    let (mut read, worker) = (None, Worker::default());
    for race in 0..RACES {
        theirs.tell("send");
        // It comes before, during or after the release.
        thread::sleep(Duration::from_micros(50 * race));
        ours.release(lease, Release::Parked { read }).await.expect("the run is parked");
        theirs.has_done("send");
        let ready = ours.claim_ready(1, &worker).await.expect("the store answers the claim");
        let woken = ready.into_iter().next();
        lease = woken.unwrap_or_else(|| panic!("the wake-up of race {race} is lost"));
        let messages = ours.messages(&script.run).await.expect("the messages are readable");
        assert_eq!(messages.len() as u64, race + 1, "a message is lost");
        read = messages.last().map(|message| message.id);
    }
    // A message that was read does not wake it again.
    ours.release(lease, Release::Parked { read }).await.expect("the run is parked");
    let ready = ours.claim_ready(1, &worker).await.expect("the store answers the claim");
    assert!(ready.is_empty(), "{ready:?}");
    theirs.end();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_is_handed_over_to_another_process_and_back() {
    let folder = TempFolder::new("races-handed");
    let ours = folder.store();
    let mut theirs = OtherProcess::start(&folder);
    let (mut script, mut lease) = Script::create("one", &ours, 5).await.expect("it begins");
    for _ in 0..10 {
        assert_eq!(theirs.does("claim"), 0, "it is ours");
        let next = script.next("written by the parent");
        ours.append(&lease, next.into()).await.expect("the entry is appended");
        let before = lease.epoch();
        ours.release(lease, Release::Ready).await.expect("the run is released");
        let epoch = theirs.does("claim");
        assert!(epoch > before, "epoch {epoch} follows {before}");
        let claimed = ours.claim(&script.run).await.expect("the store answers the claim");
        assert!(claimed.is_none(), "it is theirs");
        theirs.does("write");
        script.next("written by the child");
        theirs.does("release");
        let claimed = ours.claim(&script.run).await.expect("the store answers the claim");
        lease = claimed.expect("no other owner holds the run");
        assert!(lease.epoch() > epoch, "epoch {} follows {epoch}", lease.epoch());
    }
    let lines = ours.reader().lines(&script.run, Seq(0)).expect("the journal lines are readable");
    assert_eq!(lines, script.lines);
    theirs.end();
}

/// Waits for a change that fits.
async fn announced(changes: &mut Changes, what: &str, fits: impl Fn(&Change) -> bool) {
    let waits = async { while !fits(&changes.next().await) {} };
    timeout(LIMIT, waits).await.unwrap_or_else(|_| panic!("{what} is not announced"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_by_another_process_are_announced() {
    let folder = TempFolder::new("races-changes");
    let ours = folder.store();
    let mut changes = ours.changes().await.expect("the store announces changes");
    let mut theirs = OtherProcess::start(&folder);
    let one: &RunId = &"one".parse().expect("the text is a run id");
    let entry = |wanted: u64| {
        move |change: &Change| *change == Change::Entry { run: one.clone(), seq: Seq(wanted) }
    };
    theirs.does("create");
    announced(&mut changes, "a new run", entry(1)).await;
    theirs.does("write");
    announced(&mut changes, "an entry", entry(2)).await;
    theirs.does("send");
    let message = |change: &Change| *change == Change::Message { run: one.clone() };
    announced(&mut changes, "a message", message).await;
    theirs.does("release");
    theirs.does("remove");
    announced(&mut changes, "a removal", |change| *change == Change::Lagged).await;
    assert!(names(&ours).is_empty());
    // Places of removed entries may be used again, and are announced like others.
    theirs.does("create");
    announced(&mut changes, "a run after a removal", entry(1)).await;
    theirs.end();
}

//! Reads the store for the model, one piece at a time, so that a newer request never waits for a
//! long one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, mpsc::Sender},
};

use pointsman_kernel::id::Seq;
use pointsman_runtime::{
    driver::Loaded,
    engine::EngineError,
    inspect::Inspector,
    session::Session,
    store::{Change, Changes, Filter, Page, RunId, RunRow, StatusFilter},
    timeline::Timeline,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::UnboundedReceiver,
};

use super::{
    finding::contains,
    items::ItemRow,
    model::{WatchMessage, WatchRequest},
    open_run::{ENTRIES, RunFacts},
    outline::ChartOutline,
    runs::{ListedRun, RunsFilter},
};
use crate::{
    command::answer,
    line::Ink,
    report::{self, Error},
    standing::{RunStanding, status},
};

/// Entries that are folded or searched before the next look at the requests.
const CHUNK: usize = 512;
/// Runs whose standing is found out before the next look at the requests.
const STANDINGS: usize = 8;
/// Standings that are kept.
const KEPT: usize = 20_000;

/// Reads the store, and tells the model.
pub(crate) struct WatchWorker {
    session: Arc<Session>,
    tell: Sender<WatchMessage>,
    standings: BTreeMap<RunId, (Seq, RunStanding)>,
    reader: Option<RunReader>,
    wanted: Wanted,
}

/// What is still to be done; of each kind the newest counts.
#[derive(Default)]
struct Wanted {
    list: Option<(RunsFilter, usize)>,
    open: Option<RunId>,
    facts: bool,
    moment: Option<Seq>,
    pages: BTreeSet<u64>,
    standings: Vec<RunRow>,
}

/// The open run.
struct RunReader {
    run: RunId,
    /// Nothing where this build cannot read its steps.
    inspector: Option<Inspector>,
    search: Option<Search>,
}

struct Search {
    text: String,
    timeline: Timeline,
    done: bool,
}

impl WatchWorker {
    pub(crate) fn new(session: Arc<Session>, tell: Sender<WatchMessage>) -> Self {
        let (standings, wanted) = (BTreeMap::new(), Wanted::default());
        Self { session, tell, standings, reader: None, wanted }
    }

    /// Works until the last request.
    pub(crate) async fn run(mut self, mut requests: UnboundedReceiver<WatchRequest>) {
        let mut changes = match self.session.store().changes().await {
            Ok(changes) => Some(changes),
            Err(error) => {
                self.failed(&Error::Store(error));
                None
            }
        };
        let mut ends = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()]
            .map(|kind| signal(kind).ok());
        loop {
            let works = self.wanted.is_any() || self.searches();
            tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(request) => self.take(request).await,
                    None => return,
                },
                () = ended(&mut ends) => self.say(WatchMessage::Leave),
                change = next(changes.as_mut()) => self.changed(change),
                () = std::future::ready(()), if works => self.work().await,
            }
        }
    }

    /// Does all that was asked for: for tests, which have no loop.
    #[cfg(test)]
    pub(crate) async fn settle(&mut self, requests: Vec<WatchRequest>) {
        for request in requests {
            self.take(request).await;
        }
        while self.wanted.is_any() || self.searches() {
            self.work().await;
        }
    }

    fn say(&self, message: WatchMessage) {
        // Without the model nothing needs it.
        drop(self.tell.send(message));
    }

    fn failed(&self, error: &Error) {
        self.say(WatchMessage::Failed(report::whole(error)));
    }

    fn changed(&mut self, change: Change) {
        let search = self.reader.as_mut().and_then(|reader| {
            let mine = match &change {
                Change::Entry { run, .. } => *run == reader.run,
                Change::Lagged => true,
                _ => false,
            };
            reader.search.as_mut().filter(|_| mine)
        });
        if let Some(search) = search {
            search.done = false;
        }
        self.say(WatchMessage::Changed(change));
    }

    fn searches(&self) -> bool {
        let search = self.reader.as_ref().and_then(|reader| reader.search.as_ref());
        search.is_some_and(|search| !search.done)
    }

    fn reads(&self, run: &RunId) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.run == *run)
            || self.wanted.open.as_ref() == Some(run)
    }

    async fn take(&mut self, request: WatchRequest) {
        match request {
            WatchRequest::List { filter, limit } => self.wanted.list = Some((filter, limit)),
            WatchRequest::Open(run) => {
                let (list, standings) =
                    (self.wanted.list.take(), std::mem::take(&mut self.wanted.standings));
                self.wanted = Wanted { list, standings, open: Some(run), ..Wanted::default() };
            }
            WatchRequest::Facts(run) if self.reads(&run) => self.wanted.facts = true,
            WatchRequest::Page { run, page } if self.reads(&run) => {
                self.wanted.pages.insert(page);
            }
            WatchRequest::Moment { run, seq } if self.reads(&run) => self.wanted.moment = Some(seq),
            WatchRequest::Find { run, text } if self.reads(&run) => self.find(&run, text).await,
            WatchRequest::Answer { run, question, granted, reason } => {
                let (session, tell) = (Arc::clone(&self.session), self.tell.clone());
                let answer = move || {
                    let said = answer::give_one(&session, &run, question.effect, granted, reason);
                    let message = said.map_or_else(
                        |error| WatchMessage::Failed(report::whole(&error)),
                        |text| WatchMessage::Said { ink: Ink::Good, text },
                    );
                    drop(tell.send(message));
                };
                // The process that owns the run may take its time.
                drop(tokio::task::spawn_blocking(answer));
                self.wanted.facts = true;
            }
            // Of a run that was left meanwhile.
            _ => {}
        }
    }

    /// Does one piece of the pending work.
    async fn work(&mut self) {
        let done = if let Some(run) = self.wanted.open.take() {
            self.open(run).await
        } else if std::mem::take(&mut self.wanted.facts) {
            self.facts(None).await
        } else if let Some(seq) = self.wanted.moment {
            self.moment(seq).await
        } else if let Some(page) = self.wanted.pages.first().copied() {
            self.page(page).await
        } else if let Some((filter, limit)) = self.wanted.list.take() {
            self.list(&filter, limit).await
        } else if !self.wanted.standings.is_empty() {
            self.stand().await;
            Ok(())
        } else {
            self.search().await
        };
        if let Err(error) = done {
            self.wanted.moment = None;
            self.wanted.pages.clear();
            if let Some(reader) = &mut self.reader {
                reader.search = None;
            }
            self.failed(&Error::Session(error));
        }
    }

    async fn open(&mut self, run: RunId) -> Result<(), EngineError> {
        let store = Arc::clone(self.session.store());
        let opened = Inspector::open(self.session.agents(), store, &run).await;
        let (inspector, unreadable) = match opened {
            Ok(inspector) => (Some(inspector), None),
            // Its entries can be listed all the same.
            Err(error @ EngineError::Chart { .. }) => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let outline = inspector.as_ref().map(|it| ChartOutline::of(it.program()));
        self.reader = Some(RunReader { run, inspector, search: None });
        self.facts(Some((outline.unwrap_or_default(), unreadable))).await
    }

    /// Reports the status of the open run.
    async fn facts(
        &self,
        opened: Option<(ChartOutline, Option<String>)>,
    ) -> Result<(), EngineError> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let session = Arc::clone(&self.session);
        let row = session.store().run(&reader.run).await?;
        let questions = if row.ended.is_some() {
            Vec::new()
        } else {
            let store = Arc::clone(session.store());
            let now = Timeline::open(session.agents(), store, &row.id, row.seq).await?;
            now.loaded().map(Loaded::questions).unwrap_or_default()
        };
        let facts = blocking(move || {
            let standing = status(&session, &row).text;
            let folder = session.place(&row.id).ok().flatten().and_then(|place| place.dir);
            let answers = session.answers(&row.id).unwrap_or_default();
            RunFacts { row, standing, questions, answers, folder }
        });
        let Some(facts) = facts.await.map(Box::new) else { return Ok(()) };
        let (outline, unreadable) = opened.map_or((None, None), |(it, why)| (Some(it), why));
        self.say(WatchMessage::Facts { facts, outline, unreadable });
        Ok(())
    }

    async fn moment(&mut self, seq: Seq) -> Result<(), EngineError> {
        let Some((run, inspector)) = self.inspector() else {
            self.wanted.moment = None;
            return Ok(());
        };
        if !inspector.approach(seq, CHUNK).await? {
            let at = inspector.seq();
            self.say(WatchMessage::Reading { run, at });
            return Ok(());
        }
        let moment = Box::new(inspector.at(seq).await?);
        self.wanted.moment = None;
        self.say(WatchMessage::Moment { run, moment });
        Ok(())
    }

    async fn page(&mut self, page: u64) -> Result<(), EngineError> {
        let after = Seq(page * ENTRIES);
        let entries = usize::try_from(ENTRIES).unwrap_or(usize::MAX);
        let (run, items) = if let Some((run, inspector)) = self.inspector() {
            if !inspector.approach(after.next(), CHUNK).await? {
                return Ok(());
            }
            (run, inspector.items(after, entries).await?)
        } else {
            let Some(run) = self.reader.as_ref().map(|reader| reader.run.clone()) else {
                self.wanted.pages.clear();
                return Ok(());
            };
            let store = Arc::clone(self.session.store());
            let mut timeline = Timeline::open(self.session.agents(), store, &run, after).await?;
            (run, timeline.next(entries).await?)
        };
        self.wanted.pages.remove(&page);
        let items = items.iter().map(ItemRow::of).collect();
        self.say(WatchMessage::Page { run, page, items });
        Ok(())
    }

    fn inspector(&mut self) -> Option<(RunId, &mut Inspector)> {
        let reader = self.reader.as_mut()?;
        Some((reader.run.clone(), reader.inspector.as_mut()?))
    }

    /// Lists runs: the newest, and all that are open, because those may wait for a person.
    async fn list(&mut self, filter: &RunsFilter, limit: usize) -> Result<(), EngineError> {
        let store = self.session.store();
        let page = Page::first(limit);
        let listed = store.list(&filter.store, &page).await?;
        let (mut runs, damaged, more) = (listed.runs, listed.damaged.len(), listed.next.is_some());
        if more && filter.store.status.is_none() {
            let open = Filter { status: Some(StatusFilter::Open), ..filter.store.clone() };
            let open = store.list(&open, &page).await?.runs;
            let last = runs.last().map(RunRow::cursor);
            runs.extend(open.into_iter().filter(|row| Some(row.cursor()) < last));
        }
        let known = |row: &RunRow| {
            let (seq, standing) = self.standings.get(&row.id)?;
            (*seq == row.seq).then(|| standing.clone())
        };
        let rows = runs.into_iter().map(|row| ListedRun { standing: known(&row), row });
        let rows: Vec<ListedRun> = rows.collect();
        let unknown = rows.iter().filter(|run| run.standing.is_none());
        // Those that may wait for a person first.
        let mut unknown: Vec<RunRow> = unknown.map(|run| run.row.clone()).collect();
        unknown.sort_by_key(|row| row.ended.is_none());
        self.wanted.standings = unknown;
        self.say(WatchMessage::Listed { rows, more, damaged });
        Ok(())
    }

    /// Finds out how some of the listed runs stand.
    async fn stand(&mut self) {
        let count = self.wanted.standings.len();
        let rows = self.wanted.standings.split_off(count.saturating_sub(STANDINGS));
        let session = Arc::clone(&self.session);
        let standings = blocking(move || {
            let stand = |row: RunRow| (status(&session, &row), row);
            rows.into_iter().map(stand).map(|(standing, row)| (row, standing)).collect::<Vec<_>>()
        });
        let standings = standings.await.unwrap_or_default();
        if self.standings.len() > KEPT {
            self.standings.clear();
        }
        for (row, standing) in &standings {
            self.standings.insert(row.id.clone(), (row.seq, standing.clone()));
        }
        self.say(WatchMessage::Standings(standings));
    }

    /// Begins to search the open run from its first entry on, or ends that.
    async fn find(&mut self, run: &RunId, text: String) {
        let (agents, store) = (self.session.agents(), Arc::clone(self.session.store()));
        let search = if text.is_empty() {
            None
        } else {
            match Timeline::open(agents, store, run, Seq(0)).await {
                Ok(timeline) => Some(Search { text, timeline, done: false }),
                Err(error) => return self.failed(&Error::Session(error)),
            }
        };
        if let Some(reader) = &mut self.reader {
            reader.search = search;
        }
    }

    async fn search(&mut self) -> Result<(), EngineError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let Some(search) = &mut reader.search else { return Ok(()) };
        let before = search.timeline.seq();
        let items = search.timeline.next(CHUNK).await?;
        search.done = search.timeline.seq() == before;
        let hits = items.iter().filter(|item| contains(item, &search.text));
        let hits = hits.map(|item| (item.seq, item.index)).collect();
        let (run, text) = (reader.run.clone(), search.text.clone());
        let (read, done) = (search.timeline.seq(), search.done);
        self.say(WatchMessage::Found { run, text, hits, read, done });
        Ok(())
    }
}

impl Wanted {
    fn is_any(&self) -> bool {
        self.list.is_some()
            || self.open.is_some()
            || self.facts
            || self.moment.is_some()
            || !self.pages.is_empty()
            || !self.standings.is_empty()
    }
}

/// Does what blocks.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

async fn next(changes: Option<&mut Changes>) -> Change {
    match changes {
        Some(changes) => changes.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until the system asks the program to end.
async fn ended(ends: &mut [Option<Signal>; 3]) {
    async fn one(signal: &mut Option<Signal>) {
        match signal {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
    let [one_end, two, three] = ends;
    tokio::select! {
        () = one(one_end) => {}
        () = one(two) => {}
        () = one(three) => {}
    }
}

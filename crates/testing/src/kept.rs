//! Exported runs: written into a store as their driver would have, cut short, and written on.

mod talk;

use std::{fs, path::Path};

use futures_util::future::try_join_all;
use pointsman_kernel::{
    StepResult,
    agents::{Agents, Program},
    body::Body,
    effect::Effect,
    erased::AnyRun,
    event::{Event, Pauser},
    id::{At, Digest, Seq},
    journal::Entry,
    run::Core,
};
use pointsman_runtime::{
    driver::{fold_each, listens},
    store::{
        Append, NewRun, Store,
        import::{self, Exported},
    },
};
use serde_json::value::to_raw_value;

/// Entries that are given to a store together.
const TOGETHER: usize = 512;

/// Returns the exported runs of this workspace whose files begin so.
///
/// # Panics
///
/// Panics if one of them cannot be read.
pub fn corpus(begin: &str) -> Vec<Exported> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let files = fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<_> = files.map(|file| file.expect("it can be listed").path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(begin)));
    paths.sort();
    let read = |path| import::read(fs::File::open(path).expect("the file opens"));
    paths.iter().map(|path| read(path).expect("it is an export")).collect()
}

/// Returns a run of at least this many entries: a conversation in which a model reads a file and tells of it in
/// every turn, and which is paused and resumed after every second one. The reason of the Nth pause is `pause N`.
/// Texts have a few hundred bytes.
///
/// # Panics
///
/// Panics if the corpus has no conversation.
pub fn long(agents: &Agents, entries: usize) -> Exported {
    let mut run = WrittenRun::cut(agents, corpus("chat-01").remove(0), |program, core| {
        listens(program, core) && !core.paused
    });
    for pause in 1_usize.. {
        if run.exported.lines.len() >= entries {
            break;
        }
        talk::turn(&mut run, 2 * pause);
        talk::turn(&mut run, 2 * pause + 1);
        run.write(Event::Paused { why: format!("pause {pause}"), by: Some(Pauser::Person) });
        run.write(Event::Resumed);
    }
    let mut exported = run.exported;
    exported.goal = "A very long conversation".into();
    exported
}

/// Writes an exported run into a store, where it is not a fork.
///
/// # Panics
///
/// Panics if its chart is refused, if it cannot be folded, or if the store refuses it.
pub async fn keep(store: &dyn Store, agents: &Agents, exported: &Exported) {
    let program = agents.verify(&exported.source).expect("the chart is accepted");
    let mut appends = Vec::new();
    let folded = fold_each(&program, &exported.run, &exported.lines, |line, run, _| {
        let core = run.core();
        appends.push(Append {
            run: exported.run.clone(),
            seq: Seq(core.next.0 - 1),
            line: line.to_owned().into(),
            state: program.state_name(core.state).into(),
            ended: core.ended,
            wake: core.wake.map(|wake| wake.0),
            snapshot: None,
            prompts: Vec::new(),
            message: None,
        });
    });
    folded.expect("the run can be folded");
    let mut appends = appends.into_iter();
    let new = NewRun {
        agent: exported.agent.clone(),
        chart: exported.chart.clone(),
        source: exported.source.clone(),
        goal: exported.goal.clone(),
        created_ms: exported.created_ms,
        forked: None,
        messages: Vec::new(),
        request: None,
        queue: None,
    };
    let first = appends.next().expect("a run has an entry");
    let lease = store.create(first.into(), new).await.expect("the run is created");
    loop {
        // A store writes entries that come together at once, in their order.
        let part = appends.by_ref().take(TOGETHER).map(|it| store.append(&lease, it.into()));
        let part = part.collect::<Vec<_>>();
        if part.is_empty() {
            break;
        }
        try_join_all(part).await.expect("the entries are written");
    }
}

/// A run that is written on, event by event, without a driver.
pub struct WrittenRun {
    /// The run so far.
    pub exported: Exported,
    program: Program,
    run: Box<dyn AnyRun>,
}

impl WrittenRun {
    /// Takes an exported run up to the last entry after which something is true of it.
    ///
    /// # Panics
    ///
    /// Panics if that is never the case.
    pub fn cut(
        agents: &Agents,
        mut exported: Exported,
        is: impl Fn(&Program, &Core) -> bool,
    ) -> Self {
        let program = agents.verify(&exported.source).expect("the chart is accepted");
        let (mut at, mut found) = (0, None);
        let all = fold_each(&program, &exported.run, &exported.lines, |_, run, _| {
            at += 1;
            found = is(&program, run.core()).then_some(at).or(found);
        });
        all.expect("the run can be folded");
        exported.lines.truncate(found.expect("it is so at some entry"));
        let folded = fold_each(&program, &exported.run, &exported.lines, |_, _, _| {});
        let loaded = folded.expect("the run can be folded");
        exported.link = loaded.link;
        Self { exported, program, run: loaded.run }
    }

    /// Writes an event, 10 ms after the one before, and returns what it led to.
    ///
    /// # Panics
    ///
    /// Panics if the run refuses it.
    pub fn write(&mut self, event: Event<Body>) -> Vec<Effect<Body>> {
        let (seq, at) = (self.run.core().next, At(self.run.core().now.0 + 10));
        let (v, body) = (event.format(), to_raw_value(&event).expect("an event serialises"));
        let stepped = self.run.step(&self.program, seq, at, event).expect("the event is taken");
        assert!(matches!(stepped.result, StepResult::Applied), "entry {}: {stepped:?}", seq.0);
        let (hops, effects, prev) = (stepped.hops, stepped.digest, self.exported.link);
        let line = Entry { v, seq, at, event: &body, hops, effects, prev }.line();
        self.exported.link = Digest::of(line.as_bytes());
        self.exported.lines.push(line);
        stepped.effects
    }
}

impl std::fmt::Debug for WrittenRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WrittenRun").field("exported", &self.exported).finish_non_exhaustive()
    }
}

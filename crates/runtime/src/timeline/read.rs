//! Timelines read from journals.

use std::{fmt, sync::Arc};

use pointsman_kernel::{
    agents::{Agents, Program},
    effect::Hop,
    erased::{AnyRun, AppliedStep},
    id::Seq,
    journal::Entry,
    view::{StepExplanation, explain},
};

use super::{Before, Step, TimelineItem, TimelineKind, project};
use crate::{
    driver::{DriveError, Loaded, cached, unread},
    engine::EngineError,
    entry,
    session::program,
    store::{RunId, Store},
};

/// How a model is called in a journal that is read: another one may have been asked each time.
const MODEL: &str = "the model";

/// Folds the lines of a journal, and returns the items of each. It is strict about every byte.
pub struct Projector {
    program: Arc<Program>,
    run: RunId,
    loaded: Loaded,
}

impl Projector {
    /// Begins before the first line.
    pub fn new(program: Arc<Program>, run: RunId) -> Self {
        let loaded = unread(&program);
        Self { program, run, loaded }
    }

    /// Continues with a run that was folded before.
    pub(crate) const fn after(program: Arc<Program>, run: RunId, loaded: Loaded) -> Self {
        Self { program, run, loaded }
    }

    /// Folds one line, and returns why the step went the way it did, and its items.
    pub fn fold(&mut self, line: &str) -> Result<(StepExplanation, Vec<TimelineItem>), DriveError> {
        self.fold_with(line, |_, _, _| ()).map(|(why, items, ())| (why, items))
    }

    /// The same, with what is made of the run after the step and of all that the step put out.
    pub(crate) fn fold_with<T>(
        &mut self,
        line: &str,
        more: impl FnOnce(&Program, &dyn AnyRun, &AppliedStep) -> T,
    ) -> Result<(StepExplanation, Vec<TimelineItem>, T), DriveError> {
        let before = Before::of(&*self.loaded.run);
        let stepped = self.loaded.fold(&self.program, &self.run, line)?;
        let (why, items) = if let Some(event) = entry::event(line) {
            project(&Step {
                program: &self.program,
                before: &before,
                event: &event,
                run: &*self.loaded.run,
                stepped: &stepped,
                open: &|effect| self.loaded.order(effect),
                model: MODEL,
            })
        } else {
            // Only an event that this build could not fold cannot be read.
            let core = self.loaded.run.core();
            (explain(&self.program, core, "", &stepped), raw(line).into_iter().collect())
        };
        let more = more(&self.program, &*self.loaded.run, &stepped);
        self.loaded.keep(stepped.effects);
        Ok((why, items, more))
    }

    /// Folds one line without making items of it, and returns the transitions that were taken.
    pub(crate) fn skip(&mut self, line: &str) -> Result<Vec<Hop>, DriveError> {
        let stepped = self.loaded.fold(&self.program, &self.run, line)?;
        self.loaded.keep(stepped.effects);
        Ok(stepped.hops)
    }

    /// Folds lines, and returns their items.
    pub fn fold_all(&mut self, lines: &[String]) -> Result<Vec<TimelineItem>, DriveError> {
        let mut items = Vec::new();
        for line in lines {
            items.extend(self.fold(line)?.1);
        }
        Ok(items)
    }

    /// Returns the run after the last line.
    pub const fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Returns its chart, bound to its agent.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the number of the last line; 0 before the first.
    pub fn seq(&self) -> Seq {
        Seq(self.loaded.run.core().next.0.saturating_sub(1))
    }
}

impl fmt::Debug for Projector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut projector = f.debug_struct("Projector");
        projector.field("run", &self.run).field("seq", &self.seq()).finish_non_exhaustive()
    }
}

/// A reader of a run's timeline: it keeps its position, and continues while the run does.
#[derive(Debug)]
pub struct Timeline {
    store: Arc<dyn Store>,
    run: RunId,
    reads: Reads,
}

#[derive(Debug)]
enum Reads {
    /// By the run's agent.
    Whole(Box<Projector>),
    /// Of an agent that is not known here: the entries after this one.
    Raw(Seq),
}

impl Timeline {
    /// Begins after an entry: 0 for all of them. What lies before it is folded from the nearest
    /// snapshot on.
    pub async fn open(
        agents: &Agents,
        store: Arc<dyn Store>,
        run: &RunId,
        after: Seq,
    ) -> Result<Self, EngineError> {
        let row = store.run(run).await?;
        let reads = if agents.decls().iter().any(|decl| decl.name == &*row.agent) {
            let program = Arc::new(program(agents, &*store, run).await?);
            Reads::Whole(Box::new(reached(&*store, program, run, after).await?))
        } else {
            Reads::Raw(after)
        };
        Ok(Self { store, run: run.clone(), reads })
    }

    /// Returns the items of the next entries, at most `entries` of them; none if there are no more
    /// so far.
    pub async fn next(&mut self, entries: usize) -> Result<Vec<TimelineItem>, EngineError> {
        let lines = self.store.page(&self.run, self.seq(), entries).await?;
        match &mut self.reads {
            Reads::Whole(projector) => Ok(projector.fold_all(&lines)?),
            Reads::Raw(after) => {
                after.0 = after.0.saturating_add(lines.len() as u64);
                Ok(lines.iter().filter_map(|line| raw(line)).collect())
            }
        }
    }

    /// Returns the last entry that was read.
    pub fn seq(&self) -> Seq {
        match &self.reads {
            Reads::Whole(projector) => projector.seq(),
            Reads::Raw(after) => *after,
        }
    }

    /// Returns the run's chart, bound to its agent; nothing where the agent is not known here.
    pub fn program(&self) -> Option<&Program> {
        match &self.reads {
            Reads::Whole(projector) => Some(projector.program()),
            Reads::Raw(_) => None,
        }
    }

    /// Returns the run after that entry; nothing where its agent is not known here.
    pub fn loaded(&self) -> Option<&Loaded> {
        match &self.reads {
            Reads::Whole(projector) => Some(projector.loaded()),
            Reads::Raw(_) => None,
        }
    }
}

/// Returns a projector that has folded a journal up to an entry.
async fn reached(
    store: &dyn Store,
    program: Arc<Program>,
    run: &RunId,
    after: Seq,
) -> Result<Projector, EngineError> {
    let mut projector = Projector::new(program, run.clone());
    if let Some((seq, loaded)) = cached(store, &projector.program, run).await?
        && seq <= after
    {
        projector.loaded = loaded;
    }
    let missing = after.0.saturating_sub(projector.seq().0);
    if missing > 0 {
        let lines = store.lines(run, projector.seq()).await?;
        for line in lines.iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
            projector.skip(line)?;
        }
    }
    Ok(projector)
}

/// Describes a line without its agent.
fn raw(line: &str) -> Option<TimelineItem> {
    let entry = Entry::read(line).ok()?;
    let event = entry::event(line)?.name().into();
    let kind = TimelineKind::Raw { event, hops: entry.hops };
    Some(TimelineItem { seq: entry.seq, index: 0, at: entry.at, kind })
}

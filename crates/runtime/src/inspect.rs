//! A run at any of its entries: its state, data, budgets and prompts at that moment, and why the
//! step went the way it did.
//!
//! An [`Inspector`] folds the journal up to the entry. On its way it keeps checkpoints, so that the
//! next moment is near one of them, in a bounded amount of memory.

use std::{collections::BTreeMap, fmt, sync::Arc};

use pointsman_kernel::{
    agents::{Agents, Program},
    chart::CertificateScope,
    effect::{Cause, Hop},
    erased::{AnyRun, AppliedStep},
    id::{EffectId, Seq},
    run::Calls,
    table::DataTable,
    view::{RunView, StepExplanation, explain_hop, view},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use crate::{
    driver::{Derived, DriveError, Loaded, PackedRun, unread},
    engine::EngineError,
    observe::Question,
    session::program,
    store::{RunId, Store, StoreError},
    timeline::{Projector, TimelineItem, shown},
};

/// Entries between two checkpoints at first.
const EVERY: u64 = 1_024;
/// Bytes that all checkpoints take together.
const ROOM: usize = 32 << 20;
/// Entries that are read from the store at once.
const PAGE: usize = 512;

/// A run as it was right after one of its entries.
#[derive(Clone, Debug, Serialize)]
pub struct RunMoment {
    /// The entry.
    pub seq: Seq,
    /// The run: its state, the work in progress, its budgets.
    pub view: RunView,
    /// Why the step went the way it did.
    pub why: StepExplanation,
    /// The entry's items of the timeline.
    pub items: Vec<TimelineItem>,
    /// The questions that were open.
    pub questions: Vec<Question>,
    /// The transitions taken so far, in the order in which each was first taken.
    pub taken: Vec<TakenEdge>,
    /// The calls and visits so far, beside the certificate.
    pub bounds: Vec<BoundView>,
    /// The current stage, such as a phase, where the agent has stages.
    pub stage: Option<String>,
    /// The result so far.
    pub result: Option<String>,
    /// Tables of what the run has found or done so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<DataTable>,
    /// The agent's data.
    pub data: Box<RawValue>,
    /// The prompts of the model calls that the step started.
    pub prompts: Vec<RenderedPrompt>,
}

/// A transition, and how often it was taken.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TakenEdge {
    /// The state that was left; none for the start of the run.
    pub from: Option<Box<str>>,
    /// The state that was entered; none where the run ended where it was.
    pub to: Option<Box<str>>,
    /// The outcome, where one of the state's outcomes led there.
    pub outcome: Option<Box<str>>,
    /// Why: the outcome again, or a budget, or a person who stopped it.
    pub because: String,
    /// How often.
    pub count: u64,
}

/// What was used of a bound that the certificate proves.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct BoundView {
    /// `steps`, `model_calls` or `tool_calls`.
    pub name: &'static str,
    /// What was used, in the run or in the turn that the certificate holds for.
    pub used: u64,
    /// The bound, and what a person granted beyond it.
    pub max: u64,
}

/// A prompt as the model receives it.
#[derive(Clone, Debug, Serialize)]
pub struct RenderedPrompt {
    /// The effect that asks the model.
    #[serde(serialize_with = "shown")]
    pub effect: EffectId,
    /// Its parts as JSON: the system's message, the messages, the tools with the schema.
    pub parts: Vec<String>,
}

/// Reads a run at any of its entries.
pub struct Inspector {
    store: Arc<dyn Store>,
    run: RunId,
    program: Arc<Program>,
    /// The fold, at the entry that was read last.
    fold: Fold,
    checkpoints: BTreeMap<Seq, Checkpoint>,
    every: u64,
    room: usize,
    ahead: Option<Ahead>,
}

struct Fold {
    projector: Projector,
    taken: Vec<(Hop, u64)>,
}

/// Lines that are being read while those before them are folded.
struct Ahead {
    after: Seq,
    most: usize,
    reading: JoinHandle<Result<Vec<String>, StoreError>>,
}

struct Checkpoint {
    run: PackedRun,
    taken: Vec<(Hop, u64)>,
}

impl Inspector {
    /// Opens a run. Its agent must be one of these.
    pub async fn open(
        agents: &Agents,
        store: Arc<dyn Store>,
        run: &RunId,
    ) -> Result<Self, EngineError> {
        let program = Arc::new(program(agents, &*store, run).await?);
        let fold = Fold::start(&program, run);
        let (run, checkpoints) = (run.clone(), BTreeMap::new());
        Ok(Self { store, run, program, fold, checkpoints, every: EVERY, room: ROOM, ahead: None })
    }

    /// Sets the entries between two checkpoints, and the bytes that all of them may take. Beyond
    /// those, every second one is dropped.
    #[must_use]
    pub const fn with_checkpoints(mut self, every: u64, room: usize) -> Self {
        self.every = if every == 0 { 1 } else { every };
        self.room = room;
        self
    }

    /// Returns the run's chart, bound to its agent.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the run.
    pub const fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the run after the entry that was read last.
    pub const fn loaded(&self) -> &Loaded {
        self.fold.projector.loaded()
    }

    /// Returns the result so far, at the entry that was read last.
    pub fn result(&self) -> Option<String> {
        self.fold.projector.loaded().run.result()
    }

    /// Returns the entry that was read last.
    pub fn seq(&self) -> Seq {
        self.fold.projector.seq()
    }

    /// Returns how many checkpoints there are, and their bytes.
    pub fn checkpoints(&self) -> (usize, usize) {
        (self.checkpoints.len(), self.bytes())
    }

    /// Reads this many entries at most on the way to one, and returns whether the rest is one step:
    /// for callers that show progress, or that may change their mind.
    pub async fn approach(&mut self, seq: Seq, most: usize) -> Result<bool, EngineError> {
        let before = Seq(seq.0.saturating_sub(1));
        self.rewind(before);
        let missing = before.0.saturating_sub(self.seq().0);
        let most = usize::try_from(missing).unwrap_or(usize::MAX).min(most);
        if most > 0 {
            let lines = self.page(most).await?;
            if lines.is_empty() {
                return Err(self.no_such(seq));
            }
            self.read_ahead(before, lines.len());
            for line in &lines {
                self.skip(line)?;
            }
        }
        Ok(self.seq() == before)
    }

    /// Returns this many lines after the entry that was read last; fewer only where there are no more.
    async fn page(&mut self, most: usize) -> Result<Vec<String>, EngineError> {
        if let Some(ahead) = self.ahead.take()
            && (ahead.after, ahead.most) == (self.seq(), most)
            && let Ok(lines) = ahead.reading.await
        {
            return Ok(lines?);
        }
        Ok(self.store.page(&self.run, self.seq(), most).await?)
    }

    /// Begins to read the next lines on the way to an entry, while those in hand are folded.
    fn read_ahead(&mut self, to: Seq, in_hand: usize) {
        let after = Seq(self.seq().0 + in_hand as u64);
        let missing = usize::try_from(to.0.saturating_sub(after.0)).unwrap_or(usize::MAX);
        let most = missing.min(in_hand);
        if most == 0 {
            return;
        }
        let (store, run) = (Arc::clone(&self.store), self.run.clone());
        let reading = tokio::spawn(async move { store.page(&run, after, most).await });
        self.ahead = Some(Ahead { after, most, reading });
    }

    /// Returns the run as it was right after an entry.
    pub async fn at(&mut self, seq: Seq) -> Result<RunMoment, EngineError> {
        if seq.0 == 0 {
            return Err(self.no_such(seq));
        }
        while !self.approach(seq, PAGE).await? {}
        let lines = self.store.page(&self.run, self.seq(), 1).await?;
        let line = lines.first().ok_or_else(|| self.no_such(seq))?;
        let (why, items, (hops, prompts)) =
            self.step(|projector| projector.fold_with(line, prompted))?;
        self.passed(&hops);
        Ok(self.moment(why, items, prompts))
    }

    /// Returns the items of this many entries after one; fewer only where the run has no more.
    pub async fn items(
        &mut self,
        after: Seq,
        entries: usize,
    ) -> Result<Vec<TimelineItem>, EngineError> {
        while !self.approach(after.next(), PAGE).await? {}
        let mut items = Vec::new();
        for line in self.store.page(&self.run, after, entries).await? {
            let (_, told, hops) =
                self.step(|projector| projector.fold_with(&line, |_, _, step| step.hops.clone()))?;
            items.extend(told);
            self.passed(&hops);
        }
        Ok(items)
    }

    /// Goes to the last place before an entry from which it can be reached.
    fn rewind(&mut self, before: Seq) {
        let here = self.seq();
        let nearest = self.checkpoints.range(..=before).next_back();
        if here <= before && nearest.is_none_or(|(seq, _)| *seq <= here) {
            return;
        }
        self.fold = nearest
            .and_then(|(_, checkpoint)| {
                // A checkpoint that cannot be read counts as none.
                let loaded = checkpoint.run.unpack(&self.program).ok()?;
                let (program, run) = (Arc::clone(&self.program), self.run.clone());
                let projector = Projector::after(program, run, loaded);
                Some(Fold { projector, taken: checkpoint.taken.clone() })
            })
            .unwrap_or_else(|| Fold::start(&self.program, &self.run));
    }

    fn skip(&mut self, line: &str) -> Result<(), EngineError> {
        let hops = self.step(|projector| projector.skip(line))?;
        self.passed(&hops);
        Ok(())
    }

    /// Takes one step. A line that cannot be folded may have left the run between two entries, so
    /// that the next attempt begins anew.
    fn step<T>(
        &mut self,
        step: impl FnOnce(&mut Projector) -> Result<T, DriveError>,
    ) -> Result<T, EngineError> {
        let stepped = step(&mut self.fold.projector);
        if stepped.is_err() {
            self.fold = Fold::start(&self.program, &self.run);
        }
        Ok(stepped?)
    }

    /// Counts transitions, and keeps a checkpoint where one is due.
    fn passed(&mut self, hops: &[Hop]) {
        for hop in hops {
            match self.fold.taken.iter_mut().find(|(taken, _)| taken == hop) {
                Some((_, count)) => *count += 1,
                None => self.fold.taken.push((*hop, 1)),
            }
        }
        let seq = self.seq();
        if !seq.0.is_multiple_of(self.every) || self.checkpoints.contains_key(&seq) {
            return;
        }
        // Without a checkpoint the way is longer, and leads to the same.
        let Ok(run) = PackedRun::of(self.fold.projector.loaded()) else { return };
        let taken = self.fold.taken.clone();
        self.checkpoints.insert(seq, Checkpoint { run, taken });
        while self.bytes() > self.room && !self.checkpoints.is_empty() {
            self.every = self.every.saturating_mul(2);
            let every = self.every;
            self.checkpoints.retain(|seq, _| seq.0.is_multiple_of(every));
        }
    }

    fn bytes(&self) -> usize {
        let taken = |kept: &Checkpoint| size_of_val(&*kept.taken);
        self.checkpoints.values().map(|kept| kept.run.bytes() + taken(kept)).sum()
    }

    fn no_such(&self, asked: Seq) -> EngineError {
        let has = usize::try_from(self.seq().0).unwrap_or(usize::MAX);
        EngineError::NoSuchEntry { run: self.run.clone(), has, asked }
    }

    fn moment(
        &self,
        why: StepExplanation,
        items: Vec<TimelineItem>,
        prompts: Vec<RenderedPrompt>,
    ) -> RunMoment {
        let loaded = self.fold.projector.loaded();
        let run = &*loaded.run;
        RunMoment {
            seq: self.seq(),
            view: view(&self.program, run.core()),
            why,
            items,
            questions: loaded.questions(),
            taken: self.fold.taken.iter().map(|(hop, count)| self.taken(hop, *count)).collect(),
            bounds: self.bounds(run),
            stage: run.stage(),
            result: run.result(),
            tables: run.tables(),
            data: data(run).unwrap_or_else(|| RawValue::NULL.to_owned()),
            prompts,
        }
    }

    fn taken(&self, hop: &Hop, count: u64) -> TakenEdge {
        let named = explain_hop(&self.program, hop);
        TakenEdge {
            from: (hop.by != Cause::Began).then_some(named.from),
            to: named.to,
            outcome: matches!(hop.by, Cause::Outcome(_)).then(|| named.because.as_str().into()),
            because: named.because,
            count,
        }
    }

    fn bounds(&self, run: &dyn AnyRun) -> Vec<BoundView> {
        let (core, certificate) = (run.core(), self.program.certificate());
        // Visits are counted for the whole run alone.
        let whole = certificate.per == CertificateScope::Run;
        let steps = BoundView { name: "steps", used: core.visits, max: certificate.steps };
        let calls = |name, calls: &Calls, max: u64| {
            let max = max.saturating_add(calls.granted);
            BoundView { name, used: calls.made, max }
        };
        let calls = [
            calls("model_calls", &core.model_calls, certificate.model_calls),
            calls("tool_calls", &core.tool_calls, certificate.tool_calls),
        ];
        whole.then_some(steps).into_iter().chain(calls).collect()
    }
}

impl Fold {
    fn start(program: &Arc<Program>, run: &RunId) -> Self {
        let projector = Projector::after(Arc::clone(program), run.clone(), unread(program));
        Self { projector, taken: Vec::new() }
    }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut inspector = f.debug_struct("Inspector");
        inspector.field("run", &self.run).field("seq", &self.seq()).finish_non_exhaustive()
    }
}

/// Returns the agent's data.
fn data(run: &dyn AnyRun) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Parts {
        data: Box<RawValue>,
    }
    let snapshot = run.snapshot().ok()?;
    Some(serde_json::from_str::<Parts>(snapshot.get()).ok()?.data)
}

/// Returns the transitions of a step, and the prompts that it led to.
fn prompted(
    program: &Program,
    run: &dyn AnyRun,
    stepped: &AppliedStep,
) -> (Vec<Hop>, Vec<RenderedPrompt>) {
    let prompts = Derived::again(program, run, stepped).prompts.into_iter();
    let prompts = prompts.map(|it| RenderedPrompt { effect: it.effect, parts: it.parts });
    (stepped.hops.clone(), prompts.collect())
}

//! Resuming a run: its journal is replayed, and work in progress is settled.

use std::{collections::BTreeMap, sync::Arc};

use pointsman_kernel::{
    agent::{Order, OrderKind},
    agents::Program,
    body::Body,
    chart::Charge,
    effect::{Effect, EffectKind},
    erased::{AnyRun, AppliedStep},
    event::{Event, Pauser, UnansweredEffect},
    id::{Digest, EffectId, Seq},
    job::AgentDecl,
    run::{Item, ItemStatus},
    shortfall,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    DriveError, Driver, DriverContext,
    work::{StartedOrder, question},
};
use crate::{
    clock::Clock,
    journal::Journal,
    observe::{Question, QuestionKind},
    store::{Lease, RunId, RunRow, Store, StoreError},
};

/// Returns the identity of a build, which distinguishes snapshots: this crate's version, and the
/// agent's revision. An agent without a revision has no snapshots.
fn build(agent: &AgentDecl) -> Option<[&'static str; 2]> {
    (!agent.revision.is_empty()).then_some([env!("CARGO_PKG_VERSION"), agent.revision])
}

/// A run from its journal.
pub struct Loaded {
    /// The run.
    pub run: Box<dyn AnyRun>,
    /// The digest of its last line.
    pub link: Digest,
    /// Orders that an item waits for.
    pub(super) open: BTreeMap<EffectId, EffectKind<Body>>,
}

impl Loaded {
    /// Returns the open questions.
    pub fn questions(&self) -> Vec<Question> {
        questions(&*self.run, |effect| self.order(*effect).cloned())
    }

    /// Returns the effects that an item waits for.
    pub fn open_effects(&self) -> impl Iterator<Item = EffectId> {
        self.open.keys().copied()
    }

    /// Returns an order that an item waits for.
    pub(crate) fn order(&self, effect: EffectId) -> Option<&EffectKind<Body>> {
        self.open.get(&effect)
    }

    /// Applies the next line. [Keep](Self::keep) the step's orders afterwards.
    pub(crate) fn fold(
        &mut self,
        program: &Program,
        id: &RunId,
        line: &str,
    ) -> Result<AppliedStep, DriveError> {
        let diverged = |source| DriveError::Diverged { run: id.clone(), source };
        let (stepped, digest) = self.run.fold(program, self.link, line).map_err(diverged)?;
        self.link = digest;
        Ok(stepped)
    }

    /// Keeps the last step's orders, as far as an item waits for them.
    pub(crate) fn keep(&mut self, ordered: Vec<Effect<Body>>) {
        self.open.extend(ordered.into_iter().map(|effect| (effect.id, effect.order)));
        let items = &self.run.core().items;
        self.open.retain(|effect, _| items.iter().any(|item| waits_for(item, *effect)));
    }
}

/// A run as text, for the process that packed it.
#[derive(Debug)]
pub(crate) struct PackedRun {
    link: Digest,
    body: Box<str>,
}

impl PackedRun {
    /// Packs a run.
    pub(crate) fn of(loaded: &Loaded) -> Result<Self, serde_json::Error> {
        let open: Vec<_> = loaded.open.iter().collect();
        let body = serde_json::to_string(&(loaded.run.snapshot()?, open))?.into();
        Ok(Self { link: loaded.link, body })
    }

    /// Returns the run as it was.
    pub(crate) fn unpack(&self, program: &Program) -> Result<Loaded, serde_json::Error> {
        let (run, open): (Box<RawValue>, Vec<_>) = serde_json::from_str(&self.body)?;
        let open = open.into_iter().collect();
        Ok(Loaded { run: program.load(&run)?, link: self.link, open })
    }

    /// Returns how many bytes it takes.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.len()
    }
}

/// Returns the open questions.
pub(crate) fn questions(
    run: &dyn AnyRun,
    order_of: impl Fn(&EffectId) -> Option<EffectKind<Body>>,
) -> Vec<Question> {
    let asked = run.core().items.iter().filter_map(|item| match item.doing {
        ItemStatus::Asking { effect, expires, call: identity, again } => {
            let EffectKind::AskPerson(call) = order_of(&effect)? else { return None };
            Some(Question { effect, asks: QuestionKind::Call { call, identity, again }, expires })
        }
        ItemStatus::Working { effect, kind: OrderKind::Own, deadline: expires } => {
            let asks = QuestionKind::Plain(question(run, &order_of(&effect)?)?);
            Some(Question { effect, asks, expires })
        }
        _ => None,
    });
    asked.collect()
}

/// A run and its open orders, as a snapshot holds them.
#[derive(Deserialize, Serialize)]
struct Kept {
    /// The build that made it: another build ignores it.
    build: [Box<str>; 2],
    run: Box<RawValue>,
    open: Vec<(EffectId, EffectKind<Body>)>,
}

impl Kept {
    /// Reads a snapshot that this build has made; one of another counts as none.
    fn read(body: &str, agent: &AgentDecl) -> Option<Self> {
        let kept: Self = serde_json::from_str(body).ok()?;
        kept.build.iter().map(|it| &**it).eq(build(agent)?).then_some(kept)
    }
}

/// Folds a journal, line by line, strict about every byte.
pub fn fold(program: &Program, id: &RunId, lines: &[String]) -> Result<Loaded, DriveError> {
    fold_each(program, id, lines, |_, _, _| {})
}

/// Replays a journal and shows each step: its line, the run after it, and the step's output.
pub fn fold_each(
    program: &Program,
    id: &RunId,
    lines: &[String],
    each: impl FnMut(&str, &dyn AnyRun, &AppliedStep),
) -> Result<Loaded, DriveError> {
    go_on(program, id, unread(program), lines, each)
}

/// Returns a run of whose journal nothing was read.
pub(crate) fn unread(program: &Program) -> Loaded {
    Loaded { run: program.start(), link: Digest::default(), open: BTreeMap::new() }
}

/// Replays further lines, and shows each step.
fn go_on(
    program: &Program,
    id: &RunId,
    mut loaded: Loaded,
    lines: &[String],
    mut each: impl FnMut(&str, &dyn AnyRun, &AppliedStep),
) -> Result<Loaded, DriveError> {
    for line in lines {
        let stepped = loaded.fold(program, id, line)?;
        each(line, &*loaded.run, &stepped);
        loaded.keep(stepped.effects);
    }
    Ok(loaded)
}

/// A run that was read, and is not driven yet.
pub(crate) struct ReadRun {
    created_ms: u64,
    /// Whether it is a fork without an entry of its own.
    is_new_fork: bool,
    loaded: Loaded,
}

/// Returns whether an item waits for this effect.
pub(crate) fn waits_for(item: &Item, waited: EffectId) -> bool {
    match item.doing {
        ItemStatus::Working { effect, .. } | ItemStatus::Asking { effect, .. } => effect == waited,
        _ => false,
    }
}

impl Driver {
    /// Resumes a run where its journal ends.
    ///
    /// Work that was started but not answered is ambiguous. The kernel decides by each tool's
    /// declaration, and repeats nothing silently.
    ///
    /// Repeated calls cost again. If the budget is used up, resuming fails and the run is
    /// unchanged: a person must [grant](Self::resume_granting) more.
    pub async fn resume(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        Self::resume_granting(context, program, lease, &[]).await
    }

    /// Resumes a run with additional budget.
    pub async fn resume_granting(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        grants: &[(Charge, u64)],
    ) -> Result<Self, DriveError> {
        let mut driver = Self::open_to_grant(context, program, lease, grants).await?;
        driver.recover().await?;
        Ok(driver)
    }

    /// Opens a run without an owner, only to grant it additional budget. Work in progress is left to
    /// the process that resumes the run.
    pub(crate) async fn open_to_grant(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        grants: &[(Charge, u64)],
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        for (charge, amount) in grants {
            let event = Event::Granted { charge: *charge, amount: *amount };
            let granted = driver.apply(event, None).await?;
            let run = || driver.id.clone();
            granted.map_err(|source| DriveError::NotGranted { run: run(), source })?;
        }
        Ok(driver)
    }

    /// Opens a run without an owner, only to end it or its turn. Work in progress is not repeated,
    /// and the time until now is not charged.
    pub(crate) async fn open_to_end(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        driver.leave_in_progress().await?;
        Ok(driver)
    }

    /// Records that the run had no owner, and leaves work in progress as it is.
    async fn leave_in_progress(&mut self) -> Result<(), DriveError> {
        if self.run.core().ended.is_none() && self.works() {
            self.give(Event::Interrupted { under_way: Vec::new(), counted: false }).await?;
        }
        Ok(())
    }

    /// The same for a front end that joins, which first learns what the run waits for. `heard`
    /// says that no message is queued.
    pub(crate) async fn rejoin(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        heard: bool,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        driver.notify_waiting(heard);
        driver.recover().await?;
        Ok(driver)
    }

    /// Opens a run without an owner, only to pause it. Work in progress is left to the process
    /// that resumes the run, and the time until now is not charged.
    pub(crate) async fn open_to_pause(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        why: &str,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        driver.leave_in_progress().await?;
        driver.give(Event::Paused { why: why.into(), by: Some(Pauser::Person) }).await?;
        Ok(driver)
    }

    /// Reads a run that is to be driven. It fails if this build cannot replay the journal.
    pub(crate) async fn read(
        context: &DriverContext,
        program: &Program,
        run: &RunId,
    ) -> Result<ReadRun, DriveError> {
        let RunRow { created_ms, forked, seq, .. } = context.store.run(run).await?;
        let is_new_fork = forked.is_some_and(|(_, shared)| shared == seq);
        Ok(ReadRun { created_ms, is_new_fork, loaded: load(context, program, run).await? })
    }

    /// Resumes a run that was read under its lease.
    pub(crate) async fn resume_read(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        read: ReadRun,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen_read(context, program, lease, read).await?;
        driver.recover().await?;
        Ok(driver)
    }

    async fn reopen(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        let read = Self::read(&context, &program, lease.run()).await?;
        Self::reopen_read(context, program, lease, read).await
    }

    async fn reopen_read(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        read: ReadRun,
    ) -> Result<Self, DriveError> {
        let id = lease.run().clone();
        let ReadRun { created_ms, is_new_fork, loaded } = read;
        let clock = Clock::new(created_ms, loaded.run.core().now, lease.ahead_ms());
        let journal = Journal::of(Arc::clone(&context.store), program.agent().name, lease);
        let mut driver = Self::around(id, program, loaded, context, journal, clock);
        for question in driver.questions() {
            driver.decline(&question);
        }
        // Another process may have paused or resumed it since this host last drove it.
        driver.context.executor.paused(&driver.id, driver.run.core().paused);
        // Its own first entry drops rules that were allowed before.
        if is_new_fork {
            driver.give(Event::Forked).await?;
        }
        Ok(driver)
    }

    /// Reports work in progress to the kernel, and repeats what the kernel still considers in
    /// progress. A question is not such work: it is still open, and its clock kept running.
    async fn recover(&mut self) -> Result<(), DriveError> {
        if self.run.core().ended.is_some() || !self.works() {
            return Ok(());
        }
        let under_way: Vec<UnansweredEffect> = self
            .open
            .iter()
            .filter_map(|(effect, working)| {
                let EffectKind::Start(order) = &working.order else { return None };
                if question(&*self.run, &working.order).is_some() {
                    return None;
                }
                let call = match order {
                    Order::Tool(call) => Some(call.clone()),
                    _ => None,
                };
                Some(UnansweredEffect { effect: *effect, call })
            })
            .collect();
        if let Some(short) = shortfall(&self.program, self.run.core(), &under_way) {
            return Err(DriveError::Short { run: self.id.clone(), short });
        }
        let again: Vec<EffectId> = under_way.iter().map(|it| it.effect).collect();
        let event = Event::Interrupted { under_way, counted: true };
        let (_, permits) = self
            .commit(event, None, &again)
            .await?
            .map_err(|source| DriveError::NotResumed { run: self.id.clone(), source })?;
        for permit in permits {
            let Some(working) = self.open.get(&permit.effect) else { continue };
            let EffectKind::Start(order) = working.order.clone() else { continue };
            let prompt = match &order {
                Order::Model(call) => Some(self.run.prompt(&self.program, call)),
                _ => None,
            };
            self.work(permit, order, prompt);
        }
        Ok(())
    }

    /// Returns the run and its open orders, including those of the current step: a cache.
    pub(super) fn snapshot(&self, orders: &[StartedOrder]) -> Option<Box<str>> {
        let items = &self.run.core().items;
        let held = self.open.iter().map(|(id, working)| (*id, &working.order));
        let new = orders.iter().map(|ordered| (ordered.id, &ordered.order));
        let open = held
            .chain(new)
            .filter(|(id, _)| items.iter().any(|item| waits_for(item, *id)))
            .map(|(id, order)| (id, order.clone()));
        let kept = Kept {
            build: build(self.program.agent())?.map(Into::into),
            run: self.run.snapshot().ok()?,
            open: open.collect(),
        };
        serde_json::to_string(&kept).ok().map(Into::into)
    }
}

/// Loads a run from its snapshot and the lines after it, or from all its lines.
async fn load(
    context: &DriverContext,
    program: &Program,
    id: &RunId,
) -> Result<Loaded, DriveError> {
    if let Some((seq, loaded)) = cached(&*context.store, program, id).await? {
        let lines = context.store.lines(id, seq).await?;
        // A snapshot that does not match the journal is ignored.
        if let Ok(loaded) = go_on(program, id, loaded, &lines, |_, _, _| {}) {
            return Ok(loaded);
        }
    }
    fold(program, id, &context.store.lines(id, Seq(0)).await?)
}

/// Returns the run as its newest snapshot has it, with the entry after which that was made.
pub(crate) async fn cached(
    store: &dyn Store,
    program: &Program,
    id: &RunId,
) -> Result<Option<(Seq, Loaded)>, StoreError> {
    let Some(kept) = store.snapshot(id).await? else { return Ok(None) };
    let Some(Kept { run, open, .. }) = Kept::read(&kept.body, program.agent()) else {
        return Ok(None);
    };
    let Ok(run) = program.load(&run) else { return Ok(None) };
    let fits = run.core().next.0 == kept.seq.0.saturating_add(1);
    let loaded = Loaded { run, link: kept.link, open: open.into_iter().collect() };
    Ok(fits.then_some((kept.seq, loaded)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn snapshot_of_another_build_is_ignored() {
        let agent = AgentDecl { revision: "7", ..AgentDecl::NONE };
        let kept = |build: Value, agent: &AgentDecl| {
            let text = json!({ "build": build, "run": {}, "open": [] }).to_string();
            Kept::read(&text, agent).is_some()
        };
        let [version, revision] = build(&agent).expect("it has a revision");
        assert_eq!(revision, "7");
        assert!(kept(json!([version, "7"]), &agent));
        assert!(!kept(json!([version, "8"]), &agent));
        assert!(!kept(json!(["0.0.0", "7"]), &agent));
        // The format before jobs counted.
        assert!(!kept(json!(version), &agent));
        // Without a revision, a changed agent cannot be detected.
        assert!(!kept(json!([version, ""]), &AgentDecl::NONE));
    }
}

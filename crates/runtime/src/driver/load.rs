//! Going on with a run: its journal is folded, and what was under way is settled.

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

/// Returns what decides over a run, by which its snapshots are distinguished from those of
/// another build: this crate's version, and the agent's revision. An agent without a revision
/// has no snapshots.
fn build(agent: &AgentDecl) -> Option<[&'static str; 2]> {
    (!agent.revision.is_empty()).then_some([env!("CARGO_PKG_VERSION"), agent.revision])
}

/// A run as its journal tells it.
pub struct Loaded {
    /// The run.
    pub run: Box<dyn AnyRun>,
    /// The digest of its last line.
    pub link: Digest,
    /// Orders that an item waits for.
    pub(super) open: BTreeMap<EffectId, EffectKind<Body>>,
}

impl Loaded {
    /// Returns what a person must answer.
    pub fn questions(&self) -> Vec<Question> {
        questions(&*self.run, |effect| self.order(*effect).cloned())
    }

    /// Returns an order that an item waits for.
    pub(crate) fn order(&self, effect: EffectId) -> Option<&EffectKind<Body>> {
        self.open.get(&effect)
    }

    /// Folds the next line. What the step ordered is to be [kept](Self::keep).
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

    /// Keeps what the last step ordered, as far as an item waits for it.
    pub(crate) fn keep(&mut self, ordered: Vec<Effect<Body>>) {
        self.open.extend(ordered.into_iter().map(|effect| (effect.id, effect.order)));
        let items = &self.run.core().items;
        self.open.retain(|effect, _| items.iter().any(|item| waits_for(item, *effect)));
    }
}

/// Returns what is asked, given who knows the orders.
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
    /// The build that made it: what another one made of the journal counts for nothing.
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

/// Folds a journal and shows each step: its line, the run after it, and what the step put
/// out.
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

/// Folds the lines that come after those which were folded before, and shows each step.
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

/// Returns whether an item waits for this effect.
pub(crate) fn waits_for(item: &Item, waited: EffectId) -> bool {
    match item.doing {
        ItemStatus::Working { effect, .. } | ItemStatus::Asking { effect, .. } => effect == waited,
        _ => false,
    }
}

impl Driver {
    /// Goes on with a run where its journal ends.
    ///
    /// What was started and not answered is ambiguous. The kernel is told, each tool's
    /// declaration says what to do with it, and nothing is repeated silently.
    ///
    /// Calls that are made again are paid for again. Where nothing is left to pay with, this is
    /// refused and the run stays as it is: somebody must [grant](Self::resume_granting) more.
    pub async fn resume(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        Self::resume_granting(context, program, lease, &[]).await
    }

    /// The same, with more of what is charged than the chart permits.
    pub async fn resume_granting(
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
        driver.recover().await?;
        Ok(driver)
    }

    /// Opens a run that nobody drives, only to end it or its turn. Nothing that was under way
    /// is done again, and the time until now counts for nothing.
    pub(crate) async fn take_up(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        driver.leave_under_way().await?;
        Ok(driver)
    }

    /// Writes down that nobody drove the run, and leaves what was under way as it is.
    async fn leave_under_way(&mut self) -> Result<(), DriveError> {
        if self.run.core().ended.is_none() && self.works() {
            self.give(Event::Interrupted { under_way: Vec::new(), counted: false }).await?;
        }
        Ok(())
    }

    /// The same for somebody who joins, and is told first what the run waits for. `heard`
    /// says that nothing waits to be heard.
    pub(crate) async fn rejoin(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        heard: bool,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        driver.tell_waiting(heard);
        driver.recover().await?;
        Ok(driver)
    }

    /// Opens a run that nobody drives, only to pause it. What was under way is left to
    /// whoever goes on with it, and the time until now counts for nothing.
    pub(crate) async fn lay_aside(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
        why: &str,
    ) -> Result<Self, DriveError> {
        let mut driver = Self::reopen(context, program, lease).await?;
        driver.leave_under_way().await?;
        driver.give(Event::Paused { why: why.into(), by: Some(Pauser::Person) }).await?;
        Ok(driver)
    }

    async fn reopen(
        context: DriverContext,
        program: Arc<Program>,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        let id = lease.run().clone();
        let RunRow { created_ms, forked, seq, .. } = context.store.run(&id).await?;
        let loaded = load(&context, &program, &id).await?;
        let clock = Clock::new(created_ms, loaded.run.core().now);
        let journal = Journal::of(Arc::clone(&context.store), program.agent().name, lease);
        let mut driver = Self::around(id, program, loaded, context, journal, clock);
        for question in driver.questions() {
            driver.decline(&question);
        }
        // Somebody else may have let it go on, or paused it, since this host last heard of it.
        driver.context.executor.paused(&driver.id, driver.run.core().paused);
        // The first entry of its own says that nothing which was allowed before is.
        if forked.is_some_and(|(_, shared)| shared == seq) {
            driver.give(Event::Forked).await?;
        }
        Ok(driver)
    }

    /// Tells the kernel what was under way, and does again what it leaves under way. A
    /// question was not under way: it is still open, and its time has gone on.
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

    /// Returns the run and its open orders, with those of the step at hand: a cache.
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
        // A snapshot that the journal does not go on from is no reason to stop.
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
    fn what_another_build_has_kept_counts_as_none() {
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
        // As it was written before jobs counted.
        assert!(!kept(json!(version), &agent));
        // Nobody says whether an agent without a revision has changed.
        assert!(!kept(json!([version, ""]), &AgentDecl::NONE));
    }
}

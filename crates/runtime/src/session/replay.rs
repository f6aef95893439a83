//! Replaying a run: every line is stepped again, and what is kept beside the lines is compared
//! with what they lead to.

use std::{collections::BTreeMap, fmt};

use pointsman_kernel::{
    agents::{Agents, Program},
    chart::Disposition,
    id::Seq,
};

use super::{RecalledRun, SessionError, cut, program};
use crate::{
    driver::{Derived, fold_each},
    store::{
        EntryColumns, NewPrompt, PromptRow, RunId, RunRecord, RunRow, Store, StoreDamage,
        StoreError,
    },
};

/// A run that was replayed and found to be as it was written.
pub struct ReplayReport {
    /// The run.
    pub recalled: RecalledRun,
    /// Prompts that were rendered again.
    pub prompts: usize,
}

/// Replays a run up to an entry, or to its end. Every byte of its lines is checked, the columns
/// beside them are derived again, and so is every prompt.
pub async fn replay(
    agents: &Agents,
    store: &dyn Store,
    id: &RunId,
    until: Option<Seq>,
) -> Result<ReplayReport, SessionError> {
    let program = program(agents, store, id).await?;
    let RunRecord { row, mut lines, columns, prompts } =
        store.record(id, until.unwrap_or(Seq(u64::MAX))).await?;
    cut(&mut lines, id, until)?;
    let kept = by_entry(prompts.as_deref().unwrap_or_default());
    let (mut seq, mut count) = (Seq(0), 0);
    let (mut wrong, mut unlike, mut last) = (None, None, None);
    let loaded = fold_each(&program, id, &lines, |_, run, stepped| {
        seq = seq.next();
        let derived = Derived::again(&program, run, stepped);
        count += derived.prompts.len();
        let at = usize::try_from(seq.0).unwrap_or(usize::MAX).saturating_sub(1);
        let columns = || compare(columns.get(at)?, &derived);
        wrong = wrong.take().or_else(|| Some((seq, columns()?)));
        let prompts = || rendered(kept.get(&seq).map_or(&[], |it| it), &derived.prompts);
        unlike = unlike.take().or_else(|| Some((seq, prompts()?)));
        last = Some(derived);
    })?;
    let damaged = |(seq, damage)| StoreError::Damaged { run: Some(id.clone()), seq, damage };
    let of_entry = |(seq, damage)| damaged((Some(seq), damage));
    if let Some(wrong) = wrong {
        return Err(of_entry(wrong).into());
    }
    let whole = lines.len() == columns.len();
    if let Some(damage) = last.filter(|_| whole).and_then(|last| of_run(&row, &program, &last)) {
        return Err(damaged((None, damage)).into());
    }
    prompts?;
    if let Some(unlike) = unlike {
        return Err(of_entry(unlike).into());
    }
    Ok(ReplayReport { recalled: RecalledRun { program, lines, loaded }, prompts: count })
}

fn by_entry(prompts: &[PromptRow]) -> BTreeMap<Seq, Vec<&PromptRow>> {
    let mut found: BTreeMap<Seq, Vec<&PromptRow>> = BTreeMap::new();
    for prompt in prompts {
        found.entry(prompt.seq).or_default().push(prompt);
    }
    found
}

/// Returns the first column beside a line that is not what the lines lead to.
fn compare(has: &EntryColumns, derived: &Derived) -> Option<StoreDamage> {
    let ended = derived.ended.map(Disposition::name);
    let prompts = u64::try_from(derived.prompts.len()).unwrap_or(u64::MAX);
    column("entry.state", &has.state, &derived.state)
        .or_else(|| maybe("entry.ended", has.ended.as_deref(), ended))
        .or_else(|| maybe("entry.wake", has.wake, derived.wake))
        .or_else(|| column("entry.prompts", has.prompts, prompts))
        // What has no other trace: the seal itself, or a number that no run has.
        .or_else(|| (!has.intact).then_some(StoreDamage::EntryColumns))
}

/// Returns the first column of a run's row that is not what the lines lead to.
fn of_run(has: &RunRow, program: &Program, derived: &Derived) -> Option<StoreDamage> {
    let ended = derived.ended.map(Disposition::name);
    column("run.agent", &*has.agent, program.agent().name)
        .or_else(|| column("run.chart", &*has.chart, program.name()))
        .or_else(|| column("run.state", &has.state, &derived.state))
        .or_else(|| maybe("run.ended", has.ended.as_deref(), ended))
        .or_else(|| maybe("run.wake", has.wake, derived.wake))
}

fn column<T: fmt::Display + PartialEq>(
    column: &'static str,
    has: T,
    derived: T,
) -> Option<StoreDamage> {
    maybe(column, Some(has), Some(derived))
}

fn maybe<T: fmt::Display + PartialEq>(
    column: &'static str,
    has: Option<T>,
    derived: Option<T>,
) -> Option<StoreDamage> {
    if has == derived {
        return None;
    }
    let [has, derived] = [has, derived]
        .map(|value| value.map_or_else(|| "nothing".into(), |value| format!("`{value}`")));
    Some(StoreDamage::Column { column, has, derived })
}

/// Returns what differs between the prompts that are kept with an entry and those that this
/// build renders.
fn rendered(kept: &[&PromptRow], derived: &[NewPrompt]) -> Option<StoreDamage> {
    if kept.len() != derived.len() {
        return Some(StoreDamage::Prompts);
    }
    kept.iter().zip(derived).find_map(|(kept, derived)| {
        let NewPrompt { effect, parts } = derived;
        if kept.effect != *effect {
            return Some(StoreDamage::Prompts);
        }
        let part = differs(kept, parts)?;
        Some(StoreDamage::Rendered { index: effect.index, part })
    })
}

/// Names the first part that differs: the system's word comes first, then the messages, and
/// at last the tools with the schema.
fn differs(kept: &PromptRow, parts: &[String]) -> Option<String> {
    let (has, renders) = (kept.parts.len(), parts.len());
    let same = kept.parts.iter().zip(parts).take_while(|(one, two)| ***one == ***two).count();
    match same {
        same if same == has && has == renders => None,
        0 => Some("system part".into()),
        same if same.saturating_add(1) == renders => Some("list of tools or the schema".into()),
        same => Some(format!("message {same}")),
    }
}

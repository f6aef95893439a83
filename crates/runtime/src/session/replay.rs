//! Replaying a run: every line is applied again, and the data beside the lines is compared with
//! the result.

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

/// A run that was replayed and matches its journal.
pub struct ReplayReport {
    /// The run.
    pub recalled: RecalledRun,
    /// Prompts that were rendered again.
    pub prompts: usize,
}

/// Replays a run up to an entry, or to its end. Every byte of its lines is checked, and the
/// columns beside them and every prompt are derived again.
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

/// Returns the first column beside a line that differs from the derived one.
fn compare(has: &EntryColumns, derived: &Derived) -> Option<StoreDamage> {
    let ended = derived.ended.map(Disposition::name);
    let prompts = u64::try_from(derived.prompts.len()).unwrap_or(u64::MAX);
    column("entry.state", &has.state, &derived.state)
        .or_else(|| maybe("entry.ended", has.ended.as_deref(), ended))
        .or_else(|| maybe("entry.wake", has.wake, derived.wake))
        .or_else(|| column("entry.prompts", has.prompts, prompts))
        // Damage without another trace: the checksum itself, or a number that no run has.
        .or_else(|| (!has.intact).then_some(StoreDamage::EntryColumns))
}

/// Returns the first column of a run's row that differs from the derived one.
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

/// Returns the difference between the stored prompts of an entry and those that this build
/// renders.
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
    let same = kept.parts.iter().zip(parts).take_while(|(one, two)| is_same(one, two)).count();
    match same {
        same if same == has && has == renders => None,
        0 => Some("the system part".into()),
        same if same.saturating_add(1) == renders => Some("the list of tools or the schema".into()),
        same => Some(format!("message {same}")),
    }
}

/// Compares two parts of prompts, which are JSON. Whether a build writes the keys of an object sorted
/// or as they came depends on its other crates, so their order does not count.
fn is_same(one: &str, two: &str) -> bool {
    let value = |part| serde_json::from_str::<serde_json::Value>(part).ok();
    one == two || value(one).is_some_and(|one| Some(one) == value(two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_another_order_are_the_same_prompt() {
        let part = r#"{"tools":["read"],"schema":{"type":"object","required":["a","b"]}}"#;
        assert!(is_same(
            part,
            r#"{"schema":{"required":["a","b"],"type":"object"},"tools":["read"]}"#
        ));
        for other in [
            r#"{"schema":{"required":["b","a"],"type":"object"},"tools":["read"]}"#,
            r#"{"schema":{"required":["a","b"],"type":"object"},"tools":["write"]}"#,
            r#"{"schema":null,"tools":["read"]}"#,
            "no JSON",
        ] {
            assert!(!is_same(part, other), "{other}");
        }
        assert!(is_same("no JSON", "no JSON") && !is_same("no JSON", "nor this"));
    }
}

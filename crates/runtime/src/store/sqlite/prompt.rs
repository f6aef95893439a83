//! Stored prompts with their parts.

use std::{collections::BTreeMap, sync::Arc};

use pointsman_kernel::id::{Digest, EffectId, Seq};
use rusqlite::{Connection, Row, params};

use super::{
    super::{PromptRow, RunId, RunRow, StoreDamage, StoreError},
    SqliteReader, artifact, chain,
    checksum::{Checksum, PromptCells, entry, signed},
    read,
};

impl SqliteReader {
    /// Returns the prompts of a run, in order.
    pub fn prompts(&self, id: &RunId) -> Result<Vec<PromptRow>, StoreError> {
        self.read(|connection| {
            let row = read::run(connection, id)?;
            prompts(connection, &row, Seq(u64::MAX))
        })
    }
}

/// Reads the prompts that were kept with the entries up to one.
pub(super) fn prompts(
    connection: &Connection,
    row: &RunRow,
    until: Seq,
) -> Result<Vec<PromptRow>, StoreError> {
    let id = &row.id;
    let fail = |source| StoreError::reading(Some(id), source);
    // Each entry knows how many prompts were kept with it, so a lost one is missed.
    let mut wanted: BTreeMap<Seq, i64> = BTreeMap::new();
    chain::back(connection, row, Seq(1), |seq, cells| {
        let prompts = cells.prompts().map_err(fail)?;
        if prompts != 0 && seq <= until {
            wanted.insert(seq, prompts);
        }
        Ok(())
    })?;
    let mut query = connection
        .prepare_cached(
            "SELECT seq, idx, effect_seq, effect_index, parts, seal FROM prompt
             WHERE run = ?1 AND seq <= ?2 ORDER BY seq, idx",
        )
        .map_err(fail)?;
    let mut found = query.query(params![id.as_str(), signed(until.0)]).map_err(fail)?;
    let mut known: BTreeMap<[u8; 32], Arc<str>> = BTreeMap::new();
    let mut prompts = Vec::new();
    while let Some(row) = found.next().map_err(fail)? {
        let seq = row.get(0).map(entry).map_err(fail)?;
        let damaged = |damage| StoreError::damaged(Some(id.clone()), Some(seq), damage);
        let cells = cells(row).map_err(fail)?.ok_or_else(|| damaged(StoreDamage::Prompts))?;
        let left = wanted.get_mut(&seq).ok_or_else(|| damaged(StoreDamage::Prompts))?;
        *left = left.saturating_sub(1);
        let mut parts = Vec::new();
        for digest in cells.parts.as_chunks::<32>().0 {
            if let Some(part) = known.get(digest) {
                parts.push(Arc::clone(part));
                continue;
            }
            let part = artifact::read(connection, &Digest(*digest)).map_err(fail)?;
            let part: Arc<str> =
                part.ok_or_else(|| damaged(StoreDamage::Artifact(Digest(*digest))))?.into();
            known.insert(*digest, Arc::clone(&part));
            parts.push(part);
        }
        let index = u16::try_from(cells.effect_index).map_err(|_| damaged(StoreDamage::Prompts))?;
        let effect = EffectId { seq: entry(cells.effect_seq), index };
        prompts.push(PromptRow { seq, effect, parts });
    }
    match wanted.into_iter().find(|(_, left)| *left != 0) {
        Some((seq, _)) => {
            Err(StoreError::damaged(Some(id.clone()), Some(seq), StoreDamage::Prompts))
        }
        None => Ok(prompts),
    }
}

/// Takes a row if its checksum fits.
fn cells(row: &Row<'_>) -> rusqlite::Result<Option<PromptCells>> {
    let cells = PromptCells {
        idx: row.get(1)?,
        effect_seq: row.get(2)?,
        effect_index: row.get(3)?,
        parts: row.get(4)?,
    };
    let fits = cells.checksum(row.get(0)?) == Checksum(row.get(5)?);
    Ok(fits.then_some(cells))
}

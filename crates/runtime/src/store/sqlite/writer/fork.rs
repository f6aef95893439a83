//! Forking: a new run with the first entries of another.

use pointsman_kernel::id::{Digest, Seq};
use rusqlite::{Connection, params};

use super::{
    super::{
        RunId, RunRow, StoreDamage, StoreError, chain,
        checksum::{Checksum, Fixed, Tip, signed, unsigned},
        list, made,
        manifest::OpenManifest,
        read,
    },
    Refusal,
    apply::{exists, spoilt},
};

/// A fork whose parent was read and found whole.
pub(in super::super) struct Forking {
    parent: RunRow,
    at: Seq,
    child: RunId,
    created_ms: i64,
    /// The digest of the last line that is shared.
    link: Digest,
    state: String,
    ended: Option<String>,
    wake: Option<i64>,
    prompts: i64,
    tip: Checksum,
    /// Where the parent's entries lie, the last that is shared first.
    places: Vec<(Seq, i64)>,
}

impl Forking {
    /// Reads the parent, checks every line of it, and sees how it stood at the entry.
    pub(in super::super) fn new(
        connection: &Connection,
        parent: &RunId,
        at: Seq,
        child: RunId,
        created_ms: u64,
    ) -> Result<Self, StoreError> {
        let row = read::run(connection, parent)?;
        if at == Seq(0) || at > row.seq {
            let (run, has) = (row.id, row.seq);
            return Err(StoreError::NoSuchEntry { run, has, asked: at });
        }
        let lines = read::lines(connection, &row, Seq(0))?;
        let damaged = || StoreError::damaged(Some(parent.clone()), Some(at), StoreDamage::Row);
        let shared = usize::try_from(at.0).ok().and_then(|at| lines.get(at.checked_sub(1)?));
        let link = Digest::of(shared.ok_or_else(damaged)?.as_bytes());
        let mut places = Vec::with_capacity(lines.len());
        chain::back(connection, &row, Seq(1), |seq, cells| {
            if seq <= at {
                let fail = |source| StoreError::sorted(Some(parent), Some(seq), source);
                places.push((seq, cells.place().map_err(fail)?));
            }
            Ok(())
        })?;
        let last = places.first().map(|(_, place)| *place);
        let forking = connection
            .query_row(
                "SELECT state, ended, wake, prompts, tip FROM entry WHERE place = ?1",
                params![last],
                |cells| {
                    Ok(Self {
                        parent: row,
                        at,
                        child,
                        created_ms: signed(created_ms),
                        link,
                        state: cells.get(0)?,
                        ended: cells.get(1)?,
                        wake: cells.get(2)?,
                        prompts: cells.get(3)?,
                        tip: Checksum(cells.get(4)?),
                        places,
                    })
                },
            )
            .map_err(|source| StoreError::sorted(Some(parent), Some(at), source))?;
        let tip = Tip {
            seq: signed(at.0),
            state: &forking.state,
            ended: forking.ended.as_deref(),
            wake: forking.wake,
            prompts: forking.prompts,
            link: &forking.link,
        };
        if tip.checksum() == forking.tip { Ok(forking) } else { Err(damaged()) }
    }

    /// Returns the new run.
    pub(super) const fn child(&self) -> &RunId {
        &self.child
    }

    /// Returns the last entry that it shares.
    pub(super) const fn at(&self) -> Seq {
        self.at
    }

    /// Writes the child's row, its entries and its prompts. Entries and prompts are
    /// sealed without their run's id, so they are copied as they are.
    pub(super) fn write(
        &self,
        connection: &Connection,
        manifest: &mut OpenManifest,
    ) -> Result<(), Refusal> {
        let (child, parent, at) = (&self.child, &self.parent, signed(self.at.0));
        let fixed = Fixed {
            id: child.as_str(),
            agent: &parent.agent,
            chart: &parent.chart,
            source: &parent.source,
            goal: &parent.goal,
            created_ms: self.created_ms,
            parent: Some(parent.id.as_str()),
            parent_seq: Some(at),
        };
        connection
            .prepare_cached(
                "INSERT INTO run (id, agent, chart, source, goal, created_ms, parent, parent_seq,
                 fixed, seq, state, ended, wake, prompts, link, tip)
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?8,?10,?11,?12,?13,?14,?15)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    child.as_str(),
                    &*parent.agent,
                    &*parent.chart,
                    parent.source.0,
                    &*parent.goal,
                    self.created_ms,
                    parent.id.as_str(),
                    at,
                    fixed.checksum().0,
                    self.state,
                    self.ended,
                    self.wake,
                    self.prompts,
                    self.link.0,
                    self.tip.0,
                ])
            })
            .map_err(|source| exists(child, source))?;
        let copy = |statement: &str| {
            connection
                .prepare_cached(statement)
                .and_then(|mut copy| copy.execute(params![parent.id.as_str(), at, child.as_str()]))
                .map_err(|source| spoilt(StoreError::reading(Some(child), source)))
        };
        self.copy_entries(connection)?;
        copy(
            "INSERT INTO prompt (run, seq, idx, effect_seq, effect_index, parts, seal)
             SELECT ?3, seq, idx, effect_seq, effect_index, parts, seal
             FROM prompt WHERE run = ?1 AND seq <= ?2",
        )?;
        copy(
            "INSERT INTO blob (run, digest, seal)
             SELECT ?3, digest, seal FROM blob WHERE run = ?1 AND ?2 > 0",
        )?;
        manifest.manifest(connection).map_err(spoilt)?.add(child);
        let created_ms = unsigned(self.created_ms);
        list::enter(connection, child, made(child, true, created_ms))
            .map_err(|source| spoilt(StoreError::reading(Some(child), source)))
    }

    /// Copies the entries, each to follow the copy before it.
    fn copy_entries(&self, connection: &Connection) -> Result<(), Refusal> {
        let (child, parent) = (self.child.as_str(), &self.parent.id);
        let fail = |source| spoilt(StoreError::reading(Some(&self.child), source));
        let mut copy = connection
            .prepare_cached(
                "INSERT INTO entry
                 (follows, run, seq, state, ended, wake, prompts, tip, line, artifact)
                 SELECT ?4, ?5, seq, state, ended, wake, prompts, tip, line, artifact
                 FROM entry WHERE place = ?1 AND run = ?2 AND seq = ?3",
            )
            .map_err(fail)?;
        let mut last = None;
        for (seq, place) in self.places.iter().rev() {
            let cells = params![place, parent.as_str(), signed(seq.0), last, child];
            if copy.execute(cells).map_err(fail)? != 1 {
                // It was pruned a moment ago.
                return Err(spoilt(StoreError::NoSuchRun { run: parent.clone() }));
            }
            last = Some(connection.last_insert_rowid());
        }
        connection
            .prepare_cached("UPDATE run SET place = ?2 WHERE id = ?1")
            .and_then(|mut update| update.execute(params![child, last]))
            .map(drop)
            .map_err(fail)
    }
}

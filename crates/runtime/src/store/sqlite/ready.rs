//! An entry prepared by its sender: checked, digested and compressed, so that the writer only has
//! to write.

use std::sync::Arc;

use pointsman_kernel::{chart::Disposition, id::Digest};

use super::{
    Append, Link, NewRun, QueueOptions, StoreError,
    artifact::{INLINE, Packed},
    checksum::{Checksum, Fixed, PromptCells, Tip, signed},
    term::Term,
};

/// An entry, ready to be written.
pub(super) struct Ready {
    pub(super) append: Arc<Append>,
    /// The lease under which it is written.
    pub(super) term: Term,
    pub(super) opened: Option<ReadyRun>,
    /// The digest of the line before, as the line has it.
    pub(super) prev: Digest,
    /// The digest of the line.
    pub(super) link: Digest,
    pub(super) ended: Option<&'static str>,
    pub(super) wake: Option<i64>,
    pub(super) tip: Checksum,
    /// Whether the line is one of the artifacts.
    pub(super) packed: bool,
    pub(super) artifacts: Vec<Packed>,
    pub(super) prompts: Vec<PromptCells>,
}

/// The first entry's part.
pub(super) struct ReadyRun {
    pub(super) new_run: NewRun,
    pub(super) source: Digest,
    pub(super) fixed: Checksum,
}

impl Ready {
    pub(super) fn new(
        append: Arc<Append>,
        term: Term,
        new_run: Option<NewRun>,
    ) -> Result<Self, StoreError> {
        let Link { prev, .. } = Link::checked(&append, new_run.is_some())?;
        let mut artifacts = Vec::new();
        let packed = append.line.len() > INLINE;
        let link = if packed {
            let body = Packed::new(append.line.as_bytes());
            let digest = body.digest;
            artifacts.push(body);
            digest
        } else {
            append.line.digest()
        };
        let prompts: Vec<PromptCells> = append
            .prompts
            .iter()
            .enumerate()
            .map(|(idx, kept)| PromptCells::new(idx, kept, &mut artifacts))
            .collect();
        let (ended, wake) = (append.ended.map(Disposition::name), append.wake.map(signed));
        let tip = Tip {
            seq: signed(append.seq.0),
            state: &append.state,
            ended,
            wake,
            prompts: prompts.len().try_into().unwrap_or(i64::MAX),
            link: &link,
        };
        let tip = tip.checksum();
        let opened = new_run.map(|new_run| {
            let source = Packed::new(new_run.source.as_bytes());
            let digest = source.digest;
            artifacts.push(source);
            let (parent, parent_seq) = forked(&new_run);
            let fixed = Fixed {
                id: append.run.as_str(),
                agent: &new_run.agent,
                chart: &new_run.chart,
                source: &digest,
                goal: &new_run.goal,
                created_ms: signed(new_run.created_ms),
                parent,
                parent_seq,
            };
            let fixed = fixed.checksum();
            ReadyRun { new_run, source: digest, fixed }
        });
        Ok(Self { append, term, opened, prev, link, ended, wake, tip, packed, artifacts, prompts })
    }

    /// Returns how it waits for an owner, where it begins a run that is queued.
    pub(super) fn queued(&self) -> Option<(&NewRun, &QueueOptions)> {
        let new_run = &self.opened.as_ref().filter(|_| self.ended.is_none())?.new_run;
        new_run.queue.as_ref().map(|queue| (new_run, queue))
    }

    /// Returns the number of its prompts.
    pub(super) fn prompt_count(&self) -> i64 {
        self.prompts.len().try_into().unwrap_or(i64::MAX)
    }
}

/// Returns the columns that say what a run was forked from.
pub(super) fn forked(new_run: &NewRun) -> (Option<&str>, Option<i64>) {
    match &new_run.forked {
        Some((parent, seq)) => (Some(parent.as_str()), Some(signed(seq.0))),
        None => (None, None),
    }
}

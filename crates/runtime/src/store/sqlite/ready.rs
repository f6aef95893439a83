//! An entry made ready by whoever brings it: checked, digested and compressed, so that
//! the writer has only to write.

use std::sync::Arc;

use pointsman_kernel::{chart::Disposition, id::Digest};

use super::{
    Append, Link, NewRun, QueueOptions, StoreError,
    artifact::{INLINE, Packed},
    seal::{Fixed, PromptCells, Seal, Tip, signed},
    term::Term,
};

/// An entry, ready to be written.
pub(super) struct Ready {
    pub(super) append: Arc<Append>,
    /// The lease under which it is written.
    pub(super) term: Term,
    pub(super) opened: Option<Opened>,
    /// The digest of the line before, as the line has it.
    pub(super) prev: Digest,
    /// The digest of the line.
    pub(super) link: Digest,
    pub(super) ended: Option<&'static str>,
    pub(super) wake: Option<i64>,
    pub(super) tip: Seal,
    /// Whether the line is one of the artifacts.
    pub(super) packed: bool,
    pub(super) artifacts: Vec<Packed>,
    pub(super) prompts: Vec<PromptCells>,
}

/// The first entry's part.
pub(super) struct Opened {
    pub(super) opening: NewRun,
    pub(super) source: Digest,
    pub(super) fixed: Seal,
}

impl Ready {
    pub(super) fn new(
        append: Arc<Append>,
        term: Term,
        opening: Option<NewRun>,
    ) -> Result<Self, StoreError> {
        let Link { prev, .. } = Link::checked(&append, opening.is_some())?;
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
        let tip = tip.seal();
        let opened = opening.map(|opening| {
            let source = Packed::new(opening.source.as_bytes());
            let digest = source.digest;
            artifacts.push(source);
            let (parent, parent_seq) = forked(&opening);
            let fixed = Fixed {
                id: append.run.as_str(),
                agent: &opening.agent,
                chart: &opening.chart,
                source: &digest,
                goal: &opening.goal,
                created_ms: signed(opening.created_ms),
                parent,
                parent_seq,
            };
            let fixed = fixed.seal();
            Opened { opening, source: digest, fixed }
        });
        Ok(Self { append, term, opened, prev, link, ended, wake, tip, packed, artifacts, prompts })
    }

    /// Returns how it waits for an owner, where it begins a run that is queued.
    pub(super) fn queued(&self) -> Option<(&NewRun, &QueueOptions)> {
        let opening = &self.opened.as_ref().filter(|_| self.ended.is_none())?.opening;
        opening.queue.as_ref().map(|queue| (opening, queue))
    }

    /// Returns the number of its prompts.
    pub(super) fn prompt_count(&self) -> i64 {
        self.prompts.len().try_into().unwrap_or(i64::MAX)
    }
}

/// Returns the columns that say what a run was forked from.
pub(super) fn forked(opening: &NewRun) -> (Option<&str>, Option<i64>) {
    match &opening.forked {
        Some((parent, seq)) => (Some(parent.as_str()), Some(signed(seq.0))),
        None => (None, None),
    }
}

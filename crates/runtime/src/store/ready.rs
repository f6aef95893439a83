//! An entry made ready by whoever brings it: checked, digested and compressed, so that
//! the writer has only to write.

use pointsman_kernel::{
    chart::Disposition,
    id::{Digest, Seq},
};
use serde::Deserialize;

use super::{
    Append, Opening, StoreError,
    artifact::{INLINE, Packed},
    seal::{Fixed, PromptCells, Seal, Tip, signed},
};

/// An entry, ready to be written.
pub(super) struct Ready {
    pub(super) append: Append,
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
    pub(super) opening: Opening,
    pub(super) source: Digest,
    pub(super) fixed: Seal,
}

impl Ready {
    pub(super) fn new(append: Append, opening: Option<Opening>) -> Result<Self, StoreError> {
        let unfit = |why: &str| StoreError::Unfit {
            run: append.run.clone(),
            seq: append.seq,
            why: why.into(),
        };
        let Some(Link { seq, prev }) = Link::of(&append.line) else {
            return Err(unfit("its line has no number and no link to the line before"));
        };
        if seq != append.seq {
            return Err(unfit("its line has another number"));
        }
        if opening.is_some() && (seq != Seq(1) || prev != Digest::default()) {
            return Err(unfit("a run begins with entry 1, which follows no other"));
        }
        let mut artifacts = Vec::new();
        let packed = append.line.len() > INLINE;
        let link = if packed {
            let body = Packed::new(&append.line);
            let digest = body.digest;
            artifacts.push(body);
            digest
        } else {
            Digest::of(append.line.as_bytes())
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
            let source = Packed::new(&opening.source);
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
        Ok(Self { append, opened, prev, link, ended, wake, tip, packed, artifacts, prompts })
    }

    /// Returns the number of its prompts.
    pub(super) fn prompt_count(&self) -> i64 {
        self.prompts.len().try_into().unwrap_or(i64::MAX)
    }
}

/// Returns the columns that say what a run was forked from.
pub(super) fn forked(opening: &Opening) -> (Option<&str>, Option<i64>) {
    match &opening.forked {
        Some((parent, seq)) => (Some(parent.as_str()), Some(signed(seq.0))),
        None => (None, None),
    }
}

/// What makes a line a link of a chain.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Link {
    pub(super) seq: Seq,
    pub(super) prev: Digest,
}

impl Link {
    /// Reads it off a line, whatever else the line says.
    pub(super) fn of(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

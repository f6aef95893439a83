//! Checksums: short digests over the columns of a row, so that a changed byte shows.
//!
//! A checksum guards against damage, not against people: who can write the file can also
//! write a checksum.

use pointsman_kernel::id::{Digest, Seq};

use super::{NewPrompt, artifact};

/// The first half of a digest over columns, each with its length before it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Checksum(pub(super) [u8; 16]);

/// Gathers what a checksum covers.
pub(super) struct ChecksumBuilder(Vec<u8>);

impl ChecksumBuilder {
    /// Begins a checksum of one kind, so that no row passes for one of another kind.
    pub(super) fn of(kind: &str) -> Self {
        Self(Vec::with_capacity(256)).text(kind)
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    pub(super) fn number(mut self, number: i64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn maybe_text(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.number(1).text(text),
            None => self.number(0),
        }
    }

    pub(super) fn maybe_number(self, number: Option<i64>) -> Self {
        match number {
            Some(number) => self.number(1).number(number),
            None => self.number(0),
        }
    }

    pub(super) fn checksum(self) -> Checksum {
        let mut checksum = Checksum::default();
        // The digest is longer than the checksum, so every byte of the checksum is set.
        for (to, from) in checksum.0.iter_mut().zip(Digest::of(&self.0).0) {
            *to = from;
        }
        checksum
    }
}

/// The part of a run's row that never changes.
pub(super) struct Fixed<'a> {
    pub(super) id: &'a str,
    pub(super) agent: &'a str,
    pub(super) chart: &'a str,
    pub(super) source: &'a Digest,
    pub(super) goal: &'a str,
    pub(super) created_ms: i64,
    pub(super) parent: Option<&'a str>,
    pub(super) parent_seq: Option<i64>,
}

impl Fixed<'_> {
    pub(super) fn checksum(&self) -> Checksum {
        ChecksumBuilder::of("run")
            .text(self.id)
            .text(self.agent)
            .text(self.chart)
            .bytes(&self.source.0)
            .text(self.goal)
            .number(self.created_ms)
            .maybe_text(self.parent)
            .maybe_number(self.parent_seq)
            .checksum()
    }
}

/// The status of a run after an entry. The entry's row and, while it is the last, the
/// run's row both hold it. The run's id is not part of it, so that a fork can share it.
pub(super) struct Tip<'a> {
    pub(super) seq: i64,
    pub(super) state: &'a str,
    pub(super) ended: Option<&'a str>,
    pub(super) wake: Option<i64>,
    /// How many prompts were kept with the entry.
    pub(super) prompts: i64,
    pub(super) link: &'a Digest,
}

impl Tip<'_> {
    pub(super) fn checksum(&self) -> Checksum {
        ChecksumBuilder::of("tip")
            .number(self.seq)
            .text(self.state)
            .maybe_text(self.ended)
            .maybe_number(self.wake)
            .number(self.prompts)
            .bytes(&self.link.0)
            .checksum()
    }
}

/// Returns the checksum of a snapshot.
pub(super) fn snapshot(run: &str, seq: i64, link: &Digest, body: &str) -> Checksum {
    ChecksumBuilder::of("snapshot").text(run).number(seq).bytes(&link.0).text(body).checksum()
}

/// Returns the checksum of a message.
pub(super) fn message(id: i64, run: &str, body: &str, at_ms: i64) -> Checksum {
    ChecksumBuilder::of("letter").number(id).text(run).text(body).number(at_ms).checksum()
}

/// Returns the checksum of a reference to content. The run's id is not part of it, so that a fork can
/// share it.
pub(super) fn blob(digest: &Digest) -> Checksum {
    ChecksumBuilder::of("blob").bytes(&digest.0).checksum()
}

/// A prompt as its row holds it: the digests of its parts, one after the other.
pub(super) struct PromptCells {
    pub(super) idx: i64,
    pub(super) effect_seq: i64,
    pub(super) effect_index: i64,
    pub(super) parts: Vec<u8>,
}

impl PromptCells {
    /// Returns the row of a prompt, and adds its parts to the artifacts to be kept.
    pub(super) fn new(idx: usize, kept: &NewPrompt, add: &mut Vec<artifact::Packed>) -> Self {
        let mut parts = Vec::with_capacity(kept.parts.len().saturating_mul(32));
        for part in &kept.parts {
            let packed = artifact::Packed::new(part.as_bytes());
            parts.extend_from_slice(&packed.digest.0);
            add.push(packed);
        }
        Self {
            idx: i64::try_from(idx).unwrap_or(i64::MAX),
            effect_seq: signed(kept.effect.seq.0),
            effect_index: i64::from(kept.effect.index),
            parts,
        }
    }

    /// The run's id is not part of it, so that a fork can share it.
    pub(super) fn checksum(&self, seq: i64) -> Checksum {
        ChecksumBuilder::of("prompt")
            .number(seq)
            .number(self.idx)
            .number(self.effect_seq)
            .number(self.effect_index)
            .bytes(&self.parts)
            .checksum()
    }
}

/// SQLite has no unsigned numbers; none of ours comes near the limit.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The way back. What was never written, a negative number, reads as 0: its checksum tells.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns an entry's number.
pub(super) fn entry(number: i64) -> Seq {
    Seq(unsigned(number))
}

//! Checksums over the columns of a row, so that a changed byte shows.
//!
//! They guard against damage, not against people: who can write a row can also write its checksum.

use pointsman_kernel::id::Digest;
use pointsman_runtime::store::RunRow;

/// The first half of a digest over columns, each with its length before it.
pub(super) type Checksum = [u8; 16];

struct Columns(Vec<u8>);

impl Columns {
    /// Begins the checksum of one kind of row, so that no row passes for one of another kind.
    fn of(kind: &str) -> Self {
        Self(Vec::with_capacity(256)).text(kind)
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    fn number(mut self, number: i64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn maybe_text(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.number(1).text(text),
            None => self.number(0),
        }
    }

    fn maybe_number(self, number: Option<i64>) -> Self {
        match number {
            Some(number) => self.number(1).number(number),
            None => self.number(0),
        }
    }

    fn sum(self) -> Checksum {
        let mut sum = Checksum::default();
        // The digest is longer, so every byte is set.
        for (to, from) in sum.iter_mut().zip(Digest::of(&self.0).0) {
            *to = from;
        }
        sum
    }
}

/// The columns of a run that never change and that only its row has.
pub(super) struct Place<'a> {
    pub(super) request: Option<&'a str>,
    pub(super) key: Option<&'a str>,
    pub(super) rank: i64,
    pub(super) needs: &'a str,
}

/// Returns the checksum of what never changes in a run's row.
pub(super) fn fixed(row: &RunRow, place: &Place<'_>) -> Checksum {
    let parent = row.forked.as_ref();
    Columns::of("run")
        .text(row.id.as_str())
        .text(&row.agent)
        .text(&row.chart)
        .bytes(&row.source.0)
        .text(&row.goal)
        .number(signed(row.created_ms))
        .maybe_text(parent.map(|(run, _)| run.as_str()))
        .maybe_number(parent.map(|(_, seq)| signed(seq.0)))
        .maybe_text(place.request)
        .maybe_text(place.key)
        .number(place.rank)
        .text(place.needs)
        .sum()
}

/// The status of a run after an entry. The entry's row and, while it is the last, the run's row
/// both hold it. The run's id is not part of it, so that a fork can share it.
pub(super) struct Tip<'a> {
    pub(super) seq: i64,
    pub(super) state: &'a str,
    pub(super) ended: Option<&'a str>,
    pub(super) wake: Option<i64>,
    /// How many prompts were kept with the entry.
    pub(super) prompts: i64,
    pub(super) link: &'a [u8],
}

impl Tip<'_> {
    pub(super) fn checksum(&self) -> Checksum {
        Columns::of("tip")
            .number(self.seq)
            .text(self.state)
            .maybe_text(self.ended)
            .maybe_number(self.wake)
            .number(self.prompts)
            .bytes(self.link)
            .sum()
    }
}

pub(super) fn snapshot(run: &str, seq: i64, link: &[u8], body: &str) -> Checksum {
    Columns::of("snapshot").text(run).number(seq).bytes(link).text(body).sum()
}

/// The number and the time of a message are the server's, and not part of it.
pub(super) fn message(run: &str, body: &str) -> Checksum {
    Columns::of("message").text(run).text(body).sum()
}

/// The run's id is not part of it, so that a fork can share it.
pub(super) fn prompt(seq: i64, idx: i64, effect: (i64, i64), parts: &[u8]) -> Checksum {
    let (entry, index) = effect;
    Columns::of("prompt").number(seq).number(idx).number(entry).number(index).bytes(parts).sum()
}

/// PostgreSQL has no unsigned numbers; none of ours comes near the limit.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a stored number. A negative one was never written; it reads as 0 and fails its checksum.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

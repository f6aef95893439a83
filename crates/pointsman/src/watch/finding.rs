//! Find: the texts that are searched, and the hits among all items of a run.

use pointsman_kernel::id::Seq;
use pointsman_runtime::timeline::TimelineItem;

use super::{items::ItemRow, view::story};

/// Hits that are kept. Beyond them a search is too wide to be of use.
const MOST: usize = 100_000;

/// A search over all items of a run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FindState {
    /// The text, as it was typed.
    pub(crate) text: String,
    /// The items that contain it.
    pub(crate) hits: Vec<(Seq, u16)>,
    /// The hit that is shown.
    pub(crate) at: Option<usize>,
    /// The last entry that was searched.
    pub(crate) read: Seq,
}

impl FindState {
    /// Adds hits, and returns the one to go to, if none was shown so far: the next one from an
    /// item on, or the first one once nothing is left to search.
    pub(crate) fn add(
        &mut self,
        hits: Vec<(Seq, u16)>,
        read: Seq,
        done: bool,
        from: (Seq, u16),
    ) -> Option<(Seq, u16)> {
        let room = MOST.saturating_sub(self.hits.len());
        self.hits.extend(hits.into_iter().take(room));
        self.read = read;
        if self.at.is_some() || self.hits.is_empty() {
            return None;
        }
        let next = self.hits.iter().position(|hit| *hit >= from);
        self.at = next.or_else(|| done.then_some(0));
        self.hit()
    }

    /// Goes to the next hit, or to the one before, round the end; returns it.
    pub(crate) fn step(&mut self, forward: bool) -> Option<(Seq, u16)> {
        let count = self.hits.len();
        let last = count.checked_sub(1)?;
        self.at = Some(match (self.at, forward) {
            (None, true) => 0,
            (None, false) => last,
            (Some(at), true) if at >= last => 0,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1).unwrap_or(last),
        });
        self.hit()
    }

    fn hit(&self) -> Option<(Seq, u16)> {
        self.hits.get(self.at?).copied()
    }

    /// Returns where it is, for people: `3 of 17`.
    pub(crate) fn place(&self, head: Seq) -> String {
        let count = self.hits.len();
        let at = self.at.map_or(0, |at| at + 1);
        let more = if self.read < head { "+" } else { "" };
        match count {
            0 if more.is_empty() => "not found".into(),
            _ => format!("{at} of {count}{more}"),
        }
    }
}

/// Returns whether an item contains a text, in whatever case: in its row, or in all that is shown
/// of it.
pub(crate) fn contains(item: &TimelineItem, wanted: &str) -> bool {
    let wanted = wanted.to_lowercase();
    let row = ItemRow::of(item).text;
    row.to_lowercase().contains(&wanted)
        || story::texts(&item.kind).iter().any(|text| text.to_lowercase().contains(&wanted))
}

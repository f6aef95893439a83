//! Delta debugging: leaves out what a list of actions does not need, asking step by step.
//!
//! Pure, and one question at a time, so that a device can be asked in between.

use alloc::vec::Vec;

/// A list that is being reduced. Its beginning and end can be fixed.
#[derive(Clone, Debug)]
pub struct Reduction<T> {
    fixed: Vec<T>,
    kept: Vec<T>,
    last: Vec<T>,
    /// How many are left out at once.
    size: usize,
    /// Where the next ones are left out.
    at: usize,
    /// Whether anything was left out since the last time from the start.
    changed: bool,
}

impl<T: Clone> Reduction<T> {
    /// Begins with a list that does what it should. The first `prefix` and the last `suffix`
    /// stay as they are.
    pub fn new(items: &[T], prefix: usize, suffix: usize) -> Self {
        let prefix = prefix.min(items.len());
        let end = items.len().saturating_sub(suffix).max(prefix);
        let part = |from: usize, to: usize| items.get(from..to).unwrap_or_default().to_vec();
        let kept = part(prefix, end);
        let size = kept.len();
        let (fixed, last) = (part(0, prefix), part(end, items.len()));
        Self { fixed, kept, last, size, at: 0, changed: false }
    }

    /// Returns the next list to try; nothing once no single item can be left out.
    pub fn propose(&mut self) -> Option<Vec<T>> {
        while self.size > 0 && self.at >= self.kept.len() {
            self.at = 0;
            if self.size > 1 {
                self.size = self.size.min(self.kept.len()).div_ceil(2);
                self.changed = false;
            } else if !core::mem::take(&mut self.changed) {
                self.size = 0;
            }
            if self.kept.is_empty() {
                self.size = 0;
            }
        }
        (self.size > 0).then(|| self.with(&self.without()))
    }

    /// Takes whether the list that was last returned does what it should.
    pub fn tell(&mut self, holds: bool) {
        if holds {
            self.kept = self.without();
            self.changed = true;
        } else {
            self.at = self.at.saturating_add(self.size);
        }
    }

    /// Returns the shortest list that is known to do what it should.
    pub fn best(&self) -> Vec<T> {
        self.with(&self.kept)
    }

    fn without(&self) -> Vec<T> {
        let end = self.at.saturating_add(self.size);
        let stays = |at: &usize| *at < self.at || *at >= end;
        let kept = self.kept.iter().enumerate().filter(|(at, _)| stays(at));
        kept.map(|(_, item)| item.clone()).collect()
    }

    fn with(&self, kept: &[T]) -> Vec<T> {
        let all = self.fixed.iter().chain(kept).chain(&self.last);
        all.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::Reduction;

    fn reduced(
        items: &[u8],
        (prefix, suffix): (usize, usize),
        mut holds: impl FnMut(&[u8]) -> bool,
    ) -> (Vec<u8>, usize) {
        let mut reduction = Reduction::new(items, prefix, suffix);
        let mut asked = 0;
        while let Some(next) = reduction.propose() {
            asked += 1;
            reduction.tell(holds(&next));
        }
        (reduction.best(), asked)
    }

    /// Whether the needed ones are there, in their order.
    fn has(items: &[u8], needed: &[u8]) -> bool {
        let mut rest = items.iter();
        needed.iter().all(|it| rest.any(|other| other == it))
    }

    proptest! {
        #[test]
        fn reduction_keeps_only_needed_items(
            items in prop::collection::vec(0_u8..6, 0..40),
            wanted in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        ) {
            let mut places: Vec<usize> =
                wanted.iter().filter(|_| !items.is_empty()).map(|it| it.index(items.len())).collect();
            places.sort_unstable();
            places.dedup();
            let needed: Vec<u8> = places.iter().map(|at| items[*at]).collect();
            let (left, asked) = reduced(&items, (0, 0), |next| has(next, &needed));
            prop_assert_eq!(left, needed);
            prop_assert!(asked <= items.len() * items.len() + items.len() + 8);
        }

        #[test]
        fn no_single_item_can_be_left_out_of_the_best(
            items in prop::collection::vec(any::<u8>(), 0..24),
            salt in any::<u64>(),
        ) {
            // Any property that the whole list has, however wild.
            let holds = |next: &[u8]| {
                let sum = next.iter().fold(salt, |sum, it| sum.wrapping_mul(31) ^ u64::from(*it));
                next.len() == items.len() || sum % 3 == 0
            };
            let (left, _) = reduced(&items, (0, 0), holds);
            prop_assert!(holds(&left));
            for at in 0..left.len() {
                let mut less = left.clone();
                less.remove(at);
                prop_assert!(!holds(&less));
            }
        }

        #[test]
        fn beginning_and_end_stay(
            items in prop::collection::vec(any::<u8>(), 0..20),
            prefix in 0_usize..8,
            suffix in 0_usize..4,
        ) {
            let (left, _) = reduced(&items, (prefix, suffix), |_| true);
            let prefix = prefix.min(items.len());
            let end = items.len().saturating_sub(suffix).max(prefix);
            let fixed: Vec<u8> = [&items[..prefix], &items[end..]].concat();
            prop_assert_eq!(left, fixed);
        }
    }
}

//! The model's numbers, as they lie in one file of bytes: a table of weights by trait and
//! kind, a table of what follows what, and a table of shares.

use core::array;

use crate::form::kind::FieldKind;

/// What the file begins with: its name and its format.
const MAGIC: &[u8] = b"fields2\n";
/// Kinds that a file can know.
pub const MOST_KINDS: usize = 64;
/// Entries of the table of shares.
pub const SHARES: usize = 512;

/// Scores of every kind that a model knows.
pub(super) type Scores = [i32; MOST_KINDS];

/// A model that types fields: integers, so that it says the same on every machine.
#[derive(Clone, Copy, Debug)]
pub struct FieldModel<'a> {
    /// The kinds that it knows, by their place in the vocabulary.
    kinds: &'a [u8],
    /// Below this share, in hundredths, a field is left as `none`.
    pub(super) margin: u8,
    /// What speaks for a kind after another; the last row is for the first field.
    follows: &'a [u8],
    /// The share of a kind that is so far behind the best one.
    shares: &'a [u8],
    /// The numbers of the traits, sorted.
    traits: &'a [u8],
    /// For each trait, the kinds that it supports.
    weights: &'a [u8],
}

impl<'a> FieldModel<'a> {
    /// Reads the bytes of a model; nothing if they are none.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (&[count, margin], rest) = rest.split_first_chunk::<2>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let count = usize::from(count);
        if count == 0 || count > MOST_KINDS {
            return None;
        }
        let (kinds, rest) = rest.split_at_checked(count)?;
        let (follows, rest) = rest.split_at_checked(count.checked_add(1)?.checked_mul(count)?)?;
        let (shares, rest) = rest.split_at_checked(SHARES.checked_mul(2)?)?;
        let (traits, weights) = rest.split_at_checked(length.checked_mul(4)?)?;
        let whole = length.checked_mul(count)? == weights.len();
        whole.then_some(Self { kinds, margin, follows, shares, traits, weights })
    }

    /// Returns the bytes of a model. The traits come with their weights, sorted by number.
    pub fn bytes(
        kinds: &[FieldKind],
        margin: u8,
        follows: &[i8],
        shares: &[u16],
        traits: &[(u32, alloc::vec::Vec<i8>)],
    ) -> alloc::vec::Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(u8::try_from(kinds.len()).unwrap_or(u8::MAX));
        bytes.push(margin);
        bytes.extend(u32::try_from(traits.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(kinds.iter().map(|kind| *kind as u8));
        bytes.extend(follows.iter().map(|weight| weight.cast_unsigned()));
        bytes.extend(shares.iter().flat_map(|share| share.to_le_bytes()));
        bytes.extend(traits.iter().flat_map(|(number, _)| number.to_le_bytes()));
        let weights = traits.iter().flat_map(|(_, weights)| weights);
        bytes.extend(weights.map(|weight| weight.cast_unsigned()));
        bytes
    }

    /// Returns how many kinds it knows.
    pub(super) const fn count(&self) -> usize {
        self.kinds.len()
    }

    /// Returns a kind by its place in the model.
    pub(super) fn kind(&self, at: usize) -> FieldKind {
        let place = self.kinds.get(at).copied().unwrap_or_default();
        let mut all = core::iter::once(FieldKind::None).chain(FieldKind::all());
        all.nth(usize::from(place)).unwrap_or_default()
    }

    /// Returns the place of a kind in the model.
    pub(super) fn place(&self, kind: FieldKind) -> Option<usize> {
        self.kinds.iter().position(|place| *place == kind as u8)
    }

    /// Returns the weights of a trait, one for each kind.
    pub(super) fn weights(&self, number: u32) -> Option<&'a [u8]> {
        let (known, _) = self.traits.as_chunks::<4>();
        let at = known.binary_search_by_key(&number, |it| u32::from_le_bytes(*it)).ok()?;
        let from = at.checked_mul(self.count())?;
        self.weights.get(from..from.checked_add(self.count())?)
    }

    /// Adds what a trait speaks for.
    pub(super) fn add(&self, scores: &mut Scores, number: u32) {
        let Some(weights) = self.weights(number) else { return };
        for (score, weight) in scores.iter_mut().zip(weights) {
            *score = score.saturating_add(i32::from(weight.cast_signed()));
        }
    }

    /// Returns what speaks for a kind after another, or as the first of a form.
    pub(super) fn follow(&self, before: Option<usize>, at: usize) -> i32 {
        let row = before.unwrap_or_else(|| self.count());
        let place = row.checked_mul(self.count()).and_then(|row| row.checked_add(at));
        let weight = place.and_then(|place| self.follows.get(place)).copied().unwrap_or_default();
        i32::from(weight.cast_signed())
    }

    /// Turns scores into shares of ten thousand.
    pub(super) fn shares(&self, scores: &Scores) -> [u32; MOST_KINDS] {
        let known = scores.get(..self.count()).unwrap_or_default();
        let most = known.iter().copied().max().unwrap_or_default();
        let (table, _) = self.shares.as_chunks::<2>();
        let raw: [u64; MOST_KINDS] = array::from_fn(|at| {
            let behind = known.get(at).map(|score| most.saturating_sub(*score));
            let entry = behind.and_then(|behind| usize::try_from(behind).ok());
            let entry = entry.and_then(|entry| table.get(entry));
            entry.map_or(0, |entry| u64::from(u16::from_le_bytes(*entry)))
        });
        let sum = raw.iter().sum::<u64>().max(1);
        raw.map(|share| {
            let share = share.saturating_mul(10_000).checked_div(sum).unwrap_or_default();
            u32::try_from(share).unwrap_or_default()
        })
    }
}

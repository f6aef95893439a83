//! Names made of small numbers: states, jobs, budgets, entries, effects, times.
//!
//! Every id is derived from a position, never drawn at random, so that a replay
//! on another machine yields the same ones.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// Returns the position as an index into the slice it belongs to.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A state, by its place in the chart file: the place is also its rank.
    StateId(u16)
}
index! {
    /// A job, by its place in its agent's `JOBS`.
    JobId(u16)
}
index! {
    /// A budget, by its place in the chart file.
    BudgetId(u8)
}
index! {
    /// One way out of a state, by its place among the state's outcomes: the
    /// job's own first, then those the kernel adds.
    Outcome(u8)
}

/// The number of a journal entry: the first is 1, and there are no gaps.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Returns the number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Milliseconds since the run's first entry, as the driver measured them.
///
/// The kernel compares and adds these; it never reads a clock.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(transparent)]
pub struct At(pub u64);

impl At {
    /// Returns the time `ms` milliseconds later.
    #[must_use]
    pub const fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Returns the milliseconds from `earlier` to this time, or 0.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// An effect, named by the entry that asked for it and its place in that step.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct EffectId {
    /// The entry whose step asked for the effect.
    pub seq: Seq,
    /// Index among the effects of that step.
    pub index: u16,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq.0, self.index)
    }
}

/// A BLAKE3 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Gives its digits to a function.
    fn with_hex<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        let digit = |value: u8| value.wrapping_add(if value < 10 { b'0' } else { b'a' - 10 });
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            if let [high, low] = pair {
                (*high, *low) = (digit(byte >> 4), digit(byte & 0xf));
            }
        }
        // Digits are text.
        take(core::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_hex(|text| f.write_str(text))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_hex(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl de::Visitor<'_> for Hex {
            type Value = Digest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 hexadecimal digits")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Digest, E> {
                parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Hex)
    }
}

/// Returns the value of a hexadecimal digit, and a larger one for other bytes. Upper case is refused: a
/// digest has one spelling.
const fn nibble(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte.wrapping_sub(b'0'),
        b'a'..=b'f' => byte.wrapping_sub(b'a').wrapping_add(10),
        _ => u8::MAX,
    }
}

/// Decides nothing for a single digit, which takes half the time: a journal has two digests in each
/// line.
fn parse(text: &str) -> Option<Digest> {
    if text.len() != 64 {
        return None;
    }
    let mut digest = Digest::default();
    let mut seen = 0;
    for (byte, pair) in digest.0.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let &[high, low] = pair else { return None };
        let (high, low) = (nibble(high), nibble(low));
        seen |= high | low;
        *byte = high << 4 | low & 0xf;
    }
    (seen < 16).then_some(digest)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_digest_has_one_spelling() {
        let digest = Digest::of(b"a line");
        let text = format!("{digest}");
        assert_eq!(text, *blake3::Hash::from_bytes(digest.0).to_hex());
        assert_eq!(parse(&text), Some(digest));
        let ff = "f".repeat(64);
        assert_eq!(parse(&ff), Some(Digest([0xff; 32])));
        for at in [0, 31, 63] {
            for wrong in ["F", "g", " ", "/", ":", "`"] {
                let mut text = ff.clone();
                text.replace_range(at..=at, wrong);
                assert_eq!(parse(&text), None, "{text}");
            }
        }
        for wrong in [&ff[1..], &format!("{ff}f"), "", &format!("{}é", &ff[2..])] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}

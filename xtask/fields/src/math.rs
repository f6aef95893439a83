//! The exponential and the logarithm by additions, multiplications and divisions alone.
//! Those are exact to the bit on every machine; a system's own `exp` is not.

const LN_2: f64 = core::f64::consts::LN_2;

/// Returns e to the power of `x`, for `x` from -700 to 700.
pub(crate) fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let halves = (x / LN_2 + 0.5).floor();
    let rest = x - halves * LN_2;
    let mut term = 1.0;
    let mut sum = 1.0;
    for nth in 1..=16_u8 {
        term = term * rest / f64::from(nth);
        sum += term;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is between -1011 and 1011")]
    let power = halves as i32;
    sum * two_to(power)
}

fn two_to(power: i32) -> f64 {
    let bits = u64::try_from(power + 1023).unwrap_or_default();
    f64::from_bits(bits << 52)
}

/// Returns the natural logarithm of a number above 0.
pub(crate) fn ln(x: f64) -> f64 {
    let bits = x.max(f64::MIN_POSITIVE).to_bits();
    let power = i32::try_from(bits >> 52).unwrap_or_default() - 1023;
    let part = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | (1023 << 52));
    let ratio = (part - 1.0) / (part + 1.0);
    let square = ratio * ratio;
    let mut term = ratio;
    let mut sum = 0.0;
    for nth in 0..30_u8 {
        sum += term / (2.0 * f64::from(nth) + 1.0);
        term *= square;
    }
    2.0 * sum + f64::from(power) * LN_2
}

/// Returns a number that looks drawn: the same for the same seed and places.
pub(crate) fn draw(seed: u64, one: usize, other: usize) -> u64 {
    let mix = |state: u64| {
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let wide = |it: usize| u64::try_from(it).unwrap_or_default();
    mix(mix(mix(seed).wrapping_add(wide(one)))
        .wrapping_add(wide(other))
        .wrapping_add(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_and_logarithms_are_right() {
        for x in [-30.0, -2.5, -0.1, 0.0, 0.3, 1.0, 12.0] {
            let known = f64::exp(x);
            assert!((exp(x) / known - 1.0).abs() < 1e-12, "{x}");
            assert!((ln(known) - x).abs() < 1e-9, "{x}");
        }
    }
}

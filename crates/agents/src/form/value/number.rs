//! Numbers: read in the ways of several countries, kept within a field's limits.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::UnfitValue;
use crate::form::field::Field;

/// Reads a number: `1234.5`, `1,234.50`, `1.234,50`, `1 234,5`, `€ 12`, `12 %`.
pub(super) fn read(text: &str) -> Option<f64> {
    let bare = |c: char| c.is_whitespace() || matches!(c, '€' | '$' | '£' | '¥' | '%' | '\u{a0}');
    let plain: String =
        text.trim().trim_matches(bare).chars().filter(|c| !bare(*c) && *c != '\'').collect();
    let allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+');
    if plain.is_empty() || !plain.chars().all(allowed) || !plain.chars().any(|c| c.is_ascii_digit())
    {
        return None;
    }
    let (dot, comma) = (plain.rfind('.'), plain.rfind(','));
    let decimal = match (dot, comma) {
        (Some(dot), Some(comma)) => {
            if dot > comma {
                '.'
            } else {
                ','
            }
        }
        // A lone comma before three digits parts thousands; any other is decimal.
        (None, Some(at)) => {
            let after = plain.len().saturating_sub(at).saturating_sub(1);
            if after == 3 || plain.matches(',').count() > 1 { '.' } else { ',' }
        }
        (Some(_), None) if plain.matches('.').count() > 1 => ',',
        (Some(_) | None, None) => '.',
    };
    let standard: String = plain
        .chars()
        .filter(|c| *c == decimal || !matches!(c, '.' | ','))
        .map(|c| if c == decimal { '.' } else { c })
        .collect();
    standard.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Writes a number as HTML does.
pub(super) fn write(number: f64) -> String {
    let text = format!("{number:.10}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.to_string() }
}

/// Returns the value of a native number field, within its limits.
pub(super) fn fit(field: &Field, raw: &str) -> Result<String, UnfitValue> {
    let number = read(raw).ok_or_else(|| UnfitValue("the field takes a number".into()))?;
    let limit = |text: &Option<String>| text.as_deref().and_then(read);
    let (min, max) = (limit(&field.limits.min), limit(&field.limits.max));
    if let Some(min) = min.filter(|min| number < *min) {
        return Err(UnfitValue(format!("the field takes nothing below {}", write(min))));
    }
    if let Some(max) = max.filter(|max| number > *max) {
        return Err(UnfitValue(format!("the field takes nothing above {}", write(max))));
    }
    let step = match field.limits.step.as_deref() {
        Some("any") => None,
        Some(step) => read(step).filter(|step| *step > 0.0),
        None => Some(1.0),
    };
    if let Some(step) = step {
        let from = min.unwrap_or(0.0);
        let steps = (number - from) / step;
        let off = (steps - libm_round(steps)).abs();
        if off > 1e-6 {
            return Err(UnfitValue(format!("the field takes numbers in steps of {}", write(step))));
        }
    }
    Ok(write(number))
}

/// Rounds half away from zero: `f64::round` needs the standard library.
#[expect(clippy::cast_possible_truncation, reason = "numbers beyond an i64 have no fraction")]
#[expect(clippy::cast_precision_loss, reason = "what was a whole number stays one")]
fn libm_round(number: f64) -> f64 {
    if !(-9e15..=9e15).contains(&number) {
        return number;
    }
    let half = if number < 0.0 { -0.5 } else { 0.5 };
    (number + half) as i64 as f64
}

/// Returns whether two texts are the same number.
pub(super) fn same(left: &str, right: &str) -> bool {
    read(left).zip(read(right)).is_some_and(|(left, right)| (left - right).abs() < 1e-9)
}

/// Reads a range out of a label: `25-34`, `25 to 34`, `under 18`, `65+`, `65 or more`.
pub(super) fn range(label: &str) -> Option<(f64, f64)> {
    let lower = label.to_lowercase().replace(['–', '—'], "-");
    let mut numbers: Vec<f64> = Vec::new();
    let part = |c: char| !(c.is_ascii_digit() || matches!(c, ',' | '.'));
    for piece in lower.split(part).filter(|piece| piece.chars().any(|c| c.is_ascii_digit())) {
        numbers.push(read(piece.trim_matches([',', '.']))?);
    }
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match numbers[..] {
        [low, high] if low <= high => Some((low, high)),
        [low] if says(&["+", "more", "over", "above", "older", "mehr", "plus", "más"]) => {
            Some((low, f64::INFINITY))
        }
        [high] if says(&["under", "below", "less", "younger", "unter", "moins", "menos"]) => {
            // `under 18` does not have 18 in it.
            Some((f64::NEG_INFINITY, high - 1e-9))
        }
        _ => None,
    }
}

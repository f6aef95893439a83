//! How long to wait, as providers put it: in a header, in a field, in a sentence.

use super::json::JsonNode;

/// Reads a `Retry-After` header, or a duration such as `1.5` or `6m0s`, as milliseconds, rounded
/// up. Dates are not supported: this module has no clock.
pub fn retry_after_ms(text: &str) -> Option<u64> {
    let text = text.trim();
    let (waits, rest) = duration(text)?;
    rest.is_empty().then_some(waits)
}

/// Finds a hint in an error's fields or else in its message.
pub(super) fn found(error: JsonNode<'_>, message: &str) -> Option<u64> {
    fields(error).or_else(|| sentence(message))
}

fn fields(error: JsonNode<'_>) -> Option<u64> {
    let delay = |node: JsonNode<'_>| retry_after_ms(&node.text_of("retryDelay")?);
    let hint = error.number_of("retry_after_ms");
    let hint = hint.or_else(|| {
        let seconds = error.field("retry_after")?;
        retry_after_ms(&seconds.text().unwrap_or_else(|| seconds.raw().to_owned()))
    });
    hint.or_else(|| error.items_of("details").into_iter().find_map(delay))
}

fn sentence(message: &str) -> Option<u64> {
    let message = message.to_ascii_lowercase();
    ["try again in ", "retry after ", "retry in "].into_iter().find_map(|words| {
        let (_, rest) = message.split_once(words)?;
        Some(duration(rest)?.0)
    })
}

/// Reads the duration at the start of a text, and returns what follows it.
fn duration(text: &str) -> Option<(u64, &str)> {
    let (mut sum, mut rest) = quantity(text)?;
    while let Some((more, left)) = quantity(rest) {
        sum = sum.saturating_add(more);
        rest = left;
    }
    Some((sum, rest))
}

/// Reads one number with its unit; seconds where there is none.
fn quantity(text: &str) -> Option<(u64, &str)> {
    let (whole, mut rest) = digits(text);
    let mut fraction = "";
    if let Some(decimals) = rest.strip_prefix('.')
        && let (found, left) = digits(decimals)
        && !found.is_empty()
    {
        (fraction, rest) = (found, left);
    }
    let whole: u64 = whole.parse().ok()?;
    let (unit, rest) = unit(rest);
    let mut sum = whole.saturating_mul(unit);
    let mut worth = unit.saturating_mul(1_000_000);
    let mut millionths: u64 = 0;
    for digit in fraction.bytes().take(9) {
        worth /= 10;
        millionths =
            millionths.saturating_add(u64::from(digit.saturating_sub(b'0')).saturating_mul(worth));
    }
    sum = sum.saturating_add(millionths.div_ceil(1_000_000));
    Some((sum, rest))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Reads a unit, in milliseconds. A sentence's full stop is left where it is.
fn unit(text: &str) -> (u64, &str) {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let unit = match word {
        "ms" | "millisecond" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        _ => return (1_000, text),
    };
    (unit, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_rounded_up() {
        let read = [
            ("2", Some(2_000)),
            ("1.834", Some(1_834)),
            ("1.834s", Some(1_834)),
            ("34.074824224s", Some(34_075)),
            ("20ms", Some(20)),
            ("0.4ms", Some(1)),
            ("6m0s", Some(360_000)),
            ("1h2m3.5s", Some(3_723_500)),
            ("10 seconds", Some(10_000)),
            (" 3 ", Some(3_000)),
            ("0", Some(0)),
            ("99999999999999999999", None),
            ("9999999999999999999", Some(u64::MAX)),
            ("", None),
            ("soon", None),
            ("-1", None),
            ("1 fortnight", None),
            ("Fri, 31 Dec 1999 23:59:59 GMT", None),
        ];
        for (text, expected) in read {
            assert_eq!(retry_after_ms(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hints_are_found() {
        let hint = |text: &str, message: &str| {
            found(JsonNode::read(text.as_bytes()).expect("the text is valid JSON"), message)
        };
        let delay = r#"{"details": [{"@type": "x"}, {"retryDelay": "7s"}]}"#;
        assert_eq!(hint(delay, "retry in 9s"), Some(7_000));
        assert_eq!(hint(r#"{"retry_after": 1.5}"#, ""), Some(1_500));
        assert_eq!(hint(r#"{"retry_after_ms": 12}"#, ""), Some(12));
        assert_eq!(hint("{}", "Limit reached. Please try again in 1.2s. Bye."), Some(1_200));
        assert_eq!(hint("{}", "Please retry after 10 seconds."), Some(10_000));
        assert_eq!(hint("{}", "Please try again in a moment."), None);
    }
}

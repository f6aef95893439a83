//! How long a provider asks to wait, as its headers put it: in seconds, as a date, or
//! as the time at which a limit starts afresh.

use std::collections::BTreeMap;

use super::decode::retry_after_ms;

/// Headers of an answer, by name in lower case.
pub type Headers = BTreeMap<String, String>;

/// Finds the wait that an answer asks for in its headers, in milliseconds.
pub fn hint_ms(status: u16, headers: &Headers, now_ms: u64) -> Option<u64> {
    let header = |name: &str| headers.get(name).map(|value| value.trim());
    let exact = header("retry-after-ms").and_then(|value| {
        let whole = value.split_once('.').map_or(value, |(whole, _)| whole);
        whole.parse().ok()
    });
    let asked = exact.or_else(|| {
        let value = header("retry-after")?;
        retry_after_ms(value).or_else(|| Some(date_ms(value)?.saturating_sub(now_ms)))
    });
    // Limits are reported with every answer; they are a reason to wait only with these.
    if asked.is_some() || !matches!(status, 429 | 503 | 529) {
        return asked;
    }
    let used_up = headers.iter().filter(|(name, value)| {
        name.contains("ratelimit") && name.contains("remaining") && value.trim() == "0"
    });
    let resets = used_up.filter_map(|(name, _)| {
        // `x-ratelimit-remaining-tokens` has its reset in `x-ratelimit-reset-tokens`.
        reset(headers.get(&name.replace("remaining", "reset"))?, now_ms)
    });
    resets.max().or_else(|| reset(headers.get("x-ratelimit-reset")?, now_ms))
}

/// Reads a reset: a duration, a date, or the seconds or milliseconds since 1970.
fn reset(value: &str, now_ms: u64) -> Option<u64> {
    let value = value.trim();
    match value.parse::<u64>() {
        Ok(millis) if millis > 100_000_000_000 => Some(millis.saturating_sub(now_ms)),
        Ok(seconds) if seconds > 1_000_000_000 => {
            Some(seconds.saturating_mul(1_000).saturating_sub(now_ms))
        }
        _ => retry_after_ms(value).or_else(|| Some(date_ms(value)?.saturating_sub(now_ms))),
    }
}

/// Reads a date of HTTP (`Sun, 06 Nov 1994 08:49:37 GMT`) or of RFC 3339 in UTC
/// (`1994-11-06T08:49:37Z`), as milliseconds since 1970.
fn date_ms(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let (day, time) = match words.as_slice() {
        [_, day, month, year, time, "GMT"] => {
            let month = (1..).zip(MONTHS).find(|(_, name)| name == month)?.0;
            ((year.parse().ok()?, month, day.parse().ok()?), *time)
        }
        [whole] => {
            let (date, time) = whole.split_once('T')?;
            let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00"))?;
            let parts: Vec<&str> = date.split('-').collect();
            let [year, month, day] = parts.as_slice() else { return None };
            ((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?), time)
        }
        _ => return None,
    };
    let time = time.split_once('.').map_or(time, |(whole, _)| whole);
    let parts: Vec<u64> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    if *hours > 23 || *minutes > 59 || *seconds > 60 {
        return None;
    }
    let seconds = days(day)? * 86_400 + hours * 3_600 + minutes * 60 + seconds;
    Some(seconds * 1_000)
}

/// Returns the days from 1970 to a date of the next few centuries.
fn days((year, month, day): (u64, u64, u64)) -> Option<u64> {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    if !(1970..2500).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let is_leap = leaps(year) > leaps(year - 1);
    let before = BEFORE.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    let leap_days = leaps(year - 1) - leaps(1969) + u64::from(is_leap && month > 2);
    Some((year - 1970) * 365 + leap_days + before + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 784_111_770_000;

    fn hint(status: u16, headers: &[(&str, &str)]) -> Option<u64> {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        hint_ms(status, &headers.collect(), NOW)
    }

    #[test]
    fn dates_are_read() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("2000-02-29T12:00:00Z", Some(951_825_600)),
            ("2024-12-31T23:59:59.5+00:00", Some(1_735_689_599)),
            ("2100-03-01T00:00:00Z", Some(4_107_542_400)),
            ("2000-13-01T00:00:00Z", None),
            ("2000-00-01T00:00:00Z", None),
            ("1960-01-01T00:00:00Z", None),
            ("Sun, 06 Nov 1994 8 GMT", None),
            ("soon", None),
        ] {
            assert_eq!(date_ms(text), seconds.map(|seconds: u64| seconds * 1_000), "{text}");
        }
    }

    #[test]
    fn the_most_exact_hint_counts() {
        assert_eq!(hint(429, &[("retry-after", "2"), ("retry-after-ms", "1500.2")]), Some(1_500));
        assert_eq!(hint(500, &[("retry-after", "2")]), Some(2_000));
        assert_eq!(hint(429, &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(7_000));
        assert_eq!(hint(429, &[("retry-after", "Sun, 06 Nov 1983 08:49:37 GMT")]), Some(0));
        assert_eq!(hint(429, &[("retry-after", "later")]), None);
    }

    #[test]
    fn a_limit_that_is_used_up_says_when_it_starts_afresh() {
        let limits = [
            ("x-ratelimit-remaining-requests", "3"),
            ("x-ratelimit-reset-requests", "1h"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ];
        assert_eq!(hint(429, &limits), Some(360_000));
        assert_eq!(hint(400, &limits), None);
        let dated = [
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "1994-11-06T08:49:40Z"),
        ];
        assert_eq!(hint(429, &dated), Some(10_000));
        assert_eq!(hint(429, &[("x-ratelimit-reset", "784111775000")]), Some(5_000));
        assert_eq!(hint(429, &[("x-ratelimit-reset", "12")]), Some(12_000));
    }
}

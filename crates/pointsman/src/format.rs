//! Numbers and texts as people read them.

use std::io::{self, IsTerminal as _};

use chrono::{Local, TimeZone as _};
use pointsman_kernel::chart::Charge;
pub(crate) use pointsman_runtime::visible::{folded, json, line, prose, visible};

/// Returns rows under their heads. The last column is a text of any length, cut to what a terminal
/// has room for.
pub(crate) fn table<'a, const N: usize>(
    head: [&str; N],
    last: &'a str,
    rows: impl Iterator<Item = ([String; N], &'a str)>,
) -> String {
    let head = (head.map(String::from), last);
    let rows: Vec<([String; N], &str)> = [head].into_iter().chain(rows).collect();
    let mut widths = [0; N];
    for (cells, _) in &rows {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.chars().count().max(*width);
        }
    }
    let before = widths.iter().map(|width| width + 2).sum::<usize>();
    let room = if io::stdout().is_terminal() {
        usize::from(console::Term::stdout().size().1).saturating_sub(before).max(20)
    } else {
        usize::MAX
    };
    let mut text = String::new();
    for (cells, last) in rows {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
        let row = cells.collect::<String>() + &line(last, room);
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Writes a number in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a number with what it counts, which gets an `s` unless it is one.
pub(crate) fn counted(number: u64, what: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{} {what}{many}", grouped(number))
}

/// Writes by how much a limit was raised: `granted 2 more model calls`.
pub(crate) fn granted(charge: Charge, amount: u64) -> String {
    let what = match charge {
        Charge::Time => return format!("granted {} more time", duration(amount)),
        Charge::Money => return format!("granted {} more money", money(amount)),
        Charge::OutsideApp => {
            return format!("granted {} outside the app", counted(amount, "more action"));
        }
        other => other.name().replace('_', " "),
    };
    format!("granted {}", counted(amount, &format!("more {what}")))
}

/// Writes milliseconds in the two largest units that fit.
pub(crate) fn duration(ms: u64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];
    let first = UNITS.iter().position(|(_, unit)| ms >= *unit).unwrap_or(UNITS.len() - 1);
    let mut rest = ms;
    let mut parts = Vec::new();
    for (name, unit) in UNITS.iter().skip(first).take(2) {
        if rest / unit > 0 || parts.is_empty() {
            parts.push(format!("{} {name}", rest / unit));
        }
        rest %= unit;
    }
    parts.join(" ")
}

/// Writes until when something can be answered, and how long that is: `answer by 14:05,
/// 23 h 59 min left`. Times are local; a day is named where it is not the next one.
pub(crate) fn deadline(now_ms: u64, due_ms: u64) -> String {
    let Some(left) = due_ms.checked_sub(now_ms).filter(|left| *left > 0) else {
        return "the deadline has passed".into();
    };
    let at = i64::try_from(due_ms).ok().and_then(|ms| Local.timestamp_millis_opt(ms).single());
    let form = if left > 86_400_000 { "%Y-%m-%d %H:%M" } else { "%H:%M" };
    let at = at.map_or_else(String::new, |at| format!("answer by {}, ", at.format(form)));
    // Milliseconds are useless here.
    let left = if left > 1_000 { left - left % 1_000 } else { left };
    format!("{at}{} left", duration(left))
}

/// Writes milliseconds as on a stopwatch: `0:42`, `1:05:00`.
pub(crate) fn stopwatch(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}")
    }
}

/// Writes how long ago a time was, in its largest unit.
pub(crate) fn age(now_ms: u64, then_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(then_ms) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Writes millionths of a currency unit.
pub(crate) fn money(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    format!("{whole}.{part:0<2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_plainly() {
        assert_eq!((stopwatch(42_000), stopwatch(3_900_000)), ("0:42".into(), "1:05:00".into()));
        assert_eq!((age(5_000, 0), age(7_200_000, 0)), ("5 s".into(), "2 h".into()));
        assert_eq!(
            (money(2_500_000), money(1), money(0)),
            ("2.50".into(), "0.000001".into(), "0.00".into())
        );
        assert_eq!(grouped(1_234_567), "1,234,567");
        let runs = [0, 1, 2].map(|number| counted(number, "run"));
        assert_eq!(runs, ["0 runs", "1 run", "2 runs"]);
    }

    #[test]
    fn deadline_has_time_and_remainder() {
        let now = 1_750_000_000_000;
        let told = deadline(now, now + 86_399_500);
        assert!(told.starts_with("answer by ") && told.ends_with(", 23 h 59 min left"), "{told}");
        assert_eq!(told.len(), "answer by 14:05, 23 h 59 min left".len(), "{told}");
        let told = deadline(now, now + 3 * 86_400_000);
        assert!(told.starts_with("answer by 2025-06-1") && told.ends_with(", 3 d left"), "{told}");
        assert_eq!(deadline(now, now), "the deadline has passed");
    }
}

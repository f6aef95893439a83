//! Days of the calendar as people write them, in milliseconds since 1970.

use toml::value::{Date, Datetime, Offset, Time};

const DAY: i64 = 86_400_000;

/// Returns the moment in milliseconds; for a day, its end. A time without an offset is not a
/// moment, nor is one before 1970.
pub(super) fn moment(moment: &Datetime) -> Option<u64> {
    let midnight = days(moment.date?).checked_mul(DAY)?;
    let ms = match (moment.time, moment.offset) {
        (None, _) => midnight.checked_add(DAY)?,
        (Some(time), Some(offset)) => {
            let minutes = match offset {
                Offset::Z => 0,
                Offset::Custom { minutes } => i64::from(minutes),
            };
            midnight.checked_add(of_day(time))?.checked_sub(minutes.checked_mul(60_000)?)?
        }
        (Some(_), None) => return None,
    };
    u64::try_from(ms).ok()
}

fn of_day(time: Time) -> i64 {
    let seconds = i64::from(time.hour) * 3600 + i64::from(time.minute) * 60;
    (seconds + i64::from(time.second.unwrap_or(0))) * 1000
}

/// Returns the days since 1970. March begins the year, so that the odd day is its last.
fn days(date: Date) -> i64 {
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    let year = i64::from(date.year) - i64::from(month <= 2);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::written;

    #[test]
    fn days_come_and_go() {
        let read = |text: &str| moment(&text.parse().expect("the text is a date"));
        assert_eq!(read("1970-01-01"), Some(86_400_000));
        assert_eq!(read("2026-12-01T00:00:00Z"), Some(1_796_083_200_000));
        assert_eq!(read("2026-12-01T02:30:00+02:30"), Some(1_796_083_200_000));
        assert_eq!(read("2026-12-01T12:00:00"), None);
        assert_eq!(read("12:00:00"), None);
        assert_eq!(read("1969-12-30"), None);
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_799_999, "2000-02-29T23:59:59Z"),
            (1_796_083_200_000, "2026-12-01T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(written(ms), text);
            assert_eq!(read(text), Some(ms / 1000 * 1000));
        }
    }
}

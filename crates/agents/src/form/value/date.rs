//! Days and times: read as people write them, written as a field wants them.

mod style;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{UnfitValue, word};
pub(super) use style::{is_hint, lines};

use crate::form::field::{Field, FieldShape};

/// A day of the calendar.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[expect(clippy::struct_field_names, reason = "a day has a day, as calendars call it")]
pub(crate) struct Day {
    pub(crate) year: u16,
    pub(crate) month: u8,
    pub(crate) day: u8,
}

impl Day {
    pub(crate) fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=last).contains(&day) && year >= 1).then_some(Self { year, month, day })
    }

    /// Reads a day that can be read in one way only: `2001-12-31`, `31.12.2001`,
    /// `31 December 2001`, and `12/31/2001` where one part can be no month.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut ways = Self::ways(text);
        ways.dedup();
        match ways[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Returns every day that a text can mean.
    pub(crate) fn ways(text: &str) -> Vec<Self> {
        let text = text.trim();
        let bare = text.split(['T', ' ']).next().filter(|it| it.len() == 10).unwrap_or(text);
        let numbers: Vec<&str> =
            bare.split(['-', '/', '.', ' ']).filter(|it| !it.is_empty()).collect();
        let mut found = Vec::new();
        if let [first, second, third] = numbers[..]
            && [first, second, third].iter().all(|it| it.chars().all(|c| c.is_ascii_digit()))
        {
            let orders: &[[usize; 3]] = if first.len() == 4 {
                &[[0, 1, 2]]
            } else if bare.contains('.') {
                &[[2, 1, 0]]
            } else {
                &[[2, 1, 0], [2, 0, 1]]
            };
            let parts = [first, second, third];
            for [year, month, day] in orders {
                let part = |at: &usize| parts.get(*at).copied().unwrap_or_default();
                found.extend(numbered(part(year), part(month), part(day)));
            }
            return found;
        }
        found.extend(named(text));
        found
    }

    pub(crate) fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Returns the ISO week that the day is in, as `2001-W01`.
    fn week(self) -> Option<String> {
        let number = self.number();
        // Monday is 0; the week belongs to the year that its Thursday is in.
        let weekday = number.checked_add(5)?.rem_euclid(7);
        let thursday = number.checked_sub(weekday)?.checked_add(3)?;
        let year = [self.year.checked_sub(1)?, self.year, self.year.checked_add(1)?]
            .into_iter()
            .rev()
            .find(|year| Self { year: *year, month: 1, day: 1 }.number() <= thursday)?;
        let first = Self { year, month: 1, day: 1 }.number();
        let week = thursday.checked_sub(first)?.checked_div(7)?.checked_add(1)?;
        Some(format!("{year:04}-W{week:02}"))
    }

    /// Returns the days since the first of January of the year 1, which was a Monday
    /// counted as 2, so that no day is negative.
    fn number(self) -> i64 {
        let before = i64::from(self.year.saturating_sub(1));
        let leaps = before.div_euclid(4).saturating_sub(before.div_euclid(100));
        let leaps = leaps.saturating_add(before.div_euclid(400));
        let mut days = before.saturating_mul(365).saturating_add(leaps);
        for month in 1..self.month {
            let last = (28..=31).rev().find(|day| Self::new(self.year, month, *day).is_some());
            days = days.saturating_add(i64::from(last.unwrap_or(0)));
        }
        days.saturating_add(i64::from(self.day)).saturating_add(1)
    }
}

fn numbered(year: &str, month: &str, day: &str) -> Option<Day> {
    let mut number: u16 = year.parse().ok()?;
    if year.len() <= 2 {
        // Two digits are taken for the last hundred years and the next thirty.
        number = number.saturating_add(if number < 60 { 2000 } else { 1900 });
    }
    Day::new(number, month.parse().ok()?, day.parse().ok()?)
}

/// Reads a day whose month has a name.
fn named(text: &str) -> Option<Day> {
    let parts: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | '-' | '/'))
        .filter(|part| !part.is_empty() && !matches!(*part, "of" | "de" | "del"))
        .collect();
    let [first, second, third] = parts[..] else { return None };
    let number = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic());
        digits.parse::<u16>().ok()
    };
    let (month, day, year) = if let Some(month) = word::month(second) {
        (month, number(first)?, number(third)?)
    } else {
        (word::month(first)?, number(second)?, number(third)?)
    };
    Day::new(year, month, u8::try_from(day).ok()?)
}

/// Returns the value of a native field, as HTML writes it.
pub(super) fn native(field: &Field, raw: &str) -> Result<String, UnfitValue> {
    let unfit = |wants: &str| UnfitValue(format!("the field takes {wants}"));
    let value = if field.shape == FieldShape::Date {
        let day = Day::read(raw).ok_or_else(|| unfit("a date; write it as YYYY-MM-DD"))?;
        day.iso()
    } else if field.shape == FieldShape::Month {
        month_of(raw).ok_or_else(|| unfit("a month; write it as YYYY-MM"))?
    } else if field.shape == FieldShape::Week {
        let written = raw.trim().to_uppercase();
        let week = written.split_once("-W").filter(|(year, week)| {
            year.parse::<u16>().is_ok() && week.parse::<u8>().is_ok_and(|it| (1..=53).contains(&it))
        });
        let week = week.map(|(year, week)| format!("{year}-W{week:0>2}"));
        let week = week.or_else(|| Day::read(raw)?.week());
        week.ok_or_else(|| unfit("a week; write it as YYYY-Www, or a date as YYYY-MM-DD"))?
    } else if field.shape == FieldShape::Time {
        time(raw).ok_or_else(|| unfit("a time; write it as HH:MM"))?
    } else {
        let (day, rest) = raw.trim().split_once(['T', ' ']).unwrap_or((raw, ""));
        let both = Day::read(day).zip(time(rest.trim()));
        let (day, time) = both.ok_or_else(|| unfit("a date and a time, as YYYY-MM-DDTHH:MM"))?;
        format!("{}T{time}", day.iso())
    };
    within(field, &value)?;
    Ok(value)
}

/// These formats sort alphabetically.
fn within(field: &Field, value: &str) -> Result<(), UnfitValue> {
    let (min, max) = (field.limits.min.as_deref(), field.limits.max.as_deref());
    let comparable = |limit: &&str| limit.len() == value.len();
    match (min.filter(comparable), max.filter(comparable)) {
        (Some(min), _) if value < min => {
            Err(UnfitValue(format!("the field takes nothing before {min}")))
        }
        (_, Some(max)) if value > max => {
            Err(UnfitValue(format!("the field takes nothing after {max}")))
        }
        _ => Ok(()),
    }
}

fn month_of(raw: &str) -> Option<String> {
    let raw = raw.trim();
    if let Some(day) = Day::read(raw) {
        return Some(format!("{:04}-{:02}", day.year, day.month));
    }
    let (month, year) = expiry(raw)?;
    Some(format!("{year:04}-{month:02}"))
}

/// Reads a month of a year: `05/27`, `2027-05`, `May 2027`.
pub(crate) fn expiry(raw: &str) -> Option<(u8, u16)> {
    let parts: Vec<&str> =
        raw.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let (month, year) = match parts[..] {
        [year, month] if year.len() == 4 && year.parse::<u16>().is_ok() => (month, year),
        [month, year] => (month, year),
        [both] if both.len() == 4 => both.split_at_checked(2)?,
        _ => return None,
    };
    let month = month.parse::<u8>().ok().or_else(|| word::month(month))?;
    let year: u16 = year.parse().ok()?;
    let year = if year < 100 { year.saturating_add(2000) } else { year };
    (1..=12).contains(&month).then_some((month, year))
}

/// Reads a time of day: `14:05`, `2:05 pm`, `14.05`, `2pm`.
fn time(raw: &str) -> Option<String> {
    let lower = raw.trim().to_lowercase();
    let (rest, noon) =
        if let Some(rest) = lower.strip_suffix("pm").or_else(|| lower.strip_suffix("p.m.")) {
            (rest, Some(12_u8))
        } else if let Some(rest) = lower.strip_suffix("am").or_else(|| lower.strip_suffix("a.m.")) {
            (rest, Some(0))
        } else {
            (lower.as_str(), None)
        };
    let mut parts = rest.trim().split([':', '.', 'h']).map(str::trim);
    let hour: u8 = parts.next()?.parse().ok()?;
    let minute: u8 = match parts.next() {
        None | Some("") if noon.is_some() => 0,
        minute => minute?.parse().ok()?,
    };
    let second: Option<u8> = parts.next().map(str::parse).transpose().ok()?;
    let hour = match noon {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(noon) => hour.wrapping_rem(12).saturating_add(noon),
        None => hour,
    };
    let fine =
        hour < 24 && minute < 60 && second.is_none_or(|it| it < 60) && parts.next().is_none();
    let seconds = second.filter(|it| *it > 0).map(|it| format!(":{it:02}")).unwrap_or_default();
    fine.then(|| format!("{hour:02}:{minute:02}{seconds}"))
}

/// Returns whether two texts mean the same day: one of them is unambiguous, and the other can be
/// read that way. If both are ambiguous, the result is false.
pub(super) fn same(left: &str, right: &str) -> bool {
    let can = |day: Option<Day>, text: &str| day.is_some_and(|day| Day::ways(text).contains(&day));
    can(Day::read(left), right) || can(Day::read(right), left)
}

/// Returns whether two native values are the same time.
pub(super) fn same_native(left: &str, right: &str) -> bool {
    let plain = |text: &str| {
        let text = text.trim().replace(' ', "T");
        let text = text.strip_suffix(".000").unwrap_or(&text);
        if text.len() > 6 {
            text.strip_suffix(":00").filter(|it| it.contains(':')).unwrap_or(text)
        } else {
            text
        }
        .to_string()
    };
    plain(left) == plain(right)
}

//! How fields want days to be written: hints such as `DD/MM/YYYY`, in several languages,
//! and examples.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::Day;
use crate::form::{field::Field, value::word};

/// In which order a day is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Day(usize),
    Month(usize),
    Year(usize),
}

/// How a field wants a day to be written: the parts, and what is between them.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Style {
    parts: [Part; 3],
    between: String,
}

impl Day {
    fn styled(self, style: &Style) -> String {
        let part = |part: &Part| match *part {
            Part::Day(width) => format!("{:0width$}", self.day),
            Part::Month(width) if width > 2 => word::month_name(self.month).to_string(),
            Part::Month(width) => format!("{:0width$}", self.month),
            Part::Year(width) if width <= 2 => format!("{:02}", self.year.wrapping_rem(100)),
            Part::Year(_) => format!("{:04}", self.year),
        };
        style.parts.iter().map(part).collect::<Vec<_>>().join(&style.between)
    }
}

/// Returns the ways of writing a day into a line, the likeliest first.
pub(in crate::form::value) fn lines(field: &Field, day: Day) -> Vec<String> {
    let mut found = Vec::new();
    let hints = [&field.placeholder, &field.label, &field.context];
    if let Some(style) = hints.into_iter().find_map(|hint| style(hint)) {
        found.push(day.styled(&style));
    }
    found.push(day.iso());
    let numbers =
        |parts: [Part; 3], between: &str| day.styled(&Style { parts, between: between.into() });
    let (d, m, y) = (Part::Day(2), Part::Month(2), Part::Year(4));
    for between in ["/", ".", "-", " ", ""] {
        found.push(numbers([d, m, y], between));
    }
    for between in ["/", "-", ""] {
        found.push(numbers([m, d, y], between));
    }
    found.push(numbers([y, m, d], "/"));
    found.push(numbers([y, m, d], ""));
    found
}

/// Returns whether a text says how it wants a day to be written.
pub(in crate::form::value) fn is_hint(text: &str) -> bool {
    style(text).is_some()
}

/// Finds `DD/MM/YYYY` and its like in a text, in several languages, or an example.
fn style(hint: &str) -> Option<Style> {
    let lower = hint.to_lowercase();
    let letters = |c: char| match c {
        'd' | 't' | 'g' | 'д' | 'п' | 'η' => Some('d'),
        'm' | 'м' | 'μ' => Some('m'),
        'y' | 'a' | 'å' | 'г' | 'р' | 'ε' | 'v' => Some('y'),
        // Days in French, years in German and Dutch.
        'j' => Some('j'),
        _ => None,
    };
    let chars: Vec<char> = lower.chars().collect();
    for start in 0..chars.len() {
        if start > 0 && chars.get(start.saturating_sub(1)).is_some_and(|c| c.is_alphabetic()) {
            continue;
        }
        let mut at = start;
        let mut parts: Vec<(char, usize)> = Vec::new();
        let mut between = String::new();
        while parts.len() < 3 {
            let Some(first) = chars.get(at).copied().filter(|c| letters(*c).is_some()) else {
                break;
            };
            let run = chars.iter().skip(at).take_while(|c| **c == first).count();
            parts.push((letters(first).unwrap_or(first), run));
            at = at.saturating_add(run);
            if parts.len() < 3 {
                let gap: String = chars
                    .iter()
                    .skip(at)
                    .take_while(|c| matches!(c, '/' | '.' | '-' | ' '))
                    .collect();
                if parts.len() == 1 {
                    between.clone_from(&gap);
                } else if gap != between {
                    break;
                }
                at = at.saturating_add(gap.chars().count());
            }
        }
        let ends = !chars.get(at).is_some_and(|c| c.is_alphabetic());
        if let ([a, b, c], true) = (&parts[..], ends)
            && let Some(parts) = parts_of([*a, *b, *c])
        {
            return Some(Style { parts, between });
        }
    }
    example(hint)
}

/// A `j` of four is a year, and one of two a day, unless there is another day.
fn parts_of(found: [(char, usize); 3]) -> Option<[Part; 3]> {
    let days = found.iter().filter(|(c, _)| *c == 'd').count();
    let parts = found.map(|(c, width)| match c {
        'm' if width <= 4 => Some(Part::Month(width)),
        'j' | 'y' if width == 4 => Some(Part::Year(width)),
        'j' if width == 2 && days > 0 => Some(Part::Year(width)),
        'd' | 'j' if width <= 2 => Some(Part::Day(width)),
        'y' if width == 2 => Some(Part::Year(width)),
        _ => None,
    });
    let [Some(a), Some(b), Some(c)] = parts else { return None };
    let all = [a, b, c];
    let has = |wanted: fn(&Part) -> bool| all.iter().filter(|part| wanted(part)).count() == 1;
    let fine = has(|part| matches!(part, Part::Day(_)))
        && has(|part| matches!(part, Part::Month(_)))
        && has(|part| matches!(part, Part::Year(_)));
    fine.then_some(all)
}

/// Reads the order out of an example such as `31/12/1990` or `e.g. 27 3 2007`.
fn example(hint: &str) -> Option<Style> {
    let words = hint.trim_matches(|c: char| !c.is_ascii_digit());
    let between: String = words
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .chars()
        .take_while(|c| !c.is_ascii_digit())
        .collect();
    if !matches!(between.as_str(), "/" | "." | "-" | " ") {
        return None;
    }
    let numbers: Vec<&str> = words.split(between.as_str()).collect();
    let [first, second, third] = numbers[..] else { return None };
    let value = |text: &str| text.parse::<u16>().ok();
    let (a, b, _) = (value(first)?, value(second)?, value(third)?);
    let parts = match (first.len(), second.len(), third.len()) {
        (4, b, c) if b <= 2 && c <= 2 => [Part::Year(4), Part::Month(b), Part::Day(c)],
        (x, y, 4) if x <= 2 && y <= 2 && a > 12 => [Part::Day(x), Part::Month(y), Part::Year(4)],
        (x, y, 4) if x <= 2 && y <= 2 && b > 12 => [Part::Month(x), Part::Day(y), Part::Year(4)],
        _ => return None,
    };
    Some(Style { parts, between })
}

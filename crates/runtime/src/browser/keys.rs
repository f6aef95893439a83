//! Text as keys: what a person would press for it, and nothing that a page could take for
//! a command.

use super::hand::Order;

/// Held down while the next key is pressed, until it comes again.
const SHIFT: char = '\u{E008}';
const CONTROL: char = '\u{E009}';
const COMMAND: char = '\u{E03D}';
const ENTER: char = '\u{E007}';
const BACKSPACE: char = '\u{E003}';
const RIGHT: char = '\u{E014}';

/// What moves a slider.
pub(super) const PAGE_UP: &str = "\u{E00E}";
pub(super) const PAGE_DOWN: &str = "\u{E00F}";
pub(super) const END: &str = "\u{E010}";
pub(super) const HOME: &str = "\u{E011}";
pub(super) const LEFT_ARROW: &str = "\u{E012}";
pub(super) const UP_ARROW: &str = "\u{E013}";
pub(super) const RIGHT_ARROW: &str = "\u{E014}";
pub(super) const DOWN_ARROW: &str = "\u{E015}";

/// Closes whatever is open.
pub(super) const ESCAPE: &str = "\u{E00C}";

/// Returns the keys that take away what a field holds.
pub(super) fn clear() -> String {
    let held = if cfg!(target_os = "macos") { COMMAND } else { CONTROL };
    [held, 'a', held, BACKSPACE].into_iter().collect()
}

/// Returns a text without what is no text: control characters, and the characters by which
/// the protocol means keys. A text must never press Enter or Tab by itself.
pub(super) fn plain(text: &str, lines: bool) -> String {
    let mut plain = String::with_capacity(text.len());
    for each in text.replace("\r\n", "\n").chars() {
        match each {
            '\n' | '\r' if lines => plain.push('\n'),
            '\u{E000}'..='\u{F8FF}' => {}
            '\n' | '\r' | '\t' => plain.push(' '),
            each if each.is_control() => {}
            each => plain.push(each),
        }
    }
    plain
}

/// Returns whether keys can say a text: the driver has none for characters beyond the
/// first plane, and long texts are pasted, as people do.
pub(super) fn can_type(plain: &str, most: usize) -> bool {
    plain.chars().count() <= most && plain.chars().all(|each| u32::from(each) <= 0xFFFF)
}

/// Returns the keys for a plain text. A new line is shift and Enter: Enter alone sends the
/// form on many pages.
pub(super) fn typed(plain: &str) -> String {
    let mut keys = String::with_capacity(plain.len());
    for each in plain.chars() {
        if each == '\n' {
            keys.extend([SHIFT, ENTER, SHIFT]);
        } else {
            keys.push(each);
        }
    }
    keys
}

/// Returns the keys for a day, a time or both, as HTML writes them, in the order in which
/// the browser takes the parts. Nothing where there is more to it than the parts.
pub(super) fn dated(value: &str, order: &Order) -> Option<String> {
    let (day, time) = match value.split_once('T') {
        Some((day, time)) => (Some(day), Some(time)),
        None if value.contains(':') => (None, Some(value)),
        None => (Some(value), None),
    };
    let numbers = |text: &str, between: char| -> Option<Vec<u32>> {
        text.split(between).map(|part| part.parse().ok()).collect()
    };
    let day = match day {
        Some(day) => Some(<[u32; 3]>::try_from(numbers(day, '-')?).ok()?),
        None => None,
    };
    let time = match time {
        Some(time) => Some(<[u32; 2]>::try_from(numbers(time, ':')?).ok()?),
        None => None,
    };
    let half = order.parts.iter().any(|part| part == "dayPeriod");
    let mut keys = String::new();
    for part in &order.parts {
        let pressed = match (part.as_str(), day, time) {
            ("year", Some([year, ..]), _) => format!("{year:04}{RIGHT_OF_YEAR}"),
            ("month", Some([_, month, _]), _) => format!("{month:02}"),
            ("day", Some([.., day]), _) => format!("{day:02}"),
            ("hour", _, Some([hour, _])) if half => format!("{:02}", (hour + 11) % 12 + 1),
            ("hour", _, Some([hour, _])) => format!("{hour:02}"),
            ("minute", _, Some([_, minute])) => format!("{minute:02}"),
            ("dayPeriod", _, Some([hour, _])) => if hour < 12 { "a" } else { "p" }.into(),
            _ => continue,
        };
        // A year could have more digits, so it does not lead on by itself.
        if keys.ends_with(RIGHT_OF_YEAR) {
            keys.pop();
            keys.push(RIGHT);
        }
        keys.push_str(&pressed);
    }
    Some(keys.trim_end_matches(RIGHT_OF_YEAR).to_owned())
}

/// Stands for the way on from a year, until it is known that something follows.
const RIGHT_OF_YEAR: char = '\u{E05F}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_presses_no_key_but_its_own() {
        let evil = "a\u{E007}b\tc\r\nd\u{E004}\u{8}e\u{1F600}";
        assert_eq!(plain(evil, false), "ab c de\u{1F600}");
        assert_eq!(plain(evil, true), "ab c\nde\u{1F600}");
        assert_eq!(typed("c\nd"), "c\u{E008}\u{E007}\u{E008}d");
        assert!(can_type("héllo", 10) && !can_type("héllo", 4) && !can_type("\u{1F600}", 4));
    }

    #[test]
    fn parts_of_a_day_are_typed_in_the_browsers_order() {
        let order = |parts: &str| Order { parts: parts.split(' ').map(str::to_owned).collect() };
        let american = order("month day year hour minute dayPeriod");
        let swedish = order("year month day hour minute");
        let keys = |value: &str, order: &Order| dated(value, order).unwrap_or_default();
        assert_eq!(keys("2001-12-31", &american), "12312001");
        assert_eq!(keys("2001-12-31", &swedish), "2001\u{E014}1231");
        assert_eq!(keys("22:05", &american), "1005p");
        assert_eq!(keys("00:05", &american), "1205a");
        assert_eq!(keys("00:05", &swedish), "0005");
        assert_eq!(keys("2001-12-31T12:30", &american), "12312001\u{E014}1230p");
        assert_eq!(dated("22:05:09", &american), None);
        assert_eq!(dated("soon", &american), None);
    }
}

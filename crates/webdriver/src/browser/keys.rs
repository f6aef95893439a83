//! Keys that a person presses, and text that holds nothing a page could take for a command.

/// What moves a slider.
pub(super) const PAGE_UP: &str = "\u{E00E}";
pub(super) const PAGE_DOWN: &str = "\u{E00F}";
pub(super) const END: &str = "\u{E010}";
pub(super) const HOME: &str = "\u{E011}";
pub(super) const LEFT_ARROW: &str = "\u{E012}";
pub(super) const UP_ARROW: &str = "\u{E013}";
pub(super) const RIGHT_ARROW: &str = "\u{E014}";
pub(super) const DOWN_ARROW: &str = "\u{E015}";

/// Closes anything open.
pub(super) const ESCAPE: &str = "\u{E00C}";

/// Returns a text without control characters and the protocol's key characters. A text must never
/// press Enter or Tab.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_presses_no_key_but_its_own() {
        let evil = "a\u{E007}b\tc\r\nd\u{E004}\u{8}e\u{1F600}";
        assert_eq!(plain(evil, false), "ab c de\u{1F600}");
        assert_eq!(plain(evil, true), "ab c\nde\u{1F600}");
    }
}

//! Text without a font: how wide it will be, where to break it, how XML wants it.

use unicode_width::UnicodeWidthChar as _;

/// A face and a size; what differs in width from the others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Face {
    /// The name of a state.
    Name,
    /// A job, in a fixed pitch.
    Code,
    /// Small print.
    Small,
    /// An outcome on its arrow.
    Label,
    /// The chart's name.
    Title,
}

/// Advance widths of the printable ASCII characters in thousandths of the size.
///
/// The widths of `DejaVu` Sans, the widest of the common fonts: text that fits its box in that one
/// fits in all of them.
const ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
/// For everything that the table does not have.
const OTHER: u16 = 838;
/// For characters that fill a square, such as Chinese ones.
const WIDE: u16 = 1_000;
/// The one width of a fixed pitch.
const PITCH: u16 = 606;

impl Face {
    /// Returns the size in tenths of a pixel.
    const fn size(self) -> i64 {
        match self {
            Self::Title => 200,
            Self::Name => 130,
            Self::Label => 110,
            Self::Code | Self::Small => 100,
        }
    }

    /// Returns the class in the style sheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Code => "code",
            Self::Small => "small",
            Self::Label => "label",
            Self::Title => "title",
        }
    }

    /// Returns the distance between two baselines, in pixels.
    pub(crate) const fn line(self) -> i64 {
        match self {
            Self::Title => 26,
            Self::Name => 17,
            Self::Label => 14,
            Self::Code | Self::Small => 13,
        }
    }

    /// Returns how wide a text will be, in whole pixels, rather too wide than not.
    pub(crate) fn width(self, text: &str) -> i64 {
        let thousandths: i64 = text.chars().map(|letter| i64::from(self.advance(letter))).sum();
        let bold = if matches!(self, Self::Name | Self::Title) { 111 } else { 100 };
        (thousandths * self.size() * bold + 999_999) / 1_000_000
    }

    fn advance(self, letter: char) -> u16 {
        match letter.width() {
            Some(0) => return 0,
            Some(2) => return WIDE,
            _ if self == Self::Code => return PITCH,
            _ => {}
        }
        let at = u32::from(letter).checked_sub(32).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| ADVANCES.get(at)).copied().unwrap_or(OTHER)
    }

    /// Breaks a text into lines of at most that width: after a joint of the name
    /// if there is one, else anywhere.
    pub(crate) fn wrap(self, text: &str, width: i64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for piece in text.split_inclusive(['_', '.', ' ', '-']) {
            if !line.is_empty() && self.width(&line) + self.width(piece.trim_end()) > width {
                lines.push(std::mem::take(&mut line));
            }
            for letter in piece.chars() {
                if !line.is_empty() && self.width(&line) + self.width(&letter.to_string()) > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        lines.push(line);
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Returns the width of the widest line.
    pub(crate) fn widest(self, lines: &[String]) -> i64 {
        lines.iter().map(|line| self.width(line)).max().unwrap_or(0)
    }
}

/// Writes a text as XML wants it, in an element or an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 has no way to write these.
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

//! Numbers of things, as people write them: one line, two lines.

use std::fmt::Display;

/// Formats a number with its noun.
pub fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    match (count.as_str(), what) {
        ("1", what) => format!("1 {what}"),
        (count, "entry") => format!("{count} entries"),
        (count, "process") => format!("{count} processes"),
        (count, what) => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_not_many() {
        for (count, what, told) in [
            (0, "line", "0 lines"),
            (1, "line", "1 line"),
            (11, "line", "11 lines"),
            (1, "entry", "1 entry"),
            (2, "entry", "2 entries"),
            (1, "process", "1 process"),
            (3, "process", "3 processes"),
        ] {
            assert_eq!(counted(count, what), told);
        }
    }
}

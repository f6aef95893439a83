//! The patterns of rules, in which `*` matches anything, and paths in their plain form.

use alloc::{string::String, vec::Vec};

/// Returns the characters with which a shell combines commands, files and variables.
pub(super) fn ties(command: &str) -> impl Iterator<Item = char> {
    command.chars().filter(|it| matches!(it, ';' | '&' | '|' | '<' | '>' | '`' | '$' | '(' | ')'))
}

/// Returns whether a text has a character that some program may take as a line break.
pub(super) fn breaks(text: &str) -> bool {
    text.chars().any(|it| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}'))
}

/// Returns whether some text fits both patterns.
pub(super) fn meets(one: &str, other: &str) -> bool {
    // Whether the remainders of both patterns can meet, for every remainder of the other, shortest
    // first, starting with nothing of this one.
    let mut left = true;
    let empty = other.chars().rev().map(|it| {
        left &= it == '*';
        left
    });
    let mut below: Vec<bool> = core::iter::once(true).chain(empty).collect();
    for letter in one.chars().rev() {
        let mut last = letter == '*' && below.first() == Some(&true);
        let mut row = Vec::with_capacity(below.len());
        row.push(last);
        for (known, pair) in other.chars().rev().zip(below.windows(2)) {
            let &[behind, here] = pair else { continue };
            last = if letter == '*' || known == '*' {
                here || last
            } else {
                letter == known && behind
            };
            row.push(last);
        }
        below = row;
    }
    below.last() == Some(&true)
}

/// Returns whether a text matches a pattern in which `*` matches anything.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else { return false };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        // Each part at its first position, which leaves the most room for the rest.
        if let Some(middle) = last.replace(part) {
            let Some((_, after)) = rest.split_once(middle) else { return false };
            rest = after;
        }
    }
    last.map_or(rest.is_empty(), |end: &str| rest.ends_with(end))
}

/// Returns a path in its plain form: without `.`, and with one `/` between its names. Of the
/// root nothing is left.
pub(super) fn plain(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    if path.starts_with('/') {
        plain.push('/');
    }
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        if !plain.is_empty() && !plain.ends_with('/') {
            plain.push('/');
        }
        plain.push_str(name);
    }
    plain
}

/// Returns a path pattern in its plain form; `a/` matches everything in `a`.
fn wide(pattern: &str) -> String {
    let mut wide = plain(pattern);
    if pattern.ends_with('/') && !wide.is_empty() {
        wide.push_str(if wide.ends_with('/') { "*" } else { "/*" });
    }
    wide
}

/// Returns whether a path leads up on its way.
pub(super) fn strays(path: &str) -> bool {
    path.split('/').any(|name| name == "..")
}

/// Returns where a path leads that leads up on its way, as long as no link is on it.
fn resolved(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        match names.last() {
            Some(last) if name == ".." && *last != ".." => drop(names.pop()),
            None if name == ".." && !root.is_empty() => {}
            _ => names.push(name),
        }
    }
    [root, &names.join("/")].concat()
}

/// Returns whether a path matches a pattern, in any spelling. A pattern that matches everything in
/// a folder matches the folder too.
pub(super) fn matches_path(pattern: &str, path: &str) -> bool {
    let pattern = wide(pattern);
    let fits = |path: String| {
        let folder = || matches(&pattern, &[&path, "/"].concat());
        matches(&pattern, &path) || !path.is_empty() && folder()
    };
    fits(plain(path)) || strays(path) && fits(resolved(path))
}

/// Returns whether some text, or some path, could fit both patterns.
pub(super) fn meets_path(one: &str, other: &str) -> bool {
    if meets(one, other) {
        return true;
    }
    let (one, other) = (wide(one), wide(other));
    let folder = |path: &str| [path, "/"].concat();
    meets(&one, &other) || meets(&folder(&one), &other) || meets(&one, &folder(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text) in [
            ("shell", "shell"),
            ("*", ""),
            ("*", "anything"),
            ("cargo *", "cargo test"),
            ("*.rs", "src/main.rs"),
            ("src/*/mod.rs", "src/a/b/mod.rs"),
            ("a*b*c", "aXbYbZc"),
        ] {
            assert!(matches(pattern, text), "{pattern} / {text}");
        }
        for (pattern, text) in [
            ("shell", "shells"),
            ("cargo *", "cargo"),
            ("*.rs", "main.rs.bak"),
            ("a*b", "a"),
            ("", "x"),
            ("ab*b", "ab"),
        ] {
            assert!(!matches(pattern, text), "{pattern} / {text}");
        }
    }

    #[test]
    fn patterns_that_meet() {
        for (one, other, wanted) in [
            ("shell", "shell", true),
            ("shell", "shells", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("cargo *", "*publish*", true),
            ("cargo *", "rm *", false),
            ("cargo test *", "cargo *publish", true),
            ("a*b", "*ab", true),
            ("a*b", "b*a", false),
            ("*a*", "b", false),
            ("ab", "a*b*", true),
        ] {
            assert_eq!(meets(one, other), wanted, "{one} / {other}");
            assert_eq!(meets(other, one), wanted, "{other} / {one}");
        }
    }

    #[test]
    fn paths_in_their_plain_form() {
        for (path, wanted) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("a/./b/.", "a/b"),
            (".//./", ""),
            ("", ""),
            ("/a//b", "/a/b"),
            ("a/../b", "a/../b"),
            (".a/b.", ".a/b."),
        ] {
            assert_eq!(plain(path), wanted, "{path}");
        }
        for (pattern, path, wanted) in [
            ("secrets/*", "./secrets//key", true),
            ("./secrets//*", "secrets/key", true),
            ("secrets/*", "secrets", true),
            ("secrets/*", "secretsx", false),
            ("secrets", "secrets/", true),
            (".", "", true),
            ("*", "", true),
            ("a", "", false),
            ("secrets/", "secrets", true),
            ("secrets/", "secrets/deep/key", true),
            ("secrets/", "secretsx", false),
            ("./", "a", false),
            ("/", "/a", true),
            ("secrets/*", "docs/../secrets/key", true),
            ("secrets/*", "a/b/../.././secrets/key", true),
            ("docs/*", "docs/../secrets/key", true),
            ("/etc/*", "/../etc/key", true),
            ("etc/*", "../etc/key", false),
            ("../etc/*", "a/../../etc/key", true),
        ] {
            assert_eq!(matches_path(pattern, path), wanted, "{pattern} / {path}");
        }
        assert!(meets_path("./a/*", "a/b") && meets_path("a/*", "a") && meets_path("a/", "a/b"));
        assert!(!meets_path("a/*", "b/*"));
    }
}

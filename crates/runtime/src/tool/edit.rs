//! `edit`: replaces a piece of a file that is given word for word.

use serde::Deserialize;

use super::{
    Said,
    files::{contents, is_binary},
    folder::Folder,
    limits::Limits,
};

/// Lines that a refusal shows.
const SHOWN: usize = 3;
/// Characters of each.
const WIDTH: usize = 160;

/// The arguments of `edit`.
#[derive(Debug, Deserialize)]
pub(super) struct Edit {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

/// Replaces the one place where `old` stands, or all of them.
pub(super) fn edit(
    folder: &Folder,
    limits: &Limits,
    arguments: &Edit,
    going: &dyn Fn() -> bool,
) -> Said {
    let Edit { path, old, new, all } = arguments;
    if old == new {
        return Said::no("`old` and `new` are the same, so nothing would change");
    }
    let text = match text(folder, limits, path) {
        Ok(text) => text,
        Err(said) => return said,
    };
    let places: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
    match places.len() {
        0 => return Said::no(not_found(path, &text, old)),
        1 => {}
        _ if *all => {}
        count => {
            let lines: Vec<String> =
                places.iter().take(10).map(|at| line_of(&text, *at).to_string()).collect();
            return Said::no(format!(
                "`old` stands {count} times in `{path}`, at lines {}{}: add lines around it until \
                 it is the only one, or set `all` to replace every one",
                lines.join(", "),
                if count > lines.len() { " and more" } else { "" }
            ));
        }
    }
    let edited = text.replace(old.as_str(), new);
    let size = u64::try_from(edited.len()).unwrap_or(u64::MAX);
    if size > limits.file_bytes {
        let limit = limits.file_bytes;
        return Said::no(format!("`{path}` would have {size} bytes, and the limit is {limit}"));
    }
    let replaced =
        folder.inside(path).and_then(|inside| folder.replace(&inside, edited.as_bytes(), going));
    match (replaced, places.as_slice()) {
        (Err(error), _) => Said::no(error),
        (Ok(_), [at]) => {
            Said::changed(format!("replaced 1 place in `{path}`, at line {}", line_of(&text, *at)))
        }
        (Ok(_), places) => Said::changed(format!("replaced {} places in `{path}`", places.len())),
    }
}

/// Says whether a file is as an `edit` would leave it; nothing if that cannot be told.
pub(super) fn was_edited(folder: &Folder, limits: &Limits, arguments: &Edit) -> Option<Said> {
    let Edit { path, old, new, all } = arguments;
    let text = text(folder, limits, path).ok()?;
    // What `new` itself holds of `old` is no sign that anything is left to do.
    let left = text.replace(new.as_str(), "").matches(old.as_str()).count();
    if left == 0 && (new.is_empty() || text.contains(new.as_str())) {
        return Some(Said::changed(format!("`{path}` is as this edit leaves it")));
    }
    // Where `old` still stands as the edit needs it, it was not replaced.
    let stands = text.matches(old.as_str()).count();
    (!new.contains(old.as_str()) && (stands == 1 || *all && stands > 0)).then(|| {
        Said::no(format!("`{path}` still has `old`: the edit was interrupted before it took place"))
    })
}

fn text(folder: &Folder, limits: &Limits, path: &str) -> Result<String, Said> {
    let bytes = contents(folder, limits, path)?;
    if is_binary(&bytes) {
        return Err(Said::no(format!("`{path}` is a binary file")));
    }
    String::from_utf8(bytes)
        .map_err(|_| Said::no(format!("`{path}` is not UTF-8, so it cannot be edited as text")))
}

/// Returns the number of the line in which a place stands.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count().saturating_add(1))
}

/// Says that `old` is not there, and which lines come nearest to its first one.
fn not_found(path: &str, text: &str, old: &str) -> String {
    let wanted = old.lines().find(|line| !line.trim().is_empty()).unwrap_or(old);
    let mut near: Vec<(usize, usize, &str)> = text
        .lines()
        .zip(1_usize..)
        .map(|(line, number)| (likeness(wanted, line), number, line))
        .filter(|(likeness, ..)| *likeness > 0)
        .collect();
    near.sort_by_key(|(likeness, number, _)| (std::cmp::Reverse(*likeness), *number));
    let mut said = format!(
        "`old` does not stand in `{path}`: it must match to the letter, spaces and line ends too"
    );
    if !near.is_empty() {
        said.push_str("\nthe nearest lines are:");
    }
    for (_, number, line) in near.iter().take(SHOWN) {
        let line: String = line.chars().take(WIDTH).collect();
        said.push_str(&format!("\n{number:>6}\t{line}"));
    }
    said
}

/// Returns how much two lines have in common: the share of words, in hundredths. Under
/// a third it says nothing.
fn likeness(wanted: &str, line: &str) -> usize {
    if wanted.trim() == line.trim() {
        return 1000;
    }
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        split.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (wanted, line) = (words(wanted), words(line));
    let shared = wanted.iter().filter(|word| line.contains(word)).count();
    let share = shared.saturating_mul(200) / wanted.len().saturating_add(line.len()).max(1);
    if share < 33 { 0 } else { share }
}

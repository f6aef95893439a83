//! What to tell a model whose `old` was not found in a file: the lines that differ by
//! spaces only, or else the lines that come nearest.
//!
//! Every step is linear in the file, and the output has a limit.

use std::collections::HashSet;

/// Places that are shown.
const PLACES: usize = 3;
/// Lines of a place that are shown, and characters of a line.
const LINES: usize = 40;
const WIDTH: usize = 400;
/// Lines shown before and behind the nearest ones.
const AROUND: usize = 2;
/// Hundredths under which a likeness says nothing.
const LEAST: usize = 33;

/// Says that `old` was not found, and shows similar lines. Both texts have plain line ends.
pub(super) fn not_found(path: &str, text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    let mut said = format!("`old` was not found in `{path}`");
    let places = but_for_spaces(&lines, &wanted);
    if let Some(first) = places.first() {
        let differs = differences(lines.get(*first..).unwrap_or_default(), &wanted, old);
        let count = places.len();
        let times = if count > 1 { format!(", at {count} places") } else { String::new() };
        said.extend([format!(
            ", but it matches if spaces are ignored{times}. Differences: {}. Copy these lines of the file into `old`:",
            differs.join(", ")
        )]);
        for place in places.iter().take(PLACES) {
            show(&mut said, &lines, *place, place.saturating_add(wanted.len()));
        }
        return said;
    }
    said.push_str(": it must match exactly, including spaces");
    if let Some((from, to)) = nearest(&lines, &wanted) {
        said.extend([format!("\nthe most similar lines are {} to {to}:", from.saturating_add(1))]);
        show(&mut said, &lines, from.saturating_sub(AROUND), to.saturating_add(AROUND));
    }
    said
}

/// Adds lines with their numbers, up to one that is left out.
fn show(said: &mut String, lines: &[&str], from: usize, to: usize) {
    let to = to.min(lines.len());
    for (line, number) in lines.iter().zip(1_usize..).take(to).skip(from).take(LINES) {
        let whole = line.chars().nth(WIDTH).is_none();
        let line: String = line.chars().take(WIDTH).collect();
        said.extend([format!("\n{number:>6}\t{line}"), if whole { "" } else { "…" }.into()]);
    }
    if to.saturating_sub(from) > LINES {
        said.extend([format!("\n[continues to line {to}]")]);
    }
}

/// Returns a line without the spaces around it, and with one for each run within.
fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the lines at which `wanted` begins when spaces are not counted.
fn but_for_spaces(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
    let join = |lines: &[&str]| lines.iter().map(|line| squeezed(line)).collect::<Vec<_>>();
    let (pattern, squeezed) = (join(wanted).join("\n"), join(lines));
    if !pattern.contains(char::is_alphanumeric) {
        return Vec::new();
    }
    // Where each line begins in all of them.
    let starts: Vec<usize> = squeezed
        .iter()
        .scan(0_usize, |at, line| {
            let start = *at;
            *at = at.saturating_add(line.len()).saturating_add(1);
            Some(start)
        })
        .collect();
    let text = squeezed.join("\n");
    let mut places: Vec<usize> = text
        .match_indices(&pattern)
        .map(|(at, _)| starts.partition_point(|start| *start <= at).saturating_sub(1))
        .collect();
    places.dedup();
    places
}

/// Says in what a block differs from what was wanted, where only spaces can. `old` may
/// begin and end in the middle of a line.
fn differences(lines: &[&str], wanted: &[&str], old: &str) -> Vec<&'static str> {
    let (mut indented, mut inner, mut trailing) = (false, false, false);
    let last = wanted.len().saturating_sub(1);
    for (at, (line, wanted)) in lines.iter().zip(wanted).enumerate() {
        let (line, wanted) = (parts(line), parts(wanted));
        let (opens, closes) = (at == 0, at == last && !old.ends_with('\n'));
        indented |= line.0 != wanted.0 && !(opens && line.0.ends_with(wanted.0));
        inner |= line.1 != wanted.1 && !((opens || closes) && line.1.contains(wanted.1));
        trailing |= line.2 != wanted.2 && !(closes && line.2.starts_with(wanted.2));
    }
    let found = [
        (indented, "indentation"),
        (inner, "spaces within a line"),
        (trailing, "trailing spaces"),
        (!(indented || inner || trailing), "line endings: the file's last line has none"),
    ];
    found.into_iter().filter_map(|(differs, what)| differs.then_some(what)).collect()
}

/// Returns the spaces before a line's words, the words, and the spaces behind them.
fn parts(line: &str) -> (&str, &str, &str) {
    let (words, rest) = (line.trim_end(), line.trim_start());
    let behind = line.get(words.len()..).unwrap_or_default();
    let before = line.get(..line.len().saturating_sub(rest.len())).unwrap_or_default();
    if words.is_empty() { ("", "", line) } else { (before, line.trim(), behind) }
}

/// Returns the block of as many lines as are wanted that has the most words in common
/// with them, as its first line and the one behind it.
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let known: HashSet<String> = wanted.iter().flat_map(|line| words(line)).collect();
    let size = wanted.len().clamp(1, lines.len().max(1));
    let total: usize = wanted.iter().map(|line| words(line).count()).sum();
    let counted: Vec<(usize, usize)> = lines
        .iter()
        .map(|line| {
            words(line).fold((0_usize, 0_usize), |(shared, all), word| {
                (shared.saturating_add(known.contains(&word).into()), all.saturating_add(1))
            })
        })
        .collect();
    let (mut shared, mut all) = (0_usize, 0_usize);
    let (mut best, mut place, mut place_begins) = (LEAST.saturating_sub(1), None, true);
    for (at, (more_shared, more)) in counted.iter().enumerate() {
        shared = shared.saturating_add(*more_shared);
        all = all.saturating_add(*more);
        if let Some((less_shared, less)) = at.checked_sub(size).and_then(|out| counted.get(out)) {
            shared = shared.saturating_sub(*less_shared);
            all = all.saturating_sub(*less);
        }
        let end = at.saturating_add(1);
        let Some(start) = end.checked_sub(size) else { continue };
        let likeness = shared.min(total).saturating_mul(200) / all.saturating_add(total).max(1);
        // Among equally similar ones, the one that begins with shared words.
        let begins = counted.get(start).is_some_and(|(shared, _)| *shared > 0);
        if likeness > best || likeness == best && begins && !place_begins {
            (best, place, place_begins) = (likeness, Some((start, end)), begins);
        }
    }
    place
}

fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    let split = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    split.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

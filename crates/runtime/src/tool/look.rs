//! `list` and `search`: what files there are, and what they say.

use std::path::Path;

use globset::{Glob, GlobMatcher};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Lossy};
use serde::Deserialize;

use super::{Said, folder::Folder, ignored::walk, limits::Limits, veil::Veil};
use crate::plural::counted;

/// Characters of a line that are shown.
const WIDTH: usize = 300;
/// Folders that `list` goes down where the call says nothing.
const DEPTH: usize = 3;
/// Bytes that a pattern may take when compiled: a larger one is an attack or a slip.
const PATTERN: usize = 1 << 20;

/// The arguments of `list`.
#[derive(Debug, Deserialize)]
pub(super) struct List {
    #[serde(default)]
    path: String,
    depth: Option<usize>,
}

/// The arguments of `search`.
#[derive(Debug, Deserialize)]
pub(super) struct Search {
    query: String,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    path: String,
    glob: Option<String>,
}

/// Returns the files and folders below a path, one per line; folders end in `/`.
pub(super) fn list(
    (folder, veil): (&Folder, &Veil),
    limits: &Limits,
    arguments: &List,
    going: &dyn Fn() -> bool,
) -> Said {
    let start = match folder.named(&arguments.path) {
        Ok(start) => start,
        Err(error) => return Said::no(error),
    };
    if let Err(error) = folder.folder(&start) {
        return Said::no(error);
    }
    let depth = arguments.depth.unwrap_or(DEPTH);
    let (mut lines, mut more) = (Vec::new(), 0_usize);
    for entry in walk(&folder.root().join(&start), true, depth) {
        if !going() {
            return Said::no("the listing was stopped");
        }
        let Ok(path) = entry.path().strip_prefix(folder.root()) else { continue };
        // A folder may have been swapped for a link while it was walked: what lies
        // behind a link is not ours to show.
        if entry.depth() == 0 || !folder.holds(path) || veil.hides(path) {
            continue;
        }
        if lines.len() >= limits.results {
            more = more.saturating_add(1);
            continue;
        }
        let mark = match entry.file_type() {
            kind if kind.is_dir() => "/",
            kind if kind.is_symlink() => "@",
            _ => "",
        };
        lines.push(format!("{}{mark}", path.display()));
    }
    if lines.is_empty() {
        lines.push("nothing is there, or all of it is ignored".into());
    }
    if more > 0 {
        lines.push(format!("[{more} more; name a folder in `path`, or a smaller `depth`]"));
    }
    lines.extend(veil.note().map(String::from));
    Said::yes(lines.join("\n"))
}

/// Returns the lines that match, as `file:line: text`.
pub(super) fn search(
    (folder, veil): (&Folder, &Veil),
    limits: &Limits,
    arguments: &Search,
    going: &dyn Fn() -> bool,
) -> Said {
    let (matcher, glob) = match (pattern(arguments), glob(arguments.glob.as_deref())) {
        (Ok(matcher), Ok(glob)) => (matcher, glob),
        (Err(why), _) | (_, Err(why)) => return Said::no(why),
    };
    let start = match folder.named(&arguments.path) {
        Ok(start) => start,
        Err(error) => return Said::no(error),
    };
    let root = folder.root().join(&start);
    // A file is searched by itself; anything else must be a folder inside.
    let is_file = folder.file(&start).is_ok();
    if !is_file && let Err(error) = folder.folder(&start) {
        return Said::no(error);
    }
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(usize::try_from(limits.file_bytes).ok())
        .build();
    let mut found =
        Found { lines: Vec::new(), limit: limits.results, full: false, unsearched: Vec::new() };
    if is_file && !veil.hides_file(folder, &start) {
        found.file(folder, &mut searcher, &matcher, &start, going);
    } else if !is_file {
        for entry in walk(&root, true, usize::MAX) {
            if !going() {
                return Said::no("the search was stopped");
            }
            let Ok(path) = entry.path().strip_prefix(folder.root()) else { continue };
            let is_file = entry.file_type().is_file();
            let wanted = glob.as_ref().is_none_or(|glob| {
                glob.is_match(path) || path.file_name().is_some_and(|name| glob.is_match(name))
            });
            if is_file && wanted && !veil.hides_file(folder, path) {
                found.file(folder, &mut searcher, &matcher, path, going);
            }
            if found.full {
                break;
            }
        }
    }
    found.said(veil)
}

/// The lines that match, up to a number.
struct Found {
    lines: Vec<String>,
    limit: usize,
    full: bool,
    /// Files that were not searched to their end, with the reason.
    unsearched: Vec<String>,
}

/// Files that were not searched, as far as they are named.
const NAMED: usize = 10;

impl Found {
    /// Searches one file; one that cannot be opened is passed over, and one that cannot be
    /// searched to its end is named.
    fn file(
        &mut self,
        folder: &Folder,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        path: &Path,
        going: &dyn Fn() -> bool,
    ) {
        let Ok(file) = folder.file(path) else { return };
        let sink = Lossy(|number, line: &str| {
            if self.lines.len() >= self.limit {
                self.full = true;
                return Ok(false);
            }
            self.lines.push(format!("{}:{number}: {}", path.display(), shown(matcher, line)));
            Ok(going())
        });
        if let Err(error) = searcher.search_file(matcher, &file, sink) {
            self.unsearched.push(format!("{}: {error}", path.display()));
        }
    }

    fn said(mut self, veil: &Veil) -> Said {
        if self.lines.is_empty() {
            self.lines.push("nothing matches".into());
        }
        if self.full {
            let limit = counted(self.limit, "line");
            self.lines.push(format!("[more than {limit} match; narrow the search]"));
        }
        if !self.unsearched.is_empty() {
            let count = self.unsearched.len();
            let files = if count == 1 { "file was" } else { "files were" };
            self.lines.push(format!("[{count} {files} not searched to the end:"));
            self.lines.extend(self.unsearched.drain(..).take(NAMED));
            let last = if count > NAMED { "and more]" } else { "]" };
            match self.lines.last_mut() {
                Some(line) if count <= NAMED => line.push_str(last),
                _ => self.lines.push(last.into()),
            }
        }
        self.lines.extend(veil.note().map(String::from));
        Said::yes(self.lines.join("\n"))
    }
}

/// Returns the part of a line that is shown: all of it, or what is around the match.
fn shown(matcher: &RegexMatcher, line: &str) -> String {
    let line = line.trim_end();
    if line.chars().count() <= WIDTH {
        return line.into();
    }
    let at = matcher.find(line.as_bytes()).ok().flatten().map_or(0, |found| found.start());
    let start = line.floor_char_boundary(at.saturating_sub(WIDTH / 3));
    let part: String = line.get(start..).unwrap_or(line).chars().take(WIDTH).collect();
    format!("[cut] {part} [cut]")
}

fn pattern(arguments: &Search) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .fixed_strings(arguments.literal)
        .case_insensitive(arguments.ignore_case)
        .line_terminator(Some(b'\n'))
        .size_limit(PATTERN)
        .build(&arguments.query)
        .map_err(|error| {
            format!("`query` is no pattern: {error}\nset `literal` to look for the text as it is")
        })
}

fn glob(glob: Option<&str>) -> Result<Option<GlobMatcher>, String> {
    let Some(glob) = glob else { return Ok(None) };
    match Glob::new(glob) {
        Ok(glob) => Ok(Some(glob.compile_matcher())),
        Err(error) => Err(format!("`glob` is no pattern for paths: {error}")),
    }
}

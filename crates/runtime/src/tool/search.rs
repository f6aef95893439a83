//! `search`: the lines of files that match a pattern.

use std::path::Path;

use globset::{Glob, GlobMatcher};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Lossy};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Tool, ToolContext, ToolFuture, ToolKind, ToolOutput, ToolSpec,
    folder::Folder,
    ignored::walk,
    limits::ToolLimits,
    path_filter::PathFilter,
    schema::{flag, spec, text, words},
};
use crate::plural::counted;

const NAME: &str = "search";

/// Characters of a line that are shown.
const WIDTH: usize = 300;
/// Bytes that a pattern may take when compiled: a larger one is an attack or a slip.
const PATTERN: usize = 1 << 20;

/// Finds lines.
pub(super) struct SearchTool;

impl Tool for SearchTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self, _: &ToolLimits) -> Option<ToolSpec> {
        Some(spec(
            NAME,
            "Finds lines that match a regular expression, except in files that .gitignore names.",
            json!({
                "query": words("The pattern, in Rust's regex syntax."),
                "literal": flag("Treat the query as plain text."),
                "ignore_case": flag("Ignore case."),
                "path": text("The folder or file to search; the whole workspace if left out."),
                "glob": text("Which files, such as `*.rs` or `src/**/*.toml`."),
            }),
            &["query"],
        ))
    }

    fn call<'a>(&'a self, calling: ToolContext<'a>, arguments: Value) -> ToolFuture<'a> {
        let path_filter = PathFilter::of(calling.call, &self.decl(), calling.tools.permissions());
        calling.blocking(arguments, false, move |tools, arguments, going| {
            search((tools.folder(), &path_filter), tools.limits(), &arguments, going)
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }
}

/// The arguments of `search`.
#[derive(Debug, Deserialize)]
struct Search {
    query: String,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    path: String,
    glob: Option<String>,
}

/// Returns the lines that match, as `file:line: text`.
fn search(
    (folder, path_filter): (&Folder, &PathFilter),
    limits: &ToolLimits,
    arguments: &Search,
    going: &dyn Fn() -> bool,
) -> ToolOutput {
    let (matcher, glob) = match (pattern(arguments), glob(arguments.glob.as_deref())) {
        (Ok(matcher), Ok(glob)) => (matcher, glob),
        (Err(why), _) | (_, Err(why)) => return ToolOutput::no(why),
    };
    let start = match folder.named(&arguments.path) {
        Ok(start) => start,
        Err(error) => return ToolOutput::no(error),
    };
    let root = folder.root().join(&start);
    // A file is searched alone; anything else must be a folder inside.
    let is_file = folder.file(&start).is_ok();
    if !is_file && let Err(error) = folder.folder(&start) {
        return ToolOutput::no(error);
    }
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(usize::try_from(limits.file_bytes).ok())
        .build();
    let mut found =
        Found { lines: Vec::new(), limit: limits.results, full: false, unsearched: Vec::new() };
    if is_file && !path_filter.hides_file(folder, &start) {
        found.file(folder, &mut searcher, &matcher, &start, going);
    } else if !is_file {
        for entry in walk(&root, true, usize::MAX) {
            if !going() {
                return ToolOutput::no("the search was stopped");
            }
            let Ok(path) = entry.path().strip_prefix(folder.root()) else { continue };
            let is_file = entry.file_type().is_file();
            let wanted = glob.as_ref().is_none_or(|glob| {
                glob.is_match(path) || path.file_name().is_some_and(|name| glob.is_match(name))
            });
            if is_file && wanted && !path_filter.hides_file(folder, path) {
                found.file(folder, &mut searcher, &matcher, path, going);
            }
            if found.full {
                break;
            }
        }
    }
    found.said(path_filter)
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

    fn said(mut self, path_filter: &PathFilter) -> ToolOutput {
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
            self.lines.push(format!("[{count} {files} not searched completely:"));
            self.lines.extend(self.unsearched.drain(..).take(NAMED));
            let last = if count > NAMED { "and more]" } else { "]" };
            match self.lines.last_mut() {
                Some(line) if count <= NAMED => line.push_str(last),
                _ => self.lines.push(last.into()),
            }
        }
        self.lines.extend(path_filter.note().map(String::from));
        ToolOutput::yes(self.lines.join("\n"))
    }
}

/// Returns the part of a line to show: all of it, or the surroundings of the match.
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
            format!(
                "`query` is not a valid pattern: {error}\nset `literal` to search for plain text"
            )
        })
}

fn glob(glob: Option<&str>) -> Result<Option<GlobMatcher>, String> {
    let Some(glob) = glob else { return Ok(None) };
    match Glob::new(glob) {
        Ok(glob) => Ok(Some(glob.compile_matcher())),
        Err(error) => Err(format!("`glob` is not a valid pattern: {error}")),
    }
}

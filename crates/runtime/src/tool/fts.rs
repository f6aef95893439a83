//! Full-text search over a folder: an index that follows the files.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use rusqlite::{Connection, params};
use thiserror::Error;

use super::folder::Folder;

/// Files larger than this are left out: they are data, not text to be read.
const MAX_FILE: u64 = 1 << 20;
/// Lines that stand together in the index.
const CHUNK: usize = 8;
/// Passages that one search gives.
const PASSAGES: usize = 8;
/// Chunks that are looked at for them.
const LOOKED_AT: i64 = 64;
/// Characters of a line that are shown.
const SHOWN: usize = 300;

/// Why the index cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nobody waits for it any more.
    #[error("the search was stopped before every file was looked at; the next goes on from there")]
    Stopped,
    /// The index itself fails.
    #[error("the search index cannot be used: {0}")]
    Index(#[from] rusqlite::Error),
}

/// A line that matches, and where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passage {
    /// The file, from the folder's root.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// An index over the text files of a folder.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
}

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS chunk USING fts5 (
    text, path UNINDEXED, line UNINDEXED, tokenize = 'porter unicode61'
);
";

impl Index {
    /// Opens the index, or makes it. It is a cache: a broken one may be deleted.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|source| IndexError::Folder { path: folder.into(), source })?;
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection })
    }

    /// Takes in what has changed since the last time; `.gitignore` is honoured.
    pub fn refresh(&mut self, root: &Path) -> Result<(), IndexError> {
        let folder = Folder::open(root)
            .map_err(|source| IndexError::Folder { path: root.into(), source })?;
        self.follow(&folder, &|| true)
    }

    /// Takes in what has changed, as long as somebody waits for it.
    pub(super) fn follow(
        &mut self,
        folder: &Folder,
        going: &dyn Fn() -> bool,
    ) -> Result<(), IndexError> {
        let root = folder.root();
        let mut known: BTreeMap<String, String> = {
            let mut query = self.connection.prepare("SELECT path, stamp FROM file")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        let changes = self.connection.transaction()?;
        for entry in ignore::WalkBuilder::new(root).require_git(false).build().flatten() {
            // What was taken in so far is kept when it is given up.
            if !going() {
                changes.commit()?;
                return Err(IndexError::Stopped);
            }
            let Ok(metadata) = entry.metadata() else { continue };
            // A link is not followed: what it names may lie outside.
            if !metadata.is_file() || metadata.len() > MAX_FILE {
                continue;
            }
            let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else {
                continue;
            };
            let stamp = stamp(&metadata);
            if known.remove(path).is_some_and(|before| before == stamp) {
                continue;
            }
            changes.execute("DELETE FROM chunk WHERE path = ?1", params![path])?;
            // A file that vanished or is no text has nothing to be found.
            let read = folder.read(Path::new(path), MAX_FILE);
            if let Some(text) = read.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
                insert(&changes, path, &text)?;
            }
            changes.execute("INSERT OR REPLACE INTO file VALUES (?1, ?2)", params![path, stamp])?;
        }
        for gone in known.keys() {
            changes.execute("DELETE FROM chunk WHERE path = ?1", params![gone])?;
            changes.execute("DELETE FROM file WHERE path = ?1", params![gone])?;
        }
        changes.commit()?;
        Ok(())
    }

    /// Returns the passages that match best.
    pub fn search(&self, query: &str) -> Result<Vec<Passage>, IndexError> {
        let words = words(query);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        // Each word quoted, so that nothing in a query is an operator.
        let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let mut statement = self.connection.prepare(
            "SELECT path, line, text FROM chunk WHERE chunk MATCH ?1 ORDER BY rank, path LIMIT ?2",
        )?;
        let rows = statement.query_map(params![any.join(" OR "), LOOKED_AT], |row| {
            let line: i64 = row.get(1)?;
            Ok((row.get::<_, String>(0)?, usize::try_from(line).unwrap_or(1), row.get(2)?))
        })?;
        let mut chunks: Vec<(String, usize, String)> = rows.collect::<Result<_, _>>()?;
        // A chunk with more of the words comes first, whatever a rare one weighs; the
        // sort is stable, so the index's own order decides among equals.
        chunks.sort_by_key(|(_, _, text)| std::cmp::Reverse(shared(&words, text)));
        let passages = chunks.iter().filter_map(|(path, first, text)| {
            let (at, text) = best_line(&words, text)?;
            let line = first.saturating_add(at);
            let text = text.trim().chars().take(SHOWN).collect();
            Some(Passage { path: path.clone(), line, text })
        });
        Ok(passages.take(PASSAGES).collect())
    }
}

fn stamp(metadata: &fs::Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", modified.map_or(0, |at| at.as_nanos()), metadata.len())
}

fn insert(changes: &rusqlite::Transaction<'_>, path: &str, text: &str) -> rusqlite::Result<()> {
    let lines: Vec<&str> = text.lines().collect();
    let mut insert =
        changes.prepare_cached("INSERT INTO chunk (text, path, line) VALUES (?1, ?2, ?3)")?;
    for (at, chunk) in lines.chunks(CHUNK).enumerate() {
        let line = i64::try_from(at.saturating_mul(CHUNK).saturating_add(1)).unwrap_or(i64::MAX);
        insert.execute(params![chunk.join("\n"), path, line])?;
    }
    Ok(())
}

/// Words that every question has and no answer needs.
const COMMON: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "i", "in",
    "is", "it", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where",
    "which", "who", "why", "with",
];

/// Returns the words of a query that are worth looking for, in lower case.
pub fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = query
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && !COMMON.contains(&word.as_str()))
        .collect();
    words.sort();
    words.dedup();
    words
}

/// Returns the line of a chunk in which most of the words stand.
fn best_line<'t>(words: &[String], text: &'t str) -> Option<(usize, &'t str)> {
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    // The first of the best: `max_by_key` takes the last.
    lines.into_iter().rev().max_by_key(|(_, line)| shared(words, line))
}

/// Returns how many of the words stand in a text. A stem is enough: the index matches
/// by stems too.
fn shared(words: &[String], text: &str) -> usize {
    let text = text.to_lowercase();
    words.iter().filter(|word| text.contains(stem(word))).count()
}

fn stem(word: &str) -> &str {
    let kept = word.char_indices().nth(4).map_or(word.len(), |(at, _)| at);
    word.get(..kept).unwrap_or(word)
}

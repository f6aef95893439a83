//! Full-text search over a folder: an index that follows the files.

mod chunk;
mod rank;
mod word;

pub use word::QueryWords;

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use thiserror::Error;

use super::{
    files::{SNIFFED, is_binary},
    folder::{Folder, FolderError},
    ignored::walk,
    limits::ToolLimits,
    text::TextFile,
};
use crate::private;
use chunk::{TextChunk, chunks};
use rank::{Weights, words};

/// Files that are named where they were too large to be taken in.
const NAMED: usize = 5;
/// Passages that one search gives.
const PASSAGES: usize = 8;
/// Pieces that are looked at for them.
const LOOKED_AT: i64 = 200;
/// The path that names no file.
const IN_MEMORY: &str = ":memory:";
/// The format of the index. An index of another format is rebuilt.
const FORMAT: i64 = 5;

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
    /// The caller no longer waits for it.
    #[error("the search stopped before it read every file; the next search continues from there")]
    Stopped,
    /// The index itself fails.
    #[error("the search index cannot be used: {0}")]
    Index(#[from] rusqlite::Error),
}

/// A passage that matches, and where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passage {
    /// The file, from the folder's root.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// Its text.
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
DROP TABLE IF EXISTS file;
DROP TABLE IF EXISTS chunk;
CREATE TABLE file (
    path TEXT PRIMARY KEY, stamp TEXT NOT NULL, first INTEGER NOT NULL, next INTEGER NOT NULL
) STRICT;
CREATE VIRTUAL TABLE chunk USING fts5 (
    text, heading, path UNINDEXED, line UNINDEXED, tokenize = 'porter unicode61'
);
";
/// Forgets the pieces of a file. They are found by their numbers: to look for its path
/// would go through every piece of every file.
const FORGET: &str = "DELETE FROM chunk WHERE rowid >= ?1 AND rowid < ?2";

impl Index {
    /// Opens the index, or makes it; only its owner can read it, as it holds what the files
    /// say. It is a cache: a broken one may be deleted.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        if path != Path::new(IN_MEMORY) {
            close(path).map_err(|source| IndexError::Folder { path: path.into(), source })?;
        }
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        let made = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let format: i64 = made.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if format != FORMAT {
            made.execute_batch(TABLES)?;
            made.pragma_update(None, "user_version", FORMAT)?;
        }
        made.commit()?;
        Ok(Self { connection })
    }

    /// Takes in what has changed since the last time; `.gitignore` is honoured.
    pub fn refresh(&mut self, root: &Path) -> Result<(), IndexError> {
        let folder = Folder::open(root)
            .map_err(|source| IndexError::Folder { path: root.into(), source })?;
        self.follow(&folder, ToolLimits::default().file_bytes, &|| true).map(drop)
    }

    /// Indexes changed files, as long as the caller waits. Returns the text files above the size
    /// limit, which are not indexed.
    pub(super) fn follow(
        &mut self,
        folder: &Folder,
        limit: u64,
        going: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, IndexError> {
        let (root, mut large) = (folder.root(), Vec::new());
        let mut known: BTreeMap<String, String> = {
            let mut query = self.connection.prepare("SELECT path, stamp FROM file")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        let changes = self.connection.transaction()?;
        for entry in walk(root, false, usize::MAX) {
            // What was taken in so far is kept when it is given up.
            if !going() {
                changes.commit()?;
                return Err(IndexError::Stopped);
            }
            let Ok(metadata) = entry.metadata() else { continue };
            // A link is not followed: what it names may lie outside.
            if !metadata.is_file() {
                continue;
            }
            let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else {
                continue;
            };
            if metadata.len() > limit {
                large.extend(is_text(folder, path).then(|| path.to_owned()));
                continue;
            }
            let stamp = stamp(&metadata);
            if known.remove(path).is_some_and(|before| before == stamp) {
                continue;
            }
            forget(&changes, path)?;
            // One that cannot be read just now is tried again the next time.
            let Some(text) = content(folder.read(Path::new(path), limit)) else { continue };
            let (first, next) = insert(&changes, path, &text)?;
            changes.execute(
                "INSERT INTO file VALUES (?1, ?2, ?3, ?4)",
                params![path, stamp, first, next],
            )?;
        }
        for gone in known.keys() {
            forget(&changes, gone)?;
        }
        changes.commit()?;
        Ok(large)
    }

    /// Returns the passages that match best.
    pub fn search(&self, query: &str) -> Result<Vec<Passage>, IndexError> {
        self.search_in(query, None)
    }

    /// Returns the passages that match best, of these files where only some are wanted.
    pub(super) fn search_in(
        &self,
        query: &str,
        wanted: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<Vec<Passage>, IndexError> {
        let words = words(query);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        // Each word quoted, so that nothing in a query is an operator.
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let weights = Weights::new(query, self.weigh(words, &quoted)?);
        let mut statement = self.connection.prepare(
            "SELECT path, line, heading, text FROM chunk WHERE chunk MATCH ?1
             ORDER BY rank, path LIMIT ?2",
        )?;
        // If some are hidden, it is unknown how many to read for the rest.
        let most = if wanted.is_some() { -1 } else { LOOKED_AT };
        let rows = statement.query_map(params![quoted.join(" OR "), most], |row| {
            let line: i64 = row.get(1)?;
            let line = usize::try_from(line).unwrap_or(1);
            Ok((
                row.get::<_, String>(0)?,
                TextChunk { line, heading: row.get(2)?, text: row.get(3)? },
            ))
        })?;
        let mut found: Vec<(f64, String, TextChunk)> = Vec::new();
        for row in rows {
            let (path, chunk) = row?;
            if wanted.is_some_and(|wanted| !wanted(&path)) {
                continue;
            }
            found.push((weights.score(&path, &chunk), path, chunk));
            if i64::try_from(found.len()).is_ok_and(|count| count == LOOKED_AT) {
                break;
            }
        }
        // The sort is stable, so the index's own order decides among equals.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let passages = found.into_iter().take(PASSAGES).map(|(_, path, chunk)| {
            let (line, text) = weights.shown(&path, &chunk);
            Passage { path, line, text }
        });
        Ok(passages.collect())
    }

    /// Weighs words by how few pieces of all have them.
    fn weigh(
        &self,
        words: Vec<String>,
        quoted: &[String],
    ) -> Result<Vec<(String, f64)>, IndexError> {
        let all: u32 =
            self.connection.query_row("SELECT count(*) FROM chunk", [], |row| row.get(0))?;
        let mut count =
            self.connection.prepare("SELECT count(*) FROM chunk WHERE chunk MATCH ?1")?;
        let mut weights = Vec::with_capacity(words.len());
        for (word, quoted) in words.into_iter().zip(quoted) {
            let having: u32 = count.query_row(params![quoted], |row| row.get(0))?;
            let weight = (f64::from(all) / f64::from(having.saturating_add(1))).ln_1p();
            weights.push((word, weight));
        }
        Ok(weights)
    }
}

fn stamp(metadata: &fs::Metadata) -> String {
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", modified.map_or(0, |at| at.as_nanos()), metadata.len())
}

/// Returns a file's text, as `read` would; a binary file has none. Nothing is returned for a file
/// that could not be read.
fn content(read: Result<Vec<u8>, FolderError>) -> Option<String> {
    read.ok().map(|bytes| TextFile::decode(bytes).map(|it| it.text).unwrap_or_default())
}

/// Returns whether a file begins like text: pictures and archives need not be reported.
fn is_text(folder: &Folder, path: &str) -> bool {
    let Ok(file) = folder.file(Path::new(path)) else { return false };
    let mut start = Vec::new();
    let most = u64::try_from(SNIFFED).unwrap_or(u64::MAX);
    file.take(most).read_to_end(&mut start).is_ok() && !is_binary(&start)
}

/// Says which files were not searched, if there are any.
pub(super) fn too_large(files: &[String], limit: u64) -> Option<String> {
    let names: Vec<&str> = files.iter().take(NAMED).map(String::as_str).collect();
    let (names, more) = (names.join(", "), if files.len() > NAMED { ", …" } else { "" });
    let are = match files.len() {
        0 => return None,
        1 => "1 file is".to_owned(),
        count => format!("{count} files are"),
    };
    Some(format!("[{are} larger than {limit} bytes and not searched: {names}{more}]"))
}

/// Creates the index's file and folder, readable only by their owner. The permissions of an
/// existing index are corrected.
fn close(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private::folder(folder)?;
    }
    private::file(path)?;
    let mut mode = fs::metadata(path)?.permissions();
    if mode.mode() & 0o077 != 0 {
        mode.set_mode(0o600);
        fs::set_permissions(path, mode)?;
    }
    Ok(())
}

/// Removes a file and its pieces. Another process may have indexed it meanwhile, so the current
/// index decides what to remove.
fn forget(changes: &Transaction<'_>, path: &str) -> rusqlite::Result<()> {
    let mut file =
        changes.prepare_cached("DELETE FROM file WHERE path = ?1 RETURNING first, next")?;
    let pieces = file.query_row(params![path], |row| Ok((row.get(0)?, row.get(1)?)));
    let pieces: Option<(i64, i64)> = pieces.optional()?;
    if let Some((first, next)) = pieces {
        changes.prepare_cached(FORGET)?.execute(params![first, next])?;
    }
    Ok(())
}

/// Takes in a file's pieces. Returns the number of the first and the one after the last:
/// in one transaction they follow one another.
fn insert(changes: &Transaction<'_>, path: &str, text: &str) -> rusqlite::Result<(i64, i64)> {
    let mut insert = changes
        .prepare_cached("INSERT INTO chunk (text, heading, path, line) VALUES (?1, ?2, ?3, ?4)")?;
    let mut pieces = None;
    for TextChunk { line, heading, text } in chunks(path, text) {
        insert.execute(params![text, heading, path, i64::try_from(line).unwrap_or(i64::MAX)])?;
        let number = changes.last_insert_rowid();
        let (first, _) = pieces.unwrap_or((number, number));
        pieces = Some((first, number.saturating_add(1)));
    }
    Ok(pieces.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    /// Returns how many steps it takes to forget one file among this many.
    fn steps(files: usize) -> i32 {
        let mut index = Index::open(Path::new(":memory:")).expect("the index opens");
        let changes = index.connection.transaction().expect("it begins");
        for n in 0..files {
            insert(&changes, &format!("{n}.md"), "Some words.\n").expect("the file is indexed");
        }
        let (first, next) =
            insert(&changes, "last.md", "Other words.\n").expect("the file is indexed");
        let mut forget = changes.prepare(FORGET).expect("it is sound");
        assert_eq!(forget.execute(params![first, next]), Ok(1));
        forget.get_status(StatementStatus::VmStep)
    }

    #[test]
    fn only_a_file_that_was_read_is_known() {
        assert_eq!(content(Ok(b"words".to_vec())).as_deref(), Some("words"));
        assert_eq!(content(Ok(b"gr\xfcn".to_vec())).as_deref(), Some("gr\u{fc}n"));
        assert_eq!(content(Ok(vec![0xff, 0xfe, b'a', 0])).as_deref(), Some("a"));
        assert_eq!(content(Ok(vec![b'a', 0, 1])).as_deref(), Some(""));
        assert_eq!(content(Err(FolderError::Missing { path: "a".into() })), None);
    }

    #[test]
    fn forgetting_a_file_does_not_take_longer_where_there_are_many() {
        assert_eq!(steps(2000), steps(10));
    }
}

//! Exporting: a run as lines of JSON that can be checked without the store.
//!
//! A header says which run it is, the entries' lines follow as they are, and a trailer
//! ends it: the number of entries, the digest of the last, and a digest over every byte
//! before the trailer.

use std::io;

use pointsman_kernel::id::{Digest, Seq};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{RunId, Store, StoreError};

/// The version of the format that this build writes.
pub(super) const FORMAT: u16 = 1;

/// Why a run cannot be exported, or an export cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The run cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The export cannot be written.
    #[error("the export cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The export cannot be read.
    #[error("the export cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The first line is not that of an export.
    #[error("this is not an exported run")]
    NotOurs,
    /// A later build wrote it.
    #[error("the export has format {found}, but this build knows only formats up to {FORMAT}")]
    TooNew {
        /// The format of the export.
        found: u16,
    },
    /// A line differs from the one written.
    #[error("line {line} of the export{}: {why}", entry(*seq))]
    Damaged {
        /// The line; the first is 1.
        line: usize,
        /// The entry at this line.
        seq: Option<Seq>,
        /// The reason.
        why: String,
    },
}

fn entry(seq: Option<Seq>) -> String {
    seq.map_or_else(String::new, |seq| format!(", entry {}", seq.0))
}

/// The first line.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// The version of the format.
    pub(super) export: u16,
    pub(super) run: String,
    pub(super) agent: String,
    pub(super) chart: String,
    pub(super) source: String,
    pub(super) goal: String,
    pub(super) created_ms: u64,
    pub(super) forked: Option<(String, Seq)>,
}

/// The last line.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trailer {
    pub(super) entries: u64,
    pub(super) link: Digest,
    /// Over every byte before this line.
    pub(super) digest: Digest,
}

/// Writes a run as lines of JSON that can be checked by themselves.
pub async fn export(
    store: &dyn Store,
    id: &RunId,
    to: &mut (dyn io::Write + Send),
) -> Result<(), ExportError> {
    let (row, lines) = store.journal(id).await?;
    let source = store.chart_source(id).await?;
    let header = Header {
        export: FORMAT,
        run: row.id.to_string(),
        agent: row.agent.into(),
        chart: row.chart.into(),
        source,
        goal: row.goal.into(),
        created_ms: row.created_ms,
        forked: row.forked.map(|(parent, seq)| (parent.to_string(), seq)),
    };
    let mut text = json(&header)?;
    for line in &lines {
        text.push('\n');
        text.push_str(line);
    }
    text.push('\n');
    let digest = Digest::of(text.as_bytes());
    text.push_str(&json(&Trailer { entries: row.seq.0, link: row.link, digest })?);
    text.push('\n');
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).map_err(ExportError::Write)
}

/// Writes a value on one line.
pub(super) fn json<T: Serialize>(value: &T) -> Result<String, ExportError> {
    serde_json::to_string(value).map_err(|error| ExportError::Write(error.into()))
}

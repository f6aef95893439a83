//! Reading an export back, strict about every byte.

use std::io;

use pointsman_kernel::id::{Digest, Seq};
use serde::Deserialize;

use super::{
    ExportError, RunId,
    export::{FORMAT, Header, Trailer, json},
    link::Link,
};

/// An exported run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exported {
    /// Its id.
    pub run: RunId,
    /// The agent.
    pub agent: Box<str>,
    /// The chart's name.
    pub chart: Box<str>,
    /// The chart's text.
    pub source: Box<str>,
    /// Its goal.
    pub goal: Box<str>,
    /// When, in milliseconds since 1970.
    pub created_ms: u64,
    /// The run and entry that it was forked from.
    pub forked: Option<(RunId, Seq)>,
    /// Its entries' lines, in order.
    pub lines: Vec<String>,
    /// The digest of the last of them.
    pub link: Digest,
}

/// Reads an export and verifies it; names the first line that differs from what was written.
pub fn read(mut from: impl io::Read) -> Result<Exported, ExportError> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(ExportError::Read)?;
    if !is_export(&bytes) {
        return Err(ExportError::NotOurs);
    }
    let lines = split(&bytes)?;
    let damaged =
        |line: usize, why: &str| Err(ExportError::Damaged { line, seq: None, why: why.into() });
    let (Some((head, rest)), total) = (lines.split_first(), lines.len()) else {
        return damaged(1, "it is empty");
    };
    let header = header(head)?;
    let Some((tail, entries)) = rest.split_last() else {
        return damaged(2, "the export is truncated");
    };
    let link = chain(entries, tail)?;
    // The expected trailer is known, so it is compared as a whole.
    let covered = bytes.get(..bytes.len().saturating_sub(tail.len() + 1)).unwrap_or_default();
    let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    let trailer = Trailer { entries: count, link, digest: Digest::of(covered) };
    if json(&trailer)? != **tail {
        let why = match serde_json::from_str::<Trailer>(tail) {
            Err(_) => "the export is truncated: it has no trailer",
            Ok(found) if found.entries != count => "the trailer has the wrong number of entries",
            Ok(found) if found.link != link => "the trailer does not match the last entry",
            Ok(_) => "the checksum is wrong: a line was changed",
        };
        return damaged(total, why);
    }
    if entries.is_empty() {
        return damaged(2, "a run has at least one entry");
    }
    let id = |text: &str| {
        text.parse::<RunId>().map_err(|error| ExportError::Damaged {
            line: 1,
            seq: None,
            why: error.to_string(),
        })
    };
    Ok(Exported {
        run: id(&header.run)?,
        agent: header.agent.into(),
        chart: header.chart.into(),
        source: header.source.into(),
        goal: header.goal.into(),
        created_ms: header.created_ms,
        forked: match &header.forked {
            Some((parent, seq)) => Some((id(parent)?, *seq)),
            None => None,
        },
        lines: entries.iter().map(|line| (*line).to_owned()).collect(),
        link,
    })
}

/// Returns whether a file begins as an export does, even a damaged one. An empty file may be
/// one that was cut off.
fn is_export(bytes: &[u8]) -> bool {
    let head = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    let fields = ["\"export\"", "\"agent\"", "\"source\"", "\"created_ms\""];
    bytes.is_empty() || head.starts_with('{') || fields.iter().any(|field| head.contains(field))
}

/// Splits the export into lines; each must be text and end as a line does.
fn split(bytes: &[u8]) -> Result<Vec<&str>, ExportError> {
    let mut lines = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let damaged =
            |why: &str| ExportError::Damaged { line: lines.len() + 1, seq: None, why: why.into() };
        let text = str::from_utf8(line).map_err(|_| damaged("it is not text"))?;
        let whole = text.strip_suffix('\n').ok_or_else(|| damaged("it is truncated"))?;
        lines.push(whole);
    }
    Ok(lines)
}

fn header(line: &str) -> Result<Header, ExportError> {
    #[derive(Deserialize)]
    struct Versioned {
        export: u16,
    }
    let damaged = |why: String| ExportError::Damaged { line: 1, seq: None, why };
    match serde_json::from_str::<Versioned>(line) {
        Ok(Versioned { export: FORMAT }) => {}
        Ok(Versioned { export }) if export > FORMAT => {
            return Err(ExportError::TooNew { found: export });
        }
        Ok(_) => return Err(damaged("unknown format".into())),
        Err(error) => return Err(damaged(format!("not a header: {error}"))),
    }
    serde_json::from_str(line).map_err(|error| damaged(format!("not a header: {error}")))
}

/// Checks numbers and links, and returns the digest of the last line.
fn chain(entries: &[&str], tail: &str) -> Result<Digest, ExportError> {
    let mut prev = Digest::default();
    for (at, line) in entries.iter().enumerate() {
        let seq = Seq(u64::try_from(at).unwrap_or(u64::MAX)).next();
        // The header is line 1.
        let damaged = |back: u64, why: &str| ExportError::Damaged {
            line: (at + 2).saturating_sub(usize::try_from(back).unwrap_or(0)),
            seq: Some(Seq(seq.0.saturating_sub(back))),
            why: why.into(),
        };
        let link = Link::of(line).ok_or_else(|| damaged(0, "not an entry"))?;
        if link.seq != seq {
            return Err(damaged(0, "another entry is in its place"));
        }
        let digest = Digest::of(line.as_bytes());
        if link.prev != prev {
            // If the next line matches this one, the previous line was changed.
            let next = entries.get(at + 1).and_then(|next| Link::of(next)).map(|next| next.prev);
            let last = serde_json::from_str::<Trailer>(tail).ok().map(|trailer| trailer.link);
            let intact = next.or(last) == Some(digest) && seq > Seq(1);
            return Err(damaged(u64::from(intact), "the line differs from the one written"));
        }
        prev = digest;
    }
    Ok(prev)
}

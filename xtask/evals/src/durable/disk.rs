//! The floor: a record appended to a growing file and flushed, with nothing else.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use super::micros;
use crate::bench::median;

/// Flushes of one look at the disk.
const LOOK: usize = 60;

/// A file that only grows.
pub(crate) struct Raw {
    file: File,
    record: Vec<u8>,
}

impl Raw {
    pub(crate) fn open(path: &Path, record: usize) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self { file: file.context("making a file to flush")?, record: vec![b'x'; record] })
    }

    /// Appends a record and waits until it is on disk.
    pub(crate) fn append(&mut self) -> Result<Duration> {
        let started = Instant::now();
        self.file.write_all(&self.record)?;
        self.file.sync_data().context("flushing")?;
        Ok(started.elapsed())
    }

    /// Returns what a flush takes at this moment, in microseconds.
    pub(crate) fn look(&mut self) -> Result<f64> {
        let times = (0..LOOK).map(|_| self.append().map(micros)).collect::<Result<Vec<_>>>()?;
        Ok(median(&times))
    }
}

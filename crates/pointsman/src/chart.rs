//! Finding a chart: a shipped agent's name, a file, or standard input.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use pointsman_kernel::{agents::Program, chart::RefusedChart};

use crate::{agents::AGENTS, report::Error};

/// A chart's text and where it came from.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name for messages.
    pub(crate) name: String,
    /// The TOML text.
    pub(crate) text: String,
}

impl Source {
    /// Finds a chart. What looks like a path is one; else a shipped name wins.
    pub(crate) fn find(chart: &str) -> Result<Self, Error> {
        if chart == "-" {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|source| Error::Read { path: "standard input".into(), source })?;
            return Ok(Self { name: "standard input".into(), text });
        }
        let path = Path::new(chart);
        if let Some(text) = AGENTS.chart(chart) {
            return Ok(Self { name: format!("{chart} (shipped)"), text: text.into() });
        }
        let looks_like_a_path = path.extension().is_some() || path.components().count() > 1;
        if !looks_like_a_path && !path.exists() {
            return Err(Error::NoSuchChart { name: chart.into() });
        }
        match fs::read(path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Self { name: chart.into(), text }),
                Err(_) => Err(Error::NotText { path: chart.into() }),
            },
            Err(source) => Err(Error::Read { path: chart.into(), source }),
        }
    }

    /// Verifies it against everything that this build can run.
    pub(crate) fn verify(&self) -> Result<Program, RefusedChart> {
        AGENTS.verify(&self.text)
    }

    /// Verifies it for a command that can do nothing with a refused chart.
    pub(crate) fn program(self) -> Result<Program, Error> {
        self.verify().map_err(|refused| Error::Refused { chart: self, refused })
    }
}

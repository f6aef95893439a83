//! Errors on the terminal: what is wrong, where, and what to do next.

use std::{
    env,
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
    path::PathBuf,
};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};
use pointsman_kernel::{chart::Refused, diagnostic::Diagnostic};
use pointsman_runtime::{driver::DriveError, session::SessionError, store::StoreError};
use thiserror::Error;

use crate::chart::Source;

/// What can go wrong on the command line.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file is in the way.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file is not UTF-8.
    #[error("{path} is not a text file")]
    NotText {
        /// The file.
        path: String,
    },
    /// Neither a file nor a shipped agent.
    #[error("no chart is called `{name}`")]
    NoSuchChart {
        /// What was asked for.
        name: String,
    },
    /// No such code.
    #[error("no code is called `{code}`")]
    NoSuchCode {
        /// What was asked for.
        code: String,
    },
    /// The agent cannot be run yet.
    #[error("`{agent}` cannot be run yet")]
    NotYet {
        /// The agent.
        agent: String,
    },
    /// There is no place for journals.
    #[error("neither HOME nor POINTSMAN_JOURNAL is set, so there is no place for journals")]
    NoHome,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// A run cannot be begun, driven or recalled.
    #[error(transparent)]
    Session(SessionError),
    /// The chart was refused.
    #[error("{} was refused", chart.name)]
    Refused {
        /// The chart's text.
        chart: Source,
        /// Why.
        refused: Refused,
    },
}

impl Error {
    /// Returns the exit code.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Refused { .. } => 8,
            Self::Session(SessionError::Drive(DriveError::Diverged { .. })) => 9,
            Self::Store(_) | Self::Session(_) => 10,
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Exists { .. }
            | Self::NotText { .. }
            | Self::NoSuchChart { .. }
            | Self::NoSuchCode { .. }
            | Self::NotYet { .. }
            | Self::NoHome => 2,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Exists { .. } => Some("give another name, or `--force` to replace it".into()),
            Self::NotText { .. } => Some("charts are TOML files in UTF-8".into()),
            Self::NoSuchChart { .. } => {
                let names: Vec<&str> =
                    pointsman_agents::CHARTS.iter().map(|(name, _)| *name).collect();
                Some(format!("give a file, or one of: {}", names.join(", ")))
            }
            Self::NoSuchCode { .. } => Some("`pointsman explain` lists them all".into()),
            Self::NotYet { .. } => {
                Some("so far `pointsman run research \"QUESTION\"` works".into())
            }
            Self::NoHome => Some("set POINTSMAN_JOURNAL to a file".into()),
            Self::Session(SessionError::Drive(DriveError::Diverged { source, .. })) => {
                Some(format!("{source}; replay with the build that wrote the journal"))
            }
            Self::Store(StoreError::NoSuchRun { .. })
            | Self::Session(SessionError::Store(StoreError::NoSuchRun { .. })) => {
                Some("`pointsman runs` lists them".into())
            }
            Self::Read { .. }
            | Self::Write { .. }
            | Self::Refused { .. }
            | Self::Store(_)
            | Self::Session(_) => None,
        }
    }
}

/// Prints an error to standard error.
pub(crate) fn error(error: &Error) {
    let mut text = String::new();
    if let Error::Refused { chart, refused } = error {
        for diagnostic in &refused.diagnostics {
            text.push_str(&render(chart, diagnostic));
        }
        let count = refused.diagnostics.len();
        let reasons = if count == 1 { "reason" } else { "reasons" };
        // Writing to a string cannot fail.
        let _: std::fmt::Result =
            writeln!(text, "{} was refused for {count} {reasons}.", chart.name);
        if let Some(first) = refused.diagnostics.first() {
            let _: std::fmt::Result =
                writeln!(text, "hint: `pointsman explain {}` tells why", first.code);
        }
    } else {
        let _: std::fmt::Result = writeln!(text, "error: {error}");
        if let Some(hint) = error.hint() {
            let _: std::fmt::Result = writeln!(text, "hint: {hint}");
        }
    }
    // Where standard error is closed there is nobody left to tell.
    drop(io::stderr().write_all(text.as_bytes()));
}

/// Prints data to standard output; a closed pipe is a reader who has seen enough.
pub(crate) fn data(text: &str) -> Result<(), Error> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: "standard output".into(), source })
        }
        _ => Ok(()),
    }
}

/// Renders one finding with the lines that it is about.
fn render(source: &Source, diagnostic: &Diagnostic) -> String {
    let span = diagnostic.span;
    let report = MietteDiagnostic::new(diagnostic.message.clone())
        .with_code(diagnostic.code.as_str())
        .with_help(diagnostic.hint.clone())
        .with_label(LabeledSpan::new(None, span.start, span.end.saturating_sub(span.start)));
    let report = miette::Report::new(report)
        .with_source_code(NamedSource::new(&source.name, source.text.clone()));
    let theme =
        if coloured() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100);
    // A report that cannot be drawn is still told, without its picture.
    if handler.render_report(&mut text, report.as_ref()).is_err() {
        text = format!("{} {}\n", diagnostic.code, diagnostic.message);
    }
    text
}

/// Returns whether people who read standard error want colours.
fn coloured() -> bool {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") || env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return false;
    }
    set("CLICOLOR_FORCE") || io::stderr().is_terminal()
}

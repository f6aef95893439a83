//! Errors on the terminal: what is wrong, where, and what to do next.

use std::{
    env,
    error::Error as _,
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
    path::Path,
};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource};
use pointsman_kernel::diagnostic::{Diagnostic, Span};
use pointsman_runtime::config::{ConfigError, Problem};
use pointsman_webdriver::profile::ProfileError;
use serde_json::Value;

pub(crate) use crate::error::Error;
use crate::{chart::Source, format};

/// Prints an error to standard error.
pub(crate) fn error(error: &Error) {
    let mut text = String::new();
    if let Error::Refused { chart, refused } = error {
        for diagnostic in &refused.diagnostics {
            text.push_str(&render(chart, diagnostic));
        }
        let shown = refused.diagnostics.len();
        let count = shown + refused.more;
        let reasons = if count == 1 { "reason" } else { "reasons" };
        // Writing to a string cannot fail.
        let _: std::fmt::Result =
            writeln!(text, "{} was refused for {count} {reasons}.", chart.name);
        if refused.more > 0 {
            let _: std::fmt::Result = writeln!(text, "Only the first {shown} are shown.");
        }
        if let Some(first) = refused.diagnostics.first() {
            let _: std::fmt::Result =
                writeln!(text, "hint: `pointsman explain {}` explains why", first.code);
        }
    } else if let Some((path, source, problems)) = mistakes(error) {
        let source = Source { name: path.display().to_string(), text: source.into() };
        for problem in problems {
            let (message, hint) = (problem.message.clone(), problem.hint.clone());
            text.push_str(&draw(
                &source,
                MietteDiagnostic::new(message).with_help(hint),
                problem.span,
            ));
        }
        let _: std::fmt::Result = writeln!(text, "error: {error}");
        if let Some(hint) = error.hint() {
            let _: std::fmt::Result = writeln!(text, "hint: {hint}");
        }
    } else {
        let _: std::fmt::Result = writeln!(text, "error: {}", whole(error));
        if let Some(hint) = error.hint() {
            let _: std::fmt::Result = writeln!(text, "hint: {hint}");
        }
    }
    // If standard error is closed, there is no one left to notify.
    drop(io::stderr().write_all(text.as_bytes()));
}

/// Returns the file, its text and its mistakes, if an error is about that.
fn mistakes(error: &Error) -> Option<(&Path, &str, &[Problem])> {
    match error {
        Error::Config(ConfigError::Mistakes { path, text, problems })
        | Error::Profile(ProfileError::Mistakes { path, text, problems }) => {
            Some((path, text, problems))
        }
        _ => None,
    }
}

/// Returns an error in a line, with the causes that its message does not hold itself.
pub(crate) fn whole(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let told = source.to_string();
        if !text.contains(&told) {
            text.push_str(": ");
            text.push_str(&told);
        }
        cause = source.source();
    }
    text
}

/// Prints data to standard output; a closed pipe is not an error.
pub(crate) fn data(text: &str) -> Result<(), Error> {
    bytes(text.as_bytes())
}

/// Prints JSON in a line, without terminal control characters.
pub(crate) fn json(value: &Value) -> Result<(), Error> {
    data(&format!("{}\n", format::json(&value.to_string())))
}

/// Prints bytes to standard output.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Write { path: "standard output".into(), source })
        }
        _ => Ok(()),
    }
}

/// Renders one finding with the lines that it is about.
fn render(source: &Source, diagnostic: &Diagnostic) -> String {
    let report = MietteDiagnostic::new(diagnostic.message.clone())
        .with_code(diagnostic.code.as_str())
        .with_help(diagnostic.hint.clone());
    draw(source, report, diagnostic.span)
}

fn draw(source: &Source, report: MietteDiagnostic, span: Span) -> String {
    let plain = report.to_string();
    let length = span.end.saturating_sub(span.start);
    let report = report.with_label(LabeledSpan::new(None, span.start, length));
    let report = miette::Report::new(report)
        .with_source_code(NamedSource::new(&source.name, source.text.clone()));
    let theme =
        if coloured() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100);
    // A report that cannot be drawn is still printed, without its picture.
    if handler.render_report(&mut text, report.as_ref()).is_err() {
        text = format!("{plain}\n");
    }
    text
}

/// Returns whether people who read standard error want colours.
pub(crate) fn coloured() -> bool {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") || env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return false;
    }
    set("CLICOLOR_FORCE") || io::stderr().is_terminal()
}

//! The same entries as a log of `inspect_ai`, and its own page for it.

use std::{fs, path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context, Result, bail};
use pointsman_runtime::store::import::Exported;
use xtask::server::{Ready, Server, free_port};

use super::{LISTENS, OpenPage, figures::PageFigures};
use crate::{
    components::Python,
    place::{self, Scratch},
    process,
};

const WRITES: Duration = Duration::from_mins(5);
/// A sample of a log, on its page.
const SAMPLE: &str = "#/logs/run.eval/samples/sample/1/1/transcript";

/// A log, and the program that shows it.
pub(super) struct InspectView {
    program: PathBuf,
    logs: PathBuf,
}

impl InspectView {
    /// Writes the entries of a run as tool calls of a log.
    pub(super) fn new(python: &Python, scratch: &Scratch, exported: &Exported) -> Result<Self> {
        let (lines, logs) = (scratch.file("entries.jsonl"), scratch.file("logs"));
        fs::create_dir_all(&logs).context("making the folder of logs")?;
        fs::write(&lines, exported.lines.join("\n")).context("writing the entries")?;
        let mut write = process::command(python.program());
        write.arg(place::root().join("xtask/py/inspect_log.py")).arg(lines);
        write.arg(logs.join("run.eval"));
        if !process::run(write, WRITES).context("starting Python")?.well() {
            bail!("the log for `inspect view` cannot be written");
        }
        Ok(Self { program: python.tool("inspect"), logs })
    }

    /// Opens the run, and measures its first screen: the viewer loads all of it for that.
    pub(super) fn visit(&self) -> Result<PageFigures> {
        let port = free_port()?;
        let mut command = process::command(&self.program);
        command.args(["view", "start", "--port", &port.to_string(), "--log-dir"]).arg(&self.logs);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let server = Server::start(command, port, Ready::Answers("/"), LISTENS)?;
        let mut page = OpenPage::open(&format!("{}/{SAMPLE}", server.url()))?;
        let first = page.until("document.querySelector('[id^=event-panel-]')")?;
        let mut figures = PageFigures { first, ..PageFigures::default() };
        page.rest(&mut figures)?;
        Ok(figures)
    }
}

//! `XState` on the bench: one Node process that takes commands, line by line.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use pointsman_kernel::graph;
use serde_json::{Value, json};

use super::{benched_chart::BenchedChart, script::Script};
use crate::place::{self, Scratch};

/// The process. It ends when its input does, so it cannot outlive us.
pub(crate) struct Peer {
    child: Child,
    tell: Option<ChildStdin>,
    hear: BufReader<ChildStdout>,
    _work: Scratch,
}

impl Peer {
    /// Starts Node with the charts and the ways that the kernel has gone.
    pub(crate) fn start(npm: &Path, rigs: &[Box<dyn BenchedChart>]) -> Result<Self> {
        let scratch = Scratch::new()?;
        let file = scratch.file("work.json");
        let work: Vec<Value> = rigs.iter().map(|rig| work(rig.as_ref())).collect();
        fs::write(&file, Value::from(work).to_string())?;
        let mut node = Command::new("node");
        node.arg(place::script("js/bench.mjs")).args([npm, &file]);
        node.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = node.spawn().context("starting node")?;
        let tell = child.stdin.take();
        let hear = BufReader::new(child.stdout.take().context("node has an output")?);
        Ok(Self { child, tell, hear, _work: scratch })
    }

    /// Has `XState` go all ways of one chart, and returns how long that took.
    pub(crate) fn pass(&mut self, chart: usize) -> Result<Duration> {
        let tell = self.tell.as_mut().context("node has an input")?;
        writeln!(tell, "{chart}")?;
        let mut line = String::new();
        self.hear.read_line(&mut line)?;
        ensure!(!line.is_empty(), "node has gone; what it said is above");
        Ok(Duration::from_nanos(line.trim().parse().context("node tells nanoseconds")?))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.tell.take());
        drop(self.child.wait());
    }
}

fn work(rig: &dyn BenchedChart) -> Value {
    let sequence = |script: &Script| json!({ "events": script.names, "end": script.end });
    json!({
        "chart": rig.chart().name(),
        "config": graph::xstate(rig.chart()),
        "sequences": rig.scripts().iter().map(sequence).collect::<Vec<_>>(),
    })
}

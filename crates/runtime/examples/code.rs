//! Coding work by a plan, run to its end by your own program.
//!
//! ```text
//! POINTSMAN_MODEL=anthropic:claude-sonnet-4-5 cargo run --example code -- FOLDER "GOAL" "PHASE" "PHASE"
//! ```
//!
//! The runs are stored in `FOLDER/.pointsman`. Files may be changed, commands may not run, and no
//! one is asked: calls that need approval are denied, and the model learns why.

#![expect(clippy::print_stdout, reason = "it shows what happens")]

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
};

use pointsman_kernel::{
    body::Body,
    governor::{Grant, Level, Permissions},
};
use pointsman_runtime::{
    config::Config,
    local_executor::LocalExecutor,
    observe::Notice,
    session::{Session, StartOptions, Unattended},
    store::RunId,
    timeline::{TimelineKind, is_stuck},
};
use serde_json::{Value, json};

/// The tools that run without asking.
const ALLOWED: [&str; 5] = ["read", "list", "search", "edit", "write"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("say which folder to work in")?);
    let goal = arguments.next().ok_or("say what is to be done")?;
    // A phase ends when the model says how it ended; none is a success by default.
    let phases: Vec<Value> = arguments.map(|phase| json!({ "description": phase })).collect();

    let session = Session::open(
        pointsman_agents::all(),
        &folder.join(".pointsman/journal.db"),
        &folder.join(".pointsman/cache"),
    )?;
    let executor = executor(&session, &folder)?;
    let source = pointsman_agents::code::CHART;
    let program = session.agents().verify(source).map_err(|_| "the chart is refused")?;
    let allow = |tool: &str| Grant {
        tool: tool.into(),
        arguments: Vec::new(),
        level: Level::Allow,
        until: None,
    };
    let start = StartOptions {
        program,
        source: source.into(),
        config: json!({ "phases": phases }).into(),
        goal: goal.as_str().into(),
        words: vec![Body::canonical(&json!({ "text": goal }))],
        permissions: Permissions {
            otherwise: Level::Ask,
            rules: ALLOWED.map(allow).into(),
            attended: false,
        },
        seed: None,
    };

    // It gets the goal and the end of the input, and runs until it ends. If it is killed,
    // `pointsman resume RUN --journal …` continues it.
    let observer = |_: &RunId, notice: &Notice| match notice.kind() {
        Some(TimelineKind::Transition { to: Some(to), reason, .. }) => println!("[{to}: {reason}]"),
        Some(TimelineKind::Started { call: Some(call), .. }) => println!("[calls {}]", call.tool),
        Some(TimelineKind::Verdict(verdict)) if is_stuck(verdict) => {
            println!("[stuck: {}]", verdict.reason);
        }
        _ => {}
    };
    let outcome = session.run(&executor, start, vec![Arc::new(observer)], &mut Unattended)?;
    println!("{}", outcome.result.unwrap_or_default());
    println!("[{:?} after {} steps: run {}]", outcome.status, outcome.steps, outcome.run);
    Ok(())
}

/// Sets up the model and the tools.
fn executor(session: &Session, folder: &Path) -> Result<LocalExecutor, Box<dyn Error>> {
    let variable = |name: &str| env::var(name).ok();
    let config = Config::default().with_env(&variable);
    Ok(session.executor(config.engine(session.agents(), folder, session.cache(), &variable)?)?)
}

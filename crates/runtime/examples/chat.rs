//! A conversation with `chat`, held by your own program.
//!
//! ```text
//! POINTSMAN_MODEL=ollama:llama3.2 cargo run --example chat -- FOLDER "What is in here?" "Why?"
//! ```
//!
//! The runs are kept in `FOLDER/.pointsman`. Without a model, `quote` answers, which asks
//! none. Whatever would change something is asked for on standard input.

#![expect(clippy::print_stdout, reason = "it shows what happens")]

use std::{
    env,
    error::Error,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
};

use pointsman_kernel::governor::Permissions;
use pointsman_runtime::{
    config::Config,
    local_executor::LocalExecutor,
    observe::{LiveNotice, Notice, Question},
    session::{ApprovalDecision, CommandSender, Session, StartOptions},
    store::RunId,
    timeline::TimelineKind,
    tool,
};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("say which folder to work in")?);
    let session = Session::open(
        pointsman_agents::all(),
        &folder.join(".pointsman/journal.db"),
        &folder.join(".pointsman/cache"),
    )?;
    let executor = executor(&session, &folder)?;

    // 1. Begin a run. Its first entry is on disk when this returns.
    let source = pointsman_agents::chat::CHART;
    let program = session.agents().verify(source).map_err(|_| "the chart is refused")?;
    let start = StartOptions {
        program,
        source: source.into(),
        config: json!({}).into(),
        goal: "an example".into(),
        words: Vec::new(),
        permissions: Permissions::ask_all(),
        seed: None,
    };
    let (sender, notices) = mpsc::channel();
    let sender = Mutex::new(sender);
    let observer = move |_: &RunId, notice: &Notice| {
        // Observers should be quick: the receiver does the slow work.
        if let Ok(sender) = sender.lock() {
            drop(sender.send(notice.clone()));
        }
    };
    let talk = session.converse(&executor, start, vec![Arc::new(observer)])?;
    let commands = talk.commands();

    // 2. Say everything. What is said to a busy run waits, on disk, until it listens.
    for words in arguments {
        commands.say(&words);
    }
    commands.close();

    // 3. Show what happens, and answer what is asked, until the run has ended.
    for notice in notices {
        show(&notice, &commands)?;
    }
    let outcome = talk.wait()?;
    println!("[{:?} after {} steps: run {}]", outcome.status, outcome.steps, outcome.run);
    Ok(())
}

/// Sets up the model and the tools.
fn executor(session: &Session, folder: &Path) -> Result<LocalExecutor, Box<dyn Error>> {
    let variable = |name: &str| env::var(name).ok();
    let config = Config::default().with_env(&variable);
    Ok(session.executor(config.engine(session.agents(), folder, session.cache(), &variable)?)?)
}

fn show(notice: &Notice, commands: &CommandSender) -> io::Result<()> {
    let kind = match notice {
        Notice::Item(item) => &item.kind,
        Notice::Live(LiveNotice::Ask(question)) => return ask(question, commands),
        Notice::Live(_) => return Ok(()),
    };
    match kind {
        TimelineKind::Started { call: Some(call), .. } => {
            println!("[calls {} {}]", call.tool, call.arguments.get());
        }
        TimelineKind::Answered { ok, .. } => {
            if let Some(output) = kind.output() {
                println!("{}{output}", if *ok { "" } else { "[failed] " });
            }
        }
        TimelineKind::Listens { error: Some(error) } => {
            println!("[no answer: {}]", error.message);
        }
        _ => {}
    }
    Ok(())
}

/// Asks on standard input. Any answer but `yes` goes to the model.
fn ask(question: &Question, commands: &CommandSender) -> io::Result<()> {
    let call = question.call().and_then(|call| tool::Toolbox::default().describe(call));
    println!("[may this run? Say `yes`, or why not]\n{}", call.unwrap_or_default());
    let mut said = String::new();
    io::stdin().read_line(&mut said)?;
    let (granted, reason) = (said.trim() == "yes", said.trim().to_owned());
    commands.decide(question.effect, ApprovalDecision { granted, reason, remember: None });
    Ok(())
}

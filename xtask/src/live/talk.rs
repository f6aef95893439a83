//! A conversation with a served model: five turns that end, and a complete history.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use pointsman_kernel::{
    chart::Disposition,
    governor::{Grant, Level, Permissions},
};
use pointsman_runtime::{
    driver::RunStatus,
    engine::EngineConfig,
    model::{self, Spec},
    observe::{Notice, Observer},
    session::{Session, StartOptions},
    store::RunId,
    timeline::TimelineKind,
    tool,
};
use serde_json::json;

use crate::{history, place, server::Server};

/// The messages, in order.
const WORDS: [&str; 5] = [
    "Hello! Who are you? Answer in one sentence.",
    "What is two plus three?",
    "Which files are in this folder? Look for yourself.",
    "What does prices.py do?",
    "Thank you. Say goodbye in one word.",
];
/// Nothing but looking, and little of it: each tool is a long prompt for a weak model.
const TOOLS: [&str; 2] = ["list", "read"];
const MAX_TOKENS: u32 = 48;
/// How long a turn may take: three attempts of two minutes, and a little. What takes
/// longer hangs.
const TURN_CAP: Duration = Duration::from_mins(7);

/// How a conversation went.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// For each turn, what the model said or why it has no answer.
    turns: Vec<Result<String, String>>,
    /// Its problems.
    wrong: Vec<String>,
}

impl Talk {
    /// Says five things to a model, and waits for the end of each turn.
    pub(super) fn hold(folder: &Path, server: &Server, name: &str) -> Result<Self> {
        let work = folder.join("work");
        fs::create_dir_all(&work)?;
        fs::copy(place::script("code/before/prices.py"), work.join("prices.py"))?;
        let session = Session::open(
            pointsman_agents::all(),
            &folder.join("journal.db"),
            &folder.join("cache"),
        )?;
        let executor = session.executor(settings(&work, folder, server, name)?)?;
        let (sender, told) = mpsc::channel();
        let sender = Mutex::new(sender);
        let observer = move |_: &RunId, notice: &Notice| {
            // The receiver may be gone.
            drop(sender.lock().unwrap_or_else(PoisonError::into_inner).send(notice.clone()));
        };
        let observers: Vec<Arc<dyn Observer>> = vec![Arc::new(observer)];
        let conversation = session.converse(&executor, start()?, observers)?;
        let (run, commands) = (conversation.run().clone(), conversation.commands());
        let mut talk = Self::default();
        turn(&told).context("before anything was said")?.map_err(|why| anyhow!("{why}"))?;
        for words in WORDS {
            commands.say(words);
            match turn(&told) {
                Ok(turn) => talk.turns.push(turn),
                Err(why) => {
                    commands.leave();
                    drop(commands);
                    let end = conversation.wait();
                    return Err(why.context(format!("after `{words}`, at {end:?}")));
                }
            }
        }
        commands.close();
        until(&told, |notice| notice.is_end().then_some(()))
            .context("after everything was said")?;
        drop(commands);
        let outcome = conversation.wait()?;
        if outcome.status != RunStatus::Ended(Disposition::Succeeded) {
            talk.wrong.push(format!("it ended as {:?}", outcome.status));
        }
        if let Err(error) = session.recall(&run, None) {
            talk.wrong.push(format!("it cannot be replayed: {error}"));
        }
        let prompts = session.block_on(session.store().prompts(&run))?;
        if prompts.len() < WORDS.len() {
            talk.wrong.push(format!("{} prompts were kept", prompts.len()));
        }
        talk.wrong.extend(prompts.iter().flat_map(|prompt| history::complaints(&prompt.parts)));
        Ok(talk)
    }

    /// Returns how it went in a few words, or everything that is wrong with it.
    pub(super) fn judge(mut self) -> Result<String, Vec<String>> {
        for (at, turn) in (1..).zip(&self.turns) {
            if turn.as_ref().unwrap_or_else(|why| why).trim().is_empty() {
                self.wrong.push(format!("turn {at} has neither an answer nor an error"));
            }
        }
        let answered = self.turns.iter().filter(|turn| turn.is_ok()).count();
        if answered == 0 {
            self.wrong.push(format!("no turn has an answer: {:?}", self.turns));
        }
        if self.wrong.is_empty() {
            return Ok(format!("succeeded ({answered} of {} turns answered)", WORDS.len()));
        }
        Err(self.wrong)
    }
}

fn settings(work: &Path, folder: &Path, server: &Server, name: &str) -> Result<EngineConfig> {
    let spec: Spec = format!("openai-compatible:{name}").parse()?;
    let url = format!("{}/v1", server.url());
    let mut model = model::ModelSettings::from_env(spec, Some(&url), &|_| None)?;
    model.max_tokens = MAX_TOKENS;
    let mut tools = tool::ToolSettings::over(work, folder.join("index.db"));
    tools.sandbox.helper = Some(tool::sandbox::OWN_PROGRAM.into());
    Ok(EngineConfig::new(model, tools))
}

fn start() -> Result<StartOptions> {
    let source = pointsman_agents::chat::CHART;
    let program = pointsman_agents::all()
        .verify(source)
        .map_err(|refused| anyhow!("the chart is refused: {refused:?}"))?;
    let allow = |tool: &&str| Grant {
        tool: (*tool).into(),
        arguments: Vec::new(),
        level: Level::Allow,
        until: None,
    };
    let rules = TOOLS.iter().map(allow).collect();
    Ok(StartOptions {
        program,
        source: source.into(),
        config: json!({ "tools": TOOLS }).into(),
        goal: "a conversation".into(),
        words: Vec::new(),
        permissions: Permissions { otherwise: Level::Refuse, rules, attended: false },
        seed: Some(5),
    })
}

/// Waits for the end of a turn, and returns its last words or why there are none.
fn turn(told: &mpsc::Receiver<Notice>) -> Result<Result<String, String>> {
    let mut said = String::new();
    let mut asked = None;
    until(told, |notice| match notice.kind()? {
        TimelineKind::Started { effect, call: None, .. } => {
            asked = Some(*effect);
            None
        }
        kind @ TimelineKind::Answered { effect, ok: true, .. } if asked == Some(*effect) => {
            if let Some(output) = kind.output() {
                output.clone_into(&mut said);
            }
            None
        }
        TimelineKind::Listens { error } => Some(error.clone()),
        _ => None,
    })
    .map(|error| {
        error.map_or(Ok(said), |error| Err(format!("{:?}: {}", error.kind, error.message)))
    })
}

/// Waits for a notice, and returns the result of a function on it.
fn until<T>(
    told: &mpsc::Receiver<Notice>,
    mut wanted: impl FnMut(&Notice) -> Option<T>,
) -> Result<T> {
    let since = Instant::now();
    while let Some(left) = TURN_CAP.checked_sub(since.elapsed()) {
        match told.recv_timeout(left) {
            Ok(notice) => {
                if let Some(found) = wanted(&notice) {
                    return Ok(found);
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => break,
            Err(mpsc::RecvTimeoutError::Disconnected) => bail!("it went silent"),
        }
    }
    bail!("it takes longer than {} s", TURN_CAP.as_secs())
}

//! `pointsman chat`: a conversation with an agent.

use std::{
    io::{self, IsTerminal},
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser},
};
use pointsman_runtime::{
    clock::now_ms, model::Provider, observe::Observer, session::Session, store::RunRow,
};
use serde_json::json;

use super::{run::json_line, runs::object};
use crate::{
    agents::AGENTS,
    budgets::Budgets,
    chart::Source,
    chat::{self, ChatSession, Mode},
    commits,
    conversations::{self, ConversationFilter, FoundConversation},
    drive::{Drive, others},
    json_lines::JsonLines,
    notify::note,
    paths::{Globals, variable},
    piped_input::{self, FirstMessage, PipedLimits},
    report::{self, Error},
    rules::Rules,
    run_argument::RunArgument,
    standing::status,
    terminal_approver,
};

/// Talk with an agent that can use tools.
#[derive(Args, Debug)]
#[command(after_help = "\
At a terminal you get a prompt: Enter sends, Alt-Enter or a `\\` at the end starts a new line,
Ctrl-C cancels the turn and keeps the conversation; a second Ctrl-C leaves, and so does Ctrl-D.
Messages that you type during a turn are sent when the turn ends. `/help` lists the rest.

Without a terminal you send one message: MESSAGE, with piped input as an attachment. The answer
goes to standard output. `--lines` makes each line of standard input a message.

Read-only tools run without asking; everything else prompts. The prompt shows the whole call. Allow
it once, always allow calls like it, or deny it with a reason for the model.

If neither `--model`, POINTSMAN_MODEL nor the settings name a model, `quote` answers: it is
built in, asks no model, and quotes matching passages.

Examples:
  pointsman chat --model anthropic:claude-sonnet-4-5
  pointsman chat --model ollama:llama3.2 \"What does this project do?\"
  pointsman chat --agent code --dir ~/src/project --allow 'shell:command=cargo test*'
  pointsman chat --list                  list the conversations of this folder, newest first
  pointsman chat --resume                resume one of them
  cat error.log | pointsman chat -p \"Explain this log\"

Exit codes: 0 you left or the conversation ended, 1 the last message has no answer,
2 usage or configuration, 3 waiting for a person, 4 budget, 5 stuck, 6 cancelled, 10 store
fault.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Chat {
    /// The first message.
    message: Option<String>,
    /// The agent to talk with.
    #[arg(long, value_parser = talkers(), default_value = talker())]
    agent: String,
    /// Resume a conversation: an id, or a unique prefix of one. Without a value, you choose from
    /// the conversations of this folder and agent; without a terminal, the newest is resumed.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "newest")]
    resume: Option<String>,
    /// List the conversations of this folder.
    #[arg(long, conflicts_with_all = ["resume", "message"])]
    list: bool,
    /// With `--resume` or `--list`: include every folder and agent.
    #[arg(long)]
    all: bool,
    /// Print only the last answer, and exit.
    #[arg(short, long)]
    print: bool,
    /// Send each line of standard input as its own message.
    #[arg(long, conflicts_with = "print")]
    lines: bool,
    #[command(flatten)]
    drive: Drive,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    budgets: Budgets,
}

/// Returns the agents that hold conversations, with what each is for.
pub(super) fn talkers() -> PossibleValuesParser {
    AGENTS
        .conversational()
        .map(|agent| PossibleValue::new(agent.name).help(agent.about))
        .collect::<Vec<_>>()
        .into()
}

/// Returns the agent that one talks with where none is named.
pub(super) fn talker() -> &'static str {
    AGENTS.conversational().next().map_or("", |agent| agent.name)
}

impl Chat {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        if self.list {
            return self.list(&session);
        }
        let on_screen =
            terminal_approver::is_there() && io::stdout().is_terminal() && !self.drive.json;
        let on_screen = on_screen && !self.print && !self.lines;
        let on_screen = on_screen && variable("TERM").is_none_or(|term| term != "dumb");
        let resumed = match &self.resume {
            Some(typed) => match self.resumed(&session, typed, on_screen)? {
                None => return Ok(ExitCode::SUCCESS),
                resumed => resumed,
            },
            None => None,
        };
        let drive = match &resumed {
            Some(row) => self.drive.resuming(&session, &row.id)?,
            None => self.drive,
        };
        let mut config = drive.config()?;
        let there = !self.rules.unattended && !self.print;
        commits::settle(&drive, &mut config, AGENTS.decl(&self.agent), there);
        let json = drive.json;
        // At a terminal, every line is a message in any case.
        let lines = !self.print && (self.lines || io::stdin().is_terminal());
        let limits = PipedLimits::of(config.talk(AGENTS.decl(&self.agent)));
        let piped = if lines { None } else { piped_input::read(limits)? };
        let message = FirstMessage::of(self.message, piped);
        if self.print && message.is_none() {
            return Err(Error::NothingToSay);
        }
        let model = config.model.settings(&variable).map_err(Error::Model)?;
        let (executor, _) = drive.executor(&session, &config)?;
        if !json && !self.print {
            greet(model.spec.provider(), &model.spec.to_string(), on_screen);
        }
        let attended = !self.rules.unattended;
        self.rules.report_void(&config.permissions, &executor);
        let permissions = config.permissions.permissions(self.rules.grants(), attended);
        let objects: Option<Arc<dyn Observer>> =
            json.then(|| Arc::new(JsonLines) as Arc<dyn Observer>);
        let (stirred, ending) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        if on_screen {
            let (stirs, ends) = (Arc::clone(&stirred), Arc::clone(&ending));
            let told = move || {
                ends.store(true, Ordering::Release);
                stirs.store(true, Ordering::Release);
            };
            session.when_ending(told).map_err(Error::Session)?;
        }
        let mut chart = Source::find(&self.agent)?;
        self.budgets.over(&mut chart, &config)?;
        let room = ChatSession {
            session: &session,
            chart: &chart.text,
            executor: &executor,
            agent: &self.agent,
            config: json!({}),
            permissions,
            seed: None,
            folder: drive.dir().into(),
            others: others().into_iter().chain(objects).collect(),
            stirred,
            ending,
        };
        if on_screen {
            chat::talk(&room, resumed.as_ref(), message)
        } else {
            let mode = Mode { lines, json, last: self.print && !json };
            chat::plainly(&room, resumed.as_ref(), message, mode)
        }
    }

    /// Returns the conversation to resume; nothing if the person chooses none.
    fn resumed(&self, session: &Session, typed: &str, asks: bool) -> Result<Option<RunRow>, Error> {
        if typed == "newest" || typed == "last" {
            let folder = conversations::whole(self.drive.dir());
            return self.wanted(&folder).choose(session, asks && typed == "newest", None);
        }
        let none = || Error::NoSuchRun { typed: typed.into(), none: false };
        let which: RunArgument = typed.parse().map_err(|_| none())?;
        let row = which.find(session)?;
        chat::check(&row)?;
        Ok(Some(row))
    }

    /// Returns which conversations are meant where none is named.
    fn wanted<'a>(&'a self, folder: &'a Path) -> ConversationFilter<'a> {
        if self.all {
            return ConversationFilter { agent: None, folder: None };
        }
        ConversationFilter { agent: Some(&self.agent), folder: Some(folder) }
    }

    fn list(&self, session: &Session) -> Result<ExitCode, Error> {
        let folder = conversations::whole(self.drive.dir());
        let folder = Some(folder.as_path()).filter(|_| !self.all);
        let found = ConversationFilter { agent: None, folder }.find(session, usize::MAX)?;
        if self.drive.json {
            for FoundConversation { row, dir } in &found {
                let mut told = object(row);
                if let Some(fields) = told.as_object_mut() {
                    let dir = dir.as_ref().map(|dir| dir.display().to_string());
                    fields.insert("dir".into(), dir.into());
                }
                json_line(&told)?;
            }
        } else if found.is_empty() {
            note(match folder {
                Some(_) => "no conversations in this folder; `--all` lists every folder",
                None => "no conversations yet; `pointsman chat` starts one",
            });
        } else {
            report::data(&conversations::table(&found, now_ms(), |row| status(session, row).text))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Says which model answers, and how to choose one if none was chosen.
fn greet(provider: Provider, name: &str, on_screen: bool) {
    if provider == Provider::Quote {
        note(
            "No model is set, so `quote` answers: it searches this folder and quotes matching passages.",
        );
        note(
            "Choose a model with `--model`, or permanently in pointsman.toml (`[model] use = …`):",
        );
        note(
            "  --model anthropic:NAME | openai:NAME | gemini:NAME    with its key in the environment",
        );
        note("  --model ollama:NAME                                   on this machine, no key");
    } else if on_screen {
        note(&format!("{name} answers. /help lists commands, Ctrl-D leaves."));
    }
    if on_screen {
        note("");
    }
}

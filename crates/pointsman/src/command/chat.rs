//! `pointsman chat`: a conversation with an agent.

use std::{
    io::{self, IsTerminal},
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
    clock::now_ms,
    model::Provider,
    observe::Observer,
    session::{Session, TALKERS},
    store::RunRow,
};
use serde_json::json;

use super::{
    run::json_line,
    runs::{object, stands, table},
};
use crate::{
    budgets::Budgets,
    chart::Source,
    chat::{self, Room},
    commits,
    drive::{Drive, others},
    lines::Lines,
    person,
    place::{self, Globals, variable},
    report::{self, Error},
    rules::Rules,
    tell::note,
    which::Which,
};

/// Talk with an agent that can use tools.
#[derive(Args, Debug)]
#[command(after_help = "\
On a terminal there is a prompt: Enter sends, Alt-Enter or a `\\` at the end begins another line,
Ctrl-C cancels the turn and keeps the conversation, a second one leaves, Ctrl-D leaves. What you
type while a turn goes on waits for its end. `/help` lists the rest.

Without a terminal each line of standard input is a message, and answers go to standard output.

Nothing but looking is done unasked. A call that needs a yes is shown whole: once, always for
calls like it, or no with a reason that the model is told.

Without `--model`, `quote` answers: it is built in, asks no model, and quotes what it finds.

Examples:
  pointsman chat --model anthropic:claude-sonnet-4-5
  pointsman chat --model ollama:llama3.2 \"What does this project do?\"
  pointsman chat --agent code --dir ~/src/project --allow 'shell:command=cargo test*'
  pointsman chat --list                  the conversations, the newest first
  pointsman chat --resume                go on with the newest
  echo \"Who sets the points?\" | pointsman chat

Exit codes: 0 done or left, 1 the last message has no answer, 2 usage or configuration,
3 waiting for a person, 5 stuck, 6 cancelled, 10 store fault.")]
pub(crate) struct Chat {
    /// What to say first.
    message: Option<String>,
    /// The agent to talk with.
    #[arg(long, value_parser = talkers(), default_value = TALKERS[0])]
    agent: String,
    /// Go on with a conversation: its id or the beginning of it, or the newest one.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "newest")]
    resume: Option<String>,
    /// List the conversations.
    #[arg(long, conflicts_with_all = ["resume", "message"])]
    list: bool,
    #[command(flatten)]
    drive: Drive,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    budgets: Budgets,
}

/// Returns the agents that hold conversations, with what each is for.
pub(super) fn talkers() -> PossibleValuesParser {
    let described = |name: &'static str| {
        let value = PossibleValue::new(name);
        match name {
            "chat" => value.help("a conversation, with tools that you allow"),
            "code" => value.help("coding work in phases, by a plan that you approve"),
            _ => value,
        }
    };
    TALKERS.map(described).into()
}

impl Chat {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let session = globals.session()?;
        if self.list {
            return list(&session, self.drive.json);
        }
        let resumed = self.resumed(&session)?;
        let drive = match &resumed {
            Some(row) => self.drive.going_on(&session, &row.id)?,
            None => self.drive,
        };
        let mut settled = place::settled(drive.dir())?;
        commits::settle(&drive, &mut settled, &self.agent, !self.rules.unattended);
        let json = drive.json;
        let on_screen = person::is_there() && io::stdout().is_terminal() && !json;
        let on_screen = on_screen && variable("TERM").is_none_or(|term| term != "dumb");
        let model = drive.model(&settled.config.model)?;
        let host = drive.host(&session, &settled)?;
        if !json {
            greet(model.spec.provider(), &model.spec.to_string(), on_screen);
        }
        let attended = !self.rules.unattended;
        self.rules.tell_void(&settled.config.permissions, &host);
        let permissions = settled.config.permissions.permissions(self.rules.grants(), attended);
        let lines: Option<Arc<dyn Observer>> = json.then(|| Arc::new(Lines) as Arc<dyn Observer>);
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
        self.budgets.over(&mut chart, &settled.config)?;
        let room = Room {
            session: &session,
            chart: &chart.text,
            host: &host,
            agent: &self.agent,
            config: json!({}),
            permissions,
            seed: None,
            folder: drive.dir().into(),
            others: others().into_iter().chain(lines).collect(),
            stirred,
            ending,
        };
        // As at the prompt, blanks say nothing.
        let message = self.message.filter(|message| !message.trim().is_empty());
        if on_screen {
            chat::talk(&room, resumed.as_ref(), message)
        } else {
            chat::lines(&room, resumed.as_ref(), message, json)
        }
    }

    /// Returns the conversation to go on with.
    fn resumed(&self, session: &Session) -> Result<Option<RunRow>, Error> {
        let Some(typed) = &self.resume else { return Ok(None) };
        if typed == "newest" || typed == "last" {
            return chat::conversations(session)?
                .into_iter()
                .next()
                .map(Some)
                .ok_or(Error::NoTalks);
        }
        let none = || Error::NoSuchRun { typed: typed.clone(), none: false };
        let which: Which = typed.parse().map_err(|_| none())?;
        let row = which.find(session.store())?;
        chat::check(&row)?;
        Ok(Some(row))
    }
}

fn list(session: &Session, json: bool) -> Result<ExitCode, Error> {
    let rows = chat::conversations(session)?;
    if json {
        for row in &rows {
            json_line(&object(row))?;
        }
    } else if rows.is_empty() {
        note("no conversations yet: `pointsman chat` begins one");
    } else {
        report::data(&table(&rows, now_ms(), |row| stands(session, row)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says who answers, and how to choose somebody else where nobody was chosen.
fn greet(provider: Provider, name: &str, on_screen: bool) {
    if provider == Provider::Quote {
        note(
            "No model is chosen: `quote` answers. It only searches this folder and quotes what matches.",
        );
        note(
            "Choose a model with `--model`, or once for all in pointsman.toml (`[model] use = …`):",
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

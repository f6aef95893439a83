//! What to do next about what went wrong.

use std::{io, path::Path};

use pointsman_kernel::diagnostic::did_you_mean;
use pointsman_runtime::{
    driver::DriveError, local_executor::ExecutorError, session::SessionError, tool::ToolError,
};

use super::Error;
use crate::agents::AGENTS;

const LINE: &str = "the lines before this one are queued: correct this line, and submit it with those after it. \
                    Submit the whole file again only if each line has a `request`";
const NOT_FOR_WORKERS: &str = "leave it out: a worker uses the folder and the model that the journal names, \
                               and the settings of that folder";
const FOLDER: &str = "give an existing folder with `--dir`";
const NO_PROFILE: &str = "give `--profile FILE`, or set `profile` in `[form]` of your settings; \
                          `pointsman profile example` prints one to start from";
const NO_TALKS_HERE: &str =
    "`pointsman chat --list --all` lists the conversations of every folder and agent";
const LOG_FILTER: &str = "use a level (error, warn, info, debug, trace) or `target=level`, such \
                          as `pointsman_runtime=debug`";
const NO_TERMINAL: &str =
    "`pointsman runs` and `pointsman show RUN` print the same; `--json` is for scripts";
const PIPE_LONG: &str = "shorten it, for example with `tail -c 100000`, or raise `piped` in `[chat]` \
                         of the settings";
const PIPE_OPEN: &str = "add `< /dev/null` if you pipe nothing in, or raise `piped_timeout` in \
                         `[chat]` of the settings";

impl Error {
    /// Returns what to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exists { unless: Some(option), .. } => {
                format!("give another name, or `{option}` to replace it")
            }
            Self::Exists { unless: None, .. } => "give another name".into(),
            Self::NotText { .. } => "charts are TOML files in UTF-8".into(),
            Self::NoSuchChart { name } => {
                let names = AGENTS.charts().iter().map(|(name, _)| *name);
                let near = did_you_mean(name, names.clone(), "agent");
                let near = if near.starts_with("did") { near + " Or " } else { String::new() };
                let names: Vec<&str> = names.collect();
                format!("{near}give a chart file, or one of: {}", names.join(", "))
            }
            Self::Unquoted { agent, goal } => {
                format!("quote the goal: `pointsman run {agent} {}`", quoted(goal))
            }
            Self::NotExport { path }
                if Path::new(path).extension().is_some_and(|it| it == "toml") =>
            {
                format!(
                    "`pointsman check {path}` checks a chart; `pointsman export RUN` writes a run"
                )
            }
            Self::NotExport { .. } => "`pointsman export RUN > run.jsonl` writes one".into(),
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path".into()
            }
            Self::NoSuchCode { .. } => "`pointsman explain` lists all codes".into(),
            Self::NoGoal { agent } | Self::GoalSet { agent } => {
                format!("write `pointsman run {agent} \"GOAL\"`")
            }
            Self::NoSuchSlot { hint, .. } => hint.clone(),
            Self::Budget(error) => error.hint().into(),
            Self::NoTalks => "`pointsman chat` starts one".into(),
            Self::NoTalksHere { .. } => NO_TALKS_HERE.into(),
            Self::NoneHere { .. } => {
                "`pointsman runs` lists all runs; `pointsman resume RUN` resumes one".into()
            }
            Self::PipeLong { .. } => PIPE_LONG.into(),
            Self::PipeOpen { .. } => PIPE_OPEN.into(),
            Self::NothingToSay => "write a message, or pipe one in".into(),
            Self::NoTerminal => NO_TERMINAL.into(),
            Self::NoTalker { run, .. } => format!("`pointsman resume {run}` continues it"),
            Self::Plan(error) => error.hint().into(),
            Self::NoQueue | Self::AgentOrChart | Self::Time { .. } | Self::Line { .. } => {
                self.request_hint().into()
            }
            Self::NoUrl => "write `pointsman run form --url URL --profile FILE`".into(),
            Self::NoProfile => NO_PROFILE.into(),
            Self::Profile(error) => return error.hint().map(Into::into),
            Self::Explore(error) => error.hint(),
            Self::OnlyForms { option, .. } => format!("leave `{option}` out, or run `form`"),
            Self::NoPlan { .. } => "leave `--plan` out, or run `code`".into(),
            Self::NoDatabase => "give `--store URL`, or set POINTSMAN_STORE".into(),
            Self::NoHome => "set POINTSMAN_JOURNAL to a file".into(),
            Self::NoSuchRun { none: true, .. } => {
                "there are no runs yet; start one with `pointsman run research \"QUESTION\"`".into()
            }
            Self::NoSuchRun { .. } => "`pointsman runs` lists all runs".into(),
            Self::SeveralRuns { ids, .. } => {
                let few: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
                format!("type a longer prefix: {}", few.join(", "))
            }
            Self::TooLate { run, .. } => {
                format!("`pointsman resume {run}` continues the run as if the answer were no")
            }
            Self::Ignored { run, .. } | Self::AsksNothing { run } => {
                format!("`pointsman show {run}` shows its state")
            }
            Self::NoSuchQuestion { open, .. } if open.is_empty() => {
                "it has no open question".into()
            }
            Self::NoSuchQuestion { open, .. } => format!("its open questions: {}", open.join(", ")),
            Self::NoRule { offered, .. } => {
                let offered = offered.iter().map(|rule| format!("`--always='{rule}'`, "));
                let offered: String = offered.collect();
                format!("write {offered}`--always=tool` for every call, or leave `--always` out")
            }
            Self::NotForWorkers { .. } => NOT_FOR_WORKERS.into(),
            Self::QueuedChild { run, parent } => format!(
                "`pointsman resume {parent} --queue` queues the parent, which resumes its child; `pointsman fork {run} --queue` continues the child in a run of its own"
            ),
            Self::HasEnded { run, .. } => format!("`pointsman fork {run}` continues in a new run"),
            Self::NoFolder { .. } => "use `--dir` to name another folder".into(),
            Self::Elsewhere { run, .. } => {
                format!("leave, then run `pointsman chat --resume {run}`")
            }
            Self::PruneWhich => "give `--older-than 30d` or `--keep 100`".into(),
            Self::NoServers { .. } => "list your servers in `.mcp.json`, or give `--dir`".into(),
            Self::LogFilter { .. } => LOG_FILTER.into(),
            Self::LogFormat { .. } => "set it to `text` or `json`".into(),
            Self::ForeignChart { .. } => "replay the export with the build that wrote it".into(),
            Self::NoField(_) => "`pointsman fields PAGE --json` prints the selectors".into(),
            Self::Tools(ToolError::Root { .. }) => FOLDER.into(),
            _ => return self.inner_hint(),
        })
    }

    /// Returns what the error that this one holds says.
    fn inner_hint(&self) -> Option<String> {
        Some(match self {
            Self::Page(error) => error.hint(),
            Self::Serve(error) => error.hint(),
            Self::Token(error) => error.hint(),
            Self::Browser(error) => return error.hint().map(Into::into),
            Self::Model(error) => error.hint(),
            Self::Mcp(error) => return error.hint(),
            Self::Store(error) => return error.hint(),
            Self::Diverged(inner) => return inner.hint(),
            Self::Session(error) => return session_hint(error),
            _ => return None,
        })
    }

    /// Returns what to do about a request for a run.
    const fn request_hint(&self) -> &'static str {
        match self {
            Self::AgentOrChart => "give `agent`, or `chart` with the text of a chart",
            Self::NoQueue => "add `--queue` to leave the runs to workers",
            Self::Time { .. } => "write a number and a unit, such as 90s or 2h",
            _ => LINE,
        }
    }
}

/// Returns text as one word of a shell.
fn quoted(text: &str) -> String {
    if text.contains(['\'', '"', '$', '`', '\\', '!']) {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        format!("\"{text}\"")
    }
}

fn session_hint(error: &SessionError) -> Option<String> {
    match error {
        SessionError::Drive(DriveError::Diverged { source, .. }) => {
            Some(format!("{source}; replay with the build that wrote the journal"))
        }
        SessionError::Drive(DriveError::Short { run, short }) => Some(format!(
            "`pointsman resume {run} --grant {}s={}` permits the call; `pointsman cancel {run}` ends the run",
            short.charge.name(),
            short.missing
        )),
        SessionError::Drive(DriveError::NotBegun(_)) => Some("check the goal and `--set`".into()),
        SessionError::Drive(DriveError::Store(error)) | SessionError::Store(error) => error.hint(),
        SessionError::Executor(ExecutorError::Model(error)) => Some(error.hint()),
        SessionError::ForkOfTheEnd { last, .. } if last.0 > 0 => {
            Some(format!("give `--at {}` or less", last.0))
        }
        SessionError::Executor(ExecutorError::NoSuchTool { .. }) => {
            Some("name known tools, or omit `--set tools=…`".into())
        }
        SessionError::Executor(ExecutorError::Tools(ToolError::Root { .. })) => Some(FOLDER.into()),
        SessionError::NoSuchEntry { run, .. } => {
            Some(format!("`pointsman show {run}` lists its entries"))
        }
        SessionError::Chart { .. } => Some("use the build that started the run".into()),
        SessionError::Held { run } => Some(format!(
            "`pointsman pause {run}`, `approve`, `deny` and `cancel` still reach it; resume it when that process has ended"
        )),
        _ => None,
    }
}

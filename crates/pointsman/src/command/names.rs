//! Names that a shell completes and that only the program knows: of runs, agents and codes.
//!
//! A script that `completions` prints asks for them with `pointsman names KIND`.

use std::process::ExitCode;

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use pointsman_kernel::code::Code;
use pointsman_runtime::store::{Filter, Page};

use crate::{
    agents::AGENTS,
    paths::{self, Globals},
    report::{self, Error},
};

/// Runs that are named: more would be of no use in a list.
const RUNS: usize = 100;

/// Print names, one per line, for shell completion.
#[derive(Args, Debug)]
#[command(hide = true)]
pub(crate) struct Names {
    /// The kind of names to print.
    kind: Kind,
}

/// A kind of names.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Kind {
    Runs,
    Agents,
    Codes,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Agents => "agents",
            Self::Codes => "codes",
        }
    }

    /// Returns what the first argument of a command names.
    fn of(command: &Command) -> Option<Self> {
        match command.get_positionals().next()?.get_id().as_str() {
            "run" | "what" => Some(Self::Runs),
            "agent" | "chart" => Some(Self::Agents),
            "code" => Some(Self::Codes),
            _ => None,
        }
    }
}

impl Names {
    pub(crate) fn run(self, globals: &Globals) -> Result<ExitCode, Error> {
        let names: Vec<String> = match self.kind {
            Kind::Agents => AGENTS.charts().iter().map(|(name, _)| (*name).to_owned()).collect(),
            Kind::Codes => Code::ALL.iter().map(|code| code.as_str().to_owned()).collect(),
            // Looking makes nothing.
            Kind::Runs if globals.is_new(&paths::user()?)? => Vec::new(),
            Kind::Runs => {
                let session = globals.session()?;
                let newest = (Filter::default(), Page::first(RUNS));
                let listed = session.block_on(session.store().list(&newest.0, &newest.1));
                let listed = listed.map_err(Error::Store)?;
                let ids = listed.runs.iter().map(|row| row.id.to_string());
                ["last".to_owned()].into_iter().chain(ids).collect()
            }
        };
        report::data(&names.iter().flat_map(|name| [name.as_str(), "\n"]).collect::<String>())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Teaches a generated script to ask for names, where it is for a shell that is known here.
pub(super) fn taught(shell: Shell, script: String, program: &Command) -> String {
    match shell {
        Shell::Bash => bash(&script, program),
        Shell::Zsh => zsh(&script),
        Shell::Fish => script + &fish(program),
        _ => script,
    }
}

/// Returns the commands whose first argument is of a kind.
fn commands(program: &Command, kind: Kind) -> Vec<&str> {
    let commands = program.get_subcommands().filter(|it| !it.is_hide_set());
    commands.filter(|it| Kind::of(it) == Some(kind)).map(Command::get_name).collect()
}

const KINDS: [Kind; 3] = [Kind::Runs, Kind::Agents, Kind::Codes];

/// The generated function is asked first, and then names are added where one is wanted.
fn bash(script: &str, program: &Command) -> String {
    let cases = KINDS.map(|kind| {
        let commands = commands(program, kind).join("|");
        format!("            {commands}) kind={} ;;\n", kind.name())
    });
    let asks = format!(
        r#"
_pointsman_names() {{
    _pointsman "$@"
    local word command="" kind=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        if [[ ${{word}} != -* ]]; then
            command="${{word}}"
            break
        fi
    done
    if [[ $2 == -* ]]; then
        return 0
    elif [[ $3 == --resume ]]; then
        kind=runs
    elif [[ $3 == "${{command}}" || $3 == --json ]]; then
        case "${{command}}" in
{}        esac
    fi
    if [[ -n ${{kind}} ]]; then
        COMPREPLY+=( $(compgen -W "$(pointsman names "${{kind}}" 2>/dev/null)" -- "$2") )
    fi
    return 0
}}
"#,
        cases.concat()
    );
    // The last lines say which function completes the program.
    match script.rfind("\nif [[ \"${BASH_VERSINFO[0]}\"") {
        Some(at) => {
            let (before, after) = script.split_at(at);
            format!("{before}{asks}{}", after.replace("-F _pointsman ", "-F _pointsman_names "))
        }
        None => script.into(),
    }
}

/// Arguments that take any word take a name where their own name says so.
fn zsh(script: &str) -> String {
    let named = |line: &str| {
        // An argument that may be left out has a second colon.
        let argument = line.strip_prefix("'::").or_else(|| line.strip_prefix("':"));
        let starts = |names: &[&str]| {
            argument.is_some_and(|argument| names.iter().any(|name| argument.starts_with(name)))
        };
        let kind = if starts(&["run -- ", "what -- "]) || line.contains(":RUN:_default'") {
            "runs"
        } else if starts(&["agent -- ", "chart -- "]) {
            "agents"
        } else if starts(&["code -- "]) {
            "codes"
        } else {
            return format!("{line}\n");
        };
        format!("{}\n", line.replace(":_default'", &format!(":_pointsman_{kind}'")))
    };
    let asks = KINDS.map(|kind| {
        let (kind, files) = (kind.name(), if kind == Kind::Agents { "; _files" } else { "" });
        format!(
            "(( $+functions[_pointsman_{kind}] )) ||\n_pointsman_{kind}() {{\n    \
             local -a names; names=(${{(f)\"$(pointsman names {kind} 2>/dev/null)\"}})\n    \
             compadd -a names{files}\n}}\n"
        )
    });
    let script: String = script.lines().map(named).collect();
    // The functions must be defined before the completion runs.
    match script.rfind("if [ \"$funcstack[1]\" = \"_pointsman\" ]") {
        Some(at) => {
            let (before, after) = script.split_at(at);
            format!("{before}{}\n{after}", asks.concat())
        }
        None => script,
    }
}

fn fish(program: &Command) -> String {
    let line = |kind: Kind| {
        let commands = commands(program, kind).join(" ");
        format!(
            "complete -c pointsman -n \"__fish_pointsman_using_subcommand {commands}\" \
             -a \"(pointsman names {} 2>/dev/null)\"\n",
            kind.name()
        )
    };
    KINDS.map(line).concat()
}

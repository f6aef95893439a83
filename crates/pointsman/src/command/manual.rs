//! `pointsman completions` and `pointsman man`: for shells and for `man`.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;

use super::names;
use crate::{
    Arguments,
    report::{self, Error},
};

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman completions bash > ~/.local/share/bash-completion/completions/pointsman
  pointsman completions zsh > ~/.zfunc/_pointsman
  pointsman completions fish > ~/.config/fish/completions/pointsman.fish")]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

/// Print the main manual page, or write all manual pages to a folder.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman man | man -l -
  pointsman man --dir ~/.local/share/man/man1")]
pub(crate) struct Manual {
    /// Write every page to this folder.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Completions {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        // Hidden commands are not completed either.
        let (mut text, all) = (Vec::new(), Arguments::command());
        let seen = all.get_subcommands().filter(|under| !under.is_hide_set()).cloned();
        let mut program = Command::new("pointsman")
            .version(env!("CARGO_PKG_VERSION"))
            .args(all.get_arguments().cloned())
            .subcommands(seen);
        clap_complete::generate(self.shell, &mut program, "pointsman", &mut text);
        let script = String::from_utf8_lossy(&text).into_owned();
        report::data(&names::taught(self.shell, script, &program))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Manual {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let command = whole(Arguments::command());
        let Some(dir) = self.dir else {
            report::bytes(&page(&command)?)?;
            return Ok(ExitCode::SUCCESS);
        };
        let trouble = |source| Error::Write { path: dir.display().to_string(), source };
        fs::create_dir_all(&dir).map_err(trouble)?;
        for command in all(&command) {
            let name = command.get_display_name().unwrap_or_else(|| command.get_name());
            fs::write(dir.join(format!("{name}.1")), page(command)?).map_err(trouble)?;
        }
        report::data(&format!("wrote the man pages to {}\n", dir.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns a command whose subcommands know their whole names.
fn whole(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    command
}

/// Returns a command and all its subcommands, except hidden ones.
fn all(command: &Command) -> Vec<&Command> {
    let under = command.get_subcommands().filter(|under| !under.is_hide_set());
    [command].into_iter().chain(under.flat_map(all)).collect()
}

/// Returns the page of a command.
fn page(command: &Command) -> Result<Vec<u8>, Error> {
    let trouble = |source| Error::Write { path: "the manual page".into(), source };
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page).map_err(trouble)?;
    man.render_name_section(&mut page).map_err(trouble)?;
    man.render_synopsis_section(&mut page).map_err(trouble)?;
    man.render_description_section(&mut page).map_err(trouble)?;
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let Sections { told, examples, exit } = Sections::of(&after);
    page.extend(paragraphs(&told).into_bytes());
    man.render_options_section(&mut page).map_err(trouble)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page).map_err(trouble)?;
    }
    let exit = exit.unwrap_or_else(|| "0 success, 2 usage or configuration error.".into());
    let mut rest = vec![
        format!(".SH \"EXIT STATUS\"\n{}", paragraphs(&exit)),
        format!(".SH ENVIRONMENT\n{}", listed(&ENVIRONMENT)),
        format!(".SH FILES\n{}", listed(&FILES)),
    ];
    if !examples.is_empty() {
        rest.push(format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(&examples)));
    }
    page.extend(rest.concat().into_bytes());
    // Subcommands have no version of their own.
    if command.get_version().is_some() {
        man.render_version_section(&mut page).map_err(trouble)?;
    }
    Ok(page)
}

/// The variables in every manual page.
const ENVIRONMENT: [(&str, &str); 11] = [
    ("POINTSMAN_MODEL", "the model, as PROVIDER:NAME"),
    ("POINTSMAN_BASE_URL", "the address of the model's server"),
    ("POINTSMAN_JOURNAL", "the journal file, which stores all runs"),
    ("POINTSMAN_STORE", "the PostgreSQL database that stores all runs instead"),
    (
        "POINTSMAN_REDIS, POINTSMAN_LEASE",
        "with a database: the Redis server, and how long leases last",
    ),
    ("POINTSMAN_LOG, POINTSMAN_LOG_FILE", "the log level or filter, and the log file"),
    ("POINTSMAN_LOG_FORMAT", "`text` or `json`"),
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "sends OpenTelemetry traces to this address over HTTP; the usual OTEL_ variables apply",
    ),
    ("OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY", "keys, each sent only to its provider"),
    ("XDG_STATE_HOME, XDG_CACHE_HOME, XDG_CONFIG_HOME", "base folders instead of those under HOME"),
    ("NO_COLOR", "if set, no colours"),
];

/// The files in every manual page.
const FILES: [(&str, &str); 5] = [
    ("~/.config/pointsman/pointsman.toml", "your settings"),
    ("pointsman.toml", "the settings of a repository; they cannot loosen security"),
    (".mcp.json", "the MCP servers of a folder"),
    ("~/.local/state/pointsman/journal.db", "the runs"),
    ("~/.cache/pointsman", "search indexes; safe to delete"),
];

/// The text below the options in a command's help.
struct Sections {
    told: String,
    examples: String,
    exit: Option<String>,
}

impl Sections {
    fn of(after: &str) -> Self {
        let (mut told, mut examples, mut exit) = (Vec::new(), String::new(), None);
        for part in after.split("\n\n") {
            if let Some(lines) = part.strip_prefix("Examples:\n") {
                examples = lines.into();
            } else if let Some(codes) = part.strip_prefix("Exit codes: ") {
                exit = Some(codes.replace('\n', " ").replace(", ", "\n\n"));
            } else if part.starts_with("Exits with ") {
                exit = Some(part.into());
            } else if !part.trim().is_empty() {
                told.push(part);
            }
        }
        Self { told: told.join("\n\n"), examples, exit }
    }
}

fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").filter(|part| !part.trim().is_empty());
    parts.map(|part| format!(".PP\n{}\n", escaped(part))).collect::<Vec<_>>().concat()
}

fn listed(rows: &[(&str, &str)]) -> String {
    let row = |(name, about): &(&str, &str)| {
        format!(".TP\n\\fB{}\\fR\n{}\n", escaped(name), escaped(about))
    };
    rows.iter().map(row).collect::<Vec<_>>().concat()
}

/// Returns text without requests to the typesetter.
fn escaped(text: &str) -> String {
    let plain = |line: &str| {
        let line = line.replace('\\', "\\\\").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    };
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help wraps at 100 columns; a longer line would leave a few words on a line of their own.
    #[test]
    fn written_lines_of_help_fit_their_width() {
        let mut commands = vec![Arguments::command()];
        while let Some(command) = commands.pop() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "`{}`: {line}", command.get_name());
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}

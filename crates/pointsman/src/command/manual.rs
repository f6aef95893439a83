//! `pointsman completions` and `pointsman man`: for shells and for `man`.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

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

/// Print the manual page, or write all of them to a folder.
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
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "pointsman", &mut text);
        report::bytes(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Manual {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let command = Arguments::command();
        let Some(dir) = self.dir else {
            let mut page = Vec::new();
            clap_mangen::Man::new(command)
                .render(&mut page)
                .map_err(|source| Error::Write { path: "the manual page".into(), source })?;
            report::bytes(&page)?;
            return Ok(ExitCode::SUCCESS);
        };
        let trouble = |source| Error::Write { path: dir.display().to_string(), source };
        fs::create_dir_all(&dir).map_err(trouble)?;
        clap_mangen::generate_to(command, &dir).map_err(trouble)?;
        report::data(&format!("wrote the manual pages to {}\n", dir.display()))?;
        Ok(ExitCode::SUCCESS)
    }
}

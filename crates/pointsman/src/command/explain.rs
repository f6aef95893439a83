//! `pointsman explain`: what a code means.

use std::{fmt::Write as _, process::ExitCode};

use clap::Args;
use pointsman_kernel::diagnostic::Code;

use crate::report::{self, Error};

/// Explain an error code of `check`, or list them all.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pointsman explain PM0501
  pointsman explain")]
pub(crate) struct Explain {
    /// The code, such as PM0501.
    code: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let mut text = String::new();
        match self.code {
            None => {
                for code in Code::ALL {
                    // Writing to a string cannot fail.
                    let _: std::fmt::Result = writeln!(text, "{code}  {}", code.title());
                }
            }
            Some(asked) => {
                let found =
                    Code::ALL.iter().find(|code| code.as_str().eq_ignore_ascii_case(&asked));
                let Some(code) = found else { return Err(Error::NoSuchCode { code: asked }) };
                let _: std::fmt::Result =
                    writeln!(text, "{code}: {}\n\n{}", code.title(), code.explain());
            }
        }
        report::data(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

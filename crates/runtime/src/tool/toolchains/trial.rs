//! Toolchains tried in the sandbox, for people who ask what works.

use std::{env, path::PathBuf, time::Duration};

use crate::tool::{WorkspaceTools, own, shell::Shell};

/// How each program says its version.
const PROGRAMS: &[(&str, &str)] = &[
    ("cargo", "cargo --version"),
    ("rustc", "rustc --version"),
    ("go", "go version"),
    ("node", "node --version"),
    ("npm", "npm --version"),
    ("python3", "python3 --version"),
    ("java", "java -version"),
];
/// Bytes of an answer that are read.
const ANSWER: usize = 4 << 10;

/// The result of a program in the sandbox.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolchainTrial {
    /// The program.
    pub program: &'static str,
    /// Where the person's shell finds it.
    pub path: PathBuf,
    /// The first line that it wrote, or why it did not run.
    pub answer: Result<String, String>,
}

impl WorkspaceTools {
    /// Runs every toolchain that is in `PATH` in the sandbox, and reports the result. Call
    /// this where nothing is awaited.
    pub fn try_toolchains(&self, limit: Duration) -> Vec<ToolchainTrial> {
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(threads) = threads else { return Vec::new() };
        let path = env::var_os("PATH").unwrap_or_default();
        let place = |program: &str| {
            let mut places = env::split_paths(&path).map(|folder| folder.join(program));
            places.find(|path| path.is_absolute() && path.is_file())
        };
        let found = PROGRAMS.iter().filter_map(|(name, line)| Some((*name, *line, place(name)?)));
        found
            .map(|(program, line, path)| {
                let answer = threads.block_on(self.answer(line, limit));
                ToolchainTrial { program, path, answer }
            })
            .collect()
    }

    async fn answer(&self, line: &str, limit: Duration) -> Result<String, String> {
        let shell = Shell::line(&format!("{line} 2>&1"));
        let ran = self.own_run(move |on| shell.confined(on), limit, ANSWER).await;
        let ran = ran.map_err(|said| said.output)?;
        let text = own::worked(ran, limit)?.text(ANSWER);
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }
}

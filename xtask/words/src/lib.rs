//! Collects the strings that users read, with their places, from the sources.
//!
//! A string counts as prose for users when it has two words and no rule below says that only
//! the program, a model or a developer reads it. Help comes from the doc comments of clap's
//! items, so every option is there.

mod literal;
mod tokens;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// Crates whose strings reach users.
const CRATES: [&str; 6] = ["pointsman", "runtime", "fleet", "agents", "kernel", "webdriver"];

/// Paths whose strings users never read, by reader.
const UNSEEN: &[(&str, &[&str])] = &[
    (
        "a model: prompts and advice",
        &[
            "crates/agents/src/chat/prompt.rs",
            "crates/agents/src/code/prompt.rs",
            "crates/agents/src/code/recovery.rs",
            "crates/agents/src/dialogue/condense.rs",
            "crates/agents/src/dialogue/render.rs",
            "crates/agents/src/form/text.rs",
            "crates/agents/src/research/prompt.rs",
            "crates/agents/src/research/schema.rs",
            "crates/runtime/src/model/encode",
        ],
    ),
    (
        "the program: words and names that it looks for",
        &[
            "crates/agents/src/builtin/words.rs",
            "crates/agents/src/code/evidence/output.rs",
            "crates/agents/src/explore/field.rs",
            "crates/agents/src/explore/foreground.rs",
            "crates/agents/src/explore/setup.rs",
            "crates/agents/src/form/classify/",
            "crates/agents/src/form/read/",
            "crates/agents/src/form/value/countries.rs",
            "crates/agents/src/form/value/states.rs",
            "crates/agents/src/form/value/word.rs",
            "crates/agents/src/research/phrase.rs",
        ],
    ),
    (
        "a test",
        &[
            "crates/agents/src/testing.rs",
            "crates/pointsman/src/crash_point.rs",
            "crates/pointsman/src/effect_log.rs",
        ],
    ),
];

/// Paths whose strings are part of journals' digests: a change would break the replay of old runs.
const PINNED: &[&str] = &[
    "crates/agents/src/research/decision.rs",
    "crates/agents/src/research/recount.rs",
    "crates/kernel/src/governor.rs",
    "crates/kernel/src/governor/",
    "crates/kernel/src/step/recovery.rs",
    "crates/kernel/src/step/timers.rs",
];

/// What a string is for. The order is that of the document.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// `--help` and man pages.
    Help,
    /// Messages of error types.
    Error,
    /// What a person can do about an error.
    Hint,
    /// Findings in charts, and the pages of `explain`.
    Diagnostic,
    /// `doctor`.
    Doctor,
    /// Settings, profiles and the chart of `init`.
    Template,
    /// Questions, progress, reports: the binary's other strings.
    Terminal,
    /// The libraries' other strings.
    Message,
    /// Lines of the log.
    Log,
    /// Strings that journals' digests contain.
    Pinned,
}

impl Kind {
    const fn title(self) -> &'static str {
        match self {
            Self::Help => "Help",
            Self::Error => "Errors",
            Self::Hint => "Hints",
            Self::Diagnostic => "Diagnostics",
            Self::Doctor => "Doctor",
            Self::Template => "Settings, profiles and the chart of `init`",
            Self::Terminal => "Prompts, progress and reports",
            Self::Message => "Other messages of the libraries",
            Self::Log => "Log lines",
            Self::Pinned => "Strings that never change, because digests of journals contain them",
        }
    }

    /// Returns what a string is for, by its place.
    fn of(found: &tokens::Found, file: &str) -> Self {
        if PINNED.iter().any(|path| file.starts_with(path)) {
            return Self::Pinned;
        }
        let function = found.function.as_str();
        match found.within {
            tokens::Within::Help => Self::Help,
            tokens::Within::Error => Self::Error,
            tokens::Within::Log => Self::Log,
            tokens::Within::Code => {
                let has = |part: &str| file.contains(part);
                if function.contains("hint") || has("/hint") {
                    Self::Hint
                } else if has("kernel/src/chart/")
                    || has("kernel/src/code.rs")
                    || has("kernel/src/diagnostic")
                    || has("kernel/src/verify")
                    || has("/findings")
                    || has("explain")
                {
                    Self::Diagnostic
                } else if has("command/doctor") {
                    Self::Doctor
                } else if has("command/init") || has("runtime/src/config") {
                    Self::Template
                } else if has("crates/pointsman/") {
                    Self::Terminal
                } else {
                    Self::Message
                }
            }
        }
    }
}

/// A string for users, and its place.
#[derive(Clone, Debug)]
pub struct Text {
    /// What it is for.
    pub kind: Kind,
    /// The file, from the root of the workspace.
    pub file: String,
    /// The line it begins in.
    pub line: usize,
    /// The string itself.
    pub text: String,
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.trim_end().replace('\n', "\n    ");
        write!(f, "{}:{}\n    {text}", self.file, self.line)
    }
}

/// Returns every string that users read, ordered by kind and place.
pub fn collect(root: &Path) -> io::Result<Vec<Text>> {
    let mut all = Vec::new();
    for name in CRATES {
        for path in files(&root.join("crates").join(name).join("src"))? {
            let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            if file.contains("/tests") || is_unseen(&file) {
                continue;
            }
            let extension = path.extension().unwrap_or_default();
            let source = || fs::read_to_string(&path);
            if extension == "rs" {
                let source = source()?;
                let found = tokens::strings(&source).map_err(|why| {
                    io::Error::new(io::ErrorKind::InvalidData, format!("{file}: {why}"))
                })?;
                all.extend(found.into_iter().map(|it| Text {
                    kind: Kind::of(&it, &file),
                    line: it.line,
                    text: it.text,
                    file: file.clone(),
                }));
            } else if extension == "toml" {
                all.push(Text { kind: Kind::Template, file, line: 1, text: source()? });
            }
        }
    }
    all.sort_by(|one, two| (one.kind, &one.file, one.line).cmp(&(two.kind, &two.file, two.line)));
    Ok(all)
}

/// Returns all of it as one document.
pub fn document(texts: &[Text]) -> String {
    let parts = texts.chunk_by(|one, two| one.kind == two.kind).flat_map(|part| {
        let title = part.first().map(|text| format!("\n## {}\n", text.kind.title()));
        title.into_iter().chain(part.iter().map(Text::to_string))
    });
    let parts: Vec<String> = parts.collect();
    parts.join("\n") + "\n"
}

fn is_unseen(file: &str) -> bool {
    UNSEEN.iter().any(|(_, paths)| paths.iter().any(|path| file.starts_with(path)))
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

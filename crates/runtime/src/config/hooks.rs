//! `[hooks]`, `[chat]` and `[code]`: what happens beside a conversation.

use toml::de::DeValue;

use super::{
    Origin, Problem,
    keys::{self, Keys},
    read::own,
};
use crate::host::{AfterTools, Hooks};

/// `[hooks]`: what runs after a batch of tools that changed something.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HooksConfig {
    /// Whether changes are committed to git.
    pub commit: Option<bool>,
    /// Bytes of the difference that a model is shown for a message.
    pub diff_bytes: Option<u64>,
    /// Milliseconds that a model has for a message.
    pub message_ms: Option<u64>,
    /// The user's own commands.
    pub after_tools: Vec<AfterTools>,
}

/// `[chat]` or `[code]`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TalkConfig {
    /// Whether the workspace's `AGENTS.md` is read.
    pub instructions: Option<bool>,
    /// Bytes that may be piped in.
    pub piped_bytes: Option<u64>,
    /// Milliseconds until what is piped in must have ended.
    pub piped_ms: Option<u64>,
}

impl HooksConfig {
    /// Returns what a host runs.
    pub fn hooks(&self) -> Hooks {
        let usual = Hooks::default();
        let count = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Hooks {
            commit: self.commit.unwrap_or(usual.commit),
            diff_bytes: self.diff_bytes.map_or(usual.diff_bytes, count),
            message_ms: self.message_ms.unwrap_or(usual.message_ms),
            after_tools: self.after_tools.clone(),
        }
    }

    /// Puts a repository's settings over these: it may turn commits off.
    pub(super) fn under(self, repository: &Self) -> Self {
        let commit = repository.commit.filter(|commit| !commit).or(self.commit);
        Self { commit, ..self }
    }
}

impl TalkConfig {
    /// Puts a repository's settings over these: it may turn things off.
    pub(super) fn under(self, repository: Self) -> Self {
        let off = repository.instructions.filter(|on| !on);
        Self { instructions: off.or(self.instructions).or(repository.instructions), ..self }
    }
}

pub(super) fn hooks(
    keys: &mut Keys<'_, '_>,
    origin: Origin,
    found: &mut Vec<Problem>,
) -> HooksConfig {
    own(keys, "after_tools", origin, found);
    own(keys, "diff", origin, found);
    own(keys, "message_timeout", origin, found);
    let commit = keys.read("commit", keys::flag, found);
    if commit == Some(true) {
        own(keys, "commit", origin, found);
    }
    HooksConfig {
        commit,
        diff_bytes: keys.read("diff", keys::size, found),
        message_ms: keys.read("message_timeout", keys::duration, found),
        after_tools: after_tools(keys, found),
    }
}

/// Reads commands such as `{ run = "cargo fmt", when = [TOOL], timeout = "30s" }`.
fn after_tools(keys: &mut Keys<'_, '_>, found: &mut Vec<Problem>) -> Vec<AfterTools> {
    let hint = "write `after_tools = [{ run = \"cargo fmt\", when = [\"edit\", \"write\"] }]`";
    let mut commands = Vec::new();
    let Some(value) = keys.value("after_tools") else { return commands };
    let problem =
        |message: &str, span| Problem { message: message.into(), hint: hint.into(), span };
    let DeValue::Array(list) = value.get_ref() else {
        found.push(problem("`after_tools` must be a list", keys::span(value)));
        return commands;
    };
    for item in list {
        let span = keys::span(item);
        let DeValue::Table(table) = item.get_ref() else {
            found.push(problem("a hook must be a table", span));
            continue;
        };
        let mut keys = Keys::new(table, "a hook");
        let run = keys.read("run", keys::text, found);
        let when = keys.read("when", keys::texts, found).unwrap_or_default();
        let timeout_ms = keys.read("timeout", keys::duration, found);
        match run.filter(|run| !run.trim().is_empty()) {
            Some(run) => commands.push(AfterTools { run, when, timeout_ms }),
            None => found.push(problem("a hook needs a command to `run`", span)),
        }
        keys.finish(found);
    }
    commands
}

pub(super) fn talk(
    keys: &mut Keys<'_, '_>,
    origin: Origin,
    found: &mut Vec<Problem>,
) -> TalkConfig {
    own(keys, "piped", origin, found);
    own(keys, "piped_timeout", origin, found);
    TalkConfig {
        instructions: keys.read("instructions", keys::flag, found),
        piped_bytes: keys.read("piped", keys::size, found),
        piped_ms: keys.read("piped_timeout", keys::duration, found),
    }
}

//! A scripted model: answers from a file, for demonstrations and tests that always go
//! the same way. `docs/models.md` describes the format.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use pointsman_kernel::{
    agent::{Fault, FaultClass, Reply, ToolCall},
    event::Usage,
    json::canonical_body,
    prompt::{Prompt, PromptMessage},
};
use serde::Deserialize;
use serde_json::{Map, Value, value::to_raw_value};

use super::{ModelError, ProgressSink, settings::Prices};
use crate::effect::{Completion, TokenCount};

/// The longest delay of a demonstration.
const LONGEST_DELAY_MS: u64 = 3_600_000;

/// One answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedTurn {
    /// What the last message must hold for this turn to be taken.
    when: Option<String>,
    text: Option<String>,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    fault: Option<Failed>,
    #[serde(default)]
    delay_ms: u64,
    /// Time between two words of the text.
    #[serde(default)]
    piece_ms: u64,
    #[serde(default)]
    usage: Counted,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    id: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    class: FaultClass,
    #[serde(default)]
    message: String,
    #[serde(default)]
    repeatable: bool,
    hint_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Counted {
    input: u64,
    output: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    #[serde(default)]
    turn: Vec<toml::Spanned<ScriptedTurn>>,
}

/// The turns of a file that were not taken yet.
#[derive(Debug)]
pub(super) struct ModelScript {
    path: PathBuf,
    count: usize,
    left: Mutex<Vec<(usize, ScriptedTurn)>>,
    prices: Option<Prices>,
}

impl ModelScript {
    /// Reads a file: TOML if it is named so, else one JSON object per line.
    pub(super) fn open(path: &Path, prices: Option<Prices>) -> Result<Arc<Self>, ModelError> {
        let source = fs::read_to_string(path)
            .map_err(|source| ModelError::File { path: path.into(), source })?;
        let bad = |(line, why)| ModelError::Line { path: path.into(), line, why };
        let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
        let turns = if is_toml { tables(&source) } else { lines(&source) }.map_err(bad)?;
        if turns.is_empty() {
            return Err(bad((1, "the script has no turns".into())));
        }
        for (line, turn) in &turns {
            turn.check().map_err(|why| bad((*line, why)))?;
        }
        let left = turns.into_iter().enumerate().map(|(at, (_, turn))| (at, turn));
        let left: Vec<(usize, ScriptedTurn)> = left.collect();
        Ok(Arc::new(Self { path: path.into(), count: left.len(), left: Mutex::new(left), prices }))
    }

    /// Gives the first turn that is left and fits.
    pub(super) async fn answer(&self, prompt: &Prompt, shown: &ProgressSink) -> Completion {
        let (place, turn) = match self.take(last(prompt)) {
            Ok(turn) => turn,
            Err(why) => return Completion::fault(FaultClass::Gone, false, &why),
        };
        tokio::time::sleep(Duration::from_millis(turn.delay_ms)).await;
        let tokens = TokenCount { input: turn.usage.input, output: turn.usage.output };
        let TokenCount { input, output } = tokens;
        let money = self.prices.map_or(0, |prices| prices.of(input, output));
        let usage = Usage { tokens: input.saturating_add(output), money, ..Usage::default() };
        turn.done(place, shown).await.costing(usage).counting(tokens)
    }

    fn take(&self, last: &str) -> Result<(usize, ScriptedTurn), String> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |turn: &ScriptedTurn| turn.when.as_ref().is_none_or(|when| last.contains(when));
        if let Some(at) = left.iter().position(|(_, turn)| fits(turn)) {
            return Ok(left.remove(at));
        }
        let path = self.path.display();
        Err(match left.len() {
            0 => format!("{path} has ended: all {} turns were used", self.count),
            waiting => format!(
                "{path} has no turn for this question: no unused turn has a matching `when` ({waiting} of {} unused)",
                self.count
            ),
        })
    }
}

impl ScriptedTurn {
    fn check(&self) -> Result<(), String> {
        let speaks = self.text.is_some() || !self.calls.is_empty();
        if speaks == self.fault.is_some() && (self.text.is_none() || !self.calls.is_empty()) {
            return Err("a turn has `text`, `calls` or both, or else a `fault`".into());
        }
        if self.when.as_ref().is_some_and(String::is_empty) {
            return Err("`when` is empty; omit it to match any question".into());
        }
        if self.calls.iter().any(|call| call.tool.is_empty()) {
            return Err("a call has no `tool`".into());
        }
        for (name, ms) in [("delay_ms", self.delay_ms), ("piece_ms", self.piece_ms)] {
            if ms > LONGEST_DELAY_MS {
                return Err(format!("`{name}` is more than {LONGEST_DELAY_MS}, an hour"));
            }
        }
        let ids: Vec<&String> = self.calls.iter().filter_map(|call| call.id.as_ref()).collect();
        if ids.iter().enumerate().any(|(at, id)| ids.iter().take(at).any(|other| other == id)) {
            return Err("two calls have the same `id`".into());
        }
        Ok(())
    }

    async fn done(self, place: usize, shown: &ProgressSink) -> Completion {
        let text = self.text.unwrap_or_default();
        for word in text.split_inclusive(' ') {
            shown.show(word);
            if self.piece_ms > 0 {
                tokio::time::sleep(Duration::from_millis(self.piece_ms)).await;
            } else {
                // Observers see each word before the next one.
                tokio::task::yield_now().await;
            }
        }
        if let Some(Failed { class, message, repeatable, hint_ms }) = self.fault {
            let message = if message.is_empty() { "the script says so".into() } else { message };
            return Completion::failed(Fault { class, repeatable, hint_ms, message });
        }
        let mut calls = Vec::new();
        for (at, call) in self.calls.into_iter().enumerate() {
            let arguments = to_raw_value(&call.arguments).and_then(|body| canonical_body(&body));
            let Ok(arguments) = arguments else {
                return Completion::fault(
                    FaultClass::Invalid,
                    false,
                    "a call's arguments are not JSON",
                );
            };
            let id = call.id.unwrap_or_else(|| format!("script_{place}_{at}"));
            calls.push(ToolCall { id, tool: call.tool, arguments });
        }
        Completion::reply(Reply { text, calls })
    }
}

/// Returns what the last message says.
fn last(prompt: &Prompt) -> &str {
    match prompt.messages.last() {
        Some(PromptMessage::User(text) | PromptMessage::Assistant { text, .. }) => text,
        Some(PromptMessage::Tool { result, .. }) => &result.output,
        _ => "",
    }
}

fn lines(source: &str) -> Result<Vec<(usize, ScriptedTurn)>, (usize, String)> {
    let full = (1..).zip(source.lines()).filter(|(_, text)| !text.trim().is_empty());
    full.map(|(line, text)| match serde_json::from_str(text) {
        Ok(turn) => Ok((line, turn)),
        Err(error) => {
            // It knows of one line only; the file has more.
            let why = error.to_string();
            let why = why.split(" at line 1 column").next().unwrap_or_default().to_owned();
            Err((line, format!("{why} (column {})", error.column())))
        }
    })
    .collect()
}

fn tables(source: &str) -> Result<Vec<(usize, ScriptedTurn)>, (usize, String)> {
    let line = |at: usize| source.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let whole: ScriptFile = toml::from_str(source).map_err(|error| {
        (error.span().map_or(1, |span| line(span.start)), error.message().to_owned())
    })?;
    let turns = whole.turn.into_iter();
    Ok(turns.map(|turn| (line(turn.span().start), turn.into_inner())).collect())
}

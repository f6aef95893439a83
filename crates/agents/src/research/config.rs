//! What a run of `research` is given at its start: the goal, the tools, the limits.

use alloc::{format, string::String};

use pointsman_kernel::agent::BadBody;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{data::Data, offer::Offer, prompt};

/// What a goal says that wants no tools.
const NO_TOOLS: [&str; 4] =
    ["without tools", "do not use tools", "don't use tools", "do not use any tools"];
/// What a goal says that wants no search.
const NO_SEARCH: [&str; 4] =
    ["do not search", "don't search", "without searching", "without a search"];
/// These count only at the end of a clause: "no search results" asks for something.
const NO_TOOLS_AT_END: &str = "no tools";
const NO_SEARCH_AT_END: &str = "no search";

/// How much of the findings a prompt shows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Tokens of a prompt, at four bytes each.
    pub prompt_tokens: u32,
    /// Bytes of findings that are shown whole; beyond them the older ones are only
    /// told of in a summary.
    pub memory_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { prompt_tokens: 8_000, memory_bytes: 16_000 }
    }
}

impl Limits {
    /// Returns the bytes that a prompt may have.
    pub(super) fn prompt_bytes(self) -> usize {
        usize::try_from(self.prompt_tokens).unwrap_or(usize::MAX).saturating_mul(4)
    }

    /// Returns the bytes of findings that are shown whole.
    pub(super) fn memory(self) -> usize {
        usize::try_from(self.memory_bytes).unwrap_or(usize::MAX)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    goal: String,
    #[serde(default = "on")]
    tools: Value,
    #[serde(default)]
    limits: Limits,
}

const fn on() -> Value {
    Value::Bool(true)
}

/// Reads a configuration into data that a run can begin with.
pub(super) fn read(config: &RawValue) -> Result<Data, BadBody> {
    let Config { goal, tools, limits } = serde_json::from_str(config.get())?;
    let mut tools = Offer::read(&tools)?;
    let said = goal.to_lowercase();
    if said_of(&said, &NO_TOOLS, NO_TOOLS_AT_END) {
        tools = Offer::default();
    } else if said_of(&said, &NO_SEARCH, NO_SEARCH_AT_END) {
        tools.without_search();
    }
    let data = Data { goal, tools, limits, ..Data::default() };
    // What is never cut must fit, or the limit would be none.
    let (least, most) = (prompt::least(&data), limits.prompt_bytes());
    if least > most {
        let tokens = least.div_ceil(4);
        return Err(BadBody(format!(
            "the goal and the tools need {least} bytes of a prompt that may have {most}: shorten \
             the goal, offer fewer tools, or set `limits.prompt_tokens` to {tokens} or more"
        )));
    }
    Ok(data)
}

fn said_of(goal: &str, anywhere: &[&str], at_end: &str) -> bool {
    let ends = |rest: &str| rest.chars().next().is_none_or(|c| ".,;:!?)\n".contains(c));
    anywhere.iter().any(|phrase| goal.contains(phrase))
        || goal.match_indices(at_end).any(|(at, phrase)| {
            goal.get(at.saturating_add(phrase.len())..)
                .is_some_and(|rest| ends(rest.trim_start_matches(' ')))
        })
}

//! What a run of `research` is given at its start: the goal, the tools, the limits.

use alloc::{format, string::String};

use pointsman_kernel::agent::BadBody;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    data::ResearchData,
    offer::ToolList,
    phrase::{self, DisabledFeature},
    prompt,
};

/// How much of the findings a prompt shows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptLimits {
    /// Tokens of a prompt, at four bytes each.
    pub prompt_tokens: u32,
    /// Bytes of findings that are shown whole; beyond them the older ones are only
    /// told of in a summary.
    pub memory_bytes: u32,
}

impl Default for PromptLimits {
    fn default() -> Self {
        Self { prompt_tokens: 8_000, memory_bytes: 16_000 }
    }
}

impl PromptLimits {
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
struct ResearchConfig {
    goal: String,
    #[serde(default = "on")]
    tools: Value,
    #[serde(default)]
    limits: PromptLimits,
}

const fn on() -> Value {
    Value::Bool(true)
}

/// Reads a configuration into data that a run can begin with.
pub(super) fn read(config: &RawValue) -> Result<ResearchData, BadBody> {
    let ResearchConfig { goal, tools, limits } = serde_json::from_str(config.get())?;
    let mut tools = ToolList::read(&tools)?;
    let off = phrase::off(&goal);
    match off {
        Some((DisabledFeature::Tools, _)) => tools = ToolList::default(),
        Some((DisabledFeature::Search, _)) => tools.without_search(),
        None => {}
    }
    let off = off.map(|(_, words)| words.into());
    let data = ResearchData { goal, tools, limits, off, ..ResearchData::default() };
    // The parts that are never cut must fit, or the limit would not hold.
    let (least, most) = (prompt::least(&data), limits.prompt_bytes());
    if least > most {
        let tokens = least.div_ceil(4);
        return Err(BadBody(format!(
            "the goal and the tools need {least} bytes, but a prompt has at most {most}: shorten \
             the goal, offer fewer tools, or set `limits.prompt_tokens` to {tokens} or more"
        )));
    }
    Ok(data)
}

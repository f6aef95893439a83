//! The names of spans, attributes and events.
//!
//! `gen_ai.*`, `error.type` and `service.*` are OpenTelemetry's; the conventions for generative AI are still in
//! development, so the names are fixed here and change only with an entry in the changelog. Everything that the
//! conventions do not know is under `pointsman.*`.

/// What a span is: one of the operations below.
pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const CHAT: &str = "chat";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
pub(super) const INVOKE_AGENT: &str = "invoke_agent";

pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(super) const AGENT_VERSION: &str = "gen_ai.agent.version";
/// The run.
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub(super) const ERROR_TYPE: &str = "error.type";

/// Only with content.
pub(super) const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
/// What a task of an agent's own does, or what a person is asked.
pub(super) const TEXT: &str = "pointsman.text";

/// Spans that the conventions do not know: a stay in a state, a question to a person, a task of an agent's own,
/// a child run.
pub(super) const STATE: &str = "state";
pub(super) const APPROVE: &str = "approve";
pub(super) const TASK: &str = "task";
pub(super) const CHILD: &str = "child";

pub(super) const RUN: &str = "pointsman.run.id";
/// The entry of the journal at which a span ends.
pub(super) const SEQ: &str = "pointsman.seq";
pub(super) const DISPOSITION: &str = "pointsman.disposition";
pub(super) const STATE_NAME: &str = "pointsman.state.name";
pub(super) const STATE_VISIT: &str = "pointsman.state.visit";
pub(super) const TRANSITION_TO: &str = "pointsman.transition.to";
pub(super) const TRANSITION_REASON: &str = "pointsman.transition.reason";
pub(super) const TRANSITION_BUDGET: &str = "pointsman.transition.budget";
pub(super) const EFFECT: &str = "pointsman.effect.id";
pub(super) const ATTEMPT: &str = "pointsman.effect.attempt";
/// Whether the effect had been started before the run was interrupted.
pub(super) const AGAIN: &str = "pointsman.effect.again";
/// Whether it was stopped before there was an answer.
pub(super) const STOPPED: &str = "pointsman.effect.stopped";
pub(super) const GRANTED: &str = "pointsman.approval.granted";
/// Millionths of a currency unit.
pub(super) const MONEY: &str = "pointsman.usage.money";

/// Events of a stay in a state.
pub(super) const VERDICT: &str = "pointsman.verdict";
pub(super) const VERDICT_RULE: &str = "pointsman.verdict.rule";
pub(super) const VERDICT_LEVEL: &str = "pointsman.verdict.level";
pub(super) const RETRY: &str = "pointsman.retry";
pub(super) const RETRY_WAIT: &str = "pointsman.retry.wait_ms";
pub(super) const INTERRUPTED: &str = "pointsman.interrupted";
pub(super) const PAUSED: &str = "pointsman.paused";
pub(super) const RESUMED: &str = "pointsman.resumed";

//! What a decoded reply is to the kernel: a finished reply, or a fault.
//!
//! Strict where a mistake would have effects. A reply that was cut, refused, blocked or mixed with
//! an error is a fault, whatever its text; its cost is charged.

use std::collections::BTreeSet;

use pointsman_kernel::{
    agent::{Fault, FaultClass, Reply, ToolCall},
    event::Usage,
    id::Digest,
    json::canonical_body,
};
use serde_json::value::RawValue;

use super::{
    decode::{self, Decoded, ErrorClass},
    encode::{Encoded, REPLY, ReplyFormat},
    settings::ModelSettings,
    spec::Provider,
    tape::TapeEnd,
};
use crate::effect::{Completion, TokenCount};

/// The longest message of a fault.
const MESSAGE: usize = 1_000;

/// Turns a reply into the answer for the run.
pub(super) fn done(
    settings: &ModelSettings,
    encoded: &Encoded,
    key: &str,
    decoded: Decoded,
    end: TapeEnd,
) -> Completion {
    let usage = cost(settings, &decoded.usage);
    let tokens = count(&decoded.usage);
    let done = match reply(settings, encoded, key, decoded, end) {
        Ok(reply) => Completion::reply(reply),
        Err(fault) => Completion::failed(fault),
    };
    done.costing(usage).counting(tokens)
}

/// Makes a fault with a message that names the model and holds no key.
pub(super) fn fault(
    settings: &ModelSettings,
    class: FaultClass,
    repeatable: bool,
    message: &str,
) -> Fault {
    let message = settings.key.as_ref().map_or_else(|| message.into(), |key| key.redact(message));
    let message: String = message.chars().take(MESSAGE).collect();
    Fault { class, repeatable, hint_ms: None, message: format!("{}: {message}", settings.spec) }
}

fn count(counted: &decode::TokenUsage) -> TokenCount {
    TokenCount {
        input: counted.input.unwrap_or(0).saturating_add(counted.cached),
        output: counted.output.unwrap_or(0).saturating_add(counted.reasoning),
    }
}

fn cost(settings: &ModelSettings, counted: &decode::TokenUsage) -> Usage {
    let TokenCount { input, output } = count(counted);
    let money = settings.prices.map_or(0, |prices| prices.of(input, output));
    Usage { tokens: counted.charged(), money, ..Usage::default() }
}

fn reply(
    settings: &ModelSettings,
    encoded: &Encoded,
    key: &str,
    mut decoded: Decoded,
    end: TapeEnd,
) -> Result<Reply, Fault> {
    let invalid =
        |repeatable, message: &str| Err(fault(settings, FaultClass::Invalid, repeatable, message));
    if let Some(error) = decoded.failure() {
        let told = decoded.error.is_some();
        return Err(match end {
            TapeEnd::Stalled if !told => {
                let message = format!(
                    "no data for {:?} (`idle_timeout` in `[model]`)",
                    settings.idle_timeout
                );
                fault(settings, FaultClass::Timeout, true, &message)
            }
            TapeEnd::Cut if !told => {
                let message = "the connection broke during the reply";
                fault(settings, FaultClass::Unavailable, true, message)
            }
            _ => failed(settings, &error),
        });
    }
    let mut word = decoded.stop.take().unwrap_or_default().to_ascii_lowercase();
    let mut how = stopped(&word);
    // `incomplete` says less than the reason that is beside it.
    if let Some(reason) = decoded.cut_by.take().map(|reason| reason.to_ascii_lowercase())
        && !matches!(stopped(&reason), StopClass::Well)
    {
        how = stopped(&reason);
        word = reason;
    }
    match how {
        StopClass::Well => {}
        StopClass::Short => {
            // Half a call or half an object may look whole. Half a text is a text, but no
            // text is none: all that was allowed went into thinking.
            let silent = decoded.text.trim().is_empty();
            if encoded.form == ReplyFormat::Schema || !decoded.tool_calls.is_empty() || silent {
                let message = format!(
                    "the reply was cut off ({word}); raise `max_tokens` in `[model]`, which is {}",
                    settings.max_tokens
                );
                return invalid(true, &message);
            }
        }
        StopClass::Blocked => {
            return invalid(false, &format!("the provider withheld the reply ({word})"));
        }
        StopClass::Broken => {
            return invalid(true, &format!("the model's reply is unusable ({word})"));
        }
        StopClass::Off => {
            let message = format!("the provider aborted the reply ({word})");
            return Err(fault(settings, FaultClass::Unavailable, true, &message));
        }
    }
    if let Some(refusal) = &decoded.refusal
        && decoded.text.trim().is_empty()
        && decoded.tool_calls.is_empty()
    {
        return invalid(false, &format!("the model refused: {refusal}"));
    }
    let mut reply = Reply { text: decoded.text, calls: Vec::new() };
    let mut taken = BTreeSet::new();
    for (place, call) in decoded.tool_calls.into_iter().enumerate() {
        if call.name.is_empty() {
            return invalid(true, "a tool call has no name");
        }
        let Some(arguments) = object(&call.arguments) else {
            let message =
                format!("the arguments of a call to `{}` are not a JSON object", call.name);
            return invalid(true, &message);
        };
        if encoded.form == ReplyFormat::Schema && call.name == REPLY {
            arguments.get().clone_into(&mut reply.text);
            continue;
        }
        // An id must name its call among all of a conversation; the key is unique.
        let scope: String = Digest::of(key.as_bytes()).to_string().chars().take(12).collect();
        let mut id = call.id_within(&scope, place);
        if !taken.insert(id.clone()) {
            id = format!("{id}_{place}_{scope}");
            taken.insert(id.clone());
        }
        let tool = encoded.names.meant(&call.name).to_owned();
        reply.calls.push(ToolCall { id, tool, arguments });
    }
    if let Some(key) = &settings.key {
        reply.text = key.redact(&reply.text);
    }
    Ok(reply)
}

/// Returns arguments in canonical form, if they are an object.
fn object(arguments: &decode::ProposedArguments) -> Option<Box<RawValue>> {
    let parsed = arguments.parsed().ok()?;
    let text = serde_json::to_string(&parsed).ok()?;
    canonical_body(&RawValue::from_string(text).ok()?).ok()
}

/// Words an error of the provider.
fn failed(settings: &ModelSettings, error: &decode::DecodeError) -> Fault {
    let class = match error.class {
        ErrorClass::RateLimited => FaultClass::RateLimited,
        ErrorClass::Overloaded | ErrorClass::Unavailable | ErrorClass::Truncated => {
            FaultClass::Unavailable
        }
        ErrorClass::Quota | ErrorClass::TooLarge => FaultClass::Resource,
        ErrorClass::Auth => FaultClass::Forbidden,
        ErrorClass::ContextLength => FaultClass::TooLong,
        // A rejected request is not model output.
        ErrorClass::Invalid => FaultClass::Contract,
        ErrorClass::ContentFilter | ErrorClass::Malformed => FaultClass::Invalid,
        ErrorClass::Other => FaultClass::Other,
    };
    let status = error.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
    let mut message = format!("{}{status}", error.message);
    let provider = settings.spec.provider();
    match (error.class, error.status, provider.key_variables()) {
        (ErrorClass::Auth, _, [variable, ..]) if settings.key.is_some() => {
            message = format!("{message}; check {variable}");
        }
        (ErrorClass::Auth, _, [variable, ..]) => {
            message = format!("{message}; no key was sent: set {variable} in the environment");
        }
        (ErrorClass::Invalid, Some(404 | 405), _) if provider == Provider::OpenAiCompatible => {
            let base = settings.base_url.as_deref().unwrap_or_default().trim_end_matches('/');
            message = if base.ends_with("/v1") {
                format!("{message}; check the model's name: `{}`", settings.spec)
            } else {
                format!("{message}; most servers need /v1 at the end of the base URL")
            };
        }
        (ErrorClass::TooLarge, ..) => {
            message = format!("{message}; raise `answer` of `[model]`");
        }
        _ => {}
    }
    let hint_ms = error.retry_after_ms;
    Fault { hint_ms, ..fault(settings, class, error.retryable, &message) }
}

/// What a stop word means for the reply.
enum StopClass {
    Well,
    Short,
    Blocked,
    Broken,
    Off,
}

/// Knows every stop reason of an incomplete or unsound reply. An unknown one counts as a normal
/// end: providers have many, and add new ones.
fn stopped(word: &str) -> StopClass {
    match word {
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "incomplete"
        | "model_context_window_exceeded" => StopClass::Short,
        "content_filter"
        | "content_filtered"
        | "refusal"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "language"
        | "image_safety"
        | "image_prohibited_content"
        | "image_recitation"
        | "guardrail_intervened"
        | "error_toxic" => StopClass::Blocked,
        "malformed_function_call"
        | "malformed_response"
        | "malformed_model_output"
        | "malformed_tool_use"
        | "missing_thought_signature"
        | "unexpected_tool_call"
        | "too_many_tool_calls"
        | "other"
        | "image_other"
        | "no_image" => StopClass::Broken,
        "insufficient_system_resource"
        | "abort"
        | "aborted"
        | "cancelled"
        | "error"
        | "failed"
        | "timeout" => StopClass::Off,
        _ => StopClass::Well,
    }
}

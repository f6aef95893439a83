//! Error bodies: how each provider words trouble, and the class it belongs to.

use super::{
    Head,
    error::{DecodeError, ErrorClass},
    hint,
    json::JsonNode,
};

/// The codes and types of prompts that are too long: OpenAI and what follows it,
/// Anthropic, llama.cpp.
const TOO_LONG_CODES: [&str; 4] =
    ["context_length", "string_above_max_length", "request_too_large", "exceed_context_size"];
/// Phrases of providers without a code for it; Gemini's is handled separately.
const TOO_LONG_WORDS: [&str; 9] = [
    "maximum context length",
    "max context length",
    "maximum prompt length",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "prompt too long",
    "reduce the length of the messages",
];

/// An error as read, before the HTTP status is known.
#[derive(Clone, Debug)]
pub(super) struct DecodeFault {
    /// Known beforehand where the decoder itself found it.
    class: Option<ErrorClass>,
    message: String,
    code: Option<String>,
    status: Option<u16>,
    /// All that says what kind it is, in lower case.
    words: Vec<String>,
    retry_after_ms: Option<u64>,
}

impl DecodeFault {
    /// Makes one that the decoder found.
    pub(super) fn found(class: ErrorClass, code: &str, message: String) -> Self {
        let code = Some(code.to_owned());
        Self {
            class: Some(class),
            message,
            code,
            status: None,
            words: vec![],
            retry_after_ms: None,
        }
    }

    /// Returns whether the provider reported it, rather than the decoder.
    pub(super) const fn is_told(&self) -> bool {
        self.class.is_none()
    }

    /// Reads the error that an event or a body carries, if it carries one.
    pub(super) fn carried(node: JsonNode<'_>) -> Option<Self> {
        if let Some(error) = node.field("error") {
            if error.is_object() {
                return Some(Self::read(error, node));
            }
            let text = error.text().filter(|text| !text.is_empty())?;
            return Some(Self::worded(text, node, node));
        }
        let is = |field| node.text_of(field).is_some_and(|word| word == "error");
        (is("type") || is("object")).then(|| Self::read(node, node))
    }

    /// Reads the body of an answer whose status says that it failed.
    pub(super) fn body(node: JsonNode<'_>) -> Self {
        Self::carried(node).unwrap_or_else(|| Self::read(node, node))
    }

    /// Makes one of a body that is not JSON.
    pub(super) fn text(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let words: Vec<&str> = text.split_whitespace().collect();
        let message: String = words.join(" ").chars().take(300).collect();
        let message = if message.is_empty() { "the response has no body".into() } else { message };
        Self { class: None, message, code: None, status: None, words: vec![], retry_after_ms: None }
    }

    /// Reads an error object, and the answer around it.
    pub(super) fn read(error: JsonNode<'_>, around: JsonNode<'_>) -> Self {
        let listed = |name: &str, field: &str| error.items_of(name).first()?.word_of(field);
        let message = error
            .word_of("message")
            .or_else(|| error.word_of("detail"))
            .or_else(|| listed("detail", "msg"))
            .or_else(|| listed("errors", "message"))
            .unwrap_or_else(|| error.compact().chars().take(300).collect());
        Self::worded(message, error, around)
    }

    fn worded(message: String, error: JsonNode<'_>, around: JsonNode<'_>) -> Self {
        let reasons = error.items_of("details");
        let reasons = reasons.into_iter().filter_map(|detail| detail.word_of("reason"));
        let named = ["code", "type", "status"].into_iter().filter_map(|name| error.word_of(name));
        let outer = around.word_of("code");
        // `error` only says that it is one.
        let words: Vec<String> =
            named.chain(reasons).chain(outer).filter(|word| word != "error").collect();
        let numbers = ["status_code", "code", "status"].into_iter();
        let numbers: Vec<u64> = numbers
            .filter_map(|name| {
                let found = error.field(name)?;
                found.number().or_else(|| found.text()?.parse().ok())
            })
            .collect();
        // Some providers number their errors as they like: `1302` is a code and no status.
        let fits = |number: &u16| (300..600).contains(number);
        let status = numbers.iter().find_map(|number| u16::try_from(*number).ok().filter(fits));
        let number = status.map(u64::from).or_else(|| numbers.first().copied());
        let numeric = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
        let code = words.iter().find(|word| !numeric(word)).or_else(|| words.first());
        Self {
            class: None,
            code: code.cloned().or_else(|| number.map(|number| number.to_string())),
            retry_after_ms: hint::found(error, &message),
            words: words.iter().map(|word| word.to_ascii_lowercase()).collect(),
            message,
            status,
        }
    }

    /// Names the class, now that the answer's head is known.
    pub(super) fn classified(self, head: &Head) -> DecodeError {
        let status = head.status.filter(|_| head.refused()).or(self.status);
        let class = self.class.unwrap_or_else(|| self.class_of(status));
        DecodeError {
            class,
            status,
            code: self.code,
            message: self.message,
            retryable: class.retryable(),
            retry_after_ms: head.retry_after_ms.or(self.retry_after_ms),
        }
    }

    /// The precise words first, since several providers send them under a status that
    /// says less; then the status; then the general words.
    fn class_of(&self, status: Option<u16>) -> ErrorClass {
        let message = self.message.to_ascii_lowercase();
        let says = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
        let named = |parts: &[&str]| {
            self.words.iter().any(|word| parts.iter().any(|part| word.contains(part)))
        };
        let waits = self.retry_after_ms.is_some();
        if named(&["insufficient_quota", "billing", "payment"])
            || says(&["credit balance is too low", "insufficient credits"])
            || (says(&["exceeded your current quota"]) && !waits)
        {
            return ErrorClass::Quota;
        }
        if named(&TOO_LONG_CODES)
            || says(&TOO_LONG_WORDS)
            || (says(&["token count"]) && says(&["exceeds the maximum"]))
        {
            return ErrorClass::ContextLength;
        }
        if named(&["content_filter", "content_policy", "safety", "prohibited_content"]) {
            return ErrorClass::ContentFilter;
        }
        if named(&["api_key"]) || says(&["api key not valid"]) {
            return ErrorClass::Auth;
        }
        if named(&["overloaded"]) || (says(&["overloaded"]) && status.is_none_or(|at| at >= 500)) {
            return ErrorClass::Overloaded;
        }
        // The model wrote a call that its own server refused: another draw may do.
        if named(&["tool_use_failed"]) {
            return ErrorClass::Malformed;
        }
        status.map_or_else(
            || {
                if named(&["rate_limit", "resource_exhausted", "too_many_requests"]) {
                    ErrorClass::RateLimited
                } else if named(&["authentication", "permission", "unauthenticated"]) {
                    ErrorClass::Auth
                } else if named(&["invalid", "not_found", "failed_precondition"]) {
                    ErrorClass::Invalid
                } else {
                    // The request had been accepted when this came.
                    ErrorClass::Unavailable
                }
            },
            |status| match status {
                401 | 403 | 407 => ErrorClass::Auth,
                402 => ErrorClass::Quota,
                408 | 409 | 425 => ErrorClass::Unavailable,
                413 => ErrorClass::ContextLength,
                429 => ErrorClass::RateLimited,
                529 => ErrorClass::Overloaded,
                400..500 => ErrorClass::Invalid,
                500..600 => ErrorClass::Unavailable,
                _ => ErrorClass::Other,
            },
        )
    }
}

//! The result of a call, in words that a model can read and a run can judge.

use std::{error::Error, time::Duration};

use pointsman_kernel::agent::{Fault, FaultClass, ToolResult};
use rmcp::{
    ServiceError,
    model::{CallToolResult, ContentBlock, ResourceContents},
    transport::streamable_http_client::StreamableHttpError,
};

use super::start_of;
use crate::effect::Completion;

/// Returns a tool's answer.
pub(super) fn answered(ok: bool, output: &str, mutated: bool) -> Completion {
    Completion::result(ToolResult { ok, output: output.into(), mutated })
}

/// Returns a fault, with the time that the server asks us to wait.
pub(super) fn fault(
    class: FaultClass,
    repeatable: bool,
    hint: Option<Duration>,
    message: String,
) -> Completion {
    let hint_ms = hint.map(|hint| u64::try_from(hint.as_millis()).unwrap_or(u64::MAX));
    Completion::failed(Fault { class, repeatable, hint_ms, message })
}

/// Says a result as text: its texts, and the names of its other parts.
pub(super) fn text(result: &CallToolResult) -> String {
    let parts: Vec<String> = result.content.iter().map(part).collect();
    match &result.structured_content {
        // Servers that send both repeat the structure as text.
        Some(value) if !result.content.iter().any(has_text) => {
            parts.into_iter().chain([value.to_string()]).collect::<Vec<_>>().join("\n")
        }
        _ => parts.join("\n"),
    }
}

/// Cuts a text, and says so.
pub(super) fn cut(text: String, cap: usize) -> String {
    if text.len() <= cap {
        return text;
    }
    let kept = start_of(&text, cap);
    format!("{kept}\n[cut: the first {} of {} bytes]", kept.len(), text.len())
}

/// Returns what kind of fault a lost request is, and how long the server asks us to wait.
pub(super) fn classify(error: &ServiceError) -> (FaultClass, Option<Duration>) {
    let ServiceError::TransportSend(error) = error else { return (FaultClass::Unavailable, None) };
    let error: &(dyn Error + Send + Sync + 'static) = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::HttpStatus(http)) => {
            let seconds = http.retry_after.as_deref().and_then(|after| after.trim().parse().ok());
            let class = match http.status {
                429 => FaultClass::RateLimited,
                _ => FaultClass::Unavailable,
            };
            (class, seconds.map(Duration::from_secs))
        }
        Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)) => {
            (FaultClass::Forbidden, None)
        }
        _ => (FaultClass::Unavailable, None),
    }
}

const fn has_text(part: &ContentBlock) -> bool {
    matches!(
        part,
        ContentBlock::Text(_)
            | ContentBlock::Resource(rmcp::model::EmbeddedResource {
                resource: ResourceContents::TextResourceContents { .. },
                ..
            })
    )
}

fn part(part: &ContentBlock) -> String {
    match part {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => blob(&image.mime_type, &image.data),
        ContentBlock::Audio(audio) => blob(&audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob: data, .. } => {
                let kind = mime_type.as_deref().unwrap_or("data");
                format!("[{uri}] {}", blob(kind, data))
            }
            _ => "[a resource of an unknown kind]".into(),
        },
        ContentBlock::ResourceLink(link) => format!("[link to {}: {}]", link.name, link.uri),
        _ => "[a part of an unknown kind]".into(),
    }
}

/// Names data by its kind and its size once decoded.
fn blob(kind: &str, base64: &str) -> String {
    let digits = base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    format!("[{kind}, {} bytes]", digits * 3 / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(result: Value) -> String {
        text(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_are_joined_and_other_parts_are_named() {
        let result = json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "resource", "resource": {"uri": "f:///a", "text": "two"}},
            {"type": "resource", "resource": {"uri": "f:///b", "blob": "AAAA"}},
            {"type": "resource_link", "name": "three", "uri": "f:///c"}
        ]});
        let lines = [
            "one",
            "[image/png, 5 bytes]",
            "[f:///a]",
            "two",
            "[f:///b] [data, 3 bytes]",
            "[link to three: f:///c]",
        ];
        assert_eq!(said(result), lines.join("\n"));
    }

    #[test]
    fn structured_content_is_used_without_text() {
        let structure = json!({"t": 21});
        assert_eq!(said(json!({"content": [], "structuredContent": structure})), r#"{"t":21}"#);
        let text = json!([{"type": "text", "text": "warm"}]);
        assert_eq!(said(json!({"content": text, "structuredContent": structure})), "warm");
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("éé".into(), 4), "éé");
        assert_eq!(cut("ééé".into(), 3), "é\n[cut: the first 2 of 6 bytes]");
    }
}

//! What holds for any bytes, cut anywhere, in any chunks.

use pointsman_runtime::model::decode::{DecodeLimits, Decoded, Decoder, Head, ReplyPiece};
use proptest::prelude::*;

use super::{
    Protocol::{self, AnthropicMessages, GeminiGenerate, OpenAiChat, OpenAiResponses},
    anthropic, chat, gemini, responses,
};

/// A small reply in every protocol and form.
fn replies() -> Vec<(Protocol, String)> {
    let plain = [
        (OpenAiChat, r#"{"choices":[{"finish_reason":"stop","message":{"content":"Grüße"}}]}"#),
        (OpenAiResponses, r#"{"status":"completed","output":[]}"#),
        (AnthropicMessages, r#"{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#),
        (GeminiGenerate, r#"{"candidates":[{"finishReason":"STOP"}]}"#),
    ];
    let mut replies = vec![
        (OpenAiChat, chat::full()),
        (OpenAiResponses, responses::full()),
        (AnthropicMessages, anthropic::full()),
        (GeminiGenerate, gemini::full()),
        (GeminiGenerate, gemini::list()),
    ];
    replies.extend(plain.map(|(protocol, body)| (protocol, body.to_owned())));
    replies
}

fn read<'a>(
    protocol: Protocol,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Vec<ReplyPiece>, Decoded) {
    let mut decoder = Decoder::with_limits(protocol, DecodeLimits { body: 1 << 16, line: 1 << 12 });
    let pieces = chunks.flat_map(|chunk| decoder.push(chunk)).collect();
    (pieces, decoder.finish(&Head::default()))
}

fn whole(protocol: Protocol, bytes: &[u8]) -> (Vec<ReplyPiece>, Decoded) {
    read(protocol, std::iter::once(bytes))
}

/// Cuts bytes at these places.
fn cut<'a>(bytes: &'a [u8], at: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = at.iter().map(|at| at.index(bytes.len() + 1)).collect();
    at.sort_unstable();
    let mut from = 0;
    let mut chunks: Vec<&[u8]> = Vec::new();
    for to in at {
        chunks.push(&bytes[from..to]);
        from = to;
    }
    chunks.push(&bytes[from..]);
    chunks
}

#[test]
fn a_reply_that_lost_its_end_is_never_complete() {
    for (protocol, body) in replies() {
        assert!(whole(protocol, body.as_bytes()).1.complete, "{protocol} {body}");
        // Line feeds after the end belong to nothing.
        let body = body.trim_end().as_bytes();
        assert!(whole(protocol, body).1.complete, "{protocol}");
        for end in 0..body.len() {
            let (_, decoded) = whole(protocol, &body[..end]);
            assert!(!decoded.complete, "{protocol} cut at {end}");
            assert_eq!(decoded.error, None, "{protocol} cut at {end}");
            assert!(decoded.failure().is_some_and(|failure| failure.retryable));
        }
    }
}

#[test]
fn line_ends_marks_and_single_bytes_change_nothing() {
    for (protocol, body) in replies() {
        let (pieces, decoded) = whole(protocol, body.as_bytes());
        let lines = body.replace("\r\n", "\n");
        for end in ["\n", "\r", "\r\n"] {
            let body = format!("\u{feff}{}", lines.replace('\n', end));
            let bytes = read(protocol, body.as_bytes().chunks(1));
            assert_eq!(bytes, (pieces.clone(), decoded.clone()), "{protocol} {end:?}");
        }
    }
}

/// Bytes that are often almost a reply.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "data: ",
        "event: error",
        "\n",
        "\r",
        "\n\n",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ":",
        ",",
        "\"choices\"",
        "\"delta\"",
        "\"index\":0",
        "\"error\":",
        "null",
        "[DONE]",
        "\u{feff}",
        "{\"type\":\"message_stop\"}",
        "{\"type\":\"response.completed\"}",
        "\\ud83d",
        "1e999",
    ];
    let word = prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

/// A reply with some of its bytes changed.
fn damaged() -> impl Strategy<Value = (Protocol, Vec<u8>)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    (prop::sample::select(replies()), changes).prop_map(|((protocol, body), changes)| {
        let mut bytes = body.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        (protocol, bytes)
    })
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        reply in prop::sample::select(replies()),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (protocol, body) = reply;
        let chunks = cut(body.as_bytes(), &at);
        prop_assert_eq!(read(protocol, chunks.into_iter()), whole(protocol, body.as_bytes()));
    }

    #[test]
    fn no_bytes_make_it_panic_and_chunks_do_not_matter_for_them(
        protocol in prop::sample::select(&Protocol::ALL[..]),
        bytes in noise(),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let once = whole(protocol, &bytes);
        prop_assert_eq!(&read(protocol, cut(&bytes, &at).into_iter()), &once);
        prop_assert!(!(once.1.complete && once.1.error.is_some()));
    }

    #[test]
    fn damage_never_panics(reply in damaged()) {
        let (protocol, bytes) = reply;
        let once = whole(protocol, &bytes);
        prop_assert_eq!(&read(protocol, bytes.chunks(1)), &once);
        prop_assert!(!(once.1.complete && once.1.error.is_some()));
        prop_assert!(serde_json::to_string(&once.1).is_ok());
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        protocol in prop::sample::select(&Protocol::ALL[..]),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        status in any::<u16>(),
    ) {
        let mut decoder = Decoder::new(protocol);
        decoder.push(&bytes);
        let head = Head { status: Some(status), retry_after_ms: None };
        let decoded = decoder.finish(&head);
        prop_assert!(!decoded.complete);
    }
}

//! Answers kept in a file, frame by frame, and taken from it again.
//!
//! One JSON object per line: the digest of the request, the protocol, the status, the
//! headers that matter, and the body in the chunks that it came in. Keys are taken out
//! before anything is written. Requests are not kept.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use pointsman_kernel::{id::Digest, json::canonical_body};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::to_raw_value};

use super::{ModelError, Protocol, wait::Headers};

/// The format of the lines. In the first one digests were of all that a request says.
const FORMAT: u32 = 2;

/// The text before and after the milliseconds that a run has been in its state. They differ from
/// run to run, so the digest ignores them.
const TIMED: (&str, &str) = ("\\nPhase Duration: ", "ms\\n");

/// How an answer ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TapeEnd {
    /// Everything that was wanted came.
    Closed,
    /// The connection broke off.
    Cut,
    /// Nothing more came in time.
    Stalled,
}

/// One answer, as it came.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Taped {
    v: u32,
    pub(super) digest: String,
    protocol: String,
    pub(super) status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: Headers,
    chunks: Vec<Chunk>,
    pub(super) end: TapeEnd,
}

/// A chunk is a text where it can be one: tapes are read by people, too.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Chunk {
    Text(String),
    Bytes { hex: String },
}

impl Chunk {
    fn of(bytes: &[u8]) -> Self {
        std::str::from_utf8(bytes)
            .map_or_else(|_| Self::Bytes { hex: hex(bytes) }, |text| Self::Text(text.to_owned()))
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.as_bytes().to_vec()),
            Self::Bytes { hex } => {
                if !hex.len().is_multiple_of(2) {
                    return None;
                }
                let pairs = hex.as_bytes().chunks(2);
                pairs
                    .map(|pair| {
                        let digit = |byte: &u8| char::from(*byte).to_digit(16);
                        let [high, low] = pair else { return None };
                        u8::try_from(digit(high)? * 16 + digit(low)?).ok()
                    })
                    .collect()
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

impl Taped {
    pub(super) fn new(
        protocol: Protocol,
        digest: String,
        (status, retry_after_ms, headers): (u16, Option<u64>, Headers),
        chunks: &[Vec<u8>],
        end: TapeEnd,
    ) -> Self {
        let chunks = chunks.iter().map(|chunk| Chunk::of(chunk)).collect();
        let protocol = protocol.to_string();
        Self { v: FORMAT, digest, protocol, status, retry_after_ms, headers, chunks, end }
    }

    /// Returns the body, chunk by chunk.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Vec<u8>> {
        // What cannot be read was refused when the tape was opened.
        self.chunks.iter().filter_map(Chunk::bytes)
    }

    fn check(&self) -> Result<(), String> {
        if !(1..=FORMAT).contains(&self.v) {
            return Err(format!("format {} is unknown; this build reads 1 to {FORMAT}", self.v));
        }
        self.protocol.parse::<Protocol>().map_err(|error| error.to_string())?;
        if self.chunks.iter().any(|chunk| chunk.bytes().is_none()) {
            return Err("a chunk is not hexadecimal".into());
        }
        Ok(())
    }
}

/// The digests that identify a request.
#[derive(Clone, Debug)]
pub(super) struct Digests {
    /// The digest to record.
    pub(super) now: String,
    /// The one of the first format.
    first: String,
}

/// Returns the digests of a request: of the protocol and the body, in one spelling.
/// Neither the address nor the key is part of them.
pub(super) fn digests(protocol: Protocol, body: &Value) -> Digests {
    let whole = to_raw_value(&json!({ "protocol": protocol.as_str(), "body": body }));
    let whole = whole.and_then(|whole| canonical_body(&whole));
    let whole = whole.map_or_else(|_| String::new(), |whole| whole.get().to_owned());
    let of = |text: &str| Digest::of(text.as_bytes()).to_string();
    Digests { now: of(&untimed(&whole)), first: of(&whole) }
}

/// Leaves out how long a run has been in its state.
fn untimed(body: &str) -> String {
    let (before, after) = TIMED;
    let mut parts = body.split(before);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        text.push_str(before);
        text.push_str(if rest.starts_with(after) { rest } else { part });
    }
    text
}

/// A file that answers are appended to.
#[derive(Clone, Debug)]
pub(super) struct TapeRecorder {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl TapeRecorder {
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.map_err(|source| ModelError::File { path: path.into(), source })?;
        Ok(Self { path: path.into(), file: Arc::new(Mutex::new(file)) })
    }

    /// Appends one answer, as one line.
    pub(super) async fn keep(&self, taped: Taped) -> Result<(), String> {
        let (path, file) = (self.path.clone(), Arc::clone(&self.file));
        let write = move || {
            let mut line = serde_json::to_vec(&taped)?;
            line.push(b'\n');
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(&line)?;
            file.flush()
        };
        let written = tokio::task::spawn_blocking(write).await.map_err(std::io::Error::other);
        written.and_then(|written| written).map_err(|error| {
            format!("the response cannot be recorded in {}: {error}", path.display())
        })
    }
}

/// A file of answers, each given once, in its order among those to the same request.
#[derive(Clone, Debug)]
pub(super) struct Replayer {
    path: PathBuf,
    answers: Arc<Mutex<HashMap<String, VecDeque<Taped>>>>,
}

impl Replayer {
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let trouble = |source| ModelError::File { path: path.into(), source };
        let mut answers: HashMap<String, VecDeque<Taped>> = HashMap::new();
        for (line, text) in (1..).zip(BufReader::new(File::open(path).map_err(trouble)?).lines()) {
            let text = text.map_err(trouble)?;
            if text.trim().is_empty() {
                continue;
            }
            let bad = |why| ModelError::Line { path: path.into(), line, why };
            let taped: Taped =
                serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
            taped.check().map_err(bad)?;
            answers.entry(taped.digest.clone()).or_default().push_back(taped);
        }
        Ok(Self { path: path.into(), answers: Arc::new(Mutex::new(answers)) })
    }

    /// Takes the next answer to a request.
    pub(super) fn take(&self, digests: &Digests) -> Result<Taped, String> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.path.display();
        let digest = &digests.now;
        let known = [digest, &digests.first].into_iter().find(|it| answers.contains_key(*it));
        match known.and_then(|it| answers.get_mut(it)).map(VecDeque::pop_front) {
            Some(Some(taped)) => Ok(taped),
            Some(None) => Err(format!(
                "{path} has no further answer to this request; record it again \
                 (request {digest})"
            )),
            None => Err(format!(
                "{path} has no answer to this request: the prompt, the tools or the settings \
                 differ from what was recorded; record it again (request {digest})"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_lose_nothing() {
        for bytes in [&b"plain \x00 \"text\""[..], b"\xff\xfe", "é".as_bytes(), b""] {
            assert_eq!(Chunk::of(bytes).bytes().as_deref(), Some(bytes));
        }
        for hex in ["0", "xy", "+1"] {
            assert_eq!(Chunk::Bytes { hex: hex.into() }.bytes(), None, "{hex}");
        }
    }

    #[test]
    fn requests_differ_by_their_content() {
        let (left, right) = (json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1 }));
        let chat = Protocol::OpenAiChat;
        let digest = |protocol: Protocol, body: &Value| digests(protocol, body).now;
        assert_eq!(digest(chat, &left), digest(chat, &right));
        assert_ne!(digest(chat, &left), digest(Protocol::GeminiGenerate, &left));
        assert_ne!(digest(chat, &left), digest(chat, &json!({ "a": 1 })));
        // The time in the state is not part of the request.
        let timed = |time: &str| {
            let text = format!("Current Phase: DECIDING\nPhase Duration: {time}\nStatus: STUCK");
            digests(chat, &json!({ "text": text }))
        };
        assert_eq!(timed("0ms").now, timed("1004ms").now);
        assert_ne!(timed("0ms").first, timed("1004ms").first);
        assert_ne!(timed("0ms").now, timed("0s").now);
        assert_ne!(timed("0 ms").now, timed("1 ms").now);
    }
}

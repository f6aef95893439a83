//! A question over the wire: sent, and its answer read chunk by chunk.
//!
//! Nothing is followed, nothing is tried twice, and no wait is without a limit: what
//! goes wrong is a fault, and the chart says what happens then.

use std::error::Error;

use pointsman_kernel::agent::FaultClass;
use reqwest::{
    Client, Response, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use tokio::time::timeout;

use super::{
    ModelError, ModelRequest, ProgressSink, Protocol, answer,
    decode::{Decoded, Head},
    encode::{self, Encoded, ReplyFormat},
    endpoint,
    reading::Reading,
    secret::Redactor,
    settings::ModelSettings,
    spec::Provider,
    tape::{self, Replayer, TapeEnd, TapeRecorder, Taped},
    trust,
    wait::{self, Headers},
};
use crate::{clock::now_ms, effect::Completion};

/// How much is read of an answer whose status says that it failed.
const REFUSED_BYTES: usize = 256 << 10;

/// A model that is reached over the wire, or whose recorded answers are.
#[derive(Debug)]
pub(super) struct Wire {
    settings: ModelSettings,
    protocol: Protocol,
    source: ResponseSource,
}

#[derive(Debug)]
enum ResponseSource {
    Network { client: Client, url: Url, recorder: Option<TapeRecorder> },
    Tape(Replayer),
}

/// An answer's head: status, the wait that it asks for, the headers that are kept.
type Opening = (u16, Option<u64>, Headers);

impl Wire {
    pub(super) fn new(settings: ModelSettings, protocol: Protocol) -> Result<Self, ModelError> {
        let source = match &settings.replay {
            Some(path) => ResponseSource::Tape(Replayer::open(path)?),
            None => network(&settings)?,
        };
        Ok(Self { settings, protocol, source })
    }

    pub(super) async fn ask(&self, question: &ModelRequest, shown: &ProgressSink) -> Completion {
        let encoded = encode::encode(self.protocol, question, &self.settings);
        let digests = tape::digests(self.protocol, &encoded.body);
        match &self.source {
            ResponseSource::Tape(tape) => match tape.take(&digests) {
                Ok(taped) => self.recall(&taped, &encoded, question, shown),
                Err(why) => self.fault(FaultClass::Gone, false, &why),
            },
            ResponseSource::Network { client, url, recorder } => {
                let mut response = match self.send(client, url, &encoded.body, question).await {
                    Ok(response) => response,
                    Err(fault) => return fault,
                };
                let opening = opening(&response);
                let mut reading = self.reading(&opening, shown, &encoded, recorder.is_some());
                let end = self.read(&mut response, &mut reading).await;
                // The connection is no longer needed, however the file fares.
                drop(response);
                let chunks = std::mem::take(&mut reading.kept);
                let decoded = decoded(reading, &opening);
                let done = answer::done(&self.settings, &encoded, &question.key, decoded, end);
                let Some(recorder) = recorder else { return done };
                let taped = Taped::new(self.protocol, digests.now, opening, &chunks, end);
                match recorder.keep(taped).await {
                    Ok(()) => done,
                    // It cost what it cost.
                    Err(why) => self.fault(FaultClass::Resource, false, &why).costing(done.usage),
                }
            }
        }
    }

    /// Reads an answer that was recorded, as if it came now.
    fn recall(
        &self,
        taped: &Taped,
        encoded: &Encoded,
        question: &ModelRequest,
        shown: &ProgressSink,
    ) -> Completion {
        let opening = (taped.status, taped.retry_after_ms, taped.headers.clone());
        let mut reading = self.reading(&opening, shown, encoded, false);
        for chunk in taped.chunks() {
            if !reading.take(&chunk) {
                break;
            }
        }
        reading.finish();
        let decoded = decoded(reading, &opening);
        answer::done(&self.settings, encoded, &question.key, decoded, taped.end)
    }

    /// Sends the question and waits for the answer's head.
    async fn send(
        &self,
        client: &Client,
        url: &Url,
        body: &serde_json::Value,
        question: &ModelRequest,
    ) -> Result<Response, Completion> {
        let mut request = client.post(url.clone()).body(body.to_string());
        if endpoint::takes_idempotency_key(self.settings.spec.provider())
            && let Ok(key) = HeaderValue::from_str(&question.key)
            && !key.is_empty()
        {
            request = request.header(HeaderName::from_static("idempotency-key"), key);
        }
        let limit = self.settings.connect_timeout.saturating_add(self.settings.idle_timeout);
        match timeout(limit, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unreached(url, error)),
            Err(_) => {
                let message = format!(
                    "no response within {limit:?} (`connect_timeout` plus `idle_timeout` in `[model]`)"
                );
                Err(self.fault(FaultClass::Timeout, true, &message))
            }
        }
    }

    /// Reads the body until it ends, or nothing more of it is wanted.
    async fn read(&self, response: &mut Response, reading: &mut Reading<'_>) -> TapeEnd {
        let end = loop {
            match timeout(self.settings.idle_timeout, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    if !reading.take(&chunk) {
                        break TapeEnd::Closed;
                    }
                }
                Ok(Ok(None)) => break TapeEnd::Closed,
                Ok(Err(_)) => break TapeEnd::Cut,
                Err(_) => break TapeEnd::Stalled,
            }
        };
        reading.finish();
        end
    }

    fn reading<'s>(
        &self,
        opening: &Opening,
        shown: &'s ProgressSink,
        encoded: &Encoded,
        keeps: bool,
    ) -> Reading<'s> {
        let refused = head(opening).refused();
        let most = if refused { REFUSED_BYTES } else { usize::MAX };
        let mut reading = Reading::new(self.protocol, self.settings.max_bytes.min(most));
        reading.redactor = Redactor::new(self.settings.key.clone());
        reading.shown = (!refused).then_some(shown);
        reading.by_tool = encoded.form == ReplyFormat::Schema;
        reading.keeps = keeps;
        reading
    }

    fn unreached(&self, url: &Url, error: reqwest::Error) -> Completion {
        let slow = error.is_timeout();
        let error = error.without_url();
        let cause = root(&error);
        let place = url.origin().ascii_serialization();
        let help = match self.settings.spec.provider() {
            Provider::Ollama => "; is Ollama running?",
            Provider::OpenAiCompatible => "; is the server running, and is the base URL correct?",
            _ => "",
        };
        let host = url.host_str().unwrap_or_default();
        if let Some((class, message)) = trust::refused(&place, host, cause) {
            return self.fault(class, false, &message);
        }
        // A server that wants TLS answers a plain request with something else than HTTP.
        let help = match cause.to_string() {
            text if url.scheme() == "http" && text.starts_with("invalid HTTP") => {
                "; does the server need https?"
            }
            _ => help,
        };
        if slow {
            let limit = self.settings.connect_timeout;
            let message = format!(
                "{place} cannot be reached within {limit:?} (`connect_timeout` in `[model]`){help}"
            );
            return self.fault(FaultClass::Timeout, true, &message);
        }
        let message = format!("{place} cannot be reached: {cause}{help}");
        self.fault(FaultClass::Unavailable, true, &message)
    }

    fn fault(&self, class: FaultClass, repeatable: bool, message: &str) -> Completion {
        Completion::failed(answer::fault(&self.settings, class, repeatable, message))
    }
}

/// Ends the reading. A redirection is worded here, for its body says little.
fn decoded(reading: Reading<'_>, opening: &Opening) -> Decoded {
    let mut decoded = reading.decoded(&head(opening));
    if (300..400).contains(&opening.0)
        && let Some(error) = &mut decoded.error
    {
        let place = opening.2.get("location").map_or("another address", String::as_str);
        error.message = format!(
            "the server redirects to {place}, and redirects are not followed; set the base URL to the new address"
        );
    }
    decoded
}

fn network(settings: &ModelSettings) -> Result<ResponseSource, ModelError> {
    let provider = settings.spec.provider();
    let url = endpoint::address(settings)?;
    if settings.key.is_none() && endpoint::needs_key(settings, &url) {
        return Err(ModelError::NoKey { provider });
    }
    // Fails only where a provider is installed already, and then there is one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut client = Client::builder()
        .user_agent(concat!("pointsman/", env!("CARGO_PKG_VERSION")))
        .default_headers(endpoint::headers(settings)?)
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(settings.connect_timeout);
    if url.scheme() == "http" {
        // A system without CA certificates can still ask a server on this machine.
        client = client.tls_certs_only([]);
    }
    if endpoint::is_loopback(&url) {
        client = client.no_proxy();
    }
    let client = client.build().map_err(|error| ModelError::Client(root(&error).to_string()))?;
    let recorder = settings.record.as_deref().map(TapeRecorder::open).transpose()?;
    Ok(ResponseSource::Network { client, url, recorder })
}

/// Returns the last of an error's causes: it says what happened, the others say where.
fn root<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause
}

const fn head((status, retry_after_ms, _): &Opening) -> Head {
    Head { status: Some(*status), retry_after_ms: *retry_after_ms }
}

fn opening(response: &Response) -> Opening {
    let status = response.status().as_u16();
    let headers = kept(response.headers());
    (status, wait::hint_ms(status, &headers, now_ms()), headers)
}

/// Returns the headers that describe the response. The target of a redirect is kept without its
/// path, which may contain anything.
fn kept(headers: &HeaderMap) -> Headers {
    let tells = |name: &str| {
        name.contains("ratelimit")
            || name.starts_with("retry-after")
            || matches!(name, "content-type" | "location" | "request-id" | "x-request-id")
    };
    let named = headers.iter().filter(|(name, _)| tells(name.as_str()));
    named
        .filter_map(|(name, value)| {
            let value = value.to_str().ok()?;
            let value = match name.as_str() {
                "location" => Url::parse(value).ok()?.origin().ascii_serialization(),
                _ => value.to_owned(),
            };
            Some((name.as_str().to_owned(), value))
        })
        .collect()
}

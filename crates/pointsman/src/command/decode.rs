//! `pointsman decode`: what a model's recorded answer says.

use std::{
    fs,
    io::{self, Read},
    process::ExitCode,
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use pointsman_runtime::model::{
    Protocol,
    decode::{Decoded, Decoder, Head, retry_after_ms},
};

use crate::{
    format::visible,
    report::{self, Error},
};

/// Decode a recorded model response and report whether it is complete.
#[derive(Args, Debug)]
#[command(after_help = "\
The body may be a stream of events or plain JSON; the command detects which. A reply is complete
only if the protocol's end marker was seen, with a stop reason and without an error.

An error is one of: rate_limited, overloaded, unavailable, quota, auth, invalid,
context_length, content_filter, malformed, too_large, other. The text output also reports a
truncated reply as an error, `truncated`; in JSON, `complete` is false and `error` is null.

Examples:
  pointsman decode --protocol openai-chat answer.sse
  pointsman decode --protocol anthropic-messages body.json --http-status 529 --json
  curl -sN … | pointsman decode --protocol gemini-generate -

Exit codes: 0 the reply is complete, 1 it is not, 2 usage error or unreadable file.")]
pub(crate) struct Decode {
    /// The body: a file, or `-` for standard input.
    file: String,
    /// The provider's protocol.
    #[arg(long, value_parser = PossibleValuesParser::new(Protocol::ALL.map(Protocol::as_str))
        .try_map(|name| name.parse::<Protocol>()))]
    protocol: Protocol,
    /// The HTTP status of the response.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(100..1000))]
    http_status: Option<u16>,
    /// The `Retry-After` header, in seconds.
    #[arg(long, value_name = "S", value_parser = milliseconds)]
    retry_after: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Decode {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let body = read(&self.file)?;
        let mut decoder = Decoder::new(self.protocol);
        // Pieces are for live display; this reply is already complete.
        drop(decoder.push(&body));
        let head = Head { status: self.http_status, retry_after_ms: self.retry_after };
        let reply = decoder.finish(&head);
        let text = if self.json {
            // Text and numbers always serialise.
            serde_json::to_string(&reply).unwrap_or_default() + "\n"
        } else {
            told(&reply)
        };
        report::data(&text)?;
        Ok(if reply.complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn read(file: &str) -> Result<Vec<u8>, Error> {
    if file != "-" {
        return fs::read(file).map_err(|source| Error::Read { path: file.into(), source });
    }
    let mut body = Vec::new();
    io::stdin()
        .read_to_end(&mut body)
        .map_err(|source| Error::Read { path: "standard input".into(), source })?;
    Ok(body)
}

fn milliseconds(seconds: &str) -> Result<u64, &'static str> {
    retry_after_ms(seconds).ok_or("write seconds, such as 2 or 1.5")
}

fn told(decoded: &Decoded) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        // What a model wrote must not steer the terminal.
        text.push_str(&visible(&words));
        text.push('\n');
    };
    line(if decoded.complete { "complete".into() } else { "not complete".into() });
    if let Some(failure) = decoded.failure() {
        line(format!("error:    {failure}"));
        let known = failure.code.map(|code| format!("code {code}"));
        let status = failure.status.map(|status| format!("status {status}"));
        let retry = if failure.retryable { "may be retried" } else { "must not be retried" };
        let waits = failure.retry_after_ms.map(|waits| format!("after {waits} ms"));
        let details: Vec<String> =
            known.into_iter().chain(status).chain([retry.to_owned()]).chain(waits).collect();
        line(format!("          {}", details.join(", ")));
    }
    if let Some(stop) = &decoded.stop {
        line(format!("stop:     {stop}"));
    }
    let usage = decoded.usage;
    if let (Some(input), Some(output)) = (usage.input, usage.output) {
        let beside = match (usage.cached, usage.reasoning) {
            (0, 0) => String::new(),
            (cached, 0) => format!(", plus {cached} cached or tool input"),
            (0, reasoning) => format!(", plus {reasoning} reasoning"),
            (cached, reasoning) => {
                format!(", plus {cached} cached or tool input, {reasoning} reasoning")
            }
        };
        line(format!("tokens:   {input} in, {output} out{beside}"));
    }
    for call in &decoded.tool_calls {
        let id = call.id.as_deref().unwrap_or("no id");
        let cut = if call.arguments.parsed().is_ok() { "" } else { "  not a JSON object" };
        line(format!("call:     {} {}  ({id}){cut}", call.name, call.arguments.as_str()));
    }
    if let Some(refusal) = &decoded.refusal {
        line(format!("refusal:  {refusal}"));
    }
    if !decoded.text.is_empty() {
        line(format!("\n{}", decoded.text));
    }
    text
}

//! `cargo xtask eval decode`: the decoders over recorded answers of providers.
//!
//! The directory's `index.json` lists bodies and their content. Each body is decoded whole and in
//! random chunks. A reply that the index calls complete must also be free of errors here;
//! arguments that never became JSON are null here.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use pointsman_runtime::model::{
    Headers, Protocol,
    decode::{Decoded, Decoder, Head},
    hint_ms,
};
use serde_json::{Map, Value, json};

use crate::random::SplitMix64;

/// Prints how many of a directory's answers are decoded as its index says.
pub(crate) fn decode(data: &Path, splits: usize) -> Result<bool> {
    let index = data.join("index.json");
    let text = fs::read_to_string(&index).with_context(|| index.display().to_string())?;
    let index: Value = serde_json::from_str(&text)?;
    let fixtures = index["fixtures"].as_array().context("the index lists no fixtures")?;
    ensure!(!fixtures.is_empty(), "the index lists no fixtures");
    let mut agree = 0;
    let mut draws = SplitMix64::new(1);
    for fixture in fixtures {
        let misses =
            misses(data, fixture, splits, &mut draws).with_context(|| fixture["id"].to_string())?;
        if misses.is_empty() {
            agree += 1;
        }
        for miss in misses {
            println!("{}: {miss}", fixture["id"].as_str().unwrap_or_default());
        }
    }
    println!("{agree} of {} answers agree, each whole and in {splits} splits", fixtures.len());
    Ok(agree == fixtures.len())
}

/// Returns what differs for one answer.
fn misses(
    data: &Path,
    fixture: &Value,
    splits: usize,
    draws: &mut SplitMix64,
) -> Result<Vec<String>> {
    let word = |name: &str| fixture[name].as_str().with_context(|| format!("it has no {name}"));
    let body = fs::read(data.join(word("file")?))?;
    let protocol: Protocol = word("protocol")?.parse()?;
    let status = fixture["http_status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let headers = fixture["http_headers"].as_object().into_iter().flatten();
    let headers: Headers = headers
        .filter_map(|(name, value)| Some((name.to_lowercase(), value.as_str()?.to_owned())))
        .collect();
    // Dates would be counted from now; durations need no clock.
    let retry_after_ms = hint_ms(status.unwrap_or(200), &headers, 0);
    let head = Head { status, retry_after_ms };
    let whole = read(protocol, &body, &head, &[]);
    let mut misses = Vec::new();
    let found = serde_json::to_value(&whole)?;
    let expected = contract(&fixture["expected"]);
    for (name, expected) in expected.as_object().into_iter().flatten() {
        if name != "error" && found[name] != *expected {
            misses.push(format!("{name} is {}, not {expected}", found[name]));
        }
    }
    let expected = error(&fixture["expected"]["error"], status, &headers);
    for (name, expected) in expected.as_object().into_iter().flatten() {
        let found = &found["error"][name];
        if found != expected {
            misses.push(format!("the error's {name} is {found}, not {expected}"));
        }
    }
    for _ in 0..splits {
        let mut at: Vec<usize> =
            (0..=draws.below(24)).map(|_| draws.below(body.len() + 1)).collect();
        at.sort_unstable();
        if read(protocol, &body, &head, &at) != whole {
            misses.push(format!("it differs when split at {at:?}"));
            break;
        }
    }
    Ok(misses)
}

fn read(protocol: Protocol, body: &[u8], head: &Head, at: &[usize]) -> Decoded {
    let mut decoder = Decoder::new(protocol);
    let mut from = 0;
    for to in at.iter().copied().chain([body.len()]) {
        drop(decoder.push(body.get(from..to).unwrap_or_default()));
        from = to;
    }
    decoder.finish(head)
}

/// Puts an index's expectation into the words of `pointsman decode --json`, but for the error.
fn contract(expected: &Value) -> Value {
    let calls = expected["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(
        |call| json!({"id": call["id"], "name": call["name"], "arguments": call["arguments"]}),
    );
    let usage = &expected["usage"];
    let counted = |names: [&str; 3]| {
        names.into_iter().map(|name| &usage[name]).find(|count| !count.is_null()).cloned()
    };
    json!({
        "text": expected["text"],
        "tool_calls": calls.collect::<Vec<Value>>(),
        "stop": expected["stop"],
        "usage": {
            "input": counted(["prompt_tokens", "input_tokens", "promptTokenCount"]),
            "output": counted(["completion_tokens", "output_tokens", "candidatesTokenCount"]),
        },
        "complete": expected["complete"] == true && expected["error"].is_null(),
    })
}

/// Returns the expected error: its message, its non-numeric code, the status of the response or,
/// within an accepted one, of the error, and the delay in the headers. Values missing in the index
/// are not compared; the class is this project's own.
fn error(expected: &Value, status: Option<u16>, headers: &Headers) -> Value {
    let mut error = Map::new();
    error.insert("message".into(), expected["message"].clone());
    if expected.is_null() {
        return Value::Object(error);
    }
    let words = ["code", "type", "status"].map(|name| &expected[name]);
    let number = |word: &Value| word.as_u64().or_else(|| word.as_str()?.parse().ok());
    let named = words.iter().find(|word| word.is_string() && number(word).is_none());
    let code = named.map(|word| (*word).clone());
    let code =
        code.or_else(|| words.iter().find_map(|word| number(word)).map(|n| json!(n.to_string())));
    error.extend(code.map(|code| ("code".into(), code)));
    let refused = status.map(u64::from).filter(|status| !(200..300).contains(status));
    let told = words.iter().find_map(|word| number(word)).filter(|n| (300..600).contains(n));
    error.extend(refused.or(told).map(|status| ("status".into(), json!(status))));
    let header =
        |name: &str, unit: u64| Some(headers.get(name)?.parse::<u64>().ok()?.saturating_mul(unit));
    let wait = header("retry-after-ms", 1).or_else(|| header("retry-after", 1_000));
    error.extend(wait.map(|wait| ("retry_after_ms".into(), json!(wait))));
    Value::Object(error)
}

//! Content of a run: blobs of the store, and files that are kept beside the journal.
//!
//! The bytes say what they are. Only pictures that cannot contain code have a type of their own; all
//! other text is plain text.

use std::{ops::Range, sync::Arc};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::id::Digest;
use pointsman_webdriver::kept;
use serde_json::Value;

use super::{
    Server,
    extract::Named,
    openapi,
    problem::{HttpProblem, run_id},
};

/// Read content that a run keeps, by its digest: all of it, or a range.
#[utoipa::path(
    get,
    path = "/runs/{id}/blobs/{digest}",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("digest" = String, Path, description = "The digest, 64 hexadecimal digits"),
        ("Range" = Option<String>, Header, description = "One range of bytes"),
    ),
    responses(
        (status = 200, description = "The content", content(
            (Vec<u8> = "application/octet-stream"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"),
            (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp"), (String = "text/plain"),
        )),
        (status = 206, description = "The range", content(
            (Vec<u8> = "application/octet-stream"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"),
            (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp"), (String = "text/plain"),
        )),
        (status = 404, response = openapi::NotFound),
        (status = 416, description = "There is nothing in the range", body = HttpProblem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn blob(
    State(server): State<Arc<Server>>,
    Named((id, digest)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let run = run_id(&id)?;
    let none = || {
        let detail = format!("run {run} has no content {digest}");
        HttpProblem::new(StatusCode::NOT_FOUND, detail, "a digest has 64 hexadecimal digits")
    };
    let digest: Digest =
        serde_json::from_value(Value::String(digest.clone())).map_err(|_| none())?;
    let content = server.store().whole_blob(&run, &digest).await?;
    Ok(answer(&headers, content))
}

/// Read a file that the run's agent keeps, such as a screenshot, or a range of it.
#[utoipa::path(
    get,
    path = "/runs/{id}/files/{name}",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("name" = String, Path, description = "The name, as in the timeline and in tables"),
        ("Range" = Option<String>, Header, description = "One range of bytes"),
    ),
    responses(
        (status = 200, description = "The content, unpacked", content(
            (Vec<u8> = "application/octet-stream"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"),
            (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp"), (String = "text/plain"),
        )),
        (status = 206, description = "The range", content(
            (Vec<u8> = "application/octet-stream"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"),
            (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp"), (String = "text/plain"),
        )),
        (status = 404, response = openapi::NotFound),
        (status = 416, description = "There is nothing in the range", body = HttpProblem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn file(
    State(server): State<Arc<Server>>,
    Named((id, name)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let run = server.store().run(&run_id(&id)?).await?.id;
    let (of, wanted) = (run.clone(), name.clone());
    let read = move |session: &pointsman_runtime::session::Session| {
        // A file that cannot be read is shown no more than one that is gone.
        let read = kept::read(session.journal(), &of, &wanted);
        Ok(read.inspect_err(|error| tracing::warn!(%error, "a saved file cannot be read")).ok())
    };
    let Some(content) = server.blocking(read).await?.flatten() else {
        let detail = format!("run {run} has no file {name}");
        let hint = "its agent saves no files, or they were removed";
        return Err(HttpProblem::new(StatusCode::NOT_FOUND, detail, hint));
    };
    Ok(answer(&headers, content))
}

/// Answers with content, or with the range that is asked for.
fn answer(headers: &HeaderMap, content: Vec<u8>) -> Response {
    let size = content.len();
    let kind = (header::CONTENT_TYPE, kind(&content).to_owned());
    let ranges = (header::ACCEPT_RANGES, "bytes".to_owned());
    let asked = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    // A header that means nothing to a server is passed over.
    let Some(asked) = asked.and_then(|text| range(text, size)) else {
        return ([kind, ranges], content).into_response();
    };
    let part = content.get(asked.clone()).filter(|part| !part.is_empty());
    let Some(part) = part else {
        let detail = format!("the content has {size} bytes");
        let problem = HttpProblem::new(StatusCode::RANGE_NOT_SATISFIABLE, detail, "");
        return ([(header::CONTENT_RANGE, format!("bytes */{size}"))], problem).into_response();
    };
    let placed = format!("bytes {}-{}/{size}", asked.start, asked.end.saturating_sub(1));
    let head = [kind, ranges, (header::CONTENT_RANGE, placed)];
    (StatusCode::PARTIAL_CONTENT, head, part.to_vec()).into_response()
}

/// Returns the type of content, from its bytes. SVG and HTML are text.
fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ if !bytes.contains(&0) && str::from_utf8(bytes).is_ok() => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Reads `bytes=A-B`, `bytes=A-` or `bytes=-N`; nothing where it is none of them.
fn range(text: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.parse::<usize>().ok();
    Some(match (first, last) {
        ("", last) => size.saturating_sub(number(last)?)..size,
        (first, "") => number(first)?.min(size)..size,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            first.min(size)..last.saturating_add(1).min(size)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_http_means_them() {
        for (text, size, expected) in [
            ("bytes=0-3", 10, Some(0..4)),
            ("bytes=2-", 10, Some(2..10)),
            ("bytes=-4", 10, Some(6..10)),
            ("bytes=-40", 10, Some(0..10)),
            ("bytes=8-40", 10, Some(8..10)),
            ("bytes=20-40", 10, Some(10..10)),
            ("bytes=4-2", 10, None),
            ("bytes=x-2", 10, None),
            ("lines=0-3", 10, None),
        ] {
            assert_eq!(range(text, size), expected, "{text}");
        }
    }

    #[test]
    fn nothing_active_has_a_type_of_its_own() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "text/plain; charset=utf-8"),
            (b"<!doctype html><script>", "text/plain; charset=utf-8"),
            (b"%PDF-1.7", "text/plain; charset=utf-8"),
            (b"\xff\xfe<\0s\0", "application/octet-stream"),
            (b"GIF8", "text/plain; charset=utf-8"),
            (b"", "text/plain; charset=utf-8"),
        ] {
            assert_eq!(kind(bytes), expected, "{bytes:?}");
        }
    }
}

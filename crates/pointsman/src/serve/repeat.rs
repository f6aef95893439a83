//! `Idempotency-Key` for changes other than starting a run: the answer to the first request is given
//! again to those that repeat it.
//!
//! Answers are kept in memory, this many of them at most: a server that was restarted has forgotten
//! them. Starting a run needs none of this, because the store itself knows the names of requests.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use pointsman_kernel::id::Digest;

use super::{Server, problem::HttpProblem};

/// The header that names a request.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The longest name of a request.
const LONGEST_KEY: usize = 255;
/// How many answers are kept.
const KEPT: usize = 1_024;
/// The longest answer that is kept, and the longest request whose content is compared.
const LONGEST: usize = 1 << 20;

/// A request that was made under a key.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Asked {
    key: Box<str>,
    /// The digest of method, path and content.
    what: Digest,
}

/// An answer; none while the first request is still in progress.
#[derive(Clone, Debug)]
struct Answered {
    status: StatusCode,
    kind: Option<HeaderValue>,
    body: Bytes,
}

/// The answers that were given under keys.
#[derive(Debug, Default)]
pub(super) struct Repeats(Mutex<VecDeque<(Asked, Option<Answered>)>>);

impl Repeats {
    /// Returns what was answered under a key, or notes that this request is the first.
    fn first(&self, asked: &Asked) -> Result<Option<Answered>, HttpProblem> {
        // The list is whole at any time.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter().find(|(it, _)| it.key == asked.key) {
            None => {
                if all.len() >= KEPT {
                    all.pop_front();
                }
                all.push_back((asked.clone(), None));
                Ok(None)
            }
            Some((it, _)) if it.what != asked.what => Err(HttpProblem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "this `Idempotency-Key` was used for another request",
                "use a new key for each new request",
            )),
            Some((_, Some(answered))) => Ok(Some(answered.clone())),
            Some((_, None)) => Err(HttpProblem::new(
                StatusCode::CONFLICT,
                "the first request with this `Idempotency-Key` is still in progress",
                "repeat it later",
            )),
        }
    }

    /// Keeps an answer, or forgets a request that may be made again.
    fn settle(&self, asked: &Asked, answered: Option<Answered>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match answered {
            Some(_) => {
                if let Some(it) = all.iter_mut().find(|(it, _)| it == asked) {
                    it.1 = answered;
                }
            }
            None => all.retain(|(it, _)| it != asked),
        }
    }
}

/// Forgets a request that was given up before it was answered.
struct Unsettled<'a>(&'a Repeats, Option<Asked>);

impl Drop for Unsettled<'_> {
    fn drop(&mut self) {
        if let Some(asked) = &self.1 {
            self.0.settle(asked, None);
        }
    }
}

/// Returns the name of a request.
pub(super) fn request_name(headers: &HeaderMap) -> Result<Option<Box<str>>, HttpProblem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let name = value.to_str().ok().filter(|name| !name.is_empty() && name.len() <= LONGEST_KEY);
    let bad = || {
        let detail = "`Idempotency-Key` must have 1 to 255 visible characters";
        HttpProblem::new(StatusCode::BAD_REQUEST, detail, "a UUID is a good key")
    };
    name.map(|name| Some(name.into())).ok_or_else(bad)
}

/// Answers a request that is repeated with the answer to the first one.
pub(super) async fn repeat(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Result<Response, HttpProblem> {
    let Some(key) = request_name(request.headers())? else { return Ok(next.run(request).await) };
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, LONGEST).await.map_err(|_| {
        let detail = "the body is too long, or was cut off";
        HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, detail, "leave `Idempotency-Key` out")
    })?;
    let what = format!("{} {}\n", parts.method, parts.uri);
    let what = Digest::of(&[what.as_bytes(), &body].concat());
    let asked = Asked { key, what };
    if let Some(answered) = server.repeats.first(&asked)? {
        return Ok(answered.response());
    }
    let mut unsettled = Unsettled(&server.repeats, Some(asked));
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, LONGEST).await.unwrap_or_default();
    let kind = parts.headers.get(header::CONTENT_TYPE).cloned();
    let answered = Answered { status: parts.status, kind, body: body.clone() };
    // What failed may be tried again.
    if parts.status.is_success()
        && let Some(asked) = unsettled.1.take()
    {
        server.repeats.settle(&asked, Some(answered));
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

impl Answered {
    fn response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        if let Some(kind) = self.kind {
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        response
    }
}

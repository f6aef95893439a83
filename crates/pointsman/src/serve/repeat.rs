//! `Idempotency-Key` for changes other than starting a run: the answer to the first request is given
//! again to those that repeat it.
//!
//! Answers are kept in memory, this many of them at most: a server that was restarted has forgotten
//! them. Of one that is too long only the fact is kept, so that the action is not repeated. Starting a run needs none of this, because the store itself knows the names of requests.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    body::{Body, Bytes, HttpBody as _, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::Response,
};
use futures_util::{StreamExt as _, stream};
use pointsman_kernel::id::Digest;

use super::{Server, problem::HttpProblem};

/// The header that names a request.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The longest name of a request.
const LONGEST_KEY: usize = 255;
/// How many answers are kept.
const KEPT: usize = 1_024;
/// The longest answer that is kept.
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
    headers: HeaderMap,
    /// Nothing where it was too long to be kept.
    body: Option<Bytes>,
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
            Some((_, Some(Answered { body: None, .. }))) => Err(HttpProblem::new(
                StatusCode::CONFLICT,
                "the request with this `Idempotency-Key` was carried out, but its answer was too long to keep",
                "look for its result in `GET /api/v1/runs`, or use a new key to carry it out again",
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
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        let detail = "the request has several `Idempotency-Key` headers";
        return Err(HttpProblem::new(StatusCode::BAD_REQUEST, detail, "send one of them"));
    }
    let name = value.to_str().ok().filter(|name| is_request_name(name));
    let bad = || {
        let detail = "`Idempotency-Key` must have 1 to 255 visible characters";
        HttpProblem::new(StatusCode::BAD_REQUEST, detail, "a UUID is a good key")
    };
    name.map(|name| Some(name.into())).ok_or_else(bad)
}

/// Returns whether a text can name a request.
pub(super) fn is_request_name(name: &str) -> bool {
    (1..=LONGEST_KEY).contains(&name.len()) && !name.contains(char::is_control)
}

/// Answers a request that is repeated with the answer to the first one.
pub(super) async fn repeat(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Result<Response, HttpProblem> {
    let Some(key) = request_name(request.headers())? else { return Ok(next.run(request).await) };
    let (parts, body) = request.into_parts();
    // The guard has read the body, within its limits.
    let body = to_bytes(body, usize::MAX).await.map_err(|_| {
        let detail = "the body of the request is incomplete";
        HttpProblem::new(StatusCode::BAD_REQUEST, detail, "send the request again")
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
    let (kept, body) = keep(body).await;
    let told = [header::CONTENT_TYPE, header::LOCATION];
    let told = told.into_iter().filter_map(|name| {
        let value = parts.headers.get(&name)?.clone();
        Some((name, value))
    });
    let answered = Answered { status: parts.status, headers: told.collect(), body: kept };
    // What failed may be tried again.
    if parts.status.is_success()
        && let Some(asked) = unsettled.1.take()
    {
        server.repeats.settle(&asked, Some(answered));
    }
    Ok(Response::from_parts(parts, body))
}

/// Reads an answer that is short enough to be kept. A longer one passes as it is.
async fn keep(body: Body) -> (Option<Bytes>, Body) {
    if body.size_hint().lower() > LONGEST as u64 {
        return (None, body);
    }
    let (mut read, mut chunks) = (Vec::new(), body.into_data_stream());
    while let Some(chunk) = chunks.next().await {
        let fits = chunk.as_ref().is_ok_and(|chunk| read.len() + chunk.len() <= LONGEST);
        match chunk {
            Ok(chunk) if fits => read.extend_from_slice(&chunk),
            chunk => {
                let read = stream::iter([Ok(Bytes::from(read)), chunk]);
                return (None, Body::from_stream(read.chain(chunks)));
            }
        }
    }
    let read = Bytes::from(read);
    (Some(read.clone()), Body::from(read))
}

impl Answered {
    fn response(self) -> Response {
        let mut response = Response::new(Body::from(self.body.unwrap_or_default()));
        (*response.status_mut(), *response.headers_mut()) = (self.status, self.headers);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_answer_passes_whole_and_is_not_kept() {
        for (chunks, kept) in [(1, true), (16, true), (17, false), (40, false)] {
            let part = Bytes::from(vec![b'x'; LONGEST / 16]);
            let parts = (0..chunks).map(move |_| Ok::<_, std::io::Error>(part.clone()));
            let whole = chunks * (LONGEST / 16);
            for body in
                [Body::from_stream(stream::iter(parts)), Body::from(Bytes::from(vec![b'x'; whole]))]
            {
                let (short, body) = keep(body).await;
                assert_eq!(short.map(|short| short.len()), kept.then_some(whole));
                let passed = to_bytes(body, usize::MAX).await.expect("it is whole");
                assert_eq!(passed.len(), whole);
            }
        }
    }

    #[test]
    fn request_whose_answer_was_too_long_is_not_carried_out_again() {
        let repeats = Repeats::default();
        let asked = Asked { key: "one".into(), what: Digest::of(b"POST /") };
        assert!(repeats.first(&asked).expect("it is the first").is_none());
        let long = Answered { status: StatusCode::OK, headers: HeaderMap::new(), body: None };
        repeats.settle(&asked, Some(long));
        let refused = repeats.first(&asked).expect_err("it was carried out");
        assert_eq!(refused.status(), 409);
    }
}

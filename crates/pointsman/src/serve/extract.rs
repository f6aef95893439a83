//! Bodies and parameters of requests. An invalid one is answered with problem details.

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use serde::{
    Deserialize as _, Deserializer,
    de::{DeserializeOwned, Error as _},
};

use super::problem::HttpProblem;

/// A JSON body.
pub(super) struct Given<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Given<T> {
    type Rejection = HttpProblem;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpProblem> {
        is_plain(request.headers())?;
        let Json(body) = Json::from_request(request, state).await?;
        Ok(Self(body))
    }
}

/// A JSON body that may be left out.
pub(super) struct MaybeGiven<T>(pub(super) T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for MaybeGiven<T> {
    type Rejection = HttpProblem;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpProblem> {
        is_plain(request.headers())?;
        let (parts, body) = request.into_parts();
        // The guard has read the body, within its limits.
        let body = to_bytes(body, usize::MAX).await.map_err(|_| {
            let detail = "the body of the request is incomplete";
            HttpProblem::new(StatusCode::BAD_REQUEST, detail, "send the request again")
        })?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        // A body of no type, or of another one, is refused: what it says must not be passed over.
        let request = Request::from_parts(parts, Body::from(body));
        let Json(body) = Json::<Option<T>>::from_request(request, state).await?;
        Ok(Self(body.unwrap_or_default()))
    }
}

/// Refuses a body that is compressed: nothing here unpacks it.
fn is_plain(headers: &HeaderMap) -> Result<(), HttpProblem> {
    let encoded = headers.get(header::CONTENT_ENCODING);
    if encoded.is_none_or(|it| it.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    let detail = "the body of the request is compressed";
    let hint = "send it without `Content-Encoding`";
    Err(HttpProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail, hint))
}

/// The parameters of a query.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpProblem> {
        let Query(query) = Query::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

/// The names in a path.
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpProblem> {
        let Path(names) = Path::from_request_parts(parts, state).await?;
        Ok(Self(names))
    }
}

/// Reads a number of a query that has bounds. One beyond them is refused: another number would be an
/// answer to another question.
pub(super) fn within<'de, const LEAST: u64, const MOST: u64, N, D>(
    deserializer: D,
) -> Result<Option<N>, D::Error>
where
    N: TryFrom<u64>,
    D: Deserializer<'de>,
{
    let number = u64::deserialize(deserializer)?;
    let within = (LEAST..=MOST).contains(&number).then(|| N::try_from(number).ok()).flatten();
    within.map(Some).ok_or_else(|| match MOST {
        u64::MAX => D::Error::custom(format_args!("must be at least {LEAST}")),
        _ => D::Error::custom(format_args!("must be from {LEAST} to {MOST}")),
    })
}

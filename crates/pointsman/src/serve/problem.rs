//! Errors over HTTP: problem details (RFC 9457) with the messages, hints and codes of the command
//! line.

use axum::{
    Json,
    extract::rejection::{JsonRejection, PathRejection, QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use pointsman_runtime::{
    driver::DriveError,
    session::SessionError,
    store::{ExportError, NoRunId, RunId, StoreError},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    check::ChartFinding,
    report::{Error, whole},
};

/// The media type of problem details.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request failed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HttpProblem {
    /// Always `about:blank`: the title is that of the status.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    kind: &'static str,
    /// The status in words.
    #[schema(example = "Not Found")]
    title: &'static str,
    /// The HTTP status.
    #[schema(example = 404)]
    status: u16,
    /// What is wrong.
    #[schema(example = "there is no run 01JABC")]
    detail: String,
    /// What to do next.
    hint: Option<String>,
    /// The exit code of the command line for the same error.
    #[schema(example = 2)]
    exit_code: u8,
    /// What is wrong with the chart, if that is the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ChartFinding>,
}

impl HttpProblem {
    /// Returns a problem that only a front end over HTTP has.
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>, hint: &str) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            hint: (!hint.is_empty()).then(|| hint.into()),
            exit_code: 2,
            errors: Vec::new(),
        }
    }

    /// Returns the same problem with another status.
    #[must_use]
    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        (self.status, self.title) = (status.as_u16(), status.canonical_reason().unwrap_or("Error"));
        self
    }

    /// Returns the same problem with what was done before it.
    #[must_use]
    pub(super) fn after(mut self, done: &str) -> Self {
        self.detail = format!("{done}, but {}", self.detail);
        self
    }

    pub(crate) const fn status(&self) -> u16 {
        self.status
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut response = (status, Json(self)).into_response();
        let kind = HeaderValue::from_static(PROBLEM_JSON);
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

impl From<Error> for HttpProblem {
    fn from(error: Error) -> Self {
        let status = status(&error);
        if status.is_server_error() {
            tracing::error!(error = %whole(&error), "a request failed");
        }
        let errors = match &error {
            Error::Refused { chart, refused } => ChartFinding::all(&chart.text, refused),
            _ => Vec::new(),
        };
        let hint = error.hint();
        let exit_code = error.exit_code();
        Self { hint, exit_code, errors, ..Self::new(status, whole(&error), "") }
    }
}

impl From<SessionError> for HttpProblem {
    fn from(error: SessionError) -> Self {
        Error::Session(error).into()
    }
}

impl From<DriveError> for HttpProblem {
    fn from(error: DriveError) -> Self {
        SessionError::from(error).into()
    }
}

impl From<StoreError> for HttpProblem {
    fn from(error: StoreError) -> Self {
        Error::Store(error).into()
    }
}

impl From<JsonRejection> for HttpProblem {
    fn from(rejection: JsonRejection) -> Self {
        let hint = match &rejection {
            JsonRejection::MissingJsonContentType(_) => "send `Content-Type: application/json`",
            _ => "the OpenAPI document at /openapi.json describes every body",
        };
        Self::new(rejection.status(), rejection.body_text(), hint)
    }
}

impl From<QueryRejection> for HttpProblem {
    fn from(rejection: QueryRejection) -> Self {
        let hint = "the OpenAPI document at /openapi.json describes every parameter";
        Self::new(rejection.status(), rejection.body_text(), hint)
    }
}

impl From<PathRejection> for HttpProblem {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text(), "/openapi.json lists every path")
    }
}

/// Returns the status that says the same as an error.
fn status(error: &Error) -> StatusCode {
    match error {
        Error::NoSuchChart { .. }
        | Error::NoSuchCode { .. }
        | Error::NoSuchRun { .. }
        | Error::NoSuchQuestion { .. } => StatusCode::NOT_FOUND,
        Error::HasEnded { .. }
        | Error::AsksNothing { .. }
        | Error::TooLate { .. }
        | Error::Ignored { .. }
        | Error::SeveralRuns { .. }
        | Error::NoFolder { .. }
        | Error::NoTalker { .. }
        | Error::QueuedChild { .. }
        | Error::Diverged(_) => StatusCode::CONFLICT,
        Error::Store(error) | Error::Export(ExportError::Store(error)) => of_store(error),
        Error::Session(error) => of_session(error),
        Error::NoHome | Error::NoDatabase | Error::Write { .. } => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

fn of_session(error: &SessionError) -> StatusCode {
    match error {
        SessionError::Store(error) | SessionError::Drive(DriveError::Store(error)) => {
            of_store(error)
        }
        SessionError::NoSuchEntry { .. } => StatusCode::NOT_FOUND,
        SessionError::Held { .. }
        | SessionError::Ignored { .. }
        | SessionError::NothingToFork { .. }
        | SessionError::ForkOfTheEnd { .. }
        | SessionError::Chart { .. }
        | SessionError::Drive(
            DriveError::Short { .. }
            | DriveError::NotGranted { .. }
            | DriveError::NotResumed { .. }
            | DriveError::Diverged { .. },
        ) => StatusCode::CONFLICT,
        SessionError::Drive(DriveError::NotBegun(_))
        | SessionError::Executor(_)
        | SessionError::Config(_) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

const fn of_store(error: &StoreError) -> StatusCode {
    match error {
        StoreError::NoSuchRun { .. }
        | StoreError::NoSuchEntry { .. }
        | StoreError::NoSuchBlob { .. } => StatusCode::NOT_FOUND,
        StoreError::Fenced { .. } | StoreError::Conflict { .. } => StatusCode::CONFLICT,
        StoreError::Busy { .. }
        | StoreError::Full { .. }
        | StoreError::Unknown { .. }
        | StoreError::Unreached { .. } => StatusCode::SERVICE_UNAVAILABLE,
        StoreError::Nul { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Reads the run that a path names.
pub(super) fn run_id(text: &str) -> Result<RunId, HttpProblem> {
    text.parse().map_err(|error: NoRunId| {
        let hint = "GET /api/v1/runs lists the runs and their ids";
        HttpProblem::new(StatusCode::NOT_FOUND, error.to_string(), hint)
    })
}

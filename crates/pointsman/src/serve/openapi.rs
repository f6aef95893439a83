//! The description of the interface: what all paths share. Each handler describes its own path.

use std::sync::LazyLock;

use utoipa::{
    IntoResponses, OpenApi, ToResponse,
    openapi::{
        Ref, RefOr,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::problem::HttpProblem;

/// The document without its paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Pointsman",
        description = "Agents on rails, over HTTP. docs/api.md introduces it.",
        license(name = "MIT OR Apache-2.0")
    ),
    servers((url = "/", description = "This server")),
    tags(
        (name = "runs", description = "Start, list, read and follow runs"),
        (name = "actions", description = "Act on runs"),
        (name = "charts", description = "Read, check and simulate charts"),
        (name = "server", description = "The server itself"),
    ),
    components(responses(BadRequest, NotFound, Conflict, Unfit, Refused)),
    // Reading is free on loopback.
    security((), ("token" = []))
)]
pub(super) struct Document;

/// The request is malformed.
#[derive(ToResponse)]
#[response(content_type = "application/problem+json")]
#[expect(dead_code, reason = "only described")]
pub(super) struct BadRequest(HttpProblem);

/// The run, entry, question, chart or path does not exist.
#[derive(ToResponse)]
#[response(content_type = "application/problem+json")]
#[expect(dead_code, reason = "only described")]
pub(super) struct NotFound(HttpProblem);

/// The run's state does not permit it.
#[derive(ToResponse)]
#[response(content_type = "application/problem+json")]
#[expect(dead_code, reason = "only described")]
pub(super) struct Conflict(HttpProblem);

/// The request is well-formed but cannot be carried out.
#[derive(ToResponse)]
#[response(content_type = "application/problem+json")]
#[expect(dead_code, reason = "only described")]
pub(super) struct Unfit(HttpProblem);

/// The server refuses the request, or cannot serve it now.
#[derive(ToResponse)]
#[response(content_type = "application/problem+json")]
#[expect(dead_code, reason = "only described")]
pub(super) struct Refused(HttpProblem);

/// Why a request about a run is refused.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum RunRefusal {
    #[response(status = 404)]
    NotFound(#[ref_response] NotFound),
    #[response(status = 409)]
    Conflict(#[ref_response] Conflict),
}

/// Why an action on a run is refused.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum ActionRefusal {
    #[response(status = 404)]
    NotFound(#[ref_response] NotFound),
    #[response(status = 409)]
    Conflict(#[ref_response] Conflict),
    #[response(status = 422)]
    Unfit(#[ref_response] Unfit),
}

/// Answers that every path can give: to malformed requests, to clients without the right, to bodies
/// that are too long, too slow or of another type, to too many requests, and while the store is away.
const EVERYWHERE: [(&str, &str); 9] = [
    ("400", "BadRequest"),
    ("401", "Refused"),
    ("403", "Refused"),
    ("408", "Refused"),
    ("413", "Refused"),
    ("415", "Refused"),
    ("421", "Refused"),
    ("429", "Refused"),
    ("503", "Refused"),
];

/// The whole document, as it is served.
pub(super) static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let mut document = super::routes(|routes, _| routes).into_openapi();
    let token = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    document.components.get_or_insert_default().add_security_scheme("token", token);
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.post, &mut item.delete].into_iter().flatten() {
            for (status, name) in EVERYWHERE {
                let answers = &mut operation.responses.responses;
                let refused = || RefOr::Ref(Ref::from_response_name(name));
                answers.entry(status.to_owned()).or_insert_with(refused);
            }
        }
    }
    // The document is plain data.
    let mut text = document.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
});

//! The inspector's page: its files, which are part of the program.
//!
//! They contain no run: what they show they request from the API, with the rights of their reader.

use axum::{
    Router,
    extract::Path,
    http::header,
    response::{Html, IntoResponse as _, Response},
    routing::get,
};

use super::{no_such_path, problem::HttpProblem};
use crate::draw::style;

/// What the page may do: load its own files, request the API, and show what it has fetched.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($name:literal $kind:expr;)*) => {
        &[$(($name, $kind, include_str!(concat!("page/", $name)))),*]
    };
}

/// The files under `/page/`, with their types.
const FILES: &[(&str, &str, &str)] = files! {
    "app.js" SCRIPT;
    "api.js" SCRIPT;
    "answer.js" SCRIPT;
    "chart.js" SCRIPT;
    "dialog.js" SCRIPT;
    "dom.js" SCRIPT;
    "edits.js" SCRIPT;
    "files.js" SCRIPT;
    "find.js" SCRIPT;
    "list.js" SCRIPT;
    "markdown.js" SCRIPT;
    "panes.js" SCRIPT;
    "prompt.js" SCRIPT;
    "reading.js" SCRIPT;
    "result.js" SCRIPT;
    "run.js" SCRIPT;
    "stats.js" SCRIPT;
    "story.js" SCRIPT;
    "timeline.js" SCRIPT;
    "whatif.js" SCRIPT;
    "window.js" SCRIPT;
    "style.css" STYLE;
    "result.css" STYLE;
    "run.css" STYLE;
    "stats.css" STYLE;
    "icon.svg" "image/svg+xml";
};

/// The addresses that people open.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(document))
        .route("/stats", get(document))
        .route("/runs/{id}", get(document))
        .route("/runs/{id}/entries/{entry}", get(document))
        .route("/page/{file}", get(file))
}

/// Returns whether a path is one of the page's own, which contain no data.
pub(super) fn is_part(path: &str) -> bool {
    path == "/" || path == "/stats" || path.starts_with("/runs/") || path.starts_with("/page/")
}

async fn document() -> Response {
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    (policy, Html(include_str!("page/index.html"))).into_response()
}

async fn file(uri: axum::http::Uri, Path(name): Path<String>) -> Result<Response, HttpProblem> {
    if name == "chart.css" {
        return Ok(([(header::CONTENT_TYPE, STYLE)], style::of_page()).into_response());
    }
    match FILES.iter().find(|(it, ..)| *it == name) {
        Some((_, kind, text)) => Ok(([(header::CONTENT_TYPE, *kind)], *text).into_response()),
        None => Err(no_such_path(uri).await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module that is found only by reading another one delays the first screen.
    #[test]
    fn the_document_names_every_module() {
        let document = include_str!("page/index.html");
        for (name, ..) in FILES.iter().filter(|(_, kind, _)| *kind == SCRIPT) {
            let preloaded = format!("<link rel=\"modulepreload\" href=\"/page/{name}\">");
            let started = format!("<script type=\"module\" src=\"/page/{name}\">");
            assert!(document.contains(&preloaded) || document.contains(&started), "{name}");
        }
    }
}

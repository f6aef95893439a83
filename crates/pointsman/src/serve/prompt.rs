//! `GET /api/v1/runs/ID/entries/N/prompt`: the parts of a prompt, some at a time. A conversation of
//! thousands of messages is one prompt.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::id::Seq;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named},
    moments::{ReadProgress, prompt_text},
    openapi,
    problem::{HttpProblem, run_id},
    story::TextPreview,
};

/// Parts that a moment itself has.
pub(super) const FIRST: usize = 8;
/// Parts of an answer where nothing is said, and at most.
const PARTS: usize = 32;
const MOST: usize = 128;
/// Bytes of the preview of a part.
const PREVIEW: usize = 4_096;

/// Returns some parts of a prompt, each with the start of its text.
pub(super) fn parts(whole: &[String], from: usize, limit: usize) -> Vec<TextPreview> {
    let parts = whole.iter().skip(from).take(limit);
    parts.map(|part| prompt_text(part).part(0, PREVIEW)).collect()
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct PromptQuery {
    /// Which of the entry's prompts, by its place.
    #[param(default = 0)]
    prompt: usize,
    /// The first part, from 0.
    #[param(default = 0)]
    from: usize,
    /// How many parts to return.
    #[param(minimum = 1, maximum = 128, default = 32)]
    limit: Option<usize>,
}

/// Some parts of a prompt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PromptPage {
    /// The effect that asked the model.
    effect: String,
    /// How many parts the prompt has.
    count: usize,
    /// The place of the first part here.
    from: usize,
    /// The parts.
    parts: Vec<TextPreview>,
}

/// Read some parts of a prompt that an entry led to.
#[utoipa::path(
    get,
    path = "/runs/{id}/entries/{entry}/prompt",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("entry" = u64, Path, description = "The entry, from 1"),
        PromptQuery,
    ),
    responses(
        (status = 200, description = "The parts", body = PromptPage),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_prompt(
    State(server): State<Arc<Server>>,
    Named((id, entry)): Named<(String, u64)>,
    Asked(query): Asked<PromptQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let moment = match server.moment(&row, Seq(entry)).await? {
        Ok((moment, _)) => moment,
        Err(response) => return Ok(response),
    };
    let Some(prompt) = moment.prompts.get(query.prompt) else {
        let detail = format!("entry {entry} has no prompt {}", query.prompt);
        let hint = "GET /api/v1/runs/ID/entries/N lists the prompts of an entry, from 0";
        return Err(HttpProblem::new(StatusCode::NOT_FOUND, detail, hint));
    };
    let limit = query.limit.unwrap_or(PARTS).clamp(1, MOST);
    Ok(Json(PromptPage {
        effect: prompt.effect.to_string(),
        count: prompt.parts.len(),
        from: query.from,
        parts: parts(&prompt.parts, query.from, limit),
    })
    .into_response())
}

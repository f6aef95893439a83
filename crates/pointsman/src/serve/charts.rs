//! `/api/v1/charts`, `check`, `simulate` and `codes`: charts, and what is proved about them.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::{
    agents::Program,
    chart::{AuthorityReport, Certificate},
    diagnostic::Code,
    graph,
    id::Digest,
    simulate::{Simulation, simulate as walk},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Given, Named},
    openapi,
    problem::{HttpProblem, run_id},
};
use crate::{
    agents::AGENTS,
    chart::Source,
    check::CheckReport,
    draw::{self, Theme},
    report::Error,
    start::source,
};

/// A chart, and what is proved about it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChartDetail {
    /// Its name.
    name: String,
    /// Its version.
    version: u64,
    /// Its agent.
    agent: &'static str,
    /// The digest of the chart.
    digest: String,
    /// Its text, in TOML.
    source: String,
    /// The proved worst case.
    #[schema(value_type = Object)]
    certificate: Certificate,
    /// The routes that model output can cause.
    #[schema(value_type = Object)]
    authority: AuthorityReport,
}

impl ChartDetail {
    fn of(program: &Program, source: String) -> Self {
        Self {
            name: program.name().into(),
            version: program.version().into(),
            agent: program.agent().name,
            digest: program.digest().to_string(),
            source,
            certificate: program.certificate(),
            authority: program.authority_report().clone(),
        }
    }
}

/// The shipped charts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChartList {
    /// Their names.
    charts: Vec<&'static str>,
}

/// List the shipped charts.
#[utoipa::path(
    get,
    path = "/charts",
    tag = "charts",
    responses((status = 200, description = "Their names", body = ChartList))
)]
pub(super) async fn list_charts() -> Json<ChartList> {
    Json(ChartList { charts: AGENTS.charts().iter().map(|(name, _)| *name).collect() })
}

/// Verifies a shipped chart. Proving takes a while, so it is done on a thread for such work.
async fn shipped(server: &Server, name: String) -> Result<(Program, String), HttpProblem> {
    let Some(text) = AGENTS.chart(&name) else { return Err(Error::NoSuchChart { name }.into()) };
    let source = Source { name, text: text.into() };
    Ok((server.blocking(move |_| source.program()).await?, text.into()))
}

/// Returns the chart of a run.
async fn of_run(server: &Server, id: &str) -> Result<(Program, String), HttpProblem> {
    let run = run_id(id)?;
    let text = server.store().chart_source(&run).await?;
    let program =
        server.blocking(move |session| session.program(&run).map_err(Error::Session)).await?;
    Ok((program, text))
}

/// Read a shipped chart with its certificate and authority.
#[utoipa::path(
    get,
    path = "/charts/{name}",
    tag = "charts",
    params(("name" = String, Path, description = "The chart's name")),
    responses(
        (status = 200, description = "The chart", body = ChartDetail),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn read_chart(
    State(server): State<Arc<Server>>,
    Named(name): Named<String>,
) -> Result<Json<ChartDetail>, HttpProblem> {
    let (program, source) = shipped(&server, name).await?;
    Ok(Json(ChartDetail::of(&program, source)))
}

/// Read the chart of a run.
#[utoipa::path(
    get,
    path = "/runs/{id}/chart",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses(
        (status = 200, description = "The chart", body = ChartDetail),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_run_chart(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
) -> Result<Json<ChartDetail>, HttpProblem> {
    let (program, source) = of_run(&server, &id).await?;
    Ok(Json(ChartDetail::of(&program, source)))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct PictureQuery {
    /// The format.
    #[param(inline, default = "svg")]
    format: PictureFormat,
    /// The colours of an SVG.
    #[param(inline, default = "auto")]
    theme: PictureTheme,
}

/// A format of a chart's picture.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PictureFormat {
    /// A picture.
    #[default]
    Svg,
    /// States and arrows alone, as SVG without a style sheet: attributes name each of them.
    Figure,
    /// A Mermaid state diagram.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
    /// An `XState` v5 machine config.
    Xstate,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PictureTheme {
    #[default]
    Auto,
    Light,
    Dark,
}

impl From<PictureTheme> for Theme {
    fn from(theme: PictureTheme) -> Self {
        match theme {
            PictureTheme::Auto => Self::Auto,
            PictureTheme::Light => Self::Light,
            PictureTheme::Dark => Self::Dark,
        }
    }
}

fn drawn(program: &Program, query: &PictureQuery) -> Response {
    let theme = query.theme.into();
    let (kind, text) = match query.format {
        PictureFormat::Svg => return svg(draw::svg(program, Some(program.agent()), theme)),
        PictureFormat::Figure => return svg(draw::figure(program, Some(program.agent()))),
        PictureFormat::Mermaid => ("text/plain; charset=utf-8", graph::mermaid(program)),
        PictureFormat::Dot => ("text/vnd.graphviz; charset=utf-8", graph::dot(program)),
        PictureFormat::Xstate => ("application/json", graph::xstate(program).to_string()),
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Answers with a picture. Its policy permits the style sheet and the pictures that are part of it.
pub(super) fn svg(picture: String) -> Response {
    let nonce = Digest::of(picture.as_bytes()).to_string();
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; img-src data:; frame-ancestors 'none'"
    );
    let picture = picture.replacen("<style>", &format!("<style nonce=\"{nonce}\">"), 1);
    let kind = (header::CONTENT_TYPE, "image/svg+xml".to_owned());
    ([kind, (header::CONTENT_SECURITY_POLICY, policy)], picture).into_response()
}

/// Draw a shipped chart.
#[utoipa::path(
    get,
    path = "/charts/{name}/picture",
    tag = "charts",
    params(("name" = String, Path, description = "The chart's name"), PictureQuery),
    responses(
        (status = 200, description = "The picture", content(
            (String = "image/svg+xml"), (String = "text/plain"),
            (String = "text/vnd.graphviz"), (Object = "application/json"),
        )),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn draw_chart(
    State(server): State<Arc<Server>>,
    Named(name): Named<String>,
    Asked(query): Asked<PictureQuery>,
) -> Result<Response, HttpProblem> {
    Ok(drawn(&shipped(&server, name).await?.0, &query))
}

/// Draw the chart of a run.
#[utoipa::path(
    get,
    path = "/runs/{id}/chart/picture",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), PictureQuery),
    responses(
        (status = 200, description = "The picture", content(
            (String = "image/svg+xml"), (String = "text/plain"),
            (String = "text/vnd.graphviz"), (Object = "application/json"),
        )),
        openapi::RunRefusal,
    )
)]
pub(super) async fn draw_run_chart(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<PictureQuery>,
) -> Result<Response, HttpProblem> {
    Ok(drawn(&of_run(&server, &id).await?.0, &query))
}

/// A chart to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckBody {
    /// The text of the chart, in TOML.
    chart: String,
}

/// Verify a chart: its certificate, or every error in it.
#[utoipa::path(
    post,
    path = "/check",
    tag = "charts",
    request_body = CheckBody,
    responses(
        (status = 200, description = "What was found", body = CheckReport),
        (status = 422, response = openapi::Unfit),
    )
)]
pub(super) async fn check(
    State(server): State<Arc<Server>>,
    Given(body): Given<CheckBody>,
) -> Result<Json<CheckReport>, HttpProblem> {
    Ok(Json(server.blocking(move |_| Ok(CheckReport::of(&body.chart))).await?))
}

/// A walk through a chart.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SimulateBody {
    /// A shipped agent.
    agent: Option<String>,
    /// The text of a chart, in TOML.
    chart: Option<String>,
    /// The outcomes, one per visit.
    #[serde(default)]
    outcomes: Vec<String>,
}

/// Walk through a chart, given the outcome of each visit.
#[utoipa::path(
    post,
    path = "/simulate",
    tag = "charts",
    request_body = SimulateBody,
    responses(
        (status = 200, description = "The states that were visited", body = Object),
        (status = 422, response = openapi::Unfit),
    )
)]
pub(super) async fn simulate(
    State(server): State<Arc<Server>>,
    Given(body): Given<SimulateBody>,
) -> Result<Json<Simulation>, HttpProblem> {
    let named = source(body.agent.as_deref(), body.chart.as_deref(), false);
    // What is wrong is the body, and not the path.
    let unfit = |error| HttpProblem::from(error).with_status(StatusCode::UNPROCESSABLE_ENTITY);
    let (_, source) = named.map_err(unfit)?;
    let walked = move |_: &_| {
        let program = source.program()?;
        Ok(walk(&program, body.outcomes.iter().map(String::as_str)))
    };
    Ok(Json(server.blocking(walked).await?))
}

/// An error code of `check`.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CodeDetail {
    /// The code.
    #[schema(example = "PM0501")]
    code: &'static str,
    /// Its meaning in a few words.
    title: &'static str,
    /// What it means, and what to do.
    text: &'static str,
}

/// Explain an error code of `check`.
#[utoipa::path(
    get,
    path = "/codes/{diagnostic}",
    tag = "charts",
    params(("diagnostic" = String, Path, description = "The code, such as PM0501")),
    responses(
        (status = 200, description = "What it means", body = CodeDetail),
        (status = 404, response = openapi::NotFound),
    )
)]
pub(super) async fn explain_code(
    Named(code): Named<String>,
) -> Result<Json<CodeDetail>, HttpProblem> {
    let found = Code::ALL.iter().find(|it| it.as_str().eq_ignore_ascii_case(&code));
    let Some(found) = found else { return Err(Error::NoSuchCode { code }.into()) };
    Ok(Json(CodeDetail { code: found.as_str(), title: found.title(), text: found.explain() }))
}

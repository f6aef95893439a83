//! A run at any of its entries, for pages: the story in parts, one moment, the rest of a long text,
//! a search.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use pointsman_kernel::{
    id::Seq,
    view::{RunView, StepExplanation},
};
use pointsman_runtime::{
    inspect::{BoundView, RunMoment, TakenEdge},
    store::{RunId, RunRow},
    timeline::TimelineItem,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    extract::{Asked, Named, within},
    open_runs::Reached,
    openapi,
    problem::{HttpProblem, run_id},
    prompt,
    story::{StoryItem, TextPreview, WholeText, about, edit_text, importance, texts},
};
use crate::{
    json_lines::asked,
    report::Error,
    standing,
    watch::{SHOWN, contains, pretty},
};

/// Entries of a part of the story where nothing is said, and at most.
const PAGE: usize = 64;
const MOST: usize = 512;
/// Bytes of a preview in the story where nothing is said.
const PREVIEW: usize = 1_500;
/// Items before the end that may have told the result already.
const RECENT: usize = 24;
/// Entries that one request searches.
pub(super) const SEARCHED: u64 = 4_096;
/// Hits that one request returns.
const HITS: usize = 10_000;
/// Runs whose standing one request asks for.
const STANDINGS: usize = 100;

/// How far the server has read a long journal: ask again.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReadProgress {
    /// The last entry that it has read.
    read: u64,
    /// The entry that it reads up to.
    of: u64,
}

/// Answers a request that came too early.
pub(super) fn reading(read: u64, of: Seq) -> Response {
    (StatusCode::ACCEPTED, Json(ReadProgress { read, of: of.0 })).into_response()
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StoryQuery {
    /// The first entry, from 1.
    #[param(minimum = 1, default = 1)]
    from: Option<u64>,
    /// How many entries to read.
    #[param(minimum = 1, maximum = 512, default = 64)]
    limit: Option<usize>,
    /// Bytes of each text.
    #[param(minimum = 1, maximum = 16384, default = 1500)]
    preview: Option<usize>,
    /// Only items of this level or a higher one. `limit` then counts the entries that have one, and an answer can have
    /// fewer.
    #[param(minimum = 1, maximum = 3, default = 1)]
    #[serde(default, deserialize_with = "within::<1, 3, _, _>")]
    level: Option<u8>,
}

/// A part of a run's story.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StoryPage {
    /// The run.
    run: String,
    /// Its last entry.
    head: u64,
    /// The items, in order.
    items: Vec<StoryItem>,
    /// The entry to continue from, whether or not it exists already.
    next: u64,
}

/// Read a part of a run's story: its timeline, with the start of each text.
#[utoipa::path(
    get,
    path = "/runs/{id}/story",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), StoryQuery),
    responses(
        (status = 200, description = "The items of the entries", body = StoryPage),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_story(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<StoryQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let (head, from) = (row.seq, Seq(query.from.unwrap_or(1).max(1)));
    let mut page = StoryPage { run: id, head: head.0, items: Vec::new(), next: from.0 };
    if from > head {
        return Ok(Json(page).into_response());
    }
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MOST);
    let most = query.preview.unwrap_or(PREVIEW).clamp(1, SHOWN);
    let level = query.level.unwrap_or(1);
    // Everything is one part; a level is searched for.
    let (part, last) = if level > 1 { (MOST, from.0 + SEARCHED) } else { (limit, from.0 + 1) };
    let mut entries = 0;
    while page.next <= head.0 && page.next < last && entries < limit {
        let mut inspector = match server.reach(&row.id, Seq(page.next)).await? {
            Reached::Ready(inspector) => inspector,
            Reached::Reading { read } => return Ok(reading(read, Seq(page.next))),
        };
        let items = inspector.items(Seq(page.next - 1), part).await?;
        let result = inspector.result().filter(|result| !is_told(&items, result));
        page.next = inspector.seq().0.saturating_add(1);
        for item in items.iter().filter(|item| importance(&item.kind) >= level) {
            if page.items.last().is_none_or(|it| it.seq() != item.seq.0) {
                if entries == limit {
                    page.next = item.seq.0;
                    break;
                }
                entries += 1;
            }
            page.items.push(StoryItem::of(item, most, result.as_deref()));
        }
    }
    Ok(Json(page).into_response())
}

/// Returns whether one of the items has the same text.
fn is_told(items: &[TimelineItem], result: &str) -> bool {
    let told = |item: &TimelineItem| texts(&item.kind, None).iter().any(|it| it.is(result));
    items.iter().rev().take(RECENT).any(told)
}

/// A run as it was right after one of its entries.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MomentDetail {
    /// The entry.
    seq: u64,
    /// The run's last entry.
    head: u64,
    /// Its state, the work in progress, its budgets.
    #[schema(value_type = Object)]
    view: RunView,
    /// Why the step went the way it did.
    #[schema(value_type = Object)]
    why: StepExplanation,
    /// The items of the entry.
    items: Vec<StoryItem>,
    /// The questions that were open.
    questions: Vec<QuestionDetail>,
    /// The transitions taken so far, with their counts.
    #[schema(value_type = Vec<Object>)]
    taken: Vec<TakenEdge>,
    /// The calls and visits so far, beside the certificate.
    #[schema(value_type = Vec<Object>)]
    bounds: Vec<BoundView>,
    /// The current stage, such as a phase.
    stage: Option<String>,
    /// The result so far.
    result: Option<TextPreview>,
    /// The agent's data, in JSON.
    data: TextPreview,
    /// The prompts that the step led to, each with its first parts.
    prompts: Vec<PromptDetail>,
}

/// A question for a person.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct QuestionDetail {
    /// What an answer must name.
    #[schema(value_type = Object)]
    asked: Value,
    /// Everything that it is about.
    about: TextPreview,
}

/// A prompt as a model received it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PromptDetail {
    /// The effect that asked the model.
    effect: String,
    /// How many parts it has.
    count: usize,
    /// The first of its parts: the system's message, the messages, the tools with the schema.
    /// `…/entries/N/prompt` returns the others.
    parts: Vec<TextPreview>,
}

/// Read a run as it was right after an entry.
#[utoipa::path(
    get,
    path = "/runs/{id}/entries/{entry}",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("entry" = u64, Path, description = "The entry, from 1"),
    ),
    responses(
        (status = 200, description = "The moment", body = MomentDetail),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_moment(
    State(server): State<Arc<Server>>,
    Named((id, entry)): Named<(String, u64)>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let (moment, folder) = match server.moment(&row, Seq(entry)).await? {
        Ok(found) => found,
        Err(response) => return Ok(response),
    };
    let preview = |text: &WholeText| text.part(0, SHOWN);
    let questions = moment.questions.iter().map(|question| QuestionDetail {
        asked: asked(question),
        about: preview(&about(question, folder.as_deref())),
    });
    let questions = questions.collect();
    let prompts = moment.prompts.iter().map(|prompt| PromptDetail {
        effect: prompt.effect.to_string(),
        count: prompt.parts.len(),
        parts: prompt::parts(&prompt.parts, 0, prompt::FIRST),
    });
    let result = moment.result.as_deref();
    let items = moment.items.iter().map(|item| StoryItem::of(item, SHOWN, result));
    Ok(Json(MomentDetail {
        seq: entry,
        head: row.seq.0,
        items: items.collect(),
        questions,
        result: moment.result.as_deref().map(|text| preview(&result_text(text))),
        data: preview(&data_text(&moment)),
        prompts: prompts.collect(),
        view: moment.view,
        why: moment.why,
        taken: moment.taken,
        bounds: moment.bounds,
        stage: moment.stage,
    })
    .into_response())
}

fn result_text(text: &str) -> WholeText {
    WholeText::new("markdown", "result", text)
}

fn data_text(moment: &RunMoment) -> WholeText {
    WholeText::new("json", "data", pretty(moment.data.get()))
}

pub(super) fn prompt_text(part: &str) -> WholeText {
    WholeText::new("json", "", pretty(part))
}

impl Server {
    /// Reads a moment, and the folder that questions of the last one are about; or answers with the
    /// progress of reading.
    pub(super) async fn moment(
        &self,
        row: &RunRow,
        entry: Seq,
    ) -> Result<Result<(RunMoment, Option<PathBuf>), Response>, HttpProblem> {
        if entry.0 == 0 || entry > row.seq {
            let detail = format!("run {} has no entry {}", row.id, entry.0);
            let hint = format!("entries are numbered from 1 to {}", row.seq.0);
            return Err(HttpProblem::new(StatusCode::NOT_FOUND, detail, &hint));
        }
        let moment = match self.reach(&row.id, entry).await? {
            Reached::Ready(mut inspector) => inspector.at(entry).await?,
            Reached::Reading { read } => return Ok(Err(reading(read, entry))),
        };
        let folder = if moment.questions.is_empty() || entry < row.seq {
            None
        } else {
            let run = row.id.clone();
            let place = move |session: &pointsman_runtime::session::Session| {
                Ok(session.place(&run).ok().flatten().and_then(|place| place.dir))
            };
            self.blocking(place).await?
        };
        Ok(Ok((moment, folder)))
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TextQuery {
    /// The text: `data`, `result`, `item.INDEX.PART`, `change.INDEX`, `prompt.INDEX.PART` or `question.INDEX`.
    #[param(example = "item.0.0")]
    of: String,
    /// The first byte.
    #[serde(default)]
    from: usize,
    /// How many bytes to read.
    #[param(minimum = 4, maximum = 262_144, default = 65536)]
    limit: Option<usize>,
}

/// Read more of a text of an entry, from the end of its preview on.
#[utoipa::path(
    get,
    path = "/runs/{id}/entries/{entry}/text",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("entry" = u64, Path, description = "The entry, from 1"),
        TextQuery,
    ),
    responses(
        (status = 200, description = "The part of the text", body = TextPreview),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_text(
    State(server): State<Arc<Server>>,
    Named((id, entry)): Named<(String, u64)>,
    Asked(query): Asked<TextQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let (moment, folder) = match server.moment(&row, Seq(entry)).await? {
        Ok(found) => found,
        Err(response) => return Ok(response),
    };
    let mut names = query.of.split('.');
    let kind = names.next().unwrap_or_default();
    let mut number = || names.next().and_then(|it| it.parse::<usize>().ok());
    let (first, second) = (number(), number());
    let text = match (kind, first, second) {
        ("data", None, _) => Some(data_text(&moment)),
        ("result", None, _) => moment.result.as_deref().map(result_text),
        ("question", Some(at), None) => {
            moment.questions.get(at).map(|question| about(question, folder.as_deref()))
        }
        ("prompt", Some(at), Some(part)) => {
            let part = moment.prompts.get(at).and_then(|prompt| prompt.parts.get(part));
            part.map(|part| prompt_text(part))
        }
        ("item", Some(at), Some(part)) => {
            let item = moment.items.iter().find(|item| usize::from(item.index) == at);
            let result = moment.result.as_deref();
            item.and_then(|item| texts(&item.kind, result).into_iter().nth(part))
        }
        ("change", Some(at), None) => {
            let item = moment.items.iter().find(|item| usize::from(item.index) == at);
            item.and_then(|item| edit_text(&item.kind))
        }
        _ => None,
    };
    let Some(text) = text else {
        let detail = format!("entry {entry} has no text `{}`", query.of);
        let hint = "GET /api/v1/runs/ID/entries/N lists the texts of an entry";
        return Err(HttpProblem::new(StatusCode::NOT_FOUND, detail, hint));
    };
    let limit = query.limit.unwrap_or(1 << 16).clamp(4, 1 << 18);
    Ok(Json(text.part(query.from, limit)).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct FindQuery {
    /// The text to find, in any case.
    text: String,
    /// The first entry to search.
    #[param(minimum = 1, default = 1)]
    from: Option<u64>,
}

/// Where a text was found in a part of the journal.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FoundPage {
    /// The items that contain it, as (entry, place).
    #[schema(value_type = Vec<Vec<u64>>)]
    hits: Vec<(u64, u16)>,
    /// The entry to continue from.
    next: u64,
    /// The run's last entry: the search is complete once `next` is beyond it.
    head: u64,
}

/// Find a text in the items of a run, a part of the journal at a time.
#[utoipa::path(
    get,
    path = "/runs/{id}/find",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), FindQuery),
    responses(
        (status = 200, description = "The hits", body = FoundPage),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn find(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<FindQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let (head, from) = (row.seq.0, query.from.unwrap_or(1).max(1));
    let mut page = FoundPage { hits: Vec::new(), next: from, head };
    let last = from.saturating_add(SEARCHED);
    while page.next <= head && page.next < last && page.hits.len() < HITS {
        let mut inspector = match server.reach(&row.id, Seq(page.next)).await? {
            Reached::Ready(inspector) => inspector,
            Reached::Reading { read } => return Ok(reading(read, Seq(page.next))),
        };
        let items = inspector.items(Seq(page.next - 1), MOST).await?;
        let hits = items.iter().filter(|item| contains(item, &query.text));
        page.hits.extend(hits.map(|item| (item.seq.0, item.index)));
        page.next = inspector.seq().0.saturating_add(1);
    }
    Ok(Json(page).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StandingsQuery {
    /// The runs, separated by commas; at most 100.
    runs: String,
}

/// The status of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StandingDetail {
    /// The run.
    run: String,
    /// How many entries it had then.
    steps: u64,
    /// The status in words.
    #[schema(example = "waiting for you")]
    standing: String,
    /// Whether a person has to answer a question.
    waits: bool,
}

/// Read the status of runs: whether they wait for a person, a message or a worker.
#[utoipa::path(
    get,
    path = "/standings",
    tag = "runs",
    params(StandingsQuery),
    responses(
        (status = 200, description = "The status of each run that exists", body = Vec<StandingDetail>),
    )
)]
pub(super) async fn standings(
    State(server): State<Arc<Server>>,
    Asked(query): Asked<StandingsQuery>,
) -> Result<Json<Vec<StandingDetail>>, HttpProblem> {
    let wanted = query.runs.split(',').filter(|id| !id.is_empty()).take(STANDINGS);
    // Text that is not an id names no run.
    let runs: Vec<RunId> = wanted.filter_map(|id| id.parse().ok()).collect();
    let found = move |session: &pointsman_runtime::session::Session| {
        let row = |run: &RunId| session.block_on(session.store().run(run)).ok();
        let stands = |row: RunRow| {
            let standing = standing::status(session, &row);
            StandingDetail {
                run: row.id.to_string(),
                steps: row.seq.0,
                standing: standing.text,
                waits: standing.waits,
            }
        };
        Ok::<_, Error>(runs.iter().filter_map(row).map(stands).collect())
    };
    Ok(Json(server.blocking(found).await?))
}

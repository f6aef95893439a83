//! What a run found and changed: the agent's own tables, the changes of its files, and the map of an
//! app.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use pointsman_agents::explore::map::{AppMap, MishapKind};
use pointsman_kernel::{
    id::Seq,
    table::{DataTable, RowMark, TableRow},
};
use pointsman_runtime::{
    session::Session,
    store::RunRow,
    timeline::{TimelineItem, TimelineKind},
};
use pointsman_webdriver::exploration::{self, Exploration};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Server,
    charts::{PictureTheme, svg},
    extract::{Asked, Named, within},
    moments::{ReadProgress, SEARCHED, reading},
    open_runs::Reached,
    openapi,
    problem::{HttpProblem, run_id},
    story::{TextPreview, edit_text},
};
use crate::{appmap, calls, format, report::Error};

/// Rows of a table where nothing is said, and at most.
const ROWS: usize = 50;
const MOST: usize = 200;
/// Characters of a cell.
const CELL: usize = 300;
/// Entries that are read at once for changes, and the changes of one answer.
const ENTRIES: usize = 64;
const EDITS: usize = 20;
/// Bytes of the preview of a change.
const PREVIEW: usize = 4_096;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct TablesQuery {
    /// Only this table, by its place.
    table: Option<usize>,
    /// The first row, from 0.
    from: Option<usize>,
    /// How many rows of each table to return.
    #[param(minimum = 1, maximum = 200, default = 50)]
    #[serde(deserialize_with = "within::<1, 200, _, _>")]
    limit: Option<usize>,
}

/// The agent's tables, as they were right after an entry.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunTables {
    /// The entry.
    seq: u64,
    /// Whether the run has a map of an app.
    map: bool,
    /// The tables, each with some of its rows.
    tables: Vec<TablePart>,
}

/// Some rows of a table.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TablePart {
    /// The table's place.
    table: usize,
    /// What the rows are.
    #[schema(example = "Fields")]
    title: String,
    /// The names of the columns.
    columns: Vec<String>,
    /// The place of the first row here.
    from: usize,
    /// How many rows the table has.
    count: usize,
    /// The rows.
    rows: Vec<RowDetail>,
}

/// A row of a table.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RowDetail {
    /// A text for each column.
    cells: Vec<String>,
    /// How it went: `plain`, `good`, `warning` or `bad`.
    #[schema(value_type = String, example = "good")]
    mark: RowMark,
    /// The files that are kept for it.
    files: Vec<String>,
}

impl TablePart {
    fn of(table: usize, whole: DataTable, from: usize, limit: usize) -> Self {
        let count = whole.rows.len();
        let row = |row: TableRow| RowDetail {
            cells: row.cells.iter().map(|cell| format::line(cell, CELL)).collect(),
            mark: row.mark,
            files: row.files,
        };
        let rows = whole.rows.into_iter().skip(from).take(limit).map(row).collect();
        Self { table, title: whole.title, columns: whole.columns, from, count, rows }
    }
}

/// Read what a run had found or done by an entry: fields of a form, phases, sources, screens.
#[utoipa::path(
    get,
    path = "/runs/{id}/entries/{entry}/tables",
    tag = "runs",
    params(
        ("id" = String, Path, description = "The run's id"),
        ("entry" = u64, Path, description = "The entry, from 1"),
        TablesQuery,
    ),
    responses(
        (status = 200, description = "The tables", body = RunTables),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_tables(
    State(server): State<Arc<Server>>,
    Named((id, entry)): Named<(String, u64)>,
    Asked(query): Asked<TablesQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let moment = match server.moment(&row, Seq(entry)).await? {
        Ok((moment, _)) => moment,
        Err(response) => return Ok(response),
    };
    let mut tables = moment.tables;
    let explored = server.explored(&row, Some(Seq(entry))).await?;
    let map = explored.is_some();
    tables.extend(explored.iter().flat_map(|found| screens(&found.map)));
    let (from, limit) = (query.from.unwrap_or(0), query.limit.unwrap_or(ROWS).clamp(1, MOST));
    let wanted = |(at, _): &(usize, DataTable)| query.table.is_none_or(|wanted| wanted == *at);
    let parts = tables.into_iter().enumerate().filter(wanted);
    let tables = parts.map(|(at, table)| TablePart::of(at, table, from, limit)).collect();
    Ok(Json(RunTables { seq: entry, map, tables }).into_response())
}

/// Returns the screens of an app, and what went wrong on them, as tables.
fn screens(map: &AppMap) -> Vec<DataTable> {
    let columns = ["screen", "activity", "visits", "actions tried", "actions seen"];
    let mut screens = DataTable::new("Screens", &columns);
    for screen in &map.screens {
        let counts = [screen.visits as usize, screen.tried, screen.seen];
        let texts = [screen.name(), screen.activity.clone()];
        let cells = texts.into_iter().chain(counts.map(|count| count.to_string())).collect();
        let mark = if screen.is_done() { RowMark::Good } else { RowMark::Plain };
        let files = screen.picture.iter().chain(&screen.source).cloned().collect();
        screens.rows.push(TableRow { cells, mark, files });
    }
    let mut wrong = DataTable::new("Crashes and dead ends", &["what", "screen", "action", "times"]);
    for it in &map.mishaps {
        let screen = it.screen.as_ref().map_or_else(String::new, |id| map.name(id));
        let action = it.path.last().and_then(|at| map.moves.get(*at));
        let action = action.filter(|_| it.kind != MishapKind::DeadEnd);
        let action = action.map_or_else(String::new, |it| it.action.name());
        let mark = if it.kind == MishapKind::DeadEnd { RowMark::Warning } else { RowMark::Bad };
        wrong.row(mark, [it.kind.name().to_owned(), screen, action, it.times.to_string()]);
    }
    [screens, wrong].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

impl Server {
    /// Reads the exploration of a run, by default all of it and else only up to an entry; nothing if its
    /// agent explores no app.
    async fn explored(
        &self,
        row: &RunRow,
        until: Option<Seq>,
    ) -> Result<Option<Exploration>, HttpProblem> {
        if !exploration::explores(self.agents().decl(&row.agent)) {
            return Ok(None);
        }
        let run = row.id.clone();
        let read = move |session: &Session| {
            exploration::read(session, &run, until).map_err(Error::Session)
        };
        self.blocking(read).await
    }
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct MapQuery {
    /// The colours.
    #[param(inline, default = "auto")]
    theme: PictureTheme,
}

/// Draw the map of the app that a run explored.
#[utoipa::path(
    get,
    path = "/runs/{id}/map",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), MapQuery),
    responses(
        (status = 200, description = "The picture", body = String, content_type = "image/svg+xml"),
        openapi::RunRefusal,
    )
)]
pub(super) async fn draw_map(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<MapQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let Some(found) = server.explored(&row, None).await? else {
        let detail = format!("run {} has no map: its agent does not explore apps", row.id);
        return Err(HttpProblem::new(StatusCode::NOT_FOUND, detail, "see the run's chart instead"));
    };
    Ok(svg(appmap::svg(&found, query.theme.into())))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(super) struct EditsQuery {
    /// The first entry to search.
    #[param(minimum = 1, default = 1)]
    #[serde(deserialize_with = "within::<1, { u64::MAX }, _, _>")]
    from: Option<u64>,
}

/// The changes of files in a part of the journal.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EditPage {
    /// The changes, in order.
    edits: Vec<EditDetail>,
    /// The entry to continue from.
    next: u64,
    /// The run's last entry: the list is complete once `next` is beyond it.
    head: u64,
}

/// A call that changed a file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EditDetail {
    /// The entry with its result.
    seq: u64,
    /// The item's place among those of the entry.
    index: u16,
    /// The stage in which it was made, such as a phase; null outside of all stages.
    stage: Option<String>,
    /// The call in a few words.
    text: String,
    /// The change.
    diff: TextPreview,
}

/// Read the changes that calls made to files, a part of the journal at a time.
#[utoipa::path(
    get,
    path = "/runs/{id}/edits",
    tag = "runs",
    params(("id" = String, Path, description = "The run's id"), EditsQuery),
    responses(
        (status = 200, description = "The changes", body = EditPage),
        (status = 202, description = "The journal is being read: ask again", body = ReadProgress),
        openapi::RunRefusal,
    )
)]
pub(super) async fn read_edits(
    State(server): State<Arc<Server>>,
    Named(id): Named<String>,
    Asked(query): Asked<EditsQuery>,
) -> Result<Response, HttpProblem> {
    let row = server.store().run(&run_id(&id)?).await?;
    let (head, from) = (row.seq.0, query.from.unwrap_or(1).max(1));
    let mut page = EditPage { edits: Vec::new(), next: from, head };
    let last = from.saturating_add(SEARCHED);
    let mut stage: Option<Option<String>> = None;
    while page.next <= head && page.next < last && page.edits.len() < EDITS {
        let mut inspector = match server.reach(&row.id, Seq(page.next)).await? {
            Reached::Ready(inspector) => inspector,
            Reached::Reading { read } => return Ok(reading(read, Seq(page.next))),
        };
        // The part can begin within a stage.
        let stage = stage.get_or_insert_with(|| {
            inspector.loaded().run.stage().map(|text| format::line(&text, CELL))
        });
        let items = inspector.items(Seq(page.next - 1), ENTRIES).await?;
        page.edits.extend(items.iter().filter_map(|item| edit(item, stage)));
        page.next = inspector.seq().0.saturating_add(1);
    }
    Ok(Json(page).into_response())
}

/// Returns the change that an item tells of, and notes the stages on the way.
fn edit(item: &TimelineItem, stage: &mut Option<String>) -> Option<EditDetail> {
    if let TimelineKind::Stage { text } = &item.kind {
        *stage = text.as_ref().map(|text| format::line(text, CELL));
    }
    let diff = edit_text(&item.kind)?.part(0, PREVIEW);
    let TimelineKind::Answered { call: Some(call), .. } = &item.kind else { return None };
    let (seq, index, text) = (item.seq.0, item.index, calls::title(call));
    Some(EditDetail { seq, index, stage: stage.clone(), text, diff })
}

//! The result for every field, and the report at the end of a run.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use pointsman_kernel::table::{DataTable, RowMark, TableRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    data::{FormData, MAX_WORDS},
    ending::Ending,
    field::{Field, FieldShape},
    kind::FieldKind,
    plan::SkipReason,
    task::Source,
    text,
};

/// Rows at most, over all pages.
const MAX_ROWS: usize = 4_000;

/// What became of a field.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FieldRow {
    /// The page, counted from 1.
    pub page: u32,
    /// The field's id.
    pub field: String,
    /// Its name.
    pub label: String,
    /// Its shape.
    #[serde(rename = "type")]
    pub shape: FieldShape,
    /// What it asks for.
    pub kind: FieldKind,
    /// Whether the form wants it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub required: bool,
    /// Where its value comes from.
    pub source: ValueOrigin,
    /// The profile's key, where it is the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What became of it.
    pub status: Status,
    /// What there is to say: the page's complaint, why a value does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was put in, where the run is configured to tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueOrigin {
    /// From the profile.
    Profile,
    /// A model wrote it.
    Model,
    /// From the person, who must give it yet.
    Person,
    /// It was there before.
    Kept,
}

/// What became of a field.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is to be filled.
    Planned,
    /// It holds the value.
    Filled,
    /// The page refused the value.
    Refused,
    /// It is optional, could not be filled, and was passed over.
    Skipped,
    /// It could not be filled, which ended the run.
    Failed,
    /// It was left as it is.
    Left(SkipReason),
}

/// The result of sending the form.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Submission {
    /// The text on the control that sends it.
    pub label: String,
    /// Whether the page accepted it; nothing if that is unknown.
    pub ok: Option<bool>,
    /// What the page said.
    pub says: String,
}

impl FieldRow {
    pub(super) fn of(page: u32, field: &Field, source: ValueOrigin, status: Status) -> Self {
        Self {
            page,
            field: field.id.clone(),
            label: text::cut(&field.label, MAX_WORDS),
            shape: field.shape,
            kind: field.kind,
            required: field.required,
            source,
            key: None,
            status,
            note: None,
            value: None,
        }
    }

    /// Returns whether the person may want to fill it.
    const fn is_the_persons(&self) -> bool {
        match self.status {
            Status::Left(why) => {
                !matches!(why, SkipReason::HoldsValue | SkipReason::Hidden | SkipReason::Disabled)
            }
            Status::Skipped => true,
            Status::Planned | Status::Filled | Status::Refused | Status::Failed => false,
        }
    }

    /// Returns why it was left, or what else there is to say.
    fn reason(&self) -> String {
        match (&self.note, self.status) {
            (Some(note), Status::Left(why)) => format!("{why}: {}", text::line(note, 120)),
            (Some(note), _) => text::line(note, 120),
            (None, Status::Left(why)) => why.to_string(),
            (None, status) => status.to_string(),
        }
    }

    pub(super) fn left(page: u32, field: &Field, why: SkipReason) -> Self {
        let source =
            if why == SkipReason::HoldsValue { ValueOrigin::Kept } else { ValueOrigin::Person };
        Self::of(page, field, source, Status::Left(why))
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Profile => "profile",
            Self::Model => "model",
            Self::Person => "person",
            Self::Kept => "kept",
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planned => f.pad("not reached"),
            Self::Filled => f.pad("filled"),
            Self::Refused => f.pad("refused"),
            Self::Skipped => f.pad("skipped"),
            Self::Failed => f.pad("failed"),
            Self::Left(SkipReason::HoldsValue) => f.pad("kept"),
            Self::Left(_) => f.pad("left"),
        }
    }
}

impl FormData {
    /// Writes down what became of the field under the cursor; the last word counts.
    pub(super) fn note(&mut self, status: Status, note: Option<String>) {
        if let Some(row) = self.row_here(status) {
            self.row(FieldRow { note, ..row });
        }
    }

    /// Records the value, if the journal may contain it.
    pub(super) fn put_in(&mut self, value: Option<String>) {
        if let Some(row) = self.row_here(Status::Filled) {
            let value = value.map(|value| text::cut(&value, MAX_WORDS));
            self.row(FieldRow { value, ..row });
        }
    }

    fn row_here(&self, status: Status) -> Option<FieldRow> {
        let origin = match self.source() {
            Source::Profile { .. } => ValueOrigin::Profile,
            Source::Nothing if matches!(status, Status::Left(_)) => ValueOrigin::Person,
            Source::Written { .. } | Source::Nothing => ValueOrigin::Model,
        };
        Some(FieldRow {
            key: self.known(),
            ..FieldRow::of(self.page, self.field()?, origin, status)
        })
    }

    /// Adds a row; a further one for the same field takes the place of the first.
    pub(super) fn row(&mut self, mut row: FieldRow) {
        let known = self.rows.iter().rposition(|it| it.page == row.page && it.field == row.field);
        if let Some(before) = known.and_then(|at| self.rows.get_mut(at)) {
            row.value = row.value.or_else(|| before.value.take());
            *before = row;
        } else if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    /// Returns how many fields were filled.
    pub fn filled(&self) -> usize {
        self.rows.iter().filter(|row| row.status == Status::Filled).count()
    }

    /// Returns what the run came to, as data.
    pub(super) fn reported(&self) -> Value {
        let count = |wanted: fn(&Status) -> bool| {
            self.rows.iter().filter(|row| wanted(&row.status)).count()
        };
        let mut reported = json!({
            "url": self.config.url,
            "pages": self.page,
            "filled": self.filled(),
            "left": count(|status| matches!(status, Status::Left(_))),
            "fields": self.rows,
            "handed_over": self.handed_over,
            "why_handed_over": self.why_handed_over,
            "ending": self.ending,
            "next": self.next,
            "sent": self.sent,
            "pressed": self.pressed,
            "by_itself": self.by_itself,
            "screenshots": self.shots,
            "trouble": self.trouble,
        });
        if let Some(reported) = reported.as_object_mut().filter(|_| !self.remarks.is_empty()) {
            reported.insert("noticed".into(), json!(self.remarks));
        }
        reported
    }

    /// Describes the result of the run: a table of the fields, the work left for the person, the
    /// result for the form, and the reason for stopping.
    pub(super) fn told(&self) -> String {
        let (filled, count) = (self.filled(), self.rows.len());
        let pages = if self.page == 1 { "page" } else { "pages" };
        let mut lines =
            Vec::from([format!("{filled} of {count} fields filled on {} {pages}.", self.page)]);
        if !self.rows.is_empty() {
            lines.push(String::new());
            lines.extend(self.table());
        }
        let left: Vec<&FieldRow> = self.rows.iter().filter(|row| row.is_the_persons()).collect();
        if !left.is_empty() {
            lines.extend([String::new(), "Left for you:".into()]);
        }
        for row in left {
            let must = if row.required { ", required" } else { "" };
            let (label, why) = (text::line(&row.label, 60), row.reason());
            lines.push(format!("  {label} (page {}{must}): {why}", row.page));
        }
        if !self.shots.is_empty() {
            lines.extend([String::new(), "Screenshots:".into()]);
        }
        lines.extend(self.shots.iter().map(|shot| format!("  {shot}")));
        if !self.remarks.is_empty() {
            lines.extend([String::new(), "Noticed:".into()]);
        }
        lines.extend(self.remarks.iter().map(|said| format!("  {said}")));
        let end = self.end();
        if !end.is_empty() {
            lines.push(String::new());
            lines.extend(end);
        }
        lines.join("\n")
    }

    /// Describes the end: the result for the form, the reason for stopping, and what to do next.
    fn end(&self) -> Vec<String> {
        let label = |label: &String| format!("`{}`", text::line(label, 60));
        let labels = self.handed_over.iter().map(label).collect::<Vec<_>>().join(", ");
        let were = if self.handed_over.len() == 1 { "was" } else { "were" };
        let why = self.why_handed_over.as_deref().unwrap_or_default();
        let mut lines = Vec::new();
        match self.ending {
            None => {}
            // Only what the agent did is known: a page may send by itself what it was given.
            Some(Ending::Unsent) => {
                lines.push(format!("As you asked, {labels} {were} not pressed."));
            }
            Some(Ending::NoMore) => lines.push("There is no control to press.".into()),
            Some(Ending::Denied) => {
                lines.push(sentence(&format!("{labels} {were} not pressed:"), why));
            }
            Some(Ending::Unsafe) => lines.push(sentence("Not finished:", why)),
        }
        if self.ending == Some(Ending::Unsafe) && !labels.is_empty() {
            lines.push(format!("Not pressed: {labels}"));
        }
        if let Some(sent) = &self.sent {
            let label = label(&sent.label);
            lines.push(match sent.ok {
                Some(true) => format!("Sent with {label}."),
                Some(false) => format!(
                    "{label} was pressed, but the page does not seem to have accepted the form: check \
                     the site before you send it again."
                ),
                None => format!(
                    "{label} was pressed, but it is unknown whether the site accepted the form: check \
                     the site before you send it again."
                ),
            });
            if !sent.says.is_empty() {
                lines.push(format!("The page says: {}", text::line(&sent.says, 400)));
            }
        }
        lines.extend(self.may_be_there());
        lines.extend(self.trouble.iter().map(|trouble| sentence("Stopped at", trouble)));
        lines.extend(self.next.iter().map(|next| sentence("Next:", next)));
        lines
    }

    /// Tells by what the site may have what was filled in, beside the control that sends.
    fn may_be_there(&self) -> Vec<String> {
        const LOOK: &str = "Check the site before you send it again.";
        let quoted = |label: &String| format!("`{}`", text::line(label, 60));
        let mut lines = Vec::new();
        let taken = self.sent.as_ref().is_some_and(|sent| sent.ok == Some(true));
        let before: Vec<String> = self.pressed.iter().take(5).map(quoted).collect();
        if !before.is_empty() && !taken {
            let (labels, were) =
                (before.join(", "), if before.len() == 1 { "was" } else { "were" });
            lines.push(format!(
                "{labels} {were} pressed: the site may have the filled-in values. {LOOK}"
            ));
        }
        if let Some(label) = &self.pressing {
            lines.push(format!(
                "It is unknown whether {} was pressed: the site may have the filled-in values. {LOOK}",
                quoted(label)
            ));
        }
        if self.by_itself {
            lines.push(format!(
                "Another page loaded while the form was being filled: the site may have the \
                 filled-in values. {LOOK}"
            ));
        }
        lines
    }

    /// Writes the rows below each other, in columns.
    fn table(&self) -> Vec<String> {
        let told = !self.config.redact && self.rows.iter().any(|row| row.value.is_some());
        let mut lines =
            Vec::from([["page", "field", "kind", "source", "status"].map(String::from)]);
        for row in &self.rows {
            let label = text::line(&row.label, 40);
            let must = if row.required { " *" } else { "" };
            let status = match (&row.note, row.status) {
                (_, Status::Left(_)) => format!("{}: {}", row.status, row.reason()),
                (Some(note), _) => format!("{}: {}", row.status, text::line(note, 80)),
                (None, _) => row.status.to_string(),
            };
            let value = row.value.as_ref().filter(|_| told);
            let value = value.map(|it| format!(" = {}", text::line(it, 40))).unwrap_or_default();
            lines.push([
                row.page.to_string(),
                format!("{label}{must}"),
                row.kind.to_string(),
                row.source.to_string(),
                format!("{status}{value}"),
            ]);
        }
        let width = |at: usize| {
            let cells = lines.iter().filter_map(|line| line.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let [a, b, c, d] = [width(0), width(1), width(2), width(3)];
        let line = |[page, label, kind, source, status]: &[String; 5]| {
            format!("  {page:>a$}  {label:<b$}  {kind:<c$}  {source:<d$}  {status}")
        };
        lines.iter().map(line).collect()
    }

    /// Returns the fields and the screenshots, each as a table.
    pub(super) fn tables(&self) -> Vec<DataTable> {
        let told = !self.config.redact;
        let mut columns = Vec::from(["page", "field", "kind", "value from", "status", "note"]);
        columns.extend(told.then_some("value"));
        let mut fields = DataTable::new("Fields", &columns);
        for row in &self.rows {
            let must = if row.required { " *" } else { "" };
            let mark = match row.status {
                Status::Filled => RowMark::Good,
                Status::Refused | Status::Failed => RowMark::Bad,
                Status::Skipped => RowMark::Warning,
                Status::Left(_) if row.required && row.is_the_persons() => RowMark::Warning,
                Status::Planned | Status::Left(_) => RowMark::Plain,
            };
            let note = match (&row.note, row.status) {
                (None, Status::Left(why)) => why.to_string(),
                (note, _) => note.clone().unwrap_or_default(),
            };
            let value = told.then(|| row.value.clone().unwrap_or_default());
            let cells = [
                row.page.to_string(),
                format!("{}{must}", row.label),
                row.kind.to_string(),
                row.source.to_string(),
                row.status.to_string(),
                note,
            ];
            fields.row(mark, cells.into_iter().chain(value));
        }
        let mut shots = DataTable::new("Screenshots", &["number"]);
        for (at, shot) in self.shots.iter().enumerate() {
            let name = shot.rsplit(['/', '\\']).next().unwrap_or(shot);
            let number = at.saturating_add(1).to_string();
            let (cells, files) = (Vec::from([number]), Vec::from([name.to_string()]));
            shots.rows.push(TableRow { cells, mark: RowMark::Plain, files });
        }
        [fields, shots].into_iter().filter(|table| !table.rows.is_empty()).collect()
    }

    /// Describes the current stage of the run.
    pub(super) fn stage(&self) -> Option<String> {
        let field = self.field()?;
        let place = usize::from(self.cursor).saturating_add(1);
        let (page, of, label) = (self.page, self.order.len(), text::line(&field.label, 60));
        Some(format!("page {page}, field {place} of {of}: {label}"))
    }
}

/// Ends a quoted text with one full stop.
fn sentence(head: &str, words: &str) -> String {
    format!("{head} {}.", words.trim_end().trim_end_matches('.'))
}

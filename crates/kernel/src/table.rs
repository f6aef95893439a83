//! Tables about a run, for people: the fields of a form, the phases of a plan, the sources of an
//! answer.

use alloc::{string::String, vec::Vec};

use serde::Serialize;

/// A table that an agent makes from its data.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DataTable {
    /// What the rows are.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, in order.
    pub rows: Vec<TableRow>,
}

/// A row of a table.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct TableRow {
    /// A text for each column.
    pub cells: Vec<String>,
    /// How it went.
    pub mark: RowMark,
    /// Names of the files that are kept for it, such as screenshots.
    pub files: Vec<String>,
}

/// How the subject of a row went.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowMark {
    /// There is nothing to say.
    #[default]
    Plain,
    /// Well.
    Good,
    /// A person should look at it.
    Warning,
    /// It failed.
    Bad,
}

impl DataTable {
    /// A table without rows.
    pub fn new(title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|it| String::from(*it)).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, mark: RowMark, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().collect();
        self.rows.push(TableRow { cells, mark, files: Vec::new() });
    }
}

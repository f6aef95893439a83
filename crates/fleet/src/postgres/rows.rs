//! Rows as a parameter: an array of a composite type, and not an array for each column, of which the
//! server would have to read each on its own.

use std::error::Error;

use bytes::{BufMut as _, BytesMut};
use pointsman_runtime::store::StoreError;
use tokio_postgres::types::{IsNull, Kind, ToSql, Type, to_sql_checked};

use super::database::Database;

/// A column of a row.
pub(super) enum Cell<'a> {
    Text(Option<&'a str>),
    Bytes(Option<&'a [u8]>),
    Number(Option<i64>),
    Flag(bool),
}

impl Cell<'_> {
    const fn kind(&self) -> Type {
        match self {
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) => Type::BYTEA,
            Self::Number(_) => Type::INT8,
            Self::Flag(_) => Type::BOOL,
        }
    }

    /// Writes its length, and then the value.
    fn put(&self, bytes: &mut Vec<u8>) {
        let number;
        let value = match self {
            Self::Text(text) => text.map(str::as_bytes),
            Self::Bytes(value) => *value,
            Self::Number(value) => {
                number = value.map(i64::to_be_bytes);
                number.as_ref().map(<[u8; 8]>::as_slice)
            }
            Self::Flag(true) => Some(&[1][..]),
            Self::Flag(false) => Some(&[0][..]),
        };
        bytes.put_i32(value.map_or(-1, |value| size(value.len())));
        bytes.extend_from_slice(value.unwrap_or_default());
    }
}

/// Rows of one composite type, as the server reads them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    count: usize,
    bytes: Vec<u8>,
}

impl Rows {
    /// Adds a row: all columns of the type, in their order.
    pub(super) fn add(&mut self, cells: &[Cell<'_>]) {
        let at = self.bytes.len();
        // The length is known at the end.
        self.bytes.put_i32(0);
        let from = self.bytes.len();
        self.bytes.put_i32(size(cells.len()));
        for cell in cells {
            self.bytes.put_u32(cell.kind().oid());
            cell.put(&mut self.bytes);
        }
        let length = size(self.bytes.len().saturating_sub(from)).to_be_bytes();
        if let Some(place) = self.bytes.get_mut(at..from) {
            place.copy_from_slice(&length);
        }
        self.count = self.count.saturating_add(1);
    }
}

impl ToSql for Rows {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let Kind::Array(row) = kind.kind() else { return Err("rows are an array".into()) };
        // No length within is larger.
        i32::try_from(self.bytes.len())?;
        out.put_i32(i32::from(self.count > 0));
        out.put_i32(0);
        out.put_u32(row.oid());
        if self.count > 0 {
            out.put_i32(size(self.count));
            out.put_i32(1);
        }
        out.put_slice(&self.bytes);
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(kind.kind(), Kind::Array(_))
    }

    to_sql_checked!();
}

/// Returns a length as the server takes it. Larger ones are refused as a whole.
fn size(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// The types of rows. Each database has other numbers for them.
#[derive(Clone, Debug)]
pub(super) struct RowTypes {
    pub(super) entries: Type,
    pub(super) prompts: Type,
    pub(super) parts: Type,
}

impl RowTypes {
    pub(super) async fn read(database: &Database) -> Result<Self, StoreError> {
        let oid = |name: &str| format!("'pointsman.{name}'::regtype::oid");
        let columns = ["new_entry", "new_prompt", "new_part"]
            .map(|name| format!("{}, {}", oid(name), oid(&format!("{name}[]"))));
        let found = database.read(&format!("SELECT {}", columns.join(", ")), &[]).await;
        let found = found.map_err(|failure| database.unusable(failure.read(None)))?;
        let row = found.first().ok_or_else(|| database.unusable("it does not know its types"))?;
        let array = |name: &str, at: usize| {
            let made = |name: String, oid, kind| Type::new(name, oid, kind, "pointsman".into());
            let element = made(name.into(), row.get(at), Kind::Composite(Vec::new()));
            made(format!("_{name}"), row.get(at + 1), Kind::Array(element))
        };
        Ok(Self {
            entries: array("new_entry", 0),
            prompts: array("new_prompt", 2),
            parts: array("new_part", 4),
        })
    }
}

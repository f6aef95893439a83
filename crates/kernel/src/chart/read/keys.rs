//! A table that is read key by key; remaining keys are mistakes.

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};

use serde_json::{Map, Value, value::RawValue};
use toml::de::{DeTable, DeValue};

use super::super::{
    budgets::{micros, milliseconds},
    draft::{Name, Spanned},
    resolve::{is_well_named, plain},
};
use crate::{
    code::Code,
    diagnostic::{Findings, Span, did_you_mean},
};

/// Reads one value, or reports its mistake.
type Read<'t, 'i, T> = fn(&Spanned<&'t DeValue<'i>>, &mut Findings) -> Option<T>;

pub(super) struct Keys<'t, 'i> {
    table: &'t DeTable<'i>,
    /// Where to point when a key is missing.
    span: Span,
    title: String,
    asked: Vec<&'static str>,
}

impl<'t, 'i> Keys<'t, 'i> {
    pub(super) fn new(table: &'t DeTable<'i>, span: Span, title: &str) -> Self {
        Self { table, span, title: title.to_owned(), asked: Vec::new() }
    }

    pub(super) fn optional<T>(
        &mut self,
        found: &mut Findings,
        key: &'static str,
        read: Read<'t, 'i, T>,
    ) -> Option<T> {
        self.asked.push(key);
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        read(&spanned(value), found)
    }

    pub(super) fn required<T>(
        &mut self,
        found: &mut Findings,
        key: &'static str,
        read: Read<'t, 'i, T>,
    ) -> Option<T> {
        self.required_so(found, key, &format!("add `{key} = …`"), read)
    }

    /// The same, with a specific hint.
    pub(super) fn required_so<T>(
        &mut self,
        found: &mut Findings,
        key: &'static str,
        hint: &str,
        read: Read<'t, 'i, T>,
    ) -> Option<T> {
        if !self.table.iter().any(|(name, _)| name.get_ref() == key) {
            self.asked.push(key);
            let message = format!("{} has no `{key}`", self.title);
            found.add(Code::MissingKey, self.span, message, hint);
            return None;
        }
        self.optional(found, key, read)
    }

    /// Complains about every key that nothing asked for.
    pub(super) fn finish(self, found: &mut Findings) {
        for (name, _) in self.table {
            let key: &str = name.get_ref();
            if !self.asked.contains(&key) {
                let message = format!("{} has no key `{key}`", self.title);
                let hint = did_you_mean(key, self.asked.iter().copied(), "key");
                found.add(Code::UnknownKey, span(name.span()), message, hint);
            }
        }
    }

    /// Returns the entries of a table in the order of the file, which is their rank.
    pub(super) fn in_order(
        table: &Spanned<&'t DeTable<'i>>,
    ) -> impl Iterator<Item = (Name, Spanned<&'t DeValue<'i>>)> + use<'t, 'i> {
        let mut entries: Vec<_> = table
            .value
            .iter()
            .map(|(name, value)| {
                (
                    Spanned::new(name.get_ref().clone().into_owned(), span(name.span())),
                    spanned(value),
                )
            })
            .collect();
        entries.sort_by_key(|(name, _)| name.span);
        entries.into_iter()
    }
}

fn span(range: core::ops::Range<usize>) -> Span {
    Span { start: range.start, end: range.end }
}

fn spanned<'t, 'i>(value: &'t toml::Spanned<DeValue<'i>>) -> Spanned<&'t DeValue<'i>> {
    Spanned::new(value.get_ref(), span(value.span()))
}

fn wrong_type(value: &Spanned<&DeValue<'_>>, expected: &str, found: &mut Findings) {
    let message = format!("expected {expected}, found {}", value.type_str());
    found.add(Code::WrongType, value.span, message, format!("write {expected} here"));
}

pub(super) fn table<'t, 'i>(
    value: &Spanned<&'t DeValue<'i>>,
    found: &mut Findings,
) -> Option<Spanned<&'t DeTable<'i>>> {
    if let DeValue::Table(table) = value.value {
        return Some(Spanned::new(table, value.span));
    }
    wrong_type(value, "a table", found);
    None
}

pub(super) fn name(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Name> {
    if let Some(text) = value.as_str() {
        return Some(Spanned::new(text.to_owned(), value.span));
    }
    wrong_type(value, "a name in quotes", found);
    None
}

pub(super) fn names(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Vec<Name>> {
    let Some(list) = value.as_array() else {
        wrong_type(value, "a list of names", found);
        return None;
    };
    Some(list.iter().filter_map(|item| name(&spanned(item), found)).collect())
}

pub(super) fn flag(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Spanned<bool>> {
    if let Some(flag) = value.as_bool() {
        return Some(Spanned::new(flag, value.span));
    }
    wrong_type(value, "`true` or `false`", found);
    None
}

/// Reads a whole number that is not negative.
pub(super) fn count<T: TryFrom<u64>>(
    value: &Spanned<&DeValue<'_>>,
    found: &mut Findings,
) -> Option<Spanned<T>> {
    let Some(integer) = value.as_integer() else {
        wrong_type(value, "a whole number", found);
        return None;
    };
    let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
    if let Some(number) = number.and_then(|number| T::try_from(number).ok()) {
        return Some(Spanned::new(number, value.span));
    }
    let negative = integer.as_str().starts_with('-');
    let hint =
        if negative { "write a whole number of at least 0" } else { "write a smaller number" };
    found.add(Code::BadValue, value.span, "the number is out of range", hint);
    None
}

/// Reads a whole number from 1 up.
pub(super) fn positive<T: TryFrom<u64> + PartialEq + Default>(
    value: &Spanned<&DeValue<'_>>,
    found: &mut Findings,
) -> Option<Spanned<T>> {
    let number = count(value, found)?;
    if *number == T::default() {
        let hint = "write 1 or more";
        found.add(Code::BadValue, value.span, "zero is not allowed here", hint);
        return None;
    }
    Some(number)
}

pub(super) fn small(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Spanned<u16>> {
    positive(value, found)
}

/// Reads a duration such as `"15s"`, in milliseconds.
pub(super) fn duration(
    value: &Spanned<&DeValue<'_>>,
    found: &mut Findings,
) -> Option<Spanned<u64>> {
    // Something was written, so nothing is reported as missing.
    let written = Some(Spanned::new(1, value.span));
    let Some(text) = value.as_str() else {
        let message = format!("expected a duration, found {}", value.type_str());
        let number = value.as_integer().map_or("15", |number| number.as_str());
        let hint = format!("write a number and a unit in quotes: `\"{number}s\"`");
        found.add(Code::WrongType, value.span, message, hint);
        return written;
    };
    if let Some(ms) = milliseconds(text) {
        return Some(Spanned::new(ms, value.span));
    }
    let hint = "write a number and a unit: `\"250ms\"`, `\"15s\"`, `\"5m\"`, `\"24h\"`";
    found.add(Code::BadValue, value.span, format!("`{text}` is not a valid duration"), hint);
    written
}

/// Reads an amount of money such as `"2.50"`, in millionths.
pub(super) fn money(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Spanned<u64>> {
    let Some(text) = value.as_str() else {
        wrong_type(value, "an amount such as `\"2.50\"`", found);
        return None;
    };
    if let Some(micros) = micros(text) {
        return Some(Spanned::new(micros, value.span));
    }
    let hint = "write whole units and up to six decimals: `\"2.50\"`";
    found.add(Code::BadValue, value.span, format!("`{text}` is not a valid amount"), hint);
    None
}

/// A job's parameters as canonical JSON, and where each value of them is written.
type Json = (Spanned<Box<RawValue>>, BTreeMap<String, Span>);

/// Reads a job's parameters.
pub(super) fn json(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Json> {
    table(value, found)?;
    let mut places = BTreeMap::new();
    let json = to_json(value, "", &mut places, found)?;
    let text = crate::json::canonical(&json);
    RawValue::from_string(text).ok().map(|raw| (Spanned::new(raw, value.span), places))
}

/// Reads the value of a slot.
pub(super) fn value(value: &Spanned<&DeValue<'_>>, found: &mut Findings) -> Option<Value> {
    to_json(value, "", &mut BTreeMap::new(), found)
}

fn to_json(
    value: &Spanned<&DeValue<'_>>,
    pointer: &str,
    places: &mut BTreeMap<String, Span>,
    found: &mut Findings,
) -> Option<Value> {
    places.insert(pointer.to_owned(), value.span);
    match value.value {
        DeValue::String(text) => Some(Value::String(text.clone().into_owned())),
        DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
        DeValue::Integer(integer) => {
            let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
            if number.is_none() {
                let hint = "write a number of at most 18 digits";
                found.add(Code::BadValue, value.span, "the number is out of range", hint);
            }
            number.map(Value::from)
        }
        DeValue::Array(list) => {
            let items = list.iter().enumerate();
            let item =
                |(at, item)| to_json(&spanned(item), &format!("{pointer}/{at}"), places, found);
            items.map(item).collect()
        }
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| {
                let key = key.get_ref().clone().into_owned();
                let pointer = format!("{pointer}/{key}");
                let value = to_json(&spanned(value), &pointer, places, found)?;
                Some((key, value))
            })
            .collect::<Option<Map<_, _>>>()
            .map(Value::Object),
        // A float or a date has no single spelling, and a digest needs one.
        DeValue::Float(_) | DeValue::Datetime(_) => {
            wrong_type(value, "a string, a whole number, a list or a table", found);
            None
        }
    }
}

/// Complains about a name that is not in `snake_case`.
pub(super) fn well_named(name: &Name, what: &str, found: &mut Findings) {
    if is_well_named(name) {
        return;
    }
    let message = format!("`{}` is not a valid name for {what}", **name);
    let plain = plain(name);
    let hint = if is_well_named(&plain) {
        format!(
            "write `{plain}`: lower-case letters, digits and underscores, starting with a letter"
        )
    } else {
        "use lower-case letters, digits and underscores, starting with a letter".into()
    };
    found.add(Code::BadValue, name.span, message, hint);
}

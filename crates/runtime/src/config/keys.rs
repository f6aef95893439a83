//! A table of the file, read key by key: what is asked for is read, what is left over is
//! a mistake, and every mistake has its place.

use std::{borrow::Cow, path::PathBuf};

use pointsman_kernel::diagnostic::{Span, did_you_mean};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Problem;

/// A value and where it stands.
type Value<'t, 'i> = &'t Spanned<DeValue<'i>>;

/// Reads one value, or says what was expected instead.
pub(super) type Read<T> = fn(&DeValue<'_>) -> Result<T, String>;

/// Reads a text as TOML, or tells everything that is wrong with it, with what to do.
pub fn document<'t>(text: &'t str, hint: &str) -> Result<Spanned<DeTable<'t>>, Vec<Problem>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(document);
    }
    let problem = |error: &toml::de::Error| {
        let span = error.span().unwrap_or_default();
        Problem {
            message: format!("not TOML: {}", error.message()),
            hint: hint.into(),
            span: Span { start: span.start, end: span.end },
        }
    };
    Err(errors.iter().map(problem).collect())
}

/// One table.
pub(super) struct Keys<'t, 'i> {
    table: &'t DeTable<'i>,
    title: String,
    asked: Vec<&'static str>,
}

impl<'t, 'i> Keys<'t, 'i> {
    pub(super) fn new(table: &'t DeTable<'i>, title: impl Into<String>) -> Self {
        Self { table, title: title.into(), asked: Vec::new() }
    }

    /// Returns the value of a key, and remembers that the key is known.
    pub(super) fn value(&mut self, key: &'static str) -> Option<Value<'t, 'i>> {
        self.asked.push(key);
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    /// Reads the value of a key.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: Read<T>,
        found: &mut Vec<Problem>,
    ) -> Option<T> {
        let value = self.value(key)?;
        match read(value.get_ref()) {
            Ok(read) => Some(read),
            Err(expected) => {
                let shown = shown(value.get_ref());
                let message = format!("`{key}` of {} cannot be {shown}", self.title);
                found.push(Problem { message, hint: expected, span: span(value) });
                None
            }
        }
    }

    /// Returns the table under a key.
    pub(super) fn table(
        &mut self,
        key: &'static str,
        found: &mut Vec<Problem>,
    ) -> Option<(Self, Span)> {
        let value = self.value(key)?;
        if let DeValue::Table(table) = value.get_ref() {
            return Some((Self::new(table, format!("`[{key}]`")), span(value)));
        }
        let message = format!("`{key}` must be a table, not {}", shown(value.get_ref()));
        found.push(Problem { message, hint: format!("write `[{key}]`"), span: span(value) });
        None
    }

    /// Returns where a key stands, if it is there.
    pub(super) fn place(&self, key: &str) -> Option<Span> {
        let found = self.table.iter().find(|(name, _)| name.get_ref() == key);
        found.map(|(name, _)| Span { start: name.span().start, end: name.span().end })
    }

    /// Calls it something else in what it complains about.
    pub(super) fn titled(mut self, title: &str) -> Self {
        self.title = title.into();
        self
    }

    /// Returns whether one key is there, and no other.
    pub(super) fn has_only(&self, key: &str) -> bool {
        !self.table.is_empty() && self.table.iter().all(|(name, _)| name.get_ref() == key)
    }

    /// Complains about every key that nothing asked for.
    pub(super) fn finish(self, found: &mut Vec<Problem>) {
        for (name, _) in self.table {
            let key: &str = name.get_ref();
            if !self.asked.contains(&key) {
                let secret = ["api_key", "apikey", "api-key", "key", "token"].contains(&key);
                let hint = if secret && self.title == "`[model]`" {
                    "keys are never read from a file: set the provider's variable in the \
                     environment, such as OPENAI_API_KEY or ANTHROPIC_API_KEY"
                        .into()
                } else {
                    did_you_mean(key, self.asked.iter().copied(), "key")
                };
                found.push(Problem {
                    message: format!("{} has no key `{key}`", self.title),
                    hint,
                    span: Span { start: name.span().start, end: name.span().end },
                });
            }
        }
    }
}

pub(super) fn span(value: &Spanned<DeValue<'_>>) -> Span {
    Span { start: value.span().start, end: value.span().end }
}

fn shown(value: &DeValue<'_>) -> Cow<'static, str> {
    match value {
        DeValue::String(text) => format!("`\"{text}\"`").into(),
        DeValue::Integer(number) => format!("`{number}`").into(),
        DeValue::Float(number) => format!("`{number}`").into(),
        DeValue::Boolean(flag) => format!("`{flag}`").into(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

pub(super) fn text(value: &DeValue<'_>) -> Result<String, String> {
    match value.as_str().filter(|text| !text.trim().is_empty()) {
        Some(text) => Ok(text.to_owned()),
        None => Err("write text in quotes".into()),
    }
}

pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "write `true` or `false`".into())
}

/// Reads a whole number from 1 up.
pub(super) fn count(value: &DeValue<'_>) -> Result<u64, String> {
    let number = value
        .as_integer()
        .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
    number.filter(|number| *number > 0).ok_or_else(|| "write a whole number from 1 up".into())
}

/// Reads a whole number from 0 up.
pub(super) fn count_or_none(value: &DeValue<'_>) -> Result<u64, String> {
    let number = value
        .as_integer()
        .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
    number.ok_or_else(|| "write a whole number from 0 up".into())
}

pub(super) fn tokens(value: &DeValue<'_>) -> Result<u32, String> {
    let number = count(value)?;
    u32::try_from(number).map_err(|_| format!("write a number up to {}", u32::MAX))
}

pub(super) fn percent(value: &DeValue<'_>) -> Result<u8, String> {
    let number = count(value).ok().and_then(|number| u8::try_from(number).ok());
    number.filter(|number| *number <= 100).ok_or_else(|| "write percent, from 1 to 100".into())
}

/// Reads a temperature.
pub(super) fn heat(value: &DeValue<'_>) -> Result<f64, String> {
    let number = match value {
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    let usual = number.filter(|number| (0.0..=2.0).contains(number));
    usual.ok_or_else(|| "write a number from 0 to 2".into())
}

pub(super) fn texts(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let list = value.as_array().and_then(|list| {
        list.iter().map(|item| text(item.get_ref()).ok()).collect::<Option<Vec<_>>>()
    });
    list.ok_or_else(|| "write a list of texts: `[\"one\", \"two\"]`".into())
}

/// Reads a path that means the same wherever the program was started.
pub(super) fn path(value: &DeValue<'_>) -> Result<PathBuf, String> {
    let hint = || "write a whole path: one that starts with `/` or `~/`".to_owned();
    absolute(&text(value).map_err(|_| hint())?).ok_or_else(hint)
}

pub(super) fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>, String> {
    let hint = || "write a list of whole paths: those that start with `/` or `~/`".to_owned();
    let texts = texts(value).map_err(|_| hint())?;
    texts.iter().map(|text| absolute(text).ok_or_else(hint)).collect()
}

fn absolute(text: &str) -> Option<PathBuf> {
    if let Some(rest) = text.strip_prefix("~/") {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
        return Some(PathBuf::from(home).join(rest));
    }
    Some(PathBuf::from(text)).filter(|path| path.is_absolute())
}

/// Reads a duration such as `"15s"`, in milliseconds.
pub(super) fn duration(value: &DeValue<'_>) -> Result<u64, String> {
    let hint = "write a number and a unit: `\"250ms\"`, `\"15s\"`, `\"5m\"`, `\"24h\"`, `\"30d\"`";
    value.as_str().and_then(milliseconds).filter(|ms| *ms > 0).ok_or_else(|| hint.into())
}

/// Reads a day or a moment, in milliseconds since 1970. A day lasts until it is over, by
/// universal time.
pub(super) fn moment(value: &DeValue<'_>) -> Result<u64, String> {
    let hint = "write a day or a moment, without quotes: `2026-12-01`, `2026-12-01T12:00:00Z`";
    let DeValue::Datetime(moment) = value else { return Err(hint.into()) };
    super::day::moment(moment).ok_or_else(|| hint.into())
}

/// Returns the milliseconds of a duration such as `15s` or `30d`.
pub fn milliseconds(text: &str) -> Option<u64> {
    amount(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)])
}

/// Reads a size such as `"32KiB"`, in bytes.
pub(super) fn size(value: &DeValue<'_>) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];
    let hint = "write a number and a unit: `\"512B\"`, `\"32KiB\"`, `\"2MiB\"`, `\"5GB\"`";
    let bytes = value.as_str().and_then(|text| amount(text, &UNITS));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| hint.into())
}

fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Reads an amount of money such as `"2.50"`, in millionths.
pub(super) fn money(value: &DeValue<'_>) -> Result<u64, String> {
    let read = |text: &str| {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let plain = !whole.is_empty() && part.len() <= 6 && digits(whole) && digits(part);
        format!("{whole}{part:0<6}").parse::<u64>().ok().filter(|_| plain)
    };
    let hint = "write whole units and up to six decimals, in quotes: `\"2.50\"`";
    value.as_str().and_then(read).ok_or_else(|| hint.into())
}

//! A table of the file, read key by key: unknown keys are mistakes, and every mistake has its
//! location.

use std::{borrow::Cow, cell::RefCell, path::PathBuf, time::Duration};

use pointsman_kernel::diagnostic::{Span, did_you_mean};
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use super::{
    ConfigOrigin, Problem,
    table::{Table, Wins},
};

/// Where to write what a repository's file may not hold.
const ELSEWHERE: &str = "a repository's settings cannot loosen security: use your own settings file (`pointsman doctor` shows where), the environment or the command line";

/// A value and where it stands.
pub(super) type Value<'t> = &'t Spanned<DeValue<'t>>;

/// Reads a text as TOML, or tells everything that is wrong with it, with what to do.
pub fn document<'t>(text: &'t str, hint: &str) -> Result<Spanned<DeTable<'t>>, Vec<Problem>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(document);
    }
    let problem = |error: &toml::de::Error| {
        let span = error.span().unwrap_or_default();
        Problem {
            message: format!("invalid TOML: {}", error.message()),
            hint: hint.into(),
            span: Span { start: span.start, end: span.end },
        }
    };
    Err(errors.iter().map(problem).collect())
}

/// Reads a whole file as a table.
pub(super) fn read<T: Table>(text: &str, origin: ConfigOrigin) -> Result<T, Vec<Problem>> {
    let document = document(text, "see https://toml.io for the format")?;
    let told = ConfigFindings { origin, found: RefCell::default() };
    let mut keys = Keys::new(document.get_ref(), "the settings file".into(), &told);
    let table = T::read(&mut keys);
    keys.finish();
    let mut found = told.found.into_inner();
    if found.is_empty() {
        return Ok(table);
    }
    found.sort_by_key(|problem| problem.span);
    Err(found)
}

/// The origin of the file, and its mistakes.
pub(super) struct ConfigFindings {
    origin: ConfigOrigin,
    found: RefCell<Vec<Problem>>,
}

/// One table.
pub(super) struct Keys<'t> {
    table: &'t DeTable<'t>,
    title: String,
    asked: Vec<&'t str>,
    told: &'t ConfigFindings,
}

impl<'t> Keys<'t> {
    const fn new(table: &'t DeTable<'t>, title: String, told: &'t ConfigFindings) -> Self {
        Self { table, title, asked: Vec::new(), told }
    }

    pub(super) const fn origin(&self) -> ConfigOrigin {
        self.told.origin
    }

    /// Complains.
    pub(super) fn tell(&self, message: impl Into<String>, hint: impl Into<String>, span: Span) {
        let (message, hint) = (message.into(), hint.into());
        self.told.found.borrow_mut().push(Problem { message, hint, span });
    }

    /// Complains about what a repository may not say.
    pub(super) fn forbid(&self, message: String, span: Span) {
        self.tell(message, ELSEWHERE, span);
    }

    /// Returns the value of a key, and remembers that the key is known.
    pub(super) fn value(&mut self, key: &'static str) -> Option<Value<'t>> {
        self.asked.push(key);
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    /// Returns every key with its value: any is known.
    pub(super) fn all(&mut self) -> Vec<(&'t str, Value<'t>)> {
        let all = self.table.iter().map(|(name, value)| (&**name.get_ref(), value));
        let all: Vec<_> = all.collect();
        self.asked.extend(all.iter().map(|(name, _)| name));
        all
    }

    /// Reads the value of a key.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, String>,
    ) -> Option<T> {
        let value = self.value(key)?;
        let wrong = |expected| {
            let shown = shown(value.get_ref());
            self.tell(
                format!("`{key}` of {} cannot be {shown}", self.title),
                expected,
                span(value),
            );
        };
        read(value.get_ref()).map_err(wrong).ok()
    }

    /// Reads the value of a key by what tells its mistakes itself.
    pub(super) fn each<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Self, Value<'t>) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(key)?;
        read(self, value)
    }

    /// Returns a key's value; complains where a repository may not set it.
    pub(super) fn judged<T>(&self, key: &str, value: Option<T>, wins: &Wins<T>) -> Option<T> {
        if self.origin() == ConfigOrigin::Repository
            && !wins.permits(value.as_ref())
            && let Some(span) = self.place(key)
        {
            self.forbid(format!("`{key}` cannot be set here"), span);
        }
        value
    }

    /// Reads the table under a key.
    pub(super) fn table<T: Table>(&mut self, key: &'static str) -> T {
        let Some(value) = self.value(key) else { return T::default() };
        // Tables in a table are named by both.
        let outer = self.title.strip_prefix("`[").and_then(|title| title.strip_suffix("]`"));
        let name = outer.map_or_else(|| key.into(), |outer| format!("{outer}.{key}"));
        let DeValue::Table(table) = value.get_ref() else {
            let hint =
                if T::HINT.is_empty() { format!("write `[{name}]`") } else { T::HINT.into() };
            let message = format!("`{key}` must be a table, not {}", shown(value.get_ref()));
            self.tell(message, hint, span(value));
            return T::default();
        };
        let mut keys = Self::new(table, format!("`[{name}]`"), self.told);
        if self.origin() == ConfigOrigin::Repository
            && let Some(only) = T::ONLY
            && !(keys.has(only) && table.len() == 1)
            && let Some(span) = self.place(key)
        {
            self.forbid(format!("`[{name}]` cannot be set here"), span);
            return T::default();
        }
        let settled = T::read(&mut keys);
        keys.finish();
        settled
    }

    /// Returns the table that a value is, as `title`; complains where it is none.
    pub(super) fn inline(&self, value: Value<'t>, title: &str, hint: &str) -> Option<Self> {
        if let DeValue::Table(table) = value.get_ref() {
            return Some(Self::new(table, title.into(), self.told));
        }
        self.tell(format!("{title} must be a table"), hint, span(value));
        None
    }

    /// Returns the list that the value of a key is; complains where it is none.
    pub(super) fn list(&self, key: &str, value: Value<'t>, hint: &str) -> Option<&'t DeArray<'t>> {
        if let DeValue::Array(list) = value.get_ref() {
            return Some(list);
        }
        self.tell(format!("`{key}` must be a list"), hint, span(value));
        None
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.place(key).is_some()
    }

    /// Returns where a key stands, if it is there.
    fn place(&self, key: &str) -> Option<Span> {
        let found = self.table.iter().find(|(name, _)| name.get_ref() == key);
        found.map(|(name, _)| Span { start: name.span().start, end: name.span().end })
    }

    /// Complains about every key that nothing asked for.
    pub(super) fn finish(self) {
        for (name, _) in self.table {
            let key: &str = name.get_ref();
            if self.asked.contains(&key) {
                continue;
            }
            let secret = ["api_key", "apikey", "api-key", "key", "token"].contains(&key);
            let hint = if secret && self.title == "`[model]`" {
                "Pointsman never reads keys from a file: set the provider's environment variable, such as OPENAI_API_KEY or ANTHROPIC_API_KEY"
                    .into()
            } else {
                did_you_mean(key, self.asked.iter().copied(), "key")
            };
            let span = Span { start: name.span().start, end: name.span().end };
            self.tell(format!("{} has no key `{key}`", self.title), hint, span);
        }
    }
}

pub(super) fn span(value: Value<'_>) -> Span {
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
    let text = value.as_str().filter(|text| !text.trim().is_empty());
    text.map(str::to_owned).ok_or_else(|| "write text in quotes".into())
}

/// Reads a text for which something holds.
pub(super) fn fitting(
    value: &DeValue<'_>,
    fits: impl FnOnce(&str) -> bool,
    hint: &str,
) -> Result<String, String> {
    text(value).ok().filter(|text| fits(text)).ok_or_else(|| hint.into())
}

/// Reads one of some words.
pub(super) fn word<T: Copy>(
    value: &DeValue<'_>,
    words: &[(&str, T)],
    hint: &str,
) -> Result<T, String> {
    let meant = words.iter().find(|(word, _)| value.as_str() == Some(word));
    meant.map(|(_, it)| *it).ok_or_else(|| hint.into())
}

pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "write `true` or `false`".into())
}

/// Reads a whole number from 0 up.
pub(super) fn count_or_none<N: TryFrom<u64>>(value: &DeValue<'_>) -> Result<N, String> {
    up_to(value, 0, u64::MAX, "write a whole number of at least 0")
}

/// Reads a whole number from 1 up.
pub(super) fn count<N: TryFrom<u64>>(value: &DeValue<'_>) -> Result<N, String> {
    up_to(value, 1, u64::MAX, "write a whole number of at least 1")
}

pub(super) fn tokens(value: &DeValue<'_>) -> Result<u32, String> {
    let number = count::<u64>(value)?;
    u32::try_from(number).map_err(|_| format!("write a number up to {}", u32::MAX))
}

pub(super) fn percent(value: &DeValue<'_>) -> Result<u8, String> {
    up_to(value, 1, 100, "write a percentage from 1 to 100")
}

/// Reads a whole number within bounds.
pub(super) fn up_to<N: TryFrom<u64>>(
    value: &DeValue<'_>,
    least: u64,
    most: u64,
    hint: &str,
) -> Result<N, String> {
    let number = value
        .as_integer()
        .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
    let within = number.filter(|number| (least..=most).contains(number));
    within.and_then(|number| N::try_from(number).ok()).ok_or_else(|| hint.into())
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
    list.ok_or_else(|| "write a list of strings: `[\"one\", \"two\"]`".into())
}

/// Reads a path that means the same wherever the program was started.
pub(super) fn path(value: &DeValue<'_>) -> Result<PathBuf, String> {
    let path = text(value).ok().and_then(|text| absolute(&text));
    path.ok_or_else(|| "write a full path that starts with `/` or `~/`".into())
}

pub(super) fn paths(value: &DeValue<'_>) -> Result<Vec<PathBuf>, String> {
    let paths = texts(value).ok().and_then(|list| list.iter().map(|it| absolute(it)).collect());
    let hint = "write a list of full paths that start with `/` or `~/`";
    paths.ok_or_else(|| hint.into())
}

fn absolute(text: &str) -> Option<PathBuf> {
    if let Some(rest) = text.strip_prefix("~/") {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
        return Some(PathBuf::from(home).join(rest));
    }
    Some(PathBuf::from(text)).filter(|path| path.is_absolute())
}

/// Reads a duration such as `"15s"`, in milliseconds.
pub(super) fn ms(value: &DeValue<'_>) -> Result<u64, String> {
    let hint = "write a number and a unit: `\"250ms\"`, `\"15s\"`, `\"5m\"`, `\"24h\"`, `\"30d\"`";
    value.as_str().and_then(milliseconds).filter(|ms| *ms > 0).ok_or_else(|| hint.into())
}

/// Reads a duration such as `"15s"`.
pub(super) fn duration(value: &DeValue<'_>) -> Result<Duration, String> {
    ms(value).map(Duration::from_millis)
}

/// Reads a day or a moment, in milliseconds since 1970. A day lasts until it is over, by
/// universal time.
pub(super) fn moment(value: &DeValue<'_>) -> Result<u64, String> {
    let hint =
        "write a date or a date and time, without quotes: `2026-12-01`, `2026-12-01T12:00:00Z`";
    let DeValue::Datetime(moment) = value else { return Err(hint.into()) };
    super::day::moment(moment).ok_or_else(|| hint.into())
}

/// Returns the milliseconds of a duration such as `15s` or `30d`.
pub fn milliseconds(text: &str) -> Option<u64> {
    amount(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)])
}

/// Reads a size such as `"32KiB"`, in bytes.
pub(super) fn size<N: TryFrom<u64>>(value: &DeValue<'_>) -> Result<N, String> {
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
    let bytes = value.as_str().and_then(|text| amount(text, &UNITS)).filter(|bytes| *bytes > 0);
    bytes.and_then(|bytes| N::try_from(bytes).ok()).ok_or_else(|| hint.into())
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

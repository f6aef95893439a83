//! What a person has answered once, added to the file that they write themselves.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use pointsman_kernel::{
    governor::{Grant, Level},
    id::At,
};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{Config, ConfigError, ConfigOrigin, Dated};
use crate::clock::written;
use crate::clock::{entropy, now_ms};

/// How often to start over if another program changes the file at the same time.
const TRIES: usize = 5;

/// Adds a rule to `[permissions]` of the user's file, permanently or for a while. Comments and
/// order stay; a missing file or folder is created. The rule goes before the first rule for its
/// tool that asks or allows, and after rules that deny some of the same calls. An existing rule is
/// not added twice; one without effect is moved.
///
/// A file with mistakes is left as it is. What the rule itself says of a run's time does
/// not count: no other run has that time.
pub fn remember(file: &Path, grant: &Grant, lasts: Option<Duration>) -> Result<(), ConfigError> {
    let until = lasts.map(|lasts| {
        let lasts = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        // Whole seconds are written, and none of them is lost.
        now_ms().saturating_add(lasts).div_ceil(1000).saturating_mul(1000)
    });
    rewrite(file, |text, config| add(text, &config.permissions.rules, grant, until))
}

/// Writes to `[hooks]` of the user's file whether changes are committed to git. Comments and
/// order stay; the file and its folder are made if they are not there, and a file with
/// mistakes is left as it is.
pub fn remember_commit(file: &Path, commit: bool) -> Result<(), ConfigError> {
    rewrite(file, |text, config| {
        (config.hooks.commit != Some(commit)).then(|| {
            let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
            let hooks = document.entry("hooks").or_insert_with(|| Item::Table(Table::new()));
            let hooks = hooks.as_table_like_mut().ok_or("`hooks` is not a table")?;
            hooks.insert("commit", toml_edit::value(commit));
            Ok(document.to_string())
        })
    })
}

/// Changes a file, unless `edit` finds nothing to change.
fn rewrite(
    file: &Path,
    edit: impl Fn(&str, &Config) -> Option<Result<String, String>>,
) -> Result<(), ConfigError> {
    let fails = |source| ConfigError::Write { path: file.into(), source };
    // A link stays a link: what it names is written.
    let real = file.canonicalize().unwrap_or_else(|_| file.into());
    for _ in 0..TRIES {
        let text = read(&real)?;
        let config = Config::parse(&text, ConfigOrigin::User).map_err(|problems| {
            ConfigError::Mistakes { path: file.into(), text: text.clone(), problems }
        })?;
        let Some(added) = edit(&text, &config) else { return Ok(()) };
        let added = added.and_then(|added| match Config::parse(&added, ConfigOrigin::User) {
            Ok(_) => Ok(added),
            Err(_) => Err("the file has an unusual layout; add the rule by hand".into()),
        });
        let added = added.map_err(|why| ConfigError::Rule { path: file.into(), why })?;
        let temporary = put(&real, &added).map_err(fails)?;
        if read(&real)? == text {
            return fs::rename(&temporary, &real).map_err(fails);
        }
        drop(fs::remove_file(&temporary));
    }
    Err(fails(io::Error::other("another program keeps changing it; try again")))
}

fn read(file: &Path) -> Result<String, ConfigError> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|source| ConfigError::Read { path: file.into(), source }),
    }
}

/// Writes a text beside a file, whole and flushed, with the file's mode.
fn put(file: &Path, text: &str) -> io::Result<PathBuf> {
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".pointsman-{:016x}", entropy()));
    let filled = || -> io::Result<()> {
        // It says which calls run without asking, so only the user may read it.
        let mut made =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        made.write_all(text.as_bytes())?;
        if let Ok(metadata) = fs::metadata(file) {
            made.set_permissions(metadata.permissions())?;
        }
        made.sync_all()?;
        File::open(folder)?.sync_all()
    };
    match filled() {
        Ok(()) => Ok(temporary),
        Err(error) => {
            drop(fs::remove_file(&temporary));
            Err(error)
        }
    }
}

/// Returns the text with the rule in it; nothing if it needs none.
fn add(
    text: &str,
    rules: &[Dated],
    grant: &Grant,
    until: Option<u64>,
) -> Option<Result<String, String>> {
    let lasting = |rule: &Dated| Grant { until: rule.until_ms.map(At), ..rule.grant.clone() };
    let lasting: Vec<Grant> = rules.iter().map(lasting).collect();
    let stopped = |at: usize| {
        let stops = |rule: &Grant| rule.level >= Level::Ask && rule.covers(grant);
        lasting.iter().take(at).position(stops)
    };
    let same = |rule: &Dated| Grant { until: None, ..grant.clone() } == rule.grant;
    let there = rules.iter().position(same);
    // One that another rule keeps from being looked at counts for nothing where it is.
    let works = there.is_some_and(|at| stopped(at).is_none());
    if let Some(rule) = there.filter(|_| works).and_then(|at| rules.get(at)) {
        let longer = match (rule.until_ms, until) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(old), Some(new)) => old >= new,
        };
        if longer {
            return None;
        }
    }
    let change = match there {
        Some(at) if works => Change::Date(at),
        _ => {
            let place = place(rules, grant).max(grant.place_behind_refusals(&lasting));
            if let Some(at) = stopped(place) {
                let number = at.saturating_add(1);
                let why = format!(
                    "rule {number} denies everything that the new rule allows; edit rule {number} by hand"
                );
                return Some(Err(why));
            }
            Change::Put { place, gone: there }
        }
    };
    Some(edited(text, grant, until, &change))
}

/// What becomes of the list.
enum Change {
    /// The rule at a place gets another end.
    Date(usize),
    /// The rule is put at a place, and taken from one behind it.
    Put { place: usize, gone: Option<usize> },
}

fn edited(
    text: &str,
    grant: &Grant,
    until: Option<u64>,
    change: &Change,
) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let permissions = document.entry("permissions").or_insert_with(|| Item::Table(Table::new()));
    let permissions = permissions.as_table_like_mut().ok_or("`permissions` is not a table")?;
    let list = permissions.entry("rules").or_insert_with(|| Item::Value(Array::new().into()));
    match list {
        Item::Value(Value::Array(list)) => match *change {
            Change::Date(at) => {
                let rule = list.get_mut(at).and_then(Value::as_inline_table_mut);
                dated(rule.ok_or("a rule is not a table")?, until)?;
            }
            Change::Put { place, gone } => {
                if let Some(at) = gone.filter(|at| *at < list.len()) {
                    list.remove(at);
                }
                insert(list, place, written_rule(grant, until)?);
            }
        },
        Item::ArrayOfTables(list) => {
            let mut all: Vec<Table> = list.iter().cloned().collect();
            match *change {
                Change::Date(at) => dated(all.get_mut(at).ok_or("a rule is missing")?, until)?,
                Change::Put { place, gone } => {
                    if let Some(at) = gone.filter(|at| *at < all.len()) {
                        all.remove(at);
                    }
                    all.insert(place.min(all.len()), written_rule(grant, until)?.into_table());
                }
            }
            // Tables are written in the order of their positions, which are renumbered here.
            for table in &mut all {
                table.set_position(None);
            }
            *list = all.into_iter().collect();
        }
        _ => return Err("`rules` is not a list".into()),
    }
    Ok(document.to_string())
}

/// Returns where a rule takes effect: before the first rule for its tool that asks or allows.
fn place(rules: &[Dated], grant: &Grant) -> usize {
    let speaks = |pattern: &str| match pattern.split_once('*') {
        Some((start, _)) => grant.tool.starts_with(start),
        None => pattern == grant.tool,
    };
    let decides = |rule: &Dated| rule.grant.level < Level::Refuse && speaks(&rule.grant.tool);
    rules.iter().position(decides).unwrap_or(rules.len())
}

fn written_rule(grant: &Grant, until: Option<u64>) -> Result<InlineTable, String> {
    let verb = match grant.level {
        Level::Allow => "allow",
        Level::Ask => "ask",
        Level::Refuse => "deny",
        _ => return Err("only `allow`, `ask` and `deny` can be remembered".into()),
    };
    let mut rule = InlineTable::new();
    rule.insert(verb, grant.tool.as_str().into());
    if !grant.arguments.is_empty() {
        let with: InlineTable =
            grant.arguments.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect();
        rule.insert("with", with.into());
    }
    dated(&mut rule, until)?;
    Ok(rule)
}

/// Says how long a rule holds.
fn dated(rule: &mut dyn TableLike, until: Option<u64>) -> Result<(), String> {
    match until {
        Some(until) => {
            let moment: toml_edit::Datetime =
                written(until).parse().map_err(|error| format!("{error}"))?;
            rule.insert("until", toml_edit::value(moment));
        }
        None => {
            rule.remove("until");
        }
    }
    Ok(())
}

/// Inserts a rule into a list, on a separate line if the others are. Text after the previous rule
/// on the same line, such as a comment, stays there.
fn insert(list: &mut Array, place: usize, rule: InlineTable) {
    let place = place.min(list.len());
    let first = list.iter().next().map(prefix).unwrap_or_default();
    let mut value = Value::from(rule);
    let Some((_, indent)) = first.rsplit_once('\n') else {
        value.decor_mut().set_prefix(if place == 0 { "" } else { " " });
        if let Some(next) = list.get_mut(place).filter(|_| place == 0) {
            next.decor_mut().set_prefix(" ");
        }
        list.insert_formatted(place, value);
        return;
    };
    // The line before the new one ends with the whitespace and comments of the next.
    let behind = match list.get(place) {
        Some(next) => prefix(next),
        None => list.trailing().as_str().unwrap_or_default().to_owned(),
    };
    let (same_line, rest) = behind.split_once('\n').unwrap_or_default();
    value.decor_mut().set_prefix(format!("{same_line}\n{indent}"));
    let rest = format!("\n{rest}");
    if let Some(next) = list.get_mut(place) {
        next.decor_mut().set_prefix(rest);
    } else {
        list.set_trailing(rest);
        list.set_trailing_comma(true);
    }
    list.insert_formatted(place, value);
}

/// Returns the text before a value.
fn prefix(value: &Value) -> String {
    value.decor().prefix().and_then(|it| it.as_str()).unwrap_or_default().to_owned()
}

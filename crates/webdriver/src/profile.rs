//! Profiles of people, read from a file: what a form can be filled with.
//!
//! A profile is TOML. At the top, or in `[values]`, stand values by what they are, in the
//! words of HTML's `autocomplete`; `[answers]` has values by the label of their field,
//! `[facts]` what a model may know for which field, and `allow` the classes that are never filled without
//! it.

mod blank;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_agents::form::{Fact, FieldKind, Profile, SensitiveKind};
use pointsman_kernel::diagnostic::{Span, did_you_mean};
use pointsman_runtime::config::{self, Problem};
use thiserror::Error;
use toml::{Spanned, de::DeValue};

/// Bytes of a file that is still a profile.
const MAX_BYTES: u64 = 1024 * 1024;

/// A profile with everything that can be in one, for people to start from.
pub const EXAMPLE: &str = include_str!("profile/example.toml");

/// Why a file is not a profile.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It cannot be read.
    #[error("cannot read the profile {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is too long.
    #[error("the profile {} is longer than {MAX_BYTES} bytes", path.display())]
    Long {
        /// The file.
        path: PathBuf,
    },
    /// It has mistakes.
    #[error("the profile {} has mistakes", path.display())]
    Mistakes {
        /// The file.
        path: PathBuf,
        /// Its text, without what could be a value.
        text: String,
        /// All of them, in the order of the file.
        problems: Vec<Problem>,
    },
}

impl ProfileError {
    /// Returns what to do next, where there is something.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. } => Some("`pointsman profile example` prints one to start from"),
            Self::Long { .. } => {
                Some("a profile holds short values; type long text into the form yourself")
            }
            Self::Mistakes { .. } => Some("`pointsman profile check FILE` lists the mistakes"),
        }
    }
}

/// A profile and where each of its keys stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileFile {
    /// The profile.
    pub profile: Profile,
    /// Where the keys at the top stand, by name.
    places: BTreeMap<String, Span>,
}

impl ProfileFile {
    /// Returns what looks wrong with the values, with its place.
    pub fn doubts(&self) -> Vec<Problem> {
        let doubt = |(key, message): (String, String)| {
            let span = self.places.get(&key).copied().unwrap_or_default();
            Problem { message: format!("`{key}`: {message}"), hint: String::new(), span }
        };
        let mut found: Vec<Problem> = self.profile.doubts().into_iter().map(doubt).collect();
        found.sort_by_key(|problem| problem.span);
        found
    }
}

impl ProfileFile {
    /// Takes the values of `[values]`, which may also be at the top.
    fn values(&mut self, value: &Spanned<DeValue<'_>>, found: &mut Vec<Problem>) {
        let DeValue::Table(table) = value.get_ref() else {
            found.push(Problem {
                message: "`values` must be a table".into(),
                hint:
                    "write the header `[values]` above these keys, or put the keys at the top of \
                     the file without it"
                        .into(),
                span: span(value),
            });
            return;
        };
        for (name, value) in table {
            self.value(name, value, found);
        }
    }

    fn value(
        &mut self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        found: &mut Vec<Problem>,
    ) {
        let (key, place): (&str, Span) = (name.get_ref(), span(name));
        self.places.insert(key.into(), place);
        match (FieldKind::from_token(key), plain(value.get_ref())) {
            (Some(kind), Some(text)) => drop(self.profile.values.insert(kind, text)),
            (Some(_), None) => found.push(wrong(key, value)),
            (None, _) => found.push(unknown(key, place)),
        }
    }
}

/// Reads a profile.
pub fn read(path: &Path) -> Result<Profile, ProfileError> {
    Ok(written(path)?.0.profile)
}

/// Reads a profile with the places of its keys, and its text.
pub fn written(path: &Path) -> Result<(ProfileFile, String), ProfileError> {
    let failed = |source| ProfileError::Read { path: path.into(), source };
    if fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(ProfileError::Long { path: path.into() });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    match parse(&text) {
        Ok(written) => Ok((written, text)),
        Err(mut problems) => {
            let text = blank::blanked(&text, &mut problems);
            Err(ProfileError::Mistakes { path: path.into(), text, problems })
        }
    }
}

/// Returns whether others than its owner can read a file.
pub fn is_open(path: &Path) -> bool {
    crate::platform::is_open(path)
}

/// Reads the text of a profile; reports every mistake, in order.
pub fn parse(text: &str) -> Result<ProfileFile, Vec<Problem>> {
    let hint = "`pointsman profile example` prints a profile to start from";
    let document = config::document(text, hint)?;
    let mut found = Vec::new();
    let mut read = ProfileFile::default();
    for (name, value) in document.get_ref() {
        let (key, place): (&str, Span) = (name.get_ref(), span(name));
        match key {
            "values" => read.values(value, &mut found),
            "answers" => read.profile.answers = table(key, value, &mut found, answer),
            "facts" => read.profile.facts = table(key, value, &mut found, fact),
            "allow" => {
                read.places.insert(key.into(), place);
                read.profile.allow = allow(value, &mut found).into_iter().collect();
            }
            _ => read.value(name, value, &mut found),
        }
    }
    if found.is_empty() {
        return Ok(read);
    }
    found.sort_by_key(|problem| problem.span);
    Err(found)
}

fn span<T>(value: &Spanned<T>) -> Span {
    Span { start: value.span().start, end: value.span().end }
}

fn unknown(key: &str, place: Span) -> Problem {
    let known =
        FieldKind::all().map(FieldKind::token).chain(["answers", "facts", "allow", "values"]);
    let tokens: Vec<&str> = known.collect();
    let dashed = key.replace('_', "-");
    let hint = if tokens.contains(&dashed.as_str()) {
        format!("did you mean `{dashed}`?")
    } else {
        let meant = did_you_mean(key, tokens.into_iter(), "key");
        let then = if meant.ends_with('?') { " For" } else { "; for" };
        format!(
            "{meant}{then} a field with this label, write `\"{key}\" = \"…\"` under `[answers]`"
        )
    };
    Problem { message: format!("a profile has no key `{key}`"), hint, span: place }
}

fn wrong(key: &str, value: &Spanned<DeValue<'_>>) -> Problem {
    Problem {
        message: format!("`{key}` must be text"),
        hint: format!("write `{key} = \"…\"`"),
        span: span(value),
    }
}

/// Reads a value as text. A list is one value per line, as lists of several choices are.
fn plain(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(flag) => if *flag { "yes" } else { "no" }.into(),
        DeValue::Datetime(moment) => moment.to_string(),
        DeValue::Array(list) => {
            let lines: Option<Vec<String>> = list.iter().map(|it| plain(it.get_ref())).collect();
            lines?.join("\n")
        }
        DeValue::Table(_) => return None,
    })
}

/// Reads a table with a reader for its values, and reports their mistakes.
fn table<T>(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    found: &mut Vec<Problem>,
    read: fn(&str, &Spanned<DeValue<'_>>, &mut Vec<Problem>) -> Option<T>,
) -> BTreeMap<String, T> {
    let DeValue::Table(table) = value.get_ref() else {
        found.push(Problem {
            message: format!("`{key}` must be a table"),
            hint: format!("write `[{key}]`, and under it `\"NAME\" = \"…\"`"),
            span: span(value),
        });
        return BTreeMap::new();
    };
    let mut all = BTreeMap::new();
    for (name, value) in table {
        all.extend(read(name.get_ref(), value, found).map(|it| (name.get_ref().to_string(), it)));
    }
    all
}

fn answer(name: &str, value: &Spanned<DeValue<'_>>, found: &mut Vec<Problem>) -> Option<String> {
    let text = plain(value.get_ref());
    if text.is_none() {
        found.push(wrong(name, value));
    }
    text
}

/// Reads a fact: a text, or a table of a value and of the fields that it is for.
fn fact(name: &str, whole: &Spanned<DeValue<'_>>, found: &mut Vec<Problem>) -> Option<Fact> {
    let DeValue::Table(parts) = whole.get_ref() else {
        return answer(name, whole, found).map(|text| Fact::from(text.as_str()));
    };
    let hint = format!("write `{name} = {{ value = \"…\", for = [\"a word of the label\"] }}`");
    let mut fact = Fact::default();
    let mut sound = true;
    for (key, part) in parts {
        let text = plain(part.get_ref()).filter(|text| !text.trim().is_empty());
        let message = match (&**key.get_ref(), text) {
            ("value", Some(text)) => {
                fact.value = text;
                continue;
            }
            ("for", Some(text)) => {
                fact.fields = text.lines().map(str::to_owned).collect();
                continue;
            }
            (known @ ("value" | "for"), None) => format!("`{known}` of the fact `{name}` is empty"),
            (other, _) => format!("a fact has no `{other}`"),
        };
        found.push(Problem { message, hint: hint.clone(), span: span(key) });
        sound = false;
    }
    if sound && fact.value.is_empty() {
        let message = format!("the fact `{name}` has no `value`");
        found.push(Problem { message, hint, span: span(whole) });
        return None;
    }
    sound.then_some(fact)
}

fn allow(value: &Spanned<DeValue<'_>>, found: &mut Vec<Problem>) -> Vec<SensitiveKind> {
    let tokens: Vec<&str> = SensitiveKind::ALL.iter().map(|class| class.token()).collect();
    let hint = format!("write a list of these: {}", tokens.join(", "));
    let Some(list) = value.get_ref().as_array() else {
        let message = "`allow` must be a list".into();
        found.push(Problem { message, hint, span: span(value) });
        return Vec::new();
    };
    let mut classes = Vec::new();
    for item in list {
        let token = item.get_ref().as_str().unwrap_or_default();
        if let Some(class) = SensitiveKind::from_token(token) {
            classes.push(class);
            continue;
        }
        let hint = if token == "captcha" {
            "a captcha is never filled: only a person may solve it".into()
        } else {
            format!("{}; {hint}", did_you_mean(token, tokens.iter().copied(), "class"))
        };
        let message = format!("`{token}` cannot be allowed");
        found.push(Problem { message, hint, span: span(item) });
    }
    classes
}

//! What a person's profile and a model's texts say, and how it is kept out of what is
//! written down.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use pointsman_agents::form::{Config, Control, Field, Profile};

use super::{trouble::Trouble, vault::Vault};
use crate::profile;

/// The shortest value that is worth hiding; a shorter one would blot out ordinary words.
const SHORTEST: usize = 3;
/// What stands for a value that was typed.
const HIDDEN: &str = "[hidden]";

/// The private side of a run.
pub(super) struct Secrets {
    redact: bool,
    vault: Vault,
    /// The profile that was read last, and what its file was then.
    profile: Mutex<Option<(Stamp, Arc<Profile>)>>,
    /// What the profile says, the longest first.
    known: Vec<String>,
    /// What was typed, and what the profile says, the longest first.
    typed: Mutex<Vec<String>>,
}

/// What a file is known by as long as nobody writes to it.
#[derive(Debug, Eq, PartialEq)]
struct Stamp {
    path: PathBuf,
    length: u64,
    changed: Option<SystemTime>,
}

impl Secrets {
    pub(super) fn new(config: &Config, vault: Vault) -> Self {
        let redact = config.redact;
        let (profile, typed) = (Mutex::default(), Mutex::default());
        let mut secrets = Self { redact, vault, profile, known: Vec::new(), typed };
        if redact {
            // A page may repeat what was typed before this process took the run up. A
            // profile that cannot be read is told of where it is needed.
            if let Ok(profile) = secrets.profile(Path::new(&config.profile.file)) {
                let values = profile.values.values().chain(profile.answers.values());
                values.for_each(|value| secrets.typing(value));
            }
            secrets.known = secrets.typed();
            secrets.vault.texts().iter().for_each(|text| secrets.typing(text));
        }
        secrets
    }

    pub(super) const fn redacts(&self) -> bool {
        self.redact
    }

    pub(super) const fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Returns the text that was written. Where texts are journaled as they are, none of
    /// them stands for another, whatever it looks like.
    pub(super) fn text(&self, written: &str) -> Result<String, Trouble> {
        if self.redact {
            self.vault.text(written).map_err(Trouble::Vault)
        } else {
            Ok(written.into())
        }
    }

    /// Returns a profile, which is read again when its file has changed.
    pub(super) fn profile(&self, path: &Path) -> Result<Arc<Profile>, Trouble> {
        let stamp = fs::metadata(path).ok().map(|file| Stamp {
            path: path.into(),
            length: file.len(),
            changed: file.modified().ok(),
        });
        let mut kept = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, profile)) = &*kept
            && Some(known) == stamp.as_ref()
        {
            return Ok(Arc::clone(profile));
        }
        let profile = Arc::new(profile::read(path).map_err(Trouble::Profile)?);
        *kept = stamp.map(|stamp| (stamp, Arc::clone(&profile)));
        Ok(profile)
    }

    /// Learns what is typed.
    pub(super) fn typing(&self, value: &str) {
        let value = value.trim();
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if value.chars().count() >= SHORTEST && !typed.iter().any(|it| it == value) {
            typed.push(value.into());
            typed.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Returns what was typed and what the profile says.
    pub(super) fn typed(&self) -> Vec<String> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hides what was typed, wherever the page repeats it.
    pub(super) fn hide(&self, words: &str) -> String {
        if !self.redact {
            return words.into();
        }
        hidden(words, &self.typed())
    }

    /// Hides what a page repeats about a field. Its label and its options are left: what
    /// they say decides what is filled in. So does a part of the rest, and that is why only
    /// the person's own values are hidden there: a model's text must not decide anything.
    pub(super) fn hide_in_field(&self, field: &mut Field) {
        if self.redact {
            field.value = None;
            field.context = hidden(&field.context, &self.known);
            field.placeholder = hidden(&field.placeholder, &self.known);
            self.hide_in_data(&mut field.attributes);
        }
    }

    pub(super) fn hide_in_control(&self, control: &mut Control) {
        if self.redact {
            self.hide_in_data(&mut control.attributes);
        }
    }

    fn hide_in_data(&self, attributes: &mut std::collections::BTreeMap<String, String>) {
        for (_, value) in attributes.iter_mut().filter(|(name, _)| name.starts_with("data-")) {
            *value = hidden(value, &self.known);
        }
    }
}

/// Returns words without these values: wherever they stand as they are, and as words of
/// their own in whatever case they are written.
fn hidden(words: &str, values: &[String]) -> String {
    values.iter().fold(words.to_owned(), |words, value| {
        without(&words.replace(value.as_str(), HIDDEN), value)
    })
}

fn without(words: &str, value: &str) -> String {
    let wanted: Vec<char> = value.chars().flat_map(char::to_lowercase).collect();
    let mut left = String::with_capacity(words.len());
    let mut rest = words;
    while let Some(first) = rest.chars().next() {
        let begins = !left.ends_with(char::is_alphanumeric);
        let found = starts(rest, &wanted).filter(|_| begins).and_then(|it| rest.get(it..));
        if let Some(after) = found.filter(|after| !after.starts_with(char::is_alphanumeric)) {
            left.push_str(HIDDEN);
            rest = after;
        } else {
            left.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    left
}

/// Returns how many bytes at the start of a text are these signs, if they are.
fn starts(text: &str, wanted: &[char]) -> Option<usize> {
    let mut met = 0;
    for (at, sign) in text.char_indices() {
        if met == wanted.len() {
            return Some(at);
        }
        for lower in sign.to_lowercase() {
            if wanted.get(met) != Some(&lower) {
                return None;
            }
            met += 1;
        }
    }
    (met == wanted.len()).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_another_only_where_texts_are_kept() {
        let run: crate::store::RunId = "r1".parse().unwrap_or_else(|error| panic!("{error}"));
        let text = |redact: bool| {
            let config = Config { redact, ..Config::default() };
            let vault = Vault::new(Path::new("/no/such/folder"), &run);
            Secrets::new(&config, vault).text("kept:0")
        };
        assert!(matches!(text(false).as_deref(), Ok("kept:0")));
        assert!(matches!(text(true), Err(Trouble::Vault(_))));
    }

    #[test]
    fn values_are_hidden_in_any_case() {
        let values = ["Ada Lovelace".to_owned(), "Größe".to_owned()];
        let seen = "Dear ADA LOVELACE, your größe and ada lovelace: Ada";
        assert_eq!(hidden(seen, &values), "Dear [hidden], your [hidden] and [hidden]: Ada");
        assert_eq!(hidden("", &values), "");
        let ada = ["Ada".to_owned()];
        assert_eq!(hidden("ADA in Canada, xAdax", &ada), "[hidden] in Canada, x[hidden]x");
    }
}

//! The values of a person's profile and a model's texts, and how they are kept out of the journal.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use pointsman_agents::form::{Field, FormConfig, NavigationControl, Profile};

use super::{error::TaskError, redaction::hidden, vault::Vault};
use crate::profile;

/// The shortest value that is worth hiding; a shorter one would blot out ordinary words.
const SHORTEST: usize = 3;

/// The private side of a run.
pub(super) struct Secrets {
    redact: bool,
    vault: Vault,
    /// The profile's path; empty where there is none.
    file: PathBuf,
    /// What the form is filled for, in the person's words.
    goal: String,
    /// The profile that was read last, and what its file was then.
    profile: Mutex<Option<(Stamp, Arc<Profile>)>>,
    /// What the profile says, the longest first.
    known: Vec<String>,
    /// What was typed, and what the profile says, the longest first.
    typed: Mutex<Vec<String>>,
}

/// Identifies the content of a file until it is written.
#[derive(Debug, Eq, PartialEq)]
struct Stamp {
    path: PathBuf,
    length: u64,
    changed: Option<SystemTime>,
}

impl Secrets {
    pub(super) fn new(config: &FormConfig, vault: Vault) -> Self {
        let redact = config.redact;
        let (profile, typed) = (Mutex::default(), Mutex::default());
        let (file, goal) = (PathBuf::from(&config.profile.file), config.goal.clone());
        let mut secrets = Self { redact, vault, file, goal, profile, known: Vec::new(), typed };
        if redact {
            // A page may repeat values that an earlier process typed. An unreadable profile is
            // reported where it is needed.
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

    /// Returns the written text. If texts are journaled as they are, none of them is a vault name,
    /// whatever it looks like.
    pub(super) fn text(&self, written: &str) -> Result<String, TaskError> {
        if self.redact {
            self.vault.text(written).map_err(TaskError::Vault)
        } else {
            Ok(written.into())
        }
    }

    /// Returns the name of a fact that a text repeats, although it is not for the field and
    /// nothing else in the question tells it.
    pub(super) fn repeated(&self, field: &Field, text: &str) -> Result<Option<String>, TaskError> {
        if self.file.as_os_str().is_empty() {
            return Ok(None);
        }
        let options = field.options.iter().map(|it| it.label.as_str());
        let said = [self.goal.as_str(), &field.label, &field.placeholder, &field.context];
        let known = said.into_iter().chain(options).collect::<Vec<_>>().join("\n");
        let profile = self.profile(&self.file)?;
        Ok(profile.repeated(text, &field.called(), &known).map(String::from))
    }

    /// Returns a profile, which is read again when its file has changed.
    pub(super) fn profile(&self, path: &Path) -> Result<Arc<Profile>, TaskError> {
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
        let profile = Arc::new(profile::read(path).map_err(TaskError::Profile)?);
        *kept = stamp.map(|stamp| (stamp, Arc::clone(&profile)));
        Ok(profile)
    }

    /// Records a typed value.
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

    /// Hides values that a page repeats about a field. Its label and its options are unchanged,
    /// because they decide what is filled in. Some other parts matter too, so only the person's
    /// own values are hidden there: a model's text must not decide anything.
    pub(super) fn hide_in_field(&self, field: &mut Field) {
        if self.redact {
            field.value = None;
            field.context = hidden(&field.context, &self.known);
            field.placeholder = hidden(&field.placeholder, &self.known);
            self.hide_in_data(&mut field.attributes);
        }
    }

    pub(super) fn hide_in_control(&self, control: &mut NavigationControl) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_repeats_a_fact_of_another_field_is_not_typed() {
        use super::super::value::{self, FieldValue};
        let file = std::env::temp_dir().join(format!("pointsman-facts-{}", std::process::id()));
        let facts = "[facts]\niban = \"DE89 3704 0044 0532 0130 00\"\nwork = \"Built engines\"\n\
                     town = { value = \"Whitby Harbour\", for = [\"*\"] }\n";
        fs::write(&file, facts).unwrap_or_else(|error| panic!("{error}"));
        let run: pointsman_runtime::store::RunId =
            "r1".parse().unwrap_or_else(|error| panic!("{error}"));
        let profile = pointsman_agents::form::ProfileKeys {
            file: file.display().to_string(),
            ..pointsman_agents::form::ProfileKeys::default()
        };
        let goal = "a job".to_owned();
        let config = FormConfig { goal, profile, ..FormConfig::default() };
        let secrets = Secrets::new(&config, Vault::new(Path::new("/no/such/folder"), &run));
        let typed = |label: &str, text: &str| {
            let shape = pointsman_agents::form::FieldShape::Textarea;
            let field = Field { label: label.into(), shape, ..Field::default() };
            let from = pointsman_agents::form::Source::Written { text: text.into() };
            match value::of(&secrets, &field, &from) {
                Ok(FieldValue::Unfit(why)) => why,
                Ok(FieldValue::Fits(_)) => String::new(),
                other => panic!("{other:?}"),
            }
        };
        let leak = "My account is de89-3704-0044-0532-0130-00.";
        assert!(typed("Comment", leak).contains("repeats the fact `iban`"));
        assert!(typed("Comment", "I built engines.").contains("repeats the fact `work`"));
        assert_eq!(typed("Your work", "I built engines in Whitby Harbour."), "");
        assert_eq!(typed("Why engines? Who built engines?", "I built engines."), "");
        assert_eq!(typed("Comment", "Good day."), "");
        drop(fs::remove_file(&file));
    }

    #[test]
    fn vault_names_resolve_only_with_redaction() {
        let run: pointsman_runtime::store::RunId =
            "r1".parse().unwrap_or_else(|error| panic!("{error}"));
        let text = |redact: bool| {
            let config = FormConfig { redact, ..FormConfig::default() };
            let vault = Vault::new(Path::new("/no/such/folder"), &run);
            Secrets::new(&config, vault).text("kept:0")
        };
        assert!(matches!(text(false).as_deref(), Ok("kept:0")));
        assert!(matches!(text(true), Err(TaskError::Vault(_))));
    }
}

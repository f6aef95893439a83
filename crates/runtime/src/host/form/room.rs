//! A run's room: its browser, its configuration, and what was typed there.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Mutex as Plain, PoisonError},
    time::Instant,
};

use pointsman_agents::form::{Config, Field, Report, Shape, Source, Task};
use pointsman_kernel::{
    agent::{Fault, FaultClass},
    event::Begun,
    id::{Digest, Seq},
    journal::Entry,
};
use serde::Deserialize;
use thiserror::Error;
use tokio::sync::{Mutex, MutexGuard};

use super::{
    value::{self, Value},
    vault::Vault,
};
use crate::{
    browser::{Browser, BrowserError, Pressing, Record, Settings},
    profile::{self, ProfileError},
    store::{RunId, Store, StoreError},
};

/// The shortest value that is worth hiding; a shorter one would blot out ordinary words.
const SHORTEST: usize = 3;
/// What stands for a value that was typed.
const HIDDEN: &str = "[hidden]";

/// Why a task came to nothing.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    #[error(transparent)]
    Browser(#[from] BrowserError),
    #[error(transparent)]
    Profile(ProfileError),
    #[error("the run's private texts cannot be used: {0}")]
    Vault(io::Error),
    #[error("a picture cannot be kept: {0}")]
    Picture(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the run's configuration cannot be read")]
    Config,
    #[error("{0}")]
    Call(String),
}

impl From<&Trouble> for Fault {
    fn from(trouble: &Trouble) -> Self {
        let (class, repeatable, hint) = match trouble {
            Trouble::Browser(error) => (error.class(), error.is_repeatable(), error.hint()),
            // Without its profile a run has nothing to go on with: no field is skipped for it.
            Trouble::Profile(error) => (FaultClass::Resource, false, error.hint()),
            Trouble::Vault(_) | Trouble::Picture(_) | Trouble::Store(_) => {
                (FaultClass::Resource, false, None)
            }
            Trouble::Config | Trouble::Call(_) => (FaultClass::Contract, false, None),
        };
        let mut message = trouble.to_string();
        let mut source = std::error::Error::source(trouble);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        if let Some(hint) = hint {
            message = format!("{message}; {hint}");
        }
        Self { class, repeatable, hint_ms: None, message }
    }
}

/// The browser of a run, and what belongs to it. Dropping it ends the browser.
pub(super) struct Room {
    settings: Settings,
    record: PathBuf,
    pictures: PathBuf,
    vault: Vault,
    config: Config,
    browser: Mutex<Option<Browser>>,
    /// The page on which a process that died was about to press something.
    pub(super) pressing: Plain<Option<Pressing>>,
    typed: Plain<Vec<String>>,
}

/// Returns where it is written down how a run's browser is found again.
pub(super) fn record(folder: &Path, run: &RunId) -> PathBuf {
    folder.join(format!("{run}.json"))
}

/// Returns where the pictures of a run are kept.
pub(super) fn pictures(folder: &Path, run: &RunId) -> PathBuf {
    folder.join(run.as_str())
}

impl Room {
    pub(super) fn new(
        settings: &Settings,
        folder: &Path,
        store: &Store,
        run: &RunId,
    ) -> Result<Self, Trouble> {
        let config = config(store, run)?;
        let room = Self {
            settings: settings.clone(),
            record: record(folder, run),
            pictures: pictures(folder, run),
            vault: Vault::new(folder, run),
            config,
            browser: Mutex::default(),
            pressing: Plain::default(),
            typed: Plain::default(),
        };
        // A page may repeat what was typed before this process took the run up. A profile
        // that cannot be read is told of where it is needed.
        let file = Path::new(&room.config.profile.file);
        if let (true, Ok(profile)) = (room.config.redact, profile::read(file)) {
            let answers = profile.answers.values();
            profile.values.values().chain(answers).for_each(|value| room.typing(value));
        }
        Ok(room)
    }

    pub(super) const fn vault(&self) -> &Vault {
        &self.vault
    }

    pub(super) const fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) async fn perform(&self, task: Task, again: bool) -> Result<Report, Trouble> {
        match task {
            Task::Settle { url } => self.settle(url.as_deref()).await,
            Task::Extract => {
                let browser = self.here().await?;
                let mut fields = open(browser.as_ref())?.now().await?.reading.fields;
                if self.config.redact {
                    for field in &mut fields {
                        field.value = None;
                    }
                }
                Ok(Report::Fields(fields))
            }
            Task::Insert { field, from, .. } => {
                let field = self.filled_late(field, &from).await?;
                let wanted = match value::of(&field, &from, &self.vault)? {
                    Value::Fits(value) => value,
                    Value::Unfit(why) => return Ok(inserted(None, None, Some(why))),
                    Value::None => return Ok(inserted(None, None, None)),
                };
                let browser = self.here().await?;
                let browser = open(browser.as_ref())?;
                self.typing(&wanted);
                // What was done before a crash need not be done twice.
                if !(again && browser.verify(&field, &wanted).await?.kept) {
                    browser.insert(&field, &wanted).await?;
                }
                let digest = Some(self.vault.digest(&wanted).map_err(Trouble::Vault)?);
                Ok(inserted(digest, Some(wanted).filter(|_| !self.config.redact), None))
            }
            Task::Verify { field, from, .. } => {
                let field = self.filled_late(field, &from).await?;
                let Value::Fits(wanted) = value::of(&field, &from, &self.vault)? else {
                    return Ok(Report::Verified { kept: true, complaint: None, note: None });
                };
                let browser = self.here().await?;
                self.typing(&wanted);
                let found = open(browser.as_ref())?.verify(&field, &wanted).await?;
                let complaint = found.complaint.map(|words| self.hide(&words));
                Ok(Report::Verified { kept: found.kept, complaint, note: None })
            }
            Task::Survey => {
                let browser = self.here().await?;
                let browser = open(browser.as_ref())?;
                let stand = browser.now().await?;
                let (controls, fingerprint) = (stand.reading.controls, stand.fingerprint);
                Ok(Report::Controls { controls, shot: self.picture(browser).await, fingerprint })
            }
            Task::Press { control, page, .. } => self.press(&control.selector, &page, again).await,
            _ => Err(Trouble::Call("this host cannot do that task".into())),
        }
    }

    /// Returns a list as it is now, if it had nothing to offer when the page was read: what
    /// it offers may depend on another field, and come a moment after that was filled.
    async fn filled_late(&self, field: Box<Field>, from: &Source) -> Result<Box<Field>, Trouble> {
        let offers = field.options.iter().any(|it| !it.value.is_empty() && !it.disabled);
        if field.shape != Shape::Select || (offers && !field.disabled) || *from == Source::Nothing {
            return Ok(field);
        }
        let browser = self.here().await?;
        let browser = open(browser.as_ref())?;
        let begun = Instant::now();
        loop {
            let fields = browser.now().await?.reading.fields;
            let now = fields.into_iter().find(|it| it.selector == field.selector);
            if let Some(now) = now.filter(|now| !now.disabled)
                && let Value::Fits(_) = value::of(&now, from, &self.vault)?
            {
                return Ok(Box::new(now));
            }
            if begun.elapsed() > self.settings.options {
                return Ok(field);
            }
            tokio::time::sleep(self.settings.still).await;
        }
    }

    async fn settle(&self, url: Option<&str>) -> Result<Report, Trouble> {
        let mut browser = self.browser.lock().await;
        if browser.is_none() {
            *browser = match self.left().await {
                // Nothing is lost with one that had not shown a page yet.
                Err(BrowserError::Gone { .. }) if url.is_some() => None,
                left => left?,
            };
        }
        if browser.is_none() {
            if url.is_none() && self.settings.attach.is_none() {
                return Err(gone().into());
            }
            *browser = Some(Browser::open_for(&self.settings, Some(&self.record)).await?);
        }
        let browser = open(browser.as_ref())?;
        if let Some(url) = url {
            browser.goto(url).await?;
        }
        let stand = browser.settle(self.settings.settle).await?;
        let (fingerprint, origin, title) = (stand.fingerprint, stand.origin, stand.title);
        Ok(Report::Settled { fingerprint, origin, title: self.hide(&title), status: None })
    }

    /// Returns the run's browser: the one that is open, or one that a process which died
    /// has left.
    pub(super) async fn here(&self) -> Result<MutexGuard<'_, Option<Browser>>, Trouble> {
        let mut browser = self.browser.lock().await;
        if browser.is_none() {
            *browser = Some(self.left().await?.ok_or_else(gone)?);
        }
        Ok(browser)
    }

    async fn left(&self) -> Result<Option<Browser>, BrowserError> {
        let unreadable = |error: io::Error| BrowserError::Gone {
            why: format!("how to find it cannot be read: {error}"),
        };
        let Some(found) = Record::read(&self.record).map_err(unreadable)? else { return Ok(None) };
        let browser = Browser::take_over(&self.settings, &found, &self.record).await?;
        let mut pressing = self.pressing.lock().unwrap_or_else(PoisonError::into_inner);
        *pressing = found.pressing().cloned();
        Ok(Some(browser))
    }

    /// Returns a trouble as a fault; where the page could show what is wrong, with a
    /// picture of it.
    pub(super) async fn tell(&self, trouble: Trouble) -> Fault {
        let mut fault = Fault::from(&trouble);
        fault.message = self.hide(&fault.message);
        let seen = matches!(fault.class, FaultClass::Timeout | FaultClass::Invalid);
        if let Ok(browser) = self.browser.try_lock()
            && let Some(browser) = browser.as_ref().filter(|_| seen)
            && let Some(shot) = self.picture(browser).await
        {
            fault.message = format!("{} [screenshot {shot}]", fault.message);
        }
        fault
    }

    /// Photographs the page. A picture that cannot be had is no reason to stop.
    pub(super) async fn picture(&self, browser: &Browser) -> Option<String> {
        let taken = if self.config.redact {
            browser.veiled_screenshot().await
        } else {
            browser.screenshot().await
        };
        let kept = match taken {
            Ok(bytes) => keep(&self.pictures, &bytes).map_err(Trouble::Picture),
            Err(error) => Err(error.into()),
        };
        kept.inspect_err(|error| tracing::debug!(%error, "no picture of the page")).ok()
    }

    fn typing(&self, value: &str) {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        if value.chars().count() >= SHORTEST && !typed.iter().any(|it| it == value) {
            typed.push(value.into());
            typed.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Hides what was typed, wherever the page repeats it.
    pub(super) fn hide(&self, words: &str) -> String {
        if !self.config.redact {
            return words.into();
        }
        let typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        typed.iter().fold(words.to_owned(), |words, value| words.replace(value, HIDDEN))
    }
}

fn inserted(digest: Option<String>, value: Option<String>, unfit: Option<String>) -> Report {
    Report::Inserted { digest, value, unfit, note: None }
}

/// Returns the browser, of which it is known that it is there.
pub(super) fn open(browser: Option<&Browser>) -> Result<&Browser, Trouble> {
    browser.ok_or_else(|| gone().into())
}

pub(super) fn gone() -> BrowserError {
    BrowserError::Gone { why: "it was ended since the run was last driven".into() }
}

/// Keeps a picture under the digest of what it shows, and returns its path.
fn keep(folder: &Path, picture: &[u8]) -> io::Result<String> {
    fs::create_dir_all(folder)?;
    let name: String = Digest::of(picture).to_string().chars().take(16).collect();
    let path = folder.join(format!("{name}.png"));
    let mut file = fs::OpenOptions::new();
    file.write(true).create(true).truncate(true).mode(0o600).open(&path)?.write_all(picture)?;
    Ok(path.display().to_string())
}

/// Reads what the run was configured with, from its first entry.
fn config(store: &Store, run: &RunId) -> Result<Config, Trouble> {
    #[derive(Deserialize)]
    struct First {
        begun: Begun,
    }
    let lines = store.lines(run, Seq(0))?;
    let entry = lines.first().and_then(|line| Entry::read(line).ok());
    let first = entry.and_then(|entry| serde_json::from_str::<First>(entry.event.get()).ok());
    let config = first.and_then(|first| serde_json::from_str(first.begun.config.get()).ok());
    config.ok_or(Trouble::Config)
}

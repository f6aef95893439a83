//! The session of a run: its browser, its configuration, and what was typed there.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex as Plain, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};

use pointsman_agents::form::{
    Field, FieldShape, FormConfig, FormReport, FormTask, NOT_PRESSED, Source,
};
use pointsman_kernel::agent::{Fault, FaultClass};
use pointsman_runtime::{
    clock::Stopwatch,
    effect::Permit,
    entry::begun,
    store::{RunId, Store},
};
use tokio::sync::{Mutex, MutexGuard};

use super::{
    error::TaskError,
    press,
    secrets::Secrets,
    value::{self, FieldValue},
    vault::{self, Vault},
};
use crate::browser::{
    AgreedPage, Attach, Browser, BrowserError, BrowserExit, BrowserRecord, BrowserSettings,
    PressTarget, StablePage,
};

const BY_ITSELF: &str = "another page loaded meanwhile: the site may have the filled-in \
                         values, so check the site before you send it again";

/// The browser of a run, and what belongs to it. Dropping it ends the browser.
pub(super) struct BrowserSession {
    settings: BrowserSettings,
    record: PathBuf,
    pictures: PathBuf,
    secrets: Secrets,
    browser: Mutex<Option<Browser>>,
    /// The page on which something was last about to be pressed.
    pub(super) pressing: Plain<Option<PressTarget>>,
    /// The page on which the way on was last chosen.
    pub(super) agreed: Plain<Option<AgreedPage>>,
    /// How many windows there were when the page was opened.
    windows: AtomicUsize,
    /// Whether the form was sent.
    pub(super) sent: AtomicBool,
    /// Which document the page was when it last stood still; empty after a press, when any
    /// may follow.
    pub(super) document: Plain<String>,
}

/// Returns where it is written down how a run's browser is found again.
pub(super) fn record(folder: &Path, run: &RunId) -> PathBuf {
    folder.join(format!("{run}.json"))
}

/// Returns where the pictures of a run are kept.
pub(super) fn pictures(folder: &Path, run: &RunId) -> PathBuf {
    folder.join(run.as_str())
}

impl BrowserSession {
    pub(super) async fn new(
        settings: &BrowserSettings,
        folder: &Path,
        store: &dyn Store,
        run: &RunId,
    ) -> Result<Self, TaskError> {
        let config = config(store, run).await?;
        Ok(Self {
            settings: settings.clone(),
            record: record(folder, run),
            pictures: pictures(folder, run),
            secrets: Secrets::new(&config, Vault::new(folder, run)),
            browser: Mutex::default(),
            pressing: Plain::default(),
            agreed: Plain::default(),
            windows: AtomicUsize::new(1),
            sent: AtomicBool::default(),
            document: Plain::default(),
        })
    }

    pub(super) const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(super) const fn settings(&self) -> &BrowserSettings {
        &self.settings
    }

    pub(super) async fn perform(
        &self,
        task: FormTask,
        permit: &Permit,
    ) -> Result<FormReport, TaskError> {
        match task {
            FormTask::Settle { url } => self.settle(url.as_deref()).await,
            FormTask::Extract => {
                let browser = self.here().await?;
                let mut fields = open(browser.as_ref())?.now().await?.reading.fields;
                for field in &mut fields {
                    self.secrets.hide_in_field(field);
                }
                Ok(FormReport::Fields(fields))
            }
            FormTask::Insert { field, from, origin } => {
                self.insert(field, &from, &origin, permit.again).await
            }
            FormTask::Verify { field, from, origin } => self.verify(field, &from, &origin).await,
            FormTask::Survey => self.survey().await,
            FormTask::Press { control, page, origin } => {
                self.press(&control, &page, &origin, permit).await
            }
            _ => Err(TaskError::Call("this host does not support the task".into())),
        }
    }

    /// Lists the controls. A person approves what is visible now.
    async fn survey(&self) -> Result<FormReport, TaskError> {
        let mut browser = self.here().await?;
        let browser = browser.as_mut().ok_or_else(gone)?;
        let stand = browser.survey().await?;
        let agreed = AgreedPage::of(&stand);
        browser.agree_on(&agreed)?;
        *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = Some(agreed);
        let mut controls = stand.reading.controls;
        for control in &mut controls {
            self.secrets.hide_in_control(control);
        }
        let windows = browser.windows().await?;
        let opened = windows.saturating_sub(self.windows.swap(windows, Relaxed));
        let note = (opened > 0).then(|| press::WINDOW.into());
        let shot = self.picture(browser).await;
        // A page that sends the values automatically may be navigating meanwhile.
        let document = known(&browser.now().await?);
        let fingerprint = stand.fingerprint;
        Ok(FormReport::Controls { controls, shot, fingerprint, document, note })
    }

    async fn insert(
        &self,
        field: Box<Field>,
        from: &Source,
        origin: &str,
        again: bool,
    ) -> Result<FormReport, TaskError> {
        let field = self.filled_late(field, from).await?;
        let unfit =
            |why| FormReport::Inserted { digest: None, value: None, unfit: why, note: None };
        let wanted = match value::of(&self.secrets, &field, from)? {
            FieldValue::Fits(value) => value,
            FieldValue::Unfit(why) => return Ok(unfit(Some(why))),
            FieldValue::None => return Ok(unfit(None)),
        };
        let browser = self.here().await?;
        let browser = open(browser.as_ref())?;
        browser.stay_on(origin);
        self.secrets.typing(&wanted);
        // What was done before a crash need not be done twice.
        if !(again && browser.holds(&field, &wanted).await?) {
            match browser.insert(&field, &wanted).await {
                // A text must not decide where the run goes, so a rejected text is not a fault.
                Err(BrowserError::Unfit { why, .. }) if matches!(from, Source::Written { .. }) => {
                    return Ok(unfit(Some(why)));
                }
                // One that was off from the start is left as any that cannot be filled.
                Err(BrowserError::Off { .. }) if !field.disabled => {
                    return Ok(FormReport::SwitchedOff { note: self.note(browser) });
                }
                inserted => inserted?,
            }
        }
        let digest = Some(self.secrets.vault().digest(&wanted).map_err(TaskError::Vault)?);
        let value = Some(wanted).filter(|_| !self.secrets.redacts());
        Ok(FormReport::Inserted { digest, value, unfit: None, note: self.note(browser) })
    }

    async fn verify(
        &self,
        field: Box<Field>,
        from: &Source,
        origin: &str,
    ) -> Result<FormReport, TaskError> {
        let field = self.filled_late(field, from).await?;
        let wanted = match value::of(&self.secrets, &field, from)? {
            FieldValue::Fits(value) => value,
            // Nothing was to be put in.
            FieldValue::None => {
                return Ok(FormReport::Verified { kept: true, complaint: None, note: None });
            }
            FieldValue::Unfit(why) => {
                let complaint = Some(self.secrets.hide(&why));
                return Ok(FormReport::Verified { kept: false, complaint, note: None });
            }
        };
        let browser = self.here().await?;
        let browser = open(browser.as_ref())?;
        browser.stay_on(origin);
        self.secrets.typing(&wanted);
        let found = browser.verify(&field, &wanted).await?;
        let complaint = found.complaint.map(|words| self.secrets.hide(&words));
        Ok(FormReport::Verified { kept: found.kept, complaint, note: self.note(browser) })
    }

    /// Returns what dialogs have said meanwhile.
    fn note(&self, browser: &Browser) -> Option<String> {
        let mut said: Vec<String> = browser.dialogs().iter().map(press::said).collect();
        said.extend(browser.notices());
        (!said.is_empty()).then(|| self.secrets.hide(&said.join("; ")))
    }

    /// Returns a list as it is now, if it had nothing to offer when the page was read: what
    /// it offers may depend on another field, and come a moment after that was filled.
    async fn filled_late(&self, field: Box<Field>, from: &Source) -> Result<Box<Field>, TaskError> {
        let offers = field.options.iter().any(|it| !it.value.is_empty() && !it.disabled);
        if field.shape != FieldShape::Select
            || (offers && !field.disabled)
            || *from == Source::Nothing
        {
            return Ok(field);
        }
        let browser = self.here().await?;
        let browser = open(browser.as_ref())?;
        let begun = Stopwatch::start();
        loop {
            let fields = browser.now().await?.reading.fields;
            let same = |it: &Field| it.selector == field.selector && it.label == field.label;
            let now = fields.into_iter().find(same);
            if let Some(now) = now.filter(|now| !now.disabled && now.document == field.document)
                && let FieldValue::Fits(_) = value::of(&self.secrets, &now, from)?
            {
                return Ok(Box::new(now));
            }
            if begun.elapsed() > self.settings.options {
                return Ok(field);
            }
            tokio::time::sleep(self.settings.still).await;
        }
    }

    async fn settle(&self, url: Option<&str>) -> Result<FormReport, TaskError> {
        let mut browser = self.browser.lock().await;
        if browser.is_none() {
            *browser = match self.left().await {
                // Nothing is lost with one that had not shown a page yet.
                Err(BrowserError::Gone { .. }) if url.is_some() => None,
                left => left?,
            };
        }
        if browser.is_none() {
            // Only another program's browser still shows the page.
            let foreign = matches!(
                self.settings.attach,
                Some(Attach::Debugger(_) | Attach::Driver { session: Some(_), .. })
            );
            if url.is_none() && !foreign {
                return Err(gone().into());
            }
            *browser = Some(Browser::open_for(&self.settings, Some(&self.record)).await?);
        }
        let browser = open(browser.as_ref())?;
        if let Some(url) = url {
            browser.goto(url).await?;
        }
        let stand = browser.settle(self.settings.settle).await?;
        let document = known(&stand);
        self.document.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&document);
        self.windows.store(browser.windows().await?, Relaxed);
        let (fingerprint, origin, status) = (stand.fingerprint, stand.origin, stand.status);
        let title = self.secrets.hide(&stand.title);
        Ok(FormReport::Settled { fingerprint, origin, title, status, document })
    }

    /// Returns the run's browser: the open one, or one left by a process that died.
    pub(super) async fn here(&self) -> Result<MutexGuard<'_, Option<Browser>>, TaskError> {
        let mut browser = self.browser.lock().await;
        if browser.is_none() {
            *browser = Some(self.left().await?.ok_or_else(gone)?);
        }
        Ok(browser)
    }

    async fn left(&self) -> Result<Option<Browser>, BrowserError> {
        let unreadable = |error: io::Error| BrowserError::Gone {
            why: format!("its selector cannot be read: {error}"),
        };
        let Some(found) = BrowserRecord::read(&self.record).map_err(unreadable)? else {
            return Ok(None);
        };
        let browser = Browser::take_over(&self.settings, &found, &self.record).await?;
        let mut pressing = self.pressing.lock().unwrap_or_else(PoisonError::into_inner);
        *pressing = found.pressing().cloned();
        *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = found.agreed().cloned();
        Ok(Some(browser))
    }

    /// Returns a fault for an error; with a screenshot, if the page could show the problem.
    pub(super) async fn tell(&self, trouble: TaskError) -> Fault {
        let mut fault = Fault::from(&trouble);
        // By how it begins the agent knows that nothing was pressed.
        fault.message = match fault.message.strip_prefix(NOT_PRESSED) {
            Some(what) => format!("{NOT_PRESSED}{}", self.secrets.hide(what)),
            None => self.secrets.hide(&fault.message),
        };
        let seen = matches!(fault.class, FaultClass::Timeout | FaultClass::Invalid);
        if let Ok(browser) = self.browser.try_lock()
            && let Some(browser) = browser.as_ref().filter(|_| seen)
        {
            if self.navigated_on_its_own(browser).await {
                fault.message = format!("{}; {BY_ITSELF}", fault.message);
            }
            if let Some(shot) = self.picture(browser).await {
                fault.message = format!("{} [screenshot {shot}]", fault.message);
            }
        }
        fault
    }

    /// Returns whether the page is another document than the settled one, although nothing was
    /// pressed since.
    async fn navigated_on_its_own(&self, browser: &Browser) -> bool {
        let before = self.document.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let now = browser.now().await.map(|stand| known(&stand));
        !before.is_empty() && now.is_ok_and(|now| now != before)
    }

    /// Takes a screenshot. A missing one does not stop the run.
    pub(super) async fn picture(&self, browser: &Browser) -> Option<String> {
        let taken = if self.secrets.redacts() {
            browser.veiled_screenshot(&self.secrets.typed()).await
        } else {
            browser.screenshot().await
        };
        let kept = match taken {
            Ok(bytes) => vault::picture(&self.pictures, &bytes).map_err(TaskError::Picture),
            Err(error) => Err(error.into()),
        };
        kept.inspect_err(|error| tracing::debug!(%error, "no screenshot of the page")).ok()
    }

    /// Releases the browser when the run has ended: to the person, if there is something left for
    /// them to do, or by closing it. Returns what happened to a browser whose form was not sent.
    pub(super) async fn end(&self, leaves: bool) -> Option<BrowserExit> {
        let browser = self.browser.try_lock().ok().and_then(|mut browser| browser.take())?;
        let unsent = !self.sent.load(Relaxed);
        let left = if leaves && unsent { browser.release().await } else { browser.close().await };
        left.filter(|_| unsent)
    }
}

/// Returns what the document of a page is known by: when it began, to the microsecond.
pub(super) fn known(stand: &StablePage) -> String {
    format!("{:.3}", stand.document)
}

/// Returns the browser, which must be open.
pub(super) fn open(browser: Option<&Browser>) -> Result<&Browser, TaskError> {
    browser.ok_or_else(|| gone().into())
}

pub(super) fn gone() -> BrowserError {
    BrowserError::Gone { why: "it has ended since the run was last active".into() }
}

/// Reads what the run was configured with, from its first entry.
async fn config(store: &dyn Store, run: &RunId) -> Result<FormConfig, TaskError> {
    let begun = begun(store, run).await?;
    let config = begun.and_then(|begun| serde_json::from_str(begun.config.get()).ok());
    config.ok_or(TaskError::Config)
}

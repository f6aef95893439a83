//! The pages of a folder, opened in the browser that the form agent uses.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use pointsman_agents::form::{Field, FieldKind, PageReading, PageSnapshot, fit};
use pointsman_webdriver::browser::{Browser, BrowserError, BrowserSettings, FieldCheck, address};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Asks the page, not the agent, what a field holds.
const HOLDS: &str = "
const field = document.querySelector(arguments[0]);
if (field.type === 'checkbox') return String(field.checked);
if (field.type === 'radio') return new FormData(field.form).get(field.name) ?? '';
return field.value;";

/// What became of a field that was filled.
pub(super) struct FilledField {
    /// What was put in.
    pub(super) wanted: String,
    /// What the agent finds in it.
    pub(super) found: FieldCheck,
    /// What the page says that it holds.
    pub(super) holds: String,
}

/// A folder of pages with its index, and a browser to open them in.
pub(crate) struct Pages<'a> {
    data: &'a Path,
    pub(super) index: Value,
    browser: Option<Browser>,
    threads: Runtime,
    settings: BrowserSettings,
}

impl<'a> Pages<'a> {
    /// Reads the index, and starts a browser that reaches nothing outside.
    pub(crate) fn open(data: &'a Path) -> Result<Self> {
        let file = data.join("index.json");
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let index = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let mut settings = BrowserSettings::default();
        settings.flags.push("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1".into());
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let browser = Some(threads.block_on(Browser::open(&settings))?);
        Ok(Self { data, index, browser, threads, settings })
    }

    /// Returns the pages of a part of the index.
    pub(super) fn part(&self, name: &str) -> Result<&Vec<Value>> {
        self.index[name]["pages"]
            .as_array()
            .with_context(|| format!("the index has no part {name}"))
    }

    /// Opens a static page, and takes a snapshot.
    pub(crate) fn look(&self, file: &str) -> Result<PageSnapshot> {
        let path = self.data.join(file);
        let url = address(&path.to_string_lossy()).with_context(|| path.display().to_string())?;
        let browser = self.browser.as_ref().context("the browser was closed")?;
        let seen = self.threads.block_on(async {
            browser.goto(&url).await?;
            browser.look().await
        });
        seen.with_context(|| file.to_owned())
    }

    /// Opens a page and reads it when it stops changing.
    pub(super) fn read(&self, file: &str) -> Result<PageReading> {
        let path = self.data.join(file);
        let url = address(&path.to_string_lossy()).with_context(|| path.display().to_string())?;
        let browser = self.browser.as_ref().context("the browser was closed")?;
        let stand = self.threads.block_on(async {
            browser.goto(&url).await?;
            browser.settle(self.settings.settle).await
        });
        Ok(stand.with_context(|| file.to_owned())?.reading)
    }

    /// Fills a field of the last read page, as the agent does; returns the obstacle as text.
    pub(super) fn fill(&self, field: &Field, raw: &str) -> Result<FilledField, String> {
        let browser = self.browser.as_ref().ok_or("the browser was closed")?;
        let wanted = fit(field, raw, FieldKind::None).map_err(|unfit| unfit.to_string())?;
        let (found, holds) = self
            .threads
            .block_on(async {
                browser.insert(field, &wanted).await?;
                let found = browser.verify(field, &wanted).await?;
                let selector = vec![Value::from(field.selector.clone())];
                Ok((found, browser.script(HOLDS, selector).await?))
            })
            .map_err(|error: BrowserError| error.to_string())?;
        let holds = holds.as_str().ok_or("the page does not say what it holds")?.to_owned();
        Ok(FilledField { wanted, found, holds })
    }
}

impl Drop for Pages<'_> {
    fn drop(&mut self) {
        if let Some(browser) = self.browser.take() {
            self.threads.block_on(browser.close());
        }
    }
}

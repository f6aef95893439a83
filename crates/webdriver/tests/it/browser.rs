//! A real browser over pages that a tiny server on loopback serves.

mod answers;
mod asides;
mod fill;
mod hidden;
mod life;
mod lists;
mod moves;
mod runs;
mod same;
mod site;
mod sliders;

use std::{path::PathBuf, time::Duration};

use pointsman_agents::form::{Choice, Field, FieldShape};
use pointsman_webdriver::browser::{
    Browser, BrowserError, BrowserSettings, FieldCheck, PressResult, StablePage,
};
use serde_json::Value;

use site::Site;

/// A browser over one page, and what the page is served from.
struct OpenPage {
    browser: Browser,
    site: Site,
}

impl OpenPage {
    /// Serves a page at `/` and opens it.
    async fn page(html: &str) -> Self {
        Self::pages(&[("/", html)]).await
    }

    /// Serves several pages and opens the one at `/`.
    async fn pages(pages: &[(&str, &str)]) -> Self {
        let site = Site::of(pages).await;
        let browser = Browser::open(&settings()).await.expect("browser starts");
        browser.goto(&site.url("/")).await.expect("page loads");
        Self { browser, site }
    }

    async fn stands(&self) -> StablePage {
        self.browser.settle(Duration::from_secs(20)).await.expect("page settles")
    }

    async fn press(&self, selector: &str, accept: bool) -> PressResult {
        let stand = self.stands().await;
        self.browser.press(selector, &stand, accept).await.expect("control is pressed")
    }

    /// Puts a value into a field, and looks at it.
    async fn fill(&self, field: &Field, value: &str) -> Result<FieldCheck, BrowserError> {
        self.browser.insert(field, value).await?;
        self.browser.verify(field, value).await
    }

    /// Fills a field that must take the value, without a complaint.
    async fn fills(&self, field: &Field, value: &str) {
        let found = self.fill(field, value).await.expect("field is filled");
        assert!(found.kept && found.complaint.is_none(), "{field:?} {found:?}");
    }

    async fn js(&self, body: &str) -> Value {
        self.browser.script(body, Vec::new()).await.expect("script runs")
    }
}

/// A field that was not read: only its selector and its shape are known.
fn field(shape: FieldShape, selector: &str) -> Field {
    Field { shape, selector: selector.into(), ..Field::default() }
}

/// Gives a field choices: value, label and selector of each.
fn among(mut field: Field, choices: &[(&str, &str, &str)]) -> Field {
    let choice = |(value, label, selector): &(&str, &str, &str)| Choice {
        value: (*value).into(),
        label: (*label).into(),
        selector: (!selector.is_empty()).then(|| (*selector).into()),
        disabled: false,
    };
    field.options = choices.iter().map(choice).collect();
    field
}

/// A browser that reaches nothing but loopback.
fn settings() -> BrowserSettings {
    let mut settings = BrowserSettings::default();
    settings.flags.push("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1".into());
    settings.stop = Duration::from_secs(10);
    settings
}

/// A new folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}"));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("folder is writable");
    folder
}

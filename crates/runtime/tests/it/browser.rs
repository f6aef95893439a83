//! A real browser over pages that a tiny server on loopback serves.

mod life;
mod site;

use std::{path::PathBuf, time::Duration};

use pointsman_runtime::browser::{Browser, Settings};
use serde_json::Value;

use site::Site;

/// A browser over one page, and what the page is served from.
struct Opened {
    browser: Browser,
    site: Site,
}

impl Opened {
    /// Serves a page at `/` and opens it.
    async fn page(html: &str) -> Self {
        let site = Site::of(&[("/", html)]).await;
        let browser = Browser::open(&settings()).await.expect("a browser");
        browser.goto(&site.url("/")).await.expect("the page");
        Self { browser, site }
    }

    async fn js(&self, body: &str) -> Value {
        self.browser.script(body, Vec::new()).await.expect("a script")
    }
}

/// A browser that reaches nothing but loopback.
fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.flags.push("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1".into());
    settings.stop = Duration::from_secs(10);
    settings
}

/// A new folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}"));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

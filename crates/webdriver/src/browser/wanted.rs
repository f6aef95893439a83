//! The capabilities of a browser, as the protocol expresses them.

use std::{path::Path, time::Duration};

use serde_json::{Map, Value, json};

use super::{Attach, BrowserSettings};
use crate::platform;

/// Flags that every browser gets: nothing but the page speaks to the network, nothing asks
/// to be the default, and no crash is reported to anyone.
const FLAGS: [&str; 12] = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-search-engine-choice-screen",
    "--disable-popup-blocking",
    "--window-size=1280,1400",
];

impl BrowserSettings {
    /// Returns the capabilities that a session is asked for: with a folder for its profile,
    /// and with the program, where they are not the driver's to choose.
    pub fn capabilities(
        &self,
        profile: Option<&Path>,
        browser: Option<&Path>,
    ) -> Map<String, Value> {
        let milliseconds = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        let options = match &self.attach {
            Some(Attach::Debugger(address)) => json!({ "debuggerAddress": address }),
            _ => self.options(profile, browser),
        };
        let timeouts = json!({
            "script": milliseconds(self.command),
            "pageLoad": milliseconds(self.load),
            "implicit": 0,
        });
        // Dialogs are answered one by one, and reported; leaving a page never asks.
        let prompts = json!({ "default": "ignore", "beforeUnload": "accept" });
        [
            ("goog:chromeOptions", options),
            // Parts of a page may load forever; only the document is waited for.
            ("pageLoadStrategy", json!("eager")),
            ("timeouts", timeouts),
            ("unhandledPromptBehavior", prompts),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    /// Returns the browser's own options.
    fn options(&self, profile: Option<&Path>, browser: Option<&Path>) -> Value {
        let mut flags: Vec<String> = FLAGS.map(String::from).into();
        if !self.visible {
            flags.push("--headless".into());
        }
        if platform::lacks_sandbox() {
            // Shared memory is often tiny without a sandbox.
            flags.extend(["--no-sandbox".into(), "--disable-dev-shm-usage".into()]);
        }
        flags.extend(profile.map(|folder| format!("--user-data-dir={}", folder.display())));
        // The last of a kind counts.
        flags.extend(self.flags.iter().cloned());
        let mut options = json!({
            "args": flags,
            // A browser that is left to a person must not end with its driver. Our own clean-up
            // ends both.
            "detach": self.visible,
            // A browser that offers to fill in or to save would do a part of the work unseen.
            "prefs": {
                "autofill.credit_card_enabled": false,
                "autofill.profile_enabled": false,
                "credentials_enable_service": false,
                "download_restrictions": 3,
                "profile.password_manager_enabled": false,
                "translate.enabled": false,
            },
        });
        if let Some(browser) = browser {
            options["binary"] = json!(browser);
        }
        options
    }
}

//! What can be settled about a session at Appium: where, what of, and for how long.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use pointsman_agents::explore::Platform;
use reqwest::Url;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::device::DeviceSettings as Times;

/// Capabilities that the WebDriver standard names; all others carry a vendor's prefix.
const STANDARD: [&str; 10] = [
    "acceptInsecureCerts",
    "browserName",
    "browserVersion",
    "pageLoadStrategy",
    "platformName",
    "proxy",
    "setWindowRect",
    "strictFileInteractability",
    "timeouts",
    "unhandledPromptBehavior",
];
/// The page that an app of the web starts with. It is ours, and never sent.
const START: &str = "pointsman:url";
/// Seconds without a command after which Appium ends a session: its default of 60 is too short for
/// a slow model, or for resuming.
const IDLE_S: u64 = 600;

/// How a device is reached, and how long everything may take.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AppiumSettings {
    /// The server's address, with its base path if it has one.
    pub url: String,
    /// The capabilities of a session.
    pub capabilities: Map<String, Value>,
    /// The page that an app of the web starts with.
    pub start: Option<String>,
    /// Where the session is written down, so that a resumed run finds it.
    pub record: Option<PathBuf>,
    /// How long everything may take, and how gestures are made.
    pub times: Times,
}

impl AppiumSettings {
    /// Returns the usual settings for a server and a session's capabilities.
    pub fn new(url: impl Into<String>, capabilities: Map<String, Value>) -> Self {
        Self { url: url.into(), capabilities, start: None, record: None, times: Times::default() }
    }

    /// Returns the settings for a server and a file of capabilities.
    pub fn read(url: impl Into<String>, file: &Path) -> Result<Self, CapsError> {
        let path = || file.display().to_string();
        let text =
            fs::read_to_string(file).map_err(|source| CapsError::File { path: path(), source })?;
        let value = serde_json::from_str(&text)
            .map_err(|source| CapsError::Json { path: path(), source })?;
        let (capabilities, start) =
            settled(value).map_err(|why| CapsError::Shape { path: path(), why })?;
        Ok(Self { start, ..Self::new(url, capabilities) })
    }

    /// Returns the app that the capabilities name: a package, a bundle, or a site.
    pub fn app(&self) -> Option<String> {
        if let Some(start) = &self.start {
            return Url::parse(start).ok().map(|url| url.origin().ascii_serialization());
        }
        let names = ["appium:appPackage", "appium:bundleId"];
        let mut found = names.iter().filter_map(|name| self.capabilities.get(*name)?.as_str());
        found.next().map(str::to_owned)
    }

    /// Returns what the body of a request for a session holds.
    pub(super) fn wanted(&self) -> Value {
        let mut wanted = self.capabilities.clone();
        wanted.entry("appium:newCommandTimeout").or_insert_with(|| json!(IDLE_S));
        if platform(&wanted) == Platform::Web {
            let ms = u64::try_from(self.times.command.as_millis()).unwrap_or(u64::MAX);
            wanted
                .entry("timeouts")
                .or_insert_with(|| json!({ "pageLoad": ms / 2, "script": ms / 2 }));
        }
        json!({ "capabilities": { "alwaysMatch": wanted, "firstMatch": [{}] } })
    }
}

/// Why a file of capabilities cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CapsError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It is not JSON.
    #[error("{path} is not JSON: {source}")]
    Json {
        /// Which.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
    /// It is JSON of something else.
    #[error("{path}: {why}")]
    Shape {
        /// Which.
        path: String,
        /// The reason.
        why: String,
    },
}

impl CapsError {
    /// Returns what to do next.
    pub const fn hint(&self) -> &'static str {
        "write a JSON file with Appium capabilities, such as {\"platformName\": \"Android\", \
         \"appium:automationName\": \"UiAutomator2\", \"appium:appPackage\": \"org.example\"}"
    }
}

/// Takes capabilities as people write them: alone, or in the body of a request. Names that
/// want Appium's prefix get it.
fn settled(value: Value) -> Result<(Map<String, Value>, Option<String>), String> {
    let Value::Object(mut given) = value else {
        return Err("capabilities must be an object".into());
    };
    for outer in ["capabilities", "alwaysMatch"] {
        if let Some(inner) = given.remove(outer) {
            let Value::Object(inner) = inner else {
                return Err(format!("`{outer}` must be an object"));
            };
            given = inner;
        }
    }
    let start = match given.remove(START) {
        None => None,
        Some(Value::String(start)) => match Url::parse(&start) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Some(start),
            _ => return Err(format!("`{START}` must be an http address, not `{start}`")),
        },
        Some(_) => return Err(format!("`{START}` must be text")),
    };
    let named = |(name, value): (String, Value)| {
        let plain = name.contains(':') || STANDARD.contains(&name.as_str());
        (if plain { name } else { format!("appium:{name}") }, value)
    };
    let capabilities: Map<String, Value> = given.into_iter().map(named).collect();
    for needed in ["platformName", "appium:automationName"] {
        if !capabilities.get(needed).is_some_and(Value::is_string) {
            return Err(format!("`{needed}` is missing"));
        }
    }
    if platform(&capabilities) == Platform::Web && start.is_none() {
        return Err(format!("`{START}` is missing: the page that the app starts with"));
    }
    Ok((capabilities, start))
}

/// Returns whose words the screens of a session will use.
pub(super) fn platform(capabilities: &Map<String, Value>) -> Platform {
    let text = |name: &str| {
        let value = capabilities.get(name).and_then(Value::as_str).unwrap_or_default();
        value.to_ascii_lowercase()
    };
    let driver = text("appium:automationName");
    let browser = !text("browserName").is_empty();
    match driver.as_str() {
        "fake" => Platform::Fake,
        "chromium" | "gecko" | "safari" => Platform::Web,
        _ if browser => Platform::Web,
        "xcuitest" => Platform::Ios,
        _ if text("platformName") == "ios" => Platform::Ios,
        _ => Platform::Android,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_taken_as_people_write_them() {
        let plain = json!({"platformName": "Android", "automationName": "UiAutomator2",
            "appium:appPackage": "org.x", "goog:chromeOptions": {}});
        let (one, _) = settled(plain.clone()).expect("settings are valid");
        assert_eq!(one["appium:automationName"], "UiAutomator2");
        assert_eq!(one["appium:appPackage"], "org.x");
        assert!(one.contains_key("platformName") && one.contains_key("goog:chromeOptions"));
        let body = json!({"capabilities": {"alwaysMatch": plain}});
        assert_eq!(settled(body).expect("settings are valid").0, one);
        let settings = AppiumSettings::new("http://127.0.0.1:4723", one);
        assert_eq!(settings.app().as_deref(), Some("org.x"));
        let wanted = settings.wanted();
        let idle = &wanted["capabilities"]["alwaysMatch"]["appium:newCommandTimeout"];
        assert_eq!(*idle, json!(IDLE_S));
    }

    #[test]
    fn wrong_capabilities_are_named() {
        let why = |value: Value| settled(value).map(drop).expect_err("input is invalid");
        assert!(why(json!([])).contains("object"));
        assert!(why(json!({"capabilities": 1})).contains("`capabilities`"));
        assert!(why(json!({"platformName": "Android"})).contains("automationName"));
        let web = |start: Value| {
            json!({"platformName": "linux", "browserName": "chrome",
                "automationName": "Chromium", START: start})
        };
        assert!(why(web(json!("ftp://x"))).contains("http"));
        assert!(why(web(json!(1))).contains("text"));
        let bare = json!({"platformName": "linux", "automationName": "Chromium"});
        assert!(why(bare).contains("pointsman:url"));
    }

    #[test]
    fn web_app_is_its_site_and_its_start_is_never_sent() {
        let (capabilities, start) = settled(json!({"platformName": "linux",
            "automationName": "Chromium", START: "http://127.0.0.1:8000/shop/?a"}))
        .expect("settings are valid");
        let settings = AppiumSettings { start, ..AppiumSettings::new("http://x", capabilities) };
        assert_eq!(settings.app().as_deref(), Some("http://127.0.0.1:8000"));
        assert!(!settings.wanted().to_string().contains(START));
        assert!(settings.wanted()["capabilities"]["alwaysMatch"]["timeouts"].is_object());
    }
}

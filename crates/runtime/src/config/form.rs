//! `[form]`: how forms are filled, in which browser, and what of it is kept.

use std::path::PathBuf;

use pointsman_agents::form::OnOptional;
use toml::de::DeValue;

use super::{
    Origin, Problem,
    keys::{self, Keys},
    read::own,
};

/// Attempts per field where nothing is said: the first, and one more.
const ATTEMPTS: u16 = 2;

/// Whether a filled form is sent.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Submit {
    /// Without a question.
    Yes,
    /// After a person said so.
    #[default]
    Ask,
    /// Not at all.
    Never,
}

impl Submit {
    /// Reads `never`, `ask` or `yes`.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "yes" => Some(Self::Yes),
            "ask" => Some(Self::Ask),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// `[form]`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FormConfig {
    /// The profile that is used where the command line names none.
    pub profile: Option<PathBuf>,
    /// How often a field is filled before its page's complaint ends the run.
    pub attempts_per_field: Option<u16>,
    /// Whether values and texts are kept out of the journal.
    pub redact: Option<bool>,
    /// What to do with an optional field that cannot be filled.
    pub optional: Option<OnOptional>,
    /// Whether a filled form is sent.
    pub submit: Option<Submit>,
    /// Further sites on which forms may be filled and left.
    pub sites: Vec<String>,
    /// Where the driver is.
    pub driver: Option<PathBuf>,
    /// Where the browser is.
    pub browser: Option<PathBuf>,
    /// The address of a running driver to use, or that of a browser's debugger.
    pub attach: Option<String>,
    /// Whether the browser's window is shown.
    pub visible: Option<bool>,
    /// Milliseconds for which a browser is kept when the program was killed.
    pub keep_ms: Option<u64>,
    /// Milliseconds for driver and browser to start.
    pub start_ms: Option<u64>,
    /// Milliseconds for a page to load.
    pub load_ms: Option<u64>,
    /// Milliseconds for a page to stand still.
    pub settle_ms: Option<u64>,
    /// Milliseconds for which a page without fields must stand still.
    pub bare_ms: Option<u64>,
    /// Milliseconds for a field to be filled, a model's text included.
    pub fill_ms: Option<u64>,
    /// Milliseconds for a look at a field.
    pub verify_ms: Option<u64>,
    /// Milliseconds for the page to move after a control was pressed.
    pub press_ms: Option<u64>,
    /// Milliseconds for the options of a list to appear.
    pub list_ms: Option<u64>,
    /// Milliseconds for the parts of a page, before it is taken without them.
    pub parts_ms: Option<u64>,
    /// Milliseconds for one command of the driver.
    pub command_ms: Option<u64>,
    /// Milliseconds for driver and browser to end.
    pub stop_ms: Option<u64>,
}

impl FormConfig {
    /// Returns how often a field is filled.
    pub fn attempts(&self) -> u16 {
        self.attempts_per_field.unwrap_or(ATTEMPTS)
    }

    /// Puts a repository's settings under these: it may be stricter, and set what is
    /// harmless where its reader has set nothing.
    pub(super) fn under(self, repository: Self) -> Self {
        let submit = match (self.submit, repository.submit) {
            (own, Some(wanted)) => Some(wanted.max(own.unwrap_or_default())),
            (own, None) => own,
        };
        Self {
            attempts_per_field: self.attempts_per_field.or(repository.attempts_per_field),
            redact: repository.redact.filter(|redact| *redact).or(self.redact),
            optional: self.optional.or(repository.optional),
            submit,
            start_ms: self.start_ms.or(repository.start_ms),
            load_ms: self.load_ms.or(repository.load_ms),
            settle_ms: self.settle_ms.or(repository.settle_ms),
            bare_ms: self.bare_ms.or(repository.bare_ms),
            fill_ms: self.fill_ms.or(repository.fill_ms),
            verify_ms: self.verify_ms.or(repository.verify_ms),
            press_ms: self.press_ms.or(repository.press_ms),
            list_ms: self.list_ms.or(repository.list_ms),
            parts_ms: self.parts_ms.or(repository.parts_ms),
            command_ms: self.command_ms.or(repository.command_ms),
            stop_ms: self.stop_ms.or(repository.stop_ms),
            ..self
        }
    }
}

pub(super) fn form(
    keys: &mut Keys<'_, '_>,
    origin: Origin,
    found: &mut Vec<Problem>,
) -> FormConfig {
    for key in ["profile", "sites", "driver", "browser", "attach", "visible", "keep"] {
        own(keys, key, origin, found);
    }
    let redact = keys.read("redact", keys::flag, found);
    if redact == Some(false) {
        own(keys, "redact", origin, found);
    }
    let submit = keys.read("submit", submit, found);
    if submit == Some(Submit::Yes) {
        own(keys, "submit", origin, found);
    }
    FormConfig {
        profile: keys.read("profile", keys::path, found),
        attempts_per_field: keys.read("attempts_per_field", attempts, found),
        redact,
        optional: keys.read("optional", optional, found),
        submit,
        sites: keys.read("sites", sites, found).unwrap_or_default(),
        driver: keys.read("driver", keys::path, found),
        browser: keys.read("browser", keys::path, found),
        attach: keys.read("attach", attach, found),
        visible: keys.read("visible", keys::flag, found),
        keep_ms: keys.read("keep", keys::duration, found),
        start_ms: keys.read("start_timeout", keys::duration, found),
        load_ms: keys.read("load_timeout", keys::duration, found),
        settle_ms: keys.read("settle_timeout", keys::duration, found),
        bare_ms: keys.read("bare_timeout", keys::duration, found),
        fill_ms: keys.read("fill_timeout", keys::duration, found),
        verify_ms: keys.read("verify_timeout", keys::duration, found),
        press_ms: keys.read("press_timeout", keys::duration, found),
        list_ms: keys.read("list_timeout", keys::duration, found),
        parts_ms: keys.read("parts_timeout", keys::duration, found),
        command_ms: keys.read("command_timeout", keys::duration, found),
        stop_ms: keys.read("stop_timeout", keys::duration, found),
    }
}

fn attempts(value: &DeValue<'_>) -> Result<u16, String> {
    let number = keys::count(value).ok().and_then(|number| u16::try_from(number).ok());
    let few = number.filter(|number| *number <= 20);
    few.ok_or_else(|| "write a number from 1 to 20; the first attempt counts".into())
}

fn submit(value: &DeValue<'_>) -> Result<Submit, String> {
    let read = value.as_str().and_then(Submit::read);
    read.ok_or_else(|| "write `\"never\"`, `\"ask\"` or `\"yes\"`".into())
}

fn optional(value: &DeValue<'_>) -> Result<OnOptional, String> {
    match value.as_str() {
        Some("skip") => Ok(OnOptional::Skip),
        Some("error") => Ok(OnOptional::Error),
        _ => Err("write `\"skip\"` or `\"error\"`".into()),
    }
}

fn sites(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let hint = "write a list of sites: `[\"https://example.org\"]`";
    let sites = keys::texts(value).map_err(|_| hint.to_owned())?;
    let fine = sites.iter().all(|site| {
        let rest = site.strip_prefix("https://").or_else(|| site.strip_prefix("http://"));
        rest.is_some_and(|host| !host.is_empty() && !host.contains(['/', ' ', '*']))
    });
    if fine { Ok(sites) } else { Err(hint.into()) }
}

/// Reads the address of a driver, or that of a browser's debugger.
fn attach(value: &DeValue<'_>) -> Result<String, String> {
    let hint = "write a driver's address, `\"http://127.0.0.1:9515\"`, or that of a browser's \
        debugger, `\"127.0.0.1:9222\"`";
    let text = keys::text(value).map_err(|_| hint.to_owned())?;
    let port = text.rsplit_once(':').map(|(_, port)| port.parse::<u16>());
    let fits = text.starts_with("http://") || matches!(port, Some(Ok(_)));
    if fits { Ok(text) } else { Err(hint.into()) }
}

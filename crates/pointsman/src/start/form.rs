//! A form to fill: its options, and the configuration of its run.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use pointsman_agents::form::{self, Profile, ProfileKeys, SUBMIT_TOOL};
use pointsman_kernel::governor::{Grant, Level};
use pointsman_runtime::config::{self, Config, FormConfig};
use pointsman_webdriver::{browser, profile, settings};
use serde_json::{Map, Value, json};

use super::take_text;
use crate::{notify::note, report::Error};

/// Options of `form`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FormArgs {
    /// The page with the form: an address, or a local file.
    #[arg(long, value_name = "URL", help_heading = "Forms")]
    url: Option<String>,
    /// The profile to fill the form from (`pointsman profile example` prints one).
    #[arg(long, value_name = "FILE", help_heading = "Forms")]
    profile: Option<PathBuf>,
    /// Show the browser's window.
    #[arg(long, help_heading = "Forms")]
    visible: bool,
    /// Whether to send the filled form [default: ask].
    #[arg(long, value_name = "WHEN", help_heading = "Forms")]
    submit: Option<Submit>,
    /// Replace values that fields already have.
    #[arg(long, help_heading = "Forms")]
    overwrite: bool,
}

/// Whether the form is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Submit {
    /// Never.
    Never,
    /// After you confirm; never without a terminal.
    Ask,
    /// Yes, but ask before paying or signing.
    Yes,
}

/// A form to fill.
#[derive(Debug)]
pub(crate) struct FormPlan {
    /// The agent's configuration: names of the profile's keys, and no values.
    pub(crate) config: Value,
    /// The chart's text.
    pub(crate) chart: String,
    /// The rules over sending that were typed: they outrank the settings.
    pub(crate) typed: Vec<Grant>,
    /// The default rules for sending: stricter rules override them.
    pub(crate) usual: Vec<Grant>,
    /// The same for people, as lines of a name and a text.
    pub(crate) told: Vec<(&'static str, String)>,
}

impl FormArgs {
    /// Takes the page and the profile from a configuration.
    pub(crate) fn take(config: &mut Map<String, Value>) -> Self {
        let mut text = |key: &str| take_text(config, key);
        let (url, profile) = (text("url"), text("profile").map(PathBuf::from));
        Self { url, profile, ..Self::default() }
    }

    /// Returns the option that was given, if there is one: no other agent takes it.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--url", self.url.is_some()),
            ("--profile", self.profile.is_some()),
            ("--visible", self.visible),
            ("--submit", self.submit.is_some()),
            ("--overwrite", self.overwrite),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// Lets the command line override the settings.
    pub(crate) fn over(&self, config: &mut Config) {
        if self.visible {
            config.form.visible = Some(true);
        }
    }

    /// Plans a run: reads the profile, and looks for a browser to start.
    pub(crate) fn plan(
        &self,
        config: &FormConfig,
        goal: Option<&str>,
        writes: bool,
        looks: bool,
    ) -> Result<FormPlan, Error> {
        let page = self.url.as_deref().ok_or(Error::NoUrl)?;
        let url = browser::address(page).map_err(Error::Page)?;
        let (file, profile) = self.profile(config)?;
        let holds = profile.holds(&file.display().to_string());
        if looks {
            browser::is_there(&settings::browser(config)).map_err(Error::Browser)?;
        }
        let (submit, redact) = (self.submit(config), config.redact.unwrap_or(true));
        let told = vec![
            ("form", url.clone()),
            ("profile", said(&file, &profile, &holds)),
            ("submit", submit_word(submit).into()),
            ("values", if redact { "kept out of the journal" } else { "in the journal" }.into()),
        ];
        let mut settled = json!({
            "goal": goal.unwrap_or("filling in this form"),
            "url": url,
            "profile": holds,
            "writes": writes,
            "sends": submit != config::Submit::Never,
            "redact": redact,
            "optional": config.optional.unwrap_or_default(),
        });
        if let Some(fields) = settled.as_object_mut() {
            if self.overwrite {
                fields.insert("overwrite".into(), true.into());
            }
            if let Some(sites) = config.sites.as_ref().filter(|sites| !sites.is_empty()) {
                fields.insert("sites".into(), json!(sites));
            }
        }
        let chart = form::chart_with(config.attempts(), &settings::timeouts(config));
        let (typed, usual) = match self.submit {
            Some(_) => (grants(submit), Vec::new()),
            None => (Vec::new(), grants(submit)),
        };
        Ok(FormPlan { config: settled, chart, typed, usual, told })
    }

    fn profile(&self, config: &FormConfig) -> Result<(PathBuf, Profile), Error> {
        let named = self.profile.as_ref().or(config.profile.as_ref()).ok_or(Error::NoProfile)?;
        let profile = profile::read(named).map_err(Error::Profile)?;
        let file = fs::canonicalize(named).unwrap_or_else(|_| named.clone());
        if profile::is_open(&file) && !profile.allow.is_empty() {
            let file = file.display();
            note(&format!("{file} allows secrets, and other users can read it: chmod 600 {file}"));
        }
        Ok((file, profile))
    }

    fn submit(&self, config: &FormConfig) -> config::Submit {
        match self.submit {
            Some(Submit::Never) => config::Submit::Never,
            Some(Submit::Ask) => config::Submit::Ask,
            Some(Submit::Yes) => config::Submit::Yes,
            None => config.submit.unwrap_or_default(),
        }
    }
}

/// Returns the rules for sending. Allowing to send does not allow to pay or sign.
fn grants(submit: config::Submit) -> Vec<Grant> {
    match submit {
        config::Submit::Never => vec![config::rule(SUBMIT_TOOL, Level::Refuse)],
        config::Submit::Ask => vec![config::rule(SUBMIT_TOOL, Level::Ask)],
        config::Submit::Yes => {
            let arguments = vec![("class".into(), "send".into())];
            let send = Grant { arguments, ..config::rule(SUBMIT_TOOL, Level::Allow) };
            vec![send, config::rule(SUBMIT_TOOL, Level::Ask)]
        }
    }
}

const fn submit_word(submit: config::Submit) -> &'static str {
    match submit {
        config::Submit::Never => "never",
        config::Submit::Ask => "after you confirm",
        config::Submit::Yes => "yes, but asks before paying or signing",
    }
}

fn said(file: &Path, profile: &Profile, holds: &ProfileKeys) -> String {
    let counted =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "{}: {}, {}, {}",
        file.display(),
        counted(holds.kinds.len(), "value"),
        counted(profile.answers.len(), "answer"),
        counted(profile.facts.len(), "fact"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowing_to_send_still_asks_before_paying() {
        let levels = |submit| grants(submit).into_iter().map(|it| it.level).collect::<Vec<_>>();
        assert_eq!(levels(config::Submit::Never), [Level::Refuse]);
        assert_eq!(levels(config::Submit::Ask), [Level::Ask]);
        assert_eq!(levels(config::Submit::Yes), [Level::Allow, Level::Ask]);
        assert_eq!(grants(config::Submit::Yes)[0].arguments, [("class".into(), "send".into())]);
    }
}

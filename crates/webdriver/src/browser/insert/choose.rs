//! Lists, native and made of other elements: an option is chosen by what it says.

use pointsman_agents::form::{Field, kept};
use pointsman_runtime::clock::Stopwatch;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{
        dom::{FieldContent, Handle},
        keys,
        process_group::LOOK,
    },
    Browser, BrowserError, off, unfit, unusable,
};

const NOT_OFFERED: &str = "it does not have this option";

/// The result of choosing from a native list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChoiceResult {
    tag: String,
    disabled: bool,
    /// How many of what was wanted it does not offer.
    absent: usize,
}

#[derive(Debug, Deserialize)]
struct OptionList {
    options: Vec<ShownOption>,
}

/// An option that is shown.
#[derive(Debug, Deserialize)]
struct ShownOption {
    element: Handle,
    label: String,
    value: String,
    selected: bool,
    disabled: bool,
}

impl Browser {
    pub(super) async fn choose(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let values: Vec<&str> =
            if field.limits.multiple { value.split('\n').collect() } else { vec![value] };
        let label = |value: &str| field.choices(value).first().map(|it| it.label.clone());
        let wanted: Vec<Value> =
            values.iter().map(|it| json!({ "value": it, "label": label(it) })).collect();
        self.reach(field, &field.selector, json!({})).await?;
        let begun = Stopwatch::start();
        loop {
            let chosen: ChoiceResult = self.hand("choose", &field.selector, json!(wanted)).await?;
            if chosen.disabled {
                return Err(off(&field.selector));
            }
            if chosen.tag != "select" {
                return Err(unusable(&field.selector, "it is no longer a list"));
            }
            if chosen.absent == 0 {
                return Ok(());
            }
            // A list that depends on another is filled a moment later.
            if begun.elapsed() > self.settings.options {
                return Err(unfit(&field.selector, NOT_OFFERED));
            }
            tokio::time::sleep(LOOK * 5).await;
        }
    }

    /// Chooses from an open list: exactly the wanted options, if several are possible.
    pub(super) async fn choose_shown(
        &self,
        field: &Field,
        value: &str,
    ) -> Result<(), BrowserError> {
        let selector = &field.selector;
        self.reach(field, selector, json!({ "focus": true })).await?;
        let wanted = names(field, value);
        let offered: OptionList = self.hand("offered", selector, Value::Null).await?;
        let fits = |offer: &ShownOption| wanted.iter().any(|names| offer.fits(names));
        let found = offered.options.iter().filter(|offer| fits(offer)).count();
        if found < wanted.len() {
            return Err(unfit(selector, NOT_OFFERED));
        }
        for offer in &offered.options {
            let wants = fits(offer);
            let turns = if field.limits.multiple {
                wants != offer.selected
            } else {
                wants && !offer.selected
            };
            if turns && !self.press_option(selector, offer).await? {
                self.click_unseen(&offer.element).await?;
            }
        }
        Ok(())
    }

    /// Opens a list, types to narrow it where it can be typed into, and chooses.
    pub(super) async fn open_and_choose(
        &self,
        field: &Field,
        value: &str,
    ) -> Result<(), BrowserError> {
        let selector = &field.selector;
        let wants = json!({ "focus": true, "target": true });
        let reached = self.reach(field, selector, wants).await?;
        if kept(field, value, &reached.value) {
            return Ok(());
        }
        let wanted = names(field, value);
        let label = wanted.first().and_then(|names| names.last()).copied().unwrap_or(value);
        let handle = reached.target.as_ref().unwrap_or(&reached.element);
        if !self.click(handle).await? {
            self.click_unseen(&reached.element).await?;
        }
        let typed = matches!(reached.tag.as_str(), "input" | "textarea") || reached.is("editable");
        if typed {
            self.write(field, selector, reached, &keys::plain(label, false)).await?;
        }
        let begun = Stopwatch::start();
        let mut shown = false;
        while begun.elapsed() < self.settings.options {
            let offered: OptionList = self.hand("offered", selector, Value::Null).await?;
            let of_these = |names: &Vec<&str>| offered.options.iter().find(|it| it.fits(names));
            if let Some(offer) = wanted.first().and_then(of_these)
                && self.press_option(selector, offer).await?
            {
                return Ok(());
            }
            shown |= !offered.options.is_empty();
            // What takes free text may have nothing to offer.
            if typed && !shown && begun.elapsed() > self.settings.options / 3 {
                break;
            }
            tokio::time::sleep(LOOK * 3).await;
        }
        if shown || !typed {
            self.press_keys(keys::ESCAPE).await?;
        }
        // What takes free text keeps it when it is left.
        let left: FieldContent = self.hand("leave", selector, Value::Null).await?;
        if typed && kept(field, value, &left.value) {
            return Ok(());
        }
        Err(unfit(selector, NOT_OFFERED))
    }

    /// Clicks an option. Returns whether it was hit: a list that is still being filtered moves,
    /// and renders its options again.
    async fn press_option(
        &self,
        selector: &str,
        offer: &ShownOption,
    ) -> Result<bool, BrowserError> {
        if offer.disabled {
            return Err(unfit(selector, "the page does not allow this option"));
        }
        match self.click(&offer.element).await {
            Err(BrowserError::Replaced) => Ok(false),
            met => met,
        }
    }
}

impl ShownOption {
    fn fits(&self, names: &[&str]) -> bool {
        let same =
            |left: &str, right: &str| left.trim().to_lowercase() == right.trim().to_lowercase();
        names
            .iter()
            .any(|name| same(name, &self.label) || (!self.value.is_empty() && *name == self.value))
    }
}

/// Returns for each thing that is wanted the names that it may have, its label last.
fn names<'a>(field: &'a Field, value: &'a str) -> Vec<Vec<&'a str>> {
    let known: Vec<Vec<&str>> = field
        .choices(value)
        .into_iter()
        .map(|choice| vec![choice.value.as_str(), choice.label.as_str()])
        .collect();
    if !known.is_empty() {
        return known;
    }
    let lines: Vec<&str> =
        if field.limits.multiple { value.split('\n').collect() } else { vec![value] };
    lines.into_iter().map(|line| vec![line]).collect()
}

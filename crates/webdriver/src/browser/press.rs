//! A control is pressed, and what the page does then.

mod agreed;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pointsman_agents::form::{Complaint, Field, Fill};
use pointsman_runtime::clock::Stopwatch;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Browser, BrowserDialog, BrowserError, StablePage, dom::FieldState, insert::unusable,
    process_group::LOOK, settle::DocumentState,
};

pub use agreed::AgreedPage;

/// How many characters of a page's text to report.
const WORDS: usize = 600;

/// A page on which a control is about to be pressed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PressTarget {
    /// The order that it is pressed for.
    #[serde(default)]
    pub errand: String,
    /// What the page is known by.
    pub fingerprint: String,
    /// Its address.
    pub url: String,
    /// Which document it is.
    pub document: f64,
    /// What older versions knew a page by.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

impl PressTarget {
    /// Returns whether a page is another document.
    pub fn is_gone(&self, now: &StablePage) -> bool {
        (self.document - now.document).abs() > 0.0
    }

    /// Returns whether a page is another one, or the same with other fields.
    pub fn has_moved(&self, now: &StablePage) -> bool {
        self.url != now.url || self.fingerprint != now.fingerprint || self.is_gone(now)
    }
}

/// The result of pressing a control.
#[derive(Clone, Debug)]
pub struct PressResult {
    /// The page then.
    pub stand: StablePage,
    /// Whether it is the page that it was.
    pub went: Navigation,
    /// What it says to it.
    pub answer: PageResponse,
    /// The rest of the form.
    pub rest: FormRemainder,
    /// What dialogs said meanwhile.
    pub dialogs: Vec<BrowserDialog>,
    /// The page's objections to filled-in values: what it did not say before, or, where it
    /// stays as it is, all that it says.
    pub complaints: Vec<Complaint>,
    /// How many windows were opened. They are left alone.
    pub windows: usize,
}

impl PressResult {
    /// Returns whether it is another page, or the same with other fields.
    pub fn has_moved(&self) -> bool {
        self.went != Navigation::Nowhere
    }
}

/// Where a page went when a control was pressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Navigation {
    /// It is the page that it was.
    Nowhere,
    /// It has other fields or another address, and is the same document.
    On,
    /// It was reloaded, or is another.
    Anew,
}

/// What a page says when a control was pressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PageResponse {
    /// What it said before.
    Nothing,
    /// Something else.
    Words,
    /// Something that looks like an error.
    Error,
}

/// The rest of a form after its control was pressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FormRemainder {
    /// Its fields, with what they held.
    Filled,
    /// Its fields, and they hold something else.
    Emptied,
    /// Nothing.
    Gone,
}

/// A page after something was pressed on it.
#[derive(Debug, Deserialize)]
struct PageAfterPress {
    /// Whether it is still at work.
    busy: bool,
    /// Its alerts that look like errors.
    wrong: Vec<String>,
    /// The other site that its form was on its way to, where it was.
    stopped: String,
}

/// A page's own trace of the last press.
#[derive(Debug, Deserialize)]
struct PressTrace {
    /// Whether the click has reached the control.
    clicked: bool,
    /// Why it was kept from it, where it was.
    changed: String,
}

/// What a person has agreed to, for as long as this is held.
struct Consent<'a>(&'a AtomicBool);

impl<'a> Consent<'a> {
    fn of(consent: &'a AtomicBool, given: bool) -> Self {
        consent.store(given, Relaxed);
        Self(consent)
    }
}

impl Drop for Consent<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

impl Browser {
    /// Writes down that a control is about to be pressed for an order, and returns what was
    /// written.
    pub fn about_to_press(
        &mut self,
        errand: &str,
        stand: &StablePage,
    ) -> Result<PressTarget, BrowserError> {
        let StablePage { fingerprint, url, document, .. } = stand;
        let pressing = PressTarget {
            errand: errand.into(),
            fingerprint: fingerprint.clone(),
            url: url.clone(),
            document: *document,
            words: String::new(),
        };
        if let Some(group) = &mut self.ours {
            group.pressing(&pressing)?;
        }
        Ok(pressing)
    }

    /// Writes down what a page shows on which the way on is chosen.
    pub fn agree_on(&mut self, agreed: &AgreedPage) -> Result<(), BrowserError> {
        match &mut self.ours {
            Some(group) => group.agreed(agreed),
            None => Ok(()),
        }
    }

    /// Returns whether a press is recorded beforehand, for the process that takes over the
    /// browser.
    pub const fn writes_down(&self) -> bool {
        self.ours.is_some()
    }

    /// Returns whether a click has reached its control on the document that is shown.
    pub async fn was_clicked(&self) -> Result<bool, BrowserError> {
        self.hand_on_page::<PressTrace>("press", "").await.map(|press| press.clicked)
    }

    /// Clicks a control as a person would, and waits until the page has changed and settled again.
    /// A page that does not change is not an error: it may reject a value. Dialogs are dismissed,
    /// unless the person approved sending.
    pub async fn press(
        &self,
        selector: &str,
        stood: &StablePage,
        accept: bool,
    ) -> Result<PressResult, BrowserError> {
        drop(self.dialogs());
        let windows = self.windows().await?;
        let words = self.words().await?;
        // What was read of the control is compared again when the click arrives.
        let control = stood.reading.controls.iter().find(|it| it.selector == selector);
        let target = control.and_then(|it| it.origin.as_deref());
        let sites = [target.unwrap_or(&stood.origin)];
        let more = json!({
            "label": control.map(|it| it.label.as_str()), "origin": target, "sites": sites,
        });
        let reached: FieldState = self.hand("arm", selector, more).await?;
        if !reached.changed.is_empty() {
            return Err(BrowserError::NotAgreed { what: reached.changed });
        }
        if reached.is("disabled") {
            return Err(unusable(selector, "the page has disabled it"));
        }
        if !reached.is("shown") {
            return Err(unusable(selector, "it is not visible"));
        }
        let _consent = Consent::of(&self.consent, accept);
        if !self.click(&reached.element).await? {
            return Err(unusable(selector, "something on the page covers it"));
        }
        let unsure = |error| BrowserError::Unsure(Box::new(error));
        self.leave_frames().await.map_err(unsure)?;
        let press: PressTrace = self.hand_on_page("press", "").await.map_err(unsure)?;
        if !press.changed.is_empty() {
            self.hand_on_page::<PageAfterPress>("over", selector).await?;
            return Err(BrowserError::NotAgreed { what: press.changed });
        }
        self.pressed(selector, stood, &words, windows).await.map_err(unsure)
    }

    /// Waits for what comes of a click.
    async fn pressed(
        &self,
        selector: &str,
        stood: &StablePage,
        words: &str,
        windows: usize,
    ) -> Result<PressResult, BrowserError> {
        self.forget();
        let begun = Stopwatch::start();
        let stand = loop {
            // Most pages move at once; one that does not is looked at until its time is over.
            if self.has_left(stood).await? || begun.elapsed() > self.settings.moving {
                break self.settle(self.settings.settle).await?;
            }
            let now = self.settle(self.settings.settle).await?;
            if has_moved(stood, &now) {
                break now;
            }
            // It may answer in words alone, and in more than one step.
            let said = self.words().await?;
            let after: PageAfterPress = self.hand_on_page("after", selector).await?;
            if !after.stopped.is_empty() {
                break now;
            }
            if !after.busy && (said != words || !new(stood, &now).is_empty()) {
                tokio::time::sleep(self.settings.still).await;
                if self.words().await? == said {
                    break self.settle(self.settings.settle).await?;
                }
            }
            tokio::time::sleep(LOOK * 10).await;
        };
        let after: PageAfterPress = self.hand_on_page("over", selector).await?;
        if !after.stopped.is_empty() {
            let to = after.stopped;
            let why = format!("sending was stopped, because the form targets another site, {to}");
            return Err(BrowserError::Refused { why });
        }
        let went = match (is_other(stood, &stand), has_moved(stood, &stand)) {
            (true, _) => Navigation::Anew,
            (false, true) => Navigation::On,
            (false, false) => Navigation::Nowhere,
        };
        let mut complaints = new(stood, &stand);
        let wrong = |it: &Complaint| after.wrong.iter().any(|words| words.contains(&it.text));
        let answer = if complaints.iter().any(wrong) {
            PageResponse::Error
        } else if self.words().await? != words || !complaints.is_empty() {
            PageResponse::Words
        } else {
            PageResponse::Nothing
        };
        if went == Navigation::Nowhere && answer == PageResponse::Nothing {
            complaints.clone_from(&stand.reading.complaints);
        }
        Ok(PressResult {
            went,
            answer,
            rest: rest(&stood.reading.fields, &stand.reading.fields),
            dialogs: self.dialogs(),
            complaints,
            windows: self.windows().await?.saturating_sub(windows),
            stand,
        })
    }

    /// Returns whether the document is another, or has another address.
    async fn has_left(&self, stood: &StablePage) -> Result<bool, BrowserError> {
        // The frame that was clicked in may be gone.
        self.leave_frames().await?;
        let state: DocumentState = self.hand_on_page("state", "").await?;
        Ok(state.url != stood.url || (state.document - stood.document).abs() > 0.0)
    }

    /// Returns how many windows there are.
    pub async fn windows(&self) -> Result<usize, BrowserError> {
        Ok(self.raw("counting windows", || self.client.windows()).await?.len())
    }

    /// Returns what the page says, in its own words and no more than a few.
    pub async fn words(&self) -> Result<String, BrowserError> {
        let script = "const at = document.querySelector('main, [role=main]') || document.body;
                      return at ? at.innerText.slice(0, 4000) : '';";
        let said = self.script(script, Vec::new()).await?;
        let said = said.as_str().unwrap_or_default().split_whitespace();
        let words = said.collect::<Vec<_>>().join(" ");
        Ok(words.chars().take(WORDS).collect())
    }
}

fn is_other(before: &StablePage, now: &StablePage) -> bool {
    (before.document - now.document).abs() > 0.0
}

fn has_moved(before: &StablePage, now: &StablePage) -> bool {
    before.url != now.url || before.fingerprint != now.fingerprint || is_other(before, now)
}

/// Returns what a page says now and did not say before.
fn new(before: &StablePage, now: &StablePage) -> Vec<Complaint> {
    let known = |words: &str| before.reading.complaints.iter().any(|it| it.text == words);
    now.reading.complaints.iter().filter(|it| !known(&it.text)).cloned().collect()
}

/// Returns the state of the fields that had a value: what happened to most of them.
fn rest(before: &[Field], now: &[Field]) -> FormRemainder {
    let holds = |field: &&Field| {
        field.fill != Fill::Hidden && field.value.as_ref().is_some_and(|value| !value.is_empty())
    };
    let there = |field: &Field| {
        now.iter().find(|it| it.selector == field.selector && it.fill != Fill::Hidden)
    };
    let filled: Vec<&Field> = before.iter().filter(holds).collect();
    let found: Vec<(&Field, &Field)> =
        filled.iter().filter_map(|field| Some((*field, there(field)?))).collect();
    let same = found.iter().filter(|(before, now)| before.value == now.value).count();
    let most = |count: usize| count > 0 && count * 2 >= filled.len();
    match (most(found.len()), most(same)) {
        (false, _) => FormRemainder::Gone,
        (true, true) => FormRemainder::Filled,
        (true, false) => FormRemainder::Emptied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainder_of_a_form_is_decided_by_most_fields() {
        let field = |selector: &str, value: &str| Field {
            selector: selector.into(),
            value: Some(value.into()),
            ..Field::default()
        };
        let before = [field("#a", "1"), field("#b", "2"), field("#c", "")];
        assert_eq!(rest(&before, &before), FormRemainder::Filled);
        assert_eq!(rest(&before, &[field("#a", "1"), field("#b", "")]), FormRemainder::Filled);
        assert_eq!(rest(&before, &[field("#a", ""), field("#b", "")]), FormRemainder::Emptied);
        assert_eq!(rest(&before, &[field("#c", ""), field("#d", "1")]), FormRemainder::Gone);
        assert_eq!(rest(&[field("#c", "")], &before), FormRemainder::Gone);
        let hidden = Field { fill: Fill::Hidden, ..field("#a", "1") };
        assert_eq!(rest(&before[..1], &[hidden]), FormRemainder::Gone);
    }
}

//! A control is pressed, and what the page does then.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Browser, BrowserError, Dialog, Stand, group::LOOK, hand::Reached, insert::unusable,
    settle::State,
};

/// Characters of a page's words that are told.
const WORDS: usize = 600;

/// A page on which a control is about to be pressed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Pressing {
    /// What the page is known by.
    pub fingerprint: String,
    /// Its address.
    pub url: String,
    /// Which document it is.
    pub document: f64,
}

impl From<&Stand> for Pressing {
    fn from(stand: &Stand) -> Self {
        let Stand { fingerprint, url, document, .. } = stand;
        Self { fingerprint: fingerprint.clone(), url: url.clone(), document: *document }
    }
}

impl Pressing {
    /// Returns whether a page is another one, or the same with other fields.
    pub fn has_moved(&self, now: &Stand) -> bool {
        self.url != now.url
            || self.fingerprint != now.fingerprint
            || (self.document - now.document).abs() > 0.0
    }
}

/// What came of pressing a control.
#[derive(Clone, Debug)]
pub struct Pressed {
    /// The page then.
    pub stand: Stand,
    /// Whether it is another page, or the same with other fields.
    pub moved: bool,
    /// What dialogs said meanwhile.
    pub dialogs: Vec<Dialog>,
    /// What the page has against what was filled: what it did not say before, or, where it
    /// stays as it is, all that it says.
    pub complaints: Vec<String>,
    /// How many windows were opened. They are left alone.
    pub windows: usize,
}

impl Browser {
    /// Writes down that a control is about to be pressed.
    pub fn about_to_press(&mut self, pressing: &Pressing) -> Result<(), BrowserError> {
        self.ours.as_mut().map_or(Ok(()), |group| group.pressing(pressing))
    }

    /// Clicks a control as a person would, and waits until the page has moved and stands
    /// still again. A page that does not move is no error: it may have something against
    /// what was filled. Dialogs are dismissed, unless their question was answered before.
    pub async fn press(
        &self,
        selector: &str,
        stood: &Stand,
        accept: bool,
    ) -> Result<Pressed, BrowserError> {
        let before = &Pressing::from(stood);
        drop(self.dialogs());
        let windows = self.windows().await?;
        let words = self.words().await?;
        let reached: Reached = self.hand("reach", selector, json!({ "target": true })).await?;
        if reached.is("disabled") {
            return Err(unusable(selector, "the page has switched it off"));
        }
        if !reached.is("shown") {
            return Err(unusable(selector, "nobody can see it"));
        }
        if !self.click(&reached.element, accept).await? {
            return Err(unusable(selector, "something on the page lies over it"));
        }
        self.forget();
        let begun = Instant::now();
        let stand = loop {
            // Most pages move at once; one that does not is looked at until its time is over.
            if self.has_left(before, accept).await? || begun.elapsed() > self.settings.moving {
                break self.settle(self.settings.settle).await?;
            }
            let now = self.settle(self.settings.settle).await?;
            if before.has_moved(&now) || !new(stood, &now).is_empty() {
                break now;
            }
            // It may answer in words alone, and in more than one step.
            let said = self.words().await?;
            if said != words {
                tokio::time::sleep(self.settings.still).await;
                if self.words().await? == said {
                    break self.settle(self.settings.settle).await?;
                }
            }
            tokio::time::sleep(LOOK * 10).await;
        };
        let opened = self.windows().await?.saturating_sub(windows);
        let moved = before.has_moved(&stand);
        let mut complaints = new(stood, &stand);
        if complaints.is_empty() && !moved && self.words().await? == words {
            complaints = stand.reading.complaints.iter().map(|it| it.text.clone()).collect();
        }
        Ok(Pressed { stand, moved, dialogs: self.dialogs(), complaints, windows: opened })
    }

    /// Returns whether the document is another, or has another address.
    async fn has_left(&self, before: &Pressing, accept: bool) -> Result<bool, BrowserError> {
        // A dialog that the click has opened is answered here, and the frame that it was in
        // may be gone.
        self.leave_frames(accept).await?;
        let state: State = self.hand_on_page("state").await?;
        Ok(state.url != before.url || (state.document - before.document).abs() > 0.0)
    }

    async fn windows(&self) -> Result<usize, BrowserError> {
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

/// Returns what a page says now and did not say before.
fn new(before: &Stand, now: &Stand) -> Vec<String> {
    let known = |words: &str| before.reading.complaints.iter().any(|it| it.text == words);
    let complaints = now.reading.complaints.iter().map(|it| it.text.clone());
    complaints.filter(|words| !known(words)).collect()
}

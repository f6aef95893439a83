//! Boxes of the page's own that come up while a field is touched: they are closed as the
//! browser's dialogs are, by what only closes them, and what they said is kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{MutexGuard, PoisonError},
};

use pointsman_agents::form::{Overlay, PageSnapshot, aside, pressable};
use pointsman_runtime::clock::Stopwatch;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Browser, BrowserDialog, BrowserError, StablePage, dom::FieldState, process_group::LOOK,
};

/// How often boxes are closed for one field.
const MOST: u8 = 3;

/// The known elements of a page, to detect a new dialog.
#[derive(Debug, Default)]
pub(super) struct KnownBoxes {
    /// What could be pressed when the page was last looked at.
    last: BTreeSet<String>,
    /// The controls of the settled page before it was touched; nothing if it has not settled yet.
    known: Option<BTreeSet<String>>,
    /// How many parts of it said that nothing else can be used, and were let be.
    modals: usize,
    /// How often boxes were closed, by the field that was touched.
    closed: BTreeMap<String, u8>,
}

/// What a box says, without its controls.
#[derive(Debug, Deserialize)]
struct BoxText {
    words: String,
}

impl Browser {
    fn asides(&self) -> MutexGuard<'_, KnownBoxes> {
        self.boxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what can be pressed on the page.
    pub(super) fn looked(&self, sighting: &PageSnapshot) {
        self.asides().last = pressable(sighting);
    }

    /// Records the page as last read: later elements are new.
    pub(super) fn at_rest(&self) {
        let mut boxes = self.asides();
        let known = Some(std::mem::take(&mut boxes.last));
        *boxes = KnownBoxes { known, ..KnownBoxes::default() };
    }

    /// Reads the page, after closing a dialog in front of its form.
    pub async fn survey(&self) -> Result<StablePage, BrowserError> {
        while self.set_aside("", false).await? {}
        self.now().await
    }

    /// Returns whether more parts of the page than before say that nothing else can be used.
    pub(super) fn has_more_modals(&self, count: usize) -> bool {
        let before = std::mem::replace(&mut self.asides().modals, count);
        count > before
    }

    /// Closes a dialog that appeared since the page settled, and returns whether there was one. A
    /// dialog that leaves the rest of the page usable stays open, unless the touched field is not
    /// usable.
    pub(super) async fn set_aside(
        &self,
        selector: &str,
        unusable: bool,
    ) -> Result<bool, BrowserError> {
        let Some(known) = self.asides().known.clone() else { return Ok(false) };
        let sighting = self.look().await?;
        let found = aside(&sighting, &known).filter(|it| unusable || it.blocks);
        let Some(found) = found else { return Ok(false) };
        let words = self.told(&found.selector).await?;
        // An element without text is not a dialog that asks something.
        if words.is_empty() {
            return Ok(false);
        }
        let left = |why: &str| BrowserError::Box { words: words.clone(), why: why.into() };
        if self.asides().closed.get(selector).is_some_and(|times| *times >= MOST) {
            return Err(left("it reappears each time it is closed"));
        }
        let Some(control) = &found.closes else {
            return Err(left("only you can answer it"));
        };
        let reached: FieldState = self.hand("reach", control, json!({})).await?;
        if !self.click(&reached.element).await? {
            return Err(left("something covers its close button"));
        }
        if !self.is_gone(&found).await? {
            return Err(left("it does not close"));
        }
        *self.asides().closed.entry(selector.into()).or_default() += 1;
        let mut dialogs = self.dialogs.lock().unwrap_or_else(PoisonError::into_inner);
        dialogs.push(BrowserDialog { text: words, accepted: false });
        Ok(true)
    }

    async fn is_gone(&self, found: &Overlay) -> Result<bool, BrowserError> {
        let begun = Stopwatch::start();
        loop {
            if self.told(&found.selector).await?.is_empty() {
                return Ok(true);
            }
            if begun.elapsed() > self.settings.moving {
                return Ok(false);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns what a part of the page says; nothing where it is not shown.
    async fn told(&self, selector: &str) -> Result<String, BrowserError> {
        match self.hand::<BoxText>("told", selector, Value::Null).await {
            Ok(told) => Ok(told.words),
            Err(BrowserError::NoElement { .. }) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }
}

//! Text is put into a field, and into nothing else.

use pointsman_agents::form::Field;
use serde::Deserialize;
use serde_json::json;

use super::{super::dom::FieldState, Browser, BrowserError, TRIES};

/// The result of typing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TypingResult {
    /// Whether the field was another, or was rendered again meanwhile.
    changed: bool,
    /// How many characters were typed.
    typed: usize,
    /// What took the focus, where something did.
    taker: String,
    /// Whether all of the text was typed by then.
    whole: bool,
    /// Whether a frame took it.
    framed: bool,
}

impl Browser {
    /// Types a text into a reached field, or pastes it if it is long. Losing the focus stops it.
    pub(super) async fn write(
        &self,
        field: &Field,
        selector: &str,
        mut reached: FieldState,
        text: &str,
    ) -> Result<(), BrowserError> {
        let long = text.chars().count() > self.settings.typed;
        for attempt in 1..=TRIES {
            // A field that is rendered again at every key gets the text as a whole.
            let once = long || attempt == TRIES;
            let more = json!({ "text": text, "once": once, "like": reached.like });
            let typed: TypingResult = self.hand("type", selector, more).await?;
            if typed.taker.is_empty() && (!typed.changed || attempt == TRIES && typed.typed > 0) {
                return Ok(());
            }
            if typed.changed {
                // Checks again whether it is still the field that was read.
                reached = self.reach(field, selector, json!({ "focus": true })).await?;
                continue;
            }
            if !typed.whole {
                let TypingResult { taker, typed, .. } = typed;
                return Err(BrowserError::Focus { selector: selector.into(), taker, typed });
            }
            if typed.framed {
                self.notice(format!(
                    "the page moved the focus to {} after the field was filled",
                    typed.taker
                ));
            }
            return Ok(());
        }
        Err(BrowserError::Replaced)
    }
}

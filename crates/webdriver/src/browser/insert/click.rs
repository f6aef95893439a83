//! Radio buttons and checkboxes: clicked when they are not yet as they should be.

use pointsman_agents::form::{Choice, Field};
use pointsman_runtime::clock::Stopwatch;
use serde_json::json;

use super::{
    super::{dom::FieldState, process_group::LOOK, same},
    Browser, BrowserError, unfit,
};

impl Browser {
    pub(super) async fn pick(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let choices = field.choices(value);
        let choice = choices.first().filter(|choice| choice.selector.is_some());
        let choice =
            choice.ok_or_else(|| unfit(&field.selector, "it has no button for this option"))?;
        // What stood there before is asked of the group when the group is verified. One of its
        // buttons may be off, and another not.
        match self.reach(field, &field.selector, json!({})).await {
            Err(BrowserError::Off { .. }) => {}
            reached => drop(reached?),
        }
        self.switch(field, Some(choice), true).await
    }

    pub(super) async fn tick(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        match value {
            "true" => self.switch(field, None, true).await,
            "false" => self.switch(field, None, false).await,
            _ => Err(unfit(&field.selector, "a checkbox takes true or false")),
        }
    }

    /// Clicks unless the state is right already: the element, its label if something covers it,
    /// and by script if neither can be clicked.
    async fn switch(
        &self,
        field: &Field,
        choice: Option<&Choice>,
        on: bool,
    ) -> Result<(), BrowserError> {
        let selector = choice.and_then(|it| it.selector.as_deref()).unwrap_or(&field.selector);
        let reached = self.reach(field, selector, json!({ "target": true })).await?;
        if let Some(what) = choice.and_then(|choice| same::choice_differs(choice, &reached)) {
            return Err(BrowserError::Changed { selector: selector.into(), what });
        }
        if reached.checked == Some(on) {
            return Ok(());
        }
        let met = match &reached.target {
            Some(target) => self.click(target).await?,
            None => false,
        };
        // A page may take a moment to show what was clicked: a second click would undo it.
        if met && self.becomes(selector, on).await? {
            return Ok(());
        }
        self.click_unseen(&reached.element).await
    }

    /// Waits a moment for a box to be as it should.
    async fn becomes(&self, selector: &str, on: bool) -> Result<bool, BrowserError> {
        let begun = Stopwatch::start();
        loop {
            let after: FieldState = self.hand("reach", selector, json!({})).await?;
            if after.checked == Some(on) {
                return Ok(true);
            }
            if begun.elapsed() > self.settings.still {
                return Ok(false);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

//! A value is put into a field as a person would do it.

mod choose;
mod click;
mod slide;
mod write;

use std::path::Path;

use pointsman_agents::form::{Field, FieldShape};
use pointsman_runtime::clock::Stopwatch;
use serde_json::{Value, json};

use super::{
    Browser, BrowserError,
    dom::{FieldContent, FieldState},
    keys,
    process_group::LOOK,
    same,
};

/// How often to return to a field that is replaced at every touch.
const TRIES: u8 = 3;

impl Browser {
    /// Puts a value into a field. The value is written as
    /// [`fit`](pointsman_agents::form::fit) gives it. The field is left, and looked at, by
    /// [`verify`](Self::verify).
    pub async fn insert(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let begun = Stopwatch::start();
        loop {
            match self.insert_anew(field, value).await {
                Err(error) if error.is_out_of_reach() => {
                    // The page's own dialog may cover it, or it may be disabled only for a moment.
                    if self.set_aside(&field.selector, true).await? {
                        continue;
                    }
                    if field.disabled || begun.elapsed() > self.settings.options {
                        return Err(error);
                    }
                    tokio::time::sleep(LOOK * 5).await;
                }
                other => return other,
            }
        }
    }

    async fn insert_anew(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        // A page may render its fields again meanwhile.
        for _ in 1..TRIES {
            match self.insert_once(field, value).await {
                Err(BrowserError::Replaced) => {}
                other => return other,
            }
        }
        self.insert_once(field, value).await
    }

    async fn insert_once(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        match field.shape {
            FieldShape::Text
            | FieldShape::Textarea
            | FieldShape::Password
            | FieldShape::Number
            | FieldShape::Richtext => self.type_in(field, value).await,
            FieldShape::Date
            | FieldShape::Time
            | FieldShape::DatetimeLocal
            | FieldShape::Month
            | FieldShape::Week
            | FieldShape::Color => self.set_usable(field, value).await,
            FieldShape::Range => self.slide(field, value).await,
            FieldShape::Select => self.choose(field, value).await,
            FieldShape::Radio => self.pick(field, value).await,
            FieldShape::Checkbox => self.tick(field, value).await,
            FieldShape::Combobox => self.open_and_choose(field, value).await,
            FieldShape::Listbox => self.choose_shown(field, value).await,
            FieldShape::Codes => self.boxes(field, value).await,
            FieldShape::File => self.attach_file(field, value).await,
            FieldShape::Captcha | FieldShape::Unsupported => {
                Err(unusable(&field.selector, "it cannot be filled"))
            }
        }
    }

    /// Goes to a field that must take something, and refuses it where it is not the field
    /// that was read.
    async fn reach(
        &self,
        field: &Field,
        selector: &str,
        mut wants: Value,
    ) -> Result<FieldState, BrowserError> {
        wants["alone"] = json!(true);
        let reached: FieldState = self.hand("reach", selector, wants).await?;
        let known = self.stood(selector, reached.document, &reached.complaints);
        if let Some(what) = same::differs(field, selector, &reached, known) {
            return Err(BrowserError::Changed { selector: selector.into(), what });
        }
        if same::is_unseen(field, &reached) {
            return Err(unusable(selector, "it is not visible"));
        }
        if reached.is("disabled") {
            return Err(off(selector));
        }
        if reached.is("readonly") && reached.type_ != "checkbox" && reached.tag != "select" {
            return Err(unusable(selector, "it is read-only"));
        }
        Ok(reached)
    }

    /// Rejects a field that differs from the one that was read.
    pub(super) async fn is_still(&self, field: &Field) -> Result<(), BrowserError> {
        self.reach(field, &field.selector, json!({})).await.map(drop)
    }

    async fn type_in(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let reached = self.reach(field, &field.selector, json!({ "focus": true })).await?;
        let lines = reached.tag == "textarea" || reached.is("editable");
        let text = keys::plain(value, lines);
        if reached.value == text {
            return Ok(());
        }
        self.write(field, &field.selector, reached, &text).await
    }

    /// Sets what has no text: days, times, months, weeks and colours.
    async fn set_usable(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let reached = self.reach(field, &field.selector, json!({})).await?;
        if reached.value == value {
            return Ok(());
        }
        self.hand::<FieldContent>("set", &field.selector, json!(value)).await.map(drop)
    }

    /// Types a code into its boxes, one character each.
    async fn boxes(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let boxes: Vec<&str> =
            field.options.iter().filter_map(|it| it.selector.as_deref()).collect();
        if boxes.is_empty() {
            return self.type_in(field, value).await;
        }
        let text = keys::plain(value, false);
        let signs: Vec<char> = text.chars().filter(|sign| !sign.is_whitespace()).collect();
        if signs.len() != boxes.len() {
            let why = format!("it has {} boxes for {} characters", boxes.len(), signs.len());
            return Err(unfit(&field.selector, &why));
        }
        for (selector, sign) in boxes.iter().zip(signs) {
            let reached = self.reach(field, selector, json!({ "focus": true })).await?;
            self.write(field, selector, reached, &sign.to_string()).await?;
        }
        Ok(())
    }

    /// Gives files by their paths.
    async fn attach_file(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let paths: Vec<&str> = value.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        for path in &paths {
            if !Path::new(path).is_absolute() {
                return Err(unusable(&field.selector, "the path of the file must be absolute"));
            }
            if !Path::new(path).is_file() {
                return Err(unusable(&field.selector, "the file does not exist"));
            }
        }
        let reached = self.reach(field, &field.selector, json!({})).await?;
        self.give_files(&reached.element, &paths.join("\n")).await
    }
}

/// A value that a field does not take, for this reason.
fn unfit(selector: &str, why: &str) -> BrowserError {
    BrowserError::Unfit { selector: selector.into(), why: why.into() }
}

/// A field that the page has switched off.
fn off(selector: &str) -> BrowserError {
    BrowserError::Off { selector: selector.into() }
}

pub(super) fn unusable(selector: &str, why: &str) -> BrowserError {
    BrowserError::Unusable { selector: selector.into(), why: why.into() }
}

//! A value is put into a field as a person would do it.

mod choose;
mod click;
mod slide;

use std::{path::Path, time::Instant};

use pointsman_agents::form::{Field, Shape};
use serde_json::{Value, json};

use super::{
    Browser, BrowserError,
    group::LOOK,
    hand::{Held, Reached},
    keys,
};

/// How often a field is gone to that is replaced at every touch.
const TRIES: u8 = 3;

impl Browser {
    /// Puts a value into a field. The value is written as
    /// [`fit`](pointsman_agents::form::fit) gives it. The field is left, and looked at, by
    /// [`verify`](Self::verify).
    pub async fn insert(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let begun = Instant::now();
        loop {
            match self.insert_anew(field, value).await {
                Err(error) if error.is_out_of_reach() => {
                    // A box of the page's own may stand before it, or it may be off only for
                    // a moment.
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
        // A page may render its fields anew under our hands.
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
            Shape::Text | Shape::Textarea | Shape::Password | Shape::Number | Shape::Richtext => {
                self.type_in(field, value).await
            }
            Shape::Date | Shape::Time | Shape::DatetimeLocal => self.date(field, value).await,
            Shape::Month | Shape::Week | Shape::Color => self.set_usable(field, value).await,
            Shape::Range => self.slide(field, value).await,
            Shape::Select => self.choose(field, value).await,
            Shape::Radio => self.pick(field, value).await,
            Shape::Checkbox => self.tick(field, value).await,
            Shape::Combobox => self.open_and_choose(field, value).await,
            Shape::Listbox => self.choose_shown(field, value).await,
            Shape::Codes => self.boxes(field, value).await,
            Shape::File => self.attach_file(field, value).await,
            Shape::Captcha | Shape::Unsupported => {
                Err(unusable(&field.selector, "nothing can be put into it"))
            }
        }
    }

    /// Goes to a field that must take something.
    async fn reach(&self, selector: &str, wants: Value) -> Result<Reached, BrowserError> {
        let reached: Reached = self.hand("reach", selector, wants).await?;
        self.stood(selector, reached.document, &reached.complaints);
        if reached.is("disabled") {
            return Err(off(selector));
        }
        if reached.is("readonly") && reached.type_ != "checkbox" && reached.tag != "select" {
            return Err(unusable(selector, "the page lets it only be read"));
        }
        Ok(reached)
    }

    async fn type_in(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let selector = &field.selector;
        let reached = self.reach(selector, json!({ "focus": true })).await?;
        if !reached.is("shown") {
            return Err(unusable(selector, "nobody can see it"));
        }
        let lines = reached.tag == "textarea" || reached.is("editable");
        let text = keys::plain(value, lines);
        if reached.value == text {
            return Ok(());
        }
        self.write(field, reached, &text).await
    }

    /// Types what keys can say, and pastes the rest.
    async fn write(
        &self,
        field: &Field,
        mut reached: Reached,
        text: &str,
    ) -> Result<(), BrowserError> {
        let tries = if keys::can_type(text, self.settings.typed) { TRIES } else { 0 };
        for _ in 0..tries {
            let mut pressed = if reached.value.is_empty() { String::new() } else { keys::clear() };
            pressed.push_str(&keys::typed(text));
            if self.keys(&reached.element, &pressed).await? {
                return Ok(());
            }
            // A dialog came in between: what it left is typed over.
            reached = self.reach(&field.selector, json!({ "focus": true })).await?;
        }
        self.hand::<Value>("paste", &field.selector, json!(text)).await.map(drop)
    }

    async fn date(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let selector = &field.selector;
        let reached = self.reach(selector, json!({ "focus": true, "order": true })).await?;
        if !matches!(reached.type_.as_str(), "date" | "time" | "datetime-local") {
            return self.type_in(field, value).await;
        }
        if reached.value == value {
            return Ok(());
        }
        let pressed = reached.order.as_ref().and_then(|order| keys::dated(value, order));
        match pressed.filter(|_| reached.is("shown")) {
            // What a dialog cuts short, or the browser takes otherwise, is found when it is
            // verified.
            Some(pressed) => self.keys(&reached.element, &pressed).await.map(drop),
            None => self.hand::<Held>("set", selector, json!(value)).await.map(drop),
        }
    }

    async fn set_usable(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        self.reach(&field.selector, json!({})).await?;
        self.hand::<Held>("set", &field.selector, json!(value)).await.map(drop)
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
            let reached = self.reach(selector, json!({ "focus": true })).await?;
            let mut pressed = if reached.value.is_empty() { String::new() } else { keys::clear() };
            pressed.push(sign);
            self.keys(&reached.element, &pressed).await?;
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
                return Err(unusable(&field.selector, "the file is not there"));
            }
        }
        let reached = self.reach(&field.selector, json!({})).await?;
        self.keys(&reached.element, &paths.join("\n")).await.map(drop)
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

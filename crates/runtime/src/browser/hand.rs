//! A hand on the page: elements are found by their selectors, wherever they lie, and
//! touched.

use std::sync::PoisonError;

use fantoccini::{
    elements::{Element, ElementRef},
    error::{CmdError, ErrorStatus},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Browser, BrowserError, page::Post};

const SCRIPT: &str = include_str!("hand.js");
/// What lies between the steps of a selector that goes through shadow roots and frames.
const STEP: &str = " >>> ";
/// The name under which a script hands an element back.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// Frames within frames that are entered at most.
const FRAMES: usize = 8;

/// An element, as scripts hand it back.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Handle {
    #[serde(rename = "element-6066-11e4-a52e-4f735466cecf")]
    id: String,
}

/// What is known of a field that was reached.
#[derive(Debug, Deserialize)]
pub(super) struct Reached {
    pub(super) element: Handle,
    #[serde(rename = "type")]
    pub(super) type_: String,
    pub(super) tag: String,
    pub(super) value: String,
    pub(super) checked: Option<bool>,
    /// Which of these it is: `editable`, `shown`, `disabled`, `readonly`.
    pub(super) marks: Vec<String>,
    #[serde(default)]
    pub(super) target: Option<Handle>,
    #[serde(default)]
    pub(super) order: Option<Order>,
    pub(super) complaints: Vec<String>,
    pub(super) document: f64,
}

impl Reached {
    pub(super) fn is(&self, mark: &str) -> bool {
        self.marks.iter().any(|it| it == mark)
    }
}

/// In which order this browser takes the parts of a day and a time.
#[derive(Debug, Deserialize)]
pub(super) struct Order {
    pub(super) parts: Vec<String>,
}

/// What a field held before and after it was left.
#[derive(Debug, Deserialize)]
pub(super) struct Left {
    pub(super) before: String,
    pub(super) value: String,
}

impl Browser {
    /// Calls one of the hand's functions with a selector and one more argument, in the
    /// frame that holds the element.
    pub(super) async fn hand<T: DeserializeOwned>(
        &self,
        function: &str,
        selector: &str,
        more: Value,
    ) -> Result<T, BrowserError> {
        let body = format!("{SCRIPT}\nreturn hand.{function}(...arguments)");
        let mut rest = self.within_frame(selector).await?;
        for _ in 0..=FRAMES {
            let args = vec![json!(rest), more.clone()];
            let said = self.raw("a look at a field", || self.client.execute(&body, args.clone()));
            let said = said.await?;
            if let Some(frame) = said.pointer(&format!("/frame/{ELEMENT}")).and_then(Value::as_str)
            {
                rest = said.get("rest").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.enter(frame, selector, &rest).await?;
                continue;
            }
            if said.is_null() {
                break;
            }
            let misread = |error: serde_json::Error| BrowserError::Refused {
                why: format!("the page interferes with what is read from it: {error}"),
            };
            return serde_json::from_value(said).map_err(misread);
        }
        Err(BrowserError::NoElement { selector: selector.into() })
    }

    /// Calls one of the hand's functions that concerns the page as a whole.
    pub(super) async fn hand_on_page<T: DeserializeOwned>(
        &self,
        function: &str,
    ) -> Result<T, BrowserError> {
        let said = self.script(&format!("{SCRIPT}\nreturn hand.{function}()"), Vec::new()).await?;
        let misread = |error: serde_json::Error| BrowserError::Refused {
            why: format!("the page interferes with what is read from it: {error}"),
        };
        serde_json::from_value(said).map_err(misread)
    }

    /// Returns the part of a selector that counts in the frame we are in, which is left if
    /// the selector does not lead into it.
    async fn within_frame(&self, selector: &str) -> Result<String, BrowserError> {
        let inside = self.frame.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match inside.as_deref().map(|frame| selector.strip_prefix(frame)) {
            Some(Some(rest)) if rest.starts_with(STEP) => {
                Ok(rest.strip_prefix(STEP).unwrap_or(rest).to_owned())
            }
            Some(_) => {
                self.to_top().await?;
                Ok(selector.to_owned())
            }
            None => Ok(selector.to_owned()),
        }
    }

    async fn enter(&self, frame: &str, selector: &str, rest: &str) -> Result<(), BrowserError> {
        let body = json!({ "id": { ELEMENT: frame } });
        let post = Post { path: "frame", body };
        self.raw("entering a frame", || self.client.issue_cmd(post.clone())).await?;
        let outside = selector.strip_suffix(rest).and_then(|it| it.strip_suffix(STEP));
        let mut inside = self.frame.lock().unwrap_or_else(PoisonError::into_inner);
        *inside = Some(outside.unwrap_or_default().to_owned());
        Ok(())
    }

    /// Leaves every frame.
    pub(super) async fn to_top(&self) -> Result<(), BrowserError> {
        if self.frame.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Ok(());
        }
        self.leave_frames(false).await
    }

    /// Leaves every frame, whether we know of one or not, and answers dialogs as told.
    pub(super) async fn leave_frames(&self, accept: bool) -> Result<(), BrowserError> {
        let post = Post { path: "frame", body: json!({ "id": null }) };
        let leaving = || self.client.issue_cmd(post.clone());
        self.answering("leaving a frame", accept, leaving).await?;
        *self.frame.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn element(&self, handle: &Handle) -> Element {
        Element::from_element_id(self.client.clone(), ElementRef::from(handle.id.clone()))
    }

    /// Sends keys to an element.
    pub(super) async fn keys(&self, handle: &Handle, keys: &str) -> Result<(), BrowserError> {
        let element = self.element(handle);
        self.raw("typing", || element.send_keys(keys)).await
    }

    /// Clicks an element as a pointer does. Returns whether it was met: something else may
    /// lie over it, or it may not be shown.
    pub(super) async fn click(&self, handle: &Handle, accept: bool) -> Result<bool, BrowserError> {
        let element = self.element(handle);
        let click = || async {
            match element.click().await {
                Ok(()) => Ok(true),
                Err(error) if is_missed(&error) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.answering("a click", accept, click).await
    }

    /// Clicks what an element's own script hears, where no pointer can reach it.
    pub(super) async fn click_unseen(&self, handle: &Handle) -> Result<(), BrowserError> {
        let args = vec![json!({ ELEMENT: handle.id })];
        let click = "arguments[0].click()";
        self.raw("a click", || self.client.execute(click, args.clone())).await.map(drop)
    }
}

fn is_missed(error: &CmdError) -> bool {
    matches!(error, CmdError::Standard(said) if said.error == ErrorStatus::ElementClickIntercepted)
        || error.is_element_not_interactable()
        || error.is_move_target_out_of_bounds()
}

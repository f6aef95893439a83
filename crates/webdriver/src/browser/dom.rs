//! A hand on the page: elements are found by their selectors, wherever they lie, and
//! touched.

use std::sync::{LazyLock, PoisonError};

use fantoccini::{
    elements::{Element, ElementRef},
    error::{CmdError, ErrorStatus},
};
use pointsman_agents::form::{Control, EnclosingElement};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Browser, BrowserError, insert::unusable, page::RawCommand, snapshot::ALONE};

/// What hands need to know of a field, and what a person's hand does to one. It reports
/// facts; what they mean is decided elsewhere. It runs in the frame that holds the element.
static TOUCH: LazyLock<String> =
    LazyLock::new(|| script(&[ALONE, include_str!("dom/touch.js"), include_str!("dom/type.js")]));
/// The same, to look at the result.
static CHECK: LazyLock<String> = LazyLock::new(|| script(&[include_str!("dom/check.js")]));
/// The same, for sliders.
static SLIDE: LazyLock<String> = LazyLock::new(|| script(&[include_str!("dom/slide.js")]));
/// The same, for boxes of the page's own.
static ASIDE: LazyLock<String> = LazyLock::new(|| script(&[include_str!("dom/overlay.js")]));
/// The same, for a control that is about to be pressed.
static PRESS: LazyLock<String> = LazyLock::new(|| script(&[ALONE, include_str!("dom/press.js")]));

/// Returns a script of what all of it needs and some parts more. It goes to the browser with
/// every call, so what only people read of it is left out.
fn script(more: &[&str]) -> String {
    let parts =
        [include_str!("dom/find.js"), include_str!("dom/slid.js"), include_str!("dom/complain.js")];
    let lines = parts.iter().chain(more).flat_map(|part| part.lines()).map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    lines.join("\n")
}

/// What lies between the steps of a selector that goes through shadow roots and frames.
const STEP: &str = " >>> ";
/// The name under which a script hands an element back.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// How often a touch is restarted: for nested frames, and after dialogs.
const TOUCHES: usize = 12;

/// The frame that scripts run in.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameContext {
    /// The start of the selectors that lead into it; empty at the top.
    path: String,
    /// How many frames it lies in.
    depth: usize,
}

/// An element, as scripts hand it back.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Handle {
    #[serde(rename = "element-6066-11e4-a52e-4f735466cecf")]
    id: String,
}

/// The state of a reached field.
#[derive(Debug, Deserialize)]
pub(super) struct FieldState {
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
    pub(super) complaints: Vec<String>,
    pub(super) document: f64,
    /// Its own snapshot, if requested.
    #[serde(default)]
    pub(super) alone: Option<FieldSnapshot>,
    /// What must not change before it is typed into.
    #[serde(default)]
    pub(super) like: String,
    /// The difference between a control and the approved one.
    #[serde(default)]
    pub(super) changed: String,
}

/// The snapshot of a single field.
#[derive(Debug, Deserialize)]
pub(super) struct FieldSnapshot {
    pub(super) seen: Control,
    pub(super) places: Vec<EnclosingElement>,
}

impl FieldState {
    pub(super) fn is(&self, mark: &str) -> bool {
        self.marks.iter().any(|it| it == mark)
    }
}

/// What a field holds after it was touched.
#[derive(Debug, Deserialize)]
pub(super) struct FieldContent {
    pub(super) value: String,
}

/// Reads what a script has returned.
fn read<T: DeserializeOwned>(said: Value) -> Result<T, BrowserError> {
    let misread = |error: serde_json::Error| BrowserError::Refused {
        why: format!("a script on the page interferes with Pointsman: {error}"),
    };
    serde_json::from_value(said).map_err(misread)
}

impl Browser {
    /// Calls one of the script's functions with a selector and one more argument, in the frame of
    /// the element. The function must be repeatable.
    pub(super) async fn hand<T: DeserializeOwned>(
        &self,
        function: &str,
        selector: &str,
        more: Value,
    ) -> Result<T, BrowserError> {
        let script = match function {
            "check" => &CHECK,
            "slide" => &SLIDE,
            "told" => &ASIDE,
            "arm" => &PRESS,
            _ => &TOUCH,
        };
        let body = format!("{}\nreturn touch(...arguments)", **script);
        let mut rest = self.within_frame(selector).await?;
        for _ in 0..TOUCHES {
            let site = self.site.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let place = json!({ "depth": self.inside().depth, "site": site });
            let args = vec![json!(function), place, json!(rest), more.clone()];
            let said = self.raw("reading a field", || self.client.execute(&body, args.clone()));
            let said = said.await?;
            if said.is_null() {
                // A dialog cut it short. It is answered before the next call is made.
                continue;
            }
            if let Some(frame) = said.pointer(&format!("/frame/{ELEMENT}")).and_then(Value::as_str)
            {
                rest = said.get("rest").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.enter(frame, selector, &rest).await?;
                continue;
            }
            if said.get("lost").is_some() {
                // The frame no longer exists, or we are in one that we do not know of.
                self.leave_frames().await?;
                rest = selector.to_owned();
                continue;
            }
            if let Some(origin) = said.get("elsewhere").and_then(Value::as_str) {
                return Err(BrowserError::Elsewhere { origin: origin.into() });
            }
            if said.get("none").is_some() {
                return Err(BrowserError::NoElement { selector: selector.into() });
            }
            return read(said);
        }
        Err(unusable(selector, "it opens a dialog whenever it is touched"))
    }

    /// Calls one of the hand's functions that concerns the page as a whole.
    pub(super) async fn hand_on_page<T: DeserializeOwned>(
        &self,
        function: &str,
        about: &str,
    ) -> Result<T, BrowserError> {
        let body = format!("{}\nreturn functions.{function}(...arguments)", *CHECK);
        self.facts(&body, vec![json!(about)]).await
    }

    /// Asks the page by a script that can be run again, when a dialog has cut it short.
    pub(super) async fn facts<T: DeserializeOwned>(
        &self,
        body: &str,
        args: Vec<Value>,
    ) -> Result<T, BrowserError> {
        for _ in 0..TOUCHES {
            let said = self.script(body, args.clone()).await?;
            if !said.is_null() {
                return read(said);
            }
        }
        Err(BrowserError::Refused { why: "the page opens one dialog after another".into() })
    }

    /// Lets fields and controls be touched on this site alone, as scheme, host and port;
    /// on any, where it is empty.
    pub fn stay_on(&self, origin: &str) {
        let mut site = self.site.lock().unwrap_or_else(PoisonError::into_inner);
        *site = Some(origin.to_owned()).filter(|origin| !origin.is_empty());
    }

    fn inside(&self) -> FrameContext {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the part of a selector that counts in the frame we are in, which is left if
    /// the selector does not lead into it.
    async fn within_frame(&self, selector: &str) -> Result<String, BrowserError> {
        let FrameContext { path, depth } = self.inside();
        if depth == 0 {
            return Ok(selector.to_owned());
        }
        let rest = selector.strip_prefix(&path).and_then(|rest| rest.strip_prefix(STEP));
        if let Some(rest) = rest {
            return Ok(rest.to_owned());
        }
        self.leave_frames().await?;
        Ok(selector.to_owned())
    }

    async fn enter(&self, frame: &str, selector: &str, rest: &str) -> Result<(), BrowserError> {
        let body = json!({ "id": { ELEMENT: frame } });
        let post = RawCommand { path: "frame", body };
        self.raw("entering a frame", || self.client.issue_cmd(post.clone())).await?;
        let outside = selector.strip_suffix(rest).and_then(|it| it.strip_suffix(STEP));
        let mut inside = self.frame.lock().unwrap_or_else(PoisonError::into_inner);
        let depth = inside.depth + 1;
        *inside = FrameContext { path: outside.unwrap_or_default().to_owned(), depth };
        Ok(())
    }

    /// Leaves every frame.
    pub(super) async fn to_top(&self) -> Result<(), BrowserError> {
        if self.inside().depth == 0 {
            return Ok(());
        }
        self.leave_frames().await
    }

    /// Leaves every frame, whether we know of one or not.
    pub(super) async fn leave_frames(&self) -> Result<(), BrowserError> {
        let post = RawCommand { path: "frame", body: json!({ "id": null }) };
        self.raw("leaving a frame", || self.client.issue_cmd(post.clone())).await?;
        *self.frame.lock().unwrap_or_else(PoisonError::into_inner) = FrameContext::default();
        Ok(())
    }

    fn element(&self, handle: &Handle) -> Element {
        Element::from_element_id(self.client.clone(), ElementRef::from(handle.id.clone()))
    }

    /// Gives files to an element, by their paths. Nothing else is ever sent to an element as
    /// keys: a page could turn it into one that takes files.
    pub(super) async fn give_files(&self, to: &Handle, paths: &str) -> Result<(), BrowserError> {
        let element = self.element(to);
        let giving = || async {
            match element.send_keys(paths).await {
                // They are given before the page says a word.
                Err(error) if error.is_unexpected_alert_open() => Ok(()),
                given => given,
            }
        };
        self.raw("giving a file", giving).await
    }

    /// Presses keys that say nothing of a person, such as arrows, wherever the focus is. A
    /// dialog that opens meanwhile takes the rest.
    pub(super) async fn press_keys(&self, keys: &str) -> Result<(), BrowserError> {
        let key = |kind: &str, key: char| json!({ "type": kind, "value": key.to_string() });
        let actions: Vec<Value> =
            keys.chars().flat_map(|it| [key("keyDown", it), key("keyUp", it)]).collect();
        let source = json!({ "type": "key", "id": "keys", "actions": actions });
        let post = RawCommand { path: "actions", body: json!({ "actions": [source] }) };
        let pressing = || async {
            match self.client.issue_cmd(post.clone()).await {
                Err(error) if error.is_unexpected_alert_open() => Ok(()),
                pressed => pressed.map(drop),
            }
        };
        self.raw("pressing keys", pressing).await
    }

    /// Clicks an element as a pointer does. Returns whether it was met: something else may
    /// lie over it, or it may not be shown.
    pub(super) async fn click(&self, handle: &Handle) -> Result<bool, BrowserError> {
        let element = self.element(handle);
        let click = || async {
            match element.click().await {
                Ok(()) => Ok(true),
                Err(error) if is_missed(&error) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.raw("a click", click).await
    }

    /// Clicks by script an element that no pointer can reach.
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

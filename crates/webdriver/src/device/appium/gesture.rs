//! Gestures: a finger that taps, holds and swipes, texts, and the way back.

use std::time::Duration;

use pointsman_agents::explore::{Bounds, DeviceAction, Direction, Platform};
use serde_json::{Value, json};

use super::{Appium, DeviceClass, DeviceError, ELEMENT, Gesture};

/// How long a finger rests in a tap.
const TOUCH: Duration = Duration::from_millis(50);

/// Where a gesture begins and ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stroke {
    pub(super) from: (i32, i32),
    pub(super) to: (i32, i32),
}

impl Appium {
    /// Performs a gesture.
    pub(super) async fn perform(&self, gesture: &Gesture) -> Result<(), DeviceError> {
        if gesture.act == DeviceAction::Back && self.is_page() {
            return self.page_back().await;
        }
        if gesture.act == DeviceAction::Back {
            return self.post("back", json!({}), "going back").await.map(drop);
        }
        if gesture.act == DeviceAction::Wait {
            return Ok(());
        }
        if self.is_page() {
            return self.perform_on_page(gesture).await;
        }
        // The fake driver draws nothing, so it does not notice touches.
        let drawn = gesture.bounds.filter(|it| !it.is_empty() && self.platform() != Platform::Fake);
        let Some(bounds) = drawn else {
            return self.perform_by_ordinal(gesture).await;
        };
        if let Some(text) = &gesture.text {
            self.touch(bounds.middle(), TOUCH, "tapping a field").await?;
            return self.type_text(text).await;
        }
        match gesture.act {
            DeviceAction::Tap => self.touch(bounds.middle(), TOUCH, "tapping").await,
            DeviceAction::LongPress => {
                self.touch(bounds.middle(), self.settings.times.hold, "a long press").await
            }
            DeviceAction::Swipe => {
                let stroke = stroke(bounds, direction(gesture)?, self.settings.times.distance);
                self.swipe(stroke).await
            }
            other => Err(unfit(&format!("{} needs a text", other.name()))),
        }
    }

    /// Performs a gesture on an element that is not drawn anywhere, as the fake driver's.
    async fn perform_by_ordinal(&self, gesture: &Gesture) -> Result<(), DeviceError> {
        let what = "finding the element";
        let ordinal = gesture.target.ok_or_else(|| unfit("it names no element"))?;
        // Below the root, which only holds the others.
        let body = json!({ "using": "xpath", "value": "/*//*" });
        let found = self.post("elements", body, what).await?;
        let Some(id) = found.get(ordinal).and_then(element) else {
            let message = format!("{what}: the screen no longer has element {ordinal}");
            return Err(DeviceError::new(DeviceClass::Stale, message));
        };
        match (&gesture.text, gesture.act) {
            (Some(text), _) => self.fill(id, text).await,
            (None, DeviceAction::Tap) => {
                self.post(&format!("element/{id}/click"), json!({}), "tapping").await.map(drop)
            }
            (None, other) => Err(unfit(&format!("{} needs bounds", other.name()))),
        }
    }

    /// Types into the field that has the focus. What it held is replaced.
    async fn type_text(&self, text: &str) -> Result<(), DeviceError> {
        let what = "finding the field that was tapped";
        match self.get("element/active", what).await {
            Ok(found) => match element(&found) {
                Some(id) => self.fill(id, text).await,
                None => self.type_keys(text).await,
            },
            // Some fields have the focus without being known as the active element.
            Err(error)
                if matches!(error.class, DeviceClass::Stale | DeviceClass::InvalidArgument) =>
            {
                self.type_keys(text).await
            }
            Err(error) => Err(error),
        }
    }

    async fn type_keys(&self, text: &str) -> Result<(), DeviceError> {
        self.mobile("type", json!({ "text": text }), "typing").await.map(drop)
    }

    /// Replaces what a field holds.
    pub(super) async fn fill(&self, id: &str, text: &str) -> Result<(), DeviceError> {
        match self.post(&format!("element/{id}/clear"), json!({}), "clearing the field").await {
            // A field that cannot be cleared may still take more text.
            Err(error) if error.class != DeviceClass::InputFailed => return Err(error),
            _ => {}
        }
        let body = json!({ "text": text });
        self.post(&format!("element/{id}/value"), body, "typing").await.map(drop)
    }

    /// Rests a finger on a point.
    async fn touch(&self, at: (i32, i32), hold: Duration, what: &str) -> Result<(), DeviceError> {
        let moves = [to(at, Duration::ZERO), down(), pause(hold), up()];
        self.actions(&finger(&moves), what).await
    }

    async fn swipe(&self, stroke: Stroke) -> Result<(), DeviceError> {
        let moves = [
            to(stroke.from, Duration::ZERO),
            down(),
            to(stroke.to, self.settings.times.swipe),
            up(),
        ];
        self.actions(&finger(&moves), "swiping").await
    }

    pub(super) async fn actions(&self, source: &Value, what: &str) -> Result<(), DeviceError> {
        self.post("actions", json!({ "actions": [source] }), what).await.map(drop)
    }
}

/// Returns the id of an element. It becomes part of a path, so it may be nothing that leads
/// elsewhere.
pub(super) fn element(found: &Value) -> Option<&str> {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | ':');
    let id = found.get(ELEMENT)?.as_str()?;
    (!id.is_empty() && !id.starts_with('.') && id.chars().all(plain)).then_some(id)
}

pub(super) fn direction(gesture: &Gesture) -> Result<Direction, DeviceError> {
    gesture.direction.ok_or_else(|| unfit("a swipe needs a direction"))
}

pub(super) fn unfit(why: &str) -> DeviceError {
    let message = format!("the gesture cannot be performed: {why}");
    DeviceError::new(DeviceClass::InvalidArgument, message)
}

/// Returns how far a finger goes over an element: the whole distance if the element has
/// room for it, and else as far as it stays well inside.
pub(super) fn stroke(bounds: Bounds, direction: Direction, distance: u16) -> Stroke {
    let (x, y) = bounds.middle();
    let (dx, dy) = match direction {
        Direction::Up => (0, -1),
        Direction::Down => (0, 1),
        Direction::Left => (-1, 0),
        Direction::Right => (1, 0),
    };
    let room = if dx == 0 {
        bounds.bottom.saturating_sub(bounds.top)
    } else {
        bounds.right.saturating_sub(bounds.left)
    };
    // A tenth on either side is left: at the edges systems have gestures of their own.
    let length = i32::from(distance).min(room / 10 * 8).max(1);
    let (before, after) = (length / 2, length - length / 2);
    Stroke { from: (x - dx * before, y - dy * before), to: (x + dx * after, y + dy * after) }
}

fn finger(moves: &[Value]) -> Value {
    pointer("touch", moves)
}

/// Returns a source of input that does these moves.
pub(super) fn pointer(kind: &str, moves: &[Value]) -> Value {
    json!({
        "type": "pointer", "id": kind, "parameters": { "pointerType": kind }, "actions": moves,
    })
}

pub(super) fn to((x, y): (i32, i32), within: Duration) -> Value {
    json!({ "type": "pointerMove", "duration": ms(within), "x": x, "y": y, "origin": "viewport" })
}

pub(super) fn down() -> Value {
    json!({ "type": "pointerDown", "button": 0 })
}

pub(super) fn up() -> Value {
    json!({ "type": "pointerUp", "button": 0 })
}

pub(super) fn pause(time: Duration) -> Value {
    json!({ "type": "pause", "duration": ms(time) })
}

pub(super) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swipe_goes_its_distance_where_there_is_room() {
        let screen = Bounds { left: 0, top: 0, right: 1080, bottom: 2000 };
        for (direction, from, to) in [
            (Direction::Up, (540, 1250), (540, 750)),
            (Direction::Down, (540, 750), (540, 1250)),
            (Direction::Left, (790, 1000), (290, 1000)),
            (Direction::Right, (290, 1000), (790, 1000)),
        ] {
            assert_eq!(stroke(screen, direction, 500), Stroke { from, to });
        }
        let row = Bounds { left: 0, top: 100, right: 1080, bottom: 200 };
        let Stroke { from, to } = stroke(row, Direction::Up, 500);
        assert_eq!((from, to), ((540, 190), (540, 110)), "it stays inside");
    }
}

//! Sliders: native ones are set, others are moved by the keys that a person would press.

use pointsman_agents::form::Field;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{
        dom::{FieldContent, Handle},
        keys,
    },
    Browser, BrowserError, off, unfit, unusable,
};

/// Keys that are pressed at most before the slider is looked at as a whole.
const MOST: u32 = 200;
/// Two numbers that are nearer than this are the same place.
const SAME: f64 = 1e-9;
/// What moves a slider up and down, the longest way first.
const WAYS: [[&str; 2]; 3] = [
    [keys::PAGE_UP, keys::PAGE_DOWN],
    [keys::RIGHT_ARROW, keys::LEFT_ARROW],
    [keys::UP_ARROW, keys::DOWN_ARROW],
];

/// A slider, as it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Slider {
    /// Whether it is the browser's own.
    native: bool,
    /// What takes the keys; nothing where it has no value that could be compared.
    handle: Option<Handle>,
    now: f64,
    min: Option<f64>,
    max: Option<f64>,
    off: bool,
}

/// A slider under our hand, and the keys that are left for it.
struct SliderMove<'a> {
    browser: &'a Browser,
    selector: &'a str,
    now: f64,
    left: u32,
}

impl Browser {
    pub(super) async fn slide(&self, field: &Field, value: &str) -> Result<(), BrowserError> {
        let selector = field.selector.as_str();
        self.reach(field, selector, json!({})).await?;
        let slider: Slider = self.hand("slide", selector, Value::Null).await?;
        if slider.native {
            return self.hand::<FieldContent>("set", selector, json!(value)).await.map(drop);
        }
        let wanted: f64 = value.parse().map_err(|_| unfit(selector, "it takes a number"))?;
        if slider.off {
            return Err(off(selector));
        }
        if slider.handle.is_none() {
            return Err(unusable(selector, "it does not report its value"));
        }
        let mut slide = SliderMove { browser: self, selector, now: slider.now, left: MOST };
        slide.jump(wanted, slider.min, slider.max).await?;
        for [up, down] in WAYS {
            slide.go(wanted, up, down).await?;
        }
        // A slider that is still moving when the keys are used up continues in the next try.
        if slide.is_at(wanted) || slide.left == 0 {
            return Ok(());
        }
        Err(unfit(selector, &format!("its closest value is {}", slide.now)))
    }
}

impl SliderMove<'_> {
    fn is_at(&self, wanted: f64) -> bool {
        (self.now - wanted).abs() < SAME
    }

    /// Jumps to the end if that is nearer to the wanted value.
    async fn jump(
        &mut self,
        wanted: f64,
        min: Option<f64>,
        max: Option<f64>,
    ) -> Result<(), BrowserError> {
        let way = (wanted - self.now).abs();
        let from = |end: Option<f64>| end.map_or(f64::INFINITY, |end| (wanted - end).abs());
        let (low, high) = (from(min), from(max));
        if low.min(high) < way {
            self.press(if low <= high { keys::HOME } else { keys::END }, 1).await?;
        }
        Ok(())
    }

    /// Moves by one pair of keys as near as possible without passing the wanted value.
    async fn go(&mut self, wanted: f64, up: &str, down: &str) -> Result<(), BrowserError> {
        let (mut up, mut down) = (up, down);
        let mut turned = false;
        while self.left > 0 && !self.is_at(wanted) {
            let before = self.now;
            self.press(if wanted > before { up } else { down }, 1).await?;
            let moved = self.now - before;
            if moved.abs() < SAME {
                return Ok(());
            }
            // Where people read from right to left, so may sliders.
            if (moved > 0.0) != (wanted > before) {
                if turned {
                    return Ok(());
                }
                turned = true;
                (up, down) = (down, up);
                continue;
            }
            let gap = wanted - self.now;
            let times = (gap / moved + SAME).floor();
            if times < 1.0 {
                return Ok(());
            }
            let key = if gap > 0.0 { up } else { down };
            self.press(key, count(times)).await?;
            if (wanted - self.now).abs() < moved.abs() - SAME {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Presses a key this many times, and reads the result.
    async fn press(&mut self, key: &str, times: u32) -> Result<(), BrowserError> {
        let times = times.min(self.left);
        self.left -= times;
        let slider = self.look().await?;
        // Looking at it has given its handle the focus.
        if slider.handle.is_some() && !slider.off {
            let pressed = key.repeat(usize::try_from(times).unwrap_or_default());
            self.browser.press_keys(&pressed).await?;
        }
        let slider = self.look().await?;
        if slider.off {
            return Err(off(self.selector));
        }
        self.now = slider.now;
        Ok(())
    }

    async fn look(&self) -> Result<Slider, BrowserError> {
        self.browser.hand("slide", self.selector, Value::Null).await
    }
}

/// Returns a count of keys, which is never more than are pressed at once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is whole and lies between the two"
)]
fn count(times: f64) -> u32 {
    times.clamp(0.0, f64::from(MOST)) as u32
}

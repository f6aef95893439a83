//! The device on which something is made to happen again, or a recording with a new draw for
//! every try.

use std::path::Path;

use pointsman_agents::explore::{
    DeviceAction, ExploreConfig, Foreground, Screen, ScreenId, Widget,
    map::{ActionResult, MapAction},
    offers,
};
use thiserror::Error;

use crate::device::{
    AppState, Appium, AppiumSettings, CapsError, Device, DeviceError, DeviceSettings, Gesture,
    Recording, RecordingError, settle,
};

/// A device that an app is started on again and again.
pub(super) struct TestDevice {
    device: Box<dyn Device>,
    recording: Option<Recording>,
    package: String,
    settings: DeviceSettings,
    seed: u64,
    /// The current screen.
    screen: Option<Screen>,
    acts: u64,
}

/// Why the device is missing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TestDeviceError {
    /// The recording cannot be played.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The capabilities cannot be read.
    #[error(transparent)]
    Capabilities(#[from] CapsError),
    /// The server cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The run does not say where it explored.
    #[error("the run names neither a device nor a recording")]
    Nowhere,
}

/// What was on the screen before, and the result.
pub(super) type StepTrace = (Option<ScreenId>, ActionResult);

impl TestDevice {
    /// Returns the device that a run explored.
    pub(super) fn new(
        config: &ExploreConfig,
        settings: &DeviceSettings,
    ) -> Result<Self, TestDeviceError> {
        let place = &config.device;
        let mut recording = None;
        let device: Box<dyn Device> = match (&place.recording, &place.appium, &place.capabilities) {
            (Some(file), ..) => {
                let opened = Recording::open(Path::new(file), config.seed, None)?;
                let player = opened.again(config.seed);
                recording = Some(opened);
                Box::new(player)
            }
            (None, Some(url), Some(file)) => {
                let mut appium = AppiumSettings::read(url.clone(), Path::new(file))?;
                appium.times = settings.clone();
                Box::new(Appium::new(appium)?)
            }
            _ => return Err(TestDeviceError::Nowhere),
        };
        let (package, settings) = (config.app.package.clone(), settings.clone());
        let (screen, seed, acts) = (None, config.seed, 0);
        Ok(Self { device, recording, package, settings, seed, screen, acts })
    }

    pub(super) async fn open(&self) -> Result<(), DeviceError> {
        self.device.open().await
    }

    pub(super) async fn close(&self) {
        if let Err(error) = self.device.close().await {
            tracing::debug!(%error, "a device session could not be closed");
        }
    }

    /// Starts the app again.
    pub(super) async fn start(&mut self, left: &mut u64) -> Result<StepTrace, DeviceError> {
        if let Some(recording) = &self.recording {
            // A recording makes other random choices only with another seed.
            self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            self.device = Box::new(recording.again(self.seed));
        }
        *left = left.saturating_sub(1);
        let key = self.key();
        self.device.restart(&self.package, &key).await?;
        self.screen = None;
        self.look(DeviceAction::Restart).await
    }

    /// Performs an action of a journal on the current screen; nothing if the screen does not offer
    /// it.
    pub(super) async fn act(
        &mut self,
        action: &MapAction,
        left: &mut u64,
    ) -> Result<Option<StepTrace>, DeviceError> {
        let Some(gesture) = self.gesture(action) else { return Ok(None) };
        *left = left.saturating_sub(1);
        let key = self.key();
        if gesture.act == DeviceAction::Wait && !self.device.stands_still() {
            tokio::time::sleep(self.settings.wait).await;
        } else {
            self.device.act(&gesture, &key).await?;
        }
        self.look(gesture.act).await.map(Some)
    }

    fn key(&mut self) -> String {
        self.acts = self.acts.wrapping_add(1);
        format!("reproduce {}", self.acts)
    }

    /// Finds the element that an action was performed on: by its key, else by its words.
    fn gesture(&self, action: &MapAction) -> Option<Gesture> {
        let MapAction { act, direction, text, .. } = action;
        let plain = Gesture { act: *act, ..Gesture::default() };
        let Some(known) = &action.widget else { return Some(plain) };
        let screen = self.screen.as_ref()?;
        let same = offers(screen).into_iter().find(|it| it.key == action.key);
        let target = same.and_then(|it| it.target).or_else(|| {
            let words = |it: &&Widget| {
                it.class == known.class
                    && it.label == known.label
                    && !it.label.is_empty()
                    && it.acts.contains(act)
            };
            // The row may be gone, and its list still have others.
            let row = |it: &&Widget| known.listed && it.key == known.key && it.acts.contains(act);
            let widgets = || screen.widgets.iter();
            let found = widgets().find(words).or_else(|| widgets().find(row))?;
            let (ordinal, bounds) = (found.ordinal, found.bounds);
            Some(pointsman_agents::explore::Target { ordinal, bounds })
        })?;
        Some(Gesture {
            target: usize::try_from(target.ordinal).ok(),
            bounds: target.bounds,
            direction: *direction,
            text: text.clone(),
            ..plain
        })
    }

    /// Returns the current screen.
    pub(super) const fn screen(&self) -> Option<&Screen> {
        self.screen.as_ref()
    }

    /// Returns whether the screen offers the very action, and not only one like it.
    pub(super) fn offers(&self, action: &MapAction) -> bool {
        let screen = self.screen.as_ref();
        screen.is_some_and(|screen| offers(screen).iter().any(|it| it.key == action.key))
    }

    /// Looks at the result of an act.
    async fn look(&mut self, act: DeviceAction) -> Result<StepTrace, DeviceError> {
        let look = settle(&*self.device, &self.settings).await?;
        let screen = Screen::read(&look.tree, &look.package, &look.activity);
        let from = self.screen.as_ref().map(|it| it.coarse.clone());
        let outside = screen.front(&self.package) == Foreground::Elsewhere;
        // Going back out of an app may end it; anything else that does is a crash.
        let running = !outside || act == DeviceAction::Back || self.runs().await?;
        let landing = ActionResult::of(&screen, &self.package, running);
        self.screen = Some(screen);
        Ok((from, landing))
    }

    async fn runs(&self) -> Result<bool, DeviceError> {
        let state = self.device.state(&self.package).await?;
        Ok(matches!(state, AppState::Front | AppState::Background))
    }
}

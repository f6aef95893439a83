//! The device of one run, and how each task is carried out on it.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use pointsman_agents::explore::{
    App, DeviceAction, ExploreConfig, ExploreReport, ExploreTask, Foreground, Screen,
};
use pointsman_kernel::{
    agent::{Fault, FaultClass},
    event::Usage,
    id::Digest,
};
use pointsman_runtime::{effect::Permit, private};

use crate::device::{
    self, AppState, Appium, AppiumSettings, Device, DeviceClass, DeviceError, DeviceSettings,
    Gesture, Recording, ScreenCapture,
};

/// A device, the app on it, and the folder of its screens.
pub(super) struct DeviceSession {
    device: Box<dyn Device>,
    package: String,
    settings: DeviceSettings,
    blobs: PathBuf,
}

impl DeviceSession {
    pub(super) fn new(
        settings: &DeviceSettings,
        config: ExploreConfig,
        blobs: PathBuf,
    ) -> Result<Self, Fault> {
        let wrong = |message: String| Fault {
            class: FaultClass::Invalid,
            repeatable: false,
            hint_ms: None,
            message,
        };
        let ExploreConfig { app, device, seed, .. } = config;
        let device: Box<dyn Device> = match (device.recording, device.appium, device.capabilities) {
            (Some(file), ..) => {
                let kept = Some(blobs.join("recording.json"));
                let opened = Recording::open(Path::new(&file), seed, kept);
                Box::new(opened.map_err(|error| wrong(error.to_string()))?)
            }
            (None, Some(url), Some(file)) => {
                let mut appium = AppiumSettings::read(url, Path::new(&file))
                    .map_err(|error| wrong(error.to_string()))?;
                appium.record = Some(blobs.join("session.json"));
                appium.times = settings.clone();
                Box::new(Appium::new(appium)?)
            }
            _ => return Err(wrong("the run names neither a device nor a recording".into())),
        };
        Ok(Self { device, package: app.package, settings: settings.clone(), blobs })
    }

    pub(super) async fn perform(
        &self,
        task: ExploreTask,
        permit: &Permit,
    ) -> Result<(ExploreReport, Usage), DeviceError> {
        let key = permit.to_string();
        let report = match task {
            ExploreTask::Session => {
                self.device.open().await?;
                ExploreReport::Done
            }
            ExploreTask::Inspect(app) => {
                let found = self.device.installed(&app.package).await?;
                // An unknown version is older than any that is asked for.
                ExploreReport::Installed(found.map(|it| it.version.unwrap_or_default()))
            }
            ExploreTask::Install(app) => self.install(&app).await?,
            ExploreTask::Launch(app) => {
                ExploreReport::Performed { step: self.device.launch(&app.package, &key).await? }
            }
            ExploreTask::Restart(app) => {
                ExploreReport::Performed { step: self.device.restart(&app.package, &key).await? }
            }
            ExploreTask::Settle => {
                device::settle(&*self.device, &self.settings).await?;
                ExploreReport::Done
            }
            ExploreTask::Capture => self.captured(&self.device.look().await?).await?,
            ExploreTask::Verify => {
                let look = device::settle(&*self.device, &self.settings).await?;
                let report = self.captured(&look).await?;
                let usage = match &report {
                    ExploreReport::Captured { screen, .. }
                        if screen.front(&self.package) == Foreground::Elsewhere =>
                    {
                        Usage { outside_app: 1, ..Usage::default() }
                    }
                    _ => Usage::default(),
                };
                return Ok((report, usage));
            }
            ExploreTask::Perform { act, target, direction, text } => {
                let ordinal = target.and_then(|it| usize::try_from(it.ordinal).ok());
                let bounds = target.and_then(|it| it.bounds);
                let gesture = Gesture { act, target: ordinal, bounds, direction, text };
                self.act(&gesture, permit).await?
            }
            ExploreTask::Wait => self.wait(permit).await?,
            ExploreTask::Check => self.check().await?,
            _ => {
                let message = "this host does not support the task";
                return Err(DeviceError::new(DeviceClass::InvalidArgument, message));
            }
        };
        Ok((report, Usage::default()))
    }

    /// Ends the session, within its own limit.
    pub(super) async fn end(&self) {
        if let Err(error) = self.device.close().await {
            tracing::debug!(%error, "a device session could not be closed");
        }
    }

    async fn install(&self, app: &App) -> Result<ExploreReport, DeviceError> {
        let Some(file) = &app.install_from else {
            let message = match app.version {
                Some(version) => format!(
                    "version {version} or later of {} is required: name a file to install with --app",
                    app.package
                ),
                None => format!(
                    "{} is not installed: install it, or name its file with --app",
                    app.package
                ),
            };
            return Err(DeviceError::new(DeviceClass::InvalidArgument, message));
        };
        self.device.install(&app.package, file).await?;
        // What an installer says is not proof.
        let found = self.device.installed(&app.package).await?;
        let version = found.map(|it| it.version.unwrap_or_default());
        match (version, app.version) {
            (None, _) => {
                let message = format!("{file} was installed, but {} is missing", app.package);
                Err(DeviceError::new(DeviceClass::NotInstalled, message))
            }
            (Some(found), Some(wanted)) if found < wanted => {
                let message = format!(
                    "{file} was installed, but {} has version {found}; {wanted} or later is required",
                    app.package
                );
                Err(DeviceError::new(DeviceClass::InvalidArgument, message))
            }
            (Some(_), _) => Ok(ExploreReport::Done),
        }
    }

    async fn captured(&self, look: &ScreenCapture) -> Result<ExploreReport, DeviceError> {
        let state = self.device.state(&self.package).await?;
        let running = matches!(state, AppState::Front | AppState::Background);
        let mut screen = Screen::read(&look.tree, &look.package, &look.activity);
        // A missing picture does not stop the run.
        let picture = self.device.picture().await.unwrap_or_default();
        screen.hash = picture.as_deref().and_then(device::perceptual_hash);
        screen.source = self.keep(&look.source);
        screen.picture = picture.and_then(|picture| {
            let name = format!("{}.png", short(&picture));
            self.write(&name, || Ok(picture)).then_some(name)
        });
        Ok(ExploreReport::Captured { screen, running })
    }

    async fn act(&self, gesture: &Gesture, permit: &Permit) -> Result<ExploreReport, DeviceError> {
        if permit.again && !self.device.remembers() {
            let message =
                "the program stopped during this action; it may or may not have been done";
            return Err(DeviceError::new(DeviceClass::Interrupted, message));
        }
        let step = self.device.act(gesture, &permit.to_string()).await?;
        Ok(ExploreReport::Performed { step })
    }

    async fn wait(&self, permit: &Permit) -> Result<ExploreReport, DeviceError> {
        if !self.device.stands_still() {
            tokio::time::sleep(self.settings.wait).await;
            return Ok(ExploreReport::Performed { step: None });
        }
        self.act(&Gesture { act: DeviceAction::Wait, ..Gesture::default() }, permit).await
    }

    async fn check(&self) -> Result<ExploreReport, DeviceError> {
        let (session, running, in_front) = match self.device.state(&self.package).await {
            Ok(AppState::Front) => (true, true, true),
            Ok(AppState::Background) => (true, true, false),
            Ok(AppState::Missing | AppState::Stopped) => (true, false, false),
            Err(error) if error.class == DeviceClass::SessionLost => (false, false, false),
            Err(error) => return Err(error),
        };
        Ok(ExploreReport::Health { session, running, in_front })
    }

    /// Keeps a hierarchy, packed, under the digest of what it says.
    fn keep(&self, source: &str) -> Option<String> {
        let name = format!("{}.xml.gz", short(source.as_bytes()));
        let packed = || {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(source.as_bytes())?;
            packer.finish()
        };
        self.write(&name, packed).then_some(name)
    }

    /// Writes a file once, readable only by its owner. A run continues without a file that cannot
    /// be written.
    fn write(&self, name: &str, bytes: impl FnOnce() -> io::Result<Vec<u8>>) -> bool {
        let path = self.blobs.join(name);
        if path.exists() {
            return true;
        }
        let written = private::folder(&self.blobs).and_then(|()| {
            let beside = path.with_extension("new");
            let mut file = fs::OpenOptions::new();
            let file = file.write(true).create(true).truncate(true).mode(0o600).open(&beside);
            file?.write_all(&bytes()?)?;
            fs::rename(&beside, &path)
        });
        written.inspect_err(|error| tracing::debug!(%error, name, "a screen was not saved")).is_ok()
    }
}

fn short(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string().chars().take(16).collect()
}

//! Driver and browser as processes: started in their own group, ended together, their
//! folder removed.

use std::{
    fs, io,
    os::unix::{
        fs::{DirBuilderExt, OpenOptionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use pointsman_runtime::clock::{Stopwatch, entropy};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{
    AgreedPage, BrowserError, BrowserSettings, PressTarget, executable,
    record::{BrowserRecord, ProcessIdentity},
    watchdog::{self, Watchdog},
};

/// What a browser may see of our environment: enough to find programs, a home, a language
/// and a screen, and no keys.
const INHERITED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_TIME",
    "TZ",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "LD_LIBRARY_PATH",
];

/// What the driver writes goes here: a pipe would break when we die.
const LOG: &str = "driver.log";

/// How often something that must end is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// A driver, and the browser that it started. Dropping it ends both.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    /// The driver, where it is our child.
    child: Option<Child>,
    driver: ProcessIdentity,
    browser: Option<ProcessIdentity>,
    folder: PathBuf,
    record: Option<PathBuf>,
    keeper: Option<Watchdog>,
    /// What the record says, where there is one.
    told: Option<BrowserRecord>,
    stop: Duration,
}

impl ProcessGroup {
    /// Starts a driver in its own folder, and its watchdog.
    pub(super) fn start(
        settings: &BrowserSettings,
        record: Option<&Path>,
    ) -> Result<Self, BrowserError> {
        let program = executable::driver(settings)?;
        let folder = new_folder()?;
        // From here on the folder is removed after any error.
        let mut left = LeftoverFolder(Some(folder.clone()));
        let failed =
            |source| BrowserError::Start { program: program.display().to_string(), source };
        let mut log = fs::OpenOptions::new();
        let log = log.create(true).append(true).mode(0o600).open(folder.join(LOG));
        let log = log.map_err(failed)?;
        let mut command = Command::new(&program);
        command.arg("--port=0").current_dir(&folder).env_clear();
        command.envs(INHERITED.iter().filter_map(|it| Some((it, std::env::var_os(it)?))));
        // All that it leaves lying about lies in the folder.
        command.envs(["TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map(|it| (it, &folder)));
        command.stdin(Stdio::null()).stdout(log.try_clone().map_err(failed)?).stderr(log);
        let child = command.process_group(0).spawn().map_err(failed)?;
        left.0 = None;
        let driver = ProcessIdentity::of(child.id())
            .unwrap_or_else(|| ProcessIdentity { pid: child.id(), started: String::new() });
        let mut group = Self {
            child: Some(child),
            driver,
            browser: None,
            folder,
            record: record.map(Path::to_owned),
            keeper: None,
            told: None,
            stop: settings.stop,
        };
        group.keeper = Some(group.new_keeper(settings.keep)?);
        Ok(group)
    }

    /// Takes over what a process that has died left behind.
    pub(super) fn take_over(
        settings: &BrowserSettings,
        found: &BrowserRecord,
        record: &Path,
    ) -> Result<Self, BrowserError> {
        if found.owner.lives() && found.owner.pid != std::process::id() {
            return Err(BrowserError::InUse { pid: found.owner.pid });
        }
        if let Some(keeper) = &found.keeper {
            watchdog::dismiss(keeper);
        }
        let mut group = Self {
            child: None,
            driver: found.driver.clone(),
            browser: found.browser.clone(),
            folder: found.folder.clone(),
            record: Some(record.to_owned()),
            keeper: None,
            told: None,
            stop: settings.stop,
        };
        if !group.driver.lives() || !group.browser.as_ref().is_none_or(ProcessIdentity::lives) {
            // Dropping the group removes its remains.
            return Err(BrowserError::Gone { why: "it ended before the run was resumed".into() });
        }
        group.keeper = Some(group.new_keeper(settings.keep)?);
        group.write(found.port, &found.session, found.pressing.clone(), found.agreed.clone())?;
        Ok(group)
    }

    fn new_keeper(&self, keep: Duration) -> Result<Watchdog, BrowserError> {
        let failed = |source| BrowserError::Start { program: "/bin/sh".into(), source };
        let mut keeper = Watchdog::start(keep, &self.driver, &self.folder, self.record.as_deref())
            .map_err(failed)?;
        if let Some(browser) = &self.browser {
            keeper.tell(browser).map_err(failed)?;
        }
        Ok(keeper)
    }

    pub(super) fn profile(&self) -> PathBuf {
        self.folder.join("profile")
    }

    /// Learns which process the browser is, and writes down how to find it again.
    pub(super) fn knows(
        &mut self,
        browser: Option<u32>,
        port: u16,
        session: &str,
    ) -> Result<(), BrowserError> {
        self.browser = browser.and_then(ProcessIdentity::of);
        if let (Some(browser), Some(keeper)) = (&self.browser, &mut self.keeper)
            && let Err(error) = keeper.tell(browser)
        {
            tracing::debug!(%error, "a browser's watchdog does not respond");
        }
        self.write(port, session, None, None)
    }

    /// Records the page on which a control is about to be pressed: after a crash, the resuming
    /// process can tell whether it was.
    pub(super) fn pressing(&mut self, pressing: &PressTarget) -> Result<(), BrowserError> {
        match self.told.take() {
            Some(told) => self.keep(BrowserRecord { pressing: Some(pressing.clone()), ..told }),
            None => Ok(()),
        }
    }

    /// Writes down what the page shows on which the way on is chosen.
    pub(super) fn agreed(&mut self, agreed: &AgreedPage) -> Result<(), BrowserError> {
        match self.told.take() {
            Some(told) => self.keep(BrowserRecord { agreed: Some(agreed.clone()), ..told }),
            None => Ok(()),
        }
    }

    fn write(
        &mut self,
        port: u16,
        session: &str,
        pressing: Option<PressTarget>,
        agreed: Option<AgreedPage>,
    ) -> Result<(), BrowserError> {
        let (Some(_), Some(owner)) = (&self.record, ProcessIdentity::of(std::process::id())) else {
            return Ok(());
        };
        let record = BrowserRecord {
            port,
            session: session.into(),
            folder: self.folder.clone(),
            owner,
            driver: self.driver.clone(),
            browser: self.browser.clone(),
            keeper: self.keeper.as_ref().and_then(Watchdog::who),
            pressing,
            agreed,
        };
        self.keep(record)
    }

    fn keep(&mut self, record: BrowserRecord) -> Result<(), BrowserError> {
        if let Some(path) = &self.record {
            let failed = |source| BrowserError::Folder { path: path.display().to_string(), source };
            record.write(path).map_err(failed)?;
        }
        self.told = Some(record);
        Ok(())
    }

    /// Waits until the driver tells its port.
    pub(super) async fn port(&mut self, within: Duration) -> Result<u16, BrowserError> {
        const WORDS: &str = "was started successfully on port ";
        let begun = Stopwatch::start();
        loop {
            let said = self.said();
            let told = said.rsplit_once(WORDS).and_then(|(_, rest)| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                // The full stop says that the number is whole.
                rest.get(digits.len()..)?.starts_with('.').then(|| digits.parse().ok())?
            });
            if let Some(port) = told {
                return Ok(port);
            }
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if let Some(status) = ended {
                let why = format!("it ended with {status}; it said: {}", said.trim());
                return Err(BrowserError::NotReady { what: "the driver did not start", why });
            }
            if begun.elapsed() > within {
                return Err(BrowserError::Timeout { what: "starting the driver".into(), within });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn said(&self) -> String {
        let said = fs::read(self.folder.join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Returns whether the browser's process still runs; where it is not known, whether
    /// the driver's does.
    pub(super) fn lives(&self) -> bool {
        self.browser.as_ref().unwrap_or(&self.driver).lives()
    }
}

impl ProcessGroup {
    /// Ends the driver and leaves the browser to the person before it. What it lies in is
    /// removed when they have closed it. Returns whether it stays.
    pub(super) fn release(mut self) -> bool {
        // Without a watchdog nothing would ever clean up.
        let (Some(browser), Some(keeper)) = (self.browser.take(), self.keeper.take()) else {
            return false;
        };
        if let Err(error) = keeper.release() {
            tracing::debug!(%error, "a browser's watchdog does not respond");
            self.browser = Some(browser);
            return false;
        }
        // From here on the folder is the keeper's.
        self.folder = PathBuf::new();
        if let Some(Err(error)) = pid(&self.driver).map(|pid| kill_process(pid, Signal::KILL)) {
            tracing::debug!(%error, "cannot stop a driver");
        }
        if let Some(Err(error)) = self.child.take().map(|mut child| child.wait()) {
            tracing::debug!(%error, "cannot wait for a driver");
        }
        let begun = Stopwatch::start();
        while self.driver.lives() && begun.elapsed() < self.stop {
            std::thread::sleep(LOOK);
        }
        true
    }
}

fn pid(who: &ProcessIdentity) -> Option<Pid> {
    i32::try_from(who.pid).ok().and_then(Pid::from_raw)
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // A child that we have not waited for keeps its number, even when it has ended.
        if (self.child.is_some() || self.driver.lives())
            && let Some(Err(error)) =
                pid(&self.driver).map(|pid| kill_process_group(pid, Signal::KILL))
        {
            tracing::debug!(%error, "cannot stop a browser's process group");
        }
        if let Some(browser) = self.browser.as_ref().filter(|browser| browser.lives())
            && let Some(Err(error)) = pid(browser).map(|pid| kill_process(pid, Signal::KILL))
        {
            tracing::debug!(%error, "cannot stop a browser");
        }
        if let Some(Err(error)) = self.child.as_mut().map(Child::wait) {
            tracing::debug!(%error, "cannot wait for a driver");
        }
        let begun = Stopwatch::start();
        while self.browser.as_ref().is_some_and(ProcessIdentity::lives)
            && begun.elapsed() < self.stop
        {
            std::thread::sleep(LOOK);
        }
        if !self.folder.as_os_str().is_empty()
            && let Err(error) = remove(&self.folder, self.stop)
        {
            tracing::warn!(%error, folder = %self.folder.display(), "a browser's folder could not be removed");
        }
        if let Some(record) = &self.record
            && let Err(error) = fs::remove_file(record)
        {
            tracing::debug!(%error, "a browser's record cannot be removed");
        }
    }
}

/// Removes a folder that dying processes may still write to.
fn remove(folder: &Path, within: Duration) -> io::Result<()> {
    let begun = Stopwatch::start();
    loop {
        match fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if begun.elapsed() > within => return Err(error),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Makes an empty folder that only this user can look into.
fn new_folder() -> Result<PathBuf, BrowserError> {
    let folder = std::env::temp_dir().join(format!("pointsman-browser-{:016x}", entropy()));
    let made = fs::DirBuilder::new().mode(0o700).create(&folder);
    made.map_err(|source| BrowserError::Folder { path: folder.display().to_string(), source })?;
    Ok(folder)
}

/// A folder to remove, unless it gets another owner.
struct LeftoverFolder(Option<PathBuf>);

impl Drop for LeftoverFolder {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_ref().map(fs::remove_dir_all) {
            tracing::debug!(%error, "a browser's folder could not be removed");
        }
    }
}

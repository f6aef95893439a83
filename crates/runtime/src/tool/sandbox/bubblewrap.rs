//! Bubblewrap: a mount namespace with only the listed mounts.
//!
//! Sources that lie where commands write are given to it as descriptors, if it takes them.
//! Where they are mounted is still a name, so the helper is the first program inside: it
//! compares every such mount with what was opened, and executes the command only then.

use std::{
    env,
    ffi::OsString,
    io::Read,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use super::{
    CALLS, CommandLimits, HELPER, HERE, INSIDE, LAUNCH, OWN, OWN_PATH, TRIAL,
    place::{Mount, SandboxView},
};

/// How long to sleep between two looks at the trial.
const NAP: Duration = Duration::from_millis(5);

/// Bubblewrap as it is on this machine.
#[derive(Clone, Debug)]
pub(in crate::tool) struct Bubblewrap {
    path: PathBuf,
    pub(super) helper: PathBuf,
    /// Whether it mounts what a descriptor holds.
    pub(super) by_descriptor: bool,
    /// Whether it can keep commands from making user namespaces of their own.
    seals: bool,
    /// Whether it can bound the folder for temporary files.
    sizes: bool,
}

/// Finds out where bubblewrap is, and what it can do. Where user namespaces are forbidden it
/// is there and of no use, so it is tried.
pub(super) fn find(
    given: Option<&Path>,
    helper: &Path,
    limit: Duration,
) -> Result<Bubblewrap, String> {
    let path = match given {
        Some(path) if path.is_file() => path.to_owned(),
        Some(path) => return Err(format!("there is no bubblewrap at {}", path.display())),
        None => {
            let folders = env::var_os("PATH").unwrap_or_default();
            let found = env::split_paths(&folders).map(|folder| folder.join("bwrap"));
            let found = found.into_iter().find(|path| path.is_absolute() && path.is_file());
            found.ok_or_else(|| "bubblewrap (`bwrap`) is not in PATH".to_owned())?
        }
    };
    let unusable = |why: String| format!("{} does not work: {why}", path.display());
    let help = help(&path, limit).map_err(unusable)?;
    let lists = |option: &str| help.split_whitespace().any(|word| word == option);
    let mut found = Bubblewrap {
        path: path.clone(),
        helper: helper.into(),
        by_descriptor: lists("--ro-bind-fd") && lists("--bind-fd"),
        seals: lists("--disable-userns"),
        sizes: lists("--size"),
    };
    let tried = found.tried(limit);
    if tried.is_err() && found.seals {
        // In some containers a namespace cannot be kept from having more of them.
        found.seals = false;
        return found.tried(limit).map_or_else(|_| tried, Ok).map(|()| found).map_err(unusable);
    }
    tried.map(|()| found).map_err(unusable)
}

/// Returns what it says about itself.
fn help(path: &Path, limit: Duration) -> Result<String, String> {
    let mut help = quiet(path);
    let mut child =
        help.arg("--help").stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut stdout = child.stdout.take();
    ended(&mut child, limit)?;
    let mut text = Vec::new();
    if let Some(stdout) = stdout.as_mut() {
        stdout.take(1 << 20).read_to_end(&mut text).map_err(|error| error.to_string())?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn quiet(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits for a process, and stops it when it takes too long.
fn ended(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let mut waited = Duration::ZERO;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if waited < limit => {
                thread::sleep(NAP);
                waited = waited.saturating_add(NAP);
            }
            stuck => {
                drop(child.kill());
                drop(child.wait());
                return Err(stuck.err().map_or_else(
                    || "a test command did not end".into(),
                    |error| error.to_string(),
                ));
            }
        }
    }
}

impl Bubblewrap {
    /// Returns what every sandbox has. Without capabilities, or root could make read-only
    /// mounts writable again.
    fn shut(&self) -> Vec<OsString> {
        let mut arguments = vec!["--unshare-all", "--unshare-user"];
        if self.seals {
            arguments.push("--disable-userns");
        }
        arguments.extend(["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        arguments.extend(["--seccomp", CALLS]);
        arguments.into_iter().map(OsString::from).collect()
    }

    /// Returns how the helper is shown inside.
    const fn own(&self) -> [&'static str; 3] {
        if self.by_descriptor { ["--ro-bind-fd", OWN, HERE] } else { ["--ro-bind", OWN_PATH, HERE] }
    }

    /// Runs the helper in a sandbox that shows everything.
    fn tried(&self, limit: Duration) -> Result<(), String> {
        let mut trial = quiet(&self.helper);
        trial.args([HELPER, LAUNCH, "0"]).arg(&self.path).args(self.shut());
        trial.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
        trial.args(self.own()).args(["--", HERE, HELPER, TRIAL]);
        let mut child = trial.spawn().map_err(|error| error.to_string())?;
        match ended(&mut child, limit)? {
            status if status.success() => Ok(()),
            status => {
                Err(format!("a test command ended with {status}; are user namespaces allowed?"))
            }
        }
    }

    /// Returns the arguments that come before the program, and the descriptors that go with
    /// them.
    pub(super) fn arguments<'a>(
        &self,
        place: &'a SandboxView,
        folder: &Path,
        limits: &CommandLimits,
    ) -> (Vec<OsString>, Vec<BorrowedFd<'a>>) {
        let mut mounts = Mounts { by_descriptor: self.by_descriptor, ..Mounts::default() };
        let sized = self.sizes.then_some(limits.temporary_bytes);
        mounts.own("/dev", &["--dev".into(), "/dev".into()]);
        mounts.own("/proc", &["--proc".into(), "/proc".into()]);
        for path in ["/tmp", "/dev/shm"] {
            let size = sized.into_iter();
            let size = size.flat_map(|bytes| ["--size".into(), bytes.to_string().into()]);
            let tmpfs: Vec<OsString> =
                size.chain([OsString::from("--tmpfs"), path.into()]).collect();
            mounts.own(path, &tmpfs);
        }
        mounts.own(HERE, &self.own().map(OsString::from));
        mounts.add(&place.read_only, true);
        mounts.add(&place.writable, false);
        mounts.add(&place.kept, true);
        // What lies in another mount comes after it, or it would be covered. Of one path that
        // is named twice, the last counts.
        mounts.list.sort_by_key(|(path, _)| path.components().count());

        let mut arguments: Vec<OsString> =
            vec![HELPER.into(), LAUNCH.into(), mounts.sources.len().to_string().into()];
        arguments.push(self.path.clone().into());
        arguments.extend(self.shut());
        if place.network {
            arguments.push("--share-net".into());
        }
        arguments.extend(mounts.list.into_iter().flat_map(|(_, words)| words));
        // The parent folders of these mounts are not writable.
        arguments.extend(["--remount-ro", "/dev", "--remount-ro", "/"].map(OsString::from));
        arguments.extend(["--chdir".into(), folder.into(), "--".into()]);
        arguments.extend([HERE, HELPER, INSIDE].map(OsString::from));
        arguments.extend(mounts.checks);
        for path in &place.mounted {
            arguments.extend(["--mounted".into(), path.into()]);
        }
        arguments.extend(limits.arguments(true));
        arguments.push("--".into());
        (arguments, mounts.sources)
    }
}

/// Mounts as arguments for bubblewrap, and as the helper checks them.
#[derive(Default)]
struct Mounts<'a> {
    by_descriptor: bool,
    list: Vec<(PathBuf, Vec<OsString>)>,
    checks: Vec<OsString>,
    sources: Vec<BorrowedFd<'a>>,
}

impl<'a> Mounts<'a> {
    /// Adds something that has no place outside that it comes from.
    fn own(&mut self, path: &str, words: &[OsString]) {
        self.list.push((path.into(), words.into()));
    }

    fn add(&mut self, mounts: &'a [Mount], read_only: bool) {
        for Mount { path, source } in mounts {
            let how = if read_only { "--ro-bind" } else { "--bind" };
            let mut words = vec![how.into(), path.into(), path.into()];
            if let Some(source) = source {
                use std::os::fd::AsFd;
                let [device, inode] = [source.id.device, source.id.inode].map(|it| it.to_string());
                let how = if read_only { "--read" } else { "--write" };
                let check = [how.into(), path.into(), device.into(), inode.into()];
                self.checks.extend::<[OsString; 4]>(check);
                if self.by_descriptor {
                    let how = if read_only { "--ro-bind-fd" } else { "--bind-fd" };
                    let number = self.sources.len().to_string();
                    words = vec![how.into(), number.into(), path.into()];
                    self.sources.push(source.descriptor.as_fd());
                }
            }
            self.list.push((path.clone(), words));
        }
    }
}

//! Bubblewrap: a mount namespace that holds only what is put there.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::place::Place;

/// How long to sleep between two looks at the trial.
const NAP: Duration = Duration::from_millis(5);

/// Returns where bubblewrap is, if it works: where user namespaces are forbidden it is
/// there and of no use.
pub(super) fn find(given: Option<&Path>, limit: Duration) -> Result<PathBuf, String> {
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
    let mut trial = Command::new(&path)
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"])
        .args(["--die-with-parent", "--new-session", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| unusable(error.to_string()))?;
    let mut waited = Duration::ZERO;
    loop {
        match trial.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(path),
            Ok(Some(status)) => {
                return Err(unusable(format!(
                    "a trial ended with {status}; are user namespaces allowed?"
                )));
            }
            Ok(None) if waited < limit => {
                thread::sleep(NAP);
                waited = waited.saturating_add(NAP);
            }
            stuck => {
                drop(trial.kill());
                drop(trial.wait());
                let why =
                    stuck.err().map_or_else(|| "a trial did not end".into(), |e| e.to_string());
                return Err(unusable(why));
            }
        }
    }
}

/// Returns the arguments that come before the program. Later mounts cover earlier ones.
pub(super) fn arguments(place: &Place, folder: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--new-session"].map(OsString::from).into();
    if place.network {
        arguments.push("--share-net".into());
    }
    let mut mount = |how: &str, path: &Path| {
        arguments.extend([how.into(), path.into(), path.into()]);
    };
    for path in &place.read_only {
        mount("--ro-bind", path);
    }
    arguments.extend(["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"].map(OsString::from));
    let mut mount = |how: &str, path: &Path| {
        arguments.extend([how.into(), path.into(), path.into()]);
    };
    mount("--bind", &place.root);
    for path in &place.writable {
        mount("--bind", path);
    }
    for path in &place.kept {
        mount("--ro-bind", path);
    }
    arguments.extend(["--chdir".into(), folder.into(), "--".into()]);
    arguments
}

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

/// Returns the arguments that come before the program.
pub(super) fn arguments<'a>(place: &'a Place, folder: &Path) -> Vec<OsString> {
    // Without capabilities, or root could make read-only mounts writable again.
    let mut arguments: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
            .map(OsString::from)
            .into();
    if place.network {
        arguments.push("--share-net".into());
    }
    let own = [("--dev", "/dev"), ("--proc", "/proc"), ("--tmpfs", "/tmp")];
    let own = own.map(|(how, path)| (how, Path::new(path)));
    let all = |how, paths: &'a [PathBuf]| paths.iter().map(move |path| (how, path.as_path()));
    let mut mounts: Vec<(&str, &Path)> = own
        .into_iter()
        .chain(all("--ro-bind", &place.read_only))
        .chain([("--bind", place.root.as_path())])
        .chain(all("--bind", &place.writable))
        .chain(all("--ro-bind", &place.kept))
        .collect();
    // What lies in another mount comes after it, or it would be covered. Of one path that is
    // named twice, the last counts.
    mounts.sort_by_key(|(_, path)| path.components().count());
    for (how, path) in mounts {
        arguments.extend([how.into(), path.into()]);
        // What is the sandbox's own has no other place that it comes from.
        if how.ends_with("bind") {
            arguments.push(path.into());
        }
    }
    // The folders that hold these mounts are nobody's to write in.
    arguments.extend(["--remount-ro", "/"].map(OsString::from));
    arguments.extend(["--chdir".into(), folder.into(), "--".into()]);
    arguments
}

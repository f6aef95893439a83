//! Finds what a command has left behind where no namespace holds it together.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process};

/// How often to look again: a process may start another while it is stopped.
const ROUNDS: usize = 10;

/// Stops every process that was started with this folder for temporary files.
pub(in crate::tool) fn stop_marked(scratch: &Path) {
    let mark = [b"TMPDIR=", scratch.as_os_str().as_bytes()].concat();
    rounds(|| {
        let is_ours = |(_, place): &(Pid, PathBuf)| {
            let environment = fs::read(place.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == mark)
        };
        processes().filter(is_ours).map(|(id, _)| id).collect()
    });
}

/// Stops every process below another one, and not that one.
pub(in crate::tool) fn stop_below(top: Pid) {
    rounds(|| {
        let parents: Vec<(Pid, Pid)> =
            processes().filter_map(|(id, place)| Some((id, parent(&place)?))).collect();
        let mut found = vec![top];
        let mut at = 0;
        while let Some(above) = found.get(at).copied() {
            let below = parents.iter().filter(|(_, parent)| *parent == above).map(|(id, _)| *id);
            found.extend(below.filter(|id| *id != top).collect::<Vec<_>>());
            at = at.saturating_add(1);
        }
        found.split_off(1)
    });
}

/// Kills what is found until nothing is, or until it has been tried often enough.
fn rounds(found: impl Fn() -> Vec<Pid>) {
    for _ in 0..ROUNDS {
        let killed = found().into_iter().filter(|id| kill_process(*id, Signal::KILL).is_ok());
        if killed.count() == 0 {
            return;
        }
    }
}

fn processes() -> impl Iterator<Item = (Pid, PathBuf)> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|process| {
        let id = process.file_name().to_str()?.parse().ok()?;
        Some((Pid::from_raw(id)?, process.path()))
    })
}

/// Returns a process's parent, unless it has ended and only waits to be collected.
fn parent(place: &Path) -> Option<Pid> {
    // The name comes before, in brackets, and may hold anything.
    let status = fs::read_to_string(place.join("stat")).ok()?;
    let (_, after) = status.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    Pid::from_raw(parent).filter(|_| !matches!(state, "Z" | "X"))
}

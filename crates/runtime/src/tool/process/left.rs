//! Finds the processes of a command.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process};

/// How often to look again: a process may start another while it is stopped.
const ROUNDS: usize = 10;

/// Stops every process that was started with this folder for temporary files. It is for the
/// case that the helper, which finds all of them, was itself stopped.
pub(in crate::tool) fn stop_marked(scratch: &Path) {
    let mark = [b"TMPDIR=", scratch.as_os_str().as_bytes()].concat();
    for _ in 0..ROUNDS {
        let is_ours = |(_, place): &(Pid, PathBuf)| {
            let environment = fs::read(place.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == mark)
        };
        let found: Vec<Pid> = processes().filter(is_ours).map(|(id, _)| id).collect();
        let killed = found.into_iter().filter(|id| kill_process(*id, Signal::KILL).is_ok());
        if killed.count() == 0 {
            return;
        }
    }
}

/// Returns every process below another one that has not ended, and not that one.
pub(in crate::tool) fn below(top: Pid) -> Vec<Pid> {
    let parents: Vec<(Pid, Pid)> =
        processes().filter_map(|(id, place)| Some((id, parent(&place)?))).collect();
    let children = |above: Pid| {
        let below = parents.iter().filter(move |(_, parent)| *parent == above);
        below.map(|(id, _)| *id).collect()
    };
    family(top, children)
}

/// Returns the same, without a look at what else runs, where the system keeps lists of
/// children.
pub(in crate::tool) fn quickly_below(top: Pid) -> Vec<Pid> {
    if children(top).is_none() {
        return below(top);
    }
    family(top, |above| children(above).unwrap_or_default())
}

/// Walks down from a process.
fn family(top: Pid, children: impl Fn(Pid) -> Vec<Pid>) -> Vec<Pid> {
    let mut found = vec![top];
    let mut at = 0;
    while let Some(above) = found.get(at).copied() {
        found.extend(children(above).into_iter().filter(|id| *id != top));
        at = at.saturating_add(1);
    }
    found.split_off(1)
}

/// Returns the children of a process, of all its threads.
fn children(id: Pid) -> Option<Vec<Pid>> {
    let threads = fs::read_dir(format!("/proc/{}/task", id.as_raw_nonzero())).ok()?;
    let mut found = Vec::new();
    for thread in threads.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        let ids = list.split_ascii_whitespace().filter_map(|id| id.parse().ok());
        found.extend(ids.filter_map(Pid::from_raw));
    }
    Some(found)
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

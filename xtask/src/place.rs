//! Where things are: the workspace, the cache, a place for one command's files.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use anyhow::{Context, Result};

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    let ours = manifest();
    ours.parent().map_or_else(|| ours.clone(), Path::to_path_buf)
}

/// Returns one of this crate's files that are no Rust.
pub(crate) fn script(name: &str) -> PathBuf {
    manifest().join(name)
}

/// Returns this crate's directory. Cargo says it at run time, which holds even
/// where several checkouts share one target directory.
fn manifest() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

/// Returns the cargo that runs us.
pub(crate) fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Returns where components are kept: outside `target`, so that cleaning keeps them.
pub(crate) fn cache() -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set: there is no place for components")?;
    Ok(cache.join("pointsman"))
}

/// A directory that goes when its owner does.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        Self::within(&env::temp_dir())
    }

    /// Makes one in a folder of the caller's.
    pub(crate) fn within(folder: &Path) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Relaxed);
            let path = folder.join(format!("pointsman-xtask-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                // Process ids come again, and one that was killed has left its folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        drop(fs::remove_dir_all(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_somebody_left_is_nobodys() -> io::Result<()> {
        let outer = Scratch::new()?;
        for number in 0..100 {
            fs::create_dir(outer.file(&format!("pointsman-xtask-{}-{number}", process::id())))?;
        }
        let inner = Scratch::within(&outer.file(""))?;
        assert_eq!(fs::read_dir(inner.file(""))?.count(), 0);
        Ok(())
    }
}

//! Where things are: the workspace, the cache, a place for one command's files.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use anyhow::{Context, Result};

/// Returns the root of the workspace, which has the one list of locked versions. Cargo says
/// at run time where a package is, which holds even where several checkouts share one
/// target directory.
pub fn root() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package.ancestors().find(|folder| folder.join("Cargo.lock").is_file());
    root.map_or_else(|| package.clone(), Path::to_path_buf)
}

/// Returns one of `xtask`'s files that are not Rust.
pub fn script(name: &str) -> PathBuf {
    root().join("xtask").join(name)
}

/// Returns the cargo that runs us.
pub fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Returns where components are kept: outside `target`, so that cleaning keeps them.
pub fn cache() -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set: there is no place for components")?;
    Ok(cache.join("pointsman"))
}

/// A directory that goes when its owner does.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one where the system has its own.
    pub fn new() -> io::Result<Self> {
        Self::within(&env::temp_dir())
    }

    /// Makes one in a folder of the caller's.
    pub fn within(folder: &Path) -> io::Result<Self> {
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

    /// Returns the path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
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
    fn the_root_is_found_from_any_package() {
        assert!(root().join(".ci/run").is_file());
        assert!(script("Cargo.toml").is_file());
    }

    #[test]
    fn folder_of_a_dead_owner_can_be_removed() -> io::Result<()> {
        let outer = Scratch::new()?;
        for number in 0..100 {
            fs::create_dir(outer.file(&format!("pointsman-xtask-{}-{number}", process::id())))?;
        }
        let inner = Scratch::within(&outer.file(""))?;
        assert_eq!(fs::read_dir(inner.file(""))?.count(), 0);
        Ok(())
    }
}

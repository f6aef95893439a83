//! Paths that are held by a descriptor, so that nothing can replace them.
//!
//! Commands write in some folders, the *grounds*. What lies there is opened from the ground's
//! own descriptor, through no link, and what was opened is what a sandbox gets.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, Mode, OFlags, fstat, openat},
    io::Errno,
};

/// Holds something without reading it.
#[cfg(target_os = "linux")]
const HELD: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HELD: OFlags = OFlags::RDONLY;

/// Device and inode: the identity of a file under any name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Id {
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl Id {
    /// Returns which file a descriptor holds, and of what kind it is.
    pub(super) fn of(descriptor: impl AsFd) -> rustix::io::Result<(Self, FileType)> {
        let found = fstat(descriptor)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        Ok((Self { device: found.st_dev, inode: found.st_ino }, kind))
    }
}

/// A file or folder that was opened once.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) descriptor: OwnedFd,
    pub(super) id: Id,
    pub(super) kind: FileType,
}

impl Pinned {
    fn of(descriptor: OwnedFd) -> rustix::io::Result<Self> {
        let (id, kind) = Id::of(&descriptor)?;
        // The last part of a path can be a link that is held itself, and not followed.
        if kind == FileType::Symlink {
            return Err(Errno::LOOP);
        }
        Ok(Self { descriptor, id, kind })
    }

    /// Holds what a descriptor holds.
    pub(super) fn again(descriptor: impl AsFd) -> io::Result<Self> {
        Ok(Self::of(descriptor.as_fd().try_clone_to_owned()?)?)
    }

    /// Opens what lies below a folder, through no link.
    pub(super) fn below(folder: impl AsFd, path: &Path) -> rustix::io::Result<Self> {
        Self::of(beneath(folder, path, HELD | OFlags::NOFOLLOW | OFlags::CLOEXEC)?)
    }

    /// Opens an absolute path that has no link in it.
    pub(super) fn plain(path: &Path) -> rustix::io::Result<Self> {
        let flags = HELD | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open("/", flags, Mode::empty())?;
        let path = path.strip_prefix("/").map_err(|_| Errno::INVAL)?;
        Self::below(top, path)
    }

    /// Returns whether it is a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }
}

/// A folder that commands write in.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) path: PathBuf,
    pub(super) held: Pinned,
}

/// Opens a path that has no link in it: from the outermost ground that it lies in, or by its
/// name where it lies in none.
pub(super) fn open(path: &Path, grounds: &[Ground]) -> rustix::io::Result<Pinned> {
    let within = grounds.iter().filter(|ground| path.starts_with(&ground.path));
    let outermost = within.min_by_key(|ground| ground.path.components().count());
    let Some(ground) = outermost else { return Pinned::plain(path) };
    let inside = path.strip_prefix(&ground.path).map_err(|_| Errno::INVAL)?;
    Pinned::below(&ground.held.descriptor, inside)
}

/// Asks the system to resolve a path beneath a folder, without a single link.
#[cfg(target_os = "linux")]
pub(super) fn beneath(
    folder: impl AsFd,
    path: &Path,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    // A rename elsewhere may ask for another try; a few are enough for an honest one.
    for _ in 0..64 {
        match openat2(&folder, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

/// Goes through the path name by name, and follows none that is a link.
#[cfg(not(target_os = "linux"))]
pub(super) fn beneath(
    folder: impl AsFd,
    path: &Path,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = openat(&folder, ".", step, Mode::empty())?;
    let (parent, name) = (path.parent(), path.file_name());
    for part in parent.into_iter().flat_map(Path::components) {
        at = openat(&at, part.as_os_str(), step, Mode::empty())?;
    }
    match name {
        Some(name) => openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty()),
        None => Ok(at),
    }
}

/// Opens something of a folder to read it. A pipe or a device is not waited for.
pub(super) fn readable(folder: impl AsFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    openat(folder, name, flags | OFlags::CLOEXEC, Mode::empty())
}

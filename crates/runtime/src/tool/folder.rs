//! The workspace: a folder that no path leads out of.
//!
//! Every file is opened from the folder's own descriptor, and the system resolves the path beneath
//! it, so a link that appears between a check and its use has no effect either. A file has one
//! valid name, so that path rules apply: no absolute path, and none through a link.

mod error;

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use crate::clock::entropy;
pub use error::FolderError;
use rustix::{
    fs::{
        AtFlags, FileType, Mode, OFlags, fchmod, mkdirat, openat, readlinkat, renameat, statat,
        unlinkat,
    },
    io::Errno,
};

/// The longest name of a file, and the longest path, that systems take.
const LONGEST: (usize, usize) = (255, 4096);

/// A folder that no path leads out of.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    descriptor: Arc<OwnedFd>,
}

impl Folder {
    /// Opens a folder.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = Arc::new(rustix::fs::open(&root, flags, Mode::empty())?);
        Ok(Self { root, descriptor })
    }

    /// Returns where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns its descriptor.
    #[cfg(feature = "tools")]
    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Returns a path from the root without anything that could lead elsewhere. An absolute path
    /// is rejected, and the error names the relative one if it is inside: rules match paths from
    /// the root.
    pub fn inside(&self, path: &str) -> Result<PathBuf, FolderError> {
        let refuse = |why| Err(FolderError::Path { path: shown(path), why });
        if path.contains('\0') {
            return refuse("has a NUL byte in it");
        }
        if path.len() > LONGEST.1 || path.split('/').any(|name| name.len() > LONGEST.0) {
            return refuse("is too long for a file name");
        }
        let mut clean = PathBuf::new();
        let given = Path::new(path);
        let from_root = given.strip_prefix(&self.root).ok();
        for part in from_root.unwrap_or(given).components() {
            match part {
                Component::Normal(name) => clean.push(name),
                Component::CurDir => {}
                Component::ParentDir => return refuse("has `..` in it"),
                Component::RootDir | Component::Prefix(_) => {
                    return refuse("is outside the workspace");
                }
            }
        }
        if from_root.is_some() {
            return Err(FolderError::Absolute { path: shown(path), plain: text(&clean) });
        }
        Ok(clean)
    }

    /// Returns the path that a call names, if it leads through no link: its target has another
    /// name, which a rule may match.
    pub fn named(&self, path: &str) -> Result<PathBuf, FolderError> {
        let path = self.inside(path)?;
        let real = self.real(&path)?;
        if real == path {
            return Ok(path);
        }
        Err(FolderError::Through { path: text(&path), real: text(&real) })
    }

    /// Opens a file to read from; pipes, devices and folders are refused.
    pub fn file(&self, path: &Path) -> Result<File, FolderError> {
        // Without blocking: opening a pipe would otherwise wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(self.reach(path, flags)?);
        let metadata = file.metadata().map_err(|source| failed(path, source))?;
        let found = if metadata.is_dir() { "a folder" } else { "not a regular file" };
        if metadata.is_file() {
            return Ok(file);
        }
        Err(FolderError::Kind { path: text(path), found, wanted: "a file" })
    }

    /// Reads a whole file, up to a size.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FolderError> {
        let file = self.file(path)?;
        let size = file.metadata().map_err(|source| failed(path, source))?.len();
        let large = |size| FolderError::Large { path: text(path), size, limit };
        if size > limit {
            return Err(large(size));
        }
        let mut bytes = Vec::new();
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| failed(path, source))?;
        // It may have grown since.
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > limit { Err(large(size)) } else { Ok(bytes) }
    }

    /// Makes sure that a path is a folder inside.
    pub fn folder(&self, path: &Path) -> Result<(), FolderError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match self.reach(path, flags) {
            Err(FolderError::Io { source, .. })
                if Errno::from_io_error(&source) == Some(Errno::NOTDIR) =>
            {
                let (found, wanted) = ("not a folder", "a folder");
                Err(FolderError::Kind { path: text(path), found, wanted })
            }
            reached => reached.map(drop),
        }
    }

    /// Returns a path's own name from the root, with the links in it followed.
    pub fn real(&self, path: &Path) -> Result<PathBuf, FolderError> {
        drop(self.reach(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC)?);
        let real = self.root.join(path).canonicalize().map_err(|source| failed(path, source))?;
        match real.strip_prefix(&self.root) {
            Ok(inside) => Ok(inside.into()),
            Err(_) => Err(FolderError::Outside { path: text(path) }),
        }
    }

    /// Returns whether a path leads to something inside, without a link on the way.
    pub fn holds(&self, path: &Path) -> bool {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let Ok(folder) = self.walk(parent, false) else { return false };
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Replaces a file's content, or creates the file and its parent folders. The change is
    /// atomic, and the mode stays.
    pub fn replace(
        &self,
        path: &Path,
        content: &[u8],
        going: &dyn Fn() -> bool,
    ) -> Result<bool, FolderError> {
        let own = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
        if path.components().any(own) {
            return Err(FolderError::Git { path: text(path) });
        }
        let kind = |found| FolderError::Kind { path: text(path), found, wanted: "a file" };
        let Some(name) = path.file_name() else { return Err(kind("the workspace itself")) };
        let folder = self.walk(path.parent().unwrap_or_else(|| Path::new("")), true)?;
        let mode = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => Some(Mode::from_raw_mode(found.st_mode)),
                FileType::Symlink => return Err(link(&folder, path, name)),
                FileType::Directory => return Err(kind("a folder")),
                _ => return Err(kind("not a regular file")),
            },
            Err(Errno::NOENT) => None,
            Err(error) => return Err(failed(path, error.into())),
        };
        let temporary = format!(".pointsman-{:016x}", entropy());
        let written = fill(&folder, &temporary, content, mode).and_then(|()| {
            if !going() {
                return Ok(false);
            }
            renameat(&folder, &temporary, &folder, name)?;
            // The name is in the folder, so the folder is flushed too.
            rustix::fs::fsync(&folder).ok();
            Ok(true)
        });
        if !matches!(written, Ok(true)) {
            unlinkat(&folder, &temporary, AtFlags::empty()).ok();
        }
        match written {
            Ok(true) => Ok(mode.is_none()),
            Ok(false) => Err(FolderError::Stopped { path: text(path) }),
            Err(source) => Err(failed(path, source)),
        }
    }

    /// Opens what a path names, following only links that stay inside.
    fn reach(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, FolderError> {
        #[cfg(target_os = "linux")]
        match beneath(&self.descriptor, path, flags) {
            // An old kernel, or a container that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(Errno::XDEV | Errno::LOOP) => {
                return Err(FolderError::Outside { path: text(path) });
            }
            opened => return opened.map_err(|error| failed(path, error.into())),
        }
        let Some(name) = path.file_name() else { return self.walk(path, false) };
        let folder = self.walk(path.parent().unwrap_or_else(|| Path::new("")), false)?;
        match openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::LOOP | Errno::MLINK) => Err(link(&folder, path, name)),
            opened => opened.map_err(|error| failed(path, error.into())),
        }
    }

    /// Goes down to a folder, one name at a time and through no link.
    pub(super) fn walk(&self, path: &Path, make: bool) -> Result<OwnedFd, FolderError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = |at: &OwnedFd, name: &std::ffi::OsStr| openat(at, name, flags, Mode::empty());
        let mut at = self.descriptor.try_clone().map_err(|source| failed(path, source))?;
        for part in path.components() {
            let name = part.as_os_str();
            let next = match open(&at, name) {
                Err(Errno::NOENT) if make => match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => open(&at, name),
                    Err(error) => Err(error),
                },
                opened => opened,
            };
            at = match next {
                Ok(next) => next,
                Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                    return Err(link(&at, path, name));
                }
                Err(error) => return Err(failed(path, error.into())),
            };
        }
        Ok(at)
    }
}

/// Asks the system to resolve a path beneath a folder, magic links excepted.
#[cfg(target_os = "linux")]
fn beneath(folder: &OwnedFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // A rename elsewhere may ask for another try; a few are enough for an honest one.
    for _ in 0..16 {
        match openat2(folder, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

/// Writes a new file under a unique name, and flushes it.
fn fill(folder: &OwnedFd, name: &str, content: &[u8], mode: Option<Mode>) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // The file is private until it has its final mode.
    let first = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
    let mut file = File::from(openat(folder, name, flags, first)?);
    file.write_all(content)?;
    if let Some(mode) = mode {
        fchmod(&file, mode)?;
    }
    file.sync_all()
}

/// Says that a link is in the way, or that the entry is not a folder.
fn link(folder: &OwnedFd, path: &Path, name: &std::ffi::OsStr) -> FolderError {
    match readlinkat(folder, name, Vec::new()) {
        Ok(target) => {
            FolderError::Link { link: text(path), target: target.to_string_lossy().into_owned() }
        }
        Err(_) => FolderError::Kind { path: text(path), found: "below a file", wanted: "a folder" },
    }
}

fn failed(path: &Path, source: io::Error) -> FolderError {
    if source.kind() == io::ErrorKind::NotFound {
        return FolderError::Missing { path: text(path) };
    }
    FolderError::Io { path: text(path), source }
}

fn text(path: &Path) -> String {
    if path.as_os_str().is_empty() { ".".into() } else { shown(&path.to_string_lossy()) }
}

/// Returns as much of a path as a message should repeat.
fn shown(path: &str) -> String {
    path.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

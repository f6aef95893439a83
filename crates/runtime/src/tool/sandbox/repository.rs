//! Git's own files in and around a workspace: what a command may write of them.

use std::{
    fs::File,
    io::Read,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, Mode, mkdirat},
    io::Errno,
};

use super::{
    GitAccess, SandboxError,
    pinned::{Ground, Id, Pinned, open, readable},
    place::Mount,
};

/// Bytes of a file that holds one path.
const LONGEST: u64 = 4096;

/// What names programs, or sends git elsewhere to look for such names, in a folder of git's.
/// A person's own git would follow it later.
const KEPT: &[(&str, FileType)] = &[
    ("commondir", FileType::RegularFile),
    ("config", FileType::RegularFile),
    ("config.worktree", FileType::RegularFile),
    ("gitdir", FileType::RegularFile),
    ("hooks", FileType::Directory),
    ("modules", FileType::Directory),
    ("worktrees", FileType::Directory),
];

/// The mounts that git's files need.
#[derive(Debug, Default)]
pub(super) struct RepositoryMounts {
    /// What a command may write.
    pub(super) writable: Vec<Mount>,
    /// Paths outside the workspace, read-only.
    pub(super) read_only: Vec<Mount>,
    /// What may only be read wherever it lies.
    pub(super) kept: Vec<Mount>,
}

/// Finds git's files. The first ground is the workspace.
pub(super) fn mounts(grounds: &[Ground], git: GitAccess) -> Result<RepositoryMounts, SandboxError> {
    let mut mounts = RepositoryMounts::default();
    let Some(root) = grounds.first() else { return Ok(mounts) };
    let at = Refuser { root: &root.path };
    let Some(own) = at.opened(&root.held.descriptor, ".git", None, "")? else {
        return Ok(mounts);
    };
    let path = root.path.join(".git");
    let outside = if own.is_folder() { None } else { linked(root, &path, &own, grounds) };
    match (git, outside) {
        (GitAccess::Looks, outside) => {
            mounts.kept.push(Mount::pinned(path, own));
            if let Some(Linked { common, held, .. }) = outside {
                let again = Pinned::again(&held.descriptor);
                let again =
                    again.map_err(|source| SandboxError::Lost { path: common.clone(), source })?;
                mounts.read_only.push(Mount::pinned(common.clone(), again));
                // Kept too, in case it lies in something that can be written.
                mounts.kept.push(Mount::pinned(common, held));
            }
        }
        (GitAccess::Writes, None) if own.is_folder() => mounts.kept.extend(at.kept(&path, &own)?),
        (GitAccess::Writes, outside) => {
            mounts.kept.push(Mount::pinned(path, own));
            if let Some(Linked { common, held, folder, administration }) = outside {
                mounts.kept.extend(at.kept(&common, &held)?);
                mounts.kept.extend(at.kept(&folder, &administration)?);
                mounts.writable.push(Mount::pinned(folder, administration));
                mounts.writable.push(Mount::pinned(common, held));
            }
        }
    }
    Ok(mounts)
}

/// Describes problems with git's files in a workspace.
struct Refuser<'a> {
    root: &'a Path,
}

impl Refuser<'_> {
    /// Opens a file or folder; nothing if there is none. Anything else is rejected.
    fn opened(
        &self,
        folder: impl AsFd,
        name: &str,
        wanted: Option<FileType>,
        above: &str,
    ) -> Result<Option<Pinned>, SandboxError> {
        let found = match Pinned::below(folder, Path::new(name)) {
            Ok(found) => match (found.kind, wanted) {
                (kind, Some(wanted)) if kind == wanted => return Ok(Some(found)),
                (FileType::Directory | FileType::RegularFile, None) => return Ok(Some(found)),
                (_, None) => "neither a folder nor a file",
                (_, Some(FileType::Directory)) => "not a folder",
                (_, Some(_)) => "not a file",
            },
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => "a link",
            Err(_) => "unreadable",
        };
        let name = format!("{above}{name}");
        Err(SandboxError::Git { root: self.root.into(), name, found })
    }

    /// Returns what a command may not change in a folder of git's.
    fn kept(&self, path: &Path, folder: &Pinned) -> Result<Vec<Mount>, SandboxError> {
        let mut kept = Vec::new();
        // A repository without hooks gets a folder for them that stays empty: a folder that is
        // not there cannot be kept. Where it cannot be made, no command can make it either.
        if Pinned::below(&folder.descriptor, Path::new("objects")).is_ok() {
            mkdirat(&folder.descriptor, "hooks", Mode::from_raw_mode(0o777)).ok();
        }
        let shown = path.strip_prefix(self.root).unwrap_or(path);
        let above = format!("{}/", shown.display());
        for (name, kind) in KEPT {
            if let Some(found) = self.opened(&folder.descriptor, name, Some(*kind), &above)? {
                kept.push(Mount::pinned(path.join(name), found));
            }
        }
        Ok(kept)
    }
}

/// Where git's files are if the workspace is a linked worktree.
struct Linked {
    /// The folder that all worktrees share.
    common: PathBuf,
    held: Pinned,
    /// The folder in it that is this worktree's own.
    folder: PathBuf,
    administration: Pinned,
}

/// Finds git's files of a linked worktree.
///
/// A file named `.git` says where they are, and any command could have made one up to
/// be shown another folder. So the word of the folder itself is needed too: it names
/// the worktree that it belongs to, and lies where no command can write.
fn linked(root: &Ground, path: &Path, own: &Pinned, grounds: &[Ground]) -> Option<Linked> {
    let named = line(&root.held, ".git", Some(own))?;
    let folder = root.path.join(named.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    if folder.starts_with(&root.path) {
        return None;
    }
    let administration = open(&folder, grounds).ok()?;
    let back = PathBuf::from(line(&administration, "gitdir", None)?);
    let common = folder.join(line(&administration, "commondir", None)?).canonicalize().ok()?;
    let held = open(&common, grounds).ok()?;
    let objects = Pinned::below(&held.descriptor, Path::new("objects")).ok()?;
    let is_git = objects.is_folder() && folder.starts_with(&common);
    let is_meant = is_git && back.canonicalize().ok()? == path;
    is_meant.then_some(Linked { common, held, folder, administration })
}

/// Reads a file with one path. A command may have put a pipe, a device or an endless file there:
/// none of them is waited for. If it was opened before, it must be the same file.
fn line(folder: &Pinned, name: &str, seen: Option<&Pinned>) -> Option<String> {
    let opened = Pinned::below(&folder.descriptor, Path::new(name)).ok()?;
    if opened.kind != FileType::RegularFile || seen.is_some_and(|seen| seen.id != opened.id) {
        return None;
    }
    let file = File::from(readable(&folder.descriptor, name).ok()?);
    if Id::of(&file).ok()?.0 != opened.id {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}

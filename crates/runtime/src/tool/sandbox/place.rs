//! What a sandboxed command finds around it.

use std::{
    env,
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};

use super::{Git, SandboxError, SandboxPolicy};
use crate::clock::entropy;

/// Folders of the system that hold programs and what they need.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/run/current-system",
];

/// Files of `/etc` that programs need. The rest stays out: some of it is secret.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "fonts",
    "group",
    "hostname",
    "hosts",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "login.defs",
    "machine-id",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/tls/certs",
    "profile",
    "protocols",
    "python3",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Bytes of a file that holds one path.
const LONGEST: u64 = 4096;

/// The paths of one command: what it reads and what it writes.
#[derive(Debug)]
pub(super) struct Place {
    /// The workspace.
    pub(super) root: PathBuf,
    /// What can be read, and no more.
    pub(super) read_only: Vec<PathBuf>,
    /// What can be written, beside the workspace.
    pub(super) writable: Vec<PathBuf>,
    /// What can only be read although it lies in something that can be written.
    pub(super) kept: Vec<PathBuf>,
    /// The first path of the policy among those, with what it lies in: not every sandbox can
    /// keep it.
    pub(super) guarded: Option<(PathBuf, PathBuf)>,
    /// Whether the network is there.
    pub(super) network: bool,
}

impl Place {
    /// Returns what a command finds. Git's files are there to be written only for git.
    pub(super) fn of(policy: &SandboxPolicy, root: &Path, git: Git) -> Result<Self, SandboxError> {
        let home = env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
        // Where there is no home, the root of all files stands for it.
        let home = home.unwrap_or_else(|| "/".into());
        if home.starts_with(root) {
            return Err(SandboxError::Home { root: root.into() });
        }
        let system = SYSTEM.iter().map(PathBuf::from);
        let etc = ETC.iter().map(|name| Path::new("/etc").join(name));
        let shown = |path: &PathBuf| path.exists() && !home.starts_with(path);
        let mut read_only: Vec<PathBuf> = system.chain(etc).filter(shown).collect();
        let (mut writable, mut kept) = (Vec::new(), Vec::new());
        let own = own_git(root)?;
        let outside = own.as_deref().and_then(|own| git_outside(root, own));
        match git {
            Git::Looks => {
                kept.extend(own);
                // Kept too, so that it is shown where the folder for temporary files would
                // cover it.
                kept.extend(outside.clone());
                read_only.extend(outside);
            }
            Git::Writes => {
                // What is written there would run when a person next uses git.
                for folder in own.iter().chain(&outside) {
                    kept.extend(["hooks", "config"].map(|name| folder.join(name)));
                }
                writable.extend(outside);
            }
        }
        let grounds: Vec<&Path> =
            [root].into_iter().chain(policy.writable.iter().map(PathBuf::as_path)).collect();
        for path in &policy.writable {
            writable.extend(real(path, &grounds)?);
        }
        let mut guarded = None;
        for path in &policy.read_only {
            let Some(path) = real(path, &grounds)? else { continue };
            let mut written = [root].into_iter().chain(writable.iter().map(PathBuf::as_path));
            match written.find(|ground| path.starts_with(ground)) {
                Some(ground) => {
                    guarded.get_or_insert_with(|| (path.clone(), ground.to_owned()));
                    kept.push(path);
                }
                None => read_only.push(path),
            }
        }
        for list in [&mut read_only, &mut kept] {
            list.retain(|path| path.exists());
        }
        let (root, network) = (root.into(), policy.network);
        Ok(Self { root, read_only, writable, kept, guarded, network })
    }
}

/// Returns where a path of the policy really is; nothing if nothing is there.
///
/// Commands write on some grounds, and may have put a link where the policy means a
/// folder: what it leads to is shown only if it lies on the same ground.
fn real(path: &Path, grounds: &[&Path]) -> Result<Option<PathBuf>, SandboxError> {
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    for ground in grounds.iter().filter(|ground| path != **ground && path.starts_with(ground)) {
        if !ground.canonicalize().is_ok_and(|ground| real.starts_with(ground)) {
            return Err(SandboxError::Link { path: path.into(), ground: ground.into() });
        }
    }
    Ok(Some(real))
}

/// Returns the workspace's `.git`, if there is one. It is mounted by its name, so a link
/// that a command has put there would show what lies behind it.
fn own_git(root: &Path) -> Result<Option<PathBuf>, SandboxError> {
    let own = root.join(".git");
    let found = match fs::symlink_metadata(&own) {
        Ok(found) if found.is_dir() || found.is_file() => return Ok(Some(own)),
        Ok(found) if found.is_symlink() => "a link",
        Ok(_) => "neither a folder nor a file",
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) => "nothing that can be looked at",
    };
    Err(SandboxError::Git { root: root.into(), found })
}

/// Returns where git's files are if the workspace is a linked worktree.
///
/// A file named `.git` says where they are, and any command could have made one up to
/// be shown another folder. So the word of the folder itself is needed too: it names
/// the worktree that it belongs to, and lies where no command can write.
fn git_outside(root: &Path, own: &Path) -> Option<PathBuf> {
    let named = line(own)?;
    let folder = root.join(named.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = PathBuf::from(line(&folder.join("gitdir"))?);
    let common = folder.join(line(&folder.join("commondir"))?).canonicalize().ok()?;
    let is_git = common.join("objects").is_dir() && folder.starts_with(&common);
    (is_git && back.canonicalize().ok()? == own && !folder.starts_with(root)).then_some(common)
}

/// Reads a file that holds one path. Anybody may have put a pipe or a device there, or a
/// file without end: none of them is waited for.
fn line(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let file = File::from(file);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}

/// A folder for temporary files that goes when it is let go of.
#[derive(Debug)]
pub(in crate::tool) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one that nobody else can read.
    pub(super) fn new() -> io::Result<Self> {
        let path = env::temp_dir().join(format!("pointsman-{:016x}", entropy()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path.canonicalize()?))
    }

    /// Returns where it is.
    pub(in crate::tool) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

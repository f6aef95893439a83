//! What a sandboxed command finds around it.

use std::{
    env, fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use super::{SandboxError, SandboxPolicy};
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

/// The paths of one command: what it reads and what it writes.
#[derive(Debug)]
pub(super) struct Place {
    /// The workspace.
    pub(super) root: PathBuf,
    /// What can be read, and no more.
    pub(super) read_only: Vec<PathBuf>,
    /// What can be written, beside the workspace.
    pub(super) writable: Vec<PathBuf>,
    /// What can only be read although it lies in the workspace.
    pub(super) kept: Vec<PathBuf>,
    /// Whether the network is there.
    pub(super) network: bool,
}

impl Place {
    /// Returns what a command finds. Git's files are there to be written only for git.
    pub(super) fn of(policy: &SandboxPolicy, root: &Path, git: bool) -> Result<Self, SandboxError> {
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
        let (mut writable, mut kept) = (policy.writable.clone(), Vec::new());
        let outside = git_outside(root);
        if git {
            writable.extend(outside);
        } else {
            read_only.extend(outside);
            kept.push(root.join(".git"));
        }
        for path in &policy.read_only {
            let list = if path.starts_with(root) { &mut kept } else { &mut read_only };
            list.push(path.clone());
        }
        for list in [&mut read_only, &mut writable, &mut kept] {
            list.retain(|path| path.exists());
        }
        Ok(Self { root: root.into(), read_only, writable, kept, network: policy.network })
    }
}

/// Returns where git's files are if the workspace is a linked worktree.
///
/// A file named `.git` says where they are, and any command could have made one up to
/// be shown another folder. So the word of the folder itself is needed too: it names
/// the worktree that it belongs to, and lies where no command can write.
fn git_outside(root: &Path) -> Vec<PathBuf> {
    let own = root.join(".git");
    let line = |path: &Path| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let found = || {
        let named = line(&own)?;
        let folder = root.join(named.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
        let back = PathBuf::from(line(&folder.join("gitdir"))?);
        let common = folder.join(line(&folder.join("commondir"))?).canonicalize().ok()?;
        let is_git = common.join("objects").is_dir() && folder.starts_with(&common);
        (is_git && back.canonicalize().ok()? == own && !folder.starts_with(root)).then_some(common)
    };
    found().into_iter().collect()
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

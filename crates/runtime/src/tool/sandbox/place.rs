//! What a sandboxed command finds around it.

use std::{
    env, fs, io,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use super::{
    super::folder::Folder,
    GitAccess, SandboxError, SandboxPolicy,
    pinned::{Ground, Pinned, open},
    repository,
};

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

/// One path of a command's world. It has the same name inside and outside.
#[derive(Debug)]
pub(super) struct Mount {
    pub(super) path: PathBuf,
    /// What was opened there. What has no descriptor is found by its name, and lies where no
    /// command can write.
    pub(super) source: Option<Pinned>,
}

impl Mount {
    /// Returns a path that is held.
    pub(super) const fn pinned(path: PathBuf, source: Pinned) -> Self {
        Self { path, source: Some(source) }
    }
}

/// The paths of one command: what it reads and what it writes.
#[derive(Debug)]
pub(super) struct SandboxView {
    /// What can be read, and no more.
    pub(super) read_only: Vec<Mount>,
    /// What can be written, the workspace among it.
    pub(super) writable: Vec<Mount>,
    /// What can only be read although it lies in something that can be written.
    pub(super) kept: Vec<Mount>,
    /// The first path of the policy among those, with the folder it lies in: not every sandbox
    /// can keep it.
    pub(super) guarded: Option<(PathBuf, PathBuf)>,
    /// What the system has mounted below writable folders: a sandbox shows it too.
    pub(super) mounted: Vec<PathBuf>,
    /// Whether the network is there.
    pub(super) network: bool,
}

impl SandboxView {
    /// Returns what a command finds. Git's files are there to be written only for git.
    pub(super) fn of(
        policy: &SandboxPolicy,
        folder: &Folder,
        git: GitAccess,
    ) -> Result<Self, SandboxError> {
        let root = folder.root();
        let home = env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
        // Without a home directory, the root of the file system counts as one.
        let home = home.unwrap_or_else(|| "/".into());
        if home.starts_with(root) {
            return Err(SandboxError::Home { root: root.into() });
        }
        let system = SYSTEM.iter().map(PathBuf::from);
        let etc = ETC.iter().map(|name| Path::new("/etc").join(name));
        let shown = |path: &PathBuf| path.exists() && !home.starts_with(path);
        let by_name = |path| Mount { path, source: None };
        let mut read_only: Vec<Mount> = system.chain(etc).filter(shown).map(by_name).collect();

        let grounds = grounds(policy, folder)?;
        let repository::RepositoryMounts { mut writable, read_only: more, mut kept } =
            repository::mounts(&grounds, git)?;
        read_only.extend(more);
        for ground in &grounds {
            writable.push(again(ground)?);
        }
        let mut guarded = None;
        let names = names(policy, root);
        for path in &policy.read_only {
            let Some(path) = real(path, &names)? else { continue };
            let held = open(&path, &grounds).map_err(|error| lost(&path, error.into()))?;
            match writable.iter().find(|ground| path.starts_with(&ground.path)) {
                Some(ground) => {
                    guarded.get_or_insert_with(|| (path.clone(), ground.path.clone()));
                    kept.push(Mount::pinned(path, held));
                }
                None => read_only.push(Mount::pinned(path, held)),
            }
        }
        let mounted = mounted(|path| {
            let below = |ground: &Mount| path != ground.path && path.starts_with(&ground.path);
            writable.iter().any(below)
        });
        Ok(Self { read_only, writable, kept, guarded, mounted, network: policy.network })
    }

    /// Returns whether commands can write at a path.
    pub(super) fn writes(&self, path: &Path) -> bool {
        let real = path.canonicalize();
        let real = real.as_deref().unwrap_or(path);
        self.writable.iter().any(|ground| real.starts_with(&ground.path))
    }
}

/// Opens the writable folders: the workspace, and those of the policy.
fn grounds(policy: &SandboxPolicy, folder: &Folder) -> Result<Vec<Ground>, SandboxError> {
    let root = folder.root();
    let held = Pinned::again(folder.descriptor()).map_err(|error| lost(root, error))?;
    let mut grounds = vec![Ground { path: root.into(), held }];
    let names = names(policy, root);
    let mut wanted = Vec::new();
    for path in &policy.writable {
        wanted.extend(real(path, &names)?);
    }
    // Outer ones first, so that what lies in another one is opened from it.
    wanted.sort_by_key(|path| path.components().count());
    for path in wanted {
        let held = open(&path, &grounds).map_err(|error| lost(&path, error.into()))?;
        grounds.push(Ground { path, held });
    }
    Ok(grounds)
}

/// Returns what the folders that commands write in are called, and where they really are.
fn names(policy: &SandboxPolicy, root: &Path) -> Vec<(PathBuf, PathBuf)> {
    let given = policy.writable.iter();
    let given = given.filter_map(|path| Some((path.clone(), path.canonicalize().ok()?)));
    [(root.into(), root.into())].into_iter().chain(given).collect()
}

fn again(ground: &Ground) -> Result<Mount, SandboxError> {
    let held = Pinned::again(&ground.held.descriptor);
    Ok(Mount::pinned(ground.path.clone(), held.map_err(|error| lost(&ground.path, error))?))
}

fn lost(path: &Path, source: io::Error) -> SandboxError {
    SandboxError::Lost { path: path.into(), source }
}

/// Returns where a path of the policy really is; nothing if nothing is there.
///
/// Commands write on some grounds, and may have put a link where the policy means a
/// folder: what it leads to is shown only if it lies on the same ground.
fn real(path: &Path, grounds: &[(PathBuf, PathBuf)]) -> Result<Option<PathBuf>, SandboxError> {
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    for (given, ground) in grounds {
        let within = |above: &PathBuf| path != above && path.starts_with(above);
        if (within(given) || within(ground)) && !real.starts_with(ground) {
            return Err(SandboxError::Link { path: path.into(), ground: given.into() });
        }
    }
    Ok(Some(real))
}

/// Returns where file systems are mounted, of the paths that are wanted.
pub(super) fn mounted(wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let paths = table.split(|byte| *byte == b'\n').filter_map(|line| {
        let path = line.split(|byte| *byte == b' ').nth(4)?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(unescaped(path))))
    });
    paths.filter(|path| wanted(path)).collect()
}

/// Undoes what the system does to spaces, tabs, newlines and backslashes: `\040` is a space.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let number = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok();
        if let Some(byte) = after.get(..3).and_then(number).filter(|_| *first == b'\\') {
            plain.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_space_in_it_is_read_as_it_is() {
        assert_eq!(unescaped(br"/a\040b\134c/\01"), br"/a b\c/\01");
    }
}

//! Where commands run: in bubblewrap, else under landlock, else not at all.
//!
//! Both start from nothing and add: the system's programs to read, the workspace to
//! write, a place for temporary files. Neither has the network, the home directory or
//! the environment of this process.

mod bubblewrap;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/elsewhere.rs"]
mod helper;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/elsewhere.rs"]
mod landlock;
mod limits;
mod pinned;
mod place;
#[cfg(target_os = "linux")]
mod privileges;
mod repository;
mod scratch;
pub(super) mod wire;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write},
    os::fd::{BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use serde::Deserialize;
use thiserror::Error;
use tokio::process::Command;

use super::folder::Folder;
use bubblewrap::Bubblewrap;
pub use limits::CommandLimits;
use place::SandboxView;
pub(super) use scratch::ScratchFolder;

/// The argument with which the program runs itself as [`helper_main`].
pub const HELPER: &str = "__sandbox";

/// The running program as its own helper: the file that was started, even if another one has its
/// name now.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// What the helper is run for, as its next argument.
const LAUNCH: &str = "launch";
const INSIDE: &str = "inside";
const KEEP: &str = "keep";
const INNER: &str = "inner";
const TRIAL: &str = "trial";

/// Where the helper is in bubblewrap.
const HERE: &str = "/dev/pointsman";
/// Represents the helper's own descriptor, and its own path.
const OWN: &str = "own";
const OWN_PATH: &str = "own-path";
/// Represents a descriptor of the blocked calls.
const CALLS: &str = "calls";

/// What a sandbox lets through, and which one is used.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxPolicy {
    /// Whether commands reach the network.
    pub network: bool,
    /// Paths beside the system's that they may read, such as a toolchain.
    pub read_only: Vec<PathBuf>,
    /// Paths beside the workspace that they may write, such as a cache.
    pub writable: Vec<PathBuf>,
    /// Environment variables that they see; no other is passed on.
    pub env: Vec<String>,
    /// Where bubblewrap is; it is looked for in `PATH` if this is left out.
    pub bubblewrap: Option<PathBuf>,
    /// Whether landlock may be used where bubblewrap cannot.
    pub landlock: bool,
    /// The program whose `main` hands over to [`helper_main`], such as [`OWN_PROGRAM`].
    /// Nothing runs without it.
    pub helper: Option<PathBuf>,
    /// A folder for the caches of toolchains, of this workspace alone. With it, the toolchains
    /// of the person's home directory are shown to commands.
    pub toolchains: Option<PathBuf>,
    /// Variables that override the environment.
    #[serde(skip)]
    pub variables: Vec<(String, OsString)>,
    /// How much of the machine a command may take.
    pub limits: CommandLimits,
}

impl Default for SandboxPolicy {
    fn default() -> Self {
        let env = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ"];
        Self {
            network: false,
            read_only: Vec::new(),
            writable: Vec::new(),
            env: env.map(String::from).into(),
            bubblewrap: None,
            landlock: true,
            helper: None,
            toolchains: None,
            variables: Vec::new(),
            limits: CommandLimits::default(),
        }
    }
}

/// Why a command cannot be run in a sandbox.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// There is none.
    #[error(
        "commands need a sandbox, and none works here: {bubblewrap}; {landlock}. \
         Install bubblewrap (`apt install bubblewrap`), or use a kernel with landlock, 6.12 or later"
    )]
    None {
        /// Why not bubblewrap.
        bubblewrap: String,
        /// Why not landlock.
        landlock: String,
    },
    /// The workspace is too much.
    #[error(
        "commands cannot run in {}: it contains the home directory, which the sandbox could not hide. Start in a subfolder", root.display()
    )]
    Home {
        /// The workspace.
        root: PathBuf,
    },
    /// One of git's own files is something else, which would be shown to commands.
    #[error(
        "commands cannot run in {}: `{name}` there is {found}. Replace it with the real file or folder, or remove it", root.display()
    )]
    Git {
        /// The workspace.
        root: PathBuf,
        /// The file or folder.
        name: String,
        /// What was found there.
        found: &'static str,
    },
    /// A path changed while it was opened.
    #[error(
        "commands cannot run here: {} changes each time Pointsman opens it. Stop the command that changes it, and try again", path.display()
    )]
    Lost {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The helper itself could be written by commands.
    #[error(
        "commands cannot run here: they could change {}, the program that sets up the sandbox, and this bubblewrap is too old to protect it. Install a newer bubblewrap, or move the program out of the workspace",
        helper.display()
    )]
    Helper {
        /// The program.
        helper: PathBuf,
    },
    /// A path of the policy leads elsewhere.
    #[error(
        "commands cannot run here: {} leaves {} through a link that a command could have created. Use a real folder, or remove the path from `[sandbox]`",
        path.display(), ground.display()
    )]
    Link {
        /// The path.
        path: PathBuf,
        /// Where it should stay.
        ground: PathBuf,
    },
    /// A path of the policy cannot be kept from being written.
    #[error(
        "commands cannot run here: {} is read-only but inside {}, which is writable, and landlock cannot do both. Install bubblewrap, or remove the path from `[sandbox]`",
        path.display(), ground.display()
    )]
    Guarded {
        /// The path.
        path: PathBuf,
        /// What it lies in.
        ground: PathBuf,
    },
    /// The folder for temporary files cannot be made.
    #[error("the folder for temporary files cannot be created: {0}")]
    Scratch(#[source] io::Error),
}

/// What a command may do to git's own files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GitAccess {
    /// Read them.
    Looks,
    /// Write them too, except for what could run programs later.
    Writes,
}

/// The sandbox in use.
#[derive(Clone, Debug)]
pub(super) enum Sandbox {
    Bubblewrap(Bubblewrap),
    Landlock(PathBuf),
    None { bubblewrap: String, landlock: String },
}

/// A command that is ready to run, and what must outlive it.
pub(super) struct Confined {
    pub(super) command: Command,
    pub(super) scratch: Option<ScratchFolder>,
    /// What the helper is given beside its arguments.
    pub(super) held: Vec<OwnedFd>,
    pub(super) limits: CommandLimits,
    /// A folder on the disk that must not run full.
    pub(super) root: PathBuf,
}

impl Sandbox {
    /// Finds out which sandbox works here.
    pub(super) fn find(policy: &SandboxPolicy, limit: Duration) -> Self {
        let helper = found(policy.helper.as_deref());
        let bubblewrap = match &helper {
            Ok(helper) => bubblewrap::find(policy.bubblewrap.as_deref(), helper, limit),
            Err(why) => Err(format!("bubblewrap needs a helper: {why}")),
        };
        let bubblewrap = match bubblewrap {
            Ok(found) => return Self::Bubblewrap(found),
            Err(why) => why,
        };
        let landlock = match helper {
            _ if !policy.landlock => "landlock is turned off".into(),
            Err(why) => format!("landlock needs a helper: {why}"),
            Ok(helper) => match landlock::missing() {
                None => {
                    // Only here are there folders that outlive a killed program.
                    scratch::sweep();
                    return Self::Landlock(helper);
                }
                Some(why) => why,
            },
        };
        Self::None { bubblewrap, landlock }
    }

    /// Returns its name, for people and the journal.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Bubblewrap(_) => "bubblewrap",
            Self::Landlock(_) => "landlock",
            Self::None { .. } => "none",
        }
    }

    /// Returns a program made ready to run in a folder of the workspace. Git's own
    /// files can be written only where that is said, and where the sandbox can tell.
    pub(super) fn command(
        &self,
        policy: &SandboxPolicy,
        (workspace, folder): (&Folder, &Path),
        git: GitAccess,
        program: &[&OsStr],
    ) -> Result<Confined, SandboxError> {
        let place = SandboxView::of(policy, workspace, git)?;
        let (root, limits) = (workspace.root().to_owned(), policy.limits.clone());
        let folder = root.join(folder);
        let (mut command, held, scratch) = match self {
            Self::Bubblewrap(found) => {
                if !found.by_descriptor && place.writes(&found.helper) {
                    return Err(SandboxError::Helper { helper: found.helper.clone() });
                }
                let (arguments, held) = found.arguments(&place, &folder, &limits);
                let mut command = Command::new(&found.helper);
                command.args(arguments).current_dir("/");
                (command, kept(&held, &root)?, None)
            }
            Self::Landlock(helper) => {
                if let Some((path, ground)) = place.guarded.clone() {
                    return Err(SandboxError::Guarded { path, ground });
                }
                let scratch = ScratchFolder::new().map_err(SandboxError::Scratch)?;
                let (arguments, held) = landlock::arguments(&place, scratch.path(), &limits);
                let mut command = Command::new(helper);
                command.args(arguments).current_dir(&folder);
                (command, kept(&held, &root)?, Some(scratch))
            }
            Self::None { bubblewrap, landlock } => {
                let (bubblewrap, landlock) = (bubblewrap.clone(), landlock.clone());
                return Err(SandboxError::None { bubblewrap, landlock });
            }
        };
        let temporary = scratch.as_ref().map_or_else(|| Path::new("/tmp"), ScratchFolder::path);
        command.args(program).env_clear().envs(passed(&policy.env));
        command.envs(policy.variables.iter().map(|(name, value)| (name, value)));
        command.env("HOME", temporary).env("TMPDIR", temporary);
        Ok(Confined { command, scratch, held, limits, root })
    }
}

/// Returns the helper, if there is one.
fn found(helper: Option<&Path>) -> Result<PathBuf, String> {
    match helper {
        Some(helper) if helper.is_file() => Ok(helper.into()),
        Some(helper) => Err(format!("not found at {}", helper.display())),
        None => Err("none is set".into()),
    }
}

/// Keeps descriptors for as long as a command needs them.
fn kept(held: &[BorrowedFd<'_>], root: &Path) -> Result<Vec<OwnedFd>, SandboxError> {
    let kept = held.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>();
    kept.map_err(|source| SandboxError::Lost { path: root.into(), source })
}

/// Returns the variables that are passed on, with their values.
fn passed(names: &[String]) -> impl Iterator<Item = (&String, OsString)> {
    names.iter().filter_map(|name| Some((name, env::var_os(name)?)))
}

/// Does the helper's part in confining a command, and ends as the command does.
///
/// A program calls this first when its first argument is [`HELPER`], with the arguments
/// after it, and ends with what it returns.
pub fn helper_main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match helper::helped(arguments) {
        Ok(code) => code,
        Err(why) => {
            // Without a reader, the exit code is enough.
            drop(writeln!(io::stderr(), "the sandbox did not start: {why}"));
            ExitCode::from(125)
        }
    }
}

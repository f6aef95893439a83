//! Where commands run: in bubblewrap, else under landlock, else not at all.
//!
//! Both start from nothing and add: the system's programs to read, the workspace to
//! write, a place for temporary files. Neither has the network, the home directory or
//! the environment of this process.

mod bubblewrap;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/elsewhere.rs"]
mod landlock;
mod place;
#[cfg(target_os = "linux")]
mod sockets;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use serde::Deserialize;
use thiserror::Error;
use tokio::process::Command;

use place::Place;
pub(super) use place::Scratch;

/// The argument with which the program runs itself as [`helper_main`].
pub const HELPER: &str = "__sandbox";

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
    /// The program whose `main` hands over to [`helper_main`]; landlock needs it.
    pub helper: Option<PathBuf>,
    /// A folder for the caches of toolchains, of this workspace alone. With it, the toolchains
    /// of the person's home directory are shown to commands.
    pub toolchains: Option<PathBuf>,
    /// Variables that are set, whatever the environment says.
    #[serde(skip)]
    pub variables: Vec<(String, OsString)>,
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
        }
    }
}

/// Why a command cannot be run in a sandbox.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// There is none.
    #[error(
        "no command runs without a sandbox, and none can be used here: {bubblewrap}; {landlock}. \
         Install bubblewrap (`apt install bubblewrap`), or use a kernel with landlock, 6.7 or later"
    )]
    None {
        /// Why not bubblewrap.
        bubblewrap: String,
        /// Why not landlock.
        landlock: String,
    },
    /// The workspace is too much.
    #[error(
        "no command runs in {}, because the home directory is in it and could not be kept from \
         the command: start in a folder of its own", root.display()
    )]
    Home {
        /// The workspace.
        root: PathBuf,
    },
    /// What stands for git's files cannot be kept apart.
    #[error(
        "no command runs in {}, because `.git` there is {found}: put the folder itself there, or \
         remove it", root.display()
    )]
    Git {
        /// The workspace.
        root: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A path of the policy leads elsewhere.
    #[error(
        "no command runs here, because {} leads out of {} through a link, and commands can make \
         links there: put a folder there, or take the path out of `[sandbox]`",
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
        "no command runs here, because {} is to be read only and lies in {}, which commands write: \
         landlock cannot keep both. Install bubblewrap, or take the path out of `[sandbox]`",
        path.display(), ground.display()
    )]
    Guarded {
        /// The path.
        path: PathBuf,
        /// What it lies in.
        ground: PathBuf,
    },
    /// The folder for temporary files cannot be made.
    #[error("the folder for temporary files cannot be made: {0}")]
    Scratch(#[source] std::io::Error),
}

/// What a command may do to git's own files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Git {
    /// Read them.
    Looks,
    /// Write them too, except for what could run programs later.
    Writes,
}

/// The sandbox in use.
#[derive(Clone, Debug)]
pub(super) enum Sandbox {
    Bubblewrap(PathBuf),
    Landlock(PathBuf),
    None { bubblewrap: String, landlock: String },
}

/// A command that is ready to run, and what must outlive it.
pub(super) struct Confined {
    pub(super) command: Command,
    pub(super) scratch: Option<Scratch>,
}

impl Sandbox {
    /// Finds out which sandbox works here.
    pub(super) fn find(policy: &SandboxPolicy, limit: Duration) -> Self {
        let bubblewrap = match bubblewrap::find(policy.bubblewrap.as_deref(), limit) {
            Ok(path) => return Self::Bubblewrap(path),
            Err(why) => why,
        };
        match landlock_helper(policy) {
            Ok(helper) => Self::Landlock(helper),
            Err(landlock) => Self::None { bubblewrap, landlock },
        }
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
        (root, folder): (&Path, &Path),
        git: Git,
        program: &[&OsStr],
    ) -> Result<Confined, SandboxError> {
        let place = Place::of(policy, root, git)?;
        let folder = root.join(folder);
        let (mut command, scratch) = match self {
            Self::Bubblewrap(path) => {
                let mut command = Command::new(path);
                command.args(bubblewrap::arguments(&place, &folder)).current_dir("/");
                (command, None)
            }
            Self::Landlock(helper) => {
                if let Some((path, ground)) = place.guarded.clone() {
                    return Err(SandboxError::Guarded { path, ground });
                }
                let scratch = Scratch::new().map_err(SandboxError::Scratch)?;
                let mut command = Command::new(helper);
                command.args(landlock::arguments(&place, scratch.path())).current_dir(&folder);
                (command, Some(scratch))
            }
            Self::None { bubblewrap, landlock } => {
                let (bubblewrap, landlock) = (bubblewrap.clone(), landlock.clone());
                return Err(SandboxError::None { bubblewrap, landlock });
            }
        };
        let temporary = scratch.as_ref().map_or_else(|| Path::new("/tmp"), Scratch::path);
        command.args(program).env_clear().envs(passed(&policy.env));
        command.envs(policy.variables.iter().map(|(name, value)| (name, value)));
        command.env("HOME", temporary).env("TMPDIR", temporary);
        Ok(Confined { command, scratch })
    }
}

fn landlock_helper(policy: &SandboxPolicy) -> Result<PathBuf, String> {
    if !policy.landlock {
        return Err("landlock is turned off".into());
    }
    let helper = policy.helper.clone().ok_or("landlock needs a helper, and none is set")?;
    if !helper.is_file() {
        return Err(format!("there is no landlock helper at {}", helper.display()));
    }
    landlock::missing().map_or(Ok(helper), Err)
}

/// Returns the variables that are passed on, with their values.
fn passed(names: &[String]) -> impl Iterator<Item = (&String, OsString)> {
    names.iter().filter_map(|name| Some((name, env::var_os(name)?)))
}

/// Runs the program that the arguments name, confined with landlock, and ends as it does.
///
/// A program calls this first when its first argument is [`HELPER`], with the arguments
/// after it, and ends with what it returns.
pub fn helper_main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match landlock::helped(arguments) {
        Ok(code) => code,
        Err(why) => {
            // Where nobody listens, the exit code says it.
            drop(writeln!(std::io::stderr(), "the sandbox cannot be entered: {why}"));
            ExitCode::from(125)
        }
    }
}

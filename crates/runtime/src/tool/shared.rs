//! What the tools have in common.

#[cfg(feature = "tools")]
use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use super::{ToolSettings, folder::Folder, limits::ToolLimits};
#[cfg(feature = "tools")]
use super::{
    fts, http,
    repositories::Repositories,
    sandbox::{Sandbox, SandboxPolicy},
    toolchains,
};

/// One workspace with everything over it.
#[derive(Debug)]
pub(super) struct SharedTools {
    pub(super) settings: ToolSettings,
    pub(super) folder: Folder,
    #[cfg(feature = "tools")]
    pub(super) index: Mutex<fts::Index>,
    #[cfg(feature = "tools")]
    pub(super) sandbox: OnceLock<Sandbox>,
    /// What commands may reach, with the person's toolchains.
    #[cfg(feature = "tools")]
    pub(super) policy: OnceLock<SandboxPolicy>,
    #[cfg(feature = "tools")]
    pub(super) repositories: Repositories,
    #[cfg(feature = "tools")]
    pub(super) http: OnceLock<Result<http::Http, String>>,
}

impl SharedTools {
    pub(super) const fn limits(&self) -> &ToolLimits {
        &self.settings.limits
    }

    #[cfg(feature = "tools")]
    pub(super) fn sandbox(&self) -> &Sandbox {
        let limit = std::time::Duration::from_millis(self.settings.limits.sandbox_ms);
        self.sandbox.get_or_init(|| Sandbox::find(&self.settings.sandbox, limit))
    }

    /// Returns what commands may reach. The person's toolchains are looked for once.
    #[cfg(feature = "tools")]
    pub(super) fn policy(&self) -> &SandboxPolicy {
        let root = self.folder.root();
        self.policy.get_or_init(|| toolchains::joined(&self.settings.sandbox, root))
    }
}

/// Stops the working thread once the caller no longer waits.
#[cfg(feature = "tools")]
pub(super) struct Stop(pub(super) Arc<AtomicBool>);

#[cfg(feature = "tools")]
impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

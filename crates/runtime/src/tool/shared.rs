//! What the tools have in common.

use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use super::{
    Settings,
    folder::Folder,
    fts, http,
    limits::Limits,
    repositories::Repositories,
    sandbox::{Sandbox, SandboxPolicy},
    toolchains,
};

/// One workspace with everything over it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) folder: Folder,
    pub(super) index: Mutex<fts::Index>,
    pub(super) sandbox: OnceLock<Sandbox>,
    /// What commands may reach, with the person's toolchains.
    pub(super) policy: OnceLock<SandboxPolicy>,
    pub(super) repositories: Repositories,
    pub(super) http: OnceLock<Result<http::Http, String>>,
}

impl Shared {
    pub(super) const fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    pub(super) fn sandbox(&self) -> &Sandbox {
        let limit = std::time::Duration::from_millis(self.settings.limits.sandbox_ms);
        self.sandbox.get_or_init(|| Sandbox::find(&self.settings.sandbox, limit))
    }

    /// Returns what commands may reach. The person's toolchains are looked for once.
    pub(super) fn policy(&self) -> &SandboxPolicy {
        let root = self.folder.root();
        self.policy.get_or_init(|| toolchains::joined(&self.settings.sandbox, root))
    }
}

/// Tells the thread that does the work to give up, once nobody waits for it.
pub(super) struct Stop(pub(super) Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

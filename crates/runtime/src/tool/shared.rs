//! What the tools have in common, and the work of those that block.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use pointsman_kernel::governor::Permissions;
use serde::Deserialize;

use super::{
    Said, Settings, ToolSpec, edit, files,
    folder::Folder,
    fts, http,
    limits::Limits,
    look,
    precheck::reads_unasked,
    repositories::Repositories,
    sandbox::{Sandbox, SandboxPolicy},
    schema, toolchains,
    veil::Veil,
};

/// One workspace with everything over it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) folder: Folder,
    pub(super) index: Mutex<fts::Index>,
    pub(super) specs: Vec<ToolSpec>,
    pub(super) schemas: schema::Schemas,
    pub(super) sandbox: OnceLock<Sandbox>,
    /// What commands may reach, with the person's toolchains.
    pub(super) policy: OnceLock<SandboxPolicy>,
    pub(super) repositories: Repositories,
    pub(super) http: OnceLock<Result<http::Http, String>>,
}

/// The arguments of `context.fts_search`.
#[derive(Deserialize)]
pub(super) struct Query {
    query: String,
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

    pub(super) fn read(&self, arguments: files::ReadLines, _: &dyn Fn() -> bool) -> Said {
        files::read(&self.folder, self.limits(), &arguments)
    }

    pub(super) fn list(
        &self,
        arguments: &look::List,
        veil: &Veil,
        going: &dyn Fn() -> bool,
    ) -> Said {
        look::list((&self.folder, veil), self.limits(), arguments, going)
    }

    pub(super) fn lines(
        &self,
        arguments: &look::Search,
        veil: &Veil,
        going: &dyn Fn() -> bool,
    ) -> Said {
        look::search((&self.folder, veil), self.limits(), arguments, going)
    }

    pub(super) fn write(&self, arguments: files::WriteFile, going: &dyn Fn() -> bool) -> Said {
        let said = files::write(&self.folder, self.limits(), &arguments, going);
        if !said.ok {
            return said;
        }
        let path = Path::new(arguments.path());
        let note = self.repositories.written(&self.folder, self.limits(), path);
        said.with(note.as_slice())
    }

    pub(super) fn edit(
        &self,
        arguments: &edit::Edit,
        permissions: &Permissions,
        going: &dyn Fn() -> bool,
    ) -> Said {
        // A path that nobody can make out is refused below.
        let path = self.folder.inside(arguments.path());
        let path = path.ok().and_then(|path| path.to_str().map(str::to_owned));
        let shows = path.is_some_and(|path| reads_unasked(permissions, &path));
        edit::edit(&self.folder, self.limits(), arguments, shows, going)
    }

    pub(super) fn passages(
        &self,
        Query { query }: &Query,
        veil: &Veil,
        going: &dyn Fn() -> bool,
    ) -> Said {
        // A search that panicked has changed nothing that the next one relies on.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = |path: &str| !veil.hides_file(&self.folder, Path::new(path));
        let wanted: Option<&dyn Fn(&str) -> bool> = veil.is_over_some().then_some(&seen);
        let limit = self.limits().file_bytes;
        let found = index.follow(&self.folder, limit, going).and_then(|mut large| {
            large.retain(|path| seen(path));
            Ok((large, index.search_in(query, wanted)?))
        });
        let (large, passages) = match found {
            Ok(found) => found,
            Err(error) => return Said::no(error),
        };
        let mut lines: Vec<String> = passages.iter().map(ToString::to_string).collect();
        if lines.is_empty() {
            lines.push("no passage matches".into());
        }
        lines.extend(fts::too_large(&large, limit));
        lines.extend(veil.note().map(String::from));
        Said::yes(lines.join("\n"))
    }
}

/// Tells the thread that does the work to give up, once nobody waits for it.
pub(super) struct Stop(pub(super) Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

//! Settings as an engine takes them.

use std::path::{Path, PathBuf};

use pointsman_kernel::{agents::Agents, id::Digest};

use super::{Config, ModelConfig};
use crate::{
    engine::EngineConfig,
    model::{self, ModelError, Spec},
    tool::{self, Author, sandbox::SandboxPolicy},
    watch,
};

/// Looks a variable of the environment up.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Config {
    /// Puts what the environment says over the files: which model is asked, and where.
    #[must_use]
    pub fn with_env(mut self, env: Env<'_>) -> Self {
        let set = |name, to: &mut Option<String>| *to = env(name).or_else(|| to.take());
        set("POINTSMAN_MODEL", &mut self.model.spec);
        set("POINTSMAN_BASE_URL", &mut self.model.base_url);
        self
    }

    /// Returns the configuration of an engine that works in a folder. `cache` is a folder for
    /// caches; the environment has the model's key.
    ///
    /// No MCP server is among it: that takes a list of them, and
    /// [`Approved::of`](crate::engine::ApprovedServers::of).
    pub fn engine(
        &self,
        agents: &Agents,
        folder: &Path,
        cache: &Path,
        env: Env<'_>,
    ) -> Result<EngineConfig, ModelError> {
        Ok(EngineConfig {
            watch: Some(self.watch.clone().over(watch::ResourceLimits::default())),
            hooks: self.hooks.hooks(),
            instructions: self.instructions(agents),
            ..EngineConfig::new(self.model.settings(env)?, self.tools(folder, cache))
        })
    }

    /// Returns what the tools over a folder keep to.
    pub fn tools(&self, folder: &Path, cache: &Path) -> tool::ToolSettings {
        let wanted = &self.sandbox;
        let mut sandbox = wanted.clone().over(SandboxPolicy::default());
        sandbox.env.extend(wanted.env.iter().flatten().cloned());
        sandbox.limits = wanted.limits.limits();
        sandbox.toolchains = wanted.toolchains.unwrap_or(true).then(|| toolchains(cache, folder));
        tool::ToolSettings {
            limits: self.limits.clone().over(tool::ToolLimits::default()),
            sandbox,
            author: Author::of_person(folder),
            http_private: wanted.private_addresses.unwrap_or_default(),
            ..tool::ToolSettings::over(folder, index(cache, folder))
        }
    }
}

impl ModelConfig {
    /// Returns whether a model is named that writes: quoting is not writing.
    pub fn writes(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec != "quote")
    }

    /// Returns which model is asked, and how. The environment has its key.
    pub fn settings(&self, env: Env<'_>) -> Result<model::ModelSettings, ModelError> {
        let spec = self.spec.as_deref().map_or_else(|| Ok(Spec::quote()), str::parse)?;
        let usual = model::ModelSettings::from_env(spec, self.base_url.as_deref(), env)?;
        Ok(self.clone().over(usual))
    }
}

/// Returns where the search index of a workspace is kept.
fn index(cache: &Path, folder: &Path) -> PathBuf {
    cache.join(format!("search-{}.db", tag(folder)))
}

/// Returns where commands in a workspace keep the caches of toolchains.
fn toolchains(cache: &Path, folder: &Path) -> PathBuf {
    cache.join(format!("toolchains-{}", tag(folder)))
}

/// Returns a name for a workspace.
fn tag(folder: &Path) -> String {
    let name = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let digest = Digest::of(name.as_os_str().as_encoded_bytes());
    digest.to_string().chars().take(16).collect()
}

//! Settings as an engine takes them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use pointsman_kernel::{agents::Agents, id::Digest};

use super::{Config, LimitsConfig, ModelConfig, WatchConfig};
#[cfg(feature = "mcp")]
use crate::{config::McpConfig, mcp::McpLimits};
use crate::{
    engine::EngineConfig,
    model::{self, ModelError, Prices, Proposals, Spec},
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

    /// Returns what an engine is set up with that works in a folder. `cache` is a folder for what
    /// can be made anew; the environment has the model's key.
    ///
    /// No MCP server is among it: that takes a list of them, and
    /// [`Approved::of`](crate::engine::Approved::of).
    pub fn engine(
        &self,
        agents: &Agents,
        folder: &Path,
        cache: &Path,
        env: Env<'_>,
    ) -> Result<EngineConfig, ModelError> {
        Ok(EngineConfig {
            watch: Some(self.watch.limits()),
            hooks: self.hooks.hooks(),
            instructions: self.instructions(agents),
            ..EngineConfig::new(self.model.settings(env)?, self.tools(folder, cache))
        })
    }

    /// Returns what the tools over a folder keep to.
    pub fn tools(&self, folder: &Path, cache: &Path) -> tool::Settings {
        let usual = SandboxPolicy::default();
        let wanted = &self.sandbox;
        let sandbox = SandboxPolicy {
            network: wanted.network.unwrap_or(usual.network),
            read_only: wanted.read_only.clone(),
            writable: wanted.writable.clone(),
            env: usual.env.iter().chain(&wanted.env).cloned().collect(),
            bubblewrap: wanted.bubblewrap.clone(),
            landlock: wanted.landlock.unwrap_or(usual.landlock),
            limits: wanted.limits.limits(),
            toolchains: wanted.toolchains.unwrap_or(true).then(|| toolchains(cache, folder)),
            ..usual
        };
        tool::Settings {
            limits: self.limits.limits(),
            sandbox,
            author: Author::of_person(folder),
            http_private: wanted.private_addresses.unwrap_or_default(),
            ..tool::Settings::over(folder, index(cache, folder))
        }
    }
}

impl ModelConfig {
    /// Returns whether a model is named that writes: quoting is not writing.
    pub fn writes(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec != "quote")
    }

    /// Returns which model is asked, and how. The environment has its key.
    pub fn settings(&self, env: Env<'_>) -> Result<model::Settings, ModelError> {
        let spec = self.spec.as_deref().map_or_else(|| Ok(Spec::quote()), str::parse)?;
        let usual = model::Settings::from_env(spec, self.base_url.as_deref(), env)?;
        let tools = self.native_tools == Some(true);
        Ok(model::Settings {
            max_tokens: self.max_tokens.unwrap_or(usual.max_tokens),
            temperature: self.temperature.or(usual.temperature),
            prices: self.prices.map(|(input, output)| Prices { input, output }),
            proposals: if tools { Proposals::Tools } else { usual.proposals },
            connect_timeout: self.connect_ms.map_or(usual.connect_timeout, ms),
            idle_timeout: self.idle_ms.map_or(usual.idle_timeout, ms),
            max_bytes: self.answer_bytes.map_or(usual.max_bytes, count),
            ..usual
        })
    }
}

impl LimitsConfig {
    fn limits(&self) -> tool::Limits {
        let usual = tool::Limits::default();
        tool::Limits {
            output_bytes: self.output_bytes.map_or(usual.output_bytes, count),
            file_bytes: self.file_bytes.unwrap_or(usual.file_bytes),
            results: self.results.map_or(usual.results, count),
            look_ms: self.look_ms.unwrap_or(usual.look_ms),
            shell_ms: self.shell_ms.unwrap_or(usual.shell_ms),
            shell_max_ms: self.shell_max_ms.unwrap_or(usual.shell_max_ms),
            http_ms: self.http_ms.unwrap_or(usual.http_ms),
            http_bytes: self.http_bytes.map_or(usual.http_bytes, count),
            redirects: self.redirects.map_or(usual.redirects, count),
            sandbox_ms: self.sandbox_ms.unwrap_or(usual.sandbox_ms),
            repository_entries: self.repository_entries.map_or(usual.repository_entries, count),
            repository_ms: self.repository_ms.unwrap_or(usual.repository_ms),
        }
    }
}

impl WatchConfig {
    fn limits(&self) -> watch::Limits {
        let usual = watch::Limits::default();
        watch::Limits {
            processor: self.cpu.or(usual.processor),
            memory: self.memory.or(usual.memory),
            disk_free: self.disk_free.or(usual.disk_free),
            every: self.every_ms.map_or(usual.every, ms),
            longest: self.longest_ms.map_or(usual.longest, ms),
        }
    }
}

#[cfg(feature = "mcp")]
impl McpConfig {
    pub(crate) fn limits(&self) -> McpLimits {
        let usual = McpLimits::default();
        McpLimits {
            call: self.call_ms.map_or(usual.call, ms),
            start: self.start_ms.map_or(usual.start, ms),
            connect: self.connect_ms.map_or(usual.connect, ms),
            stop: self.stop_ms.map_or(usual.stop, ms),
            output: self.output_bytes.map_or(usual.output, count),
            tools: self.tools.map_or(usual.tools, count),
            ..usual
        }
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

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
